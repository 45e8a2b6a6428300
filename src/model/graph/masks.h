// Which masks the tensors of a model carry, while its graph is built. Internal to model/.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "model/keras/keras_json.h"
#include "model/spec.h"

namespace hopper {

// What a call says beside its inputs, for a hash. Nothing for calls that say nothing more, as
// before there were others.
void PutForm(const CallForm& form, ByteWriter* out);

// Steps' inputs in a mask are tensor ids here; in a node they are its inputs.
class Masks {
 public:
  // Both outlive it.
  Masks(ModelSpec* spec, std::vector<Problem>* problems) : spec_(spec), problems_(problems) {}

  // A mask stands for a tensor by an id of kNothing or less.
  static constexpr int kNothing = -2;

  void AddTensor() { tensor_masks_.emplace_back(); }
  const Mask& OfTensor(int tensor) const { return tensor_masks_[tensor]; }
  void SetTensor(int tensor, Mask mask) { tensor_masks_[tensor] = std::move(mask); }

  // The mask of an id, for a layer; null where it is none that a layer takes.
  const Mask* Find(int id) const;
  // The id of the mask that an operation makes, or -1.
  int Call(const GraphLayer& at, const hopper::Call& call, const std::vector<int>& inputs);
  // Masks of the inputs of a call: what is said there, else what the tensors carry. False, with a
  // problem, where the layer cannot take them.
  bool OfCall(const GraphLayer& at, const Layer& layer, const hopper::Call& call,
              const std::vector<int>& inputs, std::vector<Mask>* masks);
  // What becomes of the masks of a call's inputs.
  Mask OfOutput(const Layer& layer, const std::vector<int>& inputs, const std::vector<Mask>& masks);
  // The mask's tensors as inputs of the node, behind the `data` that it has.
  static Mask OverInputs(Mask mask, size_t data, std::vector<int>* inputs);
  // Whether it says of each step of a series of this shape whether it counts.
  bool HasMaskShape(const Mask& mask, const Shape& shape) const;

 private:
  void Fail(ErrorCode code, const std::string& message, const std::string& detail = "",
            const std::string& hint = "") {
    problems_->push_back({code, message, detail, hint});
  }
  // What operations make on their way to a mask.
  struct Made {
    Mask mask;                // empty: everything counts
    bool nothing = false;     // all false, whatever the mask is
    bool wide = false;        // has an axis of features behind the steps
    std::vector<int> joined;  // masks that follow each other along the features
    int series = -1;          // tensor of which each step counts

    static Made Only(MaskStep step) {
      Made made;
      made.mask = {step};
      return made;
    }
    // Of all features where it is `wide`.
    static Made Everything(bool wide) {
      Made made;
      made.wide = wide;
      return made;
    }
    static Made Nothing() {
      Made made = Everything(/*wide=*/true);
      made.nothing = true;
      return made;
    }
    static Made StepsOf(int tensor) {
      Made made = Everything(/*wide=*/true);
      made.series = tensor;
      return made;
    }
    static Made Joined(const std::vector<int>& masks) {
      Made made = Everything(/*wide=*/true);
      made.joined = masks;
      return made;
    }
  };
  int Add(Made made);
  const Made& Of(int id) const { return masks_[static_cast<size_t>(kNothing - id)]; }
  // Along the features: what counts in one of those joined, or in all of them.
  Made Reduced(const Made& made, MaskStep::Kind kind) const;
  // Of masks with an axis of features, which follow each other along the steps; -1 where one of
  // them is no such mask.
  int Follow(const std::vector<int>& ids);
  // -1 where there is none.
  int Make(const GraphLayer& at, const hopper::Call& call, const std::vector<int>& inputs);

  ModelSpec* spec_;
  std::vector<Problem>* problems_;
  std::vector<Mask> tensor_masks_;  // by tensor id
  std::vector<Made> masks_;         // that operations made
};

}  // namespace hopper
