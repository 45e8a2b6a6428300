#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/bf16.h"
#include "base/pieces.h"
#include "optim/gradient_rows.h"
#include "optim/learning_rate.h"
#include "optim/table.h"

namespace hopper {
namespace {

template <typename K>
void RunBaseline(const StepSpan& span, const StepScalars& scalars) {
  RunSpan<K>(span, scalars);
}

#if defined(__x86_64__)
template <typename K>
__attribute__((target("avx2"))) void RunAvx2(const StepSpan& span, const StepScalars& scalars) {
  RunSpan<K>(span, scalars);
}
#endif

template <typename K>
void Run(const StepSpan& span, const StepScalars& scalars) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return RunAvx2<K>(span, scalars);
#endif
  RunBaseline<K>(span, scalars);
}

using KernelFunction = void (*)(const StepSpan&, const StepScalars&);

struct KernelRow {
  KernelType type;
  KernelFunction run;
};

template <typename... K>
const KernelRow* RowsOf(TypeList<K...> /*kernels*/) {
  static constexpr KernelRow kRows[] = {{{K::kSlots, K::kByNorms, K::kSlotNames}, Run<K>}...};
  return kRows;
}

const KernelRow& RowAt(int place) { return RowsOf(AllKernels())[place]; }

// Sum in float64, in sixteen interleaved parts: the compiler may use vectors of any width that
// divides sixteen, and the result does not depend on which.
template <typename Term>
double SumOf(const float* x, int64_t n, Term term) {
  constexpr int kParts = 16;
  static_assert(kPieceBytes % (kParts * sizeof(float)) == 0,
                "each piece begins with the first part");
  double parts[kParts] = {};
  InPieces(static_cast<size_t>(n), sizeof(float), [&](size_t first, size_t count) {
    const float* piece = x + first;
    size_t i = 0;
    for (; i + kParts <= count; i += kParts) {
      for (int j = 0; j < kParts; ++j) parts[j] += term(static_cast<double>(piece[i + j]));
    }
    for (int j = 0; i < count; ++i, ++j) parts[j] += term(static_cast<double>(piece[i]));
  });
  double sum = 0.0;
  for (double part : parts) sum += part;
  return sum;
}

double SumOfSquares(const float* x, int64_t n) {
  return SumOf(x, n, [](double v) { return v * v; });
}

float Norm(const float* x, int64_t n) { return std::sqrt(static_cast<float>(SumOfSquares(x, n))); }

// x[i] = changed(x[i]) for all.
template <typename Changed>
void Change(int64_t n, float* x, const Changed& changed) {
  InPieces(static_cast<size_t>(n), sizeof(float), [&](size_t first, size_t count) {
    float* __restrict piece = x + first;
    for (size_t i = 0; i < count; ++i) piece[i] = changed(piece[i]);
  });
}

// Of `size` weights of the span.
void AddRegularization(const TrainableSpan& span, int64_t size, const float* __restrict w,
                       float* __restrict g) {
  if (span.l2 != 0.0) {
    const float factor = static_cast<float>(2.0 * span.l2);
    for (int64_t i = 0; i < size; ++i) g[i] += factor * w[i];
  }
  if (span.l1 != 0.0) {
    const float l1 = static_cast<float>(span.l1);
    for (int64_t i = 0; i < size; ++i) {
      g[i] += w[i] > 0.0F ? l1 : (w[i] < 0.0F ? -l1 : 0.0F);
    }
  }
}

// Keras' clip_by_global_norm: a NaN or infinite norm makes everything NaN, which the caller then
// sees in the weights.
void ClipTogether(float limit, const std::vector<TrainableSpan>& spans, float* gradients) {
  double squares = 0.0;
  for (const TrainableSpan& span : spans)
    squares += SumOfSquares(gradients + span.offset, span.size);
  const float norm = std::sqrt(static_cast<float>(squares));
  const float scale = limit * std::min(1.0F / norm, 1.0F / limit) + (norm - norm);
  for (const TrainableSpan& span : spans) {
    Change(span.size, gradients + span.offset, [scale](float g) { return g * scale; });
  }
}

void ClipNorm(float limit, int64_t size, float* gradients) {
  const float norm = Norm(gradients, size);
  if (norm <= limit) return;  // not when it is NaN, which the caller then sees in the weights
  Change(size, gradients, [=](float g) { return g * limit / norm; });
}

void ClipValues(float limit, int64_t size, float* __restrict g) {
  for (int64_t i = 0; i < size; ++i) {
    const float v = g[i];  // the comparisons keep NaN
    g[i] = v > limit ? limit : (v < -limit ? -limit : v);
  }
}

// The numbers of one step for spans of one factor of the learning rate.
struct Rate {
  double factor = 1.0;
  float rate = 0.0F;
  StepScalars scalars;
};

// Of all spans' factors. There are few.
std::vector<Rate> RatesOf(const OptimizerParams& optimizer, int64_t step,
                          const std::vector<TrainableSpan>& spans) {
  std::vector<Rate> rates;
  for (const TrainableSpan& span : spans) {
    const bool known = std::any_of(rates.begin(), rates.end(),
                                   [&](const Rate& rate) { return rate.factor == span.lr_factor; });
    if (known) continue;
    rates.push_back({span.lr_factor, RateAt(optimizer, step, span.lr_factor),
                     ScalarsAt(optimizer, step, span.lr_factor)});
  }
  return rates;
}

void DecayWeights(float decay, float rate, int64_t size, float* __restrict w) {
  for (int64_t i = 0; i < size; ++i) w[i] -= w[i] * decay * rate;
}

// Moves the average towards the weights; after the first step it equals them.
void UpdateAverage(const OptimizerParams& optimizer, int64_t step, int64_t size,
                   float* __restrict w, float* __restrict average) {
  const float keep = step == 0 ? 0.0F : static_cast<float>(optimizer.ema_momentum);
  const float take = 1.0F - keep;
  for (int64_t i = 0; i < size; ++i) average[i] = keep * average[i] + take * w[i];
  const int64_t frequency = optimizer.ema_overwrite_frequency;
  if (frequency > 0 && (step + 1) % frequency == 0) std::copy_n(average, size, w);
}

// Weights of one part of Update::InParts().
constexpr int64_t kShadowPart = 2048;
// Gradients of 0 that are read again and again.
constexpr int64_t kZeros = 2048;

void WriteShadow(const float* __restrict w, int64_t size, uint16_t* __restrict shadow) {
  for (int64_t i = 0; i < size; ++i) shadow[i] = ToBf16(w[i]);
}

// One step's parts that treat every weight by itself: whoever computes them, the bits are the same.
struct Update {
  const OptimizerParams& optimizer;
  int64_t step;
  const KernelRow& kernel;
  bool regularizes;  // the gradients still lack the regularizers' part
  float decay;
  const std::vector<Rate>& rates;
  float* params;
  float* gradients;
  float* slots;
  int64_t slot_size;
  uint16_t* shadow;
  const GradientRows* rows;  // null: all weights have gradients

