// Layers over series, ids and attention in several models side by side: each lane is the model
// alone, with its random numbers.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "base/philox.h"
#include "model/network/lanes.h"
#include "network/keras_cases.h"

namespace hopper {
namespace {

constexpr int64_t kStep = 3;

// Lane i has the seed 10 + i.
class SeededLanes : public LaneRandom {
 public:
  void DropoutMask(uint32_t layer, uint32_t threshold, float scale,
                   const at::Tensor& mask) override {
    const int64_t n = mask.numel() / mask.size(0);
    auto* values = mask.mutable_data_ptr<float>();
    for (int64_t lane = 0; lane < mask.size(0); ++lane) {
      const Philox philox(10 + static_cast<uint64_t>(lane), Purpose::kDropout, layer, kStep);
      for (int64_t i = 0; i < n; ++i) {
        const uint32_t bits = philox.Bits(static_cast<uint64_t>(i));
        *values++ = (bits >> 8) >= threshold ? scale : 0.0F;
      }
    }
  }
  void Uniform(uint32_t layer, const at::Tensor& values) override {
    const int64_t n = values.numel() / values.size(0);
    auto* at = values.mutable_data_ptr<float>();
    for (int64_t lane = 0; lane < values.size(0); ++lane) {
      const Philox philox(10 + static_cast<uint64_t>(lane), Purpose::kDropout, layer, kStep);
      for (int64_t i = 0; i < n; ++i) *at++ = philox.Uniform(static_cast<uint64_t>(i));
    }
  }
};

// Two lanes, of which the second has its rows in reverse order, against each by itself.
void ExpectLanesAreModelsAlone(const Network& network, const float* flat, const at::Tensor& x,
                               bool training) {
  const at::NoGradGuard no_grad;
  const int64_t size = network.spec().flat_size;
  const at::Tensor own = at::from_blob(const_cast<float*>(flat), {size}, at::kFloat);
  const at::Tensor both = at::stack({own, own}, 0);
  const at::Tensor second = at::flip(x, {0});
  const LaneNetwork lanes(network);
  SeededLanes random;
  LaneContext context;
  context.training = training;
  context.random = &random;
  const at::Tensor y = lanes.Forward(at::stack({x, second}, 0), lanes.BindWeights(both), context);
  for (int64_t lane = 0; lane < 2; ++lane) {
    ForwardContext alone;
    alone.training = training;
    alone.seed = 10 + static_cast<uint64_t>(lane);
    alone.step = kStep;
    std::vector<float> weights(flat, flat + size);
    const at::Tensor expected =
        network.Forward(lane == 0 ? x : second, network.BindWeights(weights.data()), alone)
            .contiguous();
    const at::Tensor actual = y.select(0, lane).contiguous();
    const float* first = expected.const_data_ptr<float>();
    EXPECT_LE(RelativeDifference(actual.const_data_ptr<float>(),
                                 std::vector<float>(first, first + expected.numel())),
              1e-6)
        << "lane " << lane;
  }
}

class SeriesLanes : public KerasCase {};

TEST_P(SeriesLanes, AreModelsAlone) {
  const BaselineTensor& input = Expected("input");
  std::vector<float> values = input.values;
  ExpectLanesAreModelsAlone(network_, flat_.data(),
                            at::from_blob(values.data(), input.shape, at::kFloat), false);
}

std::vector<Case> SeriesCases() {
  std::vector<Case> cases;
  for (const Case& the_case : Cases()) {
    for (const char* table :
         {"keras_layers_series.safetensors", "keras_layers_image.safetensors"}) {
      if (the_case.table == &Tables().at(table)) cases.push_back(the_case);
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, SeriesLanes, testing::ValuesIn(SeriesCases()),
                         [](const auto& info) { return CaseName(info.param.json); });

TEST(SeriesLanes, DropWhatTheModelAloneDrops) {
  const std::string json = R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
      {"class_name": "SpatialDropout1D", "config": {"name": "a", "rate": 0.3,
       "batch_input_shape": [null, 6, 5]}},
      {"class_name": "LSTM", "config": {"name": "b", "units": 4, "return_sequences": true,
       "dropout": 0.4, "recurrent_dropout": 0.3}},
      {"class_name": "TimeDistributed", "config": {"name": "c", "layer":
        {"class_name": "Dropout", "config": {"name": "d", "rate": 0.5}}}},
      {"class_name": "Bidirectional", "config": {"name": "e", "layer":
        {"class_name": "GRU", "config": {"name": "f", "units": 3, "dropout": 0.5}}}}
      ]}, "keras_version": "2.11.0", "backend": "tensorflow"})";
  const Network network(ParseModel(json, nullptr));
  std::vector<float> flat(static_cast<size_t>(network.spec().flat_size));
  InitializeWeights(network.spec(), 1, flat.data());
  std::vector<float> x(size_t{7} * 6 * 5);
  const Philox random(1, Purpose::kSearch, 0, 0);
  for (size_t i = 0; i < x.size(); ++i) x[i] = random.Uniform(i) - 0.5F;
  ExpectLanesAreModelsAlone(network, flat.data(), at::from_blob(x.data(), {7, 6, 5}, at::kFloat),
                            true);
}

TEST(SeriesLanes, ChangeImagesAsTheModelAlone) {
  const std::string json = R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
      {"class_name": "RandomFlip", "config": {"name": "a", "batch_input_shape": [null, 6, 5, 2]}},
      {"class_name": "RandomRotation", "config": {"name": "b", "factor": 0.2}},
      {"class_name": "RandomTranslation", "config": {"name": "c", "height_factor": 0.3,
       "width_factor": [-0.2, 0.4], "fill_mode": "constant"}},
      {"class_name": "RandomZoom", "config": {"name": "d", "height_factor": [-0.3, 0.2]}},
      {"class_name": "RandomContrast", "config": {"name": "e", "factor": 0.4}},
      {"class_name": "GaussianNoise", "config": {"name": "f", "stddev": 0.3}},
      {"class_name": "GaussianDropout", "config": {"name": "g", "rate": 0.2}},
      {"class_name": "AlphaDropout", "config": {"name": "h", "rate": 0.3}},
      {"class_name": "Conv2D", "config": {"name": "i", "filters": 3, "kernel_size": 2}},
      {"class_name": "GaussianNoise", "config": {"name": "j", "stddev": 0.3}}
      ]}, "keras_version": "2.11.0", "backend": "tensorflow"})";
  const Network network(ParseModel(json, nullptr));
  std::vector<float> flat(static_cast<size_t>(network.spec().flat_size));
  InitializeWeights(network.spec(), 1, flat.data());
  std::vector<float> x(size_t{7} * 6 * 5 * 2);
  const Philox random(1, Purpose::kSearch, 0, 0);
  for (size_t i = 0; i < x.size(); ++i) x[i] = random.Uniform(i) - 0.5F;
  ExpectLanesAreModelsAlone(network, flat.data(), at::from_blob(x.data(), {7, 6, 5, 2}, at::kFloat),
                            true);
}

}  // namespace
}  // namespace hopper
