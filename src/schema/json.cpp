// Schemas, requests and statistics as JSON.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "model/keras/keras_json.h"
#include "params/json_writer.h"
#include "schema/schema.h"
#include "schema/treatments/quantile.h"
#include "schema/treatments/words.h"

namespace hopper {
namespace {

using nlohmann::json;

constexpr NullRule kNullRules[] = {NullRule::kRefuse, NullRule::kMedian, NullRule::kIndicator,
                                   NullRule::kCategory};

[[noreturn]] void Damaged(const std::string& what) {
  throw Error(ErrorCode::kCorrupt, "a schema is damaged", what + ".",
              "Pack the data again, or train again.");
}

// A member that a stored schema must have.
const json& Member(const json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) {
    Damaged("It lacks \"" + std::string(key) + "\"");
  }
  return object[key];
}

std::string StringOf(const json& object, const char* key) {
  const json& value = Member(object, key);
  if (!value.is_string()) Damaged("\"" + std::string(key) + "\" is no text");
  return value.get<std::string>();
}

double FiniteOf(const json& value, const char* key) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    Damaged("\"" + std::string(key) + "\" is no number");
  }
  return value.get<double>();
}

int64_t CountOf(const json& object, const char* key) {
  const json& value = Member(object, key);
  const double number = FiniteOf(value, key);
  if (number < 0 || number > 9e18 || number != std::floor(number)) {
    Damaged("\"" + std::string(key) + "\" is no count");
  }
  return static_cast<int64_t>(number);
}

bool FlagOf(const json& object, const char* key) {
  const json& value = Member(object, key);
  if (!value.is_boolean()) Damaged("\"" + std::string(key) + "\" is neither true nor false");
  return value.get<bool>();
}

bool NullRuleNamed(const std::string& name, NullRule* rule) {
  const auto* found = std::find_if(std::begin(kNullRules), std::end(kNullRules),
                                   [&](NullRule each) { return name == NullRuleName(each); });
  if (found == std::end(kNullRules)) return false;
  *rule = *found;
  return true;
}

struct NamedWordRules {
  const char* name;  // as TextVectorization's argument "standardize" has it
  bool lowers;
  bool strips;
};
constexpr NamedWordRules kStandardize[] = {{"lower_and_strip_punctuation", true, true},
                                           {"lower", true, false},
                                           {"strip_punctuation", false, true},
                                           {"none", false, false}};

std::string StandardizeName(const WordRules& rules) {
  const auto* found = std::find_if(
      std::begin(kStandardize), std::end(kStandardize), [&](const NamedWordRules& each) {
        return each.lowers == rules.lowers && each.strips == rules.strips;
      });
  return found->name;
}

bool StandardizeNamed(const std::string& name, WordRules* rules) {
  const auto* found = std::find_if(std::begin(kStandardize), std::end(kStandardize),
                                   [&](const NamedWordRules& each) { return name == each.name; });
  if (found == std::end(kStandardize)) return false;
  rules->lowers = found->lowers;
  rules->strips = found->strips;
  return true;
}

std::string SlotJson(const Slot& slot) {
  JsonObjectText written;
  written.Add("name", JsonString(slot.name)).Add("kind", JsonString(SlotKindName(slot.kind)));
  if (slot.cardinality > 0) written.Add("cardinality", std::to_string(slot.cardinality));
  return written.Text();
}

std::string ColumnJson(const Column& column) {
  std::vector<std::string> slots;
  for (const Slot& slot : column.slots) slots.push_back(SlotJson(slot));
  JsonObjectText written;
  written.Add("name", JsonString(column.name))
      .Add("type", JsonString(column.sql_type))
      .Add("family", JsonString(FamilyName(column.family)))
      .Add("treatment", JsonString(column.treatment->Name()))
      .Add("null", JsonString(NullRuleName(column.null_rule)))
      .Add("rows", std::to_string(column.n_rows))
      .Add("nulls", std::to_string(column.n_nulls))
      .Add("slots", JsonList(slots));
  if (column.treatment->IsCategory()) {
    written.Add("values", JsonStrings(column.values))
        .Add("other", std::to_string(column.n_other))
        .Add("null_value", column.has_null_value ? "true" : "false");
    if (column.treatment->IsOfWords()) {
      written.Add("length", std::to_string(column.length))
          .Add("standardize", JsonString(StandardizeName(column.words)))
          .Add("split", JsonString(column.words.splits ? "whitespace" : "none"));
    }
    return written.Text();
  }
  if (column.treatment->Reads() == CellKind::kNumbers) {
    return written.Add("length", std::to_string(column.length)).Text();
  }
  written.Add("median", JsonNumber(column.fill));
  const std::vector<const char*> names = column.treatment->Parameters();
  for (size_t i = 0; i < names.size(); ++i) {
    written.Add(names[i], JsonNumber(column.parameters[i]));
  }
  if (!column.quantiles.empty()) written.Add("quantiles", JsonNumbers(column.quantiles));
  return written.Text();
}

