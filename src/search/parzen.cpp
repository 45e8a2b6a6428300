#include "search/parzen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/matrix_blocks.h"

namespace hopper {
namespace {

constexpr size_t kFullWeight = 25;  // the last observations, whose weights are equal
constexpr double kPriorWeight = 1;
const double kLogRootTwoPi = 0.5 * std::log(2 * M_PI);
// Cells of a discrete dimension below this share of a width are summed up by a series.
constexpr double kNarrow = 0.1;
// exp() of less adds nothing to one, from a thousand kernels.
constexpr double kNegligible = -32;
constexpr double kNone = -std::numeric_limits<double>::infinity();

// The logarithm of the mean of exp(-x^2 / 2) over a cell around z, over its value at z: the series
// in the cell's width, and that of the logarithm.
double NarrowCell(double zz, double ww) {
  const double t = ww * ((zz - 1) / 24 + ww * (zz * zz - 6 * zz + 3) / 1920);
  return t - t * t * (0.5 - t / 3);
}

double LogMass(double a, double b) { return std::log(NormalMass(a, b)); }

// Places of values from the smallest on; equals keep their order.
using Sorted = std::vector<std::pair<double, uint32_t>>;

Sorted SortedValues(const std::vector<double>& values, double low, double high) {
  // Into as many buckets as there are values, so that few are left to compare.
  const double last = static_cast<double>(values.size()) - 1;
  const double scale = last / (high - low);
  std::vector<uint32_t> bucket(values.size());
  std::vector<uint32_t> begin(values.size() + 1, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    bucket[i] = static_cast<uint32_t>(std::clamp((values[i] - low) * scale, 0.0, last));
    ++begin[bucket[i] + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  Sorted sorted(values.size());
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  for (size_t i = 0; i < values.size(); ++i) {
    sorted[next[bucket[i]]++] = {values[i], static_cast<uint32_t>(i)};
  }
  const auto at = [&sorted](uint32_t i) { return sorted.begin() + static_cast<std::ptrdiff_t>(i); };
  for (size_t b = 0; b < values.size(); ++b) {
    if (begin[b + 1] - begin[b] > 1) std::sort(at(begin[b]), at(begin[b + 1]));
  }
  return sorted;
}

// Watanabe's heuristics: the farther of two neighbours, the ends of the range being none unless
// there is one point only.
std::vector<double> Widths(const Sorted& sorted, double low, double high) {
  const size_t n = sorted.size();
  const double smallest = (high - low) / std::min(100.0, 2.0 + static_cast<double>(n));
  std::vector<double> sigmas(n);
  for (size_t i = 0; i < n; ++i) {
    const double mu = sorted[i].first;
    const double before = i > 0 ? mu - sorted[i - 1].first : n > 1 ? 0 : mu - low;
    const double after = i + 1 < n ? sorted[i + 1].first - mu : n > 1 ? 0 : high - mu;
    sigmas[sorted[i].second] = std::clamp(std::max(before, after), smallest, high - low);
  }
  return sigmas;
}

}  // namespace

double NormalMass(double a, double b) {
  // From the side where the tails are small, so that nothing is lost to one.
  if (a > 0) return 0.5 * (std::erfc(a * M_SQRT1_2) - std::erfc(b * M_SQRT1_2));
  if (b < 0) return 0.5 * (std::erfc(-b * M_SQRT1_2) - std::erfc(-a * M_SQRT1_2));
  // Beyond it nothing is left beside one.
  constexpr double kWhole = 8.5;
  const double below = a < -kWhole ? 0 : std::erfc(-a * M_SQRT1_2);
  return 1 - 0.5 * (below + (b > kWhole ? 0 : std::erfc(b * M_SQRT1_2)));
}

double TruncatedNormalQuantile(double u, double a, double b) {
  const double wanted = u * NormalMass(a, b);
  double low = std::max(a, -40.0);
  double high = std::min(b, 40.0);
  double x = std::clamp(0.0, low, high);
  // Newton's steps, kept within what is known.
  for (int i = 0; i < 60; ++i) {
    const double off = NormalMass(a, x) - wanted;
    (off > 0 ? high : low) = x;
    const double density = std::exp(-0.5 * x * x - kLogRootTwoPi);
    double next = x - off / density;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - x) <= 1e-12 * std::max(1.0, std::abs(x))) return next;
    x = next;
  }
  return x;
}

ParzenEstimator::ParzenEstimator(const SearchSpace& space,
                                 const std::vector<const SearchPoint*>& observations)
    : space_(space), kernels_(observations.size() + 1) {
  const size_t n = observations.size();
  double sum = kPriorWeight;
  std::vector<double> weights;
  for (size_t i = 0; i < n; ++i) {
    double weight = 1;
    if (n > kFullWeight && i < n - kFullWeight) {
      // From 1/n to 1 in even steps.
      const double first = 1.0 / static_cast<double>(n);
      const double last = static_cast<double>(n - kFullWeight - 1);
      weight = last == 0 ? first : first + (1 - first) * static_cast<double>(i) / last;
    }
    weights.push_back(weight);
    sum += weight;
  }
  weights.push_back(kPriorWeight);
  double cumulated = 0;
  for (const double weight : weights) {
    cumulated += weight / sum;
    cumulated_.push_back(cumulated);
    log_weight_.push_back(std::log(weight / sum));
  }
  // Points lie all over the memory: each is visited once.
  std::vector<std::vector<double>> columns(space.size(), std::vector<double>(n));
  for (size_t i = 0; i < n; ++i) {
    for (size_t d = 0; d < space.size(); ++d) columns[d][i] = (*observations[i])[d];
  }
  for (const size_t d : space.order()) {
    const Dimension& dimension = space.dimensions()[d];
    if (dimension.Count() == 1) continue;
    Axis axis;
    axis.dimension = d;
    axis.choice = dimension.kind == DimensionKind::kChoice;
    if (axis.choice) {
      FillChoices(columns[d], dimension, &axis);
    } else {
      FillNumbers(columns[d], dimension, &axis);
    }
    axes_.push_back(std::move(axis));
  }
}

void ParzenEstimator::FillChoices(const std::vector<double>& values, const Dimension& dimension,
                                  Axis* axis) const {
  const double prior = static_cast<double>(dimension.choices.size());
  double applies = 0;
  for (const double value : values) {
    axis->same.push_back(static_cast<uint32_t>(std::isnan(value) ? prior : value));
    applies += std::isnan(value) ? 0 : 1;
  }
  axis->same.push_back(static_cast<uint32_t>(prior));
  const double choices = static_cast<double>(dimension.choices.size());
  const double share = kPriorWeight / (applies + 1);
  axis->log_hit = std::log((share + 1) / (choices * share + 1));
  axis->log_miss = std::log(share / (choices * share + 1));
  axis->log_prior = -std::log(choices);
}

void ParzenEstimator::FillNumbers(const std::vector<double>& values, const Dimension& dimension,
                                  Axis* axis) const {
  axis->discrete = dimension.IsDiscrete();
  const double half = dimension.step / 2;
  axis->low = Warped(dimension.scale, dimension.low - half);
  axis->high = Warped(dimension.scale, dimension.high + half);
  std::vector<double> mus;
  for (const double value : values) {
    if (!std::isnan(value)) mus.push_back(Warped(dimension.scale, value));
  }
  const Sorted sorted = SortedValues(mus, axis->low, axis->high);
  const std::vector<double> sigmas = Widths(sorted, axis->low, axis->high);
  const double middle = 0.5 * (axis->low + axis->high);
  size_t next = 0;
  for (std::vector<double>* of : {&axis->mu, &axis->sigma, &axis->inverse, &axis->norm}) {
    of->reserve(kernels_);
  }
  for (size_t k = 0; k < kernels_; ++k) {
    const bool applies = k + 1 < kernels_ && !std::isnan(values[k]);
    axis->mu.push_back(applies ? mus[next] : middle);
    axis->sigma.push_back(applies ? sigmas[next] : axis->high - axis->low);
    next += applies ? 1 : 0;
    axis->inverse.push_back(1 / axis->sigma.back());
  }
  if (!axis->discrete) {
    // Most widths are the smallest one, and lose nothing at the ends: one logarithm for them.
    double scale = 1;
    double log_scale = 0;
    for (size_t k = 0; k < kernels_; ++k) {
      const double inverse = axis->inverse[k];
      const double next_scale = axis->sigma[k] * NormalMass((axis->low - axis->mu[k]) * inverse,
                                                            (axis->high - axis->mu[k]) * inverse);
      if (next_scale != scale) {
        scale = next_scale;
        log_scale = std::log(scale);
      }
      axis->norm.push_back(-kLogRootTwoPi - log_scale);
    }
    return;
  }
  const auto add = [axis](double mu, double sigma) {
    axis->same_mu.push_back(mu);
    axis->same_inverse.push_back(1 / sigma);
    axis->same_log_mass.push_back(LogMass((axis->low - mu) / sigma, (axis->high - mu) / sigma));
    axis->same_norm.push_back(axis->same_log_mass.back() + std::log(sigma));
  };
  add(middle, axis->high - axis->low);  // the prior's, and where the dimension does not apply
  std::vector<uint32_t> same(mus.size());
  size_t first = 0;  // of those with the same mu
  for (size_t i = 0; i < sorted.size(); ++i) {
    const double mu = sorted[i].first;
    const double inverse = 1 / sigmas[sorted[i].second];
    if (i == 0 || mu != sorted[i - 1].first) first = axis->same_mu.size();
    size_t at = first;
    while (at < axis->same_mu.size() && axis->same_inverse[at] != inverse) ++at;
    if (at == axis->same_mu.size()) add(mu, sigmas[sorted[i].second]);
    same[sorted[i].second] = static_cast<uint32_t>(at);
  }
  next = 0;
  for (size_t k = 0; k < kernels_; ++k) {
    const bool applies = k + 1 < kernels_ && !std::isnan(values[k]);
    axis->same.push_back(applies ? same[next++] : 0);
  }
}

double ParzenEstimator::DrawOf(const Axis& axis, size_t kernel, double u, double width) const {
  const Dimension& dimension = space_.dimensions()[axis.dimension];
  if (axis.choice) {
    const double chosen = axis.same[kernel];
    const double count = static_cast<double>(dimension.choices.size());
    if (chosen == count) return std::min(std::floor(u * count), count - 1);
    const double hit = std::exp(axis.log_hit);
    if (u < hit) return chosen;
    const double other = std::min(std::floor((u - hit) / (1 - hit) * (count - 1)), count - 2);
    return other < chosen ? other : other + 1;
  }
  const double mu = axis.mu[kernel];
  const double sigma = std::min(axis.sigma[kernel] * width, axis.high - axis.low);
  const double z = TruncatedNormalQuantile(u, (axis.low - mu) / sigma, (axis.high - mu) / sigma);
  return dimension.Nearest(Unwarped(dimension.scale, mu + sigma * z));
}

SearchPoint ParzenEstimator::Sample(const Philox& random, uint64_t first, double width) const {
  const double u = random.UniformDouble(first);
  size_t kernel = 0;
  while (kernel + 1 < kernels_ && cumulated_[kernel] < u) ++kernel;
  std::vector<const Axis*> of(space_.size(), nullptr);
  for (const Axis& axis : axes_) of[axis.dimension] = &axis;
  return space_.Fill([&](size_t d) {
    if (of[d] == nullptr) return space_.dimensions()[d].At(0);
    return DrawOf(*of[d], kernel, random.UniformDouble(first + 1 + d), width);
  });
}

// The logarithm of each kernel's share of the cell of a value.
std::vector<double> ParzenEstimator::CellsOf(const Axis& axis, const Dimension& dimension,
                                             double value) {
  const double left = Warped(dimension.scale, value - dimension.step / 2);
  const double right = Warped(dimension.scale, value + dimension.step / 2);
  std::vector<double> cells(axis.same_mu.size());
  const double log_cell = std::log(right - left) - kLogRootTwoPi;
  for (size_t s = 0; s < cells.size(); ++s) {
    const double inverse = axis.same_inverse[s];
    const double width = (right - left) * inverse;
    if (width < kNarrow) {
      const double z = (0.5 * (left + right) - axis.same_mu[s]) * inverse;
      cells[s] = log_cell - axis.same_norm[s] - 0.5 * z * z + NarrowCell(z * z, width * width);
    } else {
      cells[s] = LogMass((left - axis.same_mu[s]) * inverse, (right - axis.same_mu[s]) * inverse) -
                 axis.same_log_mass[s];
    }
  }
  return cells;
}

double ParzenEstimator::LogDensity(const SearchPoint& point) const {
  std::vector<double> log_density = log_weight_;
  for (const Axis& axis : axes_) {
    const double value = point[axis.dimension];
    if (std::isnan(value)) continue;
    double* sums = log_density.data();
    const Dimension& dimension = space_.dimensions()[axis.dimension];
    if (!axis.choice && !axis.discrete) {
      const double x = Warped(dimension.scale, value);
      const double* mu = axis.mu.data();
      const double* inverse = axis.inverse.data();
      const double* norm = axis.norm.data();
      for (size_t k = 0; k < kernels_; ++k) {
        const double z = (x - mu[k]) * inverse[k];
        sums[k] += norm[k] - 0.5 * z * z;
      }
      continue;
    }
    if (axis.choice) {
      // Without a list of them: there may be very many.
      const auto chosen = static_cast<uint32_t>(value);
      const auto prior = static_cast<uint32_t>(dimension.choices.size());
      for (size_t k = 0; k < kernels_; ++k) {
        const uint32_t same = axis.same[k];
        sums[k] += same == chosen ? axis.log_hit : same == prior ? axis.log_prior : axis.log_miss;
      }
      continue;
    }
    std::vector<double>& cells = axis.cells[value];
    if (cells.empty()) cells = CellsOf(axis, dimension, value);
    for (size_t k = 0; k < kernels_; ++k) sums[k] += cells[axis.same[k]];
  }
  const Eigen::Map<const Eigen::ArrayXd> shares(log_density.data(),
                                                static_cast<Eigen::Index>(log_density.size()));
  const double largest = shares.maxCoeff();
  if (largest == kNone) return kNone;
  double sum = 0;
  for (const double value : log_density) {
    if (value - largest > kNegligible) sum += std::exp(value - largest);
  }
  return largest + std::log(sum);
}

}  // namespace hopper
