#include "engine/explain.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/product.h"
#include "engine/configuration.h"
#include "engine/events.h"
#include "engine/examples.h"
#include "engine/task_work.h"
#include "model/planned/plan_memory.h"
#include "model/work.h"
#include "schedule/workers.h"
#include "train/plan_cache.h"

namespace hopper {

namespace {

// A worker of the local engine from what it takes at once to the next.
constexpr double kHop = 20e-6;
// An evaluation is a forward pass, a third of a step's arithmetic.
constexpr double kEvaluationShare = 1.0 / 3.0;
constexpr int64_t kMaxSteps = 64;
constexpr double kExampleBytes = 64e6;
// While steps are timed. Ftrl divides by the rate.
constexpr double kStillRate = 1e-9;

// What the seconds of a step depend on, beside the learning rate and the like.
std::string KindOf(const Trainer& trainer) {
  const CompileParams& compile = trainer.compile();
  return trainer.network().spec().hash.Hex() + " " + std::to_string(trainer.fit().batch_size) +
         " " + SlotNames(compile.optimizer) + " " + LossName(compile.loss) + " " +
         std::to_string(compile.metrics.size());
}

// The configuration with the smallest rates, so that no weight grows while steps are timed, and
// with one pass a visit.
std::unique_ptr<const Trainer> StillTrainer(const Trainer& trainer, const DataDesc& data,
                                            Precision precision) {
  CompileParams compile = trainer.compile();
  compile.optimizer.learning_rate = kStillRate;
  compile.optimizer.schedule = ScheduleParams();
  FitParams fit = trainer.fit();
  fit.epochs = 1;
  return std::make_unique<const Trainer>(trainer.shared_network(), std::move(compile),
                                         std::move(fit), data, trainer.backend(), trainer.seed(),
                                         precision);
}

// Of a step, without what is frozen.
double Operations(const Trainer& trainer) {
  return PassFlops(trainer.SteppedSpec()) * static_cast<double>(trainer.fit().batch_size);
}

// What the frozen part does with an example, where it is a step's share of a third.
double FeatureOperations(const Trainer& trainer) {
  if (trainer.FeatureBytes(1) == 0) return 0.0;
  return PassFlops(trainer.network().prefix()->spec()) * kEvaluationShare;
}

// Of all that is timed.
double AllOperations(const Trainer& trainer) {
  return Operations(trainer) +
         FeatureOperations(trainer) * static_cast<double>(trainer.fit().batch_size);
}

int64_t BytesOf(const DataDesc& data) {
  return data.n_rows * static_cast<int64_t>(data.x_bytes() + data.y_bytes());
}

}  // namespace

Explain::Explain(const TrainingBackend& backend, const TrainingOptions& options,
                 const DataDesc& train, const DataDesc* valid, std::vector<int32_t> train_keys,
                 std::vector<int32_t> valid_keys, const ExplainCosts& costs)
    : backend_(backend),
      options_(options),
      train_(train),
      valid_(valid == nullptr ? nullptr : std::make_unique<const DataDesc>(*valid)),
      costs_(costs),
      rules_(RulesOf(options, train.n_partitions, valid == nullptr ? 0 : valid->n_partitions)),
      ring_(train.n_partitions, options.starts),
      precision_(options.precision),
      threads_per_model_(options.threads_per_model),
      networks_(backend) {
  places_.keys.of = {std::move(train_keys), std::move(valid_keys)};
  places_.workers = WorkersOf(costs.threads_per_segment, threads_per_model_);
  places_.patience = costs.patience;
  if (!OnSegments()) CheckThreadsPerModel(options.threads, options.threads_per_model);
  account_ = MemoryAccount::Create(options.memory_limit);
  for (const int split : kSplits) {
    if (DataOf(split) == nullptr || DataOf(split)->n_partitions == 0) continue;
    largest_partition_ = std::max(largest_partition_, DataOf(split)->PartitionBytes(0));
  }
}

Explain::~Explain() {
  cancel_.store(true);
  workers_.Join();
}

void Explain::AddConfig(const ConfigSource& config) {
  if (started_) throw Error(ErrorCode::kInternal, "the forecast has been started already");
  Entry entry;
  entry.model.mst_key = config.mst_key;
  try {
    const auto asked = MakeTrainer(config, train_, options_.seed, precision_, &networks_);
    RequireWatchedData(*asked, valid_ != nullptr);
    // What is counted is what is timed.
    auto trainer = StillTrainer(*asked, train_, precision_);
    entry.kind = KindOf(*trainer);
    entry.epochs = asked->fit().epochs;
    entry.visits_together = VisitsTogether(*asked, train_);
    entry.model.n_parameters = trainer->network().spec().parameters;
    entry.model.n_passes = entry.epochs;
    entry.memory = MemoryOf(*asked, threads_per_model_, rules_.EvaluatedPartitions());
    if (OnSegments()) {
      entry.memory.task = TravellersTask(entry.memory.state, entry.memory.task);
    }
    entry.model.bytes_state = entry.memory.state;
    entry.model.bytes_task = entry.memory.task;
    const int64_t batch = std::min(trainer->fit().batch_size, RowsOfPartition());
    for (int p = 0; p < train_.n_partitions; ++p) {
      const int64_t rows = PartitionRange(train_.n_rows, train_.n_partitions, p).count;
      entry.model.steps += (rows + batch - 1) / batch * entry.epochs;
    }
    const int64_t free = account_->limit() - largest_partition_;
    if (entry.memory.alone() > free) throw Error(DoesNotFit(entry.memory, free));
    entry.trainer = std::move(trainer);
  } catch (const Cancelled&) {
    throw;
  } catch (...) {
    entry.model.problem = backend_.Describe();
  }
  entries_.push_back(std::move(entry));
}

void Explain::Start() {
  if (started_) throw Error(ErrorCode::kInternal, "the forecast has been started already");
  started_ = true;
  workers_.Start(1, backend_.Setting({account_.get(), {}, threads_per_model_}), [this] { Work(); });
}

void Explain::Work() {
  const CancelScope cancels(cancel_);
  try {
    Calibrate();
    Finish();
    Predict();
  } catch (...) {
    failure_ = backend_.Describe();
  }
  ended_.store(true);
  WakeEventFd(options_.event_fd);
}

bool Explain::Poll() {
  if (!started_) throw Error(ErrorCode::kInternal, "the forecast has not been started");
  if (!ended_.load()) return false;
  if (failure_.has_value()) throw Error(*failure_);
  return true;
}

// Each kind gets an equal share of the time, the cheap ones first: what they leave is the others'.
void Explain::Calibrate() {
  const Stopwatch watch;
  std::map<std::string, size_t> kinds;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].trainer != nullptr) kinds.emplace(entries_[i].kind, i);
  }
  std::vector<size_t> order;
  order.reserve(kinds.size());
  for (const auto& [kind, first] : kinds) order.push_back(first);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return AllOperations(*entries_[a].trainer) < AllOperations(*entries_[b].trainer);
  });
  for (size_t i = 0; i < order.size() && !cancel_.load(); ++i) {
    const double left = costs_.seconds - watch.Seconds();
    if (left <= 0.0 && i > 0) break;
    Entry& entry = entries_[order[i]];
    try {
      entry.pace = MeasureAlone(entry, left / static_cast<double>(order.size() - i));
    } catch (...) {
      const Problem problem = backend_.Describe();
      if (problem.code != ErrorCode::kOutOfMemory) throw;
      const std::string kind = entry.kind;
      for (Entry& other : entries_) {
        if (other.trainer == nullptr || other.kind != kind) continue;
        other.model.problem = problem;
        other.trainer.reset();
      }
    }
  }
  for (Entry& entry : entries_) {
    if (entry.trainer != nullptr) entry.pace = entries_[kinds[entry.kind]].pace;
  }
  run_.seconds_calibrating = watch.Seconds();
}

