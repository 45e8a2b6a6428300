#include "base/error.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace hopper {
namespace {

const std::vector<std::string> kOptimizerArguments = {
    "learning_rate", "momentum", "nesterov", "decay", "clipnorm", "clipvalue", "epsilon"};

TEST(NearestName, FindsSlipsOfTheKeyboard) {
  EXPECT_EQ(NearestName("momentun", kOptimizerArguments), "momentum");
  EXPECT_EQ(NearestName("nestrov", kOptimizerArguments), "nesterov");
  EXPECT_EQ(NearestName("decya", kOptimizerArguments), "decay");
  EXPECT_EQ(NearestName("clip_norm", kOptimizerArguments), "clipnorm");
  EXPECT_EQ(NearestName("sdg", {"adam", "sgd"}), "sgd");
  EXPECT_EQ(NearestName("labl", {"id", "image", "label"}), "label");
}

TEST(NearestName, IgnoresCase) {
  EXPECT_EQ(NearestName("EPSILON", kOptimizerArguments), "epsilon");
  EXPECT_EQ(NearestName("rmsprop", {"RMSprop"}), "RMSprop");
}

TEST(NearestName, KnowsAbbreviations) {
  EXPECT_EQ(NearestName("lr_rate", kOptimizerArguments), "learning_rate");
  EXPECT_EQ(NearestName("eps", kOptimizerArguments), "epsilon");
  // A slip beats an abbreviation.
  EXPECT_EQ(NearestName("mse", {"mean_squared_error", "mae"}), "mae");
}

TEST(NearestName, SaysNothingWhereNothingIsNear) {
  EXPECT_FALSE(NearestName("dropout", kOptimizerArguments));
  EXPECT_FALSE(NearestName("", kOptimizerArguments));
  EXPECT_FALSE(NearestName("x", {"y"}));
  EXPECT_FALSE(NearestName("x", {}));
  EXPECT_FALSE(NearestName(std::string(100000, 'a'), {std::string(100000, 'a')}));
}

TEST(NearestName, TheFirstOfEquallyNearNamesWins) {
  EXPECT_EQ(NearestName("beta_3", {"beta_1", "beta_2"}), "beta_1");
}

TEST(NearestName, Hint) {
  EXPECT_EQ(NearestNameHint("lr_rate", kOptimizerArguments),
            "Perhaps you meant \"learning_rate\".");
  EXPECT_EQ(NearestNameHint("quux", kOptimizerArguments), "");
}

TEST(Error, CarriesItsProblem) {
  const Error error(ErrorCode::kCorrupt, "buffer 3 is damaged", "Its checksum differs.", "Repack.");
  EXPECT_STREQ(error.what(), "buffer 3 is damaged");
  EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
  EXPECT_EQ(error.problem().detail, "Its checksum differs.");
  EXPECT_EQ(error.problem().hint, "Repack.");
}

TEST(Bytes, RoundTripAndTruncation) {
  ByteWriter writer;
  writer.Put<int64_t>(-5);
  writer.PutString("sgd");
  writer.Put<float>(1.5f);
  const auto image = writer.Take();
  ByteReader reader(image.data(), image.size(), "state image");
  EXPECT_EQ(reader.Get<int64_t>(), -5);
  EXPECT_EQ(reader.GetString(), "sgd");
  EXPECT_EQ(reader.Get<float>(), 1.5f);
  EXPECT_EQ(reader.remaining(), 0u);
  for (size_t size = 0; size < image.size(); ++size) {
    ByteReader cut(image.data(), size, "state image");
    try {
      cut.Get<int64_t>();
      cut.GetString();
      cut.Get<float>();
      FAIL() << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
      EXPECT_STREQ(error.what(), "state image is truncated");
    }
  }
}

}  // namespace
}  // namespace hopper
