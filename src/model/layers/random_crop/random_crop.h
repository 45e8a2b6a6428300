// RandomCrop: in training a part of each image at a random place; otherwise the largest part in the
// middle with the same ratio of height to width, in the layer's size.
#pragma once

#include "model/layers/resizing/resizing.h"

namespace hopper {
namespace layers {

struct RandomCrop : Resized {
  static constexpr const char* kName = "RandomCrop";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "a part of an image, at a random place in training";
  static constexpr const char* kSince = "2.6";

  explicit RandomCrop(LayerConfig& config);
  // Without chance; so are, in training too, images that are smaller.
  Crop CropOf(int64_t from_height, int64_t from_width) const override {
    return LargestOf(from_height, from_width);
  }
  bool changes_in_training() const override { return true; }
};
std::unique_ptr<Operator> MakeOperator(const RandomCrop& layer);

}  // namespace layers
}  // namespace hopper
