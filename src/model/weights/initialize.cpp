// Initial weights by Keras' rules (keras.initializers). Each value is a pure function of (seed,
// index of the weight, element in C order of Keras' shape); how the weight is stored does not
// matter.

#include "model/weights/initialize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/philox.h"
#include "model/weights/orthogonal.h"

namespace hopper {

namespace {

// Elements of a piece, and between two looks at `cancel`: about 5 ms.
constexpr int64_t kPiece = 1 << 16;

// Quantile of the standard normal distribution for 0 < p < 1, to about 1e-16: Wichura, "Algorithm
// AS 241: The Percentage Points of the Normal Distribution", Applied Statistics 37 (1988), PPND16.
double NormalQuantile(double p) {
  const auto ratio = [](const double(&a)[8], const double(&b)[8], double r) {
    double numerator = 0.0;
    double denominator = 0.0;
    for (int i = 7; i >= 0; --i) {
      numerator = numerator * r + a[i];
      denominator = denominator * r + b[i];
    }
    return numerator / denominator;
  };
  static const double a[8] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                              1.9715909503065514427e+3, 1.3731693765509461125e+4,
                              4.5921953931549871457e+4, 6.7265770927008700853e+4,
                              3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static const double b[8] = {1.0,
                              4.2313330701600911252e+1,
                              6.8718700749205790830e+2,
                              5.3941960214247511077e+3,
                              2.1213794301586595867e+4,
                              3.9307895800092710610e+4,
                              2.8729085735721942674e+4,
                              5.2264952788528545610e+3};
  static const double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                              5.76949722146069140550e0,  3.64784832476320460504e0,
                              1.27045825245236838258e0,  2.41780725177450611770e-1,
                              2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static const double d[8] = {1.0,
                              2.05319162663775882187e0,
                              1.67638483018380384940e0,
                              6.89767334985100004550e-1,
                              1.48103976427480074590e-1,
                              1.51986665636164571966e-2,
                              5.47593808499534494600e-4,
                              1.05075007164441684324e-9};
  static const double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                              1.78482653991729133580e0,  2.96560571828504891230e-1,
                              2.65321895265761230930e-2, 1.24266094738807843860e-3,
                              2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static const double f[8] = {1.0,
                              5.99832206555887937690e-1,
                              1.36929880922735805310e-1,
                              1.48753612908506148525e-2,
                              7.86869131145613259100e-4,
                              1.84631831751005468180e-5,
                              1.42151175831644588870e-7,
                              2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) return q * ratio(a, b, 0.180625 - q * q);
  double r = std::sqrt(-std::log(q < 0.0 ? p : 1.0 - p));
  r = r <= 5.0 ? ratio(c, d, r - 1.6) : ratio(e, f, r - 5.0);
  return q < 0.0 ? -r : r;
}

// Distribution function of the standard normal at -2.
constexpr double kBelowTwoSigma = 0.022750131948179207200;

class Draws {
 public:
  Draws(uint64_t seed, int weight)
      : philox_(seed, Purpose::kInitialize, static_cast<uint32_t>(weight), 0) {}

  double Uniform(int64_t element, double low, double high) const {
    return low + philox_.UniformDouble(static_cast<uint64_t>(element)) * (high - low);
  }
  double Normal(int64_t element) const {
    return NormalQuantile(philox_.UniformDouble(static_cast<uint64_t>(element)));
  }
  // Of the normal distribution cut off at two standard deviations.
  double TruncatedNormal(int64_t element) const {
    const double p = Uniform(element, kBelowTwoSigma, 1.0 - kBelowTwoSigma);
    return std::clamp(NormalQuantile(p), -2.0, 2.0);
  }

