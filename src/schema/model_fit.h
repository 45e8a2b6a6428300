// Whether the columns of a schema are what a Keras model was built for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/columns.h"
#include "schema/schema.h"

namespace hopper {

// Whether it matters to a model which columns a row is made of: it has several inputs, or layers of
// it need a treatment. Other models of one input take any row of its width.
bool NeedColumns(const std::vector<ModelColumn>& columns);

// What is wrong with a treatment that layers of a model ask for, such as a vocabulary with a word
// twice. None of a model whose columns can be packed.
std::optional<Problem> ColumnsProblem(const std::vector<ModelColumn>& columns);

// Why a model does not take rows of the schema: names and order of the columns of several inputs,
// and the treatments that layers of the model need. None where it does, as far as a schema tells.
// Inputs are found by their names, or all of them by their order. `table`: for the message.
std::optional<Problem> ColumnsMismatch(const std::vector<ModelColumn>& columns,
                                       const Schema& schema, std::string_view table);

}  // namespace hopper
