// Envelopes that nobody packed: every one is refused, or does no harm.
#include "engine/segments/envelope.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "engine/sums_bytes.h"
#include "support/group_driver.h"
#include "support/keras_models.h"

namespace hopper {
namespace {

EnvelopeHead FullHead() {
  EnvelopeHead head;
  head.course.iterations = 1;
  head.course.visit = 1;
  head.total_iterations = 1;
  head.spent.examples = 100;
  head.running = {1.5, {1.0, 2.0}, 10};
  head.passed[{HOPPER_SPLIT_TRAIN, 0}] = {0.5, {3.0, 4.0}, 20};
  Event event;
  event.type = EventType::kMetrics;
  event.mst_key = 7;
  event.iteration = 1;
  event.loss = 0.25;
  event.metrics = {0.0, 0.75};
  event.problem.message = "what it says";
  event.problem.hint = "and what to do";
  head.events = {event, event};
  VisitRecord visit;
  visit.mst_key = 7;
  visit.kind = VisitKind::kTrain;
  visit.n_partitions = 3;
  visit.evaluate = 1.5;
  visit.bytes_written = 1000;
  head.visits = {visit};
  return head;
}

std::vector<uint8_t> Bytes(const EnvelopeHead& head, const std::vector<uint8_t>& image = {}) {
  ByteWriter out;
  PutEnvelopeHead(head, &out);
  out.PutBytes(image.data(), image.size());
  std::vector<uint8_t> bytes = out.Take();
  SealEnvelope(&bytes);
  return bytes;
}

// With another checksum, so that the checks behind it are what is tested.
std::vector<uint8_t> Sealed(std::vector<uint8_t> bytes) {
  SealEnvelope(&bytes);
  return bytes;
}

bool IsTaken(const std::vector<uint8_t>& bytes) {
  try {
    ReadEnvelope(7, bytes.data(), bytes.size());
    return true;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kCorrupt);
    return false;
  }
}

TEST(EnvelopeTest, IsReadAsItWasPut) {
  EnvelopeHead head = FullHead();
  head.has_state = true;
  const std::vector<uint8_t> bytes = Bytes(head, {1, 2, 3});
  const Envelope envelope = ReadEnvelope(7, bytes.data(), bytes.size());
  EXPECT_EQ(envelope.image_size, 3U);
  EXPECT_EQ(envelope.head.course.visit, 1);
  ASSERT_EQ(envelope.head.events.size(), 2U);
  EXPECT_EQ(envelope.head.events[1].metrics, head.events[1].metrics);
  EXPECT_EQ(envelope.head.events[1].problem.message, "what it says");
  ASSERT_EQ(envelope.head.visits.size(), 1U);
  EXPECT_EQ(envelope.head.visits[0].bytes_written, 1000);
  EXPECT_EQ(envelope.head.running.metrics, head.running.metrics);
  ByteWriter again;
  PutEnvelopeHead(envelope.head, &again);
  EXPECT_EQ(std::memcmp(again.data(), bytes.data(), again.size()), 0);
}

TEST(EnvelopeTest, TextTakesItsLengthAndNoMore) {
  // Of an event's three texts of 512 bytes each.
  EXPECT_LT(Bytes(FullHead()).size(), 600U);
}

TEST(EnvelopeTest, AnotherVersionIsRefused) {
  std::vector<uint8_t> bytes = Bytes(FullHead());
  bytes.resize(bytes.size() - kEnvelopeSeal);
  EXPECT_EQ(bytes[1], kEnvelopeVersion);
  for (const int version : {kEnvelopeVersion - 1, kEnvelopeVersion + 1}) {
    bytes[1] = static_cast<uint8_t>(version);
    EXPECT_FALSE(IsTaken(Sealed(bytes)));
  }
}

TEST(EnvelopeTest, AnyChangedByteIsSeen) {
  const std::vector<uint8_t> bytes = Bytes(FullHead());
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::vector<uint8_t> changed = bytes;
    changed[at] ^= 0x10U;
    EXPECT_FALSE(IsTaken(changed)) << at;
  }
}

