#include "search/importance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/model_history.h"
#include "search/parzen.h"

namespace hopper {
namespace {

constexpr double kBestShare = 0.1;
constexpr double kMostCells = 50;  // of a range of numbers
constexpr double kPriorWeight = 1;
constexpr double kLeastDensity = 1e-12;
constexpr size_t kLeastTrials = 2;  // to which a parameter must apply
// 90 % of the narrowest kernel lie in a cell.
constexpr double kLeastWidth = 0.5 / 1.64;

double CellsOf(const Dimension& dimension) {
  if (dimension.kind == DimensionKind::kChoice) return static_cast<double>(dimension.Count());
  if (dimension.kind == DimensionKind::kInteger && dimension.scale == Scale::kLog) {
    return std::min(kMostCells, std::ceil(std::log2(dimension.high - dimension.low + 1)) + 1);
  }
  if (dimension.step > 0) return std::min(kMostCells, static_cast<double>(dimension.Count()));
  return kMostCells;
}

// How many of the values lie in each cell of the range.
std::vector<double> CountCells(const Dimension& dimension, const std::vector<double>& values) {
  const double cells = CellsOf(dimension);
  std::vector<double> counts(static_cast<size_t>(cells), 0.0);
  for (const double value : values) {
    double cell = value;
    if (dimension.kind != DimensionKind::kChoice) {
      const double low = Warped(dimension.scale, dimension.low);
      const double width = (Warped(dimension.scale, dimension.high) - low) / (cells - 1);
      cell = std::ceil((Warped(dimension.scale, value) - low) / width - 0.5);
    }
    ++counts[static_cast<size_t>(std::clamp(cell, 0.0, cells - 1))];
  }
  return counts;
}

// Scott's rule (1992) for cells that hold several each.
double WidthOf(const std::vector<double>& cells, const std::vector<double>& weights) {
  std::vector<double> cumulated(weights.size());
  std::partial_sum(weights.begin(), weights.end(), cumulated.begin());
  const double sum = cumulated.back();
  const double mean = std::inner_product(cells.begin(), cells.end(), weights.begin(), 0.0) / sum;
  double squares = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    squares += weights[i] * (cells[i] - mean) * (cells[i] - mean);
  }
  const double deviation = std::sqrt(squares / std::max(1.0, sum - 1));
  const auto first = std::lower_bound(cumulated.begin(), cumulated.end(), std::floor(sum / 4));
  const auto third = std::upper_bound(cumulated.begin(), cumulated.end(), std::floor(sum * 3 / 4));
  const size_t last = cells.size() - 1;
  const double between = cells[std::min(last, static_cast<size_t>(third - cumulated.begin()))] -
                         cells[static_cast<size_t>(first - cumulated.begin())];
  return std::max(kLeastWidth, 1.059 * std::min(between / 1.34, deviation) * std::pow(sum, -0.2));
}

// The density of each cell.
std::vector<double> DensityOf(const Dimension& dimension, const std::vector<double>& values) {
  const std::vector<double> counts = CountCells(dimension, values);
  const double n = static_cast<double>(counts.size());
  std::vector<double> cells;
  std::vector<double> weights;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    cells.push_back(static_cast<double>(i));
    weights.push_back(counts[i]);
  }
  const double sum = static_cast<double>(values.size()) + kPriorWeight;
  std::vector<double> density(counts.size(), kLeastDensity);
  if (dimension.kind == DimensionKind::kChoice) {
    const double share = kPriorWeight / (static_cast<double>(cells.size()) + 1);
    for (size_t i = 0; i < counts.size(); ++i) {
      density[i] += kPriorWeight / sum / n;
      for (size_t k = 0; k < cells.size(); ++k) {
        const double own = cells[k] == static_cast<double>(i) ? 1 : 0;
        density[i] += weights[k] / sum * (share + own) / (n * share + 1);
      }
    }
    return density;
  }
  const double width = WidthOf(cells, weights);
  const auto add = [&](double mu, double sigma, double weight) {
    const double all = NormalMass((-0.5 - mu) / sigma, (n - 0.5 - mu) / sigma);
    for (size_t i = 0; i < density.size(); ++i) {
      const double left = static_cast<double>(i) - 0.5;
      density[i] += weight / sum * NormalMass((left - mu) / sigma, (left + 1 - mu) / sigma) / all;
    }
  };
  for (size_t k = 0; k < cells.size(); ++k) add(cells[k], width, weights[k]);
  add((n - 1) / 2, n, kPriorWeight);
  return density;
}

}  // namespace

std::vector<ParameterImportance> ParameterImportances(const SearchJournal& journal, size_t enough) {
  const ModelHistory history = HistoryOf(journal, enough);
  std::vector<Standing> standings;
  std::vector<const SearchPoint*> points;
  for (size_t i = 0; i < history.finished.size(); ++i) {
    if (history.standings[i].grade == Standing::kFailed) continue;
    standings.push_back(history.standings[i]);
    points.push_back(&journal.trial(history.finished[i]).point);
  }
  std::vector<char> is_best(standings.size(), 0);
  if (!standings.empty()) {
    std::vector<Standing> sorted = standings;
    std::sort(sorted.begin(), sorted.end());
    const double place = std::ceil(kBestShare * static_cast<double>(sorted.size())) - 1;
    const Standing& cutoff = sorted[static_cast<size_t>(place)];
    for (size_t i = 0; i < standings.size(); ++i) is_best[i] = cutoff < standings[i] ? 0 : 1;
  }
  const double all = static_cast<double>(standings.size());
  const double best = static_cast<double>(std::count(is_best.begin(), is_best.end(), 1));
  std::vector<ParameterImportance> importances;
  double sum = 0;
  const SearchSpace& space = journal.space();
  for (size_t d = 0; d < space.size(); ++d) {
    const Dimension& dimension = space.dimensions()[d];
    if (dimension.Count() == 1) continue;
    std::vector<double> of_all;
    std::vector<double> of_best;
    for (size_t i = 0; i < points.size(); ++i) {
      const double value = (*points[i])[d];
      if (std::isnan(value)) continue;
      of_all.push_back(value);
      if (is_best[i] != 0) of_best.push_back(value);
    }
    ParameterImportance importance;
    importance.name = dimension.name;
    if (of_all.size() >= kLeastTrials && !of_best.empty() && best < all) {
      const std::vector<double> top = DensityOf(dimension, of_best);
      const std::vector<double> local = DensityOf(dimension, of_all);
      double divergence = 0;
      for (size_t i = 0; i < top.size(); ++i) {
        const double ratio = top[i] / local[i] - 1;
        divergence += local[i] * ratio * ratio;
      }
      const double alpha = static_cast<double>(of_best.size()) / best;
      const double beta = static_cast<double>(of_all.size()) / all;
      importance.importance = alpha * alpha / beta * divergence;
      sum += importance.importance;
    }
    importances.push_back(std::move(importance));
  }
  for (ParameterImportance& importance : importances) {
    if (sum > 0) importance.importance /= sum;
  }
  return importances;
}

}  // namespace hopper
