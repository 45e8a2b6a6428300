// Models that wait for a worker: which of them is next, and which can be worked on beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "schedule/companions.h"
#include "schedule/ready.h"

namespace hopper {

class DueModels {
 public:
  // As ReadyModels.
  explicit DueModels(const std::vector<int64_t>& needs) : ready_(needs) {}
  void Add(int64_t needs) { ready_.Add(needs); }

  // The model is due, with so much work left; `kind`: beside those that are due for work of that
  // kind, empty: by itself.
  void Set(size_t model, double work, const std::string& kind = std::string()) {
    ready_.Set(model, work);
    if (kind.empty()) {
      companions_.Remove(model);
    } else {
      companions_.Set(model, kind);
    }
  }
  void Remove(size_t model) {
    ready_.Remove(model);
    companions_.Remove(model);
  }

  const ReadyModels& ready() const { return ready_; }
  const Companions& companions() const { return companions_; }

 private:
  ReadyModels ready_;
  Companions companions_;
};

}  // namespace hopper
