// What this process has read of configurations: compile_params, fit_params and architectures are
// read by checks, forecasts, training, evaluation and the ranking of results, each text once.
//
// Both libraries of a process have what one of them reads (model_hopper/readings.h). The code of
// each is in it twice, and so are its tables: what a row is, is told by its name or its place,
// never by its address.
#pragma once

#include <memory>
#include <vector>

#include "base/read_once.h"
#include "params/params.h"

namespace hopper {

struct ModelSpec;

struct CompileReading {
  CompileParams params;
  std::vector<ParamProblem> problems;
};
struct FitReading {
  FitParams params;
  std::vector<ParamProblem> problems;
};
struct ModelReading {
  std::shared_ptr<const ModelSpec> spec;  // null: there are problems
  std::vector<Problem> problems;
};

struct Readings {
  // Enough for ten thousand configurations, or for some of the largest models of Keras.
  static constexpr int64_t kBytes = int64_t{32} << 20;

  ReadOnce<CompileReading> compile{kBytes};
  ReadOnce<FitReading> fit{kBytes};
  ReadOnce<ModelReading> models{kBytes};

  int64_t count() const { return compile.count() + fit.count() + models.count(); }
  void Forget();
  // Beside a run that may take so many bytes: a 64th of them for each of the three, so that all of
  // them stay below the 5 % by which a process may be above hopper.memory_limit.
  void Bound(int64_t memory_limit);
};

// The process'. Thread-safe.
Readings& ProcessReadings();
// Takes the place of this library's own, before anybody reads; it lives as long as the process.
void ShareReadings(Readings* readings);

// Bytes of problems, about.
int64_t SizeOfProblems(const std::vector<ParamProblem>& problems);
int64_t SizeOfProblem(const Problem& problem);

}  // namespace hopper
