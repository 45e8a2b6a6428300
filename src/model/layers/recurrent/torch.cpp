#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "model/layers/recurrent/recurrent.h"
#include "model/network/activate.h"
#include "model/network/mask.h"
#include "model/network/random_mask.h"

namespace hopper {
namespace layers {
namespace {

// One pass of a recurrent layer over a batch.
class Pass {
 public:
  // `weights` points to the layer's own. `drawn`: random numbers that others of the call take.
  Pass(const Recurrent& layer, const at::Tensor& x, const at::Tensor* weights,
       const ForwardContext& context, int64_t drawn)
      : layer_(layer), recurrent_(weights[1]), batch_(x.size(0)), units_(layer.units) {
    if (context.training) DrawMasks(x, context, drawn);
    sums_ = Inputs(x, weights[0], layer.use_bias ? weights[2] : at::Tensor());
    if (layer.use_bias && layer.reset_after) state_bias_ = weights[2].select(0, 1);
  }

  // `mask`: bool [batch, time], or undefined.
  at::Tensor Run(const at::Tensor& mask) {
    at::Tensor h = at::zeros({batch_, units_}, sums_.options());
    at::Tensor c = h;
    const std::vector<at::Tensor> steps = sums_.unbind(1);
    const int64_t n = static_cast<int64_t>(steps.size());
    std::vector<at::Tensor> outputs;
    at::Tensor last = h;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t t = layer_.go_backwards ? n - 1 - i : i;
      const at::Tensor before = h;
      const at::Tensor before_c = c;
      Step(steps[static_cast<size_t>(t)], &h, &c);
      last = h;
      if (mask.defined()) {
        const at::Tensor counts = mask.select(1, t).unsqueeze(-1);
        if (layer_.zero_output_for_mask) last = at::where(counts, h, at::zeros_like(h));
        h = at::where(counts, h, before);
        if (layer_.cell == Recurrent::Cell::kLstm) c = at::where(counts, c, before_c);
        if (!layer_.zero_output_for_mask) last = h;
      }
      if (layer_.return_sequences) outputs.push_back(last);
    }
    return layer_.return_sequences ? at::stack(outputs, 1) : last;
  }

 private:
  void DrawMasks(const at::Tensor& x, const ForwardContext& context, int64_t drawn) {
    const int64_t n = layer_.input_masks();
    if (n > 0) {
      const at::Tensor masks =
          RandomMask(context, {n, batch_, 1, x.size(2)}, layer_.dropout, x, drawn);
      input_masks_ = masks.to(x.scalar_type()).unbind(0);
    }
    if (layer_.state_masks() > 0) {
      const at::Tensor masks =
          RandomMask(context, {layer_.state_masks(), batch_, units_}, layer_.recurrent_dropout, x,
                     drawn + n * batch_ * x.size(2));
      state_masks_ = masks.to(x.scalar_type()).unbind(0);
    }
  }

  // x * kernel + bias of all steps and gates: [batch, time, gates * units].
  at::Tensor Inputs(const at::Tensor& x, const at::Tensor& kernel, const at::Tensor& bias) const {
    at::Tensor own = bias;
    if (bias.defined() && layer_.reset_after) own = bias.select(0, 0);
    if (input_masks_.size() <= 1) {
      return Product(input_masks_.empty() ? x : x * input_masks_[0], kernel, own);
    }
    std::vector<at::Tensor> gates;
    for (size_t g = 0; g < input_masks_.size(); ++g) {
      const int64_t from = static_cast<int64_t>(g) * units_;
      gates.push_back(Product(x * input_masks_[g], kernel.narrow(1, from, units_),
                              own.defined() ? own.narrow(0, from, units_) : own));
    }
    return at::cat(gates, -1);
  }

  static at::Tensor Product(const at::Tensor& x, const at::Tensor& kernel, const at::Tensor& bias) {
    const at::Tensor rows = x.reshape({-1, x.size(-1)});
    const at::Tensor y = bias.defined() ? at::addmm(bias, rows, kernel) : at::mm(rows, kernel);
    return y.view({x.size(0), x.size(1), kernel.size(1)});
  }

