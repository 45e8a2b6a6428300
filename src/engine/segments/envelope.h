// A model on its way between processes, as bytes: what came so far in its iteration and what there
// is to report, then its state.
//
// Reading needs no model. It believes nothing: every length and count is compared with what is
// left, every number with its bounds. What a configuration or a table bounds (partitions, sums,
// slots) is the group's to check.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "engine/events.h"
#include "engine/model_status.h"
#include "engine/spent.h"
#include "engine/visit_record.h"
#include "schedule/course.h"
#include "train/metric_sums.h"
#include "train/stopping.h"

namespace hopper {

// The first byte of an envelope that a group has packed, and the second one.
constexpr uint8_t kEnvelopeKind = 'E';
constexpr uint8_t kEnvelopeVersion = 2;
// Parts of one model; each but the last has 64 MB.
constexpr int32_t kMostEnvelopeParts = 1024;

// What a model takes along beside its state.
struct EnvelopeHead {
  ModelStatus status = ModelStatus::kTraining;
  Course course;
  bool evaluating = false;  // what was ordered is not complete: the final pass, or the iteration's
  Observed observed;        // while it is deciding
  int64_t total_iterations = 0;
  Spent spent;
  Problem failure;  // message and detail
  MetricSums running;
  std::map<std::pair<int32_t, int32_t>, MetricSums> passed;  // by split and partition
  std::vector<Event> events;
  int32_t hop = 0;                  // segments visited before in this iteration
  std::vector<VisitRecord> visits;  // of this iteration
  bool has_state = false;           // false: the first visit makes the initial one
};

// Everything before the state, whose image follows where there is one.
void PutEnvelopeHead(const EnvelopeHead& head, ByteWriter* out);
// The last thing: a checksum of all that was put.
void SealEnvelope(std::vector<uint8_t>* out);
// Bytes that SealEnvelope() adds.
constexpr size_t kEnvelopeSeal = 16;

// An envelope that is not damaged; the image is the caller's memory.
struct Envelope {
  EnvelopeHead head;
  const uint8_t* image = nullptr;  // a state image, not looked at; null without a state
  size_t image_size = 0;
};

// Throws kCorrupt; for bytes that begin with kEnvelopeKind.
Envelope ReadEnvelope(int32_t mst_key, const uint8_t* bytes, size_t size);

}  // namespace hopper
