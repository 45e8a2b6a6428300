#include "schedule/common_iterations.h"

namespace hopper {

namespace {

template <typename Number>
void CountOneLess(Number number, std::map<Number, int>* counts) {
  const auto count = counts->find(number);
  if (--count->second == 0) counts->erase(count);
}

}  // namespace

void CommonIterations::Set(size_t model, int32_t finished, int64_t before) {
  if (model >= models_.size()) models_.resize(model + 1);
  if (models_[model].has_value() && models_[model]->finished == finished) return;
  Remove(model);
  models_[model] = Counted{finished, before};
  ++finished_[finished];
  ++before_[before];
}

void CommonIterations::Remove(size_t model) {
  if (model >= models_.size() || !models_[model].has_value()) return;
  CountOneLess(models_[model]->finished, &finished_);
  CountOneLess(models_[model]->before, &before_);
  models_[model].reset();
}

std::optional<CommonIterations::Span> CommonIterations::Next() {
  if (finished_.empty() || finished_.begin()->first <= told_) return std::nullopt;
  const int64_t before = before_.rbegin()->first;
  const int64_t first = before + told_ + 1;
  told_ = finished_.begin()->first;
  return Span{first, before + told_};
}

}  // namespace hopper
