// Models with a frozen part: what it makes of the examples is computed once a partition, and the
// others train on that.
//
// It is computed of all examples of the partition in the order in which they lie, in batches of one
// size, and in fp32: whether it is kept or computed anew changes no bit.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/pieces.h"
#include "model/planned/plan_memory.h"
#include "predict/forward_pass.h"
#include "train/trainer.h"

namespace hopper {

namespace {

// Fewer where EvaluationBatch() is less.
constexpr int64_t kFeatureBatch = 64;
// Of a partition's, beside its values.
constexpr double kBesides = 1 << 10;

std::atomic<bool> prefixes_are_used{true};
std::atomic<int64_t> frozen_digests{0};

}  // namespace

void UseFrozenPrefixes(bool use) { prefixes_are_used.store(use); }

int64_t FrozenDigests() { return frozen_digests.load(); }

// What the head is given in the place of the data's own features.
DataDesc Trainer::FeatureDesc() const {
  DataDesc desc = data_;
  desc.x_type = ValueType::kFloat32;
  desc.x_shape = network_->head()->spec().input_shape();
  desc.inputs = {{"", desc.x_shape, ValueType::kFloat32}};
  desc.normalizing_const = 1.0;
  return desc;
}

void Trainer::MakeHead(uint64_t run_seed) {
  if (network_->head() == nullptr || !prefixes_are_used.load()) return;
  head_ = std::make_unique<const Trainer>(network_->head(), compile_, fit_, FeatureDesc(), backend_,
                                          run_seed, precision_);
}

Digest Trainer::FrozenDigest(const float* flat) const {
  frozen_digests.fetch_add(1, std::memory_order_relaxed);
  const ModelSpec& prefix = network_->prefix()->spec();
  Hasher hasher;
  hasher.Add(prefix.hash.bytes.data(), prefix.hash.bytes.size());
  for (const Node& node : prefix.nodes) {
    for (const int index : prefix.layer_weights[static_cast<size_t>(node.layer)]) {
      const WeightSpec& weight = prefix.weights[static_cast<size_t>(index)];
      AddInPieces(flat + weight.offset, static_cast<size_t>(weight.size()) * sizeof(float),
                  &hasher);
    }
  }
  return hasher.Finish();
}

int64_t Trainer::FeatureBytes(int64_t rows) const {
  if (head_ == nullptr || rows == 0) return 0;
  const double row = static_cast<double>(head_->data_.x_bytes() + head_->data_.y_bytes());
  return Saturated(static_cast<double>(rows) * row + kBesides);
}

// While features are computed, beside them.
double Trainer::PrefixBytes() const {
  return static_cast<double>(ForwardPass::Bytes(*network_->prefix(), data_, kFeatureBatch));
}

FeatureStore::Features Trainer::ComputeFeatures(const float* flat, const Partition& data,
                                                const std::atomic<bool>& cancel) const {
  auto made = std::make_shared<Partition>();
  made->n = data.n;
  made->x = AlignedArray<uint8_t>(static_cast<size_t>(data.n) * head_->data_.x_bytes());
  made->y = data.y.Clone();
  made->buffer_starts = data.buffer_starts;
  made->orders = data.orders;
  ForwardPass prefix(network_->prefix(), data_, flat, kFeatureBatch);
  auto* features = reinterpret_cast<float*>(made->x.data());
  for (int64_t first = 0; first < data.n; first += kFeatureBatch) {
    if (cancel.load(std::memory_order_relaxed)) return nullptr;
    prefix.Run(data.x.data() + static_cast<size_t>(first) * data_.x_bytes(),
               std::min(kFeatureBatch, data.n - first),
               features + first * head_->data_.x_elements());
  }
  return made;
}

FeatureStore::Features Trainer::FeaturesOf(const float* flat, const std::optional<Digest>& frozen,
                                           const Partition& data,
                                           const std::atomic<bool>& cancel) const {
  const auto compute = [&] { return ComputeFeatures(flat, data, cancel); };
  if (data.features == nullptr) return compute();
  return data.features->Get(frozen ? *frozen : FrozenDigest(flat), data, FeatureBytes(data.n),
                            compute);
}

const std::optional<Digest>& Trainer::FrozenOf(ModelState* state) const {
  if (head_ != nullptr && !state->frozen) state->frozen = FrozenDigest(state->params.data());
  return state->frozen;
}

bool Trainer::KeepFeatures(ModelState* state, const Partition& data,
                           const std::atomic<bool>& cancel) const {
  return head_ == nullptr ||
         FeaturesOf(state->params.data(), FrozenOf(state), data, cancel) != nullptr;
}

const ModelSpec& Trainer::SteppedSpec() const {
  return head_ == nullptr ? network_->spec() : head_->network_->spec();
}

}  // namespace hopper
