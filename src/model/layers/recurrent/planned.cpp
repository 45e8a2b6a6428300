// Recurrent layers as planned ops. States and sums lie with the steps first, in the order in which
// they run: so the inputs of all steps are one product, and so are the gradients of both kernels;
// only the state's way from step to step is a product each. A team shares the examples.
#include <algorithm>
#include <cstring>

#include "activation/table.h"
#include "base/product.h"
#include "model/layers/recurrent/recurrent.h"
#include "model/planned/planned_mask.h"
#include "model/planned/planned_matrix.h"

namespace hopper {
namespace layers {
namespace {

using Cell = Recurrent::Cell;
using During = PlanNode::During;

// Where the output of example b and step i is: first + b * batch + i * step.
struct Places {
  int64_t first = 0;
  int64_t batch = 0;
  int64_t step = 0;
};

// One pass of a recurrent layer over a batch.
class PlannedPass {
 public:
  static bool Supports(const Recurrent& layer, const PlanNode& node) {
    if (node.training && (layer.input_masks() > 0 || layer.state_masks() > 0)) return false;
    if (layer.cell == Cell::kSimple) {
      const ActivationForm form = FormOf(layer.activation);
      return form.place >= 0 && form.of_result;
    }
    return TypeOf(layer.activation.kind).names[0] == "tanh" &&
           layer.recurrent_activation.kind == Activation::kSigmoid &&
           (layer.cell == Cell::kLstm || layer.reset_after);
  }

  // `weight`: the first of its own among the node's.
  PlannedPass(PlanNode* node, const Recurrent& layer, size_t weight, const Places& places)
      : node_(*node),
        kernels_(*node->kernels),
        layer_(layer),
        weight_(weight),
        places_(places),
        form_(FormOf(layer.activation)),
        batch_(node->batch),
        steps_(node->inputs[0]->shape[0]),
        length_(node->inputs[0]->shape[1]),
        units_(layer.units),
        columns_(layer.gates() * layer.units) {
    const During while_used = node->backward ? During::kBoth : During::kForward;
    inputs_ = node->Scratch({steps_, batch_, length_}, while_used);
    sums_ = node->Scratch({steps_, batch_, columns_}, while_used);
    states_ = node->Scratch({steps_, batch_, units_}, while_used);
    if (layer.cell == Cell::kLstm) cells_ = node->Scratch({steps_, batch_, units_}, while_used);
    if (layer.cell == Cell::kGru) inner_ = node->Scratch({steps_, batch_, columns_}, while_used);
    packed_ = node->Scratch({PackedFloats(units_, columns_)}, During::kForward);
    if (!node->backward) return;
    state_gradient_ = node->Scratch({2, batch_, units_}, During::kBackward);
    turned_ = node->Scratch({PackedFloats(columns_, units_)}, During::kBackward);
    if (layer.use_bias && node->weights[weight + 2].trainable) {
      bias_sums_ = node->Scratch({2, columns_}, During::kBackward);
    }
    if (!node->InputNeedsGradient(0)) return;
    input_gradient_ = node->Scratch({steps_, batch_, length_}, During::kBackward);
  }

  void Forward(const StepArguments& step, const PlannedMask& mask) {
    for (int64_t i = 0; i < steps_; ++i) {
      const float* from = node_.inputs[0]->value->data + TimeOf(i) * length_;
      float* to = inputs_->data + i * batch_ * length_;
      for (int64_t b = 0; b < batch_; ++b, from += steps_ * length_, to += length_) {
        Copy(from, length_, to);
      }
    }
    PlannedProduct(kernels_, node_.team, steps_ * batch_, columns_, length_, inputs_->data,
                   Weight(step, 0), layer_.use_bias ? Weight(step, 2) : nullptr, false,
                   sums_->data);
    Pack(Weight(step, 1), columns_, units_, columns_, 1, packed_);
    RunShares(node_.team, batch_, Work(), [&](int64_t first, int64_t last, int) {
      for (int64_t i = 0; i < steps_; ++i) ForwardStep(step, mask, i, first, last);
    });
  }

