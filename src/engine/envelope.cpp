#include "engine/envelope.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/hash.h"
#include "engine/sums_bytes.h"

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

template <size_t N>
void PutText(const char (&text)[N], ByteWriter* out) {
  out->PutString({text, static_cast<size_t>(std::find(text, text + N, 0) - text)});
}

template <size_t N>
void GetText(ByteReader* in, char (&text)[N]) {
  const std::string got = in->GetString();
  Require(got.size() < N && got.find('\0') == std::string::npos);
  std::memcpy(text, got.c_str(), got.size() + 1);
}

// Bytes of an event without metrics and texts, and of a visit.
constexpr size_t kLeastEvent = 8 * sizeof(int32_t) + 2 * sizeof(double) + 4 * sizeof(uint32_t);
constexpr size_t kVisitSize = 8 * sizeof(int32_t) + 6 * sizeof(double) + sizeof(int64_t);

void PutEvent(const hopper_event& event, ByteWriter* out) {
  out->Put<int32_t>(event.type);
  out->Put<int32_t>(event.mst_key);
  out->Put<int32_t>(event.iteration);
  out->Put<int32_t>(event.split);
  out->Put<int32_t>(event.running);
  out->Put<int32_t>(event.n_live);
  out->Put<double>(event.loss);
  const auto n = static_cast<uint32_t>(std::clamp(event.n_metrics, 0, HOPPER_MAX_METRICS));
  out->Put<uint32_t>(n);
  for (uint32_t i = 0; i < n; ++i) out->Put<double>(event.metrics[i]);
  out->Put<double>(event.elapsed);
  PutText(event.message, out);
  PutText(event.detail, out);
  PutText(event.hint, out);
  out->Put<int32_t>(event.partition);
  out->Put<int32_t>(event.take);
}

hopper_event GetEvent(ByteReader* in) {
  hopper_event event = {};
  event.type = in->Get<int32_t>();
  event.mst_key = in->Get<int32_t>();
  event.iteration = in->Get<int32_t>();
  event.split = in->Get<int32_t>();
  event.running = in->Get<int32_t>();
  event.n_live = in->Get<int32_t>();
  event.loss = in->Get<double>();
  const auto n = in->Get<uint32_t>();
  Require(n <= HOPPER_MAX_METRICS);
  event.n_metrics = static_cast<int32_t>(n);
  for (uint32_t i = 0; i < n; ++i) event.metrics[i] = in->Get<double>();
  event.elapsed = in->Get<double>();
  GetText(in, event.message);
  GetText(in, event.detail);
  GetText(in, event.hint);
  event.partition = in->Get<int32_t>();
  event.take = in->Get<int32_t>();
  return event;
}

void PutVisit(const hopper_visit& visit, ByteWriter* out) {
  for (const int32_t value : {visit.mst_key, visit.iteration, visit.kind, visit.split, visit.worker,
                              visit.hop, visit.first_partition, visit.n_partitions}) {
    out->Put<int32_t>(value);
  }
  for (const double seconds :
       {visit.started, visit.read, visit.wait, visit.moved, visit.train, visit.evaluate}) {
    out->Put<double>(seconds);
  }
  out->Put<int64_t>(visit.bytes_written);
}

hopper_visit GetVisit(ByteReader* in) {
  hopper_visit visit = {};
  for (int32_t* value : {&visit.mst_key, &visit.iteration, &visit.kind, &visit.split, &visit.worker,
                         &visit.hop, &visit.first_partition, &visit.n_partitions}) {
    *value = in->Get<int32_t>();
  }
  for (double* seconds :
       {&visit.started, &visit.read, &visit.wait, &visit.moved, &visit.train, &visit.evaluate}) {
    *seconds = in->Get<double>();
  }
  visit.bytes_written = in->Get<int64_t>();
  return visit;
}

void CheckEvent(int32_t mst_key, const hopper_event& event) {
  Require(event.type == HOPPER_EVENT_METRICS || event.type == HOPPER_EVENT_MODEL_FAILED ||
          event.type == HOPPER_EVENT_MODEL_STOPPED || event.type == HOPPER_EVENT_WARNING);
  Require(event.mst_key == mst_key);
  Require(event.split == HOPPER_SPLIT_TRAIN || event.split == HOPPER_SPLIT_VALID);
}

