#include "engine/sequential_loop.h"

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>

#include <algorithm>
#include <vector>

#include "base/bf16.h"
#include "data/dataset.h"
#include "loss/planned_loss.h"
#include "model/network/network.h"
#include "model/planned/step_plan.h"
#include "optim/optimizer.h"
#include "params/params.h"
#include "state/state.h"
#include "support/autograd.h"
#include "support/tensor_batches.h"

namespace hopper {

std::string SequentialDigest(const Configuration& config, const RunOptions& options,
                             const PackedTable& train, const std::string& numerics_class,
                             bool planned) {
  at::set_num_threads(1);  // part of the numerics class
  const Dataset data = DatasetOf(train);
  const DataDesc& desc = data.desc();
  const auto spec = ParseModel(config.arch, &desc.x_shape);
  const Network network(spec);
  std::vector<ParamProblem> problems;
  const CompileParams compile = ParseCompileParams(config.compile, &problems);
  const FitParams fit = ParseFitParams(config.fit, &problems);
  const uint64_t seed = fit.seed.value_or(options.seed);

  ModelState state;
  state.architecture = spec->hash;
  state.numerics_class = numerics_class;
  state.optimizer = SlotNames(compile.optimizer);
  state.n_slots = SlotCount(compile.optimizer);
  state.params = AlignedArray<float>(static_cast<size_t>(spec->flat_size));
  state.slots = AlignedArray<float>(static_cast<size_t>(spec->slot_size * state.n_slots));
  InitializeWeights(*spec, seed, state.params.data());

  std::vector<TrainableSpan> spans;
  for (const WeightSpec& weight : spec->weights) {
    if (weight.slot_offset < 0) continue;
    spans.push_back({weight.offset, weight.slot_offset, weight.size(), weight.regularizer.l1,
                     weight.regularizer.l2});
  }
  std::vector<at::Tensor> weights = network.BindWeights(state.params.data());
  for (size_t i = 0; i < weights.size(); ++i) {
    if (spec->weights[i].slot_offset >= 0) weights[i].set_requires_grad(true);
  }
  AlignedArray<float> gradients(static_cast<size_t>(spec->flat_size));
  std::vector<at::Tensor> gradient_views = network.BindWeights(gradients.data());
  const bool logits = UsesLogits(compile.loss, spec->final_activation);

  const int n_partitions = data.n_partitions();
  const auto n_starts = static_cast<int>(options.starts.size());
  const int start = options.starts[static_cast<size_t>((config.key - 1) % n_starts)];
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    for (int i = 0; i < n_partitions; ++i) {
      const int p = (start + i) % n_partitions;
      const Partition& partition = data.partition(p);
      for (int64_t epoch = 0; epoch < fit.epochs; ++epoch) {
        const std::vector<int32_t> order =
            BatchOrder(seed, p, iteration * fit.epochs + epoch, partition.n, fit.shuffle);
        for (int64_t first = 0; first < partition.n; first += fit.batch_size) {
          const int64_t n = std::min(fit.batch_size, partition.n - first);
          std::vector<int64_t> shape = {n};
          shape.insert(shape.end(), desc.x_shape.begin(), desc.x_shape.end());
          const at::Tensor x = at::empty(shape, at::kFloat);
          TensorTargets targets;
          targets.classes = at::empty({n}, at::kLong);
          targets.num_classes = desc.num_classes;
          GatherFeatures(desc, partition, order.data() + first, n, x.data_ptr<float>());
          GatherClasses(desc, partition, order.data() + first, n,
                        targets.classes.data_ptr<int64_t>());

          if (planned) {
            PlanOptions plan_options;
            plan_options.batch = n;
            plan_options.training = true;
            plan_options.linear = logits;
            plan_options.seed = seed;
            plan_options.precision = ParsePrecision(options.precision, false);
            StepPlan plan(network, plan_options);
            StepArguments step;
            step.params = state.params.data();
            step.gradients = gradients.data();
            step.step = state.step;
            // Made anew from the weights of each step: what the optimizer writes must equal it.
            std::vector<uint16_t> shadow(state.params.size());
            for (size_t i = 0; i < shadow.size(); ++i) shadow[i] = ToBf16(state.params[i]);
            step.shadow = shadow.data();
            plan.SetInput(x.const_data_ptr<float>());
            plan.Forward(step);
            PlannedLoss loss(compile.loss, compile.loss_options, logits, n, spec->output_shape(),
                             KernelsHere(), Autograd());
            const std::vector<float> factors(static_cast<size_t>(n), 1.0F / static_cast<float>(n));
            loss.Run(plan.output(), RawTargets(targets), factors.data(), plan.output_gradient());
            plan.Backward(step);
          } else {
            ForwardContext context;
            context.training = true;
            context.seed = seed;
            context.step = state.step;
            context.linear = logits;
            const at::Tensor output = network.Forward(x, weights, context);
            at::mean(LossPerExample(compile.loss, output, logits, targets, compile.loss_options))
                .backward();
            std::fill_n(gradients.data(), gradients.size(), 0.0F);
            for (size_t w = 0; w < weights.size(); ++w) {
              if (!weights[w].grad().defined()) continue;
              gradient_views[w].copy_(weights[w].grad());
              weights[w].mutable_grad() = at::Tensor();
            }
          }
          ApplyOptimizer(compile.optimizer, state.step, spans, state.params.data(),
                         gradients.data(), state.slots.data(), spec->slot_size);
          ++state.step;
          state.examples += n;
        }
      }
    }
    ++state.iteration;
  }
  const std::vector<uint8_t> image = WriteState(StateLayoutOf(*spec), state);
  return VerifyState(image.data(), image.size()).Hex();
}

}  // namespace hopper
