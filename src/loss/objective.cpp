#include "loss/objective.h"

#include <ATen/ops/add.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/repeat_interleave.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "data/label_places.h"
#include "loss/part_rows.h"
#include "model/batch_sizes.h"
#include "params/loss_type.h"

namespace hopper {
namespace {

// Each member has the labels of its example.
Targets OfMembers(const Targets& targets, int64_t members) {
  Targets repeated = targets;
  for (at::Tensor* labels : {&repeated.classes, &repeated.values}) {
    if (labels->defined()) *labels = at::repeat_interleave(*labels, members, 0);
  }
  return repeated;
}

}  // namespace

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

at::Tensor PartOutput(const Objective& objective, size_t part, const at::Tensor& output) {
  const ObjectivePart& of = objective.parts[part];
  if (of.size == objective.outputs) return output;
  return output.narrow(1, of.first, of.size).reshape(WithBatch(output.size(0), of.shape));
}

Targets PartTargets(const Objective& objective, size_t part, const Targets& targets) {
  // Labels of one output without weights are as they always were.
  if (objective.plain || targets.classes.defined()) return targets;
  const ObjectivePart& of = objective.parts[part];
  const int64_t batch = targets.values.size(0);
  const at::Tensor own =
      targets.values.reshape({batch, -1}).narrow(1, of.label_first, of.label_size);
  Targets out;
  if (of.classes) {
    out.num_classes = of.num_classes;
    out.classes = own.reshape({batch}).to(at::kLong);
  } else {
    out.values = own.reshape(WithBatch(batch, of.label_shape)).contiguous();
  }
  return out;
}

at::Tensor PartMask(const Objective& objective, size_t part, const at::Tensor& output) {
  const ObjectivePart& of = objective.parts[part];
  if (of.mask_size == 0) return {};
  return output.detach().narrow(1, of.mask_first, of.mask_size);
}

at::Tensor ExampleWeights(const Objective& objective, const Targets& targets) {
  if (!objective.weighted) return {};
  const at::Tensor rows = targets.values.reshape({targets.values.size(0), -1});
  return rows.narrow(1, rows.size(1) - 1, 1).reshape({-1}).contiguous();
}

at::Tensor PartLossPerExample(const Objective& objective, size_t part, const at::Tensor& output,
                              const Targets& targets) {
  const ObjectivePart& of = objective.parts[part];
  const at::Tensor own = PartOutput(objective, part, output);
  const Targets labels = PartTargets(objective, part, targets);
  if (of.by_row()) {
    const at::Tensor mask = PartMask(objective, part, output);
    return LossOfRows(of, RowsOfPart(of, own, labels, mask, /*ignores=*/true), output.size(0));
  }
  if (of.members > 0) {
    const int64_t batch = output.size(0);
    const at::Tensor members = output.narrow(1, of.members_first, of.members * of.size)
                                   .reshape(WithBatch(batch * of.members, of.shape));
    const at::Tensor losses = LossPerExample(of.loss, members, of.member_logits, of.member_last,
                                             OfMembers(labels, of.members), of.options);
    return at::mean(losses.reshape({batch, of.members}), {1});
  }
  return LossPerExample(of.loss, own, of.logits, of.last, labels, of.options);
}

at::Tensor LossPerExample(const Objective& objective, const at::Tensor& output,
                          const Targets& targets) {
  at::Tensor sum;
  for (size_t i = 0; i < objective.parts.size(); ++i) {
    const ObjectivePart& part = objective.parts[i];
    at::Tensor loss = PartLossPerExample(objective, i, output, targets);
    if (objective.plain) return loss;
    if (part.weight != 1.0F) loss = at::mul(loss, part.weight);
    sum = sum.defined() ? at::add(sum, loss) : loss;
  }
  const at::Tensor weights = ExampleWeights(objective, targets);
  return weights.defined() ? at::mul(sum, weights) : sum;
}

bool LooksAtBatch(const Objective& objective) {
  return std::any_of(objective.parts.begin(), objective.parts.end(), [](const ObjectivePart& part) {
    return part.by_row() || LooksAtBatch(part.loss, part.options);
  });
}

PlannedObjective::PlannedObjective(const Objective& objective, int64_t batch,
                                   const Kernels& kernels)
    : objective_(objective), batch_(batch), targets_(objective.parts.size()) {
  int64_t largest = 0;
  int64_t rows = 0;
  int64_t members = 0;
  for (const ObjectivePart& part : objective_.parts) {
    const bool by_row = part.by_row();
    const bool by_member = part.members > 0;
    const int64_t losses = batch * (by_row ? part.rows() : by_member ? part.members : 1);
    parts_.push_back(std::make_unique<PlannedLoss>(
        part.loss, part.options, by_member ? part.member_logits : part.logits,
        by_member ? part.member_last : part.last, losses, by_row ? Shape{part.width()} : part.shape,
        kernels));
    if (objective_.plain) return;
    if (by_row || by_member) rows = std::max(rows, losses);
    members = std::max(members, part.members * part.size);
    largest = std::max({largest, part.size, part.members * part.size});
    outputs_.emplace_back(static_cast<size_t>(batch * part.size));
    part_losses_.emplace_back(static_cast<size_t>(batch));
  }
  gradient_ = AlignedArray<float>(static_cast<size_t>(batch * largest));
  factors_ = AlignedArray<float>(static_cast<size_t>(batch));
  losses_ = AlignedArray<float>(static_cast<size_t>(batch));
  row_factors_ = AlignedArray<float>(static_cast<size_t>(rows));
  members_ = AlignedArray<float>(static_cast<size_t>(batch * members));
}

namespace {

at::Tensor ViewOf(const float* values, const std::vector<int64_t>& sizes) {
  return at::from_blob(const_cast<float*>(values), sizes, at::TensorOptions().dtype(at::kFloat));
}

}  // namespace

at::Tensor PlannedObjective::mask(size_t part) const {
  return PartMask(objective_, part, ViewOf(output_, {batch_, objective_.outputs}));
}

void PlannedObjective::RunRows(size_t part, bool gradient) {
  const ObjectivePart& of = objective_.parts[part];
  const at::Tensor own = ViewOf(outputs_[part].data(), WithBatch(batch_, of.shape));
  const PartRows rows = RowsOfPart(of, own, targets_[part], mask(part), /*ignores=*/true);
  const at::Tensor counts = rows.counts.contiguous();
  const bool* counted = counts.const_data_ptr<bool>();
  const float share = ShareOfRows(counts, batch_).item<float>();
  const auto n = static_cast<size_t>(of.rows());
  for (size_t i = 0; gradient && i < static_cast<size_t>(batch_) * n; ++i) {
    row_factors_[i] = counted[i] ? factors_[i / n] * share : 0.0F;
  }
  Targets targets = rows.targets;
  if (targets.values.defined()) targets.values = targets.values.contiguous();
  parts_[part]->Run(outputs_[part].data(), targets, row_factors_.data(),
                    gradient ? gradient_.data() : nullptr);
  const float* losses = parts_[part]->losses();
  for (size_t i = 0; i < static_cast<size_t>(batch_); ++i) {
    float sum = 0.0F;
    for (size_t row = i * n; row < (i + 1) * n; ++row) sum += counted[row] ? losses[row] : 0.0F;
    part_losses_[part][i] = sum * share;
  }
}

void PlannedObjective::RunMembers(size_t part, bool gradient) {
  const ObjectivePart& of = objective_.parts[part];
  const auto n = static_cast<size_t>(of.members);
  const size_t values = n * static_cast<size_t>(of.size);
  const auto share = 1.0F / static_cast<float>(n);
  for (size_t i = 0; i < static_cast<size_t>(batch_); ++i) {
    std::memcpy(members_.data() + i * values,
                output_ + i * static_cast<size_t>(objective_.outputs) + of.members_first,
                values * sizeof(float));
    if (gradient) std::fill_n(row_factors_.data() + i * n, n, factors_[i] * share);
  }
  parts_[part]->Run(members_.data(), OfMembers(targets_[part], of.members), row_factors_.data(),
                    gradient ? gradient_.data() : nullptr);
  const float* losses = parts_[part]->losses();
  for (size_t i = 0; i < static_cast<size_t>(batch_); ++i) {
    float sum = 0.0F;
    for (size_t member = i * n; member < (i + 1) * n; ++member) sum += losses[member];
    part_losses_[part][i] = sum * share;
  }
}

void PlannedObjective::Run(const float* output, const Targets& targets, const float* factors,
                           float* gradient) {
  output_ = output;
  if (objective_.plain) {
    targets_[0] = targets;
    parts_[0]->Run(output, targets, factors, gradient);
    return;
  }
  weights_ = ExampleWeights(objective_, targets);
  const float* weights = weights_.defined() ? weights_.const_data_ptr<float>() : nullptr;
  const auto n = static_cast<size_t>(batch_);
  std::fill_n(losses_.data(), n, 0.0F);
  for (size_t p = 0; p < parts_.size(); ++p) {
    const ObjectivePart& part = objective_.parts[p];
    const auto row = static_cast<size_t>(part.size);
    const auto width = static_cast<size_t>(objective_.outputs);
    float* own = outputs_[p].data();
    for (size_t i = 0; i < n; ++i) {
      std::memcpy(own + i * row, output + i * width + part.first, row * sizeof(float));
    }
    targets_[p] = PartTargets(objective_, p, targets);
    for (size_t i = 0; gradient != nullptr && i < n; ++i) {
      factors_[i] = factors[i] * part.weight * (weights != nullptr ? weights[i] : 1.0F);
    }
    if (part.by_row()) {
      RunRows(p, gradient != nullptr);
    } else if (part.members > 0) {
      RunMembers(p, gradient != nullptr);
    } else {
      parts_[p]->Run(own, targets_[p], factors_.data(),
                     gradient != nullptr ? gradient_.data() : nullptr);
      std::memcpy(part_losses_[p].data(), parts_[p]->losses(), n * sizeof(float));
    }
    for (size_t i = 0; i < n; ++i) {
      if (weights != nullptr) part_losses_[p][i] *= weights[i];
      losses_[i] += part_losses_[p][i] * part.weight;
    }
    // What the loss does not look at, masks and means of members, has none.
    const bool by_member = part.members > 0;
    const size_t values = by_member ? static_cast<size_t>(part.members) * row : row;
    for (size_t i = 0; gradient != nullptr && i < n; ++i) {
      float* to = gradient + i * width;
      std::memcpy(to + (by_member ? part.members_first : part.first), gradient_.data() + i * values,
                  values * sizeof(float));
      if (by_member) std::fill_n(to + part.first, row, 0.0F);
      std::fill_n(to + part.mask_first, part.mask_size, 0.0F);
    }
  }
}

}  // namespace hopper
