// What results call the metrics of a configuration.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "data/dataset.h"

namespace hopper {

// Reads each architecture once.
class MetricNamesByOutput {
 public:
  // `data` (may be null): those the models are for.
  explicit MetricNamesByOutput(const DataDesc* data);

  // In the order of metrics_type; empty where compile_params alone say them, and where they or the
  // architecture (Keras JSON) have problems, which others tell.
  std::vector<std::string> Of(const std::string& compile_params, std::string_view architecture);

 private:
  const std::vector<std::string>& OutputsOf(std::string_view architecture);

  bool several_ = true;  // the data may have labels of several outputs
  bool weighted_ = false;
  std::vector<DataInput> inputs_;
  std::map<Digest, std::vector<std::string>> outputs_;
};

}  // namespace hopper
