#include "model/graph/frozen_prefix.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/product.h"
#include "model/graph/masks.h"

namespace hopper {

namespace {

// Features of an example are kept where they are not much larger than what they are made of, or are
// small; and where to compute them is more work than to fetch them.
constexpr int64_t kLargerThanInput = 4;
constexpr int64_t kFewFeatures = 16384;
constexpr int64_t kWorkPerFeature = 4;

class Splitter {
 public:
  explicit Splitter(const ModelSpec& spec) : spec_(spec), makers_(spec.tensors.size(), -1) {
    for (size_t i = 0; i < spec.nodes.size(); ++i) {
      makers_[static_cast<size_t>(spec.nodes[i].output)] = static_cast<int>(i);
    }
  }

  // Whether each node belongs to the prefix, of which `cut` is the last one; -1: there is none.
  std::vector<char> Find(int* cut) const {
    std::vector<char> fixed(spec_.nodes.size(), 0);
    std::vector<char> best;
    int64_t best_flops = 0;
    *cut = -1;
    for (size_t i = 0; i < spec_.nodes.size(); ++i) {
      const Node& node = spec_.nodes[i];
      fixed[i] = IsFixed(node) && std::all_of(node.inputs.begin(), node.inputs.end(), [&](int id) {
                   const int maker = makers_[static_cast<size_t>(id)];
                   return maker < 0 || fixed[static_cast<size_t>(maker)] != 0;
                 });
      const int64_t features = ElementCount(TensorOf(node.output));
      if (fixed[i] == 0 || features > MostFeatures()) continue;
      const std::vector<char> before = Before(i);
      const int64_t flops = Flops(before);
      if (flops < best_flops || flops < kWorkPerFeature * features || !HasFrozenWeights(before) ||
          !IsAllThatIsRead(before, node.output)) {
        continue;
      }
      best = before;
      best_flops = flops;
      *cut = static_cast<int>(i);
    }
    return best;
  }

  // The nodes of one side, with all else.
  ModelSpec Part(const std::vector<char>& prefix, bool wanted) const {
    ModelSpec part = spec_;
    part.nodes.clear();
    part.flops = 0;
    part.activation_floats = 0;
    for (size_t i = 0; i < spec_.nodes.size(); ++i) {
      if ((prefix[i] != 0) != wanted) continue;
      const Node& node = spec_.nodes[i];
      part.nodes.push_back(node);
      const Shape& output = TensorOf(node.output);
      const Layer& layer = LayerOf(node);
      part.flops = SaturatingAdd(part.flops, layer.Flops(Inputs(node), output));
      part.activation_floats = SaturatingAdd(
          part.activation_floats,
          SaturatingAdd(ElementCount(output), layer.AutogradFloats(Inputs(node), output)));
    }
    return part;
  }

  // Of nodes and their layers, wherever in a model they are.
  Digest HashOf(const ModelSpec& part) const {
    ByteWriter out;
    out.PutString("hopper frozen prefix 1");
    std::vector<int> places(spec_.tensors.size(), -1);
    const auto put_tensor = [&](int id) {
      out.Put<int32_t>(places[static_cast<size_t>(id)]);
      const Shape& shape = TensorOf(id);
      out.Put<uint32_t>(static_cast<uint32_t>(shape.size()));
      for (const int64_t size : shape) out.Put<int64_t>(size);
    };
    put_tensor(part.input);
    for (size_t i = 0; i < part.nodes.size(); ++i) {
      const Node& node = part.nodes[i];
      out.PutString(part.fingerprints[static_cast<size_t>(node.layer)]);
      out.Put<uint32_t>(static_cast<uint32_t>(node.inputs.size()));
      for (const int id : node.inputs) put_tensor(id);
      PutForm(node.form, &out);
      places[static_cast<size_t>(node.output)] = static_cast<int>(i);
    }
    return Hash(out.data(), out.size());
  }

 private:
  const Shape& TensorOf(int id) const { return spec_.tensors[static_cast<size_t>(id)]; }
  const Layer& LayerOf(const Node& node) const {
    return *spec_.layers[static_cast<size_t>(node.layer)];
  }
  const std::vector<int>& WeightsOf(const Node& node) const {
    return spec_.layer_weights[static_cast<size_t>(node.layer)];
  }

