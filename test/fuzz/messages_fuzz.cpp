// Envelopes, in which models travel between segments: any bytes, and damaged ones. The checksum
// would stop a mutation at once: it is written anew.
#include <vector>

#include "engine/segments/envelope.h"
#include "engine/sums_bytes.h"
#include "fuzz.h"

using namespace hopper;

namespace {

constexpr int32_t kKey = 7;

MetricSums Sums(FuzzInput* in) {
  MetricSums sums;
  sums.loss = in->Get<double>();
  sums.examples = in->Get<int64_t>();
  sums.metrics.resize(in->Get<uint8_t>() % 8, 0.25);
  return sums;
}

// Of any numbers, in and out of bounds.
EnvelopeHead Head(FuzzInput* in) {
  EnvelopeHead head;
  const auto flags = in->Get<uint8_t>();
  head.evaluating = (flags & 1U) != 0;
  head.course.stopped = (flags & 2U) != 0;
  head.course.deciding = (flags & 4U) != 0;
  head.course.final_pass = (flags & 8U) != 0;
  head.has_state = (flags & 16U) != 0;
  if ((flags & 32U) != 0) head.status = ModelStatus::kFailed;
  head.course.iterations = in->Get<int16_t>();
  head.course.visit = in->Get<int16_t>();
  head.total_iterations = in->Get<int32_t>();
  head.spent.examples = in->Get<int32_t>();
  head.spent.seconds_training = in->Get<double>();
  for (Observed::Split& split : head.observed.splits) {
    split.known = in->Get<uint8_t>() % 2 != 0;
    split.metrics.resize(in->Get<uint8_t>(), 0.5);
  }
  head.failure.message.resize(in->Get<uint8_t>(), 'm');
  head.running = Sums(in);
  for (unsigned n = in->Get<uint8_t>() % 4; n > 0; --n) {
    const auto split = in->Get<int8_t>();
    const auto partition = in->Get<int8_t>();
    head.passed[{split, partition}] = Sums(in);
  }
  head.events.resize(in->Get<uint8_t>() % 3);
  for (Event& event : head.events) {
    event.type = static_cast<EventType>(in->Get<uint8_t>() % 16);
    event.mst_key = kKey;
    event.split = in->Get<int8_t>();
    event.metrics.resize(in->Get<uint8_t>() % 40);
    event.problem.message.resize(in->Get<uint8_t>(), 'm');
  }
  head.hop = in->Get<int16_t>();
  head.visits.resize(in->Get<uint8_t>() % 3);
  for (VisitRecord& visit : head.visits) {
    visit.mst_key = kKey;
    visit.kind = static_cast<VisitKind>(in->Get<int8_t>());
    visit.split = in->Get<int8_t>();
    visit.started = in->Get<double>();
  }
  return head;
}

std::vector<uint8_t> Sealed(const void* bytes, size_t size) {
  const auto* first = static_cast<const uint8_t*>(bytes);
  std::vector<uint8_t> sealed(first, first + size);
  SealEnvelope(&sealed);
  return sealed;
}

void Read(const std::vector<uint8_t>& bytes) {
  Try([&] {
    const Envelope envelope = ReadEnvelope(kKey, bytes.data(), bytes.size());
    Expect(envelope.head.has_state == (envelope.image_size > 0), "an image where it is announced");
    ByteWriter out;
    PutEnvelopeHead(envelope.head, &out);
    out.PutBytes(envelope.image, envelope.image_size);
    const std::vector<uint8_t> again = Sealed(out.data(), out.size());
    const Envelope twice = ReadEnvelope(kKey, again.data(), again.size());
    ByteWriter put;
    PutEnvelopeHead(twice.head, &put);
    put.PutBytes(twice.image, twice.image_size);
    Expect(Sealed(put.data(), put.size()) == again, "what is read and written stays");
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzInput in(data, size);
  switch (in.Get<uint8_t>() % 4) {
    case 0:  // any bytes
      Read(Sealed(in.at(), in.Left()));
      break;
    case 1: {  // the sums that an evaluation's segments hand on
      ByteReader reader(in.at(), in.Left(), "the sums");
      Try([&] {
        const MetricSums sums = GetSums(&reader);
        ByteWriter out;
        PutSums(sums, &out);
        Expect(std::memcmp(out.data(), in.at(), out.size()) == 0, "sums as they were read");
      });
      break;
    }
    default: {  // an envelope, some of its bytes changed, cut somewhere
      EnvelopeHead head = Head(&in);
      ByteWriter out;
      PutEnvelopeHead(head, &out);
      for (unsigned n = head.has_state ? 40 : 0; n > 0; --n) out.Put<uint8_t>(0);
      std::vector<uint8_t> bytes = out.Take();
      while (in.Left() >= 3) {
        const size_t at = in.Get<uint16_t>() % (bytes.size() + 1);
        const auto byte = in.Get<uint8_t>();
        if (at < bytes.size()) bytes[at] = byte;
      }
      if (in.Left() > 0) bytes.resize(bytes.size() - in.Get<uint8_t>() % bytes.size());
      Read(Sealed(bytes.data(), bytes.size()));
    }
  }
  return 0;
}
