// What to write in place of layers and operations of Keras that are not there.
#pragma once

#include <string>

namespace hopper {

struct Detour {
  const char* names;  // of classes, or of functions, with a blank between them
  const char* why;    // it is not there: a sentence, or ""
  const char* hint;   // an action
};

// Of a layer that Keras has, or had, and that is not in the layer table; null for others.
const Detour* DetourOfLayer(const std::string& class_name);
// Of an operation on tensors by its function in snake case ("reduce_mean"); null for others.
const Detour* DetourOfOperation(const std::string& function);

}  // namespace hopper
