// Which convolutions go through Winograd's transforms.
#include <gtest/gtest.h>

#include "model/layers/conv_2d/planned.h"

namespace hopper {
namespace {

ConvSizes Sizes(int64_t height, int64_t width, int64_t stride) {
  ConvSizes sizes;
  sizes.kernel_height = sizes.kernel_width = 3;
  sizes.stride_height = sizes.stride_width = stride;
  sizes.height = SlideWindow(height, 3, stride, 1, /*same=*/true);
  sizes.width = SlideWindow(width, 3, stride, 1, /*same=*/true);
  return sizes;
}

bool GoesThroughTransforms(int64_t size, int64_t channels, int64_t stride = 1) {
  return PrefersWinograd(Sizes(size, size, stride), channels, channels);
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

int64_t Outputs(int64_t height, int64_t width, int64_t in = 16, int64_t out = 16) {
  return WinogradOutputs(Sizes(height, width, 1), in, out);
}

// Products of 36 cells for 16 outputs, or of 16 for 4, counted by hand.
TEST(WinogradRule, LargeTilesWhereTheySaveAQuarter) {
  // 144 of 256, 576 of 784, 2,304 of 3,600; of 6 x 4 outputs 72 of 96.
  for (const int64_t size : {7, 8, 13, 30}) EXPECT_EQ(Outputs(size, size), 4) << size;
  EXPECT_EQ(Outputs(6, 4), 4);
  // 36 of 16, 144 of 144, 324 of 400; of 6 x 2 outputs 72 of 48. Images of 4 x 4 are one tile.
  for (const int64_t size : {1, 2, 3, 4, 5, 6, 9, 10}) EXPECT_EQ(Outputs(size, size), 2) << size;
  EXPECT_EQ(Outputs(6, 2), 2);
}

// Long sums would lose what the slopes of DenseNet121 need; large windows leave the cache.
TEST(WinogradRule, LargeTilesForShortSumsOverSmallWindowsOnly) {
  EXPECT_EQ(Outputs(8, 8, 32, 64), 4);
  EXPECT_EQ(Outputs(8, 8, 33, 16), 2);
  EXPECT_EQ(Outputs(8, 8, 32, 65), 2);
}

}  // namespace
}  // namespace hopper
