// Initial weights against the formulas of keras.initializers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/philox.h"
#include "model/architectures.h"
#include "model/spec.h"
#include "model/weights/import.h"

namespace hopper {
namespace {

using hopper_test::DenseEntry;
using hopper_test::Initializer;
using hopper_test::LayerEntry;
using hopper_test::SequentialModel;
using nlohmann::json;

// The kernel of a Dense of `inputs` x `units`, in Keras' order.
std::vector<float> Kernel(int inputs, int units, const json& initializer, uint64_t seed = 7) {
  json dense = LayerEntry("Dense", {{"units", units}, {"kernel_initializer", initializer}});
  const auto spec = ParseModel(SequentialModel({inputs}, {dense}).dump(), nullptr);
  std::vector<float> flat(spec->flat_size, -99.0F);
  InitializeWeights(*spec, seed, flat.data());
  std::vector<float> keras(spec->parameters);
  ExportWeights(*spec, flat.data(), keras.data());
  keras.resize(static_cast<size_t>(inputs) * units);
  return keras;
}

struct Moments {
  double mean = 0;
  double deviation = 0;
  double low = 0;
  double high = 0;
};

Moments MomentsOf(const std::vector<float>& values) {
  Moments m;
  const double n = static_cast<double>(values.size());
  for (float v : values) m.mean += v / n;
  for (float v : values) m.deviation += (v - m.mean) * (v - m.mean) / n;
  m.deviation = std::sqrt(m.deviation);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  m.low = *low;
  m.high = *high;
  return m;
}

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Largest distance between the empirical distribution and `cdf`, times sqrt(n); above 1.95 with
// probability 0.001 where they are the same (Kolmogorov and Smirnov).
template <typename Cdf>
double Distance(std::vector<float> values, const Cdf& cdf) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  double distance = 0.0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double p = cdf(values[i]);
    distance = std::max({distance, std::fabs(p - i / n), std::fabs(p - (i + 1) / n)});
  }
  return distance * std::sqrt(n);
}

void ExpectUniform(const std::vector<float>& values, double low, double high) {
  const Moments m = MomentsOf(values);
  EXPECT_GE(m.low, low - 1e-6);
  EXPECT_LE(m.high, high + 1e-6);
  EXPECT_LT(m.low, low + 0.001 * (high - low));
  EXPECT_GT(m.high, high - 0.001 * (high - low));
  EXPECT_LT(Distance(values, [&](double x) { return (x - low) / (high - low); }), 1.95);
}

void ExpectNormal(const std::vector<float>& values, double mean, double deviation) {
  EXPECT_LT(Distance(values, [&](double x) { return NormalCdf((x - mean) / deviation); }), 1.95);
  EXPECT_GT(MomentsOf(values).high, mean + 3 * deviation);
}

// Normal with this deviation before it is cut off at two of them.
void ExpectTruncated(const std::vector<float>& values, double mean, double deviation) {
  const double below = NormalCdf(-2.0);
  const auto cdf = [&](double x) {
    return (NormalCdf((x - mean) / deviation) - below) / (1.0 - 2.0 * below);
  };
  EXPECT_LT(Distance(values, cdf), 1.95);
  const Moments m = MomentsOf(values);
  EXPECT_GE(m.low, mean - 2.0 * deviation * (1 + 1e-6));
  EXPECT_LE(m.high, mean + 2.0 * deviation * (1 + 1e-6));
  EXPECT_GT(m.high, mean + 1.95 * deviation);
}

constexpr int kIn = 150;
constexpr int kOut = 350;

TEST(Initialize, UniformRules) {
  ExpectUniform(Kernel(kIn, kOut, "glorot_uniform"), -std::sqrt(6.0 / (kIn + kOut)),
                std::sqrt(6.0 / (kIn + kOut)));
  ExpectUniform(Kernel(kIn, kOut, "he_uniform"), -std::sqrt(6.0 / kIn), std::sqrt(6.0 / kIn));
  ExpectUniform(Kernel(kIn, kOut, "lecun_uniform"), -std::sqrt(3.0 / kIn), std::sqrt(3.0 / kIn));
  ExpectUniform(Kernel(kIn, kOut, "uniform"), -0.05, 0.05);
  ExpectUniform(
      Kernel(kIn, kOut, Initializer("RandomUniform", {{"minval", -0.1}, {"maxval", 0.2}})), -0.1,
      0.2);
}

