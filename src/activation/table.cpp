#include "activation/table.h"

#include <algorithm>

namespace hopper {
namespace {

template <typename A>
constexpr bool IsAt(Activation kind) {
  return PlaceIn<A>(Activations()) == static_cast<int>(kind);
}
static_assert(IsAt<activations::Linear>(Activation::kLinear));
static_assert(IsAt<activations::Relu>(Activation::kRelu));
static_assert(IsAt<activations::LeakyRelu>(Activation::kLeakyRelu));
static_assert(IsAt<activations::Elu>(Activation::kElu));
static_assert(IsAt<activations::Sigmoid>(Activation::kSigmoid));
static_assert(IsAt<activations::Softmax>(Activation::kSoftmax));
static_assert(IsAt<activations::LogSoftmax>(Activation::kLogSoftmax));
static_assert(IsAt<activations::Glu>(Activation::kGlu));

template <typename... F>
std::vector<bool> WhichAreOfResult(FormList<F...> /*forms*/) {
  return {F::kOfResult...};
}

template <typename A>
ActivationType RowOf(int* forms) {
  ActivationType type = A::Type();
  type.first_form = *forms;
  type.of_result = WhichAreOfResult(typename A::Forms());
  type.choose = A::Choose;
  *forms += A::Forms::kSize;
  return type;
}

template <typename... A>
std::vector<ActivationType> TypesOf(ActivationList<A...> /*activations*/) {
  int forms = 0;
  return {RowOf<A>(&forms)...};
}

}  // namespace

const std::vector<ActivationType>& ActivationTypes() {
  static const std::vector<ActivationType> types = TypesOf(Activations());
  return types;
}

bool FindActivation(const std::string& name, bool keras_2, ActivationSpec* out) {
  const ActivationType* found = nullptr;
  for (const ActivationType& type : ActivationTypes()) {
    const bool named = std::find(type.names.begin(), type.names.end(), name) != type.names.end();
    if (named && (keras_2 || !type.keras_2)) found = &type;
  }
  if (found == nullptr) return false;
  *out = ActivationSpec();
  out->kind = static_cast<Activation>(found - ActivationTypes().data());
  out->alpha = found->alpha;
  return true;
}

ActivationForm FormOf(const ActivationSpec& spec) {
  const ActivationType& type = TypeOf(spec.kind);
  const int choice = type.of_result.empty() ? -1 : type.choose(spec);
  if (choice < 0) return {};
  ActivationForm form;
  form.place = type.first_form + choice;
  form.of_result = type.of_result[static_cast<size_t>(choice)];
  form.numbers.alpha = static_cast<float>(spec.alpha);
  form.numbers.threshold = static_cast<float>(spec.threshold);
  if (spec.max_value >= 0.0) form.numbers.most = static_cast<float>(spec.max_value);
  return form;
}

}  // namespace hopper
