// What a model is to learn of one example: one label, or several that have names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hopper {

// The numbers are those of the C boundary, and stored in packed tables.
enum class LabelKind : int32_t {
  kClass = 1,  // one class index a row, an integer
  kValue = 2,  // a number a row (regression)
  kArray = 3,  // an array a row: one-hot, several targets, soft labels
};

struct LabelRange {
  double least = 0.0;
  double largest = 0.0;
};

struct DataOutput {
  std::string name;    // of the architecture's output; a single output needs none
  std::string column;  // of the labels, for messages
  LabelKind kind = LabelKind::kValue;
  std::vector<int64_t> shape;  // of arrays
  int32_t num_classes = 0;
  // In the order of the classes, perhaps not of all; none for the class of SQL's NULL.
  std::vector<std::optional<std::string>> class_values;
  std::vector<int64_t> class_counts;  // rows of each class; empty: not known
  std::optional<LabelRange> range;    // of numbers as they are packed; none: not known
  double unit = 0.0;  // what 1 is in the unit of labels that were scaled; 0: they were not
  std::optional<LabelRange> bounds;  // of these: what predictions are cut to, as they are packed
  int64_t first = 0;                 // its place among the labels of an example
  int64_t size = 1;                  // values there

  // The classes that are not SQL's NULL.
  std::vector<std::string> ClassNames() const;
};

// The labels of a model's output: a place among `outputs`, or nothing. They are found
// by its name; the only ones are those of the only output, whatever their name.
std::optional<size_t> LabelsOf(const std::string& output, size_t n_model_outputs,
                               const std::vector<DataOutput>& outputs);

}  // namespace hopper
