// A segment's share of a run whose models hop between processes: resident partitions, and what
// trains on them the models that come by.
//
// A model travels as an envelope: its state, its place in the ring, the sums of its iteration so
// far and what there is to report. Every call of Start() takes all envelopes that were given as
// far as the resident partitions allow towards the end of an iteration; then they go out again with
// the key of the segment that has the next partition. A model's bits are those of the local engine:
// the order of its own visits decides them and nothing else.
//
// Models enter and leave between two calls of Start(). Each of them trains a stint, so many
// iterations with a course of its own, and goes out as a result when its stint is done. In a call
// it goes on by one iteration at most, so that nobody waits for a longer stint than its own; where
// one segment has all data, and the caller can wait, by as many as there is time for. Where the
// share stays open, those that meet here are not known before they come; otherwise all of them have
// entered before the data, and begin on the segments of their first partitions together.
//
// Models that do not fit into the memory limit together wait outside of the group, with whoever
// calls it, until others have gone out: what a segment holds at a time does not depend on who meets
// there.
//
// Where the segment's partitions do not fit into memory beside the models that visit it, they are
// read in turns while the workers train; see schedule/window.h. What is in memory at the end of a
// visit is there for the next one.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "engine/configuration.h"
#include "engine/events.h"
#include "engine/idle_workers.h"
#include "engine/loads.h"
#include "engine/memory_plan.h"
#include "engine/run_info.h"
#include "engine/training_data.h"
#include "engine/training_options.h"
#include "engine/training_result.h"
#include "engine/visit_record.h"
#include "schedule/course.h"
#include "schedule/due.h"
#include "schedule/ring.h"
#include "schedule/room.h"
#include "schedule/window.h"
#include "train/trainer.h"

namespace hopper {

class GroupDevice;
class PlanCache;
struct Envelope;
struct EnvelopeHead;

// What an envelope that no group has packed begins with: one byte.
enum class NewEnvelope : uint8_t {
  kInitial = 'N',  // initial weights by the seed; nothing follows
  kWeights = 'W',  // floats in Keras' order follow
  kState = 'S',    // a state image follows
};

// One outgoing part of a model. What it points at is valid until the next one is asked for.
struct GroupPart {
  int32_t mst_key = 0;
  int32_t next_key = 0;  // the segment that it has to visit next
  int32_t part = 0;      // from 0; -1: the weights of a finished model
  int32_t n_parts = 0;   // without the weights
  bool done = false;     // its iteration is complete, or it has failed
  const uint8_t* bytes = nullptr;
  size_t size = 0;
  // With part 0 only, else null:
  const std::vector<Event>* events = nullptr;
  // Of this iteration so far, and of those that ended in this call.
  const std::vector<VisitRecord>* visits = nullptr;
  const TrainingResult* result = nullptr;  // after its end
};

class Group {
 public:
  // `train_keys` and `valid_keys` (empty without validation) name the segment of each partition;
  // `key` is this segment.
  Group(const TrainingBackend& backend, const TrainingOptions& options, const DataDesc& train,
        const DataDesc* valid, std::vector<int32_t> train_keys, std::vector<int32_t> valid_keys,
        int32_t key);
  ~Group();  // cancels and joins
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  // What computes.
  const TrainingBackend& backend() const { return backend_; }

  // Before the first plan: others enter later.
  void StayOpen() { open_ = true; }
  // While nobody is at work: what comes of this configuration trains `iterations` more; a state
  // that comes has `done` of the same stint behind it. PlanData() follows. `config.weights` and
  // `config.state` are not looked at: they come in envelopes.
  void Enter(const ConfigSource& config, int32_t iterations, int32_t done);
  // Forgets all configurations but these.
  void KeepOnly(const std::vector<int32_t>& mst_keys);
  // After the last configuration and before the first buffer: whether the data of this segment stay
  // in memory. Throws kOutOfMemory where not even one partition fits. Again where others have
  // entered: kLimitExceeded where they do not fit beside the data as these lie; then the plan is
  // what it was.
  void PlanData(DataPlan* plan);
  void AddBuffer(const PackedBuffer& buffer);
  // Throws where data that stay lack rows.
  void CheckData() const;
  // True: this partition has to be read now, and EndLoad() called after its last buffer.
  bool NextLoad(int32_t* split, int32_t* partition);
  void EndLoad(int32_t split, int32_t partition);

