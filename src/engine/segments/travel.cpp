// How models come to a segment and leave it: parts of envelopes, what is in them, and results.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/pieces.h"
#include "engine/configuration.h"
#include "engine/segments/device.h"
#include "engine/segments/envelope.h"
#include "engine/segments/traveller.h"
#include "engine/warm_start.h"
#include "schedule/workers.h"
#include "train/sums.h"

namespace hopper {

namespace {

// Half of the largest value would do for text output and the like.
constexpr size_t kPartBytes = size_t{64} << 20;

void Append(const uint8_t* bytes, size_t size, std::vector<uint8_t>* to) {
  AppendInPieces(size, to, [&](uint8_t* at, size_t n) {
    std::memcpy(at, bytes, n);
    bytes += n;
  });
}

void Append(StateWriter* writer, std::vector<uint8_t>* to) {
  AppendInPieces(writer->size(), to, [&](uint8_t* at, size_t n) { writer->Read(at, n); });
}

}  // namespace

bool Group::AddPart(int32_t mst_key, int32_t part, int32_t n_parts, const uint8_t* bytes,
                    size_t size) {
  const auto config = configs_.find(mst_key);
  if (config == configs_.end()) {
    throw Error(ErrorCode::kCorrupt,
                "configuration " + std::to_string(mst_key) + " is not in the run");
  }
  if (n_parts < 1 || n_parts > kMostEnvelopeParts || part < 0 || part >= n_parts || size == 0) {
    throw Error(ErrorCode::kCorrupt, "a part of configuration " + std::to_string(mst_key) +
                                         " is empty or has a number that cannot be");
  }
  const bool at_work = workers_ != nullptr;
  Traveller* late = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (at_work && arriving_ != kNobody) late = travellers_[static_cast<size_t>(arriving_)].get();
    if (!at_work && arrivals_.empty()) BeginHopLocked();
  }
  if (at_work && (late == nullptr || late->key != mst_key)) {
    throw Error(ErrorCode::kInternal,
                "configuration " + std::to_string(mst_key) + " comes when it is not wanted");
  }
  Arrival& arrival = arrivals_[mst_key];
  if (arrival.parts.empty()) {
    arrival.parts.resize(static_cast<size_t>(n_parts));
    arrival.came.resize(static_cast<size_t>(n_parts), false);
    arrival.missing = n_parts;
    const std::lock_guard<std::mutex> lock(mutex_);
    const ModelMemory memory = config->second.Needs();
    arrival.later = !at_work && !HasRoomLocked(memory);
    if (!at_work && !arrival.later) EnterRoomLocked(memory);
  }
  if (static_cast<size_t>(n_parts) != arrival.parts.size() ||
      arrival.came[static_cast<size_t>(part)]) {
    throw Error(ErrorCode::kCorrupt,
                "parts of configuration " + std::to_string(mst_key) + " do not fit together");
  }
  if (!arrival.later) {
    Append(bytes, size, &arrival.parts[static_cast<size_t>(part)]);
  }
  arrival.came[static_cast<size_t>(part)] = true;
  --arrival.missing;
  if (late == nullptr || arrival.missing > 0) return !arrival.later;
  Unpack(&arrival, late);
  arrivals_.clear();
  const std::lock_guard<std::mutex> lock(mutex_);
  arriving_ = kNobody;
  ArriveLocked(late);
  UpdateLocked(late);
  RequestLoadLocked();
  WakeNextLocked();
  return true;
}

bool Group::NextArrival(int32_t* mst_key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (arriving_ != kNobody || waiting_.empty()) return false;
  const Traveller& model = *travellers_[waiting_.front()];
  if (!HasRoomLocked(model.memory)) return false;
  EnterRoomLocked(model.memory);
  arriving_ = static_cast<int64_t>(waiting_.front());
  waiting_.pop_front();
  *mst_key = model.key;
  return true;
}

