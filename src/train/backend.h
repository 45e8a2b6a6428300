// What training computes by other means than planned steps and loops.
#pragma once

#include <memory>
#include <string>

#include "data/dataset.h"
#include "loss/loss_backend.h"
#include "model/spec.h"
#include "params/params.h"
#include "predict/backend.h"

namespace hopper {

class Devices;
class Evaluator;
class Stepper;
struct EvaluatorSetup;
struct ModelState;
struct Objective;
struct StepperSetup;

// By none: what NeedsTorch() is refused. engine/torch/backend.h has the other one. Thread-safe;
// outlives what is made with it.
class TrainingBackend : public PredictionBackend, public LossBackend {
 public:
  // Steps of `state` through autograd alone, which UsePlannedSteps(false) asks for.
  virtual std::unique_ptr<Stepper> MakeAutogradStepper(const StepperSetup& setup,
                                                       ModelState* state) const;
  virtual std::unique_ptr<Evaluator> MakeAutogradEvaluator(const EvaluatorSetup& setup) const;
  // What the numerics class of a model says of who computes a part of it, as "torch 2.11.0
  // (1a2b3c4d)"; nothing here.
  virtual std::string Numerics() const;
  // Whether its networks have layers without planned forms.
  virtual bool has_autograd() const { return false; }
  // What models train on side by side (engine/devices/devices.h); null: nothing.
  virtual const Devices* devices() const { return nullptr; }
};

// Whether libtorch computes something of a model that trains on such data, or is evaluated on them:
// a layer without a planned form, a loss or a metric without a loop. `compile` has gone through
// FitToOutputs().
bool NeedsTorch(const CompileParams& compile, const std::shared_ptr<const ModelSpec>& spec,
                const DataDesc& data);
// Beside the layers: of a model that trains for one objective and is evaluated by the other.
bool LossesNeedTorch(const CompileParams& compile, const ModelSpec& spec,
                     const Objective& objective, const Objective& training_objective);

}  // namespace hopper
