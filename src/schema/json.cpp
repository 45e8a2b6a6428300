// Schemas as JSON.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "model/keras/keras_json.h"
#include "params/json_writer.h"
#include "schema/salt.h"
#include "schema/schema.h"
#include "schema/treatments/quantile.h"
#include "schema/treatments/words.h"

namespace hopper {
namespace {

using nlohmann::json;

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

std::string SlotJson(const Slot& slot) {
  JsonObjectText written;
  written.Add("name", JsonString(slot.name)).Add("kind", JsonString(SlotKindName(slot.kind)));
  if (slot.cardinality > 0) written.Add("cardinality", std::to_string(slot.cardinality));
  return written.Text();
}

// What is not as it is by itself.
void AddIdRules(const IdRules& ids, JsonObjectText* written) {
  if (ids.unknown != 1) written->Add("unknown", std::to_string(ids.unknown));
  if (ids.mask) written->Add("mask", JsonString(*ids.mask));
  if (ids.bins > 0) written->Add("bins", std::to_string(ids.bins));
  if (ids.salt) {
    written->Add("salt",
                 JsonList({std::to_string(ids.salt->first), std::to_string(ids.salt->second)}));
  }
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
    AddIdRules(column.ids, &written);
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

void ReadIdRules(const json& written, IdRules* ids) {
  if (written.contains("unknown")) ids->unknown = CountOf(written, "unknown");
  if (written.contains("mask")) ids->mask = StringOf(written, "mask");
  if (written.contains("bins")) ids->bins = CountOf(written, "bins");
  if (written.contains("salt") && !ReadSalt(written["salt"], ids)) {
    Damaged("\"salt\" is not two whole numbers");
  }
  if (ids->unknown > IdRules::kMostUnknown) Damaged("\"unknown\" is too large");
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
    ReadIdRules(written, &column.ids);
    if (!column.treatment->IsSound(column)) {
      Damaged("Column \"" + column.name + "\" has impossible rules for ids");
    }
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

}  // namespace

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
