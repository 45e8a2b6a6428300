// Thousands of logistic regressions: what a task costs beside its arithmetic.
//
//   many_models [MODELS] [THREADS] [PARTITIONS] [ROWS] [ITERATIONS] [ARCHITECTURES]
//               (10000 2 16 8000 1 1)
//
// A run through the C functions against the same visits and evaluations on one thread, without a
// schedule, all models in turn on one partition after the other. Both are measured in seconds of
// the processors, which hardly depend on what else runs on the machine: what the run takes more is
// scheduling, and that its tasks find their partition in a slower cache. `outside of tasks` is what
// the run takes beside the tasks as it times them itself; that needs a machine with nothing else to
// do. What depends on no other work are the counts: looks at models under the lock, threads that
// were woken, and how often one waited for another (the system's voluntary switches). Tasks of one
// model that are taken together count as one there.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/philox.h"
#include "capi/structs.h"
#include "data/dataset.h"
#include "engine/configuration.h"
#include "engine/memory_plan.h"
#include "engine/torch/backend.h"
#include "engine/torch/workers.h"
#include "model_hopper/torch.h"
#include "train/plan_cache.h"

extern "C" const hopper_torch_api* hopper_torch_api_get(int32_t version);

namespace hopper {
namespace {

constexpr int64_t kFeatures = 20;
constexpr int64_t kLimit = int64_t{1} << 34;

int64_t VoluntarySwitches() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nvcsw;
}

double ProcessorSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void Check(int code, const hopper_error& error) {
  if (code != 0) throw std::runtime_error(error.message);
}

struct Buffer {
  std::vector<float> x;
  std::vector<int16_t> y;
  Digest checksum;
  hopper_buffer raw = {};
};

struct Table {
  hopper_data_desc desc = {};
  std::vector<std::unique_ptr<Buffer>> buffers;  // one a partition
};

Table MakeTable(int64_t rows, int32_t partitions) {
  Table table;
  table.desc.x_type = HOPPER_FLOAT32;
  table.desc.x_rank = 1;
  table.desc.x_shape[0] = kFeatures;
  table.desc.y_kind = HOPPER_LABEL_CLASS;
  table.desc.y_type = HOPPER_INT16;
  table.desc.num_classes = 2;
  table.desc.n_partitions = partitions;
  table.desc.n_rows = rows;
  table.desc.normalizing_const = 1.0;
  table.desc.table_name = "many";
  const Philox random(1, Purpose::kPack, 0, 0);
  for (int32_t p = 0; p < partitions; ++p) {
    const RankRange range = PartitionRange(rows, partitions, p);
    auto buffer = std::make_unique<Buffer>();
    for (int64_t row = range.first; row < range.first + range.count; ++row) {
      double sum = 0.0;
      for (int64_t i = 0; i < kFeatures; ++i) {
        buffer->x.push_back(random.Uniform(static_cast<uint64_t>(row * kFeatures + i)) - 0.5F);
        sum += static_cast<double>(buffer->x.back());
      }
      buffer->y.push_back(sum > 0.0 ? 1 : 0);
    }
    hopper_buffer& raw = buffer->raw;
    raw.split = HOPPER_SPLIT_TRAIN;
    raw.partition_id = p;
    raw.n = static_cast<int32_t>(range.count);
    raw.x = buffer->x.data();
    raw.x_size = buffer->x.size() * sizeof(float);
    raw.y = buffer->y.data();
    raw.y_size = buffer->y.size() * sizeof(int16_t);
    buffer->checksum = BufferChecksum(p, 0, raw.n, raw.x, raw.x_size, raw.y, raw.y_size);
    raw.checksum = buffer->checksum.bytes.data();
    table.buffers.push_back(std::move(buffer));
  }
  return table;
}

// They differ in their names, so that each has plans of its own.
std::string Architecture(int32_t number) {
  return R"({"class_name": "Sequential", "config": {"name": "m)" + std::to_string(number) +
         R"(", "layers": [{"class_name": "Dense",
          "config": {"name": "only", "units": 1, "activation": "sigmoid",
          "batch_input_shape": [null, )" +
         std::to_string(kFeatures) +
         R"(]}}]}, "keras_version": "2.10.0", "backend": "tensorflow"})";
}

constexpr const char* kFitParams = "batch_size=100, epochs=1";

hopper_config ConfigOf(int32_t key, const std::string& arch, const std::string& compile) {
  hopper_config config = {};
  config.mst_key = key;
  config.model_arch = arch.data();
  config.model_arch_size = arch.size();
  config.compile_params = compile.c_str();
  config.fit_params = kFitParams;
  return config;
}

std::string CompileOf(int32_t key) {
  return "loss='binary_crossentropy', metrics=['accuracy'], optimizer='SGD(lr=" +
         std::to_string(1e-3 * (1 + key % 1000)) + ")'";
}

struct Cost {
  int64_t tasks = 0;
  double wall = 0.0;
  double processor = 0.0;
  double inside = 0.0;  // of the tasks, as the run tells them
  int64_t switches = 0;
  hopper_run_info info = {};
};

Cost Run(const Table& table, int32_t models, int32_t threads, int32_t iterations,
         int32_t architectures) {
  const hopper_engine_api& api = hopper_torch_api_get(HOPPER_API_VERSION)->engine;
  const int event_fd = eventfd(0, EFD_NONBLOCK);
  std::vector<int32_t> starts;
  for (int32_t p = 0; p < table.desc.n_partitions; ++p) starts.push_back(p);
  hopper_run_options options = {};
  options.seed = 42;
  options.num_iterations = iterations;
  options.metrics_compute_frequency = 1;
  options.training_metrics = HOPPER_METRICS_FINAL;
  options.threads = threads;
  options.n_starts = table.desc.n_partitions;
  options.starts = starts.data();
  options.memory_limit = kLimit;
  options.precision = "fp32";
  options.event_fd = event_fd;
  hopper_error error = {};
  hopper_run* run = nullptr;
  Check(api.run.create(&options, &table.desc, nullptr, &run, &error), error);
  for (int32_t key = 1; key <= models; ++key) {
    const std::string compile = CompileOf(key);
    const std::string arch = Architecture(key % architectures);
    const hopper_config config = ConfigOf(key, arch, compile);
    Check(api.run.add_config(run, &config, &error), error);
  }
  for (const auto& buffer : table.buffers) {
    Check(api.run.add_buffer(run, &buffer->raw, &error), error);
  }
  Cost cost;
  const double before = ProcessorSeconds();
  const int64_t switches = VoluntarySwitches();
  const Stopwatch watch;
  Check(api.run.start(run, &error), error);
  hopper_visit visits[64];
  for (bool finished = false; !finished;) {
    hopper_event event = {};
    while (api.run.next_event(run, &event) == 1) finished |= event.type == HOPPER_EVENT_FINISHED;
    for (int32_t n = 0; (n = api.run.next_visits(run, visits, 64)) > 0;) {
      cost.tasks += n;
      for (int32_t i = 0; i < n; ++i) cost.inside += visits[i].train + visits[i].evaluate;
    }
    if (finished) break;
    pollfd poll_fd = {event_fd, POLLIN, 0};
    uint64_t count = 0;
    if (poll(&poll_fd, 1, -1) == 1 && read(event_fd, &count, sizeof(count)) < 0) break;
  }
  cost.wall = watch.Seconds();
  cost.processor = ProcessorSeconds() - before;
  cost.switches = VoluntarySwitches() - switches;
  api.run.get_info(run, &cost.info);
  api.run.free(run);
  close(event_fd);
  return cost;
}

// The run's tasks in turn: every model's first one, then every model's next one.
Cost Alone(const Table& table, int32_t models, int32_t iterations, int32_t architectures) {
  Cost cost;
  Dataset data(FromC(table.desc));
  for (const auto& buffer : table.buffers) data.AddBuffer(FromC(buffer->raw));
  data.orders().Keep(KeptOrderBytes(kLimit));
  const OwnedAccount account = MemoryAccount::Create(kLimit);
  std::atomic<bool> cancel{false};
  {
    Workers workers;
    workers.Start(1, TorchSetting({account.get()}), [&] {
      PlanCache plans(KeptPlanBytes(kLimit));
      const PlanCacheScope scope(&plans);
      std::vector<std::unique_ptr<const Trainer>> trainers;
      const TorchBackend backend;
      Networks networks(backend);
      for (int32_t key = 1; key <= models; ++key) {
        const std::string compile = CompileOf(key);
        ConfigSource config;
        config.mst_key = key;
        const std::string arch = Architecture(key % architectures);
        config.model_arch = arch;
        config.compile_params = compile;
        config.fit_params = kFitParams;
        trainers.push_back(MakeTrainer(config, data.desc(), 42, Precision::kFp32, &networks));
      }
      const double before = ProcessorSeconds();
      std::vector<ModelState> states(trainers.size());
      std::vector<AlignedArray<float>> weights(trainers.size());
      const auto visit = [&](size_t model, int p) {
        if (states[model].params.size() == 0) {
          states[model] = trainers[model]->InitialState(nullptr, "");
        }
        MetricSums sums;
        trainers[model]->Visit(&states[model], data.partition(p), p, cancel, &sums);
        if (p + 1 == data.n_partitions()) ++states[model].iteration;
      };
      const auto evaluate = [&](size_t model, int p) {
        if (p == 0) weights[model] = trainers[model]->KeptWeights(states[model]);
        MetricSums sums;
        trainers[model]->Evaluate(weights[model].data(), data.partition(p), cancel, &sums);
      };
      const int steps = data.n_partitions() * (iterations + 1);
      const auto step = [&](size_t model, int at) {
        const int p = at % data.n_partitions();
        at / data.n_partitions() < iterations ? visit(model, p) : evaluate(model, p);
        ++cost.tasks;
      };
      for (int at = 0; at < steps; ++at) {
        for (size_t model = 0; model < trainers.size(); ++model) step(model, at);
      }
      cost.processor = ProcessorSeconds() - before;
    });
    workers.Join();
  }
  return cost;
}

int Main(int argc, char** argv) {
  const auto argument = [&](int at, int64_t otherwise) {
    return argc > at ? std::atoll(argv[at]) : otherwise;
  };
  const auto models = static_cast<int32_t>(argument(1, 10000));
  const auto threads = static_cast<int32_t>(argument(2, 2));
  const auto partitions = static_cast<int32_t>(argument(3, 16));
  const auto iterations = static_cast<int32_t>(argument(5, 1));
  const auto architectures = static_cast<int32_t>(argument(6, 1));
  const Table table = MakeTable(argument(4, 8000), partitions);
  const auto per_task = [](const Cost& cost) {
    return cost.processor / static_cast<double>(cost.tasks);
  };
  const double in_turn = per_task(Alone(table, models, iterations, architectures));
  const Cost run = Run(table, models, threads, iterations, architectures);
  const double task = per_task(run);
  std::printf(
      "%d models, %d partitions, %d threads: %.1f s, %.1f us of the processors a task, %.1f us "
      "without a schedule; %.1f %% outside of tasks\n",
      models, partitions, threads, run.wall, task * 1e6, in_turn * 1e6,
      100.0 * (1.0 - run.inside / run.processor));
  const auto taken = static_cast<double>(run.info.n_tasks);
  std::printf("%lld tasks taken: %.1f looks each under the lock, %lld wake-ups, %lld switches\n",
              static_cast<long long>(run.info.n_tasks),
              static_cast<double>(run.info.n_steps) / taken,
              static_cast<long long>(run.info.n_wakes), static_cast<long long>(run.switches));
  return 0;
}

}  // namespace
}  // namespace hopper

int main(int argc, char** argv) {
  try {
    return hopper::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "many_models: %s\n", error.what());
    return 1;
  }
}