std::vector<std::string> ValuesOf(const json& written, size_t most) {
  const json& list = Member(written, "values");
  if (!list.is_array() || list.size() > most) {
    Damaged("\"values\" is no list of categories");
  }
  std::vector<std::string> values;
  for (const json& value : list) {
    if (!value.is_string()) Damaged("A category is no text");
    values.push_back(value.get<std::string>());
  }
  std::vector<std::string> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    Damaged("A category is there twice");
  }
  return values;
}

void ReadWords(const json& written, Column* column) {
  column->length = CountOf(written, "length");
  const std::string split = StringOf(written, "split");
  column->words.splits = split == "whitespace";
  if (column->length < 1 || column->length > WordsTreatment::kMostLength ||
      (!column->words.splits && split != "none") ||
      !StandardizeNamed(StringOf(written, "standardize"), &column->words)) {
    Damaged("Column \"" + column->name + "\" has impossible rules for words");
  }
}

Column ReadColumn(const json& written) {
  Column column;
  column.name = StringOf(written, "name");
  column.sql_type = StringOf(written, "type");
  if (!FamilyNamed(StringOf(written, "family"), &column.family)) Damaged("A family is unknown");
  column.treatment = FindTreatment(StringOf(written, "treatment"));
  if (column.treatment == nullptr || !column.treatment->Takes(column.family)) {
    Damaged("Column \"" + column.name + "\" has no treatment that is known here");
  }
  if (!NullRuleNamed(StringOf(written, "null"), &column.null_rule)) {
    Damaged("Column \"" + column.name + "\" has no rule for NULL that is known here");
  }
  column.n_rows = CountOf(written, "rows");
  column.n_nulls = CountOf(written, "nulls");
  if (column.treatment->IsCategory() != (column.null_rule == NullRule::kCategory) &&
      column.null_rule != NullRule::kRefuse) {
    Damaged("Column \"" + column.name + "\" has another's rule for NULL");
  }
  if (column.treatment->IsCategory()) {
    column.values = ValuesOf(written, column.treatment->MostValues());
    column.n_other = CountOf(written, "other");
    column.has_null_value = FlagOf(written, "null_value");
    if (column.treatment->IsOfWords()) ReadWords(written, &column);
    return column;
  }
  if (column.treatment->Reads() == CellKind::kNumbers) {
    column.length = CountOf(written, "length");
    if (column.length < 1 || column.length > Schema::kMostSlots ||
        column.null_rule != NullRule::kRefuse) {
      Damaged("Column \"" + column.name + "\" is no array");
    }
    return column;
  }
  column.fill = FiniteOf(Member(written, "median"), "median");
  for (const char* name : column.treatment->Parameters()) {
    column.parameters.push_back(FiniteOf(Member(written, name), name));
  }
  if (written.contains("quantiles")) {
    if (!written["quantiles"].is_array()) Damaged("\"quantiles\" is no list");
    for (const json& value : written["quantiles"]) {
      column.quantiles.push_back(FiniteOf(value, "quantiles"));
    }
  }
  if (!column.treatment->IsSound(column)) {
    Damaged("Column \"" + column.name + "\" has impossible statistics");
  }
  return column;
}

std::string LabelJson(const Label& label) {
  JsonObjectText written;
  written.Add("name", JsonString(label.name))
      .Add("type", JsonString(label.sql_type))
      .Add("is_value", label.is_value ? "true" : "false");
  if (label.is_value) {
    written.Add("mean", JsonNumber(label.mean))
        .Add("deviation", JsonNumber(label.deviation))
        .Add("least", JsonNumber(label.least))
        .Add("largest", JsonNumber(label.largest));
  }
  return written.Text();
}

Label ReadLabel(const json& written) {
  Label label;
  label.name = StringOf(written, "name");
  label.sql_type = StringOf(written, "type");
  label.is_value = FlagOf(written, "is_value");
  if (!label.is_value) return label;
  label.mean = FiniteOf(Member(written, "mean"), "mean");
  label.deviation = FiniteOf(Member(written, "deviation"), "deviation");
  label.least = FiniteOf(Member(written, "least"), "least");
  label.largest = FiniteOf(Member(written, "largest"), "largest");
  if (!(label.deviation > 0.0) || label.least > label.largest) {
    Damaged("The label has impossible statistics");
  }
  return label;
}

