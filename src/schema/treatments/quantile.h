// To a normal distribution by quantiles, scikit-learn's QuantileTransformer with
// output_distribution="normal" (and subsample=None): the place among the quantiles of the training
// rows, the mean of those from the left and from the right, then the inverse of the normal
// distribution, cut off at 1e-7 and 1 - 1e-7.
#pragma once

#include <algorithm>
#include <cmath>

#include "schema/treatment.h"

namespace hopper {

// The x at which the standard normal distribution has `p`, between 0 and 1: Acklam's rational
// approximation, then a step of Halley's method, to a few ulp; the upper half mirrors the lower
// one.
inline double NormalQuantile(double p) {
  if (p > 0.5) return -NormalQuantile(1.0 - p);
  constexpr double kA[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                           1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double kB[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                           6.680131188771972e+01, -1.328068155288572e+01};
  constexpr double kC[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                           -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double kD[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                           3.754408661907416e+00};
  double x = 0.0;
  if (p < 0.02425) {
    const double q = std::sqrt(-2.0 * std::log(p));
    x = (((((kC[0] * q + kC[1]) * q + kC[2]) * q + kC[3]) * q + kC[4]) * q + kC[5]) /
        ((((kD[0] * q + kD[1]) * q + kD[2]) * q + kD[3]) * q + 1.0);
  } else {
    const double q = p - 0.5;
    const double r = q * q;
    x = (((((kA[0] * r + kA[1]) * r + kA[2]) * r + kA[3]) * r + kA[4]) * r + kA[5]) * q /
        (((((kB[0] * r + kB[1]) * r + kB[2]) * r + kB[3]) * r + kB[4]) * r + 1.0);
  }
  const double error = 0.5 * std::erfc(-x / 1.41421356237309504880) - p;
  const double step = error * 2.50662827463100050242 * std::exp(x * x / 2.0);
  return x - step / (1.0 + x * step / 2.0);
}

struct QuantileTreatment : NumberTreatment {
  static constexpr double kBound = 1e-7;

  const char* Name() const override { return "quantile"; }
  void Ask(const TreatmentOptions& options, Questions* questions) const override {
    for (int64_t i = 0; i < options.n_quantiles; ++i) {
      questions->fractions.push_back(static_cast<double>(i) /
                                     static_cast<double>(options.n_quantiles - 1));
    }
  }
  void Fit(const Statistics& statistics, const TreatmentOptions& /*options*/,
           Column* column) const override {
    column->quantiles = statistics.quantiles;
    const size_t n = column->quantiles.size();
    column->fill = 0.5 * (column->quantiles[(n - 1) / 2] + column->quantiles[n / 2]);
  }
  bool IsSound(const Column& column) const override {
    return column.quantiles.size() > 1 &&
           std::is_sorted(column.quantiles.begin(), column.quantiles.end());
  }
  double Value(const Column& column, double number) const override {
    const std::vector<double>& at = column.quantiles;
    if (number <= at.front() || number >= at.back()) {
      return NormalQuantile(number <= at.front() ? kBound : 1.0 - kBound);
    }
    const double p = 0.5 * (PlaceFrom(at, std::lower_bound(at.begin(), at.end(), number), number) +
                            PlaceFrom(at, std::upper_bound(at.begin(), at.end(), number), number));
    return NormalQuantile(std::min(std::max(p, kBound), 1.0 - kBound));
  }

 private:
  // Between the quantile before `next` and this one. Of equal quantiles lower_bound() gives the
  // place of the first, as numpy.interp from the right does, and upper_bound() that of the last.
  static double PlaceFrom(const std::vector<double>& at, std::vector<double>::const_iterator next,
                          double number) {
    const auto before = next - 1;
    const double fraction = (number - *before) / (*next - *before);
    return (static_cast<double>(before - at.begin()) + fraction) /
           static_cast<double>(at.size() - 1);
  }
};

}  // namespace hopper
