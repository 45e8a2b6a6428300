#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <optional>
#include <utility>

#include "model/layers/conv_lstm/conv_lstm.h"
#include "model/network/activate.h"
#include "model/network/convolve.h"
#include "model/network/mask.h"
#include "model/network/operator.h"
#include "model/network/random_mask.h"

namespace hopper {
namespace layers {
namespace {

constexpr int64_t kGates = 4;

// One pass over a batch. Images are channels first here.
class ConvLstmPass {
 public:
  ConvLstmPass(const ConvLstm& layer, const at::Tensor& x, const std::vector<at::Tensor>& weights,
               const ForwardContext& context)
      : layer_(layer),
        recurrent_(KernelOf(weights[1])),
        batch_(x.size(0)),
        time_(x.size(1)),
        state_(layer.StateOf(Shape(x.sizes().begin() + 1, x.sizes().end()))) {
    // [batch, time, height, width, channels]
    const at::Tensor images = layer.axes == 1 ? x.unsqueeze(2) : x;
    if (context.training) DrawMasks(images, context);
    sums_ = Inputs(images, KernelOf(weights[0]), layer.use_bias ? weights[2] : at::Tensor());
  }

  // `mask`: bool [batch, time], or undefined.
  at::Tensor Run(const at::Tensor& mask) {
    at::Tensor h = at::zeros({batch_, layer_.filters, state_[0], state_[1]}, sums_.options());
    at::Tensor c = h;
    at::Tensor last = h;
    std::vector<at::Tensor> outputs;
    for (int64_t i = 0; i < time_; ++i) {
      const int64_t t = layer_.go_backwards ? time_ - 1 - i : i;
      const at::Tensor before = h;
      const at::Tensor before_c = c;
      Step(sums_.select(1, t), &h, &c);
      last = h;
      if (mask.defined()) {
        const at::Tensor counts = mask.select(1, t).reshape({batch_, 1, 1, 1});
        if (layer_.zero_output_for_mask) last = at::where(counts, h, at::zeros_like(h));
        h = at::where(counts, h, before);
        c = at::where(counts, c, before_c);
        if (!layer_.zero_output_for_mask) last = h;
      }
      if (layer_.return_sequences) outputs.push_back(Image(last));
    }
    return layer_.return_sequences ? at::stack(outputs, 1) : Image(last);
  }

 private:
  // Keras' kernel as libtorch's [out, in, height, width].
  at::Tensor KernelOf(const at::Tensor& kernel) const {
    return (layer_.axes == 1 ? kernel.unsqueeze(0) : kernel).permute({3, 2, 0, 1});
  }

  // As it leaves the layer: channels last, a series without height.
  at::Tensor Image(const at::Tensor& h) const {
    const at::Tensor image = h.permute({0, 2, 3, 1});
    return layer_.axes == 1 ? image.squeeze(1) : image;
  }

  // Draws the masks of each gate, one for all steps.
  void DrawMasks(const at::Tensor& images, const ForwardContext& context) {
    int64_t drawn = 0;
    if (ConvLstm::Drops(layer_.dropout)) {
      const std::vector<int64_t> sizes{kGates,         batch_,         1,
                                       images.size(2), images.size(3), images.size(4)};
      const at::Tensor masks = RandomMask(context, sizes, layer_.dropout, images);
      drawn = masks.numel();
      input_masks_ = masks.to(images.scalar_type()).unbind(0);
    }
    if (ConvLstm::Drops(layer_.recurrent_dropout)) {
      const at::Tensor masks =
          RandomMask(context, {kGates, batch_, layer_.filters, state_[0], state_[1]},
                     layer_.recurrent_dropout, images, drawn);
      state_masks_ = masks.to(images.scalar_type()).unbind(0);
    }
  }

  // Convolutions of all steps: [batch, time, gates * filters, height, width].
  at::Tensor Inputs(const at::Tensor& images, const at::Tensor& kernel,
                    const at::Tensor& bias) const {
    if (input_masks_.empty()) return Convolved(images, kernel, bias);
    std::vector<at::Tensor> gates;
    for (int64_t g = 0; g < kGates; ++g) {
      const int64_t from = g * layer_.filters;
      gates.push_back(Convolved(images * input_masks_[static_cast<size_t>(g)],
                                kernel.narrow(0, from, layer_.filters),
                                bias.defined() ? bias.narrow(0, from, layer_.filters) : bias));
    }
    return at::cat(gates, 2);
  }

  at::Tensor Convolved(const at::Tensor& images, const at::Tensor& kernel,
                       const at::Tensor& bias) const {
    const at::Tensor steps = images.flatten(0, 1).permute({0, 3, 1, 2});
    const std::optional<at::Tensor> own =
        bias.defined() ? std::optional<at::Tensor>(bias) : std::nullopt;
    return Convolve(layer_.window, steps, kernel, own, 1)
        .reshape({batch_, time_, kernel.size(0), state_[0], state_[1]});
  }

  at::Tensor OfState(const at::Tensor& h) const {
    if (state_masks_.empty()) return Convolve(layer_.recurrent, h, recurrent_, std::nullopt, 1);
    std::vector<at::Tensor> gates;
    for (int64_t g = 0; g < kGates; ++g) {
      gates.push_back(Convolve(layer_.recurrent, h * state_masks_[static_cast<size_t>(g)],
                               recurrent_.narrow(0, g * layer_.filters, layer_.filters),
                               std::nullopt, 1));
    }
    return at::cat(gates, 1);
  }

  void Step(const at::Tensor& x, at::Tensor* h, at::Tensor* c) const {
    const std::vector<at::Tensor> z = (x + OfState(*h)).chunk(kGates, 1);
    const at::Tensor i = Activate(z[0], layer_.recurrent_activation);
    const at::Tensor f = Activate(z[1], layer_.recurrent_activation);
    *c = f * *c + i * Activate(z[2], layer_.activation);
    *h = Activate(z[3], layer_.recurrent_activation) * Activate(*c, layer_.activation);
  }

  const ConvLstm& layer_;
  const at::Tensor recurrent_;
  const int64_t batch_;
  const int64_t time_;
  const Shape state_;
  std::vector<at::Tensor> input_masks_;
  std::vector<at::Tensor> state_masks_;
  at::Tensor sums_;
};

class ConvLstmOperator : public Operator {
 public:
  explicit ConvLstmOperator(const ConvLstm& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    return ConvLstmPass(layer_, inputs[0], weights, context).Run(MaskOf(context, inputs));
  }

 private:
  const ConvLstm& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const ConvLstm& layer) {
  return std::make_unique<ConvLstmOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
