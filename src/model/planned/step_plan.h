// A model's forward and backward pass as a fixed list of ops on preallocated memory.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/worker_memory.h"
#include "model/planned/planned_network.h"
#include "params/precision.h"

namespace hopper {

// Is told which node a step begins with, on the thread that runs the step.
class StepWatch {
 public:
  virtual ~StepWatch() = default;
  virtual void Begin(size_t node, bool backward) = 0;
};

struct PlanOptions {
  int64_t batch = 1;
  bool training = false;        // as ForwardContext::training; also plans the backward pass
  uint64_t linear = 0;          // as ForwardContext::linear
  bool input_gradient = false;  // also computes the gradient of the input
  uint64_t seed = 0;            // dropout
  Precision precision = Precision::kFp32;  // layers that run through autograd stay in fp32
  bool bf16_everywhere = false;            // small products, too, which are else computed in fp32
  // Not 0: no memory is taken, and the plan cannot run; its sizes are those of a team of so many.
  int measured_parts = 0;
  // For measurements: other kernels than the processor's, which compute the same; and who is told
  // of each node. They outlive the plan.
  const Kernels* kernels = nullptr;
  StepWatch* watch = nullptr;
};

// Tests may switch planned ops off, before any plan or training: all layers then run through
// autograd.
void UsePlannedSteps(bool planned);
bool PlannedStepsAreUsed();

// Made for one architecture and one batch size; all its memory comes from the thread's
// blocks when it is made. Used by one thread at a time; the team of the one that made it shares the
// work.
class StepPlan {
 public:
  // `network` outlives the plan.
  StepPlan(const PlannedNetwork& network, const PlanOptions& options);
  ~StepPlan();
  StepPlan(const StepPlan&) = delete;
  StepPlan& operator=(const StepPlan&) = delete;

  // [batch, input_shape...] in C order, not changed by a step.
  void SetInput(const float* input) { input_.data = const_cast<float*>(input); }
  const float* output() const { return output_->value->data; }
  // What Backward() starts from and overwrites; null where no weight is trainable.
  float* output_gradient() {
    return output_->gradient == nullptr ? nullptr : output_->gradient->data;
  }
  // Whether a step reads StepArguments::shadow.
  bool reads_shadow() const;
  const float* input_gradient() const { return values_[input_id_].gradient->data; }

  void Forward(const StepArguments& step);
  void Backward(const StepArguments& step);
  // After a step that has ended without Backward(), or in it by an error: what it holds beside the
  // arena goes. After a whole step there is nothing.
  void Release();

  // Floats of all buffers together.
  int64_t arena_floats() const { return arena_floats_; }
  // Nodes that run through autograd.
  int autograd_nodes() const { return static_cast<int>(autograd_ops_.size()); }
  // What these take beside the buffers while they run, about: copies of what goes in and out.
  int64_t autograd_floats() const { return autograd_floats_; }

 private:
  struct Entry {
    std::unique_ptr<PlanNode> node;
    std::unique_ptr<PlannedOp> op;  // null for an alias
    bool backward = false;
    Entry* anew = nullptr;  // whose output is computed anew before this one's backward pass
  };
  // An op's pass, what it does before of it, or in the backward pass its output anew. Consecutive
  // stages of a group take the batch piece by piece.
  struct Stage {
    enum Kind { kSurvey, kPass, kAnew };
    size_t entry;
    PiecewiseOp* op;  // null: the entry's takes the batch as a whole
    Kind kind;
    int group;
  };
  // Counted through the step: a moment, in which stages use their buffers.
  struct Group {
    int64_t examples = 0;              // of a piece; 0: the batch is taken as a whole
    std::vector<PlanBuffer*> buffers;  // that have room for a piece alone
  };
  PlanBuffer* NewBuffer(int64_t floats);
  void PlanNodes(const PlannedNetwork& network, const PlanOptions& options);
  void ConnectGradients(const ModelSpec& spec);
  // The stages of the passes, group by group.
  void MakeStages(const ModelSpec& spec);
  void AddStages(Entry* entry, bool backward);
  void SizePieces(const std::vector<Stage>& stages);
  void FindRecomputed(const ModelSpec& spec);
  // What lives in one group only, or is computed in each that reads it, has room for a piece.
  void ShrinkBuffers();
  void SetLifetimes(const ModelSpec& spec);
  void Run(const std::vector<Stage>& stages, bool backward, const StepArguments& step);
  void PlaceBuffers();

  std::vector<PlanValue> values_;  // by tensor id; aliases share buffers
  std::vector<int> roots_;         // by tensor id: the tensor whose buffers it shares
  std::vector<std::unique_ptr<PlanBuffer>> buffers_;
  PlanBuffer input_;
  int input_id_ = 0;
  PlanValue* output_ = nullptr;
  StepWatch* const watch_;
  std::vector<Entry> entries_;
  bool pieces_ = false;  // ops may take the batch so
  int64_t batch_ = 0;
  std::vector<Group> groups_;
  int loss_group_ = 0;
  std::vector<Stage> forward_;
  std::vector<Stage> backward_;
  std::vector<PlanWeight> untouched_;                     // trainable, but no gradient reaches them
  std::vector<std::pair<PlanBuffer*, int64_t>> offsets_;  // until the arena is there
  WorkerArray arena_;
  int64_t arena_floats_ = 0;
  std::vector<AutogradOp*> autograd_ops_;  // of the entries
  int64_t autograd_floats_ = 0;
};

}  // namespace hopper
