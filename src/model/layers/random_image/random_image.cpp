#include "model/layers/random_image/random_image.h"

#include <algorithm>
#include <cmath>

#include "model/layers/window.h"

namespace hopper {
namespace layers {

RandomImage::RandomImage(LayerConfig& config) : SameShape(config) {
  ReadDataFormat(config);
  config.Ignore("seed");                 // the configuration's seed decides
  config.Ignore("bounding_box_format");  // of what else Keras may be given
}

Shape RandomImage::OutputShape(const std::vector<Shape>& inputs) const {
  RequireImage(*this, inputs);
  return inputs[0];
}

int64_t RandomImage::Flops(const std::vector<Shape>&, const Shape& output) const {
  return ElementCount({8, ElementCount(output)});
}

// Coordinates, indexes and the four pixels around a place.
int64_t RandomImage::AutogradFloats(const std::vector<Shape>&, const Shape& output) const {
  return ElementCount({24, ElementCount(output)});
}

RandomImage::Range RandomImage::ReadRange(LayerConfig& config, const char* key, double least,
                                          bool open) {
  const std::vector<double> numbers = config.Numbers(key, {0.0});
  if (!config.Has(key)) config.Missing(key);
  Range range;
  if (numbers.size() == 1) {
    range.upper = std::fabs(numbers[0]);
    range.lower = std::max(-range.upper, least);
  } else {
    range.lower = std::min(numbers[0], numbers[1]);
    range.upper = std::max(numbers[0], numbers[1]);
  }
  bool below = numbers.size() == 1 && numbers[0] < least;
  for (const double number : numbers) below = below || (open && number == least);
  if (numbers.size() > 2 || below || !(range.lower >= least && range.upper <= 1.0)) {
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"" + std::string(key) + "\" must be a number, or two, " +
                    (open ? "above " : "between ") + std::to_string(static_cast<int>(least)) +
                    (open ? " and at most 1" : " and 1"));
    return Range();
  }
  return range;
}

RandomImage::Range RandomImage::ReadValues(LayerConfig& config) {
  const std::vector<double> numbers = config.Numbers("value_range", {0.0, 255.0});
  if (numbers.size() != 2) {
    config.Fail(ErrorCode::kInvalidParameter, "argument \"value_range\" must be two numbers");
    return Range();
  }
  return {std::min(numbers[0], numbers[1]), std::max(numbers[0], numbers[1])};
}

RandomFlip::RandomFlip(LayerConfig& config) : RandomImage(config) {
  const std::string mode = config.String("mode", "horizontal_and_vertical");
  horizontal = mode != "vertical";
  vertical = mode != "horizontal";
  if (mode != "horizontal" && mode != "vertical" && mode != "horizontal_and_vertical") {
    config.Fail(ErrorCode::kInvalidParameter, "mode \"" + mode + "\" is not known",
                "Use \"horizontal\", \"vertical\" or \"horizontal_and_vertical\".");
  }
}

RandomMove::RandomMove(LayerConfig& config)
    : RandomImage(config), fill_value(config.Number("fill_value", 0.0)) {
  const std::string mode = config.String("fill_mode", "reflect");
  if (mode == "constant") {
    fill = Fill::kConstant;
  } else if (mode == "nearest") {
    fill = Fill::kNearest;
  } else if (mode == "wrap") {
    fill = Fill::kWrap;
  } else if (mode != "reflect") {
    config.Fail(ErrorCode::kInvalidParameter, "fill_mode \"" + mode + "\" is not known",
                "Use \"reflect\", \"wrap\", \"constant\" or \"nearest\".");
  }
  const std::string interpolation = config.String("interpolation", "bilinear");
  bilinear = interpolation == "bilinear";
  if (!bilinear && interpolation != "nearest") {
    config.Fail(ErrorCode::kNotSupported,
                "interpolation \"" + interpolation + "\" is not supported",
                "Use \"nearest\" or \"bilinear\".");
  }
}

RandomRotation::RandomRotation(LayerConfig& config)
    : RandomMove(config), factor(ReadRange(config, "factor", -1.0)) {}

RandomTranslation::RandomTranslation(LayerConfig& config)
    : RandomMove(config),
      height_factor(ReadRange(config, "height_factor", -1.0)),
      width_factor(ReadRange(config, "width_factor", -1.0)) {}

RandomZoom::RandomZoom(LayerConfig& config)
    : RandomMove(config),
      height_factor(ReadRange(config, "height_factor", -1.0, /*open=*/true)),
      keeps_ratio(!config.Has("width_factor")) {
  if (!keeps_ratio) width_factor = ReadRange(config, "width_factor", -1.0, /*open=*/true);
}

RandomContrast::RandomContrast(LayerConfig& config)
    : RandomImage(config),
      factor(ReadRange(config, "factor", 0.0)),
      values(config.family() == KerasFamily::kKeras2 ? Range{-INFINITY, INFINITY}
                                                     : ReadValues(config)) {
  // Of Keras 2 the first number is for less contrast, the second one for more, and one number is
  // for both; Keras 3 sorts them, and takes one for more.
  if (config.family() == KerasFamily::kKeras2) {
    const std::vector<double> numbers = config.Numbers("factor", {0.0});
    factor = {numbers.front(), numbers.back()};
  }
}

RandomBrightness::RandomBrightness(LayerConfig& config)
    : RandomImage(config), factor(ReadRange(config, "factor", -1.0)), values(ReadValues(config)) {}

}  // namespace layers
}  // namespace hopper