  // One part of an envelope, in any order; `n_parts` is the same for all parts of a model. False:
  // there is no room for the model now; it comes when NextArrival() says so.
  bool AddPart(int32_t mst_key, int32_t part, int32_t n_parts, const uint8_t* bytes, size_t size);
  // Trains and evaluates what came, each model to the end of its iteration at most, or, where it
  // has all data here, of the one that it is in when `seconds` are over. `halts`: what is between
  // two iterations, or gets there, goes out as a result.
  void Start(bool halts, double seconds = 0.0);
  // True once all workers have ended; throws what one of them could not handle.
  bool Poll();
  void Cancel();
  // While it is at work, where models wait. True: all parts of *mst_key are to come now.
  bool NextArrival(int32_t* mst_key);
  // The next outgoing part; its memory is valid until the next call. False: none is left, while it
  // is at work none for now. What has gone out makes room for others.
  bool NextPart(GroupPart* part);

  void GetInfo(RunInfo* info) const;

 private:
  static constexpr int64_t kNobody = -1;
  struct Traveller;
  // What is kept beside the data for tasks to come. Bytes.
  struct Kept {
    int64_t orders = 0;
    int64_t plans = 0;                         // of all threads
    std::array<int64_t, 2> features = {0, 0};  // by split
    int64_t all() const { return orders + plans + features[kTrainSplit] + features[kValidSplit]; }
  };
  struct Outgoing {
    std::unique_ptr<Traveller> model;  // null: none
    int32_t part = 0;                  // the next one
  };
  struct Arrival {
    std::vector<std::vector<uint8_t>> parts;
    std::vector<bool> came;
    int32_t missing = 0;
    bool later = false;  // it waits outside
  };

  const std::vector<int32_t>& KeysOf(int split) const {
    return keys_.of[static_cast<size_t>(split)];
  }
  // Models by the segment on which they start: they visit the others together, too.
  using Visitors = std::map<int32_t, std::vector<ModelMemory>>;
  // The models that fit; refuses the others. Throws where none does.
  Visitors PlanVisitors(bool again);
  // By split, what frozen layers give of the partitions here.
  std::array<int64_t, 2> FeatureBytes() const;
  // For partitions that come and go; `bytes` of each, by split.
  void MakeWindow(const Visitors& visitors, const std::array<std::vector<int64_t>, 2>& bytes,
                  const DataMemory& data, DataPlan* plan);
  bool WantsPass(const Traveller& model, int split) const;
  // How far it goes in this call, in iterations of its course.
  int32_t Until(const Traveller& model) const;
  // Whether models can go on from iteration to iteration without leaving.
  bool HasAllData() const { return all_keys_.size() == 1 && window_ == nullptr; }
  // Lets a model begin another iteration in this call, where it can.
  void GoOnLocked(Traveller* model) const;
  // Of the model in this run, in any unit, where it does all of it here; else no more than of
  // others.
  double WorkLeft(const Traveller& model) const;
  // Whether it goes out as a result.
  bool Ended(const Traveller& model) const;
  void RequireRest() const;
  std::unique_ptr<Traveller> Meet(int32_t mst_key) const;
  void Unpack(Arrival* arrival, Traveller* model) const;
  void BeginHopLocked();
  int64_t FixedBytes() const;
  int WorkerCount() const;
  bool HasRoomLocked(const ModelMemory& memory) const;
  void EnterRoomLocked(const ModelMemory& memory);
  void LeaveRoomLocked(const ModelMemory& memory);
  void ArriveLocked(Traveller* model);
  void TakeState(const uint8_t* image, size_t size, Traveller* model) const;
  void CheckHead(const EnvelopeHead& head, const Traveller& model) const;
  void TakeEnvelope(Envelope&& envelope, Traveller* model) const;
  // One thing that a worker does with a model.
  struct Task {
    enum Kind { kTrain, kEvaluate, kPack } kind = kPack;
    Traveller* model = nullptr;
    std::vector<std::pair<int, int>> partitions;  // split and partition that it reads
  };
  void BoundPlans();
  void EndWorkers();
  void Work();
  void Do(const Task& task) const;
  void DoTogether(const std::vector<Task>& tasks);
  void AddCompanionsLocked(std::vector<Task>* tasks);
  std::string WorkOf(const Task& task) const;
  void TakeLocked(Traveller* model);
  void TrainTogether(const std::vector<Task>& tasks);
  void EvaluateTogether(const std::vector<Task>& tasks);
  bool NextTaskLocked(Task* task);
  // After each change of what this segment can do with the model.
  void UpdateLocked(Traveller* model);
  // UpdateLocked() where only what is in memory has changed.
  void SetReadyLocked(Traveller* model);
  int64_t RoomForTaskLocked() const;
  void WakeNextLocked();
  void WorkerWarning(const std::string& text);
  // Of its latest iteration.
  static Event NewEvent(EventType type, const Traveller& model);
  static void PushWarning(const Problem& problem, Traveller* model);
  bool IsLoadedLocked(int split, int partition) const;
  Task NextOf(const Traveller& model) const;
  struct VisitBegun {
    VisitRecord visit;
    int64_t examples_before = 0;
    bool metrics = false;  // they are taken while it trains
  };
  // False: the model cannot be trained and has failed.
  bool BeginVisit(Traveller* model, int partition, VisitBegun* begun) const;
  void EndVisit(Traveller* model, const VisitBegun& begun, VisitEnd end, const MetricSums& sums,
                double seconds) const;
  void Train(Traveller* model, int partition) const;
  // What is evaluated: the model's own weights, or *copy where they have to be computed.
  const float* EvaluatedWeights(const Traveller& model, AlignedArray<float>* copy) const;
  void Evaluate(Traveller* model, const std::vector<std::pair<int, int>>& partitions) const;
  void RecordEvaluation(int split, int first_partition, int32_t n, double seconds,
                        Traveller* model) const;
  void FinishPasses(Traveller* model, const float* weights) const;
  std::vector<std::pair<int, int>> Lacking(const Traveller& model) const;
  int VisitsHere(const Traveller& model) const;
  int IndexOf(int split, int partition) const;
  void TellWindowLocked(Traveller* model);
  void WantLocked(const Traveller& model, bool wants);
  void SetReadyAt(const std::set<int>& models, std::unique_lock<std::mutex>* lock);
  void PinLocked(const Task& task, bool pin);
  void RequestLoadLocked();
  void RecordVisit(VisitRecord visit, Traveller* model) const;
  void FinishIteration(Traveller* model) const;
  void Decide(Traveller* model, const float* weights) const;
  void FollowReports(Traveller* model) const;
  void Stop(Traveller* model) const;
  bool DeliversBest(const Traveller& model) const;
  void PushMetrics(Traveller* model, int split, bool running, const MetricSums& sums) const;
  void Fail(Traveller* model, const Problem& problem) const;
  int32_t NextKey(const Traveller& model) const;
  void Pack(Traveller* model) const;
  void MakeResult(Traveller* model) const;
  bool Complete(const Traveller& model) const;

