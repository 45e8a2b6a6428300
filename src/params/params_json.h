// Parameters of a configuration as JSON, for queries that compare them.
#pragma once

#include <string>
#include <string_view>

namespace hopper {

// compile_params or fit_params as a JSON object, the optimizer's arguments beside the rest under
// Keras' names: {"learning_rate":0.1,"loss":"mse","optimizer":"Adam"}. `what` names the text in
// errors; throws Error(kInvalidText).
std::string ParamsJson(std::string_view text, const std::string& what);

}  // namespace hopper
