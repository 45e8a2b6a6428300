// keras.ops.sqrt(x), abs(x) and their like: a function of each number by itself. Activations, such
// as exp, are layers of class Activation.
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
    kArctan,
    kCeil,  // this, kFloor, kRound and kSign have no gradient
    kClip,
    kCos,
    kCosh,
    kExpm1,
    kFloor,
    kLog,
    kLog10,
    kLog1p,
    kLog2,
    kReciprocal,
    kRound,  // halves to even numbers
    kRsqrt,
    kSign,
    kSin,
    kSinh,
    kSqrt,
    kSquare,
    kTan,
    kWhole  // without its fraction, and without a gradient
  };

  Elementwise(LayerConfig& config, Function which) : SameShape(config), function(which) {}
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;

  Function function;
  double number = 1.0;       // kReciprocal: what is divided
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
struct Arctan : Elementwise {
  static constexpr const char* kName = "Arctan";
  static constexpr const char* kDescription = "arctangent";
  explicit Arctan(LayerConfig& config) : Elementwise(config, Function::kArctan) {}
};
// To whole numbers.
struct Cast : Elementwise {
  static constexpr const char* kName = "Cast";
  static constexpr const char* kDescription = "values without their fractions";
  explicit Cast(LayerConfig& config) : Elementwise(config, Function::kWhole) {}
};
struct Ceil : Elementwise {
  static constexpr const char* kName = "Ceil";
  static constexpr const char* kDescription = "values rounded up";
  explicit Ceil(LayerConfig& config) : Elementwise(config, Function::kCeil) {}
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
struct Cosh : Elementwise {
  static constexpr const char* kName = "Cosh";
  static constexpr const char* kDescription = "hyperbolic cosine";
  explicit Cosh(LayerConfig& config) : Elementwise(config, Function::kCosh) {}
};
struct Expm1 : Elementwise {
  static constexpr const char* kName = "Expm1";
  static constexpr const char* kDescription = "exponential minus 1";
  explicit Expm1(LayerConfig& config) : Elementwise(config, Function::kExpm1) {}
};
struct Floor : Elementwise {
  static constexpr const char* kName = "Floor";
  static constexpr const char* kDescription = "values rounded down";
  explicit Floor(LayerConfig& config) : Elementwise(config, Function::kFloor) {}
};
struct Log : Elementwise {
  static constexpr const char* kName = "Log";
  static constexpr const char* kDescription = "natural logarithm";
  explicit Log(LayerConfig& config) : Elementwise(config, Function::kLog) {}
};
struct Log10 : Elementwise {
  static constexpr const char* kName = "Log10";
  static constexpr const char* kDescription = "logarithm of base 10";
  explicit Log10(LayerConfig& config) : Elementwise(config, Function::kLog10) {}
};
struct Log1p : Elementwise {
  static constexpr const char* kName = "Log1p";
  static constexpr const char* kDescription = "natural logarithm of 1 + x";
  explicit Log1p(LayerConfig& config) : Elementwise(config, Function::kLog1p) {}
};
struct Log2 : Elementwise {
  static constexpr const char* kName = "Log2";
  static constexpr const char* kDescription = "logarithm of base 2";
  explicit Log2(LayerConfig& config) : Elementwise(config, Function::kLog2) {}
};
// "numerator": another number than 1 over x.
struct Reciprocal : Elementwise {
  static constexpr const char* kName = "Reciprocal";
  static constexpr const char* kDescription = "a number divided by x";
  explicit Reciprocal(LayerConfig& config) : Elementwise(config, Function::kReciprocal) {
    number = config.Number("numerator", 1.0);
  }
};
struct Round : Elementwise {
  static constexpr const char* kName = "Round";
  static constexpr const char* kDescription = "values rounded to whole numbers";
  explicit Round(LayerConfig& config);
};
struct Rsqrt : Elementwise {
  static constexpr const char* kName = "Rsqrt";
  static constexpr const char* kDescription = "1 divided by the square root";
  explicit Rsqrt(LayerConfig& config) : Elementwise(config, Function::kRsqrt) {}
};
struct Sign : Elementwise {
  static constexpr const char* kName = "Sign";
  static constexpr const char* kDescription = "-1, 0 or 1";
  explicit Sign(LayerConfig& config) : Elementwise(config, Function::kSign) {}
};
struct Sin : Elementwise {
  static constexpr const char* kName = "Sin";
  static constexpr const char* kDescription = "sine";
  explicit Sin(LayerConfig& config) : Elementwise(config, Function::kSin) {}
};
struct Sinh : Elementwise {
  static constexpr const char* kName = "Sinh";
  static constexpr const char* kDescription = "hyperbolic sine";
  explicit Sinh(LayerConfig& config) : Elementwise(config, Function::kSinh) {}
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
struct Tan : Elementwise {
  static constexpr const char* kName = "Tan";
  static constexpr const char* kDescription = "tangent";
  explicit Tan(LayerConfig& config) : Elementwise(config, Function::kTan) {}
};

}  // namespace layers
}  // namespace hopper
