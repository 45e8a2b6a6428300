#include "optim/gradient_rows.h"

#include <algorithm>
#include <iterator>

namespace hopper {

namespace {

thread_local GradientRows* current_rows = nullptr;

}  // namespace

const GradientRows::Table* GradientRows::Find(int64_t offset) const {
  const auto table = std::find_if(tables_.begin(), tables_.end(),
                                  [&](const Table& one) { return one.offset == offset; });
  return table == tables_.end() ? nullptr : &*table;
}

void GradientRows::Add(int64_t offset, int64_t width, std::vector<int64_t> rows, float* gradients) {
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  auto table = std::find_if(tables_.begin(), tables_.end(),
                            [&](const Table& one) { return one.offset == offset; });
  if (table == tables_.end()) table = tables_.insert(table, Table{offset, width, {}});
  std::vector<int64_t> all;
  all.reserve(table->rows.size() + rows.size());
  auto known = table->rows.begin();
  for (const int64_t row : rows) {
    const auto from = known;
    known = std::lower_bound(known, table->rows.end(), row);
    all.insert(all.end(), from, known);
    if (known != table->rows.end() && *known == row) continue;
    std::fill_n(gradients + offset + row * width, width, 0.0F);
    all.push_back(row);
  }
  all.insert(all.end(), known, table->rows.end());
  table->rows = std::move(all);
}

bool TakesRows(const OptimizerParams& optimizer, const std::vector<TrainableSpan>& spans) {
  if (KernelAt(KernelPlace(optimizer)).by_norms || optimizer.clipnorm ||
      optimizer.global_clipnorm) {
    return false;
  }
  return std::all_of(spans.begin(), spans.end(),
                     [](const TrainableSpan& span) { return span.l1 == 0.0 && span.l2 == 0.0; });
}

GradientRowsScope::GradientRowsScope(GradientRows* rows) { current_rows = rows; }

GradientRowsScope::~GradientRowsScope() { current_rows = nullptr; }

GradientRows* GradientRowsScope::Current() { return current_rows; }

}  // namespace hopper
