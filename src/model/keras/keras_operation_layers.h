// Layers in place of operations whose arguments say more than the operation's name. Each function
// returns the layer's class and writes its arguments; null where no layer does the same.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/keras/keras_operands.h"

namespace hopper {

bool IsDivision(const std::string& function);

// x * scale + offset of a tensor and a number, or a list of numbers for the last axis.
const char* AsRescaling(const std::string& function, const ConstantOperand& constant,
                        nlohmann::json* config);

// Of a tensor and a number.
const char* AsNumberLayer(const std::string& function, const ConstantOperand& constant,
                          nlohmann::json* config);

// A part of a tensor; Keras 3 has tensor and key as arguments.
const char* AsGetItem(nlohmann::json* entry, nlohmann::json* config);

// Places of an axis: a number, which ends the axis, or a list of them.
const char* AsTake(Operands* operands, nlohmann::json* config);

// Of one tensor, with other arguments than the layer's.
const char* AsLayerOfOne(const std::string& function, nlohmann::json* entry,
                         nlohmann::json* config);

}  // namespace hopper