// Plans are kept as in a run that trains nobody else; they go with their kind, whose successor
// needs the room.
Explain::Pace Explain::MeasureAlone(const Entry& entry, double seconds) const {
  const int64_t limit = account_->limit();
  const int64_t left = limit - largest_partition_ - entry.memory.alone();
  // Workers of a segment are not more than configurations (Group::BoundPlans).
  const auto configs = static_cast<int64_t>(entries_.size());
  const int64_t workers = OnSegments() ? std::min<int64_t>(OwnWorkers(), configs) : OwnWorkers();
  PlanCache plans(std::clamp<int64_t>(left, 0, KeptPlanBytes(limit)) / workers);
  const PlanCacheScope scope(&plans);
  return Measure(*entry.trainer, seconds);
}

Explain::Pace Explain::Measure(const Trainer& trainer, double seconds) const {
  Pace pace;
  const Stopwatch all;
  const int64_t batch = std::min(trainer.fit().batch_size, RowsOfPartition());
  const double row_bytes = static_cast<double>(train_.x_bytes() + train_.y_bytes());
  const auto most =
      static_cast<int64_t>(std::clamp(kExampleBytes / (row_bytes * static_cast<double>(batch)), 1.0,
                                      static_cast<double>(kMaxSteps)));
  InitialWeights alone;
  ModelState state;
  if (!trainer.MakeState(&alone, cancel_, "", &state)) return pace;
  // A run keeps what a frozen part gives; so visits are timed without it, and it by itself.
  FeatureStore features;
  features.Keep(std::numeric_limits<int64_t>::max());
  const auto examples_of = [&](int64_t n) {
    Partition made = MakeExamples(train_, n);
    made.features = &features;
    return made;
  };
  VisitEnd ended = VisitEnd::kDone;
  const auto visit = [&](const Partition& data) {
    const Stopwatch watch;
    trainer.KeepFeatures(&state, data, cancel_);
    if (trainer.FeatureBytes(1) > 0) {
      pace.feature = watch.Seconds() / static_cast<double>(data.n);
    }
    const Stopwatch steps;
    MetricSums sums;
    ended = trainer.Visit(&state, data, 0, cancel_, &sums);
    return steps.Seconds();
  };
  const Partition one = examples_of(batch);
  visit(one);  // the first one faults memory in
  const double feature = pace.feature;
  const double single = visit(one);
  pace.feature = feature;
  if (ended != VisitEnd::kDone) return pace;  // not all of its steps: reckoned from others
  pace.step = single;
  const double of_batch = single + feature * static_cast<double>(batch);
  const int64_t more = std::min<int64_t>(
      most - 1, static_cast<int64_t>((seconds * 0.6 - all.Seconds()) / std::max(of_batch, 1e-7)));
  if (more >= 1) {
    const Partition many = examples_of((more + 1) * batch);
    const double several = visit(many);
    pace.step = std::max((several - single) / static_cast<double>(more), 1e-7);
    pace.setup = std::max(single - pace.step, 0.0);
  }
  pace.measured = true;

  pace.evaluation = pace.step * kEvaluationShare / static_cast<double>(batch);
  const int64_t rows = std::min({EvaluationBatch(trainer.SteppedSpec()), RowsOfPartition(),
                                 std::max<int64_t>(most * batch, 1)});
  if ((2.0 * pace.evaluation + pace.feature) * static_cast<double>(rows) >
      seconds - all.Seconds()) {
    return pace;
  }
  const Partition examples = examples_of(rows);
  const AlignedArray<float> weights = trainer.KeptWeights(state);
  MetricSums sums;
  trainer.Evaluate(weights.data(), examples, cancel_, &sums, state.frozen);
  const Stopwatch watch;
  trainer.Evaluate(weights.data(), examples, cancel_, &sums, state.frozen);
  pace.evaluation = watch.Seconds() / static_cast<double>(rows);
  return pace;
}

