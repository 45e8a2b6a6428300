#include "base/read_once.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cctype>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace hopper {
namespace {

int64_t SizeOf(const std::string& value) { return static_cast<int64_t>(value.size()); }

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(c));
  return text;
}

TEST(ReadOnce, GivesAllTheSame) {
  ReadOnce<std::string> texts(1 << 20);
  const auto read = [&](const std::string& text) {
    return texts.Of(
        text, [&] { return Upper(text); }, SizeOf);
  };
  const auto first = read("one");
  EXPECT_EQ(*first, "ONE");
  EXPECT_EQ(*read("two"), "TWO");
  EXPECT_EQ(read("one"), first);
  EXPECT_EQ(texts.count(), 2);
  EXPECT_EQ(*read(""), "");
  EXPECT_EQ(texts.count(), 3);
  texts.Forget();
  EXPECT_EQ(texts.bytes(), 0);
  EXPECT_EQ(*first, "ONE") << "it is its holders', too";
  EXPECT_EQ(*read("one"), "ONE");
  EXPECT_EQ(texts.count(), 4);
}

TEST(ReadOnce, KeepsNothingOfWhatFails) {
  ReadOnce<std::string> texts(1 << 20);
  const auto fail = []() -> std::string { throw std::runtime_error("no"); };
  EXPECT_THROW(texts.Of("one", fail, SizeOf), std::runtime_error);
  EXPECT_EQ(texts.count(), 0);
  EXPECT_EQ(*texts.Of(
                "one", [] { return std::string("1"); }, SizeOf),
            "1");
}

TEST(ReadOnce, HoldsNoMoreThanItMay) {
  ReadOnce<std::string> texts(100000);
  for (int i = 0; i < 1000; ++i) {
    texts.Of(
        std::to_string(i), [] { return std::string(1000, 'x'); }, SizeOf);
    ASSERT_LE(texts.bytes(), 100000);
  }
  EXPECT_EQ(texts.count(), 1000);
  EXPECT_GT(texts.bytes(), 0);
  // What is too large for it leaves the others where they are.
  const int64_t before = texts.bytes();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(texts
                  .Of(
                      "large", [] { return std::string(200000, 'x'); }, SizeOf)
                  ->size(),
              200000U);
  }
  EXPECT_EQ(texts.bytes(), before);
  EXPECT_EQ(texts.count(), 1002);
}

TEST(ReadOnce, ThreadsReadATextOnce) {
  ReadOnce<std::string> texts(1 << 20);
  std::atomic<int> reads{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        const std::string text = std::to_string(i);
        const auto read = [&] {
          ++reads;
          return Upper(text);
        };
        EXPECT_EQ(*texts.Of(text, read, SizeOf), text);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(reads, 100);
  EXPECT_EQ(texts.count(), 100);
}

}  // namespace
}  // namespace hopper
