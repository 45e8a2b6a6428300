// One node of a planned step: forward and backward on raw float buffers that were laid out
// before the first step. No libtorch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/aligned.h"
#include "base/product.h"
#include "base/team.h"
#include "kernels/bf16.h"
#include "kernels/kernels.h"
#include "model/layer.h"
#include "model/shape.h"

namespace hopper {

// A buffer whose place is known only when the whole step is: ops keep a pointer to this and read
// `data` when they run.
struct PlanBuffer {
  float* data = nullptr;
  int64_t size = 0;  // floats
  int first = 0;     // moments between which it is in use
  int last = 0;
  // If there is room for a piece of the batch alone: floats of an example, and where the piece
  // lies. `data` is then where the first example would, so that all are found alike.
  int64_t example = 0;
  float* piece = nullptr;
};

// A tensor [batch, shape...] of the step, dense in C order.
struct PlanValue {
  Shape shape;
  int64_t size = 0;  // floats, with the batch
  PlanBuffer* value = nullptr;
  PlanBuffer* gradient = nullptr;  // null: nobody asks for it
};

// What one step brings.
struct StepArguments {
  float* params = nullptr;           // spec().flat_size floats; moving statistics are updated
  float* gradients = nullptr;        // the same layout; null in a plan without backward
  const uint16_t* shadow = nullptr;  // bf16: the parameters rounded, the same layout
  int64_t step = 0;                  // optimizer steps taken before this one
  double dropout_factor = 1.0;       // of all dropout rates, by a schedule
  double* penalty = nullptr;         // gets what layers add to the sum of losses
};

class PlannedOp {
 public:
  virtual ~PlannedOp() = default;
  virtual void Forward(const StepArguments& step) = 0;
  // Reads the output's gradient, which it may overwrite, and writes (or adds to) those of the
  // inputs and weights that the node asks for.
  virtual void Backward(const StepArguments& step) = 0;
};

// An op that can take the batch in pieces, which are runs of examples: what it reads and writes of
// a piece belongs to these examples. The step takes a piece through several ops while it is in a
// cache. Each pass is Begin…(), …Piece() for all examples in their order, and End…(). A team shares
// the batch as one piece.
class PiecewiseOp : public PlannedOp {
 public:
  // Each pass surveys all pieces before it begins.
  virtual bool surveys() const { return false; }
  virtual void SurveyForward(int64_t /*first*/, int64_t /*last*/) {}
  virtual void BeginForward(const StepArguments& /*step*/) {}
  virtual void ForwardPiece(const StepArguments& step, int64_t first, int64_t last) = 0;
  virtual void SurveyBackward(int64_t /*first*/, int64_t /*last*/) {}
  virtual void BeginBackward(const StepArguments& /*step*/) {}
  virtual void BackwardPiece(const StepArguments& step, int64_t first, int64_t last) = 0;
  virtual void EndBackward(const StepArguments& /*step*/) {}
  // ForwardPiece() is a short way from the inputs, which Backward() reads, to the output, which it
  // does not: who reads the output in the backward pass gets it so, instead of from memory.
  virtual bool recomputes() const { return false; }

  // In one piece.
  void Forward(const StepArguments& step) final;
  void Backward(const StepArguments& step) final;

 protected:
  explicit PiecewiseOp(int64_t batch) : batch_(batch) {}

 private:
  const int64_t batch_;
};

// Floats of a buffer: the product of `sizes`. What no machine has is cut to kMostFloats, which is
// never allocated and whose sums do not overflow.
constexpr int64_t kMostFloats = int64_t{1} << 48;
inline int64_t PlanFloats(const Shape& sizes) { return std::min(ProductOf(sizes), kMostFloats); }

// A trainable or fixed weight as a node sees it.
struct PlanWeight {
  int64_t offset = 0;  // in the parameter and gradient buffers
  int64_t size = 0;
  bool trainable = false;  // its gradient is to be computed
};

// What a layer knows when it plans, and what it asks for.
class PlanNode {
 public:
  enum class During { kForward, kBackward, kBoth };

  int64_t batch = 0;
  std::vector<PlanValue*> inputs;
  PlanValue* output = nullptr;
  std::vector<PlanWeight> weights;
  // The activation of the layer that alone reads the output, of each element by itself, or null.
  // The op may apply it, and says so: it is then its own, and that layer's node has nothing to do.
  const ActivationSpec* next = nullptr;
  bool takes_next = false;
  bool training = false;           // dropout drops, batch statistics are taken
  bool backward = false;           // Backward() will be called
  bool linear = false;             // leave out the final activation
  const CallForm* form = nullptr;  // of the call
  uint64_t seed = 0;
  uint32_t stream = 0;  // Network::stream()
  const Kernels* kernels = nullptr;
  const Bf16Kernels* bf16 = nullptr;  // products take bfloat16 operands; null: fp32
  bool bf16_everywhere = false;       // also where RoundsOperands() would say no
  Team* team = nullptr;               // shares the work of large ops; null: the thread works alone
  int measured_parts = 0;             // of a plan that is only measured; 0: the team's
  int64_t parts() const {
    if (measured_parts > 0) return measured_parts;
    return team == nullptr ? 1 : team->size();
  }

  // To be set by the layer: whether Backward() reads the values of the inputs or of the output.
  bool keeps_inputs = false;
  bool keeps_output = false;
  // Backward() can write the gradient of input 0 where that of the output lies. They then share it,
  // unless others write to it.
  bool gradient_in_place = false;
  // Forward() or Backward() reads StepArguments::shadow.
  bool reads_shadow = false;
  // The output is the input under another shape: no op is needed.
  bool alias = false;

  // Known only after all nodes are planned, to be read while running: whether Backward() adds to
  // the gradient of an input or a weight (another node wrote it before) or writes it.
  std::vector<char> input_accumulates;
  std::vector<char> weight_accumulates;

  // Backward(): the n floats of the gradient of weight `weight` into step.gradients, added or
  // written.
  void DeliverGradient(const float* gradient, int64_t n, size_t weight,
                       const StepArguments& step) const;
  bool InputNeedsGradient(size_t i) const { return inputs[i]->gradient != nullptr; }
  // A node within this one, of an op that is made of several ops: of the same step, without inputs,
  // output and weights. TakeRequests() once it is planned.
  std::unique_ptr<PlanNode> Inner() const;
  // The memory that an inner node has asked for is asked for by this one.
  void TakeRequests(PlanNode* inner);
  // Memory of this node alone, at most once a call; its contents are undefined at the start of
  // the time that it is asked for. Floats: the product of `sizes`, of which nothing is allocated
  // where it is beyond any memory (PlanFloats()).
  PlanBuffer* Scratch(const Shape& sizes, During during);

 private:
  friend class StepPlan;
  struct Request {
    std::unique_ptr<PlanBuffer> buffer;
    During during;
  };
  std::vector<Request> requests_;
};

// Plans a layer of the table by the layer's own Plan(). Null where it has none for these shapes:
// autograd then runs Operator::Forward() inside the planned step.
std::unique_ptr<PlannedOp> PlanLayer(const Layer& layer, PlanNode* node);
// The Plan() of a layer that declares none of its own: none.
inline std::unique_ptr<PlannedOp> Plan(const Layer& /*layer*/, PlanNode* /*node*/) {
  return nullptr;
}

}  // namespace hopper
