#include "loss/planned_objective.h"

#include <algorithm>
#include <cstring>

namespace hopper {
namespace {

// Each member has the labels of its example; they lie in `room`.
Targets OfMembers(const Targets& targets, int64_t batch, int64_t members, LabelRoom* room) {
  Targets repeated = targets;
  const auto repeat = [&](const auto* from, int64_t size, auto* to) {
    for (int64_t i = 0; i < batch; ++i) {
      for (int64_t member = 0; member < members; ++member) {
        to->insert(to->end(), from + i * size, from + (i + 1) * size);
      }
    }
    return to->data();
  };
  if (targets.classes != nullptr) repeated.classes = repeat(targets.classes, 1, &room->classes);
  if (targets.values != nullptr) {
    repeated.values = repeat(targets.values, targets.size, &room->values);
  }
  return repeated;
}

}  // namespace

PlannedObjective::PlannedObjective(const Objective& objective, int64_t batch,
                                   const Kernels& kernels, const LossBackend& backend)
    : objective_(objective),
      batch_(batch),
      kernels_(kernels),
      backend_(backend),
      targets_(objective.parts.size()),
      labels_(objective.parts.size()) {
  int64_t largest = 0;
  int64_t rows = 0;
  int64_t members = 0;
  for (const ObjectivePart& part : objective_.parts) {
    const bool by_row = part.by_row();
    const bool by_member = part.members > 0;
    const int64_t losses = batch * (by_row ? part.rows() : by_member ? part.members : 1);
    parts_.push_back(std::make_unique<PlannedLoss>(
        part.loss, part.options, by_member ? part.member_logits : part.logits, losses,
        by_row ? Shape{part.width()} : part.shape, kernels, backend));
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

StepMask PlannedObjective::mask(size_t part) const {
  const ObjectivePart& of = objective_.parts[part];
  if (of.mask_size == 0) return {};
  return {output_ + of.mask_first, objective_.outputs};
}

void PlannedObjective::RunRows(size_t part, bool gradient) {
  const ObjectivePart& of = objective_.parts[part];
  const PartRows rows(of, batch_, targets_[part], mask(part), /*ignores=*/true);
  const float share = rows.share();
  const auto n = static_cast<size_t>(of.rows());
  for (size_t i = 0; gradient && i < static_cast<size_t>(batch_) * n; ++i) {
    row_factors_[i] = rows.counts(i) ? factors_[i / n] * share : 0.0F;
  }
  parts_[part]->Run(outputs_[part].data(), rows.targets(), row_factors_.data(),
                    gradient ? gradient_.data() : nullptr);
  const float* losses = parts_[part]->losses();
  for (size_t i = 0; i < static_cast<size_t>(batch_); ++i) {
    float sum = 0.0F;
    for (size_t row = i * n; row < (i + 1) * n; ++row) sum += rows.counts(row) ? losses[row] : 0.0F;
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
  LabelRoom room;
  parts_[part]->Run(members_.data(), OfMembers(targets_[part], batch_, of.members, &room),
                    row_factors_.data(), gradient ? gradient_.data() : nullptr);
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
  weights_ = ExampleWeights(objective_, targets, batch_);
  const float* weights = this->weights();
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
    targets_[p] = PartTargets(objective_, p, targets, batch_, &labels_[p]);
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
