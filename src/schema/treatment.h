// What is done with a column's values before a network reads them. Each treatment has a file of its
// own in treatments/, with a struct that derives from Treatment, and a row in table.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schema/column.h"

namespace hopper {

// What is to be asked about a column's values in the training rows.
struct Questions {
  // Quantiles at these fractions, interpolated linearly between the two nearest values, of the
  // values or, with `of_logs`, of sign(x) ln(1 + |x|).
  std::vector<double> fractions;
  bool of_logs = false;
  bool moments = false;  // mean, and standard deviation of all rows (not of a sample)
  // Each value as text with its number of rows, those below `least_rows` left out.
  bool values = false;
  int64_t least_rows = 2;
  // The values are words. What SQL's translate() is to do before they are split at blanks: letters,
  // and what stands for each; those without are left out.
  bool words = false;
  std::string letters;
  std::string stand_ins;
  bool lengths = false;  // of arrays
};

// The answers; of arrays all are about their lengths.
struct Statistics {
  int64_t n_rows = 0;
  int64_t n_nulls = 0;
  int64_t n_nans = 0;    // of the NULLs: what is NaN counts as one
  int64_t n_bad = 0;     // infinite
  int64_t n_values = 0;  // how many different ones; 0: not asked
  std::vector<double> quantiles;
  double mean = 0.0;
  double deviation = 0.0;
  std::vector<std::pair<std::string, int64_t>> values;
  int64_t n_words = 0;  // of all texts together
  int64_t least_length = 0;
  int64_t largest_length = 0;
};

// What the user said about a column, over the defaults.
struct TreatmentOptions {
  int64_t min_frequency = 0;  // rows that a category must have; 0: by itself
  int64_t n_quantiles = 1000;
  int64_t vocabulary = 10000;  // ids of words, padding and unknown words among them
  int64_t length = 0;          // words that are kept of a text, numbers of an array; 0: not said
  WordRules words;
  IdRules ids;
  // Categories or words that have ids, in the order of these: a vocabulary of Keras' layers. Empty:
  // those of the training rows.
  std::vector<std::string> values;
};

// The least, the quartiles and the largest, by which all treatments of numbers begin.
inline const std::vector<double> kQuartiles = {0.0, 0.25, 0.5, 0.75, 1.0};
enum QuartileAt { kLeast, kLowerQuartile, kMedianQuartile, kUpperQuartile, kLargest };

class Treatment {
 public:
  virtual ~Treatment() = default;

  virtual const char* Name() const = 0;
  virtual bool Takes(Family family) const = 0;
  virtual CellKind Reads() const { return CellKind::kNumber; }
  // Whether NULL is a value as any other for Encode(); else it gets the column's fill.
  virtual bool IsCategory() const { return false; }
  // Whether it makes words of texts: the categories are these.
  virtual bool IsOfWords() const { return false; }
  // Whether it must be told how many words count.
  virtual bool NeedsLength() const { return false; }
  // Whether it knows categories (words) one by one, and not by what they are made of.
  virtual bool HasValues() const { return IsCategory(); }
  // Whether the options say all that it needs, so that no training rows are asked.
  virtual bool IsComplete(const TreatmentOptions& options) const {
    return HasValues() && !options.values.empty();
  }
  virtual size_t MostValues() const { return 0; }
  virtual void Ask(const TreatmentOptions& options, Questions* questions) const = 0;
  // Makes parameters, values and so on of the answers. No slots.
  virtual void Fit(const Statistics& statistics, const TreatmentOptions& options,
                   Column* column) const = 0;
  // Names of Column::parameters, in their order.
  virtual std::vector<const char*> Parameters() const { return {}; }
  // Whether the parameters are possible ones: a stored schema may be damaged.
  virtual bool IsSound(const Column& column) const {
    return column.parameters.size() == Parameters().size();
  }
  // Appends the column's slots but the indicator of NULL. By itself the value's own.
  virtual void AddSlots(const Column& column, std::vector<Slot>* slots) const {
    slots->push_back({SlotKind::kNumber, column.name, 0});
  }
  // Writes as many numbers as AddSlots() has slots.
  virtual void Encode(const Column& column, const Cell& cell, float* out) const = 0;
};

// All of them, and the one of that name or null.
const std::vector<const Treatment*>& Treatments();
const Treatment* FindTreatment(std::string_view name);

// Treatments of numbers, times and booleans, one number each.
class NumberTreatment : public Treatment {
 public:
  bool Takes(Family family) const override {
    return family != Family::kText && family != Family::kNumbers;
  }
  void Ask(const TreatmentOptions& /*options*/, Questions* questions) const override {
    questions->fractions = kQuartiles;
  }
  void Encode(const Column& column, const Cell& cell, float* out) const override {
    *out = static_cast<float>(Value(column, cell.number));
  }
  virtual double Value(const Column& column, double number) const = 0;
};

// Treatments of categories: which values have slots of their own.
class CategoryTreatment : public Treatment {
 public:
  // With more slots than these categories are indexes for an embedding (RealMLP's default).
  static constexpr int kMostOneHot = 9;
  static constexpr size_t kMostValues = 10000;

  bool Takes(Family family) const override {
    return family == Family::kText || family == Family::kInteger || family == Family::kBoolean;
  }
  CellKind Reads() const override { return CellKind::kText; }
  bool IsCategory() const override { return true; }
  size_t MostValues() const override { return kMostValues; }
  void Ask(const TreatmentOptions& options, Questions* questions) const override;
  void Fit(const Statistics& statistics, const TreatmentOptions& options,
           Column* column) const override;
};

// Gives the column the values that the user wrote; n_other is what `n` rows or words have beside
// them, as far as the survey has listed these.
void TakeGivenValues(const Statistics& statistics, const TreatmentOptions& options, int64_t n,
                     Column* column);

}  // namespace hopper
