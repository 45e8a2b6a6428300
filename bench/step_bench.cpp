// Time of one training step (gather, forward, loss, backward, optimizer) and of one evaluated
// batch, planned (in fp32 and in bf16) and through autograd, on one thread.
//
//   step_bench --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "autograd/tensor_memory.h"
#include "engine/torch/backend.h"
#include "model/network/network.h"
#include "model/planned/step_plan.h"
#include "train/stepper.h"
#include "train/trainer.h"
#include "workloads.h"

namespace hopper {
namespace {

// A partition of random examples, a trainer and a state.
class Bench {
 public:
  Bench(const Workload& workload, Precision precision)
      : rows_(4 * workload.batch),
        desc_(Describe(workload, rows_)),
        partition_(RandomPartition(workload, desc_, rows_)) {
    const Shape shape(workload.x_shape.begin(), workload.x_shape.end());
    std::vector<ParamProblem> problems;
    compile_ = ParseCompileParams(CompileText(workload), &problems);
    FitParams fit;
    fit.batch_size = workload.batch;
    network_ = std::make_shared<Network>(ParseModel(workload.architecture, &shape));
    trainer_ = std::make_unique<Trainer>(network_, compile_, fit, desc_, backend_, 1, precision);
    state_ = trainer_->InitialState(nullptr, "");
  }

  // Four steps.
  void Visit() {
    const std::atomic<bool> cancel{false};
    MetricSums sums;
    trainer_->Visit(&state_, partition_, 0, cancel, &sums);
    benchmark::DoNotOptimize(sums.loss);
  }
  void Evaluate() {
    const std::atomic<bool> cancel{false};
    MetricSums sums;
    trainer_->Evaluate(state_.params.data(), partition_, cancel, &sums);
    benchmark::DoNotOptimize(sums.loss);
  }
  int64_t rows() const { return rows_; }

 private:
  const TorchBackend backend_;
  const int64_t rows_;
  DataDesc desc_;
  Partition partition_;
  CompileParams compile_;
  std::shared_ptr<Network> network_;
  std::unique_ptr<Trainer> trainer_;
  ModelState state_;
};

void Run(benchmark::State& state, const Workload& workload, const std::string& form, bool train) {
  const OwnedAccount account = MemoryAccount::Create(int64_t{8} << 30);
  {
    const TensorMemoryScope memory(account.get());
    UsePlannedSteps(form != "autograd");
    Bench bench(workload, form == "bf16" ? Precision::kBf16 : Precision::kFp32);
    for (auto _ : state) train ? bench.Visit() : bench.Evaluate();
    // Time of one batch, whatever the visit holds.
    state.counters["batch_us"] = benchmark::Counter(
        4.0, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  }
}

}  // namespace
}  // namespace hopper

int main(int argc, char** argv) {
  at::set_num_threads(1);
  for (const hopper::Workload& workload : hopper::Workloads()) {
    for (bool train : {true, false}) {
      for (const std::string form : {"planned", "bf16", "autograd"}) {
        if (form == "bf16" && !train) continue;  // evaluation is in fp32
        const std::string name = workload.name + (train ? "/step/" : "/evaluation/") + form;
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
          hopper::Run(state, workload, form, train);
        })->Unit(benchmark::kMicrosecond);
      }
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
