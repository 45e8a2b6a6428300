#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/trunc.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "model/layers/random_image/random_image.h"
#include "model/network/function_operator.h"
#include "model/network/random_mask.h"

namespace hopper {
namespace layers {
namespace {

using Range = RandomImage::Range;

at::Tensor Between(const at::Tensor& uniform, const Range& range) {
  return uniform * (range.upper - range.lower) + range.lower;
}

// Where output pixel (x, y) of each image comes from: (a0 x + a1 y + a2, b0 x + b1 y + b2). Each is
// [batch, 1, 1].
struct PixelPlaces {
  at::Tensor a0, a1, a2, b0, b1, b2;
};

// Coordinates outside of an image of `size` pixels along an axis, as TensorFlow's
// ImageProjectiveTransformV3 takes them into it.
at::Tensor Inside(const at::Tensor& c, int64_t size, RandomMove::Fill fill) {
  const auto n = static_cast<double>(size);
  at::Tensor below = c, above = c;
  switch (fill) {
    case RandomMove::Fill::kConstant:
      return c;
    case RandomMove::Fill::kNearest:
      break;
    case RandomMove::Fill::kReflect: {
      const at::Tensor turned = c + at::trunc(-c / (2.0 * n)) * (2.0 * n);
      below = at::where(turned.lt(-n), turned + 2.0 * n, -turned - 1.0);
      const at::Tensor rest = c - at::trunc(c / (2.0 * n)) * (2.0 * n);
      above = at::where(rest.ge(n), 2.0 * n - 1.0 - rest, rest);
      break;
    }
    case RandomMove::Fill::kWrap: {
      const double last = size > 1 ? n - 1.0 : 1.0;
      below = c + (at::trunc(-c / last) + 1.0) * n;
      above = c - at::trunc(c / last) * n;
      break;
    }
  }
  return at::clamp(at::where(c.lt(0.0), below, at::where(c.gt(n - 1.0), above, c)), 0.0, n - 1.0);
}

at::Tensor Rounded(const at::Tensor& c) { return at::sign(c) * at::floor(at::abs(c) + 0.5); }

at::Tensor Move(const RandomMove& layer, const at::Tensor& images, const PixelPlaces& places) {
  const int64_t batch = images.size(0);
  const int64_t height = images.size(1);
  const int64_t width = images.size(2);
  const int64_t channels = images.size(3);
  const at::TensorOptions floats = images.options().dtype(at::kFloat);
  const at::Tensor across = at::arange(width, floats).view({1, 1, width});
  const at::Tensor down = at::arange(height, floats).view({1, height, 1});
  const at::Tensor x = Inside(places.a0 * across + places.a1 * down + places.a2, width, layer.fill);
  const at::Tensor y =
      Inside(places.b0 * across + places.b1 * down + places.b2, height, layer.fill);
  const at::Tensor flat = images.reshape({batch, height * width, channels});
  const auto pixel = [&](const at::Tensor& row, const at::Tensor& column) {
    const at::Tensor there = row.ge(0.0)
                                 .logical_and(row.le(static_cast<double>(height - 1)))
                                 .logical_and(column.ge(0.0))
                                 .logical_and(column.le(static_cast<double>(width - 1)));
    const at::Tensor index =
        (at::clamp(row, 0.0, static_cast<double>(height - 1)).to(at::kLong) * width +
         at::clamp(column, 0.0, static_cast<double>(width - 1)).to(at::kLong))
            .reshape({batch, height * width, 1})
            .expand({batch, height * width, channels});
    const at::Tensor values = at::gather(flat, 1, index).view(images.sizes());
    return at::where(there.unsqueeze(-1), values, at::full_like(values, layer.fill_value));
  };
  if (!layer.bilinear) return pixel(Rounded(y), Rounded(x));
  const at::Tensor top = at::floor(y);
  const at::Tensor left = at::floor(x);
  const at::Tensor right = left + 1.0;
  const at::Tensor bottom = top + 1.0;
  const auto row = [&](const at::Tensor& at_row) {
    return pixel(at_row, left) * (right - x).unsqueeze(-1) +
           pixel(at_row, right) * (x - left).unsqueeze(-1);
  };
  return row(top) * (bottom - y).unsqueeze(-1) + row(bottom) * (y - top).unsqueeze(-1);
}

// change(images, uniform), where uniform(i) is the i-th of `numbers` random numbers of each image,
// [batch, 1, 1]; images are float32.
template <typename Change>
std::unique_ptr<Operator> InTraining(int64_t numbers, Change change) {
  return MakeFunctionOperator([numbers, change](const std::vector<at::Tensor>& inputs,
                                                const std::vector<at::Tensor>&,
                                                const ForwardContext& context) -> at::Tensor {
    if (!context.training) return inputs[0];
    const at::Tensor drawn = RandomUniform(context, {inputs[0].size(0), numbers, 1, 1}, inputs[0]);
    return change(inputs[0].to(at::kFloat), [&](int64_t i) { return drawn.select(1, i); })
        .to(inputs[0].scalar_type());
  });
}

}  // namespace

std::unique_ptr<Operator> MakeOperator(const RandomFlip& layer) {
  return InTraining(2, [&layer](const at::Tensor& images, const auto& uniform) {
    at::Tensor flipped = images;
    if (layer.horizontal) {
      flipped = at::where(uniform(0).le(0.5).unsqueeze(-1), at::flip(flipped, {2}), flipped);
    }
    if (layer.vertical) {
      flipped = at::where(uniform(1).le(0.5).unsqueeze(-1), at::flip(flipped, {1}), flipped);
    }
    return flipped;
  });
}

std::unique_ptr<Operator> MakeOperator(const RandomRotation& layer) {
  return InTraining(1, [&layer](const at::Tensor& images, const auto& uniform) {
    const at::Tensor angle = Between(uniform(0), layer.factor) * (2.0 * M_PI);
    const at::Tensor cosine = at::cos(angle);
    const at::Tensor sine = at::sin(angle);
    const double x = static_cast<double>(images.size(2) - 1) / 2.0;  // the middle
    const double y = static_cast<double>(images.size(1) - 1) / 2.0;
    return Move(
        layer, images,
        {cosine, -sine, x - cosine * x + sine * y, sine, cosine, y - sine * x - cosine * y});
  });
}

std::unique_ptr<Operator> MakeOperator(const RandomTranslation& layer) {
  return InTraining(2, [&layer](const at::Tensor& images, const auto& uniform) {
    const at::Tensor down =
        Between(uniform(0), layer.height_factor) * static_cast<double>(images.size(1));
    const at::Tensor across =
        Between(uniform(1), layer.width_factor) * static_cast<double>(images.size(2));
    const at::Tensor one = at::ones_like(down);
    const at::Tensor none = at::zeros_like(down);
    return Move(layer, images, {one, none, -across, none, one, -down});
  });
}

std::unique_ptr<Operator> MakeOperator(const RandomZoom& layer) {
  return InTraining(2, [&layer](const at::Tensor& images, const auto& uniform) {
    const at::Tensor down = Between(uniform(0), layer.height_factor) + 1.0;
    const at::Tensor across =
        layer.keeps_ratio ? down : Between(uniform(1), layer.width_factor) + 1.0;
    const double x = static_cast<double>(images.size(2) - 1) / 2.0;
    const double y = static_cast<double>(images.size(1) - 1) / 2.0;
    const at::Tensor none = at::zeros_like(down);
    return Move(layer, images, {across, none, (1.0 - across) * x, none, down, (1.0 - down) * y});
  });
}

std::unique_ptr<Operator> MakeOperator(const RandomContrast& layer) {
  return InTraining(1, [&layer](const at::Tensor& images, const auto& uniform) {
    const Range factor{1.0 - layer.factor.lower, 1.0 + layer.factor.upper};
    const at::Tensor mean = at::mean(images, {1, 2}, /*keepdim=*/true);
    const at::Tensor changed = (images - mean) * Between(uniform(0), factor).unsqueeze(-1) + mean;
    return at::clamp(changed, layer.values.lower, layer.values.upper);
  });
}

std::unique_ptr<Operator> MakeOperator(const RandomBrightness& layer) {
  return InTraining(1, [&layer](const at::Tensor& images, const auto& uniform) {
    const double whole = layer.values.upper - layer.values.lower;
    const at::Tensor changed = images + (Between(uniform(0), layer.factor) * whole).unsqueeze(-1);
    return at::clamp(changed, layer.values.lower, layer.values.upper);
  });
}

}  // namespace layers
}  // namespace hopper
