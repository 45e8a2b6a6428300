// Gradients of tables of which a step reads few rows, as an Embedding of many ids does. Where a
// weight without a gradient stays as it is, such a step neither clears nor updates the other rows.
#pragma once

#include <cstdint>
#include <vector>

#include "optim/optimizer.h"

namespace hopper {

// The rows that have a gradient in this step. Floats of other rows in the gradient buffer mean
// nothing.
class GradientRows {
 public:
  struct Table {
    int64_t offset = 0;         // of the table in the parameter and gradient buffers
    int64_t width = 0;          // floats of a row
    std::vector<int64_t> rows;  // ascending, each once
  };
  // Null: the table at this offset has a gradient everywhere.
  const Table* Find(int64_t offset) const;
  // Adds rows (in any order, also several times) to those of a table, which is made if there is
  // none, and clears their gradients but for those that the table had already.
  void Add(int64_t offset, int64_t width, std::vector<int64_t> rows, float* gradients);
  void Clear() { tables_.clear(); }

 private:
  std::vector<Table> tables_;  // few
};

// Whether an optimizer takes gradients as rows: without penalties, which give each weight a
// gradient, and without norms of gradients or updates.
bool TakesRows(const OptimizerParams& optimizer, const std::vector<TrainableSpan>& spans);

// From its start to its end, the backward pass of this thread may give a table's gradient as rows,
// and ApplyOptimizer(), if the optimizer TakesRows(), reads those alone. One a thread; null: none.
class GradientRowsScope {
 public:
  explicit GradientRowsScope(GradientRows* rows);
  ~GradientRowsScope();
  GradientRowsScope(const GradientRowsScope&) = delete;
  GradientRowsScope& operator=(const GradientRowsScope&) = delete;

  // What the calling thread's scope holds; null: none.
  static GradientRows* Current();
};

}  // namespace hopper
