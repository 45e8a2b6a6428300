// All that a fit(), a fit_multiple_model() or a search trains: many models on worker threads.
//
// A task is a visit of one model, or the evaluation of a partition with a snapshot of a model's
// weights; of small models it is several that follow each other. A free worker takes a task of the
// model with the most work left; there is no barrier between models. What is done under the lock
// for a task does not grow with the number of models, and what grows with the size of one is done
// outside of it (Settle()). What a model computes depends on its own tasks in its own order only,
// so that its bits do not depend on workers, timing or other models.
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
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "engine/configuration.h"
#include "engine/devices/devices.h"
#include "engine/events.h"
#include "engine/idle_workers.h"
#include "engine/loads.h"
#include "engine/local/visit_log.h"
#include "engine/memory_plan.h"
#include "engine/run_info.h"
#include "engine/training_data.h"
#include "engine/training_options.h"
#include "engine/training_result.h"
#include "engine/turns.h"
#include "engine/visit_record.h"
#include "schedule/common_iterations.h"
#include "schedule/course.h"
#include "schedule/due.h"
#include "schedule/largest_sum.h"
#include "schedule/resting.h"
#include "schedule/ring.h"
#include "schedule/room.h"
#include "schedule/together.h"
#include "schedule/wanted_states.h"
#include "schedule/window.h"
#include "state/state.h"
#include "train/trainer.h"

namespace hopper {

// What a configuration of an open run is to train now.
struct Stint {
  int32_t mst_key = 0;
  int32_t iterations = 0;  // more than it has
  bool restart = false;    // from its initial weights: what it has is dropped
  // Iterations of this run that its stored state has behind it already, before those of the stint.
  int32_t done = 0;
};

// Functions are for one thread, the caller's; Cancel() is for any.
class Run {
 public:
  Run(const TrainingBackend& backend, const TrainingOptions& options, const DataDesc& train,
      const DataDesc* valid);
  ~Run();  // cancels and joins
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  // What computes.
  const TrainingBackend& backend() const { return backend_; }

  // Throws for a damaged state and for one of another numerics class; any other problem of the
  // configuration is its failure, not the run's. `config.weights` stay where they are until the run
  // ends.
  void AddConfig(const ConfigSource& config);
  // Before the first configuration: a run that others enter and leave while it runs. What is added,
  // also after the start, rests until GoOn(). One that is closed before the data are planned has
  // all its models by then, and is planned for these.
  void StayOpen();
  // The model, which rests or is done, trains so many iterations more, as if it had never paused.
  // False: nothing has happened, for lack of room: the result of *take is to be taken first, which
  // may be its own.
  bool GoOn(const Stint& stint, int32_t* take);
  // Nobody enters any more, and nobody goes on.
  void Close();
  // Every model that trains now halts once, at the end of an iteration all of whose values were
  // reported, and an EventType::kCheckpoint tells so. Models that end before that do not halt.
  // `all`: models that have trained nothing since their last checkpoint halt, too, at once.
  void HaltForCheckpoints(bool all);
  // From now on every model halts so after each of its iterations, those too that go on later.
  void HaltEach(bool each);
  // From now on models that watch a metric, to stop early or to keep their best weights, are done
  // with the iteration that they are in; without an event but EventType::kModelDone.
  void EndIterations();
  // Of a model that has halted, or is done and was not taken: writes the next bytes of its state
  // image and returns how many, 0 behind the last; the model keeps its state.
  size_t CopyState(int32_t mst_key, uint8_t* bytes, size_t size);
  // Of a model that has halted: the n weights that it would deliver now, in Keras' order.
  void CopyWeights(int32_t mst_key, float* weights, int64_t n);
  // A model that has halted is done after `more` iterations, at least one.
  void SetIterations(int32_t mst_key, int32_t more);
  // A model that has halted goes on.
  void Release(int32_t mst_key);
  // Before the start, and not where devices train: workers work in turns with those of the other
  // run, at most as many at once as that one has.
  void TakeTurnsWith(const Run& other) { turns_ = other.turns_; }
  // After the last configuration and before the first buffer: whether all data stay in memory.
  // Throws kOutOfMemory where not even one partition fits. A run without it keeps all.
  void PlanData(DataPlan* plan);
  // The configuration whose stored state is to come next by AddState(); false: none, for now. After
  // PlanData(), before the data: all of them come once, to be checked. After an event that asks for
  // one: that one again.
  bool WantedState(int32_t* mst_key);
  // The next bytes of a stored state; throws as AddConfig() does once they are complete.
  void AddState(int32_t mst_key, const uint8_t* bytes, size_t size);
  void AddBuffer(const PackedBuffer& buffer);
  // Throws where data are missing or threads cannot be started.
  void Start();
  // After the last buffer of a partition that a EventType::kLoad asked for.
  void EndLoad(int split, int partition);
  bool NextEvent(Event* event);
  // Takes up to `n` visits that ended, in the order of their ends. Where nobody takes events or
  // visits the workers wait once there are too many of them.
  std::vector<VisitRecord> NextVisits(size_t n);
  void Cancel();
  // Without weights and state. The digest is known once all of the state was taken.
  TrainingResult Result(int32_t mst_key);
  // Of a model that is done: writes the next bytes of its state image and returns how many, 0
  // behind the last. They can be had once.
  size_t TakeState(int32_t mst_key, uint8_t* bytes, size_t size);
  // And then its weights, n_weights floats. Gives the model's memory back, for others that wait.
  void TakeWeights(int32_t mst_key, float* weights, int64_t n);
  void GetInfo(RunInfo* info);