  const TrainingBackend& backend_;
  EngineSettings settings_;
  const int event_fd_;
  const int32_t key_;
  TrainingData data_;
  const RunRules rules_;
  const SegmentKeys keys_;
  const std::vector<int32_t> all_keys_;  // of segments with data
  Ring ring_;
  OwnedAccount account_;
  int64_t reading_ = 0;                            // bytes, beside the window
  Kept kept_;                                      // of a share that was planned
  int64_t window_bytes_ = 0;                       // of partitions that come in turns
  std::vector<std::unique_ptr<PlanCache>> plans_;  // by worker, from hop to hop
  std::unique_ptr<GroupDevice> device_;            // null: threads train

  struct Config {
    std::unique_ptr<const Trainer> trainer;  // null: `problem` says why
    bool refused = false;                    // for lack of memory: `problem` says so
    Problem problem;
    ModelMemory memory;
    RunRules rules;    // the run's, with the iterations of its stint
    int32_t done = 0;  // of these
    // One that is refused has no state.
    ModelMemory Needs() const { return refused ? ModelMemory() : memory; }
  };
  std::map<int32_t, Config> configs_;
  bool open_ = false;
  bool planned_ = false;
  Networks networks_;

  std::map<int32_t, Arrival> arrivals_;
  double started_ = 0.0;  // the work on what came
  double goes_on_until_ = 0.0;
  bool halts_ = false;
  Outgoing out_;
  std::atomic<bool> cancel_{false};
  std::atomic<int> running_{0};
  mutable std::mutex mutex_;  // guards what follows, and the models' places
  IdleWorkers idle_;
  std::vector<std::unique_ptr<Traveller>> travellers_;  // the most expensive first
  std::deque<size_t> waiting_;                          // of them, outside
  int64_t arriving_ = kNobody;                          // of them
  std::deque<size_t> packed_;                           // of them, which have not begun to go out
  ModelRoom room_{0, 0};
  DueModels due_{{}};    // travellers, the first one first; on a GPU by their kind, too
  size_t unpacked_ = 0;  // travellers
  int64_t fixed_ = 0;    // bytes of data, and of what is kept beside them
  RunningTasks tasks_;
  std::vector<Problem> told_;  // warnings of libtorch that travel with the next model
  LibtorchWarnings warnings_;
  std::optional<Problem> failure_;
  std::unique_ptr<PartitionWindow> window_;   // of `here_`; null: all data stay
  std::array<std::vector<int32_t>, 2> here_;  // by split, this segment's partitions
  // Where data come in turns: the models to be evaluated on each of them.
  std::array<std::vector<std::set<int>>, 2> lacking_;
  std::optional<PartitionWindow::Place> load_;  // is to be read, and nobody has been told
  Loads loads_;

  std::unique_ptr<Workers> workers_;  // last: joined before anything above goes
};

}  // namespace hopper