// Kinds for which there was no time: by the operations that they need and those that were timed.
void Explain::Finish() {
  double operations = 0.0;
  double seconds = 0.0;
  double setup = 0.0;
  int n = 0;
  for (const Entry& entry : entries_) {
    if (entry.trainer == nullptr || !entry.pace.measured) continue;
    operations += Operations(*entry.trainer);
    seconds += entry.pace.step;
    setup += entry.pace.setup;
    ++n;
  }
  for (Entry& entry : entries_) {
    if (entry.trainer == nullptr || entry.pace.measured || n == 0) continue;
    const auto batch = static_cast<double>(entry.trainer->fit().batch_size);
    entry.pace.step = seconds * Operations(*entry.trainer) / operations;
    entry.pace.setup = setup / n;
    entry.pace.evaluation = entry.pace.step * kEvaluationShare / batch;
    entry.pace.feature = seconds * FeatureOperations(*entry.trainer) / operations;
  }
}

std::vector<int32_t> Explain::PartitionsOf(int split, int32_t key) const {
  std::vector<int32_t> here;
  const DataDesc* data = DataOf(split);
  const std::vector<int32_t>& keys = places_.keys.of[static_cast<size_t>(split)];
  for (int32_t p = 0; data != nullptr && p < data->n_partitions; ++p) {
    if (HasAllData() || keys[static_cast<size_t>(p)] == key) here.push_back(p);
  }
  return here;
}

