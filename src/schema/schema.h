// A schema: what becomes of a table's columns before a network reads them. It is made of the rows
// to train on, stored as JSON with the packed table and with each model, and the same code encodes
// rows by it in packing and in prediction.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "schema/column.h"
#include "schema/label.h"
#include "schema/treatment.h"

namespace hopper {

// A column that is to be a feature, before anything is known of its values.
struct ColumnRequest {
  std::string name;
  std::string sql_type;
  Family family = Family::kNumber;
  const Treatment* treatment = nullptr;  // null: by family and number of values
  bool is_dropped = false;               // "drop": the user leaves it out
  std::optional<NullRule> null_rule;     // by itself what the treatment and the values suggest
  TreatmentOptions options;
  Questions questions;
};

struct LabelRequest {
  std::string name;
  bool is_scaled = true;  // where it is a number, it is standardised
};

struct SchemaRequest {
  std::vector<ColumnRequest> columns;  // dropped ones included, in the table's order
  std::string source;                  // what messages call the table
  bool chosen_by_star = false;         // '*': columns that say nothing are left out, not refused
  std::vector<LabelRequest> labels;
};

// What the user should know of a schema, as a message, a detail and a hint.
using Note = Problem;

// How a row could not be encoded.
struct EncodeProblem {
  enum class Kind { kNone, kNull, kNotFinite, kLength };
  Kind kind = Kind::kNone;
  int column = 0;

  explicit operator bool() const { return kind != Kind::kNone; }
};

class Schema {
 public:
  static constexpr int kVersion = 1;
  static constexpr int64_t kMostSlots = 1000000;

  // Reads {"source": name, "columns": [{"name", "type", "family"}, ...], "treatments": {...} or
  // null, "star": bool, "labels": [name, ...], "passed_over": [name, ...]}, in which `passed_over`
  // are columns that may be dropped although they are no features, and `treatments` is what the
  // user wrote, by column a name of a treatment or an object: {"treatment", "null",
  // "min_frequency", "quantiles", "vocabulary", "length", "values", "standardize", "split",
  // "unknown", "mask", "bins", "salt"}; of a label "standardize" or "none". Throws all problems at
  // once.
  static SchemaRequest ReadRequest(const std::string& json);
  // Reads {"columns": [{"rows", "nulls", "nans", "bad", "values_found", "quantiles", "mean",
  // "deviation", "values", "words", "least_length", "largest_length"}, ...]}, one for each column
  // of the request that is not dropped, in its order; "values" is a list of pairs.
  static std::vector<Statistics> ReadStatistics(const std::string& json);
  // Makes a schema of the answers. Throws all problems at once; what is left out goes to `notes`.
  static Schema Make(const SchemaRequest& request, const std::vector<Statistics>& statistics,
                     std::vector<Note>* notes);

  // Makes a schema that needs no training rows, as those of a Keras model with its own
  // vocabularies; numbers that are NULL it refuses. Throws all problems at once.
  static Schema MakeComplete(const SchemaRequest& request);

  // Reads what ToJson() wrote. Throws (XX001) where it is damaged or of a later version.
  static Schema Parse(const std::string& json);
  std::string ToJson() const;

  const std::vector<Column>& columns() const { return columns_; }
  int64_t width() const { return width_; }
  const Label& label() const { return label_; }
  void set_label(Label label) { label_ = std::move(label); }

  // Writes width() floats; `cells` are those of columns(). On a problem `out` is undefined.
  EncodeProblem Encode(const Cell* cells, float* out) const;

  // A sentence for the first column that differs, as 'Column "age" is "robust" in "a" but "log" in
  // "b".', or "" where both encode every row alike.
  std::string Difference(const Schema& other, const std::string& name,
                         const std::string& other_name) const;
  // A sentence where ids or words of a column are others than those of `wanted`, a schema of one
  // column; how often values were in training rows does not count.
  std::string ColumnDiffers(size_t column, const Schema& wanted) const;

 private:
  void Finish();  // slots, places and the width, of complete columns

  std::vector<Column> columns_;
  Label label_;
  int64_t width_ = 0;
};

}  // namespace hopper
