#include "capi/schema_api.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/number_text.h"
#include "capi/arguments.h"
#include "capi/boundary.h"
#include "capi/rows.h"
#include "data/types.h"
#include "schema/leaks.h"
#include "schema/schema.h"

// A schema with what C sees of it.
struct hopper_data_schema {
  hopper::Schema schema;
  std::vector<hopper_schema_column> columns;
};

namespace hopper {
namespace {

// "0.25", as PostgreSQL and JSON read it.
std::string NumberText(double value) {
  if (value == 0.0) return "0";
  const ShortestDigits shortest = ShortestDigitsOf(value);
  return (value < 0 ? "-" : "") + ("0." + shortest.digits) + "e" +
         std::to_string(shortest.exponent + 1);
}

std::optional<std::string> FractionsText(const std::vector<double>& fractions) {
  if (fractions.empty()) return std::nullopt;
  std::string text;
  for (const double fraction : fractions) {
    text += (text.empty() ? "" : ",") + NumberText(fraction);
  }
  return text;
}

// Six significant digits, for people.
std::string ShortText(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

const char* FlagText(bool flag) { return flag ? "t" : "f"; }

int PlanSchema(const char* request, hopper_rows** rows, int32_t* labels_scaled,
               hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(9);
    const SchemaRequest read = Schema::ReadRequest(Text(request));
    for (const LabelRequest& label : read.labels) *labels_scaled++ = label.is_scaled ? 1 : 0;
    for (const ColumnRequest& column : read.columns) {
      if (column.is_dropped) continue;
      const Questions& questions = column.questions;
      table->Add(
          {column.name,
           column.treatment != nullptr ? std::optional<std::string>(column.treatment->Name())
                                       : std::nullopt,
           questions.of_logs ? "log" : "number", FractionsText(questions.fractions),
           FlagText(questions.moments),
           questions.values ? std::optional(std::to_string(questions.least_rows)) : std::nullopt,
           FlagText(questions.lengths),
           questions.words ? std::optional(questions.letters) : std::nullopt,
           questions.words ? std::optional(questions.stand_ins) : std::nullopt});
    }
    *rows = Rows::Release(std::move(table));
  });
}

Label LabelFromC(const hopper_schema_label& label) {
  Label read;
  read.name = Text(label.name);
  read.sql_type = Text(label.sql_type);
  const hopper_label_scale& scale = label.scale;
  read.is_value = scale.is_scaled != 0;
  if (read.is_value) {
    read.mean = scale.mean;
    read.deviation = scale.deviation > 0.0 ? scale.deviation : 1.0;
    read.least = scale.least;
    read.largest = scale.largest;
  }
  return read;
}

int MakeSchema(const char* request, const char* statistics, const hopper_schema_label* label,
               hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    std::vector<Note> notes;
    Schema schema = Schema::Make(Schema::ReadRequest(Text(request)),
                                 Schema::ReadStatistics(Text(statistics)), &notes);
    if (label != nullptr) schema.set_label(LabelFromC(*label));
    auto table = std::make_unique<Rows>(3);
    table->Add({schema.ToJson(), std::nullopt, std::nullopt});
    for (const Note& note : notes) {
      table->Add({note.message, NullIfEmpty(note.detail), NullIfEmpty(note.hint)});
    }
    *rows = Rows::Release(std::move(table));
  });
}

int CompleteSchema(const char* request, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(1);
    table->Add({Schema::MakeComplete(Schema::ReadRequest(Text(request))).ToJson()});
    *rows = Rows::Release(std::move(table));
  });
}

int OpenSchema(const char* json, hopper_data_schema** schema, hopper_error* error) {
  return Guard(error, [&] {
    auto opened =
        std::make_unique<hopper_data_schema>(hopper_data_schema{Schema::Parse(Text(json)), {}});
    for (const Column& column : opened->schema.columns()) {
      opened->columns.push_back({column.name.c_str(), column.sql_type.c_str(),
                                 FamilyName(column.family),
                                 static_cast<int32_t>(column.treatment->Reads()), column.length});
    }
    *schema = opened.release();
  });
}

void FreeSchema(void* schema) { delete static_cast<hopper_data_schema*>(schema); }

void SchemaInfo(const hopper_data_schema* schema, hopper_schema_info* info) {
  *info = {};
  info->width = schema->schema.width();
  info->n_columns = static_cast<int32_t>(schema->columns.size());
  info->columns = schema->columns.data();
  const Label& label = schema->schema.label();
  if (label.name.empty()) return;
  info->label = {label.name.c_str(),
                 label.sql_type.c_str(),
                 {label.is_value ? 1 : 0, label.mean, label.deviation, label.least, label.largest}};
}

int32_t EncodeRow(const hopper_data_schema* schema, const hopper_schema_cell* cells, void* out,
                  int32_t* column) {
  int32_t problem = HOPPER_ENCODE_MEMORY;
  Guard(nullptr, [&] {
    thread_local std::vector<Cell> row;
    thread_local std::vector<float> encoded;
    row.resize(schema->columns.size());
    encoded.resize(static_cast<size_t>(schema->schema.width()));
    for (size_t i = 0; i < row.size(); ++i) {
      const hopper_schema_cell& cell = cells[i];
      row[i] = {cell.is_null != 0, cell.number, {cell.text, cell.text_size}, cell.numbers, cell.n};
    }
    const EncodeProblem found = schema->schema.Encode(row.data(), encoded.data());
    std::memcpy(out, encoded.data(), encoded.size() * sizeof(float));
    problem = static_cast<int32_t>(found.kind);
    *column = found.column;
  });
  return problem;
}