// Models that begin on one segment go round together.
Explain::Plans Explain::PlanMemories() const {
  std::map<int32_t, std::vector<ModelMemory>> processes;
  std::vector<const Trainer*> trainers;
  for (const Entry& entry : entries_) {
    if (entry.trainer == nullptr) continue;
    const auto first = static_cast<size_t>(ring_.FirstPartition(entry.model.mst_key));
    processes[HasAllData() ? 0 : places_.keys.of[kTrainSplit][first]].push_back(entry.memory);
    trainers.push_back(entry.trainer.get());
  }
  Plans plans;
  double kept = 0.0;
  double wanted = 0.0;
  for (const auto& [key, models] : processes) {
    DataMemory memory;
    int64_t features = 0;
    for (const int split : kSplits) {
      const DataDesc* data = DataOf(split);
      const std::vector<int32_t> here = PartitionsOf(split, key);
      for (const int32_t p : here) memory.Add(*data, p);
      if (!here.empty()) features = SaturatingAdd(features, FeaturesOf(trainers, *data, here));
    }
    const MemoryPlan plan = PlanMemory(account_->limit(), OwnWorkers(), models, memory,
                                       /*shared=*/0, /*pool=*/false, features);
    plans.models += plan.models;
    plans.resident = plans.resident && plan.resident;
    plans.together = plans.together && plan.together;
    kept += static_cast<double>(plan.features);
    wanted += static_cast<double>(features);
  }
  if (wanted > 0.0) plans.kept_features = kept / wanted;
  return plans;
}

int32_t Explain::OwnWorkers() const {
  return OnSegments() ? places_.workers : WorkersOf(options_.threads, threads_per_model_);
}

void Explain::PredictModel(double kept, Entry* entry) const {
  ExplainedModel& model = entry->model;
  const Pace& pace = entry->pace;
  const auto evaluations = [&](int split) {
    return static_cast<double>(rules_.Evaluations(split, 1, rules_.num_iterations));
  };
  const auto rows = static_cast<double>(train_.n_rows);
  const auto batch =
      static_cast<double>(std::min(entry->trainer->fit().batch_size, RowsOfPartition()));
  // The last batch of a partition is smaller, and its step is so much quicker.
  const double full_steps = rows / batch * static_cast<double>(entry->epochs);
  const double anew = pace.feature * (1.0 - kept);  // in each visit and evaluation
  model.measured = pace.measured;
  model.seconds_step = pace.step;
  model.seconds_iteration =
      pace.setup * static_cast<double>(train_.n_partitions) + pace.step * full_steps + anew * rows;
  model.seconds_evaluation = (pace.evaluation + anew) * rows;
  if (valid_ != nullptr) {
    model.seconds_validation = (pace.evaluation + anew) * static_cast<double>(valid_->n_rows);
  }
  model.seconds_evaluating = model.seconds_evaluation * evaluations(kTrainSplit) +
                             model.seconds_validation * evaluations(kValidSplit);
}

