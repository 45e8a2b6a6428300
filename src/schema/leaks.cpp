#include "schema/leaks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <unordered_map>

#include "base/cancel.h"

namespace hopper {
namespace {

constexpr int64_t kFewestRows = 100;
constexpr size_t kMostBins = 256;
constexpr size_t kFewestInBin = 20;
constexpr double kLackAllowed = 0.01;
// Rows that the guess gets wrong, so that a column can show that it knows more.
constexpr double kFewestWrong = 10;

using Groups = std::vector<int64_t>;  // by row

// Numbers by their place in the order of all, about as many rows in a bin as in any other. A number
// of more rows than that has a bin for itself.
Groups BinsOf(const std::vector<float>& values) {
  std::vector<float> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const size_t bins = std::clamp<size_t>(sorted.size() / kFewestInBin, 2, kMostBins);
  std::vector<float> bounds;
  std::vector<char> fills_a_bin;
  for (size_t i = 1; i < bins; ++i) {
    const float bound = sorted[i * sorted.size() / bins];
    if (!bounds.empty() && bound == bounds.back()) {
      fills_a_bin.back() = 1;
      continue;
    }
    bounds.push_back(bound);
    fills_a_bin.push_back(0);
  }
  Groups groups;
  for (const float value : values) {
    const auto bound = std::lower_bound(bounds.begin(), bounds.end(), value);
    const auto place = bound - bounds.begin();
    const bool alone =
        bound != bounds.end() && *bound == value && fills_a_bin[static_cast<size_t>(place)] != 0;
    groups.push_back(2 * place + (alone ? 1 : 0));
  }
  return groups;
}

// What a column says of each row; none where it is passed over.
Groups GroupsOf(const Column& column, const float* rows, int64_t n, int64_t width, int64_t first) {
  int64_t number = -1;  // of a time the first one, its trend
  int64_t missing = -1;
  if (column.family == Family::kNumbers) return {};
  for (size_t i = 0; i < column.slots.size(); ++i) {
    const SlotKind kind = column.slots[i].kind;
    if (kind == SlotKind::kWord) return {};
    if (kind == SlotKind::kIndicator) missing = first + static_cast<int64_t>(i);
    if (kind == SlotKind::kNumber && number < 0) number = first + static_cast<int64_t>(i);
  }
  Groups groups(static_cast<size_t>(n));
  if (number < 0) {
    for (int64_t row = 0; row < n; ++row) {
      const float* cells = rows + row * width + first;
      // An id, or the place of the one among zeros.
      const bool is_id = column.slots.size() == 1;
      int64_t group = is_id ? static_cast<int64_t>(cells[0]) : -1;
      for (size_t i = 0; i < column.slots.size() && !is_id; ++i) {
        if (cells[i] > 0.5F) group = static_cast<int64_t>(i);
      }
      groups[static_cast<size_t>(row)] = group;
    }
    return groups;
  }
  std::vector<float> values;
  for (int64_t row = 0; row < n; ++row) values.push_back(rows[row * width + number]);
  groups = BinsOf(values);
  for (int64_t row = 0; row < n && missing >= 0; ++row) {
    if (rows[row * width + missing] > 0.5F) groups[static_cast<size_t>(row)] = -1;
  }
  return groups;
}

std::vector<double> RanksOf(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = static_cast<double>(begin + end - 1) / 2;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
  }
  return ranks;
}

// Even rows are learnt of, odd ones looked at.
bool IsLearnt(size_t row) { return row % 2 == 0; }

// How many of the rows that are looked at have the class that is the most frequent of their group,
// or of all where that is new.
double RowsTold(const Groups& groups, const std::vector<double>& labels) {
  struct Counts {
    std::unordered_map<int64_t, int64_t> rows;
    int64_t leader = -1;
    int64_t most = 0;
    void Add(int64_t label) {
      const int64_t count = ++rows[label];
      if (count <= most) return;
      most = count;
      leader = label;
    }
  };
  std::unordered_map<int64_t, Counts> counts;
  Counts all;
  for (size_t row = 0; row < labels.size(); ++row) {
    if (!IsLearnt(row)) continue;
    counts[groups[row]].Add(static_cast<int64_t>(labels[row]));
    all.Add(static_cast<int64_t>(labels[row]));
  }
  double told = 0;
  for (size_t row = 0; row < labels.size(); ++row) {
    if (IsLearnt(row)) continue;
    const auto found = counts.find(groups[row]);
    const int64_t guess = found == counts.end() ? all.leader : found->second.leader;
    told += guess == static_cast<int64_t>(labels[row]) ? 1 : 0;
  }
  return told;
}

// The squared distances from the mean of their group, or of all where that is new.
double SquaresLeft(const Groups& groups, const std::vector<double>& labels) {
  std::unordered_map<int64_t, std::pair<double, int64_t>> sums;
  std::pair<double, int64_t> all;
  const auto add = [](std::pair<double, int64_t>* sum, double label) {
    sum->first += label;
    ++sum->second;
  };
  for (size_t row = 0; row < labels.size(); ++row) {
    if (!IsLearnt(row)) continue;
    add(&sums[groups[row]], labels[row]);
    add(&all, labels[row]);
  }
  double left = 0;
  for (size_t row = 0; row < labels.size(); ++row) {
    if (IsLearnt(row)) continue;
    const auto found = sums.find(groups[row]);
    const auto& [sum, count] = found == sums.end() ? all : found->second;
    const double distance = labels[row] - sum / static_cast<double>(count);
    left += distance * distance;
  }
  return left;
}

}  // namespace

std::vector<Leak> FindLeaks(const Schema& schema, const float* rows, int64_t n,
                            const std::vector<double>& labels, int64_t classes) {
  std::vector<Leak> leaks;
  if (n < kFewestRows) return leaks;
  const Groups nobody(static_cast<size_t>(n), 0);
  const std::vector<double> ranks = classes == 0 ? RanksOf(labels) : std::vector<double>();
  const int64_t half = n / 2;
  const auto looked_at = static_cast<double>(half);
  const double lacking =
      classes == 0 ? SquaresLeft(nobody, ranks) : looked_at - RowsTold(nobody, labels);
  if (classes == 0 ? lacking <= 0 : lacking < kFewestWrong) return leaks;
  int64_t first = 0;
  for (size_t i = 0; i < schema.columns().size(); ++i) {
    LookAtCancel();
    const Column& column = schema.columns()[i];
    const Groups groups = GroupsOf(column, rows, n, schema.width(), first);
    first += static_cast<int64_t>(column.slots.size());
    if (groups.empty()) continue;
    const double left =
        classes == 0 ? SquaresLeft(groups, ranks) : looked_at - RowsTold(groups, labels);
    if (left >= kLackAllowed * lacking) continue;
    const double whole = classes == 0 ? lacking : looked_at;
    leaks.push_back({static_cast<int>(i), 1 - left / whole, 1 - lacking / whole});
  }
  return leaks;
}

}  // namespace hopper
