#include "loss/objective.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "data/label_places.h"

namespace hopper {

Objective MakeObjective(const CompileParams& compile, const ModelSpec& spec, const DataDesc& data,
                        bool training) {
  Objective objective;
  const bool single = spec.outputs.size() == 1;
  const std::vector<std::string> names = spec.OutputNames();
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    const ModelOutput& output = spec.outputs[i];
    ObjectivePart part;
    if (i < compile.losses.size()) {
      const OutputLoss& loss = compile.losses[i];
      part.loss = loss.loss;
      part.options = loss.options;
      part.weight = static_cast<float>(loss.weight);
    } else {
      part.loss = compile.loss;
      part.options = compile.loss_options;
    }
    part.last = output.final_activation;
    part.logits = UsesLogits(part.loss, part.last);
    part.shape = output.shape;
    part.first = output.first;
    part.size = ElementCount(output.shape);
    if (part.logits) objective.linear |= uint64_t{1} << i;
    const auto place = LabelPlace(names, i, data.outputs);
    if (!place) {
      throw Error(ErrorCode::kInvalidParameter,
                  "\"" + data.table_name + "\" has no labels for output \"" + output.name + "\"");
    }
    const DataOutput& labels = data.outputs[*place];
    part.classes = labels.kind == LabelKind::kClass;
    part.label_shape = ElementCount(output.shape) == labels.size ? output.shape : labels.shape;
    part.label_first = labels.first;
    part.label_size = labels.size;
    part.num_classes = labels.num_classes;
    part.unit = labels.unit;
    part.bounds = labels.bounds;
    part.mask_first = output.mask_first;
    part.mask_size = output.mask_size;
    if (part.by_row() && LossTypeOf(part.loss).overlap != nullptr) {
      throw Error(ErrorCode::kNotSupported, "loss \"" + std::string(LossName(part.loss)) +
                                                "\" of an output with a mask is not supported");
    }
    if (training && output.members > 0) {
      const char* why = WhyNoLossOfMembers(part.loss, part.options, output.member_activation);
      if (why != nullptr) {
        throw Error(
            ErrorCode::kNotSupported,
            "loss \"" + std::string(LossName(part.loss)) + "\" of each member is not supported",
            why);
      }
      part.members = output.members;
      part.members_first = output.members_first;
      part.member_last = output.member_activation;
      part.member_logits = UsesLogits(part.loss, part.member_last);
    }
    objective.parts.push_back(std::move(part));
  }
  if (spec.outputs.size() != data.outputs.size()) {
    throw Error(ErrorCode::kInvalidParameter,
                "model \"" + spec.name + "\" has " + std::to_string(spec.outputs.size()) +
                    " outputs but \"" + data.table_name + "\" has labels of " +
                    std::to_string(data.outputs.size()));
  }
  objective.weighted = data.weighted;
  objective.outputs = ElementCount(spec.output_shape());
  const ObjectivePart& first = objective.parts[0];
  objective.plain = !data.by_parts && single && first.weight == 1.0F && !first.by_row() &&
                    first.size == objective.outputs;
  return objective;
}

bool LooksAtBatch(LossKind loss, const LossOptions& options) {
  const LossType& type = LossTypeOf(loss);
  if (type.signed_labels) return true;
  if (type.overlap == nullptr) return false;
  // Which axis a negative number means depends on the output's rank.
  const auto may_be_batch = [](int axis) { return axis <= 0 && axis != -1; };
  return options.axes.empty() ||
         std::any_of(options.axes.begin(), options.axes.end(), may_be_batch);
}

bool LooksAtBatch(const Objective& objective) {
  return std::any_of(objective.parts.begin(), objective.parts.end(), [](const ObjectivePart& part) {
    return part.by_row() || LooksAtBatch(part.loss, part.options);
  });
}

Targets PartTargets(const Objective& objective, size_t part, const Targets& targets, int64_t batch,
                    LabelRoom* room) {
  // Labels of one output without weights are as they always were.
  if (objective.plain || targets.classes != nullptr) return targets;
  const ObjectivePart& of = objective.parts[part];
  Targets own;
  if (of.classes) {
    room->classes.resize(static_cast<size_t>(batch));
    for (int64_t i = 0; i < batch; ++i) {
      room->classes[i] = static_cast<int64_t>(targets.values[i * targets.size + of.label_first]);
    }
    own.classes = room->classes.data();
    own.num_classes = of.num_classes;
    return own;
  }
  room->values.resize(static_cast<size_t>(batch * of.label_size));
  for (int64_t i = 0; i < batch; ++i) {
    std::copy_n(targets.values + i * targets.size + of.label_first, of.label_size,
                room->values.data() + i * of.label_size);
  }
  own.values = room->values.data();
  own.size = of.label_size;
  return own;
}

std::vector<float> ExampleWeights(const Objective& objective, const Targets& targets,
                                  int64_t batch) {
  std::vector<float> weights;
  for (int64_t i = 0; objective.weighted && i < batch; ++i) {
    weights.push_back(targets.values[(i + 1) * targets.size - 1]);
  }
  return weights;
}

}  // namespace hopper
