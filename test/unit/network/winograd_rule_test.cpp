// Which convolutions go through Winograd's transforms.
#include <gtest/gtest.h>

#include "model/layers/conv_2d/planned.h"

namespace hopper {
namespace {

bool GoesThroughTransforms(int64_t size, int64_t channels, int64_t stride = 1) {
  ConvSizes sizes;
  sizes.kernel_height = sizes.kernel_width = 3;
  sizes.stride_height = sizes.stride_width = stride;
  sizes.height = sizes.width = SlideWindow(size, 3, stride, 1, /*same=*/true);
  return PrefersWinograd(sizes, channels, channels);
}

TEST(WinogradRule, SmallWindowsWithEnoughChannels) {
  EXPECT_FALSE(GoesThroughTransforms(28, 15));
  EXPECT_TRUE(GoesThroughTransforms(28, 16));
  EXPECT_TRUE(GoesThroughTransforms(3, 64));
  EXPECT_FALSE(GoesThroughTransforms(28, 64, 2));
}

// Where a step of such a layer was measured to take two thirds of the time, or less.
TEST(WinogradRule, LargeWindowsOverSeveralTiles) {
  for (const int64_t size : {4, 28}) EXPECT_TRUE(GoesThroughTransforms(size, 128)) << size;
  for (const int64_t size : {4, 14}) EXPECT_TRUE(GoesThroughTransforms(size, 256)) << size;
}

TEST(WinogradRule, NoLargeWindowsWhereTransformsCostMoreThanTheySave) {
  // Of 4 x 4 outputs in tiles of 2 x 2 only 9 are inside, or all are in one tile.
  EXPECT_FALSE(GoesThroughTransforms(3, 128));
  EXPECT_FALSE(GoesThroughTransforms(2, 128));
  // 16 / 9 of the kernel's 2.4 million floats do not stay in a cache.
  EXPECT_FALSE(GoesThroughTransforms(14, 512));
}

}  // namespace
}  // namespace hopper
