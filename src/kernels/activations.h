// Activations: the forms of all of single elements, and those of rows. Included by the kernel
// files.
#pragma once

#include "activation/table.h"
#include "kernels/elementwise.h"

namespace {

template <int kTerms>
HOPPER_INLINE Vec Polynomial(Vec x, const float (&terms)[kTerms]) {
  Vec p = Set(terms[0]);
  for (int i = 1; i < kTerms; ++i) p = p * x + terms[i];
  return p;
}

// The normal distribution's function, also for large negative x; minimax coefficients of the
// Cephes library's erff and erfcf.
HOPPER_INLINE Vec NormalCdf(Vec x) {
  constexpr float kNear[] = {7.853861353153693E-5F,  -8.010193625184903E-4F, 5.188327685732524E-3F,
                             -2.685381193529856E-2F, 1.128358514861418E-1F,  -3.761262582423300E-1F,
                             1.128379165726710F};
  constexpr float kMiddle[] = {
      2.326819970068386E-2F,  -1.387039388740657E-1F, 3.687424674597105E-1F,
      -5.824733027278666E-1F, 6.210004621745983E-1F,  -4.944515323274145E-1F,
      3.404879937665872E-1F,  -2.741127028184656E-1F, 5.638259427386472E-1F};
  constexpr float kFar[] = {-1.047766399936249E+1F, 1.297719955372516E+1F, -7.495518717768503F,
                            2.921019019210786F,     -1.015265279202700F,   4.218463358204948E-1F,
                            -2.820767439740514E-1F, 5.641895067754075E-1F};
  const Vec z = x * 0.70710678118654752F;
  const Vec a = Abs(z);
  const Vec near = z * Polynomial(z * z, kNear);  // erf
  const Vec q = 1.0F / Max(Set(1.0F), a);
  const Vec p = a < 2.0F ? Polynomial(q * q, kMiddle) : Polynomial(q * q, kFar);
  const Vec tail = Exp(-(x * x) * 0.5F) * q * p;  // erfc(a)
  const Vec far = z < 0.0F ? tail * 0.5F : 1.0F - tail * 0.5F;
  return a < 1.0F ? near * 0.5F + 0.5F : far;
}

// The vectors that forms compute with.
struct Simd {
  static HOPPER_INLINE Vec Set(float x) { return ::Set(x); }
  static HOPPER_INLINE Vec Max(Vec a, Vec b) { return ::Max(a, b); }
  static HOPPER_INLINE Vec Min(Vec a, Vec b) { return ::Min(a, b); }
  static HOPPER_INLINE Vec Abs(Vec x) { return ::Abs(x); }
  static HOPPER_INLINE Vec Sqrt(Vec x) { return ::Sqrt(x); }
  static HOPPER_INLINE Vec Exp(Vec x) { return ::Exp(x); }
  static HOPPER_INLINE Vec Expm1(Vec x) { return ::Expm1(x); }
  static HOPPER_INLINE Vec Log1p(Vec x) { return ::Log1p(x); }
  static HOPPER_INLINE Vec Sigmoid(Vec x) { return ::Sigmoid(x); }
  static HOPPER_INLINE Vec Tanh(Vec x) { return ::Tanh(x); }
  static HOPPER_INLINE Vec NormalCdf(Vec x) { return ::NormalCdf(x); }
};

using hopper::ActivationNumbers;

// The derivative is left out where nobody wants it.
template <typename F>
void FormValues(const ActivationNumbers& numbers, const float* x, int64_t n, float* y,
                float* derivative) {
  const ActivationNumbers a = numbers;
  if constexpr (F::kOfResult) {
    return Map(x, n, y, [=](Vec v) { return F::template Value<Simd>(a, v); });
  } else {
    if (derivative == nullptr) {
      return Map(x, n, y, [=](Vec v) {
        Vec unused;
        return F::template Value<Simd>(a, v, &unused);
      });
    }
    ForRow(n, [&](int64_t i, const auto& load, const auto& store) {
      Vec s;
      store(y + i, F::template Value<Simd>(a, load(x + i), &s));
      store(derivative + i, s);
    });
  }
}

template <typename F>
void FormGradient(const ActivationNumbers& numbers, const float* y, const float* dy, int64_t n,
                  float* dx) {
  if constexpr (F::kOfResult) {
    const ActivationNumbers a = numbers;
    Map2(y, dy, n, dx, [=](Vec v, Vec d) { return F::template Gradient<Simd>(a, v, d); });
  }
}

template <typename... F>
void FormValuesAt(hopper::FormList<F...> /*forms*/, int place, const ActivationNumbers& numbers,
                  const float* x, int64_t n, float* y, float* derivative) {
  static constexpr void (*kValues[])(const ActivationNumbers&, const float*, int64_t, float*,
                                     float*) = {FormValues<F>...};
  kValues[place](numbers, x, n, y, derivative);
}
template <typename... F>
void FormGradientAt(hopper::FormList<F...> /*forms*/, int place, const ActivationNumbers& numbers,
                    const float* y, const float* dy, int64_t n, float* dx) {
  static constexpr void (*kGradients[])(const ActivationNumbers&, const float*, const float*,
                                        int64_t, float*) = {FormGradient<F>...};
  kGradients[place](numbers, y, dy, n, dx);
}

void Activate(const hopper::ActivationForm& form, const float* x, int64_t n, float* y,
              float* derivative) {
  FormValuesAt(hopper::AllForms(), form.place, form.numbers, x, n, y, derivative);
}
void ActivateGradient(const hopper::ActivationForm& form, const float* y, const float* dy,
                      int64_t n, float* dx) {
  FormGradientAt(hopper::AllForms(), form.place, form.numbers, y, dy, n, dx);
}

void Multiply(const float* x, int64_t n, float* y) {
  Map2(x, y, n, y, [](Vec a, Vec b) { return b * a; });
}

void LogSoftmax(const float* x, int64_t rows, int64_t columns, float* y) {
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    const float most = RowMax(x, columns);
    Vec sum{};
    float tail = 0.0F;
    int64_t i = 0;
    for (; i + kWidth <= columns; i += kWidth) sum += Exp(Load(x + i) - most);
    if (i < columns) {
      const Vec e = Exp(LoadPart(x + i, columns - i) - most);
      for (int j = 0; j < static_cast<int>(columns - i); ++j) tail += e[j];
    }
    const float log_sum = Log(Set(SumOf(sum) + tail))[0];
    Map(x, columns, y, [=](Vec v) { return (v - most) - log_sum; });
  }
}

