// What an activation is. Each family has a file of its own in this folder, with a struct for each
// activation that holds
//
//   Type()      its names, and what it is otherwise
//   Forms       its arithmetic on single elements, on vectors of float32 (below); none where it is
//               no function of single elements
//   Choose()    which of them an ActivationSpec wants
//   Tensors()   the same with tensors, for autograd and for devices: a template, so that no file of
//               this folder needs libtorch
//
// and a row in activation/table.h. Formulas: keras.activations.*.
//
// The forms are templates over M, the vectors of one instruction set (Simd in
// kernels/activations.h), and V, the type of these vectors.
#pragma once

#include <limits>
#include <string>
#include <vector>

// Forms are inlined into a function per instruction set.
#define HOPPER_FORM __attribute__((always_inline)) static inline

namespace hopper {

// Places in the table, of those that code asks for by name.
enum class Activation {
  kLinear = 0,
  kRelu = 1,
  kLeakyRelu = 3,
  kElu = 4,
  kSigmoid = 9,
  kSoftmax = 16,
  kLogSoftmax = 17,
  kGlu = 29,  // halves the last axis: only in a layer of its own
};

// An activation with its parameters (negative slope, alpha, maximum, threshold, axis).
struct ActivationSpec {
  Activation kind = Activation::kLinear;
  double alpha = 0.0;       // leaky_relu's slope, elu's alpha, relu's negative slope
  double max_value = -1.0;  // relu; negative: none
  double threshold = 0.0;   // relu
  int axis = -1;            // softmax
};

// An activation's numbers for forms.
struct ActivationNumbers {
  float alpha = 0.0F;
  float threshold = 0.0F;
  float most = std::numeric_limits<float>::infinity();
};

template <typename... F>
struct FormList {
  static constexpr int kSize = sizeof...(F);
};

// A form whose derivative is a function of its result:
//   V Value(const ActivationNumbers& numbers, V x)
//   V Gradient(const ActivationNumbers& numbers, V y, V d)   d times the derivative where f(x) = y
struct FormOfResult {
  static constexpr bool kOfResult = true;
};
// A form whose derivative needs the argument:
//   V Value(const ActivationNumbers& numbers, V x, V* derivative)
struct FormOfArgument {
  static constexpr bool kOfResult = false;
};

// A row of the table.
struct ActivationType {
  std::vector<std::string> names;  // the first one is its own
  double alpha = 0.0;              // ActivationSpec::alpha, by name
  bool keras_2 = false;            // what an earlier row's names mean in files of Keras 2
  bool by_element = true;          // each output element depends on its own input element only
  // Filled in by the table: places of the forms among those of all rows, and the row's choice of
  // one of its own, -1 for none.
  int first_form = 0;
  std::vector<bool> of_result;
  int (*choose)(const ActivationSpec& spec) = nullptr;
};

// What most activations have.
struct AnyActivation {
  using Forms = FormList<>;
  static int Choose(const ActivationSpec& /*spec*/) { return 0; }
  // Whether InPlace() is there: Tensors() for a tensor that nobody else uses.
  static constexpr bool kInPlace = false;
};

inline ActivationType Named(std::vector<std::string> names, double alpha = 0.0) {
  ActivationType type;
  type.names = std::move(names);
  type.alpha = alpha;
  return type;
}
inline ActivationType OfRows(std::vector<std::string> names) {
  ActivationType type = Named(std::move(names));
  type.by_element = false;
  return type;
}

// An Activation is a place in it.
const std::vector<ActivationType>& ActivationTypes();
inline const ActivationType& TypeOf(Activation kind) {
  return ActivationTypes()[static_cast<size_t>(kind)];
}
// The activation of this name, in files of Keras 2 or of later versions; false where there is none.
bool FindActivation(const std::string& name, bool keras_2, ActivationSpec* out);

// The form of an activation: its place among all forms.
struct ActivationForm {
  int place = -1;  // -1: it has none
  bool of_result = false;
  ActivationNumbers numbers;
};
ActivationForm FormOf(const ActivationSpec& spec);

}  // namespace hopper
