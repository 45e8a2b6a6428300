#include "capi/checked_data.h"

#include <string>

#include "capi/structs.h"
#include "model/columns.h"
#include "schema/model_fit.h"

namespace hopper {

std::optional<DataDesc> CheckedFromC(const hopper_data_desc* desc) {
  std::optional<DataDesc> data = FromC(desc);
  if (!data || desc->schema == nullptr) return data;
  // Read where it is asked: a vocabulary may be long.
  data->misfit = [schema = std::string(desc->schema),
                  table = data->table_name](std::string_view model) -> std::optional<Problem> {
    std::vector<ModelColumn> columns;
    try {
      columns = ColumnsOfModel(model, false);
    } catch (const Error&) {
      return std::nullopt;  // what is wrong with the model is told where it is parsed
    }
    if (!NeedColumns(columns)) return std::nullopt;
    return ColumnsMismatch(columns, Schema::Parse(schema), table);
  };
  return data;
}

}  // namespace hopper