 private:
  Philox philox_;
};

// Keras' compute_fans().
double FanOf(const WeightSpec& weight, InitializerSpec::FanMode mode) {
  const Shape& shape = weight.shape;
  double in = 1.0;
  double out = 1.0;
  if (weight.fan_inputs > 0) {
    for (size_t i = 0; i < shape.size(); ++i) {
      (i < weight.fan_inputs ? in : out) *= static_cast<double>(shape[i]);
    }
  } else if (shape.size() == 1) {
    in = out = static_cast<double>(shape[0]);
  } else if (shape.size() >= 2) {
    double field = 1.0;
    for (size_t i = 0; i + 2 < shape.size(); ++i) field *= static_cast<double>(shape[i]);
    in = field * static_cast<double>(shape[shape.size() - 2]);
    out = field * static_cast<double>(shape.back());
  }
  switch (mode) {
    case InitializerSpec::FanMode::kIn:
      return in;
    case InitializerSpec::FanMode::kOut:
      return out;
    default:
      return (in + out) / 2.0;
  }
}

// Columns (or rows, where there are fewer of them) of length `gain` at right angles: Q of the QR
// decomposition of normal numbers, with the signs that make it uniform over such matrices.
// Calls put(element, value); false where `cancel` ended it.
template <typename Put>
bool FillOrthogonal(const Draws& draws, double gain, const Shape& shape,
                    const std::atomic<bool>& cancel, const Put& put) {
  const int64_t columns = shape.back();
  const int64_t rows = ElementCount(shape) / columns;
  const int64_t tall = std::max(rows, columns);
  const int64_t narrow = std::min(rows, columns);
  Eigen::MatrixXd normal(tall, narrow);
  int64_t since = 0;  // the last look at `cancel`, numbers
  const auto ends = [&](int64_t done) {
    since += done;
    if (since < kPiece) return false;
    since = 0;
    return cancel.load(std::memory_order_relaxed);
  };
  for (int64_t i = 0; i < tall; ++i) {
    for (int64_t j = 0; j < narrow; ++j) normal(i, j) = draws.Normal(i * narrow + j);
    if (ends(narrow)) return false;
  }
  Eigen::MatrixXd q;
  if (!OrthogonalColumns(cancel, &normal, &q)) return false;
  for (int64_t j = 0; j < narrow; ++j) {
    if (normal(j, j) < 0.0) q.col(j) *= -1.0;
    if (ends(tall)) return false;
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      put(i * columns + j, gain * (rows >= columns ? q(i, j) : q(j, i)));
    }
    if (ends(columns)) return false;
  }
  return true;
}

// Elements `first` to `last` in C order of the Keras shape: put(element, value).
template <typename Put>
void FillElements(const Draws& draws, const WeightSpec& weight, int64_t first, int64_t last,
                  const Put& put) {
  const InitializerSpec& init = weight.initializer;
  const auto each = [&](const auto& value) {
    for (int64_t i = first; i < last; ++i) put(i, value(i));
  };
  switch (init.kind) {
    case InitializerKind::kOrthogonal:  // not by element
    case InitializerKind::kZeros:
      return each([](int64_t) { return 0.0; });
    case InitializerKind::kOnes:
      return each([](int64_t) { return 1.0; });
    case InitializerKind::kConstant:
      return each([&](int64_t) { return init.a; });
    case InitializerKind::kRandomUniform:
      return each([&](int64_t i) { return draws.Uniform(i, init.a, init.b); });
    case InitializerKind::kRandomNormal:
      return each([&](int64_t i) { return init.a + init.b * draws.Normal(i); });
    case InitializerKind::kTruncatedNormal:
      return each([&](int64_t i) { return init.a + init.b * draws.TruncatedNormal(i); });
    case InitializerKind::kIdentity:
      return each(
          [&](int64_t i) { return i / weight.shape[1] == i % weight.shape[1] ? init.a : 0.0; });
    case InitializerKind::kRandomSign:
      return each([&](int64_t i) { return draws.Uniform(i, -1.0, 1.0) < 0.0 ? -1.0 : 1.0; });
    case InitializerKind::kVarianceScaling:
      break;
  }
  const double variance = init.a / std::max(1.0, FanOf(weight, init.fan_mode));
  if (init.distribution == InitializerSpec::Distribution::kUniform) {
    const double limit = std::sqrt(3.0 * variance);
    return each([&](int64_t i) { return draws.Uniform(i, -limit, limit); });
  }
  if (init.distribution == InitializerSpec::Distribution::kTruncatedNormal) {
    // The cut-off makes the spread smaller by this factor.
    const double deviation = std::sqrt(variance) / 0.87962566103423978;
    return each([&](int64_t i) { return deviation * draws.TruncatedNormal(i); });
  }
  const double deviation = std::sqrt(variance);
  each([&](int64_t i) { return deviation * draws.Normal(i); });
}

}  // namespace