 private:
  static constexpr int kNoDevice = -1;

  // Weights as they were at the end of an iteration. Room for one is kept for each model; see
  // CountSnapshotsLocked().
  struct Snapshot {
    Snapshot(AlignedArray<float> kept, const std::optional<Digest>& of_frozen)
        : weights(std::move(kept)), frozen(of_frozen) {}
    AlignedArray<float> weights;
    std::optional<Digest> frozen;  // the state's
  };

  // The evaluation of one model's weights on one split, a task a partition.
  struct EvaluationPass {
    int32_t iteration = 0;        // of this run, from 1
    int32_t total_iteration = 0;  // counted over warm starts
    int split = kTrainSplit;
    std::shared_ptr<const Snapshot> snapshot;
    std::vector<MetricSums> sums;  // by partition
    std::vector<bool> taken;       // by partition
    int untaken = 0;
    size_t first = 0;  // none before it is untaken
    int unfinished = 0;
    double ready_since = 0.0;
  };

  // Loss and metrics, reckoned from sums.
  struct Report {
    double loss = 0.0;
    std::vector<double> metrics;
  };

  // A warm start's state, which comes by AddState().
  struct StoredState {
    size_t bytes = 0;                     // 0: there is none
    bool checked = false;                 // it came once and is sound
    bool warned = false;                  // that its slots are another optimizer's
    std::unique_ptr<StateReader> reader;  // while it comes
    bool awaited = false;                 // the model is admitted, and it has not come
  };

  // The result of a model that is done, while it is taken.
  struct Delivery {
    size_t state_size = 0;
    EndedStopping stopping;               // the monitor goes with the state
    std::unique_ptr<StateWriter> writer;  // of the state, of which some was taken
    std::string digest;                   // once all of it was taken
    bool state_taken = false;
    bool weights_taken = false;
  };

  // Whether a model stops between two iterations, for a copy of its state.
  enum class Halt { kNo, kAsked, kHalted };

  struct Checkpoint {
    Halt halt = Halt::kNo;
    bool at_once = false;    // kAsked: also where it has trained nothing
    int32_t iterations = 0;  // of the course, at the last one or the beginning of its stint
    std::unique_ptr<StateWriter> writer;  // while the state is copied
    std::string digest;                   // of the state that was copied last
  };

  struct Model {
    int32_t key = 0;
    size_t index = 0;                        // in models_
    std::shared_ptr<const Trainer> trainer;  // null: the configuration could not be read
    ModelState state;
    bool has_state = false;                // false: the first visit makes the initial one
    const float* given_weights = nullptr;  // for the initial state; the caller's
    bool new_weights = false;              // it begins with such as its seed makes
    StoredState stored;
    bool admitted = false;  // false: it waits until there is memory for it
    ModelStatus status = ModelStatus::kTraining;
    int64_t state_bytes = 0;  // in state_bytes_
    Problem failure;
    RunRules rules;  // the run's, in an open one with the iterations of its stint