  const Rate& RateOf(const TrainableSpan& span) const {
    return *std::find_if(rates.begin(), rates.end(),
                         [&](const Rate& rate) { return rate.factor == span.lr_factor; });
  }

  // The weights first .. last - 1 of a span.
  StepSpan PartOf(const TrainableSpan& span, int64_t first, int64_t last) const {
    StepSpan part;
    part.size = last - first;
    part.w = params + span.offset + first;
    part.g = gradients + span.offset + first;
    for (int i = 0; i < kernel.type.slots; ++i) {
      part.s[i] = slots + span.slot_offset + first + i * slot_size;
    }
    return part;
  }

  // What comes before the kernel.
  void Prepare(const TrainableSpan& span, const StepSpan& part) const {
    if (regularizes) AddRegularization(span, part.size, part.w, part.g);
    if (!optimizer.global_clipnorm && optimizer.clipvalue && *optimizer.clipvalue > 0.0) {
      ClipValues(static_cast<float>(*optimizer.clipvalue), part.size, part.g);
    }
    PrepareWeights(span, part);
  }
  // Of it what asks no gradient.
  void PrepareWeights(const TrainableSpan& span, const StepSpan& part) const {
    const float own_decay = decay * static_cast<float>(span.decay_factor);
    if (own_decay != 0.0F) DecayWeights(own_decay, RateOf(span).rate, part.size, part.w);
    const float first_slot = step == 0 ? optimizer.type->first_slot(optimizer) : 0.0F;
    if (first_slot != 0.0F) std::fill_n(part.s[0], part.size, first_slot);
  }

  // What comes after it.
  void Finish(const TrainableSpan& span, const StepSpan& part) const {
    const int64_t at = part.w - params - span.offset;
    if (optimizer.use_ema) {
      UpdateAverage(optimizer, step, part.size, part.w,
                    slots + span.slot_offset + at + kernel.type.slots * slot_size);
    }
    if (shadow != nullptr) WriteShadow(part.w, part.size, shadow + span.offset + at);
  }

