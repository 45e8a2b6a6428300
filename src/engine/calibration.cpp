#include "engine/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "base/cancel.h"
#include "engine/configuration.h"
#include "engine/held_outputs.h"
#include "loss/objective.h"
#include "model/keras/ensemble.h"
#include "model/layers/activation/activation_layer.h"
#include "model/layers/dense/dense.h"
#include "model/layers/temperature/temperature.h"

namespace hopper {

namespace {

constexpr int kBins = 15;
constexpr int kMostSteps = 200;
constexpr double kPrecision = 1e-12;  // of 1 / T, relative
constexpr float kMostOff = 1e-3F;     // of a sum of probabilities

[[noreturn]] void Refuse(const ConfigSource& config, const std::string& detail,
                         const std::string& hint) {
  throw Error(ErrorCode::kNotSupported,
              "configuration " + std::to_string(config.mst_key) + " cannot be calibrated", detail,
              hint);
}

// The only node that makes a tensor, where one node at most reads it.
const Node* SourceOf(const ModelSpec& spec, int tensor) {
  const Node* found = nullptr;
  int readers = 0;
  for (const Node& node : spec.nodes) {
    if (node.output == tensor) found = &node;
    readers += static_cast<int>(std::count(node.inputs.begin(), node.inputs.end(), tensor));
  }
  return readers <= 1 ? found : nullptr;
}

// The layer whose weights make the logits, -1: there is none.
int LogitLayer(const ModelSpec& spec) {
  const auto layer = [&](const Node* node) {
    return spec.layers[static_cast<size_t>(node->layer)].get();
  };
  const Node* last = SourceOf(spec, spec.output);
  if (last == nullptr) return -1;
  bool activated = false;
  if (dynamic_cast<const layers::ActivationLayer*>(layer(last)) != nullptr) {
    activated = true;
    last = SourceOf(spec, last->inputs.front());
    if (last == nullptr) return -1;
  }
  const auto* dense = dynamic_cast<const layers::Dense*>(layer(last));
  const bool fits = dense != nullptr &&
                    (!activated || dense->activation.kind == Activation::kLinear) &&
                    std::count_if(spec.nodes.begin(), spec.nodes.end(),
                                  [&](const Node& node) { return node.layer == last->layer; }) == 1;
  return fits ? last->layer : -1;
}

struct Rows {
  const std::vector<float>& logits;
  int64_t width;
  const std::vector<int64_t>& classes;
  const std::vector<float>& weights;  // empty: all 1