TEST(Initialize, NormalRules) {
  constexpr double kCutOff = 0.87962566103423978;
  ExpectTruncated(Kernel(kIn, kOut, "glorot_normal"), 0, std::sqrt(2.0 / (kIn + kOut)) / kCutOff);
  ExpectTruncated(Kernel(kIn, kOut, "he_normal"), 0, std::sqrt(2.0 / kIn) / kCutOff);
  ExpectTruncated(Kernel(kIn, kOut, "lecun_normal"), 0, std::sqrt(1.0 / kIn) / kCutOff);
  ExpectTruncated(Kernel(kIn, kOut, Initializer("TruncatedNormal", {{"stddev", 0.3}})), 0, 0.3);
  ExpectNormal(Kernel(kIn, kOut, Initializer("RandomNormal", {{"mean", 0.5}, {"stddev", 0.1}})),
               0.5, 0.1);
  ExpectNormal(Kernel(kIn, kOut,
                      Initializer("VarianceScaling", {{"scale", 3.0},
                                                      {"mode", "fan_out"},
                                                      {"distribution", "untruncated_normal"}})),
               0, std::sqrt(3.0 / kOut));
  // After the cut-off the spread is what the rule says.
  EXPECT_NEAR(MomentsOf(Kernel(kIn, kOut, "he_normal")).deviation, std::sqrt(2.0 / kIn),
              0.01 * std::sqrt(2.0 / kIn));
}

// The quantile function, checked by the C library's error function over its whole range.
TEST(Initialize, NormalValuesAreQuantiles) {
  const std::vector<float> values = Kernel(kIn, kOut, "normal", 11);
  const Philox philox(11, Purpose::kInitialize, 0, 0);
  double largest = 0.0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double u = philox.UniformDouble(i);
    largest = std::max(largest, std::fabs(NormalCdf(values[i] / 0.05) - u));
  }
  EXPECT_LT(largest, 1e-7);
}

TEST(Initialize, ConvolutionFansHaveTheReceptiveField) {
  const json conv = LayerEntry(
      "Conv2D",
      {{"filters", 40}, {"kernel_size", {5, 3}}, {"kernel_initializer", "glorot_uniform"}});
  const auto spec = ParseModel(SequentialModel({9, 9, 24}, {conv}).dump(), nullptr);
  std::vector<float> flat(spec->flat_size);
  InitializeWeights(*spec, 3, flat.data());
  std::vector<float> kernel(flat.begin(), flat.begin() + 5 * 3 * 24 * 40);
  const double limit = std::sqrt(6.0 / (15 * 24 + 15 * 40));
  ExpectUniform(kernel, -limit, limit);
}

TEST(Initialize, ConstantsAndIdentity) {
  for (float v : Kernel(4, 6, "zeros")) EXPECT_EQ(v, 0.0F);
  for (float v : Kernel(4, 6, "ones")) EXPECT_EQ(v, 1.0F);
  for (float v : Kernel(4, 6, Initializer("Constant", {{"value", 0.25}}))) EXPECT_EQ(v, 0.25F);
  const std::vector<float> identity = Kernel(4, 6, Initializer("Identity", {{"gain", 2.0}}));
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 6; ++j) EXPECT_EQ(identity[i * 6 + j], i == j ? 2.0F : 0.0F);
  }
}

TEST(Initialize, OrthogonalColumnsOrRows) {
  for (const auto& [rows, columns] : {std::pair<int, int>{40, 25}, {25, 40}, {30, 30}}) {
    const std::vector<float> q = Kernel(rows, columns, Initializer("Orthogonal", {{"gain", 1.5}}));
    const bool tall = rows >= columns;
    const int n = std::min(rows, columns);
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b < n; ++b) {
        double dot = 0.0;
        for (int k = 0; k < std::max(rows, columns); ++k) {
          const float x = tall ? q[k * columns + a] : q[a * columns + k];
          const float y = tall ? q[k * columns + b] : q[b * columns + k];
          dot += static_cast<double>(x) * y;
        }
        EXPECT_NEAR(dot, a == b ? 2.25 : 0.0, 1e-5);
      }
    }
  }
}