  int64_t MostFeatures() const {
    return std::max(kFewFeatures, Product({kLargerThanInput, ElementCount(spec_.input_shape())}));
  }

  bool IsFixed(const Node& node) const {
    if (LayerOf(node).changes_in_training() && !node.inference) return false;
    if (LayerOf(node).adds_to_loss()) return false;
    const std::vector<int>& weights = WeightsOf(node);
    return std::none_of(weights.begin(), weights.end(), [this](int weight) {
      return spec_.weights[static_cast<size_t>(weight)].slot_offset >= 0;
    });
  }

  // The node and all that it is made of.
  std::vector<char> Before(size_t last) const {
    std::vector<char> before(spec_.nodes.size(), 0);
    before[last] = 1;
    for (size_t i = last + 1; i-- > 0;) {
      if (before[i] == 0) continue;
      for (const int id : spec_.nodes[i].inputs) {
        const int maker = makers_[static_cast<size_t>(id)];
        if (maker >= 0) before[static_cast<size_t>(maker)] = 1;
      }
    }
    return before;
  }

  std::vector<Shape> Inputs(const Node& node) const {
    std::vector<Shape> shapes;
    for (size_t i = 0; i < node.form.data; ++i) shapes.push_back(TensorOf(node.inputs[i]));
    return shapes;
  }

  int64_t Flops(const std::vector<char>& part) const {
    int64_t flops = 0;
    for (size_t i = 0; i < part.size(); ++i) {
      const Node& node = spec_.nodes[i];
      if (part[i] == 0) continue;
      flops = SaturatingAdd(flops, LayerOf(node).Flops(Inputs(node), TensorOf(node.output)));
    }
    return flops;
  }

  bool HasFrozenWeights(const std::vector<char>& part) const {
    for (size_t i = 0; i < part.size(); ++i) {
      const Node& node = spec_.nodes[i];
      if (part[i] != 0 && !LayerOf(node).trainable() && !WeightsOf(node).empty()) return true;
    }
    return false;
  }

  // Whether all others read nothing of the part but `features`, and there are others that train.
  bool IsAllThatIsRead(const std::vector<char>& part, int features) const {
    const auto within = [&](int id) {
      const int maker = makers_[static_cast<size_t>(id)];
      return maker < 0 || part[static_cast<size_t>(maker)] != 0;
    };
    if (spec_.trainable_parameters == 0 || within(spec_.output)) return false;
    for (const ModelOutput& output : spec_.outputs) {
      if (within(output.tensor)) return false;
    }
    for (size_t i = 0; i < part.size(); ++i) {
      if (part[i] != 0) continue;
      for (const int id : spec_.nodes[i].inputs) {
        if (id != features && within(id)) return false;
      }
    }
    return true;
  }

  const ModelSpec& spec_;
  std::vector<int> makers_;  // by tensor id, the node that makes it; -1: it is given
};

}  // namespace

FrozenSplit SplitFrozen(const ModelSpec& spec) {
  const Splitter splitter(spec);
  int cut = -1;
  const std::vector<char> part = splitter.Find(&cut);
  if (cut < 0) return {};
  const int features = spec.nodes[static_cast<size_t>(cut)].output;
  const Shape& shape = spec.tensors[static_cast<size_t>(features)];
  ModelSpec prefix = splitter.Part(part, true);
  prefix.activation_floats =
      SaturatingAdd(prefix.activation_floats, ElementCount(spec.input_shape()));
  prefix.output = features;
  prefix.outputs.resize(1);
  prefix.outputs[0] = ModelOutput();
  prefix.outputs[0].shape = shape;
  prefix.outputs[0].tensor = features;
  prefix.final_activation = Activation::kLinear;
  prefix.hash = splitter.HashOf(prefix);
  ModelSpec head = splitter.Part(part, false);
  head.activation_floats = SaturatingAdd(head.activation_floats, ElementCount(shape));
  head.input = features;
  head.inputs.resize(1);
  head.inputs[0] = ModelInput();
  head.inputs[0].shape = shape;
  return {std::make_shared<const ModelSpec>(std::move(prefix)),
          std::make_shared<const ModelSpec>(std::move(head))};
}

}  // namespace hopper