  // `adds`: to the gradient of the input.
  void Backward(const StepArguments& step, const PlannedMask& mask, bool adds) {
    Pack(Weight(step, 1), units_, columns_, 1, columns_, turned_);
    RunShares(node_.team, batch_, Work(), [&](int64_t first, int64_t last, int) {
      const auto bytes = static_cast<size_t>((last - first) * units_) * sizeof(float);
      std::memset(state_gradient_->data + first * units_, 0, bytes);
      std::memset(CellGradient() + first * units_, 0, bytes);
      for (int64_t i = steps_; i-- > 0;) BackwardStep(mask, i, first, last);
    });
    WeightGradients(step);
    if (input_gradient_ == nullptr) return;
    PlannedInputGradient(kernels_, node_.team, steps_ * batch_, columns_, length_, sums_->data,
                         Weight(step, 0), false, input_gradient_->data);
    for (int64_t i = 0; i < steps_; ++i) {
      const float* from = input_gradient_->data + i * batch_ * length_;
      float* to = node_.inputs[0]->gradient->data + TimeOf(i) * length_;
      for (int64_t b = 0; b < batch_; ++b, from += length_, to += steps_ * length_) {
        if (adds) {
          kernels_.add(from, length_, to);
        } else {
          Copy(from, length_, to);
        }
      }
    }
  }

 private:
  static void Copy(const float* from, int64_t n, float* to) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
  }
  const float* Weight(const StepArguments& step, size_t i) const {
    return step.params + node_.weights[weight_ + i].offset;
  }
  int64_t TimeOf(int64_t i) const { return layer_.go_backwards ? steps_ - 1 - i : i; }
  float* CellGradient() const { return state_gradient_->data + batch_ * units_; }
  float* RowOf(PlanBuffer* buffer, int64_t width, int64_t i, int64_t b) const {
    return buffer->data + (i * batch_ + b) * width;
  }
  // Operations of one pass over the state's products, about.
  double Work() const {
    return 2.0 * static_cast<double>(batch_) * static_cast<double>(steps_) *
           static_cast<double>(units_) * static_cast<double>(columns_);
  }

  // Calls body(from, to, counts) for runs of examples that count at step i, or do not.
  template <typename Body>
  void ForRuns(const PlannedMask& mask, int64_t i, int64_t first, int64_t last,
               const Body& body) const {
    if (mask.none()) return body(first, last, true);
    const int64_t time = TimeOf(i);
    while (first < last) {
      const bool counts = mask.Counts(first, time);
      int64_t to = first + 1;
      while (to < last && mask.Counts(to, time) == counts) ++to;
      body(first, to, counts);
      first = to;
    }
  }

  // Calls body(example, place in the output) where step i has an output that its state makes.
  template <typename Body>
  void ForOutputs(const PlannedMask& mask, int64_t i, int64_t first, int64_t last,
                  const Body& body) const {
    if (!layer_.return_sequences && i + 1 < steps_) return;
    const int64_t step = layer_.return_sequences ? i * places_.step : 0;
    ForRuns(mask, i, first, last, [&](int64_t from, int64_t to, bool counts) {
      for (int64_t b = from; b < to; ++b) {
        body(b, places_.first + b * places_.batch + step, counts || !layer_.zero_output_for_mask);
      }
    });
  }

  LstmArgs LstmAt(int64_t i, int64_t from, int64_t to) const {
    LstmArgs args;
    args.rows = to - from;
    args.units = units_;
    args.gates = RowOf(sums_, columns_, i, from);
    if (i > 0) args.c_before = RowOf(cells_, units_, i - 1, from);
    args.c = RowOf(cells_, units_, i, from);
    args.h = RowOf(states_, units_, i, from);
    return args;
  }
  GruArgs GruAt(int64_t i, int64_t from, int64_t to) const {
    GruArgs args;
    args.rows = to - from;
    args.units = units_;
    args.gates = RowOf(sums_, columns_, i, from);
    args.inner = RowOf(inner_, columns_, i, from);
    if (i > 0) args.h_before = RowOf(states_, units_, i - 1, from);
    args.h = RowOf(states_, units_, i, from);
    return args;
  }

  // The recurrent kernel or its transpose, which all steps multiply with: number [k][j] lies at
  // k * row + j * step.
  void Pack(const float* kernel, int64_t columns, int64_t length, int64_t row, int64_t step,
            const PlanBuffer* to) const {
    if (steps_ == 1) return;
    GemmArgs args;
    args.columns = columns;
    args.length = length;
    args.b = kernel;
    args.b_row = row;
    args.b_step = step;
    kernels_.pack_right(args, to->data);
  }

  // sums[rows][columns] (+)= left[rows][length] * packed + bias
  void Multiply(int64_t rows, int64_t columns, int64_t length, const float* left,
                const PlanBuffer* packed, const float* bias, bool adds, float* sums) const {
    GemmArgs args;
    args.rows = rows;
    args.columns = columns;
    args.length = length;
    args.a = left;
    args.a_row = length;
    args.b = packed->data;
    args.b_packed = true;
    args.c = sums;
    args.c_row = columns;
    args.bias = bias;
    args.accumulate = adds;
    kernels_.gemm(args);
  }

