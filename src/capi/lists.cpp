// What there is, for the functions of SQL that list it. Another list is a function and a row of
// kLists here, and a file in sql/functions with hopper_sql_list.
#include "capi/lists.h"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capi/boundary.h"
#include "capi/rows.h"
#include "model/layer.h"

namespace hopper {
namespace {

// "a, b", or SQL's NULL for none.
std::optional<std::string> ListText(const std::vector<std::string>& names) {
  if (names.empty()) return std::nullopt;
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::unique_ptr<Rows> Layers() {
  auto table = std::make_unique<Rows>(5);
  for (const LayerType& type : LayerTable()) {
    const std::string weights = type.weights;
    table->Add({type.class_name, ListText(ArgumentsOf(type)),
                weights.empty() ? std::nullopt : std::optional(weights), type.description,
                type.since});
  }
  return table;
}

struct List {
  const char* name;  // the SQL function's
  std::unique_ptr<Rows> (*make)();
};
const List kLists[] = {
    {"layers", Layers},
};

}  // namespace

int ListRows(const char* what, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    for (const List& list : kLists) {
      if (std::strcmp(what, list.name) != 0) continue;
      *rows = Rows::Release(list.make());
      return;
    }
    throw Error(ErrorCode::kNotSupported, std::string("there is no list \"") + what + "\"");
  });
}

}  // namespace hopper
