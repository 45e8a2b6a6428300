#include "model/exported/export_layer.h"

#include "activation/table.h"

namespace hopper {

using ops::Value;

namespace {

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
    if (step.kind == MaskStep::Kind::kAnd || step.kind == MaskStep::Kind::kOr) {
      const Value b = stack.back();
      stack.pop_back();
      stack.back() = step.kind == MaskStep::Kind::kAnd ? logical_and(stack.back(), b)
                                                       : logical_or(stack.back(), b);
      continue;
    }
    stack.push_back(ne(inputs[static_cast<size_t>(step.input)], step.value));
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
