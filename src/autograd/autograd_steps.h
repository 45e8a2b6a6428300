// Steps, evaluation and losses through autograd: what TrainingBackend has none of.
#pragma once

#include <memory>

#include "loss/loss_backend.h"
#include "train/evaluator.h"
#include "train/stepper.h"

namespace hopper {

// Slower than planned steps, which are tested against them. The setup's network is a Network.
std::unique_ptr<Stepper> MakeAutogradStepper(const StepperSetup& setup, ModelState* state);
std::unique_ptr<Evaluator> MakeAutogradEvaluator(const EvaluatorSetup& setup);

// As LossBackend::RunLoss().
void RunLossByAutograd(const LossBatch& batch);

}  // namespace hopper