    int device = kNoDevice;  // index in devices_: the worker that trains it
    std::string lane_key;    // on devices: LaneKey()
    int lanes = 0;           // on devices: that its array has at most
    bool reloads = false;    // on devices: what is there of it is of an earlier stint
    double assigned = 0.0;   // on devices: the work that it came with
    bool busy = false;       // a worker trains it
    bool settling = false;   // a worker is in Settle() for it
    Course course;
    Watching watching;
    Observed observed;  // while it is deciding, as is what was observed:
    std::shared_ptr<const Snapshot> evaluated;
    int64_t total_iterations = 0;  // over warm starts, as of the last finished one
    MetricSums running;
    std::deque<std::shared_ptr<EvaluationPass>> passes;
    int32_t reported = 0;  // iterations whose metrics have all been reported
    double work = 0.0;     // floating-point operations left
    ModelMemory memory;
    int64_t counted_bytes = 0;  // for its state and snapshots, in the account
    int tasks = 0;              // threads that work on it

    double ready_since = 0.0;
    Spent spent;
    Delivery delivery;
    Checkpoint checkpoint;
  };

  struct Task {
    Model* model = nullptr;
    std::shared_ptr<EvaluationPass> pass;  // null: visits
    int partition = 0;                     // the first one
    int count = 1;  // of partitions one after another: the ring's, or in a pass their neighbours
    int worker = 0;
    double started = 0.0;
    double wait = 0.0;     // of the model
    double hopping = 0.0;  // from one task to the next, for the worker
    int lanes = 0;         // on devices: that the array needs
  };

  // The lock over the books: all that mutex_ guards. What is thrown while it is held has left them
  // half done, for lack of memory: the run ends, and nobody else may touch them.
  class Books {
   public:
    explicit Books(Run* run);  // as lock()
    ~Books();
    Books(const Books&) = delete;
    Books& operator=(const Books&) = delete;
    void lock();  // throws std::bad_alloc where they were lost
    void unlock() { lock_.unlock(); }
    bool owns_lock() const { return lock_.owns_lock(); }

   private:
    Run* run_;
    int exceptions_;
    std::unique_lock<std::mutex> lock_;
  };

  // The seconds of each part of a task.
  struct Laps {
    std::array<double, kMostTogether> seconds = {};
    int n = 0;
    void Add(double lap) { seconds[static_cast<size_t>(n++)] = lap; }
  };

  // The models that a device's worker trains.
  struct OnDevice {
    int models = 0;
    double work = 0.0;                  // that they came with
    std::map<std::string, int> shapes;  // how many of each LaneKey()
  };

  // Of all workers.
  struct Tally {
    double seconds_busy = 0.0;
    double seconds_hop = 0.0;
    int64_t tasks = 0;  // that threads took
  };

  // Initial weights, which are the caller's; several models may begin with the same ones.
  struct GivenWeights {
    int64_t bytes = 0;
    std::set<const float*> known;
  };

  // What the visits of a task came to.
  struct VisitOutcome {
    Laps laps;             // the last one is where they ended:
    MetricSums sums;       // those of the others are in the model's already
    bool reports = false;  // it ended an iteration with running metrics:
    Report report;
    VisitEnd end = VisitEnd::kCancelled;
    std::optional<Problem> failure;
    int64_t examples_before = 0;
    std::shared_ptr<const Snapshot> snapshot;  // null: nobody wants one
  };

  // setup (run.cpp)
  void ReadConfig(const ConfigSource& config, Model* model);
  void AdoptState(Model* model, ModelState state);
  std::vector<ModelMemory> ModelsMemory() const;
  Model& Find(int32_t mst_key);
  Model& FindDone(int32_t mst_key);
  Model& FindHalted(int32_t mst_key);