// "center 38, factor 0.05" or the categories.
std::string StatisticsText(const Column& column) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const std::vector<const char*> names = column.treatment->Parameters();
  for (size_t i = 0; i < names.size(); ++i) {
    add(std::string(names[i]) + " " + ShortText(column.parameters[i]));
  }
  if (!column.quantiles.empty()) {
    add(std::to_string(column.quantiles.size()) + " quantiles from " +
        ShortText(column.quantiles.front()) + " to " + ShortText(column.quantiles.back()));
  }
  if (column.ids.bins > 0) add(std::to_string(column.ids.bins) + " bins");
  if (column.ids.mask) add("mask \"" + *column.ids.mask + "\"");
  if (column.ids.unknown != 1) add(std::to_string(column.ids.unknown) + " ids of other values");
  constexpr size_t kMost = 20;
  for (size_t i = 0; i < column.values.size() && i < kMost; ++i) {
    add(column.values[i].empty() ? "\"\"" : column.values[i]);
  }
  if (column.values.size() > kMost) {
    add("and " + std::to_string(column.values.size() - kMost) + " more");
  }
  if (column.n_other > 0) {
    add(column.treatment->IsOfWords() ? std::to_string(column.n_other) + " other words"
                                      : "other in " + std::to_string(column.n_other) + " rows");
  }
  return text;
}

int DescribeSchema(const hopper_data_schema* schema, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(7);
    for (const Column& column : schema->schema.columns()) {
      table->Add({column.name, column.sql_type, column.treatment->Name(),
                  NullRuleName(column.null_rule), std::to_string(column.n_nulls),
                  std::to_string(column.slots.size()), NullIfEmpty(StatisticsText(column))});
    }
    *rows = Rows::Release(std::move(table));
  });
}

template <typename T>
void AppendNumbers(const void* values, int32_t n, std::vector<double>* out) {
  const auto* bytes = static_cast<const uint8_t*>(values);
  for (int32_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, bytes + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    out->push_back(static_cast<double>(value));
  }
}

// Of packed values.
std::vector<double> NumbersOf(ValueType type, const void* values, int32_t n) {
  std::vector<double> numbers;
  switch (type) {
    case ValueType::kUint8:
      AppendNumbers<uint8_t>(values, n, &numbers);
      break;
    case ValueType::kInt16:
      AppendNumbers<int16_t>(values, n, &numbers);
      break;
    case ValueType::kInt32:
      AppendNumbers<int32_t>(values, n, &numbers);
      break;
    case ValueType::kInt64:
      AppendNumbers<int64_t>(values, n, &numbers);
      break;
    case ValueType::kFloat32:
      AppendNumbers<float>(values, n, &numbers);
      break;
    case ValueType::kFloat64:
      AppendNumbers<double>(values, n, &numbers);
      break;
    case ValueType::kUnknown:
      throw Error(ErrorCode::kInternal, "labels have no type");
  }
  return numbers;
}

int LeaksOf(const hopper_data_schema* schema, int32_t n, const void* x, size_t x_size,
            const void* y, size_t y_size, int32_t y_type, int32_t classes, hopper_rows** rows,
            hopper_error* error) {
  return Guard(error, [&] {
    RequireAll(schema, x, y, rows);
    const auto type = static_cast<ValueType>(y_type);
    const auto width = static_cast<size_t>(schema->schema.width());
    const auto count = static_cast<size_t>(std::max(n, 0));
    if (x_size != count * width * sizeof(float) ||
        y_size != count * static_cast<size_t>(TypeSize(type))) {
      throw Error(ErrorCode::kCorrupt, "a buffer has not the size of its rows");
    }
    constexpr int32_t kMostRows = 20000;
    const int32_t looked_at = std::min(n, kMostRows);
    std::vector<float> features(static_cast<size_t>(looked_at) * width);
    std::memcpy(features.data(), x, features.size() * sizeof(float));
    auto table = std::make_unique<Rows>(3);
    for (const Leak& leak : FindLeaks(schema->schema, features.data(), looked_at,
                                      NumbersOf(type, y, looked_at), classes)) {
      table->Add({schema->schema.columns()[static_cast<size_t>(leak.column)].name,
                  NumberText(leak.share), NumberText(leak.guess)});
    }
    *rows = Rows::Release(std::move(table));
  });
}

int CompareSchemas(const char* json, const char* name, const char* other_json,
                   const char* other_name, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(1);
    const std::string difference =
        Schema::Parse(Text(json))
            .Difference(Schema::Parse(Text(other_json)), Text(name), Text(other_name));
    if (!difference.empty()) table->Add({difference});
    *rows = Rows::Release(std::move(table));
  });
}

}  // namespace

hopper_schema_api MakeSchemaApi() {
  hopper_schema_api api = {};
  api.plan = PlanSchema;
  api.make = MakeSchema;
  api.complete = CompleteSchema;
  api.open = OpenSchema;
  api.free = FreeSchema;
  api.info = SchemaInfo;
  api.encode = EncodeRow;
  api.describe = DescribeSchema;
  api.compare = CompareSchemas;
  api.leaks = LeaksOf;
  return api;
}

}  // namespace hopper
