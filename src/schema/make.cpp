// A schema of what the survey of the training rows found.
#include <cctype>
#include <cmath>

#include "schema/schema.h"
#include "schema/treatments/one_hot.h"

namespace hopper {
namespace {

// One column on its way into the schema.
class Maker {
 public:
  Maker(const SchemaRequest& request, std::vector<Problem>* problems, std::vector<Note>* notes)
      : request_(request), problems_(problems), notes_(notes) {}

  // No column where it is left out or refused.
  std::optional<Column> Make(const ColumnRequest& asked, const Statistics& found) {
    const Treatment* treatment = TreatmentOf(asked);
    if (!Check(asked, found, *treatment)) return std::nullopt;
    Column column;
    column.name = asked.name;
    column.sql_type = asked.sql_type;
    column.family = asked.family;
    column.n_rows = found.n_rows;
    column.n_nulls = found.n_nulls;
    if (found.quantiles.size() == kQuartiles.size()) column.fill = found.quantiles[kMedianQuartile];
    treatment->Fit(found, asked.options, &column);
    column.treatment = treatment;
    if (treatment->HasValues()) {
      if (column.values.empty()) {
        if (treatment->IsOfWords()) {
          LeaveOut(asked, "holds no word often enough", "",
                   "Leave it out, or pass a smaller min_frequency.");
        } else {
          LeaveOut(
              asked, "holds no category often enough", Frequencies(found),
              "Leave a key out. For prose write {\"treatment\": \"words\", \"length\": 100}, for "
              "rare categories a smaller min_frequency.");
        }
        return std::nullopt;
      }
      if (asked.treatment == nullptr &&
          OneHotTreatment::CountSlots(column) > CategoryTreatment::kMostOneHot) {
        return Make(WithIndex(asked), found);
      }
    }
    column.null_rule = asked.null_rule.value_or(DefaultNullRule(*treatment, found));
    if (treatment->IsCategory() && column.null_rule == NullRule::kRefuse) {
      column.has_null_value = false;
    }
    return column;
  }

 private:
  static const Treatment* TreatmentOf(const ColumnRequest& asked) {
    return asked.treatment != nullptr ? asked.treatment : DefaultTreatment(asked.family);
  }

  // A gap that only rows for validation or for prediction have is no reason to end there: it is
  // the median, without an indicator, which training would never have seen at 1.
  static NullRule DefaultNullRule(const Treatment& treatment, const Statistics& found) {
    if (treatment.IsCategory()) return NullRule::kCategory;
    if (found.n_nulls > 0) return NullRule::kIndicator;
    return treatment.Reads() == CellKind::kNumber ? NullRule::kMedian : NullRule::kRefuse;
  }

  static const Treatment* DefaultTreatment(Family family) {
    switch (family) {
      case Family::kText:
        return FindTreatment("one_hot");
      case Family::kDate:
      case Family::kTimestamp:
        return FindTreatment("calendar");
      case Family::kBoolean:
        return FindTreatment("none");
      case Family::kNumbers:
        return FindTreatment("array");
      default:
        return FindTreatment("robust");
    }
  }

  static ColumnRequest WithIndex(const ColumnRequest& asked) {
    ColumnRequest indexed = asked;
    indexed.treatment = FindTreatment("index");
    return indexed;
  }

  static std::string Frequencies(const Statistics& found) {
    std::string text = "It has ";
    if (found.n_values > 0) text += std::to_string(found.n_values) + " values in ";
    return text + std::to_string(found.n_rows) + " rows.";
  }

  static std::string Named(const ColumnRequest& asked) { return "column \"" + asked.name + "\""; }
  std::string Refused(const ColumnRequest& asked, const std::string& why) const {
    return Named(asked) + " of \"" + request_.source + "\" " + why;
  }

  // Of '*' a column that cannot be used is left out and told, of a list it is refused.
  void LeaveOut(const ColumnRequest& asked, const std::string& why, const std::string& detail,
                const std::string& hint) {
    if (request_.chosen_by_star) {
      notes_->push_back(
          {ErrorCode::kInvalidParameter, Named(asked) + " is left out: it " + why, detail, hint});
    } else {
      problems_->push_back({ErrorCode::kInvalidParameter, Refused(asked, why), detail, hint});
    }
  }

  void Refuse(const ColumnRequest& asked, const std::string& why, const std::string& hint) {
    problems_->push_back({ErrorCode::kInvalidParameter, Refused(asked, why), "", hint});
  }