// Nobody is here.
void Group::BeginHopLocked() {
  travellers_.clear();
  waiting_.clear();
  packed_.clear();
  out_ = Outgoing();
  arriving_ = kNobody;
  fixed_ = FixedBytes();
  room_ = ModelRoom(account_->limit() - fixed_, WorkerCount());
}

// On a segment with fewer threads than a model wants, they take turns: the same bits.
int Group::WorkerCount() const {
  if (device_ != nullptr) return 1;  // that drives the GPU
  return WorkersOf(settings_.threads, settings_.threads_per_model);
}

// What a segment has in memory, whoever is there.
int64_t Group::FixedBytes() const {
  return (window_ != nullptr ? window_bytes_ + reading_ : data_.bytes()) + kept_.all();
}

bool Group::HasRoomLocked(const ModelMemory& memory) const {
  return room_.HasFor(memory.lasting(), memory.task);
}

void Group::EnterRoomLocked(const ModelMemory& memory) {
  room_.Enter(memory.lasting(), memory.task);
}

void Group::LeaveRoomLocked(const ModelMemory& memory) {
  room_.Leave(memory.lasting(), memory.task);
}

// Its envelope has been read. A failed model has no state.
void Group::ArriveLocked(Traveller* model) {
  model->here = true;
  model->until = Until(*model);
  if (model->status != ModelStatus::kFailed) return;
  LeaveRoomLocked(model->memory);
  model->memory = ModelMemory();
  EnterRoomLocked(model->memory);
}

std::unique_ptr<Group::Traveller> Group::Meet(int32_t mst_key) const {
  const auto config = configs_.find(mst_key);
  if (config == configs_.end()) {
    throw Error(ErrorCode::kInternal,
                "configuration " + std::to_string(mst_key) + " is not in the run");
  }
  auto model = std::make_unique<Traveller>();
  model->key = mst_key;
  model->trainer = config->second.trainer.get();
  if (model->trainer != nullptr) model->watching = model->trainer->stopping().watching();
  if (device_ != nullptr && model->trainer != nullptr) {
    model->lane_key = device_->LaneKey(*model->trainer, data_.train().desc());
  }
  model->memory = config->second.Needs();
  model->rules = config->second.rules;
  return model;
}

void Group::Unpack(Arrival* arrival, Traveller* model) const {
  const Config& config = configs_.at(model->key);
  size_t size = 0;
  for (const std::vector<uint8_t>& part : arrival->parts) size += part.size();
  std::vector<uint8_t> whole;
  if (arrival->parts.size() == 1) whole = std::move(arrival->parts.front());
  whole.reserve(size);
  for (size_t i = 0; whole.size() < size; ++i) {
    const std::vector<uint8_t> part = std::move(arrival->parts[i]);
    Append(part.data(), part.size(), &whole);
  }
  ByteReader in(whole.data(), whole.size(), "an envelope");
  const auto kind = in.Get<uint8_t>();
  Envelope envelope;
  if (kind == kEnvelopeKind) {
    envelope = ReadEnvelope(model->key, whole.data(), whole.size());
    model->status = envelope.head.status;
  }
  const bool refused = model->trainer == nullptr || config.refused;
  if (refused && model->status != ModelStatus::kFailed) {
    Fail(model, config.problem);
    return;
  }
  try {
    switch (kind) {
      case static_cast<uint8_t>(NewEnvelope::kInitial):
        break;  // the first visit makes the state
      case static_cast<uint8_t>(NewEnvelope::kWeights): {
        const size_t n = in.remaining() / sizeof(float);
        const ModelSpec& spec = model->trainer->network().spec();
        CheckWeightCount(spec, static_cast<int64_t>(n));
        AlignedArray<float> weights(n);
        CopyInPieces(weights.data(), in.View(n * sizeof(float)), n * sizeof(float));
        CheckWeights(spec, weights.data(), static_cast<int64_t>(n));
        model->state =
            model->trainer->InitialState(weights.data(), settings_.ClassOf(*model->trainer));
        model->has_state = true;
        break;
      }
      case static_cast<uint8_t>(NewEnvelope::kState): {
        const size_t left = in.remaining();
        TakeState(in.View(left), left, model);
        model->course.iterations = config.done;
        break;
      }
      case kEnvelopeKind:
        TakeEnvelope(std::move(envelope), model);
        break;
      default:
        throw Error(ErrorCode::kCorrupt, "an envelope is damaged");
    }
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kCorrupt || e.code() == ErrorCode::kNotReady) throw;
    Fail(model, e.problem());
  }
}