  int64_t size() const { return static_cast<int64_t>(classes.size()); }
  int64_t n_classes() const { return std::max<int64_t>(width, 2); }
  double weight(int64_t row) const {
    return weights.empty() ? 1.0 : weights[static_cast<size_t>(row)];
  }
  // The logits of all classes: a sigmoid's is that of the second of two, beside 0.
  void Read(int64_t row, double* z) const {
    const float* from = logits.data() + row * width;
    if (width == 1) {
      z[0] = 0.0;
      z[1] = from[0];
    } else {
      std::copy(from, from + width, z);
    }
  }
};

// By b = 1 / T: the mean log-loss and its derivatives, and the calibration error.
struct Point {
  double loss = 0.0;
  double slope = 0.0;
  double curve = 0.0;
  double error = 0.0;
};

Point At(const Rows& rows, double b) {
  const auto n = static_cast<size_t>(rows.n_classes());
  std::vector<double> z(n);
  std::vector<double> p(n);
  std::array<double, kBins> gaps = {};
  Point sum;
  for (int64_t row = 0; row < rows.size(); ++row) {
    if (row % kHeldBatch == 0) LookAtCancel();
    rows.Read(row, z.data());
    const auto most = static_cast<size_t>(std::max_element(z.begin(), z.end()) - z.begin());
    const auto label = static_cast<size_t>(rows.classes[static_cast<size_t>(row)]);
    double total = 0.0;
    for (size_t j = 0; j < n; ++j) total += p[j] = std::exp(b * (z[j] - z[most]));
    double mean = 0.0;
    double square = 0.0;
    for (size_t j = 0; j < n; ++j) {
      const double d = z[j] - z[most];
      mean += p[j] / total * d;
      square += p[j] / total * d * d;
    }
    const double weight = rows.weight(row);
    const double right = z[label] - z[most];
    sum.loss += weight * (std::log(total) - b * right);
    sum.slope += weight * (mean - right);
    sum.curve += weight * (square - mean * mean);
    const double confidence = 1.0 / total;
    const int bin = std::clamp(static_cast<int>(std::ceil(confidence * kBins)) - 1, 0, kBins - 1);
    gaps[static_cast<size_t>(bin)] += weight * ((label == most ? 1.0 : 0.0) - confidence);
  }
  for (const double gap : gaps) sum.error += std::abs(gap);
  const auto count = static_cast<double>(rows.size());
  return {sum.loss / count, sum.slope / count, sum.curve / count, sum.error / count};
}

// Newton's steps on the slope, which ascends, within a bracket that each narrows.
double LeastLossAt(const Rows& rows, Point at_one) {
  double low = 1.0 / kMostTemperature;
  double high = 1.0 / kLeastTemperature;
  double b = 1.0;
  Point point = at_one;
  for (int step = 0; step < kMostSteps && point.slope != 0.0; ++step) {
    (point.slope > 0.0 ? high : low) = b;
    if (high - low <= kPrecision * high) break;
    double next = b - point.slope / point.curve;
    // A step out of the bracket, also where nothing is curved; and, for the bounds, one to them.
    if (!(next > low && next < high)) next = std::sqrt(low * high);
    if (std::abs(next - b) <= kPrecision * b) break;
    b = next;
    point = At(rows, b);
  }
  return b;
}

}  // namespace

Calibration::Calibration(const TrainingBackend& backend, const ConfigSource& config,
                         const DataDesc& data, int64_t memory_limit)
    : backend_(backend), data_(data) {
  Networks networks(backend);
  trainer_ = MakeTrainer(config, data_.desc(), /*run_seed=*/0, Precision::kFp32, &networks);
  const ModelSpec& spec = trainer_->network().spec();
  if (spec.outputs.size() > 1) {
    Refuse(config, "It has several outputs.", "Calibrate models with one output.");
  }
  const ObjectivePart& part = trainer_->objective().parts.front();
  if (!part.classes) {
    Refuse(config, "Its labels are no classes, one for each row.",
           "A model of numbers has no probabilities that a temperature would change.");
  }
  const ModelOutput& output = spec.outputs.front();
  const int layer = LogitLayer(spec);
  width_ = spec.OutputValues();
  const Activation last = width_ == 1 ? Activation::kSigmoid : Activation::kSoftmax;
  // A loss that takes logits itself makes them of a linear output.
  const bool raw = output.final_activation == Activation::kLinear && part.options.from_logits;
  const bool of_weights =
      layer >= 0 && output.members == 0 && (output.final_activation == last || raw);
  if (output.shape.size() != 1 || output.mask_size > 0 || (raw && !of_weights)) {
    Refuse(config, "Its outputs are not the probabilities of a row's classes.",
           raw ? "Where a loss has from_logits=True, the output has to be a Dense layer's." : "");
  }
  RequireOutputMemory(data_.desc().n_rows * width_ * static_cast<int64_t>(sizeof(float)), 1,
                      memory_limit, "Raise hopper.memory_limit, or use fewer rows.");
  if (!of_weights) return;
  for (size_t i = 0; i < spec.weights.size(); ++i) {
    const WeightSpec& weight = spec.weights[i];
    if (weight.layer == layer) {
      n_weights_ += weight.size();
    } else if (n_weights_ == 0) {
      first_weight_ += weight.size();
    }
  }
}

Calibration::Labels Calibration::ReadLabels() const {
  const Objective& objective = trainer_->objective();
  Labels labels;
  LabelRoom room;
  ForEachHeldBatch(data_, [&](const LoadedBatch& batch) {
    const int64_t n = batch.size();
    const int64_t* classes = PartTargets(objective, 0, batch.targets(), n, &room).classes;
    labels.classes.insert(labels.classes.end(), classes, classes + n);
    const std::vector<float> weights = ExampleWeights(objective, batch.targets(), n);
    labels.weights.insert(labels.weights.end(), weights.begin(), weights.end());
  });
  return labels;
}

void Calibration::TakeLogits(const ConfigSource& config, std::vector<float>* outputs) const {
  for (size_t row = 0; row < outputs->size(); row += static_cast<size_t>(width_)) {
    float* p = outputs->data() + row;
    const float sum = width_ == 1 ? 1.0F : std::accumulate(p, p + width_, 0.0F);
    bool fits = std::abs(sum - 1.0F) < kMostOff;
    for (int64_t j = 0; j < width_; ++j) {
      fits = fits && p[j] > -kMostOff && p[j] < 1.0F + kMostOff;
      if (width_ > 1) {
        p[j] = std::log(std::max(p[j], layers::kLeastProbability));
      } else {
        p[j] = std::clamp(p[j], layers::kLeastProbability, layers::kMostProbability);
        p[j] = std::log(p[j]) - std::log1p(-p[j]);
      }
    }
    if (!fits) Refuse(config, "Its outputs are not probabilities that add up to 1.", "");
  }
}

std::string Calibration::Architecture(const ConfigSource& config, double temperature) const {
  return CalibratedJson(config.model_arch, data_.desc().inputs, temperature);
}

Calibrated Calibration::Find(const ConfigSource& config) const {
  data_.CheckComplete();
  std::vector<float> logits =
      OutputsOf(trainer_->shared_network(), config, data_, /*logits=*/n_weights_ > 0);
  if (n_weights_ == 0) TakeLogits(config, &logits);
  const Labels labels = ReadLabels();
  const Rows rows{logits, width_, labels.classes, labels.weights};
  const bool fits =
      std::all_of(logits.begin(), logits.end(), [](float z) { return std::isfinite(z); });
  if (!fits) Refuse(config, "Some of its outputs are not finite.", "");
  for (const int64_t label : labels.classes) {
    if (label < 0 || label >= rows.n_classes()) {
      throw Error(ErrorCode::kCorrupt, "a label is none of the model's classes");
    }
  }
  const Point before = At(rows, 1.0);
  const double b = LeastLossAt(rows, before);
  const Point after = At(rows, b);
  // Rounding may leave it a bit above.
  if (after.loss > before.loss) return {1.0, before.loss, before.loss, before.error, before.error};
  return {1.0 / b, after.loss, before.loss, after.error, before.error};
}

}  // namespace hopper
