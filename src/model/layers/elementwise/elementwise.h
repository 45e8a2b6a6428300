// keras.ops.sqrt(x), x ** 2 and their like: a function of each number by itself. Those that are
// activations, such as exp, are layers of class Activation.
#pragma once

#include <cmath>

#include "model/layers/inputs.h"
#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct Elementwise : SameShape {
  static constexpr const char* kSince = kOperationOnly;
  static constexpr const char* kWeights = "";
  enum class Function {
    kAbsolute,
    kClip,
    kCos,
    kLog,
    kLog1p,
    kPower,    // x ** number
    kPowerOf,  // number ** x
    kReciprocal,
    kRsqrt,
    kSin,
    kSqrt,
    kSquare,
    kWhole  // without its fraction, and without a gradient
  };

  Elementwise(LayerConfig& config, Function which) : SameShape(config), function(which) {}
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;

  Function function;
  double number = 1.0;  // kPower: the exponent; kPowerOf: the base; kReciprocal: what is divided
  double least = -INFINITY;  // kClip
  double most = INFINITY;
  bool ends_have_gradient = true;  // kClip: whether a value at one of the two has a gradient
};
std::unique_ptr<Operator> MakeOperator(const Elementwise& layer);
ops::Value Export(const Elementwise& layer, const ExportCall& call);

struct Absolute : Elementwise {
  static constexpr const char* kName = "Absolute";
  static constexpr const char* kDescription = "absolute values";
  explicit Absolute(LayerConfig& config) : Elementwise(config, Function::kAbsolute) {}
};
// To whole numbers.
struct Cast : Elementwise {
  static constexpr const char* kName = "Cast";
  static constexpr const char* kDescription = "values without their fractions";
  explicit Cast(LayerConfig& config) : Elementwise(config, Function::kWhole) {}
};
// Also minimum and maximum of a tensor and a number.
struct Clip : Elementwise {
  static constexpr const char* kName = "Clip";
  static constexpr const char* kDescription = "values between two numbers";
  explicit Clip(LayerConfig& config);
};
struct Cos : Elementwise {
  static constexpr const char* kName = "Cos";
  static constexpr const char* kDescription = "cosine";
  explicit Cos(LayerConfig& config) : Elementwise(config, Function::kCos) {}
};
struct Log : Elementwise {
  static constexpr const char* kName = "Log";
  static constexpr const char* kDescription = "natural logarithm";
  explicit Log(LayerConfig& config) : Elementwise(config, Function::kLog) {}
};
struct Log1p : Elementwise {
  static constexpr const char* kName = "Log1p";
  static constexpr const char* kDescription = "natural logarithm of 1 + x";
  explicit Log1p(LayerConfig& config) : Elementwise(config, Function::kLog1p) {}
};
// "exponent", or "base" of what x is the exponent.
struct Power : Elementwise {
  static constexpr const char* kName = "Power";
  static constexpr const char* kDescription = "a number's power, or a power of a number";
  explicit Power(LayerConfig& config);
};
// "numerator": another number than 1 over x.
struct Reciprocal : Elementwise {
  static constexpr const char* kName = "Reciprocal";
  static constexpr const char* kDescription = "a number divided by x";
  explicit Reciprocal(LayerConfig& config) : Elementwise(config, Function::kReciprocal) {
    number = config.Number("numerator", 1.0);
  }
};
struct Rsqrt : Elementwise {
  static constexpr const char* kName = "Rsqrt";
  static constexpr const char* kDescription = "1 divided by the square root";
  explicit Rsqrt(LayerConfig& config) : Elementwise(config, Function::kRsqrt) {}
};
struct Sin : Elementwise {
  static constexpr const char* kName = "Sin";
  static constexpr const char* kDescription = "sine";
  explicit Sin(LayerConfig& config) : Elementwise(config, Function::kSin) {}
};
struct Sqrt : Elementwise {
  static constexpr const char* kName = "Sqrt";
  static constexpr const char* kDescription = "square root";
  explicit Sqrt(LayerConfig& config) : Elementwise(config, Function::kSqrt) {}
};
struct Square : Elementwise {
  static constexpr const char* kName = "Square";
  static constexpr const char* kDescription = "square";
  explicit Square(LayerConfig& config) : Elementwise(config, Function::kSquare) {}
};

}  // namespace layers
}  // namespace hopper
