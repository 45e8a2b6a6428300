// Columns that alone tell the label: suspects of target leakage, as of a column that was filled in
// when the label was known.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/schema.h"

namespace hopper {

struct Leak {
  int column = 0;  // of Schema::columns()
  // Of the rows that nothing was learnt of: the share whose class is told, by the column and by the
  // most frequent class; of numbers the share of the variance of their ranks, of which a constant
  // tells 0.
  double share = 0.0;
  double guess = 0.0;
};

// Learns of every second of `n` encoded rows (schema.width() floats each) what a value of a column,
// or of many different numbers a 256th of their order, says of the label, and looks at the others.
// A column is a suspect where of what the guess lacks it lacks less than a hundredth. `labels`:
// classes from 0 to below `classes`, or numbers (`classes` 0). Arrays and words are passed over,
// and so are labels of fewer than 100 rows.
std::vector<Leak> FindLeaks(const Schema& schema, const float* rows, int64_t n,
                            const std::vector<double>& labels, int64_t classes);

}  // namespace hopper