  // memory (memory.cpp)
  void PlanModels(const DataMemory& data);
  std::array<int64_t, 2> WantedFeatures() const;
  int32_t Waves() const;
  int64_t budget() const { return account_->limit() - given_.bytes; }
  bool HasRoomLocked(const Model& model) const;
  void AdmitOneLocked(Model* model);
  // Admits those that wait, in their order, as far as there is room.
  void AdmitLocked();
  void BeginLocked(Model* model);
  static bool EndsWithSnapshot(const Model& model, const Course& course);
  bool HasRoomForVisitLocked(const Model& model) const;
  void CountSnapshotsLocked(Model* model);
  void CountLocked(Model* model, int64_t bytes);
  bool AnyWaitsLocked();
  // Each change of a status, with what is counted by it.
  void SetStatusLocked(Model* model, ModelStatus status);
  void NoteRestLocked(const Model& model);
  void EndLocked(Model* model);
  void ReleaseStateLocked(Model* model);
  void ReleaseIfIdleLocked(Model* model);
  void ReleaseData();

  // models that enter and leave (pool.cpp)
  void RequirePlannedRoom(const Model& model);
  void EnterLocked(std::unique_ptr<Model> entering);
  bool MayGiveWayLocked(const Model& model, int32_t* key) const;

  // checkpoints (checkpoint.cpp)
  static bool HaltsHere(const Model& model);
  void BeginCheckpoint(Model* model) const;
  void HaltIfDueLocked(Model* model);

  // work (work.cpp); the lock is held where the name ends in Locked
  void Work(int worker);
  void LoseBooksLocked() noexcept;
  void StopWorkersLocked() noexcept;
  void EndWorkerLocked();
  // `device`: kNoDevice for a thread's next task.
  bool NextTaskLocked(Task* task, int device);
  DueModels& DueOn(int device) {
    const int at = device + 1;  // the first one is kNoDevice's
    return due_[static_cast<size_t>(at)];
  }
  int64_t RoomForTaskLocked() const;
  bool ReadyLocked(const Model& model) const;
  // After each change of what the model needs next.
  void UpdateLocked(Model* model);
  void WakeNextLocked();
  bool ReaderIsBehindLocked() const;
  std::shared_ptr<EvaluationPass> OpenPassLocked(const Model& model) const;
  static void TakeWholePassLocked(EvaluationPass* pass);
  bool TrainsNextLocked(const Model& model) const;
  void TakeVisitLocked(Task* task);
  int VisitsTogetherLocked(const Model& model) const;
  int PartitionsTogetherLocked(const Model& model, const EvaluationPass& pass, int first) const;
  bool AnyLeftLocked() const { return training_ > 0 || open_; }
  bool HasState(Model* model);  // makes it where there is none; false: cancelled
  void TrainTask(const Task& task);
  static std::shared_ptr<const Snapshot> SnapshotAfterVisit(const Model& model,
                                                            const Course& course);
  void FinishVisit(const Task& task, VisitOutcome outcome);
  void EvaluateTask(const Task& task);
  void RecordVisitLocked(const Task& task, VisitRecord visit, double after = 0.0);
  // data above the memory limit; all of it is in memory where there is no window
  bool IsLoadedLocked(int split, int partition) const {
    return window_ == nullptr || window_->IsLoaded(split, partition);
  }
  int NextOfPassLocked(const EvaluationPass& pass) const;
  void TravelLocked(const Model& model);
  void PinLocked(const Task& task, bool pin);
  void WantLocked(const Model& model, int split, int partition, bool wants);
  void DropPassesLocked(Model* model);
  void RequestLoadLocked();
  template <typename Models>
  void UpdateAll(const Models& models, Books* books);  // the lock is held, and let go now and then
  void FinishIterationLocked(Model* model, VisitOutcome* outcome);
  // Ordered() is to be evaluated now.
  void AddPassesLocked(Model* model, int32_t delivered,
                       const std::shared_ptr<const Snapshot>& snapshot);
  void AddPassLocked(Model* model, int split, std::shared_ptr<const Snapshot> snapshot);
  // settling (settle.cpp)
  // Reports, decides and ends what is due for the model. Lets go of the lock meanwhile.
  void Settle(Model* model, Books* books);
  bool SettleOne(Model* model, Books* books);
  static bool KnowsWhatItWatches(const Model& model);
  void StopLocked(Model* model);
  void TellStoppedLocked(const Model& model);
  void CountReportedLocked(Model* model);
  void DoneLocked(Model* model);
  void FailLocked(Model* model, Problem problem);
  void TellFailureLocked(const Model& model);
  void CountProgressLocked(Model* model);
  void AnnounceIterationsLocked();
  static Report ReportOf(const Model& model, const MetricSums& sums);
  void PushMetricsLocked(Model* model, int64_t iteration, int split, bool running, Report report);
  void Warn(int32_t mst_key, const Problem& problem);
  void WorkerWarning(const std::string& text);
  Event NewEventLocked(EventType type, const Model* model) const;

