// RandomFlip, RandomRotation, RandomTranslation, RandomZoom, RandomContrast, RandomBrightness:
// each image of a batch changed at random in training, and left as it is otherwise.
#pragma once

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

struct RandomImage : SameShape {
  static constexpr const char* kWeights = "";
  static constexpr const char* kSince = "2.6";
  static constexpr TrainingDefault kTraining = TrainingDefault::kTrue;

  explicit RandomImage(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  bool changes_in_training() const override { return true; }

  struct Range {
    double lower = 0.0;
    double upper = 0.0;
  };

 protected:
  // A factor from `least` (above it where that is `open`) to 1: two numbers, or one for itself and
  // its negative.
  static Range ReadRange(LayerConfig& config, const char* key, double least, bool open = false);
  // value_range, between which values are kept.
  static Range ReadValues(LayerConfig& config);
};
ops::Value Export(const RandomImage& layer, const ExportCall& call);

struct RandomFlip : RandomImage {
  static constexpr const char* kName = "RandomFlip";
  static constexpr const char* kDescription = "flips images at random in training";
  explicit RandomFlip(LayerConfig& config);

  bool horizontal = true;
  bool vertical = true;
};
std::unique_ptr<Operator> MakeOperator(const RandomFlip& layer);

// Layers that move pixels.
struct RandomMove : RandomImage {
  explicit RandomMove(LayerConfig& config);

  // What lies around an image.
  enum class Fill { kConstant, kNearest, kReflect, kWrap } fill = Fill::kReflect;
  double fill_value;
  bool bilinear = true;  // else the nearest pixel
};

struct RandomRotation : RandomMove {
  static constexpr const char* kName = "RandomRotation";
  static constexpr const char* kDescription = "turns images at random in training";
  explicit RandomRotation(LayerConfig& config);

  Range factor;  // of a full turn
};
std::unique_ptr<Operator> MakeOperator(const RandomRotation& layer);

struct RandomTranslation : RandomMove {
  static constexpr const char* kName = "RandomTranslation";
  static constexpr const char* kDescription = "moves images at random in training";
  explicit RandomTranslation(LayerConfig& config);

  Range height_factor;  // of the image's height and width
  Range width_factor;
};
std::unique_ptr<Operator> MakeOperator(const RandomTranslation& layer);

struct RandomZoom : RandomMove {
  static constexpr const char* kName = "RandomZoom";
  static constexpr const char* kDescription = "zooms images at random in training";
  explicit RandomZoom(LayerConfig& config);

  Range height_factor;
  Range width_factor;
  bool keeps_ratio;  // without a width_factor
};
std::unique_ptr<Operator> MakeOperator(const RandomZoom& layer);

struct RandomContrast : RandomImage {
  static constexpr const char* kName = "RandomContrast";
  static constexpr const char* kDescription = "changes the contrast of images in training";
  explicit RandomContrast(LayerConfig& config);

  Range factor;  // of the distance from a channel's mean
  Range values;
};
std::unique_ptr<Operator> MakeOperator(const RandomContrast& layer);

struct RandomBrightness : RandomImage {
  static constexpr const char* kName = "RandomBrightness";
  static constexpr const char* kDescription = "changes the brightness of images in training";
  static constexpr const char* kSince = "2.9";
  explicit RandomBrightness(LayerConfig& config);

  Range factor;  // of the range of values
  Range values;
};
std::unique_ptr<Operator> MakeOperator(const RandomBrightness& layer);

}  // namespace layers
}  // namespace hopper
