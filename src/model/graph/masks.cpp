#include "model/graph/masks.h"

#include <algorithm>

#include "base/product.h"

namespace hopper {

namespace {

bool SameMask(const Mask& a, const Mask& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const MaskStep& x, const MaskStep& y) {
                      return x.kind == y.kind && x.input == y.input && x.value == y.value;
                    });
}

// Of masks over the same tensors: a, or b, or both of them by `kind`.
Mask Combine(const Mask& a, const Mask& b, MaskStep::Kind kind) {
  if (a.empty()) return b;
  if (b.empty() || SameMask(a, b)) return a;
  Mask both = a;
  both.insert(both.end(), b.begin(), b.end());
  both.push_back({kind, 0, 0.0});
  return both;
}

}  // namespace

void PutForm(const CallForm& form, ByteWriter* out) {
  if (form.masks.empty() && !form.causal) return;
  out->PutString(form.causal ? "causal" : "masks");
  for (const Mask& mask : form.masks) {
    out->Put<uint32_t>(static_cast<uint32_t>(mask.size()));
    for (const MaskStep& step : mask) {
      out->Put<int32_t>(static_cast<int32_t>(step.kind));
      out->Put<int32_t>(step.input);
      out->Put<double>(step.value);
    }
  }
}

int Masks::Add(Made made) {
  masks_.push_back(std::move(made));
  return kNothing - static_cast<int>(masks_.size() - 1);
}

const Mask* Masks::Find(int id) const {
  if (id > kNothing) return nullptr;
  const Made& made = Of(id);
  return made.nothing || made.wide ? nullptr : &made.mask;
}

Masks::Made Masks::Reduced(const Made& made, MaskStep::Kind kind) const {
  Made reduced;
  bool first = true;
  for (const int id : made.joined) {
    const Made& part = Of(id);
    // Everything counts in it.
    if (part.mask.empty() && kind == MaskStep::Kind::kOr) return {};
    reduced.mask = first ? part.mask : Combine(reduced.mask, part.mask, kind);
    first = false;
  }
  return reduced;
}

int Masks::Make(const GraphLayer& at, const hopper::Call& call, const std::vector<int>& inputs) {
  const size_t n = inputs.size();
  const auto is_mask = [](int id) { return id <= kNothing; };
  const bool masks = n > 0 && std::all_of(inputs.begin(), inputs.end(), is_mask);
  const bool tensor = n == 1 && !masks;
  switch (at.mask) {
    case MaskOperation::kSame:
      return masks && n == 1 ? inputs[0] : -1;
    case MaskOperation::kNotEqual:
      if (!tensor || call.constants.size() != 1) return -1;
      return Add(Made::Only({MaskStep::Kind::kNotEqual, inputs[0], call.constants[0]}));
    case MaskOperation::kOnes:
      return tensor ? Add(Made::StepsOf(inputs[0])) : -1;
    case MaskOperation::kZeros:
      return tensor ? Add(Made::Nothing()) : -1;
    case MaskOperation::kExpand: {
      if (!masks || n != 1 || Find(inputs[0]) == nullptr) return -1;
      Made wide = Of(inputs[0]);
      wide.wide = true;
      return Add(wide);
    }
    case MaskOperation::kConcatenate: {
      const auto joins = [&](int id) {
        return is_mask(id) && Of(id).wide && !Of(id).nothing && Of(id).joined.empty();
      };
      if (!std::all_of(inputs.begin(), inputs.end(), joins)) return -1;
      return Add(Made::Joined(inputs));
    }
    case MaskOperation::kFollow:
      return Follow(inputs);
    case MaskOperation::kAny:
    case MaskOperation::kAll: {
      if (!masks || n != 1) return -1;
      const bool any = at.mask == MaskOperation::kAny;
      Made made = Of(inputs[0]);
      if (!made.joined.empty()) {
        return Add(Reduced(made, any ? MaskStep::Kind::kOr : MaskStep::Kind::kAnd));
      }
      if (made.wide && !made.nothing) {  // the same for all features
        made.wide = false;
        return Add(made);
      }
      if (!any || made.wide || made.mask.size() != 1) return -1;
      made.mask[0].kind = MaskStep::Kind::kAnyNotEqual;
      return Add(made);
    }
    case MaskOperation::kAnd:
    case MaskOperation::kOr: {
      if (!masks || n != 2) return -1;
      const bool both = at.mask == MaskOperation::kAnd;
      Made a = Of(inputs[0]);
      Made b = Of(inputs[1]);
      if (a.wide != b.wide || !a.joined.empty() || !b.joined.empty()) return -1;
      if (a.nothing) std::swap(a, b);
      if (b.nothing) return Add(both ? b : a);
      if (!both && (a.mask.empty() || b.mask.empty())) return Add(Made::Everything(a.wide));
      a.mask = Combine(a.mask, b.mask, both ? MaskStep::Kind::kAnd : MaskStep::Kind::kOr);
      return Add(a);
    }
    case MaskOperation::kOther:
      break;
  }
  return -1;
}

int Masks::Call(const GraphLayer& at, const hopper::Call& call, const std::vector<int>& inputs) {
  if (std::count(inputs.begin(), inputs.end(), -1) != 0) return -1;
  const int made = Make(at, call, inputs);
  if (made != -1) return made;
  Fail(ErrorCode::kNotSupported,
       "layer \"" + at.name + "\" makes a mask in a way that is not supported",
       "It is " + at.path + " of the architecture.",
       "Masks are made by Masking, by Embedding with mask_zero, or as x != number.");
  return -1;
}

