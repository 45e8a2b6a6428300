// What is random in training: its distribution, that it differs from step to step and from layer to
// layer and not from run to run, and that it is absent otherwise.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/std.h>
#include <gtest/gtest.h>

#include "model/network/network.h"

namespace hopper {
namespace {

std::string LayerJson(const std::string& class_name, const std::string& config) {
  return R"({"class_name": "Sequential", "config": {"name": "s", "layers": [{"class_name": ")" +
         class_name + R"(", "config": {"name": "a", )" + config +
         R"(}}]}, "keras_version": "2.11.0", "backend": "tensorflow"})";
}

at::Tensor Through(const std::string& json, const at::Tensor& x, int64_t step = 0,
                   uint64_t seed = 1, bool training = true) {
  const at::NoGradGuard no_grad;
  const Network network(ParseModel(json, nullptr));
  ForwardContext context;
  context.training = training;
  context.seed = seed;
  context.step = step;
  return network.Forward(x, {}, context);
}

double Mean(const at::Tensor& x) { return at::mean(x).item<double>(); }
double Deviation(const at::Tensor& x) { return at::std(x).item<double>(); }

const char* const kRow = R"("batch_input_shape": [null, 1000], )";
const char* const kImage = R"("batch_input_shape": [null, 4, 3, 2], )";

void ExpectRandomInTrainingOnly(const std::string& json, const at::Tensor& x) {
  const at::Tensor first = Through(json, x);
  EXPECT_TRUE(at::equal(first, Through(json, x)));
  EXPECT_FALSE(at::equal(first, Through(json, x, /*step=*/1)));
  EXPECT_FALSE(at::equal(first, Through(json, x, /*step=*/0, /*seed=*/2)));
  EXPECT_TRUE(at::equal(Through(json, x, 0, 1, /*training=*/false), x));
}

TEST(Noise, GaussianNoise) {
  const std::string json = LayerJson("GaussianNoise", std::string(kRow) + "\"stddev\": 0.25");
  const at::Tensor x = at::ones({100, 1000}) * 3.0;
  const at::Tensor y = Through(json, x);
  EXPECT_NEAR(Mean(y), 3.0, 0.25 * 4 / 316);
  EXPECT_NEAR(Deviation(y), 0.25, 0.25 * 4 / 447);
  // As often within one deviation as the normal distribution.
  EXPECT_NEAR(Mean(at::abs(y - 3.0).lt(0.25).to(at::kFloat)), 0.6827, 0.006);
  ExpectRandomInTrainingOnly(json, x);
}

TEST(Noise, GaussianDropout) {
  const std::string json = LayerJson("GaussianDropout", std::string(kRow) + "\"rate\": 0.2");
  const at::Tensor x = at::ones({100, 1000}) * 2.0;
  const at::Tensor y = Through(json, x);
  EXPECT_NEAR(Mean(y), 2.0, 4.0 / 316);
  EXPECT_NEAR(Deviation(y), 1.0, 4.0 / 447);  // 2 sqrt(0.2 / 0.8)
  ExpectRandomInTrainingOnly(json, x);
}

TEST(Noise, AlphaDropoutKeepsMeanAndVariance) {
  const std::string json = LayerJson("AlphaDropout", std::string(kRow) + "\"rate\": 0.3");
  const at::Tensor x = Through(LayerJson("GaussianNoise", std::string(kRow) + "\"stddev\": 1.0"),
                               at::full({100, 1000}, 0.0), 0, 9);
  const at::Tensor y = Through(json, x);
  EXPECT_NEAR(Mean(y), 0.0, 6.0 / 316);
  EXPECT_NEAR(Deviation(y), 1.0, 6.0 / 447);
  ExpectRandomInTrainingOnly(json, x);
}

TEST(Noise, RandomCropTakesEachPlaceAsOften) {
  // Each value says where it stood.
  const at::Tensor one = at::arange(4 * 3, at::kFloat).view({1, 4, 3, 1});
  const at::Tensor x = one.expand({6000, 4, 3, 1}).contiguous();
  const std::string image = R"("batch_input_shape": [null, 4, 3, 1], )";
  const std::string json = LayerJson("RandomCrop", image + R"("height": 2, "width": 2, "seed": 5)");
  const at::Tensor y = Through(json, x);
  ASSERT_EQ(y.sizes(), at::IntArrayRef({6000, 2, 2, 1}));
  const at::Tensor first = y.select(1, 0).select(1, 0).reshape({-1});
  for (const int top : {0, 1, 2}) {
    for (const int left : {0, 1}) {
      const at::Tensor here = first.eq(3.0 * top + left);
      EXPECT_NEAR(Mean(here.to(at::kFloat)), 1.0 / 6.0, 0.02) << top << " " << left;
      const at::Tensor part = one.narrow(1, top, 2).narrow(2, left, 2);
      const at::Tensor found = y.index_select(0, here.nonzero().view(-1));
      EXPECT_TRUE(at::equal(found, part.expand(found.sizes())));
    }
  }
  EXPECT_TRUE(at::equal(y, Through(json, x)));
  EXPECT_FALSE(at::equal(y, Through(json, x, /*step=*/1)));
  EXPECT_FALSE(at::equal(y, Through(json, x, /*step=*/0, /*seed=*/2)));
}

TEST(Noise, RandomCropIsTheMiddleWithoutTrainingAndOfSmallImages) {
  // Keras' smart_resize(), which Resizing with crop_to_aspect_ratio is too.
  const at::Tensor x = at::arange(2 * 4 * 3 * 2, at::kFloat).view({2, 4, 3, 2});
  for (const std::string size :
       {R"("height": 2, "width": 2)", R"("height": 3, "width": 1)", R"("height": 6, "width": 2)"}) {
    const std::string json = LayerJson("RandomCrop", kImage + size);
    const at::Tensor middle = Through(
        LayerJson("Resizing", kImage + size + R"(, "crop_to_aspect_ratio": true)"), x, 0, 1, false);
    EXPECT_TRUE(at::equal(Through(json, x, 0, 1, /*training=*/false), middle)) << size;
    if (size.find('6') != std::string::npos) {
      EXPECT_TRUE(at::equal(Through(json, x), middle)) << size;
    }
  }
}

TEST(Noise, RandomFlipFlipsHalfOfTheImages) {
  const at::Tensor image =
      Through(LayerJson("GaussianNoise", std::string(kImage) + "\"stddev\": 1.0"),
              at::full({1, 4, 3, 2}, 0.0));
  const at::Tensor x = image.expand({400, 4, 3, 2}).contiguous();
  const auto count = [&](const std::string& mode, const at::IntArrayRef& axes) {
    const at::Tensor y =
        Through(LayerJson("RandomFlip", std::string(kImage) + "\"mode\": \"" + mode + "\""), x);
    const at::Tensor flipped = at::flip(image, axes);
    int n = 0;
    for (int64_t i = 0; i < y.size(0); ++i) {
      n += at::equal(y[i], flipped[0]) ? 1 : 0;
      if (mode != "horizontal_and_vertical") {
        EXPECT_TRUE(at::equal(y[i], flipped[0]) || at::equal(y[i], image[0]));
      }
    }
    return n;
  };
  EXPECT_NEAR(count("horizontal", {2}), 200, 40);
  EXPECT_NEAR(count("vertical", {1}), 200, 40);
  EXPECT_NEAR(count("horizontal_and_vertical", {1, 2}), 100, 35);
  ExpectRandomInTrainingOnly(LayerJson("RandomFlip", std::string(kImage) + "\"seed\": 5"), x);
}

TEST(Noise, RandomContrastMovesValuesFromTheirMean) {
  const std::string json =
      LayerJson("RandomContrast", std::string(kImage) + "\"factor\": [0.5, 0.25]");
  const at::Tensor image =
      Through(LayerJson("GaussianNoise", std::string(kImage) + "\"stddev\": 1.0"),
              at::full({1, 4, 3, 2}, 0.0));
  const at::Tensor x = image.expand({400, 4, 3, 2}).contiguous();
  const at::Tensor mean = at::mean(x, {1, 2}, true);
  const at::Tensor factors = at::mean((Through(json, x) - mean) / (x - mean), {1, 2, 3});
  EXPECT_GE(factors.min().item<double>(), 0.5 - 1e-4);
  EXPECT_LE(factors.max().item<double>(), 1.25 + 1e-4);
  EXPECT_NEAR(Mean(factors), 0.875, 0.06);
  ExpectRandomInTrainingOnly(json, x);
}

}  // namespace
}  // namespace hopper
