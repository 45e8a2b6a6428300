#include "data/types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace hopper {
namespace {

TEST(TypeSize, KnowsAllTypesAndNoOthers) {
  EXPECT_EQ(TypeSize(ValueType::kUint8), 1);
  EXPECT_EQ(TypeSize(ValueType::kInt16), 2);
  EXPECT_EQ(TypeSize(ValueType::kInt32), 4);
  EXPECT_EQ(TypeSize(ValueType::kInt64), 8);
  EXPECT_EQ(TypeSize(ValueType::kFloat32), 4);
  EXPECT_EQ(TypeSize(ValueType::kFloat64), 8);
  EXPECT_EQ(TypeSize(ValueType::kUnknown), 0);
  EXPECT_EQ(TypeSize(static_cast<ValueType>(7)), 0);
}

template <typename T>
void ExpectFound(ValueType type) {
  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                      -std::numeric_limits<T>::infinity()}) {
    for (int at = 0; at < 5; ++at) {
      std::vector<T> values = {0, -1, std::numeric_limits<T>::max(),
                               std::numeric_limits<T>::denorm_min(), 5};
      values[at] = bad;
      // One byte off: the values need no alignment.
      std::vector<unsigned char> bytes(1 + values.size() * sizeof(T));
      std::memcpy(bytes.data() + 1, values.data(), values.size() * sizeof(T));
      EXPECT_EQ(FindNonFinite(type, bytes.data() + 1, 5), at);
      EXPECT_EQ(FindNonFinite(type, bytes.data() + 1, at), -1);
    }
  }
}

TEST(FindNonFinite, FindsTheFirst) {
  ExpectFound<float>(ValueType::kFloat32);
  ExpectFound<double>(ValueType::kFloat64);
}

TEST(FindNonFinite, FindsTheFirstOfMany) {
  for (const double bad :
       {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    for (const size_t at : {0, 1, 62, 63, 64, 65, 127, 128, 190}) {
      std::vector<double> doubles(200, std::numeric_limits<double>::max());
      std::vector<float> floats(200, -std::numeric_limits<float>::max());
      EXPECT_EQ(FindNonFinite(ValueType::kFloat64, doubles.data(), 200), -1);
      EXPECT_EQ(FindNonFinite(ValueType::kFloat32, floats.data(), 200), -1);
      doubles[at] = doubles[195] = bad;
      floats[at] = floats[195] = static_cast<float>(bad);
      EXPECT_EQ(FindNonFinite(ValueType::kFloat64, doubles.data(), 200), static_cast<int64_t>(at));
      EXPECT_EQ(FindNonFinite(ValueType::kFloat32, floats.data(), 200), static_cast<int64_t>(at));
      EXPECT_EQ(FindNonFinite(ValueType::kFloat32, floats.data(), static_cast<int64_t>(at)), -1);
    }
  }
}

TEST(FindNonFinite, IntegersAreFinite) {
  const int32_t values[] = {0x7f800000, -1};
  EXPECT_EQ(FindNonFinite(ValueType::kInt32, values, 2), -1);
}

}  // namespace
}  // namespace hopper
