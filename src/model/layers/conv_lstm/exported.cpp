#include "model/exported/export_layer.h"
#include "model/exported/windows.h"
#include "model/layers/conv_lstm/conv_lstm.h"

namespace hopper {
namespace layers {

using ops::Value;

namespace {

constexpr int64_t kMostConvLstmSteps = 500;  // written out one by one

// Keras' kernel as [out, in, sizes...].
Value KernelOf(const Value& kernel) {
  return permute(kernel, kernel.dim() == 4 ? Shape{3, 2, 0, 1} : Shape{2, 1, 0});
}

// A state that is not defined is 0. Images are channels first.
class ConvLstmSteps {
 public:
  ConvLstmSteps(const ConvLstm& layer, const ExportCall& call)
      : layer_(layer), time_(call.x().size(1)), recurrent_(KernelOf(call.weights[1])) {
    const Value& x = call.x();
    Shape sizes(x.sizes().begin() + 1, x.sizes().end());
    sizes[0] = -1;  // steps are more examples
    sums_ = Convolve(layer.window, ChannelsFirst(reshape(x, sizes)), KernelOf(call.weights[0]),
                     layer.use_bias ? call.weights[2] : Value(), 1);
    step_ = sums_.sizes();
    sizes = step_;
    sizes[0] = time_;
    sizes.insert(sizes.begin(), -1);
    sums_ = reshape(sums_, sizes);
  }

  Value Run(const Value& mask) {
    Value h, c, last;
    std::vector<Value> outputs;
    for (int64_t i = 0; i < time_; ++i) {
      const int64_t t = layer_.go_backwards ? time_ - 1 - i : i;
      const Value before = h;
      const Value before_c = c;
      Step(reshape(narrow(sums_, 1, t, 1), step_), &h, &c);
      last = h;
      if (mask.defined()) {
        const Value counts = reshape(narrow(mask, 1, t, 1), Shape(step_.size(), 1), -1);
        if (layer_.zero_output_for_mask) last = where(counts, h, 0.0);
        h = Kept(counts, h, before);
        c = Kept(counts, c, before_c);
        if (!layer_.zero_output_for_mask) last = h;
      }
      if (layer_.return_sequences) outputs.push_back(WithTime(ChannelsLast(last)));
    }
    if (!layer_.return_sequences) return ChannelsLast(last);
    return outputs.size() == 1 ? outputs[0] : cat(outputs, 1);
  }

 private:
  // The first size is the batch's.
  static Value reshape(const Value& x, Shape sizes, int64_t batch) {
    sizes[0] = batch;
    return ops::reshape(x, sizes);
  }
  static Value reshape(const Value& x, const Shape& sizes) { return ops::reshape(x, sizes); }
  static Value WithTime(const Value& image) {
    Shape sizes = image.sizes();
    sizes.insert(sizes.begin() + 1, 1);
    return ops::reshape(image, sizes);
  }
  static Value Kept(const Value& counts, const Value& now, const Value& before) {
    return before.defined() ? where(counts, now, before) : where(counts, now, 0.0);
  }

  void Step(const Value& x, Value* h, Value* c) const {
    Value z = x;
    if (h->defined()) z = add(z, Convolve(layer_.recurrent, *h, recurrent_, Value(), 1));
    const auto gate = [&](int64_t g, const ActivationSpec& activation) {
      return Activate(narrow(z, 1, g * layer_.filters, layer_.filters), activation);
    };
    const Value in = mul(gate(0, layer_.recurrent_activation), gate(2, layer_.activation));
    *c = c->defined() ? add(mul(gate(1, layer_.recurrent_activation), *c), in) : in;
    *h = mul(gate(3, layer_.recurrent_activation), Activate(*c, layer_.activation));
  }

  const ConvLstm& layer_;
  const int64_t time_;
  const Value recurrent_;
  Value sums_;  // [batch, time, gates * filters, sizes...]
  Shape step_;  // of one step of them
};

}  // namespace

Value Export(const ConvLstm& layer, const ExportCall& call) {
  if (call.x().size(1) > kMostConvLstmSteps) {
    RefuseExport(
        layer, "has no export for " + std::to_string(call.x().size(1)) + " steps",
        "At most " + std::to_string(kMostConvLstmSteps) + " steps are written out one by one.");
  }
  return ConvLstmSteps(layer, call).Run(call.MaskOf());
}

}  // namespace layers
}  // namespace hopper
