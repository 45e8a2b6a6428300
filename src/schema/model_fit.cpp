#include "schema/model_fit.h"

#include <algorithm>

#include "params/json_writer.h"

namespace hopper {
namespace {

std::string ColumnQuoted(const std::string& text) { return "\"" + text + "\""; }

std::string NamesOf(const std::vector<ModelColumn>& columns) {
  std::string names;
  for (const ModelColumn& column : columns) {
    names += (names.empty() ? "" : ", ") + ColumnQuoted(column.name);
  }
  return names;
}

// What the model needs of a column, as the schema would have it.
Schema WantedOf(const ModelColumn& wanted, const Column& column) {
  JsonObjectText written;
  written.Add("name", JsonString(column.name))
      .Add("type", JsonString(column.sql_type))
      .Add("family", JsonString(FamilyName(column.family)));
  JsonObjectText treatments;
  treatments.Add(column.name, wanted.treatment);
  JsonObjectText request;
  request.Add("columns", JsonList({written.Text()})).Add("treatments", treatments.Text());
  return Schema::MakeComplete(Schema::ReadRequest(request.Text()));
}

}  // namespace

bool NeedColumns(const std::vector<ModelColumn>& columns) {
  return columns.size() > 1 || std::any_of(columns.begin(), columns.end(),
                                           [](const ModelColumn& one) { return one.is_prepared; });
}

std::optional<Problem> ColumnsProblem(const std::vector<ModelColumn>& columns) {
  for (const ModelColumn& wanted : columns) {
    if (!wanted.is_prepared) continue;
    Column column;
    column.name = wanted.name;
    column.family = Family::kText;  // all treatments of prepared columns take texts
    column.sql_type = "text";
    try {
      WantedOf(wanted, column);
    } catch (const Error& error) {
      const Problem& problem = error.problem();
      return Problem{problem.code,
                     "input " + ColumnQuoted(wanted.name) +
                         " of the model cannot be prepared as its layers ask",
                     problem.message + ".", problem.hint};
    }
  }
  return std::nullopt;
}

std::optional<Problem> ColumnsMismatch(const std::vector<ModelColumn>& columns,
                                       const Schema& schema, std::string_view table) {
  const std::vector<Column>& packed = schema.columns();
  const std::string shown = ColumnQuoted(std::string(table));
  const std::string hint =
      "Pack with the columns and treatments that hopper.model_columns() shows, in that order.";
  const auto refuse = [&](const std::string& message, const std::string& detail = "") {
    return Problem{ErrorCode::kInvalidParameter, message, detail, hint};
  };
  bool named = false;
  for (const ModelColumn& wanted : columns) {
    named = named || std::any_of(packed.begin(), packed.end(),
                                 [&](const Column& column) { return column.name == wanted.name; });
  }
  for (size_t i = 0; i < std::max(columns.size(), packed.size()); ++i) {
    if (i >= columns.size() || i >= packed.size()) {
      return refuse("model has " + std::to_string(columns.size()) + " inputs but " + shown +
                        " was packed of " + std::to_string(packed.size()) + " columns",
                    "The inputs are " + NamesOf(columns) + ".");
    }
    const ModelColumn& wanted = columns[i];
    const Column& column = packed[i];
    if (named && column.name != wanted.name) {
      return refuse("input " + std::to_string(i + 1) + " of the model is " +
                        ColumnQuoted(wanted.name) + " but column " + std::to_string(i + 1) +
                        " of " + shown + " is " + ColumnQuoted(column.name),
                    "The inputs are " + NamesOf(columns) + ".");
    }
    const auto slots = static_cast<int64_t>(column.slots.size());
    if (wanted.slots >= 0 && slots != wanted.slots) {
      return refuse("input " + ColumnQuoted(wanted.name) + " of the model takes " +
                        std::to_string(wanted.slots) +
                        (wanted.slots == 1 ? " number" : " numbers") + " but column " +
                        ColumnQuoted(column.name) + " of " + shown + " becomes " +
                        std::to_string(slots),
                    "The column's treatment is " + ColumnQuoted(column.treatment->Name()) + ".");
    }
    if (!wanted.is_prepared) continue;
    std::string difference;
    try {
      difference = schema.ColumnDiffers(i, WantedOf(wanted, column));
    } catch (const Error& error) {
      difference = error.problem().message;
    }
    if (!difference.empty()) {
      return refuse("column " + ColumnQuoted(column.name) + " of " + shown +
                        " was packed otherwise than input " + ColumnQuoted(wanted.name) +
                        " of the model needs it",
                    difference);
    }
  }
  return std::nullopt;
}

}  // namespace hopper