  void ForwardStep(const StepArguments& step, const PlannedMask& mask, int64_t i, int64_t first,
                   int64_t last) const {
    const int64_t rows = last - first;
    if (layer_.cell == Cell::kGru) {
      // The state's sums stay apart from the inputs'.
      const float* bias = layer_.use_bias ? Weight(step, 2) + columns_ : nullptr;
      float* inner = RowOf(inner_, columns_, i, first);
      if (i > 0) {
        Multiply(rows, columns_, units_, RowOf(states_, units_, i - 1, first), packed_, bias, false,
                 inner);
      } else {
        std::memset(inner, 0, static_cast<size_t>(rows * columns_) * sizeof(float));
        for (int64_t r = 0; bias != nullptr && r < rows; ++r) {
          kernels_.add(bias, columns_, inner + r * columns_);
        }
      }
    } else if (i > 0) {
      Multiply(rows, columns_, units_, RowOf(states_, units_, i - 1, first), packed_, nullptr, true,
               RowOf(sums_, columns_, i, first));
    }
    ForRuns(mask, i, first, last, [&](int64_t from, int64_t to, bool counts) {
      if (!counts) {
        Keep(states_, i, from, to);
        if (layer_.cell == Cell::kLstm) Keep(cells_, i, from, to);
      } else if (layer_.cell == Cell::kLstm) {
        kernels_.lstm(LstmAt(i, from, to));
      } else if (layer_.cell == Cell::kGru) {
        kernels_.gru(GruAt(i, from, to));
      } else {
        kernels_.activate(form_, RowOf(sums_, columns_, i, from), (to - from) * units_,
                          RowOf(states_, units_, i, from), nullptr);
      }
    });
    float* y = node_.output->value->data;
    ForOutputs(mask, i, first, last, [&](int64_t b, int64_t place, bool of_state) {
      if (of_state) {
        Copy(RowOf(states_, units_, i, b), units_, y + place);
      } else {
        std::fill_n(y + place, units_, 0.0F);
      }
    });
  }

  // What does not count leaves a state as it was.
  void Keep(PlanBuffer* states, int64_t i, int64_t from, int64_t to) const {
    const int64_t n = (to - from) * units_;
    if (i > 0) {
      Copy(RowOf(states, units_, i - 1, from), n, RowOf(states, units_, i, from));
    } else {
      std::fill_n(RowOf(states, units_, i, from), n, 0.0F);
    }
  }

  // Sums become their gradients.
  void BackwardStep(const PlannedMask& mask, int64_t i, int64_t first, int64_t last) const {
    const float* dy = node_.output->gradient->data;
    float* dh = state_gradient_->data;
    ForOutputs(mask, i, first, last, [&](int64_t b, int64_t place, bool of_state) {
      if (of_state) kernels_.add(dy + place, units_, dh + b * units_);
    });
    ForRuns(mask, i, first, last, [&](int64_t from, int64_t to, bool counts) {
      const int64_t n = (to - from) * units_;
      float* mine = dh + from * units_;
      if (!counts) {
        std::fill_n(RowOf(sums_, columns_, i, from), (to - from) * columns_, 0.0F);
        if (layer_.cell == Cell::kGru) {
          std::fill_n(RowOf(inner_, columns_, i, from), (to - from) * columns_, 0.0F);
        }
      } else if (layer_.cell == Cell::kLstm) {
        kernels_.lstm_gradient(LstmAt(i, from, to), mine, CellGradient() + from * units_);
      } else if (layer_.cell == Cell::kGru) {
        kernels_.gru_gradient(GruAt(i, from, to), mine);
      } else {
        kernels_.activate_gradient(form_, RowOf(states_, units_, i, from), mine, n,
                                   RowOf(sums_, columns_, i, from));
        std::fill_n(mine, n, 0.0F);
      }
    });
    if (i == 0) return;
    Multiply(last - first, units_, columns_, RowOf(OfState(), columns_, i, first), turned_, nullptr,
             true, dh + first * units_);
  }

  // The sums that the state's products went into.
  PlanBuffer* OfState() const { return layer_.cell == Cell::kGru ? inner_ : sums_; }

