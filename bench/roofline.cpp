// What the processor could do, and how much of it a training step does: peak of multiply-adds and
// memory bandwidth, the multiplications and bytes that each node of a step needs, and where its
// time goes.
//
//   roofline [NAME...] [--steps N]
//
// The bound of a node is the longer one of its multiplications at the measured peak and of its
// bytes at the measured bandwidth; a step's is their sum with the optimizer's. A node needs its
// layer's operations forward, once more for its weights' gradient and once more for its input's;
// where the planner takes Winograd's transforms, 2.25 times fewer: those of F(2 x 2, 3 x 3), so
// that numbers of before and after larger tiles compare. All times are of one thread's processor,
// so that other work on the machine adds little.
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <c10/core/InferenceMode.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "autograd/tensor_memory.h"
#include "model/layers/conv_2d/conv_2d.h"
#include "model/layers/conv_2d/planned.h"
#include "model/network/network.h"
#include "train/loaded_batch.h"
#include "train/plan_set.h"
#include "train/trainer_parts.h"
#include "workloads.h"

namespace hopper {
namespace {

const Kernels* real_kernels = nullptr;

double CpuSeconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The best of a few runs of a function that returns how much it did, by second.
template <typename Work>
double BestRate(const Work& work) {
  double best = 0.0;
  for (int i = 0; i < 7; ++i) {
    const double start = CpuSeconds();
    const double amount = work();
    best = std::max(best, amount / (CpuSeconds() - start));
  }
  return best;
}

// ---- peaks

constexpr int64_t kPeakRounds = 2 * 1000 * 1000;
constexpr int kChains = 12;  // enough for two units of a latency of five

// Hides from the compiler what a vector holds.
#if defined(__x86_64__)
#define HOPPER_KEEP(vector) asm volatile("" : "+x"(vector))
#else
#define HOPPER_KEEP(vector) asm volatile("" : "+w"(vector))
#endif

using Vec4 = float __attribute__((vector_size(16)));
using Vec8 = float __attribute__((vector_size(32)));
using Vec16 = float __attribute__((vector_size(64)));

// Chains of multiply-adds on vectors; returns operations.
template <typename Vec>
inline __attribute__((always_inline)) double MultiplyAdds() {
  Vec sum[kChains] = {};
  Vec a = Vec{} + 1.0F;
  const Vec b = Vec{} + 0.5F;
  for (int64_t i = 0; i < kPeakRounds; ++i) {
#pragma GCC unroll 16
    for (Vec& chain : sum) {
      HOPPER_KEEP(a);  // or one product serves all chains
      chain += a * b;
    }
  }
#pragma GCC unroll 16
  for (Vec& chain : sum) HOPPER_KEEP(chain);
  return 2.0 * sizeof(Vec) / sizeof(float) * kChains * static_cast<double>(kPeakRounds);
}

struct Peak {
  const char* name;
  double (*run)();
};

double BaselinePeak() { return MultiplyAdds<Vec4>(); }
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) double Avx2Peak() { return MultiplyAdds<Vec8>(); }
__attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma,prefer-vector-width=512"))) double
Avx512Peak() {
  return MultiplyAdds<Vec16>();
}
#endif

std::vector<Peak> Peaks() {
  std::vector<Peak> peaks = {{"baseline", BaselinePeak}};
#if defined(__x86_64__)
  if (Avx2Kernels() != nullptr) peaks.push_back({"AVX2", Avx2Peak});
  if (Avx512Kernels() != nullptr) peaks.push_back({"AVX512", Avx512Peak});
#endif
  return peaks;
}

// By adding one array to another, both beyond any cache: two are read and one is written.
double Bandwidth() {
  constexpr size_t kFloats = size_t{16} << 20;
  AlignedArray<float> x(kFloats);
  AlignedArray<float> y(kFloats);
  std::fill_n(x.data(), kFloats, 1.0F);  // pages that nobody wrote are one page of zeros
  std::fill_n(y.data(), kFloats, 1.0F);
  return BestRate([&] {
    real_kernels->add(x.data(), kFloats, y.data());
    return 3.0 * sizeof(float) * kFloats;
  });
}

// Rates of threads that run side by side, added.
template <typename Rate>
double OnThreads(int threads, const Rate& rate) {
  std::vector<double> rates(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  for (double& mine : rates) running.emplace_back([&] { mine = rate(); });
  for (std::thread& thread : running) thread.join();
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

// ---- where a step's time goes

enum Kind { kProduct, kTransform, kRest, kKinds };
constexpr const char* kKindNames[] = {"product", "transform", "rest"};

// Parts of a step beside its nodes, which come after them.
enum Part { kGather, kLoss, kOptimizer, kParts };
constexpr const char* kPartNames[] = {"gather", "loss", "optimizer"};

int64_t Ticks() {
#if defined(__x86_64__)
  return static_cast<int64_t>(__builtin_ia32_rdtsc());
#else
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
#endif
}

// Cuts a step into stretches, each of a place (a node, then parts) and a kind. Steps have the same
// stretches, so that the least over steps of each is without other programs: on a busy machine they
// run in most of the long ones.
class Recorder : public StepWatch {
 public:
  void Begin(size_t node, bool /*backward*/) override { Cut(node, kRest); }
  void Cut(size_t place, Kind kind) {
    const int64_t now = Ticks();
    if (at_ > 0) Add(now - last_);
    if (at_ == stretches_.size()) stretches_.push_back({place, kind});
    place_ = place;
    ++at_;
    last_ = Ticks();
  }
  size_t place() const { return place_; }
  void EndStep() {
    Add(Ticks() - last_);
    at_ = 0;
  }
  // Ticks of each place and kind in a step.
  std::vector<std::array<double, kKinds>> Sums(size_t places) {
    std::vector<std::array<double, kKinds>> sums(places, std::array<double, kKinds>{});
    for (const Stretch& stretch : stretches_) {
      sums[stretch.place][stretch.kind] += static_cast<double>(stretch.least);
    }
    return sums;
  }

 private:
  struct Stretch {
    size_t place;
    Kind kind;
    int64_t least = std::numeric_limits<int64_t>::max();  // ticks in a step
  };
  void Add(int64_t ticks) {
    int64_t& least = stretches_[at_ - 1].least;
    least = std::min(least, ticks);
  }

  std::vector<Stretch> stretches_;
  size_t at_ = 0;
  size_t place_ = 0;
  int64_t last_ = 0;
};

Recorder* recorder = nullptr;

// A kernel between two cuts.
template <Kind kKind, auto kKernel>
struct Timed;
template <Kind kKind, typename... A, void (*Kernels::*kKernel)(A...)>
struct Timed<kKind, kKernel> {
  static void Run(A... arguments) {
    const size_t place = recorder->place();
    recorder->Cut(place, kKind);
    (real_kernels->*kKernel)(arguments...);
    recorder->Cut(place, kRest);
  }
};

template <Kind kKind, auto... kKernel>
void Time(Kernels* kernels) {
  ((kernels->*kKernel = Timed<kKind, kKernel>::Run), ...);
}

Kernels TimedKernels() {
  Kernels kernels = *real_kernels;
  Time<kProduct, &Kernels::gemm>(&kernels);
  Time<kTransform, &Kernels::transpose, &Kernels::winograd_input, &Kernels::winograd_input_gradient,
       &Kernels::winograd_output, &Kernels::winograd_gradient, &Kernels::winograd_weights,
       &Kernels::winograd_weights_gradient>(&kernels);
  return kernels;
}

// ---- what a step needs

struct Need {
  double operations = 0.0;
  double bytes = 0.0;
};

// By the rule of the planner.
bool WinogradApplies(const Layer& layer, const Shape& input) {
  const auto* conv = dynamic_cast<const layers::Conv2D*>(&layer);
  return conv != nullptr && input.size() == 3 &&
         PrefersWinograd(SizesOf(*conv, input), input[2], conv->filters);
}

std::vector<Need> NeedsOf(const ModelSpec& spec, int64_t batch) {
  std::vector<Need> needs(spec.nodes.size() + kParts);
  std::vector<char> has_gradient(spec.tensors.size(), 0);
  const auto floats = [&](int tensor) {
    return static_cast<double>(batch * ElementCount(spec.tensors[tensor]));
  };
  for (size_t i = 0; i < spec.nodes.size(); ++i) {
    const Node& node = spec.nodes[i];
    const Layer& layer = *spec.layers[node.layer];
    std::vector<Shape> inputs;
    bool input_gradient = false;
    double read = 0.0;
    for (const int id : node.inputs) {
      inputs.push_back(spec.tensors[id]);
      read += floats(id);
      input_gradient |= has_gradient[id] != 0;
    }
    double weights = 0.0;
    for (const int index : spec.layer_weights[node.layer]) {
      weights += static_cast<double>(spec.weights[index].size());
    }
    double pass = static_cast<double>(batch * layer.Flops(inputs, spec.tensors[node.output]));
    if (!inputs.empty() && WinogradApplies(layer, inputs[0])) pass /= 2.25;
    const int passes = 1 + (weights > 0.0 ? 1 : 0) + (input_gradient ? 1 : 0);
    needs[i].operations = pass * passes;
    // Forward: inputs and weights to outputs. For the weights: inputs and the outputs' gradient.
    // For the inputs: that and the weights.
    const double write = floats(node.output);
    needs[i].bytes = 4.0 * passes * (read + weights + write);
    if (inputs.empty() || read == 0.0) needs[i].bytes = 0.0;
    has_gradient[node.output] = input_gradient || weights > 0.0;
  }
  needs[spec.nodes.size() + kGather].bytes = 5.0 * floats(spec.input);
  // Weights and two moments are read and written, gradients read: Adam.
  needs[spec.nodes.size() + kOptimizer].bytes = 28.0 * static_cast<double>(spec.slot_size);
  return needs;
}

// ---- a step

class Step {
 public:
  Step(const Workload& workload, const Kernels* kernels, StepWatch* watch)
      : rows_(4 * workload.batch),
        desc_(Describe(workload, rows_)),
        partition_(RandomPartition(workload, desc_, rows_)),
        order_(static_cast<size_t>(rows_)),
        batch_(workload.batch) {
    const Shape shape(workload.x_shape.begin(), workload.x_shape.end());
    network_ = std::make_unique<Network>(ParseModel(workload.architecture, &shape));
    std::vector<ParamProblem> problems;
    compile_ = ParseCompileParams(CompileText(workload), &problems);
    objective_ = MakeObjective(compile_, spec(), desc_, /*training=*/true);
    PlanOptions options;
    options.batch = batch_;
    options.training = true;
    options.linear = objective_.linear;
    options.kernels = kernels;
    options.watch = watch;
    plan_ = std::make_unique<LossPlan>(*network_, options, objective_, losses_);
    loaded_ = std::make_unique<LoadedBatch>(desc_, batch_);
    const auto flat = static_cast<size_t>(spec().flat_size);
    params_ = AlignedArray<float>(flat);
    gradients_ = AlignedArray<float>(flat);
    slots_ = AlignedArray<float>(static_cast<size_t>(
        spec().slot_size * static_cast<int64_t>(SlotCount(compile_.optimizer))));
    InitializeWeights(spec(), 1, params_.data());
    spans_ = SpansOf(spec());
    factors_.assign(static_cast<size_t>(batch_), 1.0F / static_cast<float>(batch_));
    std::iota(order_.begin(), order_.end(), 0);
  }

  const ModelSpec& spec() const { return network_->spec(); }

  void Run() {
    const size_t nodes = spec().nodes.size();
    Cut(nodes + kGather);
    StepArguments step;
    double penalty = 0.0;
    step.params = params_.data();
    step.gradients = gradients_.data();
    step.step = step_;
    step.penalty = &penalty;
    loaded_->Load(partition_, order_.data() + (step_ % 4) * batch_, batch_);
    plan_->plan.SetInput(loaded_->input());
    plan_->plan.Forward(step);
    Cut(nodes + kLoss);
    plan_->loss.Run(plan_->plan.output(), loaded_->targets(), factors_.data(),
                    plan_->plan.output_gradient());
    plan_->plan.Backward(step);
    Cut(nodes + kOptimizer);
    ApplyOptimizer(compile_.optimizer, step_, spans_, params_.data(), gradients_.data(),
                   slots_.data(), spec().slot_size);
    ++step_;
    if (recorder != nullptr) recorder->EndStep();
  }

 private:
  static void Cut(size_t place) {
    if (recorder != nullptr) recorder->Cut(place, kRest);
  }

  const int64_t rows_;
  DataDesc desc_;
  Partition partition_;
  std::vector<int32_t> order_;
  const int64_t batch_;
  std::unique_ptr<Network> network_;
  CompileParams compile_;
  Objective objective_;
  LossBackend losses_;
  std::unique_ptr<LossPlan> plan_;
  std::unique_ptr<LoadedBatch> loaded_;
  AlignedArray<float> params_;
  AlignedArray<float> gradients_;
  AlignedArray<float> slots_;
  std::vector<TrainableSpan> spans_;
  std::vector<float> factors_;
  int64_t step_ = 0;
};

// Runs for about a second or `least` steps; the least CPU time of a step.
double BestStep(Step* step, int least) {
  double best = 1e9;
  const double begin = CpuSeconds();
  for (int i = 0; i < least || CpuSeconds() - begin < 1.0; ++i) {
    const double start = CpuSeconds();
    step->Run();
    best = std::min(best, CpuSeconds() - start);
  }
  return best;
}

void Print(const Workload& workload, double peak, double bandwidth, int steps) {
  recorder = nullptr;
  double seconds = 0.0;
  {
    Step plain(workload, nullptr, nullptr);
    seconds = BestStep(&plain, steps);
  }
  Recorder recording;
  recorder = &recording;
  static Kernels timed;
  timed = TimedKernels();
  Step step(workload, &timed, &recording);
  BestStep(&step, steps);
  recorder = nullptr;
  const ModelSpec& spec = step.spec();
  const size_t nodes = spec.nodes.size();
  const std::vector<Need> needs = NeedsOf(spec, workload.batch);
  const auto sums = recording.Sums(nodes + kParts);
  double all = 0.0;
  for (const auto& place : sums) all += std::accumulate(place.begin(), place.end(), 0.0);
  const auto bound = [&](const Need& need) {
    return std::max(need.operations / peak, need.bytes / bandwidth);
  };
  double operations = 0.0;
  double whole = 0.0;
  double kinds[kKinds] = {};
  for (size_t i = 0; i < needs.size(); ++i) {
    // A node without an op, as an activation that the one before applies, needs nothing.
    if (std::accumulate(sums[i].begin(), sums[i].end(), 0.0) == 0.0) continue;
    operations += needs[i].operations;
    whole += bound(needs[i]);
    for (int kind = 0; kind < kKinds; ++kind) kinds[kind] += sums[i][kind];
  }
  std::printf(
      "\n%s: step %.1f us; %.3f GFlop, %.0f %% of the peak; bound with memory %.1f us, %.0f %%\n",
      workload.name.c_str(), 1e6 * seconds, operations / 1e9, 100.0 * operations / peak / seconds,
      1e6 * whole, 100.0 * whole / seconds);
  std::printf("  of its time: product %.0f %%, transform %.0f %%, rest %.0f %%\n",
              100.0 * kinds[kProduct] / all, 100.0 * kinds[kTransform] / all,
              100.0 * kinds[kRest] / all);
  std::printf("  %-28s %8s %8s %9s %9s %9s %9s\n", "node", "us", "bound", "share", kKindNames[0],
              kKindNames[1], kKindNames[2]);
  const double scale = seconds / all;
  for (size_t i = 0; i < needs.size(); ++i) {
    const double time = scale * std::accumulate(sums[i].begin(), sums[i].end(), 0.0);
    if (time < 0.002 * seconds) continue;
    const std::string name =
        i < nodes ? spec.layers[spec.nodes[i].layer]->name() : std::string(kPartNames[i - nodes]);
    std::printf("  %-28s %8.1f %8.1f %7.0f %% %9.1f %9.1f %9.1f\n", name.c_str(), 1e6 * time,
                1e6 * bound(needs[i]), 100.0 * bound(needs[i]) / time,
                1e6 * scale * sums[i][kProduct], 1e6 * scale * sums[i][kTransform],
                1e6 * scale * sums[i][kRest]);
  }
}

int Main(int argc, char** argv) {
  at::set_num_threads(1);
  const c10::InferenceMode inference;
  std::vector<std::string> names;
  int steps = 9;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--steps") == 0 && i + 1 < argc) {
      steps = std::max(1, std::atoi(argv[++i]));
    } else {
      names.emplace_back(argv[i]);
    }
  }
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  double peak = 0.0;
  real_kernels = &KernelsHere();
  for (const Peak& set : Peaks()) {
    const double one = BestRate(set.run);
    const double all = OnThreads(threads, [&] { return BestRate(set.run); });
    std::printf("%-10s %7.1f GFlop/s one thread, %7.1f on %d\n", set.name, one / 1e9, all / 1e9,
                threads);
    if (std::strcmp(set.name, real_kernels->name) == 0) peak = one;
  }
  const double bandwidth = Bandwidth();
  std::printf("%-10s %7.1f GB/s one thread, %7.1f on %d\n", "memory", bandwidth / 1e9,
              OnThreads(threads, Bandwidth) / 1e9, threads);
  const OwnedAccount account = MemoryAccount::Create(int64_t{8} << 30);
  const TensorMemoryScope memory(account.get());
  for (const Workload& workload : Workloads()) {
    if (names.empty() || std::find(names.begin(), names.end(), workload.name) != names.end()) {
      Print(workload, peak, bandwidth, steps);
    }
  }
  return 0;
}

}  // namespace
}  // namespace hopper

int main(int argc, char** argv) { return hopper::Main(argc, argv); }
