// Models of one architecture that run side by side ("lanes"), on any device: tensors with a lane
// axis in front, [lanes, batch, shape...].
//
// A layer runs its lanes in the form that suits it. Dense is one batched product. A layer without
// weights sees the lanes as one large batch. Any other layer runs each lane by itself, on a queue
// of its own where the device has several, else lane after lane; its results then stay apart until
// a layer wants them together.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "model/network/network.h"

namespace hopper {

// One tensor [lanes, ...] or as many tensors [...]; turns into the other form on demand.
class LaneValue {
 public:
  LaneValue() = default;
  explicit LaneValue(at::Tensor stacked) : stacked_(std::move(stacked)) {}
  explicit LaneValue(std::vector<at::Tensor> separate) : separate_(std::move(separate)) {}

  bool is_stacked() const { return stacked_.defined(); }
  size_t lanes() const {
    return is_stacked() ? static_cast<size_t>(stacked_.size(0)) : separate_.size();
  }
  int64_t lane_elements() const {
    return is_stacked() ? stacked_.numel() / stacked_.size(0) : separate_[0].numel();
  }
  const at::Tensor& Stacked() const;
  const std::vector<at::Tensor>& Separate() const;

 private:
  mutable at::Tensor stacked_;
  mutable std::vector<at::Tensor> separate_;
};

// Random masks of all lanes; the caller's, made for one device.
class LaneRandom {
 public:
  virtual ~LaneRandom() = default;
  // Fills `mask`, float32 [lanes, ...] and dense: an element is `scale` where its 24 random bits
  // are at least `threshold`, else 0. They are element i of Philox(seed of the lane, kDropout,
  // layer, steps of the lane), counted within the lane.
  virtual void DropoutMask(uint32_t layer, uint32_t threshold, float scale,
                           const at::Tensor& mask) = 0;
  // Fills `values`, alike, with the same bits' 24 as a number in [0, 1).
  virtual void Uniform(uint32_t layer, const at::Tensor& values) = 0;
};

// Queues of a device, on which lanes compute at once. Used by the thread that uses the device.
class LaneQueues {
 public:
  virtual ~LaneQueues() = default;
  // The lanes' work comes after all that was queued. `shared` are what they read of the caller's
  // queue: its memory is not given to others before the lanes have done with it, in the backward
  // pass either.
  virtual void Fork(int64_t lanes, const std::vector<at::Tensor>& shared) = 0;
  // What follows is a lane's.
  virtual void Enter(int64_t lane) = 0;
  // What follows is the caller's again, after all that the lanes have queued.
  virtual void Join() = 0;
};

// Calls body(lane) for each lane, on queues of their own where `queues` is not null.
template <typename Body>
void ForEachLane(LaneQueues* queues, int64_t lanes, const std::vector<at::Tensor>& shared,
                 const Body& body) {
  if (queues == nullptr || lanes == 1) {
    for (int64_t lane = 0; lane < lanes; ++lane) body(lane);
    return;
  }
  queues->Fork(lanes, shared);
  try {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      queues->Enter(lane);
      body(lane);
    }
  } catch (...) {
    queues->Join();
    throw;
  }
  queues->Join();
}

// ForwardContext for lanes.
struct LaneContext {
  bool training = false;
  uint64_t linear = 0;
  uint32_t layer = 0;
  LaneRandom* random = nullptr;  // not null where training
  LaneQueues* queues = nullptr;  // null: lane after lane
  const CallForm* form = nullptr;
  std::vector<at::Tensor>* penalties = nullptr;
};

// Immutable and thread-safe.
class LaneNetwork {
 public:
  // `network` outlives it.
  explicit LaneNetwork(const Network& network);

  const ModelSpec& spec() const { return network_.spec(); }
  const Operator& op(int layer) const { return network_.op(layer); }

  // One tensor per spec().weights, [lanes, Keras' shape...]: views of `flat`, float32 or bfloat16
  // [lanes, flat_size], which outlives them. Their version counters are their own, so that moving
  // statistics may change between forward and backward. None requires grad.
  std::vector<at::Tensor> BindWeights(const at::Tensor& flat) const;

  // `input` is [lanes, batch, input_shape...]; the model's output or logits, [lanes, batch, ...].
  at::Tensor Forward(const at::Tensor& input, const std::vector<at::Tensor>& weights,
                     LaneContext context) const;

 private:
  const Network& network_;
  std::vector<std::vector<int>> released_;  // by node: tensor ids that no later one reads
};

}  // namespace hopper
