// JSON texts with {"hopper": "name"} in them: parameters of a search in place of values.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "params/value.h"

namespace hopper {

// What a template refers to and what is wrong with it. `what` begins each path.
// Calls `refer` with each parameter's name and path; "#" in names within a repeated block is kept.
// Calls `problem` with the path and the text of what is not understood.
void WalkTemplate(
    const Value& tree, const std::string& what,
    const std::function<void(const std::string& name, const std::string& path, bool in_repeat)>&
        refer,
    const std::function<void(const std::string& path, const std::string& problem)>& problem);

// The tree with values in place of references; what refers to a parameter that does not apply
// (`value` gives nothing) is left out. Nothing where the whole tree is left out.
// Throws Error(kLimitExceeded) where repeated blocks make too much of it.
std::optional<Value> FillTemplate(
    const Value& tree, const std::function<std::optional<Value>(const std::string& name)>& value);

}  // namespace hopper