  // state * recurrent_kernel of gates `first` to `last`, with their own masks of the state.
  at::Tensor OfState(const at::Tensor& h, int64_t first, int64_t last) const {
    const auto columns = [&](int64_t g, int64_t n) {
      return n == layer_.gates() ? recurrent_ : recurrent_.narrow(1, g * units_, n * units_);
    };
    if (state_masks_.empty()) return at::mm(h, columns(first, last - first));
    std::vector<at::Tensor> gates;
    for (int64_t g = first; g < last; ++g) {
      gates.push_back(at::mm(h * state_masks_[static_cast<size_t>(g)], columns(g, 1)));
    }
    return gates.size() == 1 ? gates[0] : at::cat(gates, -1);
  }

  void Step(const at::Tensor& x, at::Tensor* h, at::Tensor* c) const {
    switch (layer_.cell) {
      case Recurrent::Cell::kSimple:
        *h = Activate(x + OfState(*h, 0, 1), layer_.activation);
        return;
      case Recurrent::Cell::kLstm:
        return LstmStep(x, h, c);
      case Recurrent::Cell::kGru:
        return GruStep(x, h);
    }
  }

  void LstmStep(const at::Tensor& x, at::Tensor* h, at::Tensor* c) const {
    const std::vector<at::Tensor> z = (x + OfState(*h, 0, 4)).chunk(4, -1);
    const at::Tensor i = Activate(z[0], layer_.recurrent_activation);
    const at::Tensor f = Activate(z[1], layer_.recurrent_activation);
    *c = f * *c + i * Activate(z[2], layer_.activation);
    *h = Activate(z[3], layer_.recurrent_activation) * Activate(*c, layer_.activation);
  }

  void GruStep(const at::Tensor& x, at::Tensor* h) const {
    const std::vector<at::Tensor> of_x = x.chunk(3, -1);
    at::Tensor z;
    at::Tensor r;
    at::Tensor candidate;
    if (layer_.reset_after) {
      at::Tensor inner = OfState(*h, 0, 3);
      if (state_bias_.defined()) inner = inner + state_bias_;
      const std::vector<at::Tensor> of_h = inner.chunk(3, -1);
      z = Activate(of_x[0] + of_h[0], layer_.recurrent_activation);
      r = Activate(of_x[1] + of_h[1], layer_.recurrent_activation);
      candidate = r * of_h[2];
    } else {
      const std::vector<at::Tensor> of_h = OfState(*h, 0, 2).chunk(2, -1);
      z = Activate(of_x[0] + of_h[0], layer_.recurrent_activation);
      r = Activate(of_x[1] + of_h[1], layer_.recurrent_activation);
      candidate = OfState(r * *h, 2, 3);
    }
    candidate = Activate(of_x[2] + candidate, layer_.activation);
    *h = z * *h + (1.0 - z) * candidate;
  }

  const Recurrent& layer_;
  const at::Tensor recurrent_;
  const int64_t batch_;
  const int64_t units_;
  std::vector<at::Tensor> input_masks_;
  std::vector<at::Tensor> state_masks_;
  at::Tensor sums_;        // [batch, time, gates * units]
  at::Tensor state_bias_;  // of a GRU with reset_after
};

class RecurrentOperator : public Operator {
 public:
  explicit RecurrentOperator(const Recurrent& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    return Pass(layer_, inputs[0], weights.data(), context, 0).Run(MaskOf(context, inputs));
  }

 private:
  const Recurrent& layer_;
};

class BothWays : public Operator {
 public:
  explicit BothWays(const Bidirectional& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    const Recurrent& first = layer_.forward();
    const Recurrent& second = layer_.backward();
    const at::Tensor& x = inputs[0];
    const at::Tensor mask = MaskOf(context, inputs);
    const int64_t drawn =
        x.size(0) * (first.input_masks() * x.size(2) + first.state_masks() * first.units);
    const at::Tensor a = Pass(first, x, weights.data(), context, 0).Run(mask);
    at::Tensor b =
        Pass(second, x, weights.data() + (first.use_bias ? 3 : 2), context, drawn).Run(mask);
    if (second.return_sequences) b = at::flip(b, {1});
    switch (layer_.merge) {
      case Bidirectional::Merge::kSum:
        return a + b;
      case Bidirectional::Merge::kMultiply:
        return a * b;
      case Bidirectional::Merge::kAverage:
        return (a + b) / 2.0;
      default:
        return at::cat({a, b}, -1);
    }
  }

 private:
  const Bidirectional& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Recurrent& layer) {
  return std::make_unique<RecurrentOperator>(layer);
}
std::unique_ptr<Operator> MakeOperator(const Bidirectional& layer) {
  return std::make_unique<BothWays>(layer);
}

}  // namespace layers
}  // namespace hopper
