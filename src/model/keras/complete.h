// What Keras wants of a model's text beyond what we do.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hopper {

// The same model as keras.models.model_from_json() of Keras 3 reads it: of a Sequential that was
// written by hand, with module, config and name where they were left out, and the input's shape at
// the model. Nothing where a Keras wrote the text, or where it is no such model. What ParseModel()
// makes of both texts is equal, layers' names included.
std::optional<std::string> CompleteModel(std::string_view text);

}  // namespace hopper