void Group::PushWarning(const Problem& problem, Traveller* model) {
  Event event;
  event.type = EventType::kWarning;
  event.mst_key = model->key;
  event.problem = problem;
  model->events.push_back(std::move(event));
}

void Group::TakeState(const uint8_t* image, size_t size, Traveller* model) const {
  ModelState state = ReadStored(*model->trainer, image, size);
  const auto warn = [model](const Problem& problem) { PushWarning(problem, model); };
  AdaptStored(model->key, *model->trainer, settings_.ClassOf(*model->trainer),
              settings_.mix_numerics, warn, &state);
  model->total_iterations = state.iteration;
  model->state = std::move(state);
  model->has_state = true;
  if (Stopping::Stopped(model->state.monitor)) Stop(model);
}

// What ReadEnvelope() cannot know: the run's table, its configuration and its rules.
void Group::CheckHead(const EnvelopeHead& head, const Traveller& model) const {
  const auto require = [](bool holds) {
    if (!holds) throw Error(ErrorCode::kCorrupt, "an envelope does not fit its run");
  };
  require(head.course.iterations <= model.rules.num_iterations);
  require(head.course.visit < data_.train().n_partitions());
  require(head.total_iterations >= head.course.iterations);
  size_t n_sums = 0;
  if (model.trainer != nullptr) {
    n_sums =
        static_cast<size_t>(SumCount(model.trainer->compile(), model.trainer->network().spec()));
  }
  const auto fits = [&](const MetricSums& sums) {
    return sums.metrics.empty() || sums.metrics.size() == n_sums;
  };
  require(model.trainer == nullptr || fits(head.running));
  for (const Observed::Split& split : head.observed.splits) {
    require(!split.known || model.trainer == nullptr ||
            split.metrics.size() == model.trainer->compile().metrics.size());
  }
  for (const auto& [at, sums] : head.passed) {
    require(at.first != kValidSplit || data_.validates());
    require(at.second < data_.of(at.first).n_partitions() && fits(sums));
  }
  // Where there is none yet, nothing was trained: the first visit makes it.
  require(head.has_state || head.status == ModelStatus::kFailed ||
          (head.course.iterations == 0 && head.course.visit == 0 && !head.evaluating &&
           !head.course.stopped));
}

void Group::TakeEnvelope(Envelope&& envelope, Traveller* model) const {
  CheckHead(envelope.head, *model);
  static_cast<EnvelopeHead&>(*model) = std::move(envelope.head);
  // What was reported of it is read when its iteration is complete.
  const bool fresh = model->course.visit == 0 && !model->evaluating;
  if (fresh) {
    model->hop = 0;
    model->events.clear();
    model->visits.clear();
  } else {
    ++model->hop;
  }
  if (!model->has_state) return;
  const Trainer& trainer = *model->trainer;
  model->state =
      ReadState(StateLayoutOf(trainer.network().spec()), envelope.image, envelope.image_size);
  const std::string& here = settings_.ClassOf(trainer);
  if (!IsOfClass(model->state.numerics_class, here)) {
    throw Error(ErrorCode::kNotReady, "segments have different numerics classes",
                "A model comes from \"" + model->state.numerics_class +
                    "\"; here it would go on "
                    "with \"" +
                    here + "\".",
                "Install the same libraries on all hosts; CPUs must have the same vector "
                "instructions.");
  }
  if (model->state.iteration != model->total_iterations) {
    throw Error(ErrorCode::kCorrupt, "an envelope does not fit its run");
  }
  // Another optimizer's slots would be written beyond their end.
  Problem problem;
  if (!AdaptToOptimizer("configuration", trainer, &model->state, &problem)) {
    throw Error(ErrorCode::kCorrupt, "an envelope does not fit its run", problem.message + ".");
  }
}

