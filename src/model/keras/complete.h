// What a model's text is beside what it computes here: as Keras reads it, and as it was written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace hopper {

// The model's text as keras.models.model_from_json() of Keras 3 reads it: of a Sequential that was
// written by hand, with module, config and name where they were left out, and the input's shape at
// the model; of a text that is encoded as JSON twice, what is inside. Nothing where a Keras wrote
// the text, or where it is no such model. What ParseModel()
// makes of both texts is equal, layers' names included.
std::optional<std::string> CompleteModel(std::string_view text);

// What who loads the text should know of dtypes and classes in it that are read as others. Empty
// where it is no model.
std::vector<Problem> NotesOn(std::string_view text);

}  // namespace hopper
