// Resizing and CenterCrop: images of a size that the layer says.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct Resized : Layer {
  static constexpr TrainingDefault kTraining = TrainingDefault::kTrue;

  explicit Resized(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;

  // What is taken of an image, before it is resized where its size is not the layer's yet.
  struct Crop {
    int64_t top = 0;
    int64_t left = 0;
    int64_t height = 0;
    int64_t width = 0;
  };
  virtual Crop CropOf(int64_t height, int64_t width) const = 0;

  int64_t height;
  int64_t width;
  bool bilinear = true;  // else the nearest pixel

 protected:
  // The largest part in the middle with the layer's ratio of height to width.
  Crop LargestOf(int64_t height, int64_t width) const;
};
std::unique_ptr<Operator> MakeOperator(const Resized& layer);
ops::Value Export(const Resized& layer, const ExportCall& call);

struct Resizing : Resized {
  static constexpr const char* kName = "Resizing";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "an image in another size";
  static constexpr const char* kSince = "2.6";

  explicit Resizing(LayerConfig& config);
  Crop CropOf(int64_t height, int64_t width) const override;

  bool keeps_ratio;  // crop_to_aspect_ratio
};

struct CenterCrop : Resized {
  static constexpr const char* kName = "CenterCrop";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "the middle of an image";
  static constexpr const char* kSince = "2.6";

  explicit CenterCrop(LayerConfig& config) : Resized(config) {}
  Crop CropOf(int64_t height, int64_t width) const override;
};

}  // namespace layers
}  // namespace hopper
