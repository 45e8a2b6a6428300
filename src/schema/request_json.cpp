// Requests and statistics, which the glue gives as JSON.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "model/keras/keras_json.h"
#include "schema/salt.h"
#include "schema/schema.h"
#include "schema/treatments/hash.h"
#include "schema/treatments/words.h"

namespace hopper {
namespace {

using nlohmann::json;

const json& ParsedInternal(const std::string& text, JsonDocument* document) {
  std::vector<Problem> problems;
  if (!ParseAnyJson(text, document, &problems)) {
    throw Error(ErrorCode::kInternal, "the glue's JSON cannot be read", problems.front().message);
  }
  return *document->root();
}

class TreatmentReader {
 public:
  explicit TreatmentReader(std::vector<Problem>* problems) : problems_(problems) {}

  void Read(const json& written, ColumnRequest* column) {
    column_ = column;
    const size_t before = problems_->size();
    if (written.is_string()) {
      ReadTreatment(written.get<std::string>());
    } else if (written.is_object()) {
      for (const auto& [key, value] : written.items()) ReadOption(key, value);
    } else {
      Complain("is neither the name of a treatment nor an object",
               "Write \"robust\", or {\"treatment\": \"robust\", \"null\": \"median\"}.");
    }
    // Of options that were refused one by one there is no more to say.
    if (problems_->size() == before) CheckTogether();
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
    const std::string use = Listed(possible) + ".";
    if (column_->treatment == nullptr) {
      const std::string nearest = NearestNameHint(name, possible);
      Complain("is \"" + name + "\", which is not known", nearest.empty() ? "Use " + use : nearest);
      return;
    }
    const std::string cast = CastThatHelps();
    Complain("is \"" + name + "\", which is not for values of type " + column_->sql_type,
             cast.empty() ? "Use " + use : cast + ", or use " + use);
    column_->treatment = nullptr;
  }

  // What a view can make of the column, so that the treatment takes it; of arrays nothing.
  std::string CastThatHelps() const {
    std::string types;
    if (column_->family == Family::kNumbers) return types;
    for (const auto& [family, type] :
         {std::pair(Family::kInteger, "integer"), std::pair(Family::kText, "text"),
          std::pair(Family::kNumber, "double precision")}) {
      if (column_->treatment->Takes(family))
        types += (types.empty() ? "" : " or ") + std::string(type);
    }
    return types.empty() ? types : "Cast it to " + types + " in a view";
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
    } else if (key == "unknown") {
      ReadCount(key, value, 0, IdRules::kMostUnknown, &column_->options.ids.unknown);
    } else if (key == "mask" && (value.is_string() || value.is_number_integer())) {
      column_->options.ids.mask = value.is_string() ? value.get<std::string>() : value.dump();
    } else if (key == "bins") {
      ReadCount(key, value, 1, HashTreatment::kMostBins, &column_->options.ids.bins);
    } else if (key == "salt") {
      if (!ReadSalt(value, &column_->options.ids)) {
        Complain("has \"salt\" that is not two whole numbers", "Write \"salt\": [133, 137].");
      }
    } else {
      const bool known = key == "treatment" || key == "null" || key == "mask";
      static const std::vector<std::string> names = {
          "treatment",   "null",  "min_frequency", "quantiles", "vocabulary", "length", "values",
          "standardize", "split", "unknown",       "mask",      "bins",       "salt"};
      const std::string nearest = NearestNameHint(key, names);
      Complain(known ? "has \"" + key + "\" that is no text" : "has an unknown \"" + key + "\"",
               !nearest.empty() && !known ? nearest : "Use " + Listed(names) + ".");
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
      if (!possible) break;
      values.push_back(list[i].is_string() ? list[i].get<std::string>() : list[i].dump());
      possible = values.back().find('\0') == std::string::npos;  // no value of a column has it
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

  // Rules of ids belong to treatments that make some.
  void CheckIds() {
    const IdRules& ids = column_->options.ids;
    const std::string name = column_->treatment == nullptr ? "" : column_->treatment->Name();
    if (name == "hash" && ids.bins == 0) {
      Complain("lacks \"bins\", how many ids there are",
               "Write {\"treatment\": \"hash\", \"bins\": 100}.");
    }
    if ((ids.bins > 0 || ids.salt) && name != "hash") {
      Complain("has \"bins\" or \"salt\"", "They belong to the treatment \"hash\".");
    }
    if ((ids.unknown != 1 && name != "index") || (ids.mask && name != "index" && name != "hash")) {
      Complain("has \"unknown\" or \"mask\"",
               "They belong to the treatment \"index\", \"mask\" to \"hash\", too.");
    }
  }

  void CheckTogether() {
    if (!column_->options.words.splits && column_->options.values.empty()) {
      Complain("has \"split\": \"none\" without \"values\"",
               "Treatment \"index\" makes ids of texts as they are.");
    }
    CheckIds();
    const size_t n_values = column_->options.values.size();
    if (n_values > 0 && (column_->treatment == nullptr || !column_->treatment->HasValues() ||
                         n_values > column_->treatment->MostValues())) {
      Complain("cannot have " + std::to_string(n_values) + " \"values\"",
               "Treatments \"index\" and \"one_hot\" take up to " +
                   std::to_string(CategoryTreatment::kMostValues) +
                   ", \"words\" and \"word_counts\" up to " +
                   std::to_string(WordsTreatment::kMostWords) + ".");
    }
    if (column_->treatment != nullptr && column_->treatment->NeedsLength() &&
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

void ReadLabelTreatment(const json& value, LabelRequest* label, std::vector<Problem>* problems) {
  if (value == "none") {
    label->is_scaled = false;
  } else if (value != "standardize") {
    problems->push_back({ErrorCode::kInvalidParameter,
                         "the treatment of label \"" + label->name + "\" is not known", "",
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

bool IsDrop(const json& treatment) {
  return treatment == "drop" || treatment == json{{"treatment", "drop"}};
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
  request.source = written.value("source", "");
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
  // What '*' leaves out anyway, so that to drop it is no mistake.
  const std::set<std::string> passed_over = written.value("passed_over", std::set<std::string>());
  if (written.contains("labels")) {
    for (const json& name : written["labels"]) request.labels.push_back({name.get<std::string>()});
  }
  static const json nothing;
  const json& treatments = written.contains("treatments") ? written["treatments"] : nothing;
  if (!treatments.is_null() && !treatments.is_object()) {
    problems.push_back({ErrorCode::kInvalidParameter, "treatments are no JSON object", "",
                        "Write them by column: '{\"age\": \"log\", \"plan\": {\"treatment\": "
                        "\"one_hot\"}}'."});
  } else if (treatments.is_object()) {
    TreatmentReader reader(&problems);
    for (const auto& [name, value] : treatments.items()) {
      const auto label =
          std::find_if(request.labels.begin(), request.labels.end(),
                       [&name = name](const LabelRequest& each) { return each.name == name; });
      if (label != request.labels.end()) {
        ReadLabelTreatment(value, &*label, &problems);
        continue;
      }
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) {
        if (IsDrop(value) && passed_over.count(name) > 0) continue;
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
    statistics.n_nans = static_cast<int64_t>(Answer(found, "nans"));
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

}  // namespace hopper
