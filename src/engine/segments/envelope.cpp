#include "engine/segments/envelope.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/field_text.h"
#include "base/hash.h"
#include "base/pieces.h"
#include "engine/sums_bytes.h"
#include "model_hopper/limits.h"

namespace hopper {

namespace {

constexpr uint64_t kChecksumSeed = 0x484f50454e56;
// No run has as many iterations or examples; sums of a few stay far from overflowing.
constexpr int64_t kMostCounted = int64_t{1} << 53;
// An iteration evaluates two splits and reports a handful of things beside.
constexpr uint32_t kMostEvents = 1U << 20;

[[noreturn]] void Damaged() { throw Error(ErrorCode::kCorrupt, "an envelope is damaged"); }

void Require(bool holds) {
  if (!holds) Damaged();
}

bool GetFlag(ByteReader* in) {
  const auto flag = in->Get<uint8_t>();
  Require(flag <= 1);
  return flag != 0;
}

template <typename T>
T GetBetween(ByteReader* in, T least, T most) {
  const T value = in->Get<T>();
  Require(value >= least && value <= most);
  return value;
}

double GetSeconds(ByteReader* in) {
  const auto seconds = in->Get<double>();
  Require(std::isfinite(seconds) && seconds >= 0.0);
  return seconds;
}

// A count of things of `width` bytes or more, all of which must be there.
uint32_t GetCount(ByteReader* in, size_t width) {
  const auto n = in->Get<uint32_t>();
  Require(n <= in->remaining() / width);
  return n;
}

// A text of an event. The C boundary has room for as many bytes of one, and no more.
constexpr size_t kMostText = 511;

void PutText(const std::string& text, ByteWriter* out) { out->PutString(CutText(text, kMostText)); }

std::string GetText(ByteReader* in) {
  std::string text = in->GetString();
  Require(text.size() <= kMostText && text.find('\0') == std::string::npos);
  return text;
}

// Bytes of an event without metrics and texts, and of a visit.
constexpr size_t kLeastEvent = 8 * sizeof(int32_t) + 2 * sizeof(double) + 4 * sizeof(uint32_t);
constexpr size_t kVisitSize = 8 * sizeof(int32_t) + 6 * sizeof(double) + sizeof(int64_t);

void PutEvent(const Event& event, ByteWriter* out) {
  out->Put<int32_t>(static_cast<int32_t>(event.type));
  out->Put<int32_t>(event.mst_key);
  out->Put<int32_t>(event.iteration);
  out->Put<int32_t>(event.split);
  out->Put<int32_t>(event.running ? 1 : 0);
  out->Put<int32_t>(event.n_live);
  out->Put<double>(event.loss);
  out->Put<uint32_t>(static_cast<uint32_t>(event.metrics.size()));
  for (const double value : event.metrics) out->Put<double>(value);
  out->Put<double>(event.elapsed);
  PutText(event.problem.message, out);
  PutText(event.problem.detail, out);
  PutText(event.problem.hint, out);
  out->Put<int32_t>(event.partition);
  out->Put<int32_t>(event.take ? 1 : 0);
}

Event GetEvent(ByteReader* in) {
  Event event;
  event.type = static_cast<EventType>(in->Get<int32_t>());
  event.mst_key = in->Get<int32_t>();
  event.iteration = in->Get<int32_t>();
  event.split = in->Get<int32_t>();
  event.running = GetBetween<int32_t>(in, 0, 1) != 0;
  event.n_live = in->Get<int32_t>();
  event.loss = in->Get<double>();
  const uint32_t n = GetCount(in, sizeof(double));
  Require(n <= HOPPER_MAX_METRICS);
  for (uint32_t i = 0; i < n; ++i) event.metrics.push_back(in->Get<double>());
  event.elapsed = in->Get<double>();
  event.problem.message = GetText(in);
  event.problem.detail = GetText(in);
  event.problem.hint = GetText(in);
  event.partition = in->Get<int32_t>();
  event.take = GetBetween<int32_t>(in, 0, 1) != 0;
  return event;
}

void PutVisit(const VisitRecord& visit, ByteWriter* out) {
  for (const int32_t value :
       {visit.mst_key, visit.iteration, static_cast<int32_t>(visit.kind), visit.split, visit.worker,
        visit.hop, visit.first_partition, visit.n_partitions}) {
    out->Put<int32_t>(value);
  }
  for (const double seconds :
       {visit.started, visit.read, visit.wait, visit.hopping, visit.train, visit.evaluate}) {
    out->Put<double>(seconds);
  }
  out->Put<int64_t>(visit.bytes_written);
}

VisitRecord GetVisit(ByteReader* in) {
  VisitRecord visit;
  int32_t kind = 0;
  for (int32_t* value : {&visit.mst_key, &visit.iteration, &kind, &visit.split, &visit.worker,
                         &visit.hop, &visit.first_partition, &visit.n_partitions}) {
    *value = in->Get<int32_t>();
  }
  visit.kind = static_cast<VisitKind>(kind);
  for (double* seconds :
       {&visit.started, &visit.read, &visit.wait, &visit.hopping, &visit.train, &visit.evaluate}) {
    *seconds = in->Get<double>();
  }
  visit.bytes_written = in->Get<int64_t>();
  return visit;
}

void CheckEvent(int32_t mst_key, const Event& event) {
  Require(event.type == EventType::kMetrics || event.type == EventType::kModelFailed ||
          event.type == EventType::kModelStopped || event.type == EventType::kWarning);
  Require(event.mst_key == mst_key);
  Require(event.split == kTrainSplit || event.split == kValidSplit);
}

void CheckVisit(int32_t mst_key, const VisitRecord& visit) {
  Require(visit.mst_key == mst_key);
  Require(visit.kind == VisitKind::kTrain || visit.kind == VisitKind::kEvaluate);
  Require(visit.split == kTrainSplit || visit.split == kValidSplit);
  Require(visit.hop >= 0 && visit.first_partition >= 0 && visit.n_partitions >= 0);
  for (const double seconds :
       {visit.started, visit.read, visit.wait, visit.hopping, visit.train, visit.evaluate}) {
    Require(std::isfinite(seconds));
  }
}

void PutObserved(const Observed& observed, ByteWriter* out) {
  for (const Observed::Split& split : observed.splits) {
    out->Put<uint8_t>(split.known ? 1 : 0);
    out->Put<double>(split.loss);
    out->Put<uint32_t>(static_cast<uint32_t>(split.metrics.size()));
    for (const double value : split.metrics) out->Put<double>(value);
  }
}

void GetObserved(ByteReader* in, Observed* observed) {
  for (Observed::Split& split : observed->splits) {
    split.known = GetFlag(in);
    split.loss = in->Get<double>();
    const uint32_t n = GetCount(in, sizeof(double));
    Require(n <= HOPPER_MAX_METRICS);
    for (uint32_t i = 0; i < n; ++i) split.metrics.push_back(in->Get<double>());
  }
}

MetricSums GetCheckedSums(ByteReader* in) {
  MetricSums sums = GetSums(in);
  Require(sums.examples >= 0 && sums.examples <= kMostCounted);
  return sums;
}

Digest Checksum(const uint8_t* bytes, size_t size) {
  return HashInPieces(bytes, size, kChecksumSeed);
}

}  // namespace

void PutEnvelopeHead(const EnvelopeHead& head, ByteWriter* out) {
  out->Put<uint8_t>(kEnvelopeKind);
  out->Put<uint8_t>(kEnvelopeVersion);
  out->Put<int32_t>(static_cast<int32_t>(head.status));
  out->Put<int32_t>(head.course.iterations);
  out->Put<int32_t>(head.course.visit);
  out->Put<uint8_t>(head.evaluating ? 1 : 0);
  out->Put<uint8_t>(head.course.stopped ? 1 : 0);
  out->Put<uint8_t>(head.course.deciding ? 1 : 0);
  out->Put<uint8_t>(head.course.final_pass ? 1 : 0);
  PutObserved(head.observed, out);
  out->Put<int64_t>(head.total_iterations);
  out->Put<int64_t>(head.spent.examples);
  out->Put<double>(head.spent.seconds_training);
  out->Put<double>(head.spent.seconds_evaluating);
  out->Put<double>(head.spent.seconds_waiting);
  out->PutString(head.failure.message);
  out->PutString(head.failure.detail);
  PutSums(head.running, out);
  out->Put<uint32_t>(static_cast<uint32_t>(head.passed.size()));
  for (const auto& [at, sums] : head.passed) {
    out->Put<int32_t>(at.first);
    out->Put<int32_t>(at.second);
    PutSums(sums, out);
  }
  out->Put<uint32_t>(static_cast<uint32_t>(head.events.size()));
  for (const Event& event : head.events) PutEvent(event, out);
  out->Put<int32_t>(head.hop);
  out->Put<uint32_t>(static_cast<uint32_t>(head.visits.size()));
  for (const VisitRecord& visit : head.visits) PutVisit(visit, out);
  out->Put<uint8_t>(head.has_state ? 1 : 0);
}

void SealEnvelope(std::vector<uint8_t>* out) {
  const Digest checksum = Checksum(out->data(), out->size());
  out->insert(out->end(), checksum.bytes.begin(), checksum.bytes.end());
}

Envelope ReadEnvelope(int32_t mst_key, const uint8_t* bytes, size_t size) {
  Require(size > kEnvelopeSeal);
  const size_t body = size - kEnvelopeSeal;
  Require(std::memcmp(Checksum(bytes, body).bytes.data(), bytes + body, kEnvelopeSeal) == 0);
  ByteReader in(bytes, body, "an envelope");
  Require(in.Get<uint8_t>() == kEnvelopeKind);
  Require(in.Get<uint8_t>() == kEnvelopeVersion);
  Envelope envelope;
  EnvelopeHead& head = envelope.head;
  head.status = static_cast<ModelStatus>(in.Get<int32_t>());
  Require(head.status == ModelStatus::kTraining || head.status == ModelStatus::kFailed);
  head.course.iterations = GetBetween<int32_t>(&in, 0, std::numeric_limits<int32_t>::max() - 1);
  head.course.visit = GetBetween<int32_t>(&in, 0, std::numeric_limits<int32_t>::max() - 1);
  head.evaluating = GetFlag(&in);
  head.course.stopped = GetFlag(&in);
  head.course.deciding = GetFlag(&in);
  head.course.final_pass = GetFlag(&in);
  GetObserved(&in, &head.observed);
  head.total_iterations = GetBetween<int64_t>(&in, 0, kMostCounted);
  head.spent.examples = GetBetween<int64_t>(&in, 0, kMostCounted);
  head.spent.seconds_training = GetSeconds(&in);
  head.spent.seconds_evaluating = GetSeconds(&in);
  head.spent.seconds_waiting = GetSeconds(&in);
  head.failure.message = in.GetString();
  head.failure.detail = in.GetString();
  head.running = GetCheckedSums(&in);
  const uint32_t n_passed = GetCount(&in, 2 * sizeof(int32_t));
  for (uint32_t i = 0; i < n_passed; ++i) {
    const auto split = GetBetween<int32_t>(&in, kTrainSplit, kValidSplit);
    const auto partition = GetBetween<int32_t>(&in, 0, std::numeric_limits<int32_t>::max());
    Require(head.passed.emplace(std::make_pair(split, partition), GetCheckedSums(&in)).second);
  }
  const uint32_t n_events = GetCount(&in, kLeastEvent);
  Require(n_events <= kMostEvents);
  head.events.resize(n_events);
  for (Event& event : head.events) {
    event = GetEvent(&in);
    CheckEvent(mst_key, event);
  }
  head.hop = GetBetween<int32_t>(&in, 0, std::numeric_limits<int32_t>::max() - 1);
  head.visits.resize(GetCount(&in, kVisitSize));
  for (VisitRecord& visit : head.visits) {
    visit = GetVisit(&in);
    CheckVisit(mst_key, visit);
  }
  head.has_state = GetFlag(&in);
  Require(head.has_state ? in.remaining() > 0 : in.remaining() == 0);
  // A model that has failed has left its state behind.
  Require(!(head.has_state && head.status == ModelStatus::kFailed));
  if (head.has_state) {
    envelope.image_size = in.remaining();
    envelope.image = in.View(envelope.image_size);
  }
  return envelope;
}

}  // namespace hopper