WeightInitializer::WeightInitializer(const ModelSpec& spec, uint64_t seed)
    : weights_(spec.weights), seed_(seed) {
  for (size_t w = 0; w < weights_.size(); ++w) {
    const int64_t size = weights_[w].size();
    const bool whole = weights_[w].initializer.kind == InitializerKind::kOrthogonal;
    const int64_t step = whole ? size : kPiece;
    for (int64_t first = 0; first < size; first += step) {
      pieces_.push_back({static_cast<int>(w), first, std::min(size, first + step)});
    }
  }
}

bool WeightInitializer::Fill(int64_t index, const std::atomic<bool>& cancel, float* flat) const {
  const Piece& piece = pieces_[static_cast<size_t>(index)];
  const WeightSpec& weight = weights_[static_cast<size_t>(piece.weight)];
  const Draws draws(seed_, piece.weight);
  float* to = flat + weight.offset;
  const bool transposed = weight.storage == WeightStorage::kConv;
  const int64_t columns = weight.shape.empty() ? 1 : weight.shape.back();
  const int64_t rows = weight.size() / columns;
  const auto put = [&](int64_t element, double value) {
    const int64_t at = transposed ? element % columns * rows + element / columns : element;
    to[at] = static_cast<float>(value);
  };
  if (weight.initializer.kind == InitializerKind::kOrthogonal) {
    return FillOrthogonal(draws, weight.initializer.a, weight.shape, cancel, put);
  }
  FillElements(draws, weight, piece.first, piece.last, put);
  for (int64_t i = std::max(piece.first, weight.ones_from);
       i < std::min(piece.last, weight.ones_to); ++i) {
    put(i, 1.0);
  }
  return true;
}

std::string WeightInitializer::Key(const ModelSpec& spec, uint64_t seed) {
  ByteWriter out;
  out.Put<uint64_t>(seed);
  for (const WeightSpec& weight : spec.weights) {
    const InitializerSpec& init = weight.initializer;
    out.Put<int64_t>(weight.offset);
    out.Put<int32_t>(static_cast<int32_t>(weight.storage));
    out.Put<uint32_t>(static_cast<uint32_t>(weight.shape.size()));
    for (const int64_t size : weight.shape) out.Put<int64_t>(size);
    out.Put<int32_t>(static_cast<int32_t>(init.kind));
    out.Put<double>(init.a);
    out.Put<double>(init.b);
    out.Put<int32_t>(static_cast<int32_t>(init.fan_mode));
    out.Put<int32_t>(static_cast<int32_t>(init.distribution));
    out.Put<uint64_t>(weight.fan_inputs);
    out.Put<int64_t>(weight.ones_from);
    out.Put<int64_t>(weight.ones_to);
  }
  return Hash(out.data(), out.size()).Hex();
}

void InitializeWeights(const ModelSpec& spec, uint64_t seed, float* flat) {
  std::fill_n(flat, spec.flat_size, 0.0F);
  const WeightInitializer initializer(spec, seed);
  const std::atomic<bool> never{false};
  for (int64_t i = 0; i < initializer.pieces(); ++i) initializer.Fill(i, never, flat);
}

}  // namespace hopper