  // Whether the values can be used at all; a constant column is left out whoever chose it.
  bool Check(const ColumnRequest& asked, const Statistics& found, const Treatment& treatment) {
    if (found.n_nulls == found.n_rows) {
      LeaveOut(asked,
               found.n_nans == 0              ? "holds nothing but NULL"
               : found.n_nans == found.n_rows ? "holds nothing but NaN"
                                              : "holds nothing but NULL and NaN",
               found.n_nans == 0 ? "" : "NaN counts as NULL.",
               request_.chosen_by_star ? "" : "Leave it out.");
      return false;
    }
    if (found.n_nans > 0) {
      notes_->push_back({ErrorCode::kInvalidParameter,
                         Named(asked) + " holds NaN in " + std::to_string(found.n_nans) +
                             (found.n_nans == 1 ? " row" : " rows") + ", which counts as NULL",
                         "", ""});
    }
    if (found.n_bad > 0) {
      Refuse(asked,
             "holds " + std::to_string(found.n_bad) +
                 (found.n_bad == 1 ? " value that is" : " values that are") + " infinite",
             "Make NULL or a number of them in a view.");
      return false;
    }
    if (asked.null_rule == NullRule::kRefuse && found.n_nulls > 0) {
      Refuse(asked,
             "holds NULL in " + std::to_string(found.n_nulls) +
                 (found.n_nulls == 1 ? " row" : " rows") + ", which its treatment refuses",
             "Pass \"null\": \"indicator\" or leave \"null\" out.");
      return false;
    }
    if (found.least_length != found.largest_length) {
      Refuse(asked,
             "holds arrays of " + std::to_string(found.least_length) + " to " +
                 std::to_string(found.largest_length) + " elements",
             "Make arrays of one length of them in a view.");
      return false;
    }
    if (treatment.Reads() == CellKind::kNumbers && found.n_nulls > 0) {
      Refuse(asked, "holds NULL, which an array cannot be", "Leave such rows out in a view.");
      return false;
    }
    const bool is_constant =
        treatment.HasValues()
            ? found.n_values == 1 && !treatment.IsOfWords() && asked.options.values.empty()
            : found.quantiles.size() > 1 && found.quantiles.front() == found.quantiles.back();
    if (is_constant && found.n_nulls == 0) {
      notes_->push_back({ErrorCode::kInvalidParameter,
                         Named(asked) + " is left out: it holds one value only", "", ""});
      return false;
    }
    return true;
  }

  const SchemaRequest& request_;
  std::vector<Problem>* problems_;
  std::vector<Note>* notes_;
};

}  // namespace

Schema Schema::MakeComplete(const SchemaRequest& request) {
  std::vector<Problem> problems;
  Schema schema;
  for (const ColumnRequest& asked : request.columns) {
    if (asked.is_dropped) continue;
    Column column;
    column.name = asked.name;
    column.sql_type = asked.sql_type;
    column.family = asked.family;
    column.treatment = asked.treatment;
    if (column.treatment == nullptr || !column.treatment->IsComplete(asked.options)) {
      problems.push_back(
          {ErrorCode::kNotReady,
           "what becomes of column \"" + asked.name + "\" is to be learnt from rows to train on",
           "", "Pack a table, and train the model there."});
      continue;
    }
    column.treatment->Fit(Statistics(), asked.options, &column);
    column.has_null_value = false;
    column.null_rule = column.treatment->IsCategory() ? NullRule::kCategory : NullRule::kRefuse;
    schema.columns_.push_back(std::move(column));
  }
  if (!problems.empty()) throw Error(SummaryOf(problems));
  schema.Finish();
  return schema;
}

Schema Schema::Make(const SchemaRequest& request, const std::vector<Statistics>& statistics,
                    std::vector<Note>* notes) {
  std::vector<Problem> problems;
  Maker maker(request, &problems, notes);
  Schema schema;
  size_t at = 0;
  for (const ColumnRequest& asked : request.columns) {
    if (asked.is_dropped) continue;
    if (at == statistics.size()) {
      throw Error(ErrorCode::kInternal, "statistics of a column are missing");
    }
    const Statistics& found = statistics[at++];
    const bool quantiles_missing = found.quantiles.size() != asked.questions.fractions.size();
    if (quantiles_missing && found.n_nulls < found.n_rows) {
      throw Error(ErrorCode::kInternal, "quantiles of column \"" + asked.name + "\" are missing");
    }
    if (std::optional<Column> column = maker.Make(asked, found)) {
      schema.columns_.push_back(std::move(*column));
    }
  }
  if (problems.empty() && schema.columns_.empty()) {
    // They would be told after an error that comes now.
    std::string why;
    for (const Note& note : *notes) {
      std::string text = note.message;
      text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
      why += (why.empty() ? "" : " ") + text + ".";
    }
    problems.push_back({ErrorCode::kInvalidParameter,
                        "no column of \"" + request.source + "\" is left to be a feature", why,
                        "Name columns whose values differ."});
  }
  if (!problems.empty()) throw Error(SummaryOf(problems));
  schema.Finish();
  if (schema.width_ > kMostSlots) {
    throw Error(ErrorCode::kLimitExceeded,
                "the columns would become " + std::to_string(schema.width_) + " numbers a row",
                "The limit is " + std::to_string(kMostSlots) + ".");
  }
  return schema;
}

}  // namespace hopper