const json& ParsedInternal(const std::string& text, JsonDocument* document) {
  std::vector<Problem> problems;
  if (!ParseAnyJson(text, document, &problems)) {
    throw Error(ErrorCode::kInternal, "the glue's JSON cannot be read", problems.front().message);
  }
  return *document->root();
}

// --- requests ---

class TreatmentReader {
 public:
  explicit TreatmentReader(std::vector<Problem>* problems) : problems_(problems) {}

  void Read(const json& written, ColumnRequest* column) {
    column_ = column;
    if (written.is_string()) {
      ReadTreatment(written.get<std::string>());
    } else if (written.is_object()) {
      for (const auto& [key, value] : written.items()) ReadOption(key, value);
    } else {
      Complain("is neither the name of a treatment nor an object",
               "Write \"robust\", or {\"treatment\": \"robust\", \"null\": \"median\"}.");
    }
    CheckTogether();
  }

 private:
  void Complain(const std::string& what, const std::string& hint) {
    problems_->push_back({ErrorCode::kInvalidParameter,
                          "the treatment of column \"" + column_->name + "\" " + what, "", hint});
  }

  static std::string Listed(const std::vector<std::string>& names) {
    std::string text;
    for (size_t i = 0; i < names.size(); ++i) {
      text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + ("\"" + names[i] + "\"");
    }
    return text;
  }

  void ReadTreatment(const std::string& name) {
    if (name == "drop") {
      column_->is_dropped = true;
      return;
    }
    std::vector<std::string> possible;
    for (const Treatment* treatment : Treatments()) {
      if (treatment->Takes(column_->family)) possible.emplace_back(treatment->Name());
    }
    possible.emplace_back("drop");
    column_->treatment = FindTreatment(name);
    if (column_->treatment != nullptr && column_->treatment->Takes(column_->family)) return;
    const std::string nearest =
        column_->treatment == nullptr ? NearestNameHint(name, possible) : "";
    Complain(column_->treatment == nullptr
                 ? "is \"" + name + "\", which is not known"
                 : "is \"" + name + "\", which is not for values of type " + column_->sql_type,
             nearest.empty() ? "Use " + Listed(possible) + "." : nearest);
    column_->treatment = nullptr;
  }

  void ReadOption(const std::string& key, const json& value) {
    if (key == "treatment" && value.is_string()) {
      ReadTreatment(value.get<std::string>());
    } else if (key == "null" && value.is_string()) {
      NullRule rule = NullRule::kRefuse;
      if (NullRuleNamed(value.get<std::string>(), &rule)) {
        column_->null_rule = rule;
      } else {
        Complain("has \"null\": \"" + value.get<std::string>() + "\", which is not known",
                 "Use \"indicator\", \"median\", \"category\" or \"refuse\".");
      }
    } else if (key == "min_frequency") {
      ReadCount(key, value, 1, 1000000000000000, &column_->options.min_frequency);
    } else if (key == "quantiles") {
      ReadCount(key, value, 2, 10000, &column_->options.n_quantiles);
    } else if (key == "vocabulary") {
      ReadCount(key, value, WordsTreatment::kFirstWord + 1, WordsTreatment::kMostWords,
                &column_->options.vocabulary);
    } else if (key == "length") {
      ReadCount(key, value, 1, WordsTreatment::kMostLength, &column_->options.length);
    } else if (key == "values") {
      ReadValues(value);
    } else if (key == "standardize") {
      if (!value.is_string() ||
          !StandardizeNamed(value.get<std::string>(), &column_->options.words)) {
        Complain(
            "has \"standardize\" that is not known",
            "Use \"lower_and_strip_punctuation\", \"lower\", \"strip_punctuation\" or \"none\".");
      }
    } else if (key == "split") {
      column_->options.words.splits = value == "whitespace";
      if (value != "whitespace" && value != "none") {
        Complain("has \"split\" that is not known", "Use \"whitespace\" or \"none\".");
      }
    } else {
      const bool known = key == "treatment" || key == "null";
      const std::string nearest =
          NearestNameHint(key, {"treatment", "null", "min_frequency", "quantiles", "vocabulary",
                                "length", "values", "standardize", "split"});
      Complain(known ? "has \"" + key + "\" that is no text" : "has an unknown \"" + key + "\"",
               !nearest.empty() && !known
                   ? nearest
                   : "Use \"treatment\", \"null\", \"min_frequency\", \"quantiles\", "
                     "\"vocabulary\", \"length\", \"values\", \"standardize\" and \"split\".");
    }
  }