  // on GPUs (devices.cpp)
  void ChooseDevices(const TrainingOptions& options);
  void AssignDevicesLocked();
  void AssignDeviceLocked(Model* model);
  int LanesOn(const Model& model) const;
  void LeaveDeviceLocked(const Model& model);
  void FailOnDeviceLocked(int device, const Problem& problem);
  void DeviceWork(int device);
  std::vector<Task> NextTasksLocked(int device);
  std::string WorkOf(const Model& model, const EvaluationPass* pass) const;
  void TrainTogether(const std::vector<Task>& tasks, DeviceWorker* worker);
  void EvaluateTogether(const std::vector<Task>& tasks, DeviceWorker* worker);

  const TrainingBackend& backend_;

  // fixed after construction
  EngineSettings settings_;
  int32_t n_workers_;             // each of them as many threads as a model has
  std::shared_ptr<Turns> turns_;  // where threads train
  // Empty: threads train. Each device once until the run starts, then each worker's.
  std::vector<DeviceOptions> devices_;
  TrainingData data_;
  std::unique_ptr<DeviceData> device_data_;  // null where threads train
  RunRules rules_;
  Ring ring_;
  OwnedAccount account_;

  EventQueue events_;
  std::atomic<bool> cancel_{false};
  InitialWeights initial_weights_;
  Networks networks_;
  bool started_ = false;
  bool pool_ = false;  // models enter and leave it
  double start_time_ = 0.0;

  std::mutex mutex_;  // guards all that follows
  IdleWorkers idle_;
  std::vector<std::unique_ptr<Model>> models_;
  std::unordered_map<int32_t, size_t> by_key_;  // index in models_
  std::vector<DueModels> due_;                  // by device's worker, the threads' first
  CommonIterations iterations_;                 // of those that have not failed
  std::vector<OnDevice> on_devices_;            // by device's worker
  // Above the memory limit: by split and partition, the models with an evaluation that lacks it.
  std::array<std::vector<std::multiset<size_t>>, 2> lacking_;
  int live_ = 0;
  int training_ = 0;  // models that are neither done nor failed
  bool open_ = false;
  bool halts_each_ = false;
  bool ends_iterations_ = false;
  int running_workers_ = 0;
  bool books_lost_ = false;  // the run was cancelled
  GivenWeights given_;
  int64_t resident_ = 0;          // promised: to data, and to admitted models
  std::deque<size_t> waiting_;    // of models_, in the order of their admission
  LargestSum admitted_tasks_{0};  // bytes, of admitted models that go on
  WantedStates wanted_states_;    // of stored ones
  RestingModels resting_;         // of an open run, those whose results keep memory
  int64_t state_bytes_ = 0;       // of all that have not failed
  std::unique_ptr<MemoryPlan> plan_;
  int64_t least_data_ = 0;                   // that must be in memory beside a model
  int64_t bytes_data_ = 0;                   // at the end, when they are gone
  std::unique_ptr<PartitionWindow> window_;  // null: all data are in memory
  int64_t window_bytes_ = 0;                 // of it, in resident_ and in the account
  Loads loads_;
  RunningTasks tasks_;
  Tally tally_;
  VisitLog visits_;
  double end_time_ = 0.0;
  LibtorchWarnings warnings_;

  Workers workers_;  // last: joined before anything above goes
};

}  // namespace hopper