ModelCost Explain::CostOf(const Entry& entry, double once) const {
  const ExplainedModel& model = entry.model;
  const auto partitions = static_cast<double>(train_.n_partitions);
  ModelCost cost;
  cost.key = model.mst_key;
  cost.visit = model.seconds_iteration / partitions;
  cost.evaluation = model.seconds_evaluation / partitions;
  cost.first_visit = once * static_cast<double>(train_.n_rows) / partitions;
  if (valid_ != nullptr) {
    cost.validation = model.seconds_validation / valid_->n_partitions;
    cost.first_validation = once * static_cast<double>(valid_->n_rows) / valid_->n_partitions;
  }
  if (costs_.hop_bytes_per_second > 0.0) {
    cost.hop = static_cast<double>(model.bytes_state) / costs_.hop_bytes_per_second;
  }
  cost.watching = entry.trainer->stopping().watching();
  // Where data come in turns, and on GPUs, each task is taken by itself.
  if (!plans_.resident || options_.use_gpus) return cost;
  cost.visits_together = entry.visits_together;
  cost.evaluations_together[kTrainSplit] = EvaluationsTogether(*entry.trainer, train_);
  if (valid_ != nullptr) {
    cost.evaluations_together[kValidSplit] = EvaluationsTogether(*entry.trainer, *valid_);
  }
  return cost;
}

void Explain::Predict() {
  plans_ = PlanMemories();
  if (places_.patience > 0.0 && !(plans_.resident && plans_.together)) {
    places_.patience = 0.0;  // where they lie they may have room
    plans_ = PlanMemories();
  }
  const double kept = plans_.kept_features;
  run_.bytes_models = plans_.models;
  // Models with one frozen part share what it gives.
  const auto frozen = [](const Trainer& trainer) {
    return std::pair(trainer.network().prefix()->spec().hash, trainer.seed());
  };
  std::map<std::pair<Digest, uint64_t>, int> sharing;
  for (const Entry& entry : entries_) {
    if (entry.trainer != nullptr && entry.trainer->FeatureBytes(1) > 0) {
      ++sharing[frozen(*entry.trainer)];
    }
  }
  std::vector<ModelCost> costs;
  for (Entry& entry : entries_) {
    if (entry.trainer == nullptr) continue;
    PredictModel(kept, &entry);
    const double once = entry.pace.feature > 0.0
                            ? entry.pace.feature * kept / sharing[frozen(*entry.trainer)]
                            : 0.0;
    costs.push_back(CostOf(entry, once));
  }
  PredictRun(costs);
}

void Explain::PredictRun(const std::vector<ModelCost>& costs) {
  Forecast forecast;
  int readers = 1;
  if (!OnSegments()) {
    run_.n_workers = OwnWorkers();
    forecast = ForecastLocal(ring_, costs, rules_, run_.n_workers, kHop, &cancel_);
  } else {
    std::vector<int32_t> keys = places_.keys.of[kTrainSplit];
    std::sort(keys.begin(), keys.end());
    readers = static_cast<int>(std::unique(keys.begin(), keys.end()) - keys.begin());
    run_.n_workers = readers * places_.workers;
    if (places_.patience > 0.0) readers = 1;
    forecast = ForecastSegments(ring_, costs, rules_, places_, costs_.statement, &cancel_);
  }
  run_.bytes_data = BytesOf(train_) + (valid_ == nullptr ? 0 : BytesOf(*valid_));
  if (costs_.read_bytes_per_second > 0.0) {
    run_.seconds_read =
        static_cast<double>(run_.bytes_data) / readers / costs_.read_bytes_per_second;
  }
  run_.seconds = forecast.seconds;
  run_.seconds_train = forecast.train;
  run_.seconds_evaluate = forecast.evaluate;
  run_.seconds_hop = forecast.hop;
  run_.seconds_wait = forecast.idle;
  run_.idle_share = forecast.IdleShare(run_.n_workers);
}

const ExplainedModel& Explain::Model(int32_t index) const {
  if (index < 0 || index >= static_cast<int32_t>(entries_.size())) {
    throw Error(ErrorCode::kInternal, "there is no configuration " + std::to_string(index));
  }
  return entries_[static_cast<size_t>(index)].model;
}

}  // namespace hopper