Mask Masks::OverInputs(Mask mask, size_t data, std::vector<int>* inputs) {
  for (MaskStep& step : mask) {
    if (step.OfTwo()) continue;
    const auto behind = inputs->begin() + static_cast<std::ptrdiff_t>(data);
    const auto found = std::find(behind, inputs->end(), step.input);
    const int tensor = step.input;
    step.input = static_cast<int>(found - inputs->begin());
    if (found == inputs->end()) inputs->push_back(tensor);
  }
  return mask;
}

bool Masks::HasMaskShape(const Mask& mask, const Shape& shape) const {
  if (mask.empty()) return true;
  if (shape.size() < 2) return false;
  std::vector<int64_t> steps;  // of masks that wait for another one
  for (const MaskStep& step : mask) {
    if (step.OfTwo()) {
      const int64_t second = steps.back();
      steps.pop_back();
      const bool follows = step.kind == MaskStep::Kind::kFollow;
      if (!follows && steps.back() != second) return false;
      if (follows) steps.back() = SaturatingAdd(steps.back(), second);
      continue;
    }
    const Shape& of = spec_->tensors[step.input];
    const size_t axes = step.kind == MaskStep::Kind::kAnyNotEqual ? 2 : 1;
    if (of.empty() || (step.kind != MaskStep::Kind::kEvery && of.size() != axes)) return false;
    steps.push_back(of[0]);
  }
  return steps.back() == shape[0];
}

int Masks::Follow(const std::vector<int>& ids) {
  Made all;
  all.wide = true;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] > kNothing) return -1;
    const Made& part = Of(ids[i]);
    const bool every = part.mask.empty();
    if (!part.wide || part.nothing || !part.joined.empty() || (every && part.series < 0)) return -1;
    if (every) {
      all.mask.push_back({MaskStep::Kind::kEvery, part.series, 0.0});
    } else {
      all.mask.insert(all.mask.end(), part.mask.begin(), part.mask.end());
    }
    if (i > 0) all.mask.push_back({MaskStep::Kind::kFollow, 0, 0.0});
  }
  return Add(all);
}

bool Masks::OfCall(const GraphLayer& at, const Layer& layer, const hopper::Call& call,
                   const std::vector<int>& inputs, std::vector<Mask>* masks) {
  const size_t data = call.inputs.size();
  bool any = false;
  for (size_t i = 0; i < data; ++i) {
    masks->push_back(tensor_masks_[inputs[i]]);
    any |= !masks->back().empty();
  }
  for (size_t i = 0; i < call.masks.size(); ++i) {
    const auto to = static_cast<size_t>(call.masked[i]);
    const int id = inputs[data + i];
    const bool takes = layer.reads_masks() || layer.masking() == Masking::kCannot ||
                       layer.masking() == Masking::kCarries || layer.masking() == Masking::kTakes;
    const Mask* mask = Find(id);
    if (mask == nullptr || to >= data || !takes) {
      Fail(
          ErrorCode::kNotSupported,
          "layer \"" + layer.name() + "\" is called with argument \"mask\", which is not supported",
          "The layer is " + at.path + " of the architecture.");
      return false;
    }
    (*masks)[to] = *mask;
    any = true;
  }
  if (!any) {
    masks->clear();
    return true;
  }
  bool fits = layer.masking() != Masking::kCannot;
  for (size_t i = 0; fits && i < data; ++i) {
    fits =
        layer.masking() == Masking::kLoses || HasMaskShape((*masks)[i], spec_->tensors[inputs[i]]);
  }
  if (fits) return true;
  Fail(ErrorCode::kNotSupported,
       "layer \"" + layer.name() + "\" of class " + layer.class_name() +
           ": a mask of its input is not supported",
       "The layer is " + at.path + " of the architecture.",
       "Put it behind a layer that ends the mask, or leave mask_zero and Masking out.");
  return false;
}

Mask Masks::OfOutput(const Layer& layer, const std::vector<int>& inputs,
                     const std::vector<Mask>& masks) {
  Mask made = layer.MadeMask();
  for (MaskStep& step : made) step.input = inputs[0];
  if (!made.empty() || masks.empty()) return made;
  switch (layer.masking()) {
    case Masking::kTakes:
    case Masking::kCarries:
      return masks[0];
    case Masking::kMerges:
    case Masking::kJoins: {
      const bool merges = layer.masking() == Masking::kMerges;
      for (const Mask& mask : masks) {
        if (mask.empty() && merges) return {};  // one input of which everything counts
        made = Combine(made, mask, merges ? MaskStep::Kind::kOr : MaskStep::Kind::kAnd);
      }
      return made;
    }
    case Masking::kFollows:
      for (size_t i = 0; i < masks.size(); ++i) {
        if (masks[i].empty()) {
          made.push_back({MaskStep::Kind::kEvery, inputs[i], 0.0});
        } else {
          made.insert(made.end(), masks[i].begin(), masks[i].end());
        }
        if (i > 0) made.push_back({MaskStep::Kind::kFollow, 0, 0.0});
      }
      return made;
    case Masking::kLoses:
      spec_->warnings.push_back(
          {ErrorCode::kInvalidParameter,
           "the mask of its input ends at layer \"" + layer.name() + "\" of class " +
               layer.class_name(),
           "The layer sees all steps, also those that are masked; so it is in Keras.",
           "Leave mask_zero and Masking out, or use a layer that heeds masks."});
      return {};
    default:
      return {};
  }
}

}  // namespace hopper