TEST(EnvelopeTest, EveryTruncationIsRefused) {
  const std::vector<uint8_t> bytes = Bytes(FullHead());
  for (size_t size = 0; size + kEnvelopeSeal < bytes.size(); ++size) {
    const std::vector<uint8_t> cut(bytes.begin(),
                                   bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(IsTaken(cut)) << size;
    EXPECT_FALSE(IsTaken(Sealed(cut))) << size;
  }
}

TEST(EnvelopeTest, CountsAreComparedWithWhatIsThere) {
  // Four billion events would be eight terabytes. Where the counts are: metrics observed, texts of
  // the failure, sums, passes, events, visits.
  const EnvelopeHead empty;
  std::vector<uint8_t> bytes = Bytes(empty);
  bytes.resize(bytes.size() - kEnvelopeSeal);
  ASSERT_EQ(bytes.size(), 129U);
  for (const size_t at : {27, 40, 84, 88, 108, 112, 116, 124}) {
    for (const uint8_t byte : {0xFF, 0x7F, 0x01}) {
      std::vector<uint8_t> changed = bytes;
      std::memset(changed.data() + at, byte, 4);
      EXPECT_FALSE(IsTaken(Sealed(changed))) << at;
    }
  }
}

TEST(EnvelopeTest, NumbersOutOfBoundsAreRefused) {
  const auto refuses = [](void (*change)(EnvelopeHead*)) {
    EnvelopeHead head = FullHead();
    change(&head);
    EXPECT_FALSE(IsTaken(Bytes(head)));
  };
  EXPECT_TRUE(IsTaken(Bytes(FullHead())));
  refuses([](EnvelopeHead* head) { head->course.visit = -1; });
  refuses([](EnvelopeHead* head) { head->course.iterations = -5; });
  refuses([](EnvelopeHead* head) { head->total_iterations = -1; });
  refuses([](EnvelopeHead* head) { head->status = static_cast<ModelStatus>(9); });
  refuses([](EnvelopeHead* head) { head->running.examples = -1; });
  refuses([](EnvelopeHead* head) { head->passed[{2, 0}] = {}; });
  refuses([](EnvelopeHead* head) { head->passed[{0, -1}] = {}; });
  refuses([](EnvelopeHead* head) { head->events[0].mst_key = 8; });
  refuses([](EnvelopeHead* head) { head->events[1].type = EventType::kLoad; });
  refuses([](EnvelopeHead* head) { head->visits[0].mst_key = 8; });
  refuses([](EnvelopeHead* head) { head->visits[0].hop = -1; });
  refuses([](EnvelopeHead* head) { head->has_state = true; });  // and no image
}

TEST(EnvelopeTest, TextsThatDoNotFitAreRefused) {
  const std::vector<uint8_t> bytes = Bytes(FullHead());
  const std::string text = "what it says";
  const auto found = std::search(bytes.begin(), bytes.end(), text.begin(), text.end());
  ASSERT_NE(found, bytes.end());
  const auto with = [&](uint32_t length, char letter) {
    std::vector<uint8_t> changed(bytes.begin(), found);
    std::memcpy(changed.data() + changed.size() - sizeof(length), &length, sizeof(length));
    changed.insert(changed.end(), length, static_cast<uint8_t>(letter));
    changed.insert(changed.end(), found + static_cast<std::ptrdiff_t>(text.size()),
                   bytes.end() - static_cast<std::ptrdiff_t>(kEnvelopeSeal));
    return IsTaken(Sealed(changed));
  };
  EXPECT_TRUE(with(511, 'x'));
  EXPECT_FALSE(with(512, 'x'));
  EXPECT_FALSE(with(4, '\0'));
}

TEST(EnvelopeTest, RandomDamageBehindTheChecksum) {
  std::mt19937 generator(1);
  std::vector<uint8_t> bytes = Bytes(FullHead());
  bytes.resize(bytes.size() - kEnvelopeSeal);
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> changed = bytes;
    for (unsigned n = 1 + generator() % 4; n > 0; --n) {
      changed[generator() % changed.size()] = static_cast<uint8_t>(generator());
    }
    IsTaken(Sealed(changed));
  }
}

