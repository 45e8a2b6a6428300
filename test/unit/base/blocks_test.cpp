#include "base/blocks.h"

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace hopper {
namespace {

// Whether the mapping in which `address` lies is marked for huge pages.
bool WantsHugePages(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    uint64_t from = 0;
    uint64_t to = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " ", &from, &to) == 2) {
      const auto at = reinterpret_cast<uintptr_t>(address);
      inside = from <= at && at < to;
    } else if (inside && line.rfind("VmFlags:", 0) == 0) {
      return line.find(" hg") != std::string::npos;
    }
  }
  return false;
}

TEST(Blocks, LargeOnesAskForHugePages) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) {
    GTEST_SKIP() << "the system has no huge pages";
  }
  bool zeroed = false;
  constexpr size_t kLarge = size_t{16} << 20;
  void* large = AllocateBlock(kLarge, &zeroed);
  EXPECT_TRUE(zeroed);
  EXPECT_TRUE(WantsHugePages(large));
  FreeBlock(large, kLarge);
  constexpr size_t kSmall = size_t{1} << 16;
  void* small = AllocateBlock(kSmall, &zeroed);
  EXPECT_FALSE(zeroed);
  EXPECT_FALSE(WantsHugePages(small));
  FreeBlock(small, kSmall);
}

}  // namespace
}  // namespace hopper
