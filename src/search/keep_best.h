// The best iteration of each trial is kept, as Keras Tuner keeps it.
#pragma once

#include <string>

namespace hopper {

// The fit_params of a trial that is compared by `monitor` ("val_accuracy"): the weights of its best
// iteration are kept unless the text says restore_best, and what early stopping and
// ReduceLROnPlateau watch is `monitor` unless the text says so. Text that cannot be read is
// returned as it is.
std::string KeepBest(const std::string& fit_params, const std::string& monitor);

}  // namespace hopper