void CheckVisit(int32_t mst_key, const hopper_visit& visit) {
  Require(visit.mst_key == mst_key);
  Require(visit.kind == HOPPER_VISIT_TRAIN || visit.kind == HOPPER_VISIT_EVALUATE);
  Require(visit.split == HOPPER_SPLIT_TRAIN || visit.split == HOPPER_SPLIT_VALID);
  Require(visit.hop >= 0 && visit.first_partition >= 0 && visit.n_partitions >= 0);
  for (const double seconds :
       {visit.started, visit.read, visit.wait, visit.moved, visit.train, visit.evaluate}) {
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

Digest Checksum(const uint8_t* bytes, size_t size) { return Hash(bytes, size, kChecksumSeed); }

}  // namespace

void PutEnvelopeHead(const EnvelopeHead& head, ByteWriter* out) {
  out->Put<uint8_t>(kEnvelopeKind);
  out->Put<uint8_t>(kEnvelopeVersion);
  out->Put<int32_t>(head.status);
  out->Put<int32_t>(head.course.iterations);
  out->Put<int32_t>(head.course.visit);
  out->Put<uint8_t>(head.evaluating ? 1 : 0);
  out->Put<uint8_t>(head.course.stopped ? 1 : 0);
  out->Put<uint8_t>(head.course.deciding ? 1 : 0);
  out->Put<uint8_t>(head.course.final_pass ? 1 : 0);
  PutObserved(head.observed, out);
  out->Put<int64_t>(head.total_iterations);
  out->Put<int64_t>(head.examples);
  out->Put<double>(head.seconds_training);
  out->Put<double>(head.seconds_evaluating);
  out->Put<double>(head.seconds_waiting);
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
  for (const hopper_event& event : head.events) PutEvent(event, out);
  out->Put<int32_t>(head.hop);
  out->Put<uint32_t>(static_cast<uint32_t>(head.visits.size()));
  for (const hopper_visit& visit : head.visits) PutVisit(visit, out);
  out->Put<uint8_t>(head.has_state ? 1 : 0);
}

void SealEnvelope(ByteWriter* out) {
  const Digest checksum = Checksum(out->data(), out->size());
  out->PutBytes(checksum.bytes.data(), checksum.bytes.size());
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
  const auto status = in.Get<int32_t>();
  Require(status == HOPPER_MODEL_TRAINING || status == HOPPER_MODEL_FAILED);
  head.status = static_cast<hopper_model_status>(status);
  head.course.iterations = GetBetween<int32_t>(&in, 0, std::numeric_limits<int32_t>::max() - 1);
  head.course.visit = GetBetween<int32_t>(&in, 0, std::numeric_limits<int32_t>::max() - 1);
  head.evaluating = GetFlag(&in);
  head.course.stopped = GetFlag(&in);
  head.course.deciding = GetFlag(&in);
  head.course.final_pass = GetFlag(&in);
  GetObserved(&in, &head.observed);
  head.total_iterations = GetBetween<int64_t>(&in, 0, kMostCounted);
  head.examples = GetBetween<int64_t>(&in, 0, kMostCounted);
  head.seconds_training = GetSeconds(&in);
  head.seconds_evaluating = GetSeconds(&in);
  head.seconds_waiting = GetSeconds(&in);
  head.failure.message = in.GetString();
  head.failure.detail = in.GetString();
  head.running = GetCheckedSums(&in);
  const uint32_t n_passed = GetCount(&in, 2 * sizeof(int32_t));
  for (uint32_t i = 0; i < n_passed; ++i) {
    const auto split = GetBetween<int32_t>(&in, HOPPER_SPLIT_TRAIN, HOPPER_SPLIT_VALID);
    const auto partition = GetBetween<int32_t>(&in, 0, std::numeric_limits<int32_t>::max());
    Require(head.passed.emplace(std::make_pair(split, partition), GetCheckedSums(&in)).second);
  }
  const uint32_t n_events = GetCount(&in, kLeastEvent);
  Require(n_events <= kMostEvents);
  head.events.resize(n_events);
  for (hopper_event& event : head.events) {
    event = GetEvent(&in);
    CheckEvent(mst_key, event);
  }
  head.hop = GetBetween<int32_t>(&in, 0, std::numeric_limits<int32_t>::max() - 1);
  head.visits.resize(GetCount(&in, kVisitSize));
  for (hopper_visit& visit : head.visits) {
    visit = GetVisit(&in);
    CheckVisit(mst_key, visit);
  }
  head.has_state = GetFlag(&in);
  Require(head.has_state ? in.remaining() > 0 : in.remaining() == 0);
  // A model that has failed has left its state behind.
  Require(!(head.has_state && head.status == HOPPER_MODEL_FAILED));
  if (head.has_state) {
    envelope.image_size = in.remaining();
    envelope.image = in.View(envelope.image_size);
  }
  return envelope;
}

}  // namespace hopper
