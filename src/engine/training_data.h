// The packed data of a run, by split.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "data/dataset.h"
#include "schedule/course.h"

namespace hopper {

class TrainingData {
 public:
  // `valid`: null without validation.
  TrainingData(const DataDesc& train, const DataDesc* valid)
      : train_(train), valid_(valid == nullptr ? nullptr : std::make_unique<Dataset>(*valid)) {}

  bool validates() const { return valid_ != nullptr; }
  Dataset& train() { return train_; }
  const Dataset& train() const { return train_; }
  const Dataset* valid() const { return valid_.get(); }  // null: there is none
  Dataset& of(int split) { return split == kValidSplit ? *valid_ : train_; }
  const Dataset& of(int split) const { return split == kValidSplit ? *valid_ : train_; }
  // Where the buffer belongs; throws where the run has no such split.
  Dataset& Taking(const PackedBuffer& buffer) {
    if (buffer.split != kTrainSplit && (buffer.split != kValidSplit || !validates())) {
      throw Error(ErrorCode::kInvalidParameter,
                  "the run has no split " + std::to_string(buffer.split));
    }
    return of(buffer.split);
  }
  // 0 of a split that there is not.
  int partitions(int split) const {
    return split == kValidSplit && !validates() ? 0 : of(split).n_partitions();
  }
  // Of what is in memory.
  int64_t bytes() const { return train_.bytes() + (validates() ? valid_->bytes() : 0); }
  // What tasks leave for later ones. Bytes; features by split.
  void Keep(int64_t orders, const std::array<int64_t, 2>& features) {
    train_.orders().Keep(orders);
    train_.features().Keep(features[kTrainSplit]);
    if (validates()) valid_->features().Keep(features[kValidSplit]);
  }

 private:
  Dataset train_;
  std::unique_ptr<Dataset> valid_;
};

}  // namespace hopper