  void ReadCount(const std::string& key, const json& value, int64_t least, int64_t most,
                 int64_t* count) {
    if (value.is_number_integer() && value.get<double>() >= static_cast<double>(least) &&
        value.get<double>() <= static_cast<double>(most)) {
      *count = value.get<int64_t>();
      return;
    }
    Complain("has \"" + key + "\" that is no whole number from " + std::to_string(least) + " to " +
                 std::to_string(most),
             "");
  }

  // A vocabulary: texts, or whole numbers as the categories of columns of these.
  void ReadValues(const json& list) {
    bool possible = list.is_array() && !list.empty() &&
                    list.size() <= static_cast<size_t>(WordsTreatment::kMostWords);
    std::vector<std::string> values;
    for (size_t i = 0; possible && i < list.size(); ++i) {
      possible = list[i].is_string() || list[i].is_number_integer();
      if (possible)
        values.push_back(list[i].is_string() ? list[i].get<std::string>() : list[i].dump());
    }
    std::set<std::string_view> different(values.begin(), values.end());
    if (!possible || different.size() != values.size()) {
      Complain(
          "has \"values\" that are no list of different texts or whole numbers",
          "Write the categories or words that have ids, in their order, without those that stand "
          "for padding and unknown ones.");
      return;
    }
    column_->options.values = std::move(values);
  }

  void CheckTogether() {
    if (!column_->options.words.splits && column_->options.values.empty()) {
      Complain("has \"split\": \"none\" without \"values\"",
               "Treatment \"index\" makes ids of texts as they are.");
    }
    const size_t n_values = column_->options.values.size();
    if (n_values > 0 && (column_->treatment == nullptr || !column_->treatment->IsCategory() ||
                         n_values > column_->treatment->MostValues())) {
      Complain("cannot have " + std::to_string(n_values) + " \"values\"",
               "Treatments \"index\" and \"one_hot\" take up to " +
                   std::to_string(CategoryTreatment::kMostValues) + ", \"words\" up to " +
                   std::to_string(WordsTreatment::kMostWords) + ".");
    }
    if (column_->treatment != nullptr && column_->treatment->IsOfWords() &&
        column_->options.length == 0) {
      Complain("lacks \"length\", how many words of each text a network reads",
               "Write {\"treatment\": \"words\", \"length\": 100}.");
    }
    if (column_->is_dropped || !column_->null_rule || *column_->null_rule == NullRule::kRefuse) {
      return;
    }
    const bool is_category = column_->treatment != nullptr ? column_->treatment->IsCategory()
                                                           : column_->family == Family::kText;
    const bool of_category = *column_->null_rule == NullRule::kCategory;
    if (column_->family == Family::kNumbers) {
      Complain("cannot fill in NULL", "Of arrays NULL is refused.");
    } else if (is_category != of_category) {
      Complain(std::string("cannot have \"null\": \"") + NullRuleName(*column_->null_rule) + "\"",
               is_category ? "Of categories NULL is one of them: \"category\", or \"refuse\"."
                           : "Of numbers it is \"indicator\", \"median\" or \"refuse\".");
    }
  }

  std::vector<Problem>* problems_;
  ColumnRequest* column_ = nullptr;
};

void ReadLabelTreatment(const std::string& name, const json& value, SchemaRequest* request,
                        std::vector<Problem>* problems) {
  if (value == "none") {
    request->scales_label = false;
  } else if (value != "standardize") {
    problems->push_back({ErrorCode::kInvalidParameter,
                         "the treatment of label \"" + name + "\" is not known", "",
                         "Use \"standardize\" or \"none\"."});
  }
}

void AskAbout(ColumnRequest* column) {
  if (column->is_dropped) return;
  if (column->treatment != nullptr) {
    column->treatment->Ask(column->options, &column->questions);
    return;
  }
  switch (column->family) {
    case Family::kText:
      FindTreatment("one_hot")->Ask(column->options, &column->questions);
      break;
    case Family::kNumbers:
      column->questions.lengths = true;
      break;
    default:
      column->questions.fractions = kQuartiles;
  }
}

double Answer(const json& found, const char* key) {
  const auto value = found.find(key);
  return value == found.end() || !value->is_number() ? 0.0 : value->get<double>();
}

}  // namespace

