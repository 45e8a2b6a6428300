#include "model/exported/export_layer.h"

#include "activation/table.h"

namespace hopper {

using ops::Value;

namespace {

Value OfTwo(MaskStep::Kind kind, const Value& a, const Value& b) {
  if (kind == MaskStep::Kind::kFollow) return ops::cat({a, b}, 1);
  return kind == MaskStep::Kind::kAnd ? logical_and(a, b) : logical_or(a, b);
}

template <typename A>
Value Apply(const ActivationSpec& spec, const Value& x) {
  return A::Tensors(spec, x);
}

template <typename... A>
Value ApplyRow(ActivationList<A...> /*rows*/, const ActivationSpec& spec, const Value& x) {
  static constexpr Value (*kApply[])(const ActivationSpec&, const Value&) = {Apply<A>...};
  return kApply[static_cast<size_t>(spec.kind)](spec, x);
}

}  // namespace

Value Activate(const Value& x, const ActivationSpec& activation) {
  return ApplyRow(Activations(), activation, x);
}

Value ExportCall::MaskOf(size_t input) const {
  if (form == nullptr || !form->HasMask(input)) return {};
  std::vector<Value> stack;
  for (const MaskStep& step : form->masks[input]) {
    if (step.OfTwo()) {
      const Value b = stack.back();
      stack.pop_back();
      stack.back() = OfTwo(step.kind, stack.back(), b);
      continue;
    }
    const Value& x = inputs[static_cast<size_t>(step.input)];
    if (step.kind == MaskStep::Kind::kEvery) {
      // What is there for each step of each example, whatever it is: NaN is not equal to itself.
      Value first = x;
      for (int64_t axis = x.dim() - 1; axis > 1; --axis) first = narrow(first, axis, 0, 1);
      first = reshape(first, {-1, x.size(1)});
      stack.push_back(logical_or(eq(first, first), ne(first, 0.0)));
      continue;
    }
    stack.push_back(ne(x, step.value));
    if (step.kind == MaskStep::Kind::kAnyNotEqual) stack.back() = any(stack.back(), -1);
  }
  return stack.back();
}

ExportCall ExportCall::With(const std::vector<Value>& others) const {
  return {graph, others, weights, nullptr};
}

void RefuseExport(const Layer& layer, const std::string& why, const std::string& hint) {
  throw Error(ErrorCode::kNotSupported,
              "layer \"" + layer.name() + "\" of class " + layer.class_name() + " " + why, "",
              hint);
}

Value Export(const Layer& layer, const ExportCall& /*call*/) {
  RefuseExport(layer, "has no export yet",
               "to_safetensors() writes the weights of any model, and model_arch is its JSON.");
}

Value ChannelsFirst(const Value& x) {
  return permute(x, x.dim() == 4 ? Shape{0, 3, 1, 2} : Shape{0, 2, 1});
}

Value ChannelsLast(const Value& x) {
  return permute(x, x.dim() == 4 ? Shape{0, 2, 3, 1} : Shape{0, 2, 1});
}

}  // namespace hopper