// Q is that of the one QR decomposition whose R has a positive diagonal: only then is it uniform
// over orthogonal matrices.
TEST(Initialize, OrthogonalSignsAreThoseOfAPositiveDiagonal) {
  constexpr int kRows = 30;
  constexpr int kColumns = 20;
  const std::vector<float> q = Kernel(kRows, kColumns, "orthogonal");
  const std::vector<float> a =
      Kernel(kRows, kColumns, Initializer("RandomNormal", {{"mean", 0.0}, {"stddev", 1.0}}));
  for (int i = 0; i < kColumns; ++i) {
    for (int j = 0; j <= i; ++j) {
      double r = 0.0;
      for (int k = 0; k < kRows; ++k) {
        r += static_cast<double>(q[k * kColumns + i]) * a[k * kColumns + j];
      }
      if (i == j) {
        EXPECT_GT(r, 0.1);
      } else {
        EXPECT_NEAR(r, 0.0, 1e-5);
      }
    }
  }
}

json ThreeLayers(const json& middle) {
  return SequentialModel({20}, {DenseEntry(30), middle, DenseEntry(10)});
}

TEST(Initialize, IsAFunctionOfSeedWeightAndElement) {
  const auto initialize = [](const json& model, uint64_t seed) {
    const auto spec = ParseModel(model.dump(), nullptr);
    std::vector<float> flat(spec->flat_size, 5.0F);
    InitializeWeights(*spec, seed, flat.data());
    std::vector<std::vector<float>> weights;
    for (const WeightSpec& weight : spec->weights) {
      const auto begin = flat.begin() + weight.offset;
      weights.emplace_back(begin, begin + weight.size());
      for (auto at = begin + weight.size(); at < begin + (weight.size() + 15) / 16 * 16; ++at) {
        EXPECT_EQ(*at, 0.0F);
      }
    }
    return weights;
  };
  const auto first = initialize(ThreeLayers(DenseEntry(40)), 1);
  EXPECT_EQ(first, initialize(ThreeLayers(DenseEntry(40)), 1));
  EXPECT_NE(first[0], initialize(ThreeLayers(DenseEntry(40)), 2)[0]);
  // Another middle layer leaves the others as they are.
  const auto other = initialize(ThreeLayers(DenseEntry(40, "relu")), 1);
  EXPECT_EQ(first, other);
  const auto wider = initialize(
      ThreeLayers(LayerEntry("Dense", {{"units", 40}, {"kernel_initializer", "zeros"}})), 1);
  EXPECT_EQ(first[0], wider[0]);
  EXPECT_NE(first[2], wider[2]);
  EXPECT_EQ(first[4], wider[4]);
  // Weights of one shape differ.
  const auto twins = initialize(SequentialModel({8}, {DenseEntry(8), DenseEntry(8)}), 1);
  EXPECT_NE(twins[0], twins[2]);
}

TEST(Weights, ConvolutionsAreStoredOutputFirst) {
  const json conv = LayerEntry("Conv2D", {{"filters", 4}, {"kernel_size", {2, 3}}});
  const auto spec = ParseModel(SequentialModel({5, 5, 3}, {conv}).dump(), nullptr);
  ASSERT_EQ(spec->weights[0].storage, WeightStorage::kConv);
  std::vector<float> keras(spec->parameters);
  for (size_t i = 0; i < keras.size(); ++i) keras[i] = static_cast<float>(i) + 0.5F;
  std::vector<float> flat(spec->flat_size, -1.0F);
  ImportWeights(*spec, keras.data(), flat.data());
  for (int h = 0; h < 2; ++h) {
    for (int w = 0; w < 3; ++w) {
      for (int in = 0; in < 3; ++in) {
        for (int out = 0; out < 4; ++out) {
          EXPECT_EQ(flat[((out * 2 + h) * 3 + w) * 3 + in],
                    keras[((h * 3 + w) * 3 + in) * 4 + out]);
        }
      }
    }
  }
  EXPECT_EQ(flat[spec->weights[1].offset + 3], keras[72 + 3]);
  EXPECT_EQ(flat[spec->weights[1].offset + 4], 0.0F);  // padding
  // In pieces that end anywhere within a weight.
  for (const int64_t most : {1, 7, 71, 73, 76}) {
    std::vector<float> pieces(spec->flat_size, -1.0F);
    WeightsImport import(*spec, spec->parameters, pieces.data());
    for (int64_t first = 0; first < spec->parameters; first += most) {
      EXPECT_FALSE(import.complete());
      import.Add(keras.data() + first, std::min(most, spec->parameters - first));
    }
    EXPECT_TRUE(import.complete());
    EXPECT_EQ(pieces, flat) << most;
    EXPECT_THROW(import.Add(keras.data(), 1), Error);
  }
  EXPECT_THROW(WeightsImport(*spec, spec->parameters - 1, flat.data()), Error);
  std::vector<float> back(spec->parameters);
  ExportWeights(*spec, flat.data(), back.data());
  EXPECT_EQ(back, keras);
}