  // With a shadow in small parts, so that it is written while they are in the cache.
  template <typename RunPart>
  void InParts(const TrainableSpan& span, int64_t first, int64_t last, const RunPart& run) const {
    const int64_t size = shadow == nullptr ? last - first : kShadowPart;
    for (int64_t at = first; at < last; at += size) {
      const StepSpan part = PartOf(span, at, std::min(at + size, last));
      run(part);
      Finish(span, part);
    }
  }

  void Run(const TrainableSpan& span, int64_t first, int64_t last) const {
    const GradientRows::Table* table = rows == nullptr ? nullptr : rows->Find(span.offset);
    if (table == nullptr) return RunAll(span, first, last);
    int64_t at = first;
    for (const int64_t row : table->rows) {
      const int64_t from = std::max(first, row * table->width);
      const int64_t to = std::min(last, (row + 1) * table->width);
      if (from >= to) continue;
      RunWithoutGradients(span, at, from);
      RunAll(span, from, to);
      at = to;
    }
    RunWithoutGradients(span, at, last);
  }
  // Whether weights with a gradient of 0 stay as they are.
  bool leaves_zero_gradients() const {
    return kernel.type.slots == 0 && !optimizer.use_ema && decay == 0.0F;
  }
  void RunWithoutGradients(const TrainableSpan& span, int64_t first, int64_t last) const {
    if (leaves_zero_gradients()) return;
    static float zeros[kZeros];  // kernels that are not by norms only read gradients
    const StepScalars& scalars = RateOf(span).scalars;
    for (int64_t at = first; at < last; at += kZeros) {
      StepSpan piece = PartOf(span, at, std::min(at + kZeros, last));
      piece.g = zeros;
      PrepareWeights(span, piece);
      kernel.run(piece, scalars);
      Finish(span, piece);
    }
  }
  void RunAll(const TrainableSpan& span, int64_t first, int64_t last) const {
    Prepare(span, PartOf(span, first, last));
    const StepScalars& scalars = RateOf(span).scalars;
    InParts(span, first, last, [&](const StepSpan& part) { kernel.run(part, scalars); });
  }

  // A kernel by norms: first this for all spans, which leaves its updates in the gradients; then
  // RunScaled() with rate * NormRatio().
  void RunUpdates(const TrainableSpan& span, int64_t first, int64_t last) const {
    const StepSpan part = PartOf(span, first, last);
    Prepare(span, part);
    kernel.run(part, RateOf(span).scalars);
  }
  void RunScaled(const TrainableSpan& span, int64_t first, int64_t last, float scale) const {
    InParts(span, first, last, [scale](const StepSpan& part) {
      float* __restrict w = part.w;
      const float* __restrict u = part.g;
      for (int64_t i = 0; i < part.size; ++i) w[i] -= scale * u[i];
    });
  }
};

// What a weight's update takes, in the operations of RunShares(): memory is what it waits for.
constexpr double kUpdateWork = 16.0;

}  // namespace

int KernelPlace(const OptimizerParams& optimizer) {
  return optimizer.type->first_kernel + optimizer.type->choose(optimizer);
}

const KernelType& KernelAt(int place) { return RowAt(place).type; }

float RateAt(const OptimizerParams& optimizer, int64_t step, double lr_factor) {
  return LearningRate(optimizer, step) * static_cast<float>(lr_factor);
}

StepScalars ScalarsAt(const OptimizerParams& optimizer, int64_t step, double lr_factor) {
  return optimizer.type->scalars(optimizer, step, RateAt(optimizer, step, lr_factor));
}

int SlotCount(const OptimizerParams& optimizer) {
  return KernelAt(KernelPlace(optimizer)).slots + (optimizer.use_ema ? 1 : 0);
}

const char* OptimizerName(const OptimizerParams& optimizer) { return optimizer.type->name; }

std::string SlotNames(const OptimizerParams& optimizer) {
  return std::string(optimizer.type->name) + KernelAt(KernelPlace(optimizer)).slot_names +
         (optimizer.use_ema ? " ema" : "");
}

