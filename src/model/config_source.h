// A configuration as it is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hopper {

// One configuration, as its table row and its architecture's row give it. All of it is the
// caller's.
struct ConfigSource {
  int32_t mst_key = 0;
  std::string_view model_arch;  // Keras JSON
  std::string_view compile_params;
  std::string_view fit_params;     // empty: the defaults
  const float* weights = nullptr;  // initial ones in Keras' get_weights() order, or null
  int64_t n_weights = 0;
  // Of a warm start: a state image; null with its size: it comes in pieces.
  const uint8_t* state = nullptr;
  size_t state_size = 0;
  bool confusion = false;  // evaluation counts labels by prediction, too
};

}  // namespace hopper