SchemaRequest Schema::ReadRequest(const std::string& json_text) {
  JsonDocument document;
  const json& written = ParsedInternal(json_text, &document);
  std::vector<Problem> problems;
  SchemaRequest request;
  request.chosen_by_star = written.value("star", false);
  std::vector<std::string> names;
  for (const json& each : written.at("columns")) {
    ColumnRequest column;
    column.name = each.at("name").get<std::string>();
    column.sql_type = each.at("type").get<std::string>();
    FamilyNamed(each.at("family").get<std::string>(), &column.family);
    names.push_back(column.name);
    request.columns.push_back(std::move(column));
  }
  static const json nothing;
  const json& treatments = written.contains("treatments") ? written["treatments"] : nothing;
  if (!treatments.is_null() && !treatments.is_object()) {
    problems.push_back({ErrorCode::kInvalidParameter, "treatments are no JSON object", "",
                        "Write them by column: '{\"age\": \"log\", \"plan\": {\"treatment\": "
                        "\"one_hot\"}}'."});
  } else if (treatments.is_object()) {
    TreatmentReader reader(&problems);
    const std::string label = written.value("label", "");
    for (const auto& [name, value] : treatments.items()) {
      if (!label.empty() && name == label) {
        ReadLabelTreatment(name, value, &request, &problems);
        continue;
      }
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) {
        problems.push_back({ErrorCode::kInvalidParameter,
                            "treatments name column \"" + name + "\", which is no feature", "",
                            NearestNameHint(name, names)});
        continue;
      }
      reader.Read(value, &request.columns[found - names.begin()]);
    }
  }
  for (ColumnRequest& column : request.columns) AskAbout(&column);
  if (!problems.empty()) throw Error(SummaryOf(problems));
  return request;
}

std::vector<Statistics> Schema::ReadStatistics(const std::string& json_text) {
  JsonDocument document;
  const json& written = ParsedInternal(json_text, &document);
  std::vector<Statistics> all;
  for (const json& found : written.at("columns")) {
    Statistics statistics;
    statistics.n_rows = static_cast<int64_t>(Answer(found, "rows"));
    statistics.n_nulls = static_cast<int64_t>(Answer(found, "nulls"));
    statistics.n_bad = static_cast<int64_t>(Answer(found, "bad"));
    statistics.n_values = static_cast<int64_t>(Answer(found, "values_found"));
    statistics.n_words = static_cast<int64_t>(Answer(found, "words"));
    statistics.mean = Answer(found, "mean");
    statistics.deviation = Answer(found, "deviation");
    statistics.least_length = static_cast<int64_t>(Answer(found, "least_length"));
    statistics.largest_length = static_cast<int64_t>(Answer(found, "largest_length"));
    if (found.contains("quantiles") && found["quantiles"].is_array()) {
      for (const json& value : found["quantiles"]) {
        statistics.quantiles.push_back(value.is_number() ? value.get<double>() : 0.0);
      }
    }
    if (found.contains("values") && found["values"].is_array()) {
      for (const json& pair : found["values"]) {
        statistics.values.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<int64_t>());
      }
    }
    all.push_back(std::move(statistics));
  }
  return all;
}

std::string Schema::ToJson() const {
  std::vector<std::string> columns;
  for (const Column& column : columns_) columns.push_back(ColumnJson(column));
  JsonObjectText written;
  written.Add("version", std::to_string(kVersion))
      .Add("width", std::to_string(width_))
      .Add("columns", JsonList(columns));
  if (!label_.name.empty()) written.Add("label", LabelJson(label_));
  return written.Text();
}

Schema Schema::Parse(const std::string& json_text) {
  JsonDocument document;
  std::vector<Problem> problems;
  if (!ParseAnyJson(json_text, &document, &problems)) Damaged("It is no JSON");
  const json& written = *document.root();
  if (!written.is_object()) Damaged("It is no JSON object");
  const int64_t version = CountOf(written, "version");
  if (version != kVersion) {
    throw Error(ErrorCode::kNotReady,
                "a schema is of version " + std::to_string(version) + ", this version reads " +
                    std::to_string(kVersion),
                "", "Update the extension, or pack the data again.");
  }
  Schema schema;
  const json& columns = Member(written, "columns");
  if (!columns.is_array() || columns.empty() || columns.size() > kMostSlots) {
    Damaged("It has no columns");
  }
  for (const json& column : columns) schema.columns_.push_back(ReadColumn(column));
  if (written.contains("label")) schema.label_ = ReadLabel(written["label"]);
  schema.Finish();
  if (schema.width_ != CountOf(written, "width") || schema.width_ > kMostSlots) {
    Damaged("Its width is not that of its columns");
  }
  return schema;
}

}  // namespace hopper
