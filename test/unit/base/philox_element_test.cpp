#include "base/philox_element.h"

#include <gtest/gtest.h>

#include "base/philox.h"

namespace hopper {
namespace {

TEST(PhiloxElement, IsTheStream) {
  for (const uint64_t seed : {uint64_t{0}, uint64_t{77}, ~uint64_t{0} - 4}) {
    for (const uint64_t step : {uint64_t{0}, uint64_t{12345}, uint64_t{1} << 40}) {
      const Philox stream(seed, Purpose::kDropout, 9, step);
      for (uint64_t i = 0; i < 300; ++i) {
        ASSERT_EQ(PhiloxElement(seed, static_cast<uint32_t>(Purpose::kDropout), 9, step, i),
                  stream.Bits(i));
      }
    }
  }
}

}  // namespace
}  // namespace hopper
