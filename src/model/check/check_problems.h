// What checks of configurations share: where problems go, and words for them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/check/check.h"
#include "model/shape.h"
#include "model/spec.h"

namespace hopper {

// Gathers what is wrong with one configuration.
class ConfigProblems {
 public:
  ConfigProblems(int32_t mst_key, std::vector<ConfigProblem>* out) : mst_key_(mst_key), out_(out) {}

  void Add(const ParamProblem& problem) { out_->push_back({mst_key_, problem}); }
  void Add(const Problem& problem, bool warning) {
    ParamProblem found;
    static_cast<Problem&>(found) = problem;
    found.warning = warning;
    Add(found);
  }
  void Fail(const std::string& message, const std::string& detail, const std::string& hint) {
    Add({ErrorCode::kInvalidParameter, message, detail, hint}, false);
  }
  void Warn(const std::string& message, const std::string& detail, const std::string& hint) {
    Add({ErrorCode::kInvalidParameter, message, detail, hint}, true);
  }

 private:
  const int32_t mst_key_;
  std::vector<ConfigProblem>* const out_;
};

inline std::string Quoted(const std::string& text, const char* fallback) {
  return "\"" + (text.empty() ? fallback : text) + "\"";
}

inline std::string Plural(int64_t n, const std::string& one) {
  return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

// Equal, but for axes of one channel at the end.
inline bool SameButForChannels(Shape a, Shape b) {
  while (!a.empty() && a.back() == 1) a.pop_back();
  while (!b.empty() && b.back() == 1) b.pop_back();
  return a == b;
}

// One output with its loss and metrics against its labels, which are one of data.outputs.
void CheckLabels(const ModelOutput& end, const CompileParams& compile, const DataDesc& data,
                 const DataOutput& labels, ConfigProblems* problems);

// Against the classes of the table's labels.
void CheckClassWeights(const FitParams& fit, const DataDesc& data, ConfigProblems* problems);

}  // namespace hopper
