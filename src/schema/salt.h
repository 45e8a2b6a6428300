// A salt of hashes as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "schema/column.h"

namespace hopper {

// Two whole numbers from 0 to below 2^64. False where it is none.
inline bool ReadSalt(const nlohmann::json& written, IdRules* ids) {
  if (!written.is_array() || written.size() != 2 || !written[0].is_number_unsigned() ||
      !written[1].is_number_unsigned()) {
    return false;
  }
  ids->salt.emplace(written[0].get<uint64_t>(), written[1].get<uint64_t>());
  return true;
}

}  // namespace hopper