void Group::Pack(Traveller* model) const {
  std::optional<StateWriter> image;
  if (model->has_state) {
    image.emplace(StateLayoutOf(model->trainer->network().spec()), model->state);
  }
  ByteWriter measured;
  PutEnvelopeHead(*model, &measured);
  const size_t size = measured.size() + (image ? image->size() : 0) + kEnvelopeSeal;
  if (!model->visits.empty() && model->visits.back().hop == model->hop) {
    // Beside the envelope, events and visits go out for the coordinator, in about as many bytes.
    model->visits.back().bytes_written = static_cast<int64_t>(size + measured.size());
  }
  ByteWriter out;
  out.Reserve(size);
  PutEnvelopeHead(*model, &out);
  model->out = out.Take();
  if (image) Append(&*image, &model->out);
  model->state = ModelState();
  model->passed.clear();
  SealEnvelope(&model->out);
}

void Group::MakeResult(Traveller* model) const {
  TrainingResult& result = model->result;
  result = ResultOf(*model);
  if (model->status == ModelStatus::kFailed) {
    model->out.clear();
    return;
  }
  const bool goes_on = HasVisits(model->rules, model->course);
  result.status = goes_on ? ModelStatus::kTraining : ModelStatus::kDone;
  const ModelSpec& spec = model->trainer->network().spec();
  model->weights = AlignedArray<float>(static_cast<size_t>(spec.parameters));
  ExportWeights(spec, model->trainer->DeliveredWeights(model->state, nullptr).data(),
                model->weights.data());
  result.stopping = StoppingOf(*model->trainer, model->state);
  StateWriter writer(StateLayoutOf(spec), model->state);
  model->out.clear();
  Append(&writer, &model->out);
  result.digest = writer.digest().Hex();
  result.n_weights = static_cast<int64_t>(model->weights.size());
  result.state_size = model->out.size();
  model->state = ModelState();
}

bool Group::NextPart(GroupPart* part) {
  for (;;) {
    if (out_.model == nullptr) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (packed_.empty()) {
        if (workers_ == nullptr) travellers_.clear();
        return false;
      }
      out_ = {std::move(travellers_[packed_.front()]), 0};
      packed_.pop_front();
    }
    Traveller& model = *out_.model;
    const auto n_parts =
        static_cast<int32_t>(std::max<size_t>((model.out.size() + kPartBytes - 1) / kPartBytes, 1));
    if (out_.part > n_parts || (out_.part == n_parts && model.weights.size() == 0)) {
      const std::unique_ptr<Traveller> gone = std::move(out_.model);
      const std::lock_guard<std::mutex> lock(mutex_);
      LeaveRoomLocked(gone->memory);
      WakeNextLocked();
      continue;
    }
    *part = GroupPart{};
    part->mst_key = model.key;
    part->next_key = model.next_key;
    part->n_parts = n_parts;
    part->done = Complete(model);
    if (out_.part == n_parts) {
      part->part = -1;
      part->bytes = reinterpret_cast<const uint8_t*>(model.weights.data());
      part->size = model.weights.size() * sizeof(float);
    } else {
      const size_t at = static_cast<size_t>(out_.part) * kPartBytes;
      part->part = out_.part;
      part->bytes = model.out.data() + at;
      part->size = std::min(kPartBytes, model.out.size() - at);
      if (out_.part == 0) {
        part->events = &model.events;
        part->visits = &model.visits;
        part->result = Ended(model) ? &model.result : nullptr;
      }
    }
    ++out_.part;
    return true;
  }
}

}  // namespace hopper