void ApplyOptimizer(const OptimizerParams& optimizer, int64_t step,
                    const std::vector<TrainableSpan>& spans, float* params, float* gradients,
                    float* slots, int64_t slot_size, uint16_t* shadow, Team* team) {
  const bool clips_norm = optimizer.clipnorm && *optimizer.clipnorm > 0.0;
  // Norms are sums over all weights, in one order: the calling thread's.
  const bool by_norm = optimizer.global_clipnorm || clips_norm;
  const GradientRows* rows = GradientRowsScope::Current();
  int64_t size = 0;
  for (const TrainableSpan& span : spans) {
    size += span.size;
    if (!by_norm) continue;
    InPieces(static_cast<size_t>(span.size), sizeof(float), [&](size_t first, size_t count) {
      const int64_t at = span.offset + static_cast<int64_t>(first);
      AddRegularization(span, static_cast<int64_t>(count), params + at, gradients + at);
    });
    if (optimizer.global_clipnorm) continue;
    ClipNorm(static_cast<float>(*optimizer.clipnorm), span.size, gradients + span.offset);
  }
  if (optimizer.global_clipnorm) {
    ClipTogether(static_cast<float>(*optimizer.global_clipnorm), spans, gradients);
  }
  const std::vector<Rate> rates = RatesOf(optimizer, step, spans);
  const Update update{optimizer,
                      step,
                      RowAt(KernelPlace(optimizer)),
                      !by_norm,
                      WeightDecay(optimizer, step),
                      rates,
                      params,
                      gradients,
                      slots,
                      slot_size,
                      shadow,
                      rows};
  int64_t updated = size;  // weights
  for (const TrainableSpan& span : spans) {
    const GradientRows::Table* table = rows == nullptr ? nullptr : rows->Find(span.offset);
    if (table == nullptr || !update.leaves_zero_gradients()) continue;
    updated -= span.size - table->width * static_cast<int64_t>(table->rows.size());
  }
  const double work = kUpdateWork * static_cast<double>(updated);
  // A team's members share the weights of all spans.
  const auto share = [&](const auto& run) {
    RunShares(team, size, work, [&](int64_t first, int64_t last, int) {
      int64_t before = 0;  // weights in the spans before this one
      for (const TrainableSpan& span : spans) {
        const int64_t from = std::max(first - before, int64_t{0});
        const int64_t to = std::min(last - before, span.size);
        if (from < to) {
          InPieces(static_cast<size_t>(to - from), sizeof(float), [&](size_t begin, size_t count) {
            const int64_t at = from + static_cast<int64_t>(begin);
            run(span, at, at + static_cast<int64_t>(count));
          });
        }
        before += span.size;
      }
    });
  };
  const auto constrain = [&] {
    for (const TrainableSpan& span : spans) {
      if (span.constraint == nullptr) continue;
      span.constraint->Apply(params + span.offset);
      if (shadow == nullptr) continue;
      InPieces(static_cast<size_t>(span.size), sizeof(float), [&](size_t first, size_t count) {
        const int64_t at = span.offset + static_cast<int64_t>(first);
        WriteShadow(params + at, static_cast<int64_t>(count), shadow + at);
      });
    }
  };
  if (!update.kernel.type.by_norms) {
    share([&](const TrainableSpan& span, int64_t from, int64_t to) { update.Run(span, from, to); });
    return constrain();
  }
  share([&](const TrainableSpan& span, int64_t from, int64_t to) {
    update.RunUpdates(span, from, to);
  });
  std::vector<float> scales;
  for (const TrainableSpan& span : spans) {
    scales.push_back(
        update.RateOf(span).rate *
        NormRatio(Norm(params + span.offset, span.size), Norm(gradients + span.offset, span.size)));
  }
  share([&](const TrainableSpan& span, int64_t from, int64_t to) {
    update.RunScaled(span, from, to, scales[static_cast<size_t>(&span - spans.data())]);
  });
  constrain();
}

void UseAverages(const OptimizerParams& optimizer, int64_t step,
                 const std::vector<TrainableSpan>& spans, const float* slots, int64_t slot_size,
                 float* params) {
  if (!optimizer.use_ema || step == 0) return;
  const float* averages = slots + KernelAt(KernelPlace(optimizer)).slots * slot_size;
  for (const TrainableSpan& span : spans) {
    CopyInPieces(params + span.offset, averages + span.slot_offset,
                 static_cast<size_t>(span.size) * sizeof(float));
  }
}

double RegularizationLoss(const std::vector<TrainableSpan>& spans, const float* params) {
  double loss = 0.0;
  for (const TrainableSpan& span : spans) {
    const float* w = params + span.offset;
    if (span.l1 != 0.0) {
      loss += span.l1 * SumOf(w, span.size, [](double v) { return std::abs(v); });
    }
    if (span.l2 != 0.0) loss += span.l2 * SumOfSquares(w, span.size);
  }
  return loss;
}

}  // namespace hopper