  void WeightGradients(const StepArguments& step) const {
    const PlanWeight& kernel = node_.weights[weight_];
    if (kernel.trainable) {
      PlannedWeightGradient(kernels_, node_.team, steps_ * batch_, columns_, length_, inputs_->data,
                            sums_->data, node_.weight_accumulates[weight_] != 0,
                            step.gradients + kernel.offset);
    }
    const PlanWeight& recurrent = node_.weights[weight_ + 1];
    if (recurrent.trainable) {
      const bool adds = node_.weight_accumulates[weight_ + 1] != 0;
      float* to = step.gradients + recurrent.offset;
      if (steps_ > 1) {
        PlannedWeightGradient(kernels_, node_.team, (steps_ - 1) * batch_, columns_, units_,
                              states_->data, RowOf(OfState(), columns_, 1, 0), adds, to);
      } else if (!adds) {
        std::fill_n(to, recurrent.size, 0.0F);
      }
    }
    if (bias_sums_ == nullptr) return;
    kernels_.column_sums(sums_->data, steps_ * batch_, columns_, bias_sums_->data);
    if (layer_.cell == Cell::kGru) {
      kernels_.column_sums(inner_->data, steps_ * batch_, columns_, bias_sums_->data + columns_);
    }
    node_.DeliverGradient(bias_sums_->data, node_.weights[weight_ + 2].size, weight_ + 2, step);
  }

  const PlanNode& node_;
  const Kernels& kernels_;
  const Recurrent& layer_;
  const size_t weight_;
  const Places places_;
  const ActivationForm form_;
  const int64_t batch_;
  const int64_t steps_;
  const int64_t length_;  // features of the input
  const int64_t units_;
  const int64_t columns_;                 // units of all gates
  PlanBuffer* inputs_ = nullptr;          // [step][example][length]
  PlanBuffer* sums_ = nullptr;            // of the gates, then what they gate with, then gradients
  PlanBuffer* inner_ = nullptr;           // a GRU's sums of the state, then their gradients
  PlanBuffer* states_ = nullptr;          // [step][example][units]
  PlanBuffer* cells_ = nullptr;           // an LSTM's, likewise
  PlanBuffer* state_gradient_ = nullptr;  // of the state [example][units], then of the cell
  PlanBuffer* packed_ = nullptr;          // the recurrent kernel for products
  PlanBuffer* turned_ = nullptr;          // transposed, likewise
  PlanBuffer* bias_sums_ = nullptr;
  PlanBuffer* input_gradient_ = nullptr;  // [step][example][length]
};

// The inputs that masks are made of get nothing.
void ClearGradientsOfMasks(const PlanNode& node) {
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!node.InputNeedsGradient(i) || node.input_accumulates[i]) continue;
    std::fill_n(node.inputs[i]->gradient->data, node.inputs[i]->size, 0.0F);
  }
}

class PlannedRecurrent : public PlannedOp {
 public:
  // One layer, or two whose outputs lie beside each other.
  PlannedRecurrent(PlanNode* node, const std::vector<const Recurrent*>& layers)
      : node_(*node), mask_(node, 0) {
    const int64_t width = node->output->shape.back();
    const int64_t steps = node->inputs[0]->shape[0];
    Places places;
    places.step = width;
    places.batch = layers[0]->return_sequences ? steps * width : width;
    size_t weight = 0;
    for (const Recurrent* layer : layers) {
      Places own = places;
      if (layer != layers[0] && layer->return_sequences) {  // from the last step to the first
        own.first += (steps - 1) * width;
        own.step = -width;
      }
      passes_.push_back(std::make_unique<PlannedPass>(node, *layer, weight, own));
      weight += layer->use_bias ? 3 : 2;
      places.first += layer->units;
    }
  }

  void Forward(const StepArguments& step) override {
    if (!mask_.none()) mask_.Make();
    for (const auto& pass : passes_) pass->Forward(step, mask_);
  }

  void Backward(const StepArguments& step) override {
    bool adds = node_.input_accumulates[0] != 0;
    for (const auto& pass : passes_) {
      pass->Backward(step, mask_, adds);
      adds = true;
    }
    ClearGradientsOfMasks(node_);
  }

 private:
  const PlanNode& node_;
  PlannedMask mask_;
  std::vector<std::unique_ptr<PlannedPass>> passes_;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const Recurrent& layer, PlanNode* node) {
  if (!PlannedPass::Supports(layer, *node)) return nullptr;
  return std::make_unique<PlannedRecurrent>(node, std::vector<const Recurrent*>{&layer});
}

std::unique_ptr<PlannedOp> Plan(const Bidirectional& layer, PlanNode* node) {
  if (layer.merge != Bidirectional::Merge::kConcatenate ||
      !PlannedPass::Supports(layer.forward(), *node) ||
      !PlannedPass::Supports(layer.backward(), *node)) {
    return nullptr;
  }
  return std::make_unique<PlannedRecurrent>(
      node, std::vector<const Recurrent*>{&layer.forward(), &layer.backward()});
}

}  // namespace layers
}  // namespace hopper