void LogSoftmaxGradient(const float* y, const float* dy, int64_t rows, int64_t columns, float* dx) {
  for (int64_t r = 0; r < rows; ++r, y += columns, dy += columns, dx += columns) {
    Vec sum{};
    float tail = 0.0F;
    int64_t i = 0;
    for (; i + kWidth <= columns; i += kWidth) sum += Load(dy + i);
    for (; i < columns; ++i) tail += dy[i];
    const float all = SumOf(sum) + tail;
    Map2(y, dy, columns, dx, [=](Vec v, Vec d) { return d - Exp(v) * all; });
  }
}

void Glu(const float* x, int64_t rows, int64_t columns, float* y) {
  for (int64_t r = 0; r < rows; ++r, x += 2 * columns, y += columns) {
    Map2(x, x + columns, columns, y, [](Vec a, Vec b) { return a * Sigmoid(b); });
  }
}

// Argument reduction by Cody and Waite; minimax coefficients of the Cephes library's sinf and cosf.
HOPPER_INLINE void CosineAndSine(Vec x, Vec* cosine, Vec* sine) {
  const Vec a = Max(Set(-1e5F), Min(Set(1e5F), x));
  const IntVec n = RoundToInt(a * 0.63661977236758134F);
  const Vec m = ToFloat(n);
  Vec r = a - m * 1.5703125F;
  r = r - m * 4.837512969970703125e-4F;
  r = r - m * 7.54978995489188216e-8F;
  const Vec z = r * r;
  constexpr float kSine[] = {-1.9515295891E-4F, 8.3321608736E-3F, -1.6666654611E-1F};
  constexpr float kCosine[] = {2.443315711809948E-5F, -1.388731625493765E-3F,
                               4.166664568298827E-2F};
  const Vec s = Polynomial(z, kSine) * z * r + r;
  const Vec c = Polynomial(z, kCosine) * (z * z) - z * 0.5F + 1.0F;
  const IntVec odd = (n & 1) != 0;
  const Vec first = odd ? s : c;
  const Vec second = odd ? c : s;
  *cosine = ((n + 1) & 2) != 0 ? -first : first;
  *sine = (n & 2) != 0 ? -second : second;
}

void Cosine(const float* x, int64_t n, float* y, float* sine) {
  ForRow(n, [&](int64_t i, const auto& load, const auto& store) {
    Vec c, s;
    CosineAndSine(load(x + i), &c, &s);
    store(y + i, c);
    if (sine != nullptr) store(sine + i, s);
  });
}

void GluGradient(const float* x, const float* dy, int64_t rows, int64_t columns, bool accumulate,
                 float* dx) {
  for (int64_t r = 0; r < rows; ++r, x += 2 * columns, dx += 2 * columns, dy += columns) {
    ForRow(columns, [&](int64_t i, const auto& load, const auto& store) {
      const Vec gate = Sigmoid(load(x + columns + i));
      const Vec d = load(dy + i);
      Vec da = accumulate ? load(dx + i) : Vec{};
      Vec db = accumulate ? load(dx + columns + i) : Vec{};
      da += d * gate;
      db += d * load(x + i) * gate * (1.0F - gate);
      store(dx + i, da);
      store(dx + columns + i, db);
    });
  }
}

}  // namespace