TEST(Weights, CountSaysWhereItBreaks) {
  const auto spec =
      ParseModel(SequentialModel({784}, {DenseEntry(1000, "relu"), DenseEntry(400, "relu"),
                                         LayerEntry("BatchNormalization", {{"name", "norm"}}),
                                         LayerEntry("Dense", {{"units", 10}, {"name", "last"}})})
                     .dump(),
                 nullptr);
  EXPECT_EQ(spec->parameters, 785000 + 400400 + 1600 + 4010);
  CheckWeightCount(*spec, spec->parameters);
  const auto problem = [&](int64_t n) {
    try {
      CheckWeightCount(*spec, n);
    } catch (const Error& error) {
      return error.problem();
    }
    return Problem{ErrorCode::kInternal, "accepted", "", ""};
  };
  EXPECT_EQ(problem(1199882).code, ErrorCode::kInvalidParameter);
  EXPECT_EQ(problem(1199882).message,
            "weights hold 1,199,882 values but the model has 1,191,010 parameters");
  EXPECT_EQ(problem(1191000).detail, "The difference is exactly weight \"last/bias\" of shape 10.");
  EXPECT_EQ(problem(1190210).detail,
            "The values are as many as the trainable weights have; the first weight that is not "
            "trainable is \"norm/moving_mean\" of shape 400.");
  EXPECT_EQ(problem(1187500).detail,
            "The values end before weight \"last/kernel\" of shape 400x10 is filled.");
  EXPECT_EQ(problem(0).message, "weights hold 0 values but the model has 1,191,010 parameters");
}

TEST(Weights, StateLayoutFollowsTheSpec) {
  const auto spec = ParseModel(
      SequentialModel({5}, {DenseEntry(3), LayerEntry("BatchNormalization", json::object())})
          .dump(),
      nullptr);
  const StateLayout layout = StateLayoutOf(*spec);
  EXPECT_EQ(layout.architecture, spec->hash);
  EXPECT_EQ(layout.flat_size, 16 * 6);
  EXPECT_EQ(layout.slot_size, 16 * 4);
  ASSERT_EQ(layout.weights.size(), 6u);
  EXPECT_EQ(layout.weights[0].size, 15);
  EXPECT_EQ(layout.weights[3].slot_offset, 48);
  EXPECT_EQ(layout.weights[4].slot_offset, -1);
}

// Keras 3 counts as inputs the axes of an EinsumDense's kernel that it sums over, wherever they
// are; Keras 2 takes the last two for inputs and outputs and those before them for a window.
TEST(Initialize, FansOfEinsumDense) {
  const auto kernel = [](const char* version, const char* initializer) {
    const auto spec = ParseModel(
        R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
          {"class_name": "InputLayer", "config": {"name": "i", "batch_shape": [null, 3, 20, 12]}},
          {"class_name": "EinsumDense", "config": {"name": "e", "equation": "abde,cde->abc",
           "output_shape": [null, 50], "kernel_initializer": ")" +
            std::string(initializer) + R"("}}]}, "keras_version": ")" + version + R"("})",
        nullptr);
    std::vector<float> flat(spec->flat_size);
    InitializeWeights(*spec, 7, flat.data());
    std::vector<float> keras(spec->parameters);
    ExportWeights(*spec, flat.data(), keras.data());
    return keras;
  };
  const auto uniform = [&](const char* version, const char* initializer, double limit) {
    ExpectUniform(kernel(version, initializer), -limit, limit);
  };
  uniform("3.15.1", "glorot_uniform", std::sqrt(6.0 / (240 + 50)));
  uniform("3.15.1", "he_uniform", std::sqrt(6.0 / 240));
  uniform("2.15.0", "glorot_uniform", std::sqrt(6.0 / (1000 + 600)));
  uniform("2.15.0", "he_uniform", std::sqrt(6.0 / 1000));
}

}  // namespace
}  // namespace hopper
