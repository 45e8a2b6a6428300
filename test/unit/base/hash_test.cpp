#include "base/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/hash_vectors.h"

namespace hopper {
namespace {

std::vector<uint8_t> Message(size_t n) {
  std::vector<uint8_t> message(n);
  for (size_t i = 0; i < n; ++i) message[i] = static_cast<uint8_t>((131 * i + 7) % 251);
  return message;
}

TEST(Hash, AgreesWithTheLibrarysOtherBinding) {
  for (const HashVector& vector : kHashVectors) {
    const auto message = Message(vector.length);
    EXPECT_EQ(Hash(message.data(), message.size(), vector.seed).Hex(), vector.hex)
        << vector.length << " bytes, seed " << vector.seed;
  }
}

TEST(Hash, PiecesGiveTheHashOfTheWhole) {
  for (const HashVector& vector : kHashVectors) {
    const auto message = Message(vector.length);
    for (const size_t piece : {1, 7, 64, 300}) {
      Hasher hasher(vector.seed);
      for (size_t at = 0; at < message.size(); at += piece) {
        hasher.Add(message.data() + at, std::min(piece, message.size() - at));
      }
      hasher.Add(nullptr, 0);
      EXPECT_EQ(hasher.Finish().Hex(), vector.hex) << vector.length << " in pieces of " << piece;
    }
  }
}

TEST(Hash, OrderOfDigestsIsTheOrderOfTheirText) {
  const Digest a = Hash("a", 1), b = Hash("b", 1);
  EXPECT_EQ(a < b, a.Hex() < b.Hex());
  EXPECT_EQ(b < a, b.Hex() < a.Hex());
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace hopper
