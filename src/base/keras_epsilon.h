// What Keras adds to a denominator or keeps a number above: keras.config.epsilon() by default.
#pragma once

namespace hopper {

constexpr double kKerasEpsilon = 1e-7;

}  // namespace hopper