// What a segment has packed, changed on its way to the next one of a run of Adam.
class HopTest : public ::testing::Test {
 protected:
  HopTest() : train_(Rows()) {
    options_.iterations = 2;
    options_.starts = {0};
  }
  static PackedTable::Options Rows() {
    PackedTable::Options options;
    options.rows = 60;
    options.partitions = 2;
    return options;
  }
  // After its first hop.
  std::unique_ptr<GroupDriver> Hopped(const std::string& optimizer) {
    Configuration config;
    config.key = 7;
    config.arch = MlpJson(20, 12, 3);
    config.compile =
        "loss='categorical_crossentropy', metrics=['accuracy'], optimizer='" + optimizer + "'";
    config.fit = "batch_size=8";
    auto driver =
        std::make_unique<GroupDriver>(options_, train_, nullptr, std::vector<int32_t>{1, 2},
                                      std::vector<int32_t>{}, std::vector<Configuration>{config});
    driver->HopOnce();
    return driver;
  }
  static std::string ErrorOf(GroupDriver* driver) {
    try {
      driver->HopOnce();
      return "";
    } catch (const std::runtime_error& e) {
      return e.what();
    }
  }
  void ExpectRefused(void (*change)(EnvelopeHead*)) {
    const auto driver = Hopped("Adam()");
    std::vector<uint8_t>* bytes = driver->Bytes(7);
    Envelope envelope = ReadEnvelope(7, bytes->data(), bytes->size());
    ASSERT_TRUE(envelope.head.has_state);
    change(&envelope.head);
    *bytes = hopper::Bytes(envelope.head, {envelope.image, envelope.image + envelope.image_size});
    EXPECT_EQ(ErrorOf(driver.get()), "an envelope does not fit its run");
  }

  RunOptions options_;
  PackedTable train_;
};

TEST_F(HopTest, UnchangedItGoesOn) { EXPECT_EQ(ErrorOf(Hopped("Adam()").get()), ""); }

// Adam would write its second moments beyond the end of the only slot there is.
TEST_F(HopTest, SlotsOfAnotherOptimizerAreRefused) {
  const auto driver = Hopped("Adam()");
  *driver->Bytes(7) = *Hopped("SGD(momentum=0.9)")->Bytes(7);
  EXPECT_EQ(ErrorOf(driver.get()), "an envelope does not fit its run");
}

TEST_F(HopTest, WhatTheRunCannotHaveIsRefused) {
  ExpectRefused([](EnvelopeHead* head) { head->course.visit = 2; });
  ExpectRefused([](EnvelopeHead* head) { head->course.iterations = head->total_iterations = 2; });
  ExpectRefused([](EnvelopeHead* head) { head->total_iterations = 1; });
  ExpectRefused([](EnvelopeHead* head) { head->running.metrics = {1.0, 2.0, 3.0}; });
  ExpectRefused([](EnvelopeHead* head) { head->passed[{HOPPER_SPLIT_TRAIN, 2}] = {}; });
  ExpectRefused([](EnvelopeHead* head) { head->passed[{HOPPER_SPLIT_VALID, 0}] = {}; });
  ExpectRefused([](EnvelopeHead* head) { head->observed.splits[0] = {true, 0.5, {}}; });
}

TEST_F(HopTest, StrayPartsAreRefused) {
  const auto driver = Hopped("Adam()");
  const uint8_t byte = HOPPER_ENVELOPE_NEW;
  EXPECT_NE(driver->AddPart(8, 0, 1, &byte, 1), "");
  EXPECT_NE(driver->AddPart(7, 0, kMostEnvelopeParts + 1, &byte, 1), "");
  EXPECT_NE(driver->AddPart(7, 1, 1, &byte, 1), "");
  EXPECT_NE(driver->AddPart(7, -1, 1, &byte, 1), "");
  EXPECT_NE(driver->AddPart(7, 0, 1, &byte, 0), "");
  EXPECT_EQ(driver->AddPart(7, 0, 2, &byte, 1), "");
  EXPECT_NE(driver->AddPart(7, 0, 2, &byte, 1), "");
  EXPECT_NE(driver->AddPart(7, 1, 3, &byte, 1), "");
}

}  // namespace
}  // namespace hopper
