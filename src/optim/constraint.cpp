#include "optim/constraint.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/pieces.h"

namespace hopper {

Constraint::Constraint(ConstraintSpec spec, const std::vector<int64_t>& sizes,
                       const std::vector<int64_t>& strides)
    : spec_(std::move(spec)) {
  const auto rank = static_cast<int64_t>(sizes.size());
  std::vector<int64_t> norm(sizes.size(), 1);
  for (const int64_t axis : spec_.axes)
    norm[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = 0;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (norm[i] == 0) continue;
    norm[i] = norms_;
    norms_ *= sizes[i];
  }
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  for (const size_t axis : order) axes_.push_back({sizes[axis], norm[axis]});
  if (axes_.empty()) axes_.push_back({1, 0});
}

// change(element, norm) for all elements, in the order of memory; looks at cancel now and then.
template <typename Change>
void Constraint::ForEach(const Change& change) const {
  std::vector<int64_t> at(axes_.size(), 0);
  const Axis inner = axes_.back();
  constexpr int64_t kPiece = kPieceBytes / sizeof(float);
  int64_t element = 0;
  int64_t looked = 0;
  int64_t norm = 0;
  for (;;) {
    if (element - looked >= kPiece) {
      LookAtCancel();
      looked = element;
    }
    for (int64_t i = 0; i < inner.size; ++i) change(element++, norm + i * inner.norm);
    size_t axis = axes_.size() - 1;
    for (;;) {
      if (axis == 0) return;
      --axis;
      norm += axes_[axis].norm;
      if (++at[axis] < axes_[axis].size) break;
      norm -= axes_[axis].norm * axes_[axis].size;
      at[axis] = 0;
    }
  }
}

void Constraint::Apply(float* w) const {
  if (spec_.kind == ConstraintKind::kNonNeg) {
    // NaN stays.
    ForEach([w](int64_t i, int64_t) { w[i] = w[i] < 0.0F ? 0.0F : w[i]; });
    return;
  }
  std::vector<double> squares(static_cast<size_t>(norms_), 0.0);
  ForEach([&](int64_t i, int64_t norm) {
    const auto value = static_cast<double>(w[i]);
    squares[static_cast<size_t>(norm)] += value * value;
  });
  std::vector<float> factors(squares.size());
  const auto min = static_cast<float>(spec_.min);
  const auto max = static_cast<float>(spec_.max);
  const auto rate = static_cast<float>(spec_.rate);
  for (size_t i = 0; i < factors.size(); ++i) {
    const auto norm = static_cast<float>(std::sqrt(squares[i]));
    float wanted = 1.0F;
    if (spec_.kind != ConstraintKind::kUnitNorm) {
      const float clipped = norm < min ? min : (norm > max ? max : norm);
      wanted = rate * clipped + (1.0F - rate) * norm;
    }
    factors[i] = wanted / (kNormEpsilon + norm);
  }
  ForEach([&](int64_t i, int64_t norm) { w[i] *= factors[static_cast<size_t>(norm)]; });
}

}  // namespace hopper
