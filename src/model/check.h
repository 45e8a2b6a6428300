// All problems of configurations before anything is trained.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/spec.h"
#include "model_hopper/config.h"
#include "model_hopper/data.h"
#include "params/params.h"

namespace hopper {

struct ConfigProblem {
  int32_t mst_key = 0;
  ParamProblem problem;
};

// Architecture, compile_params, fit_params and weights of each configuration, and with `data`
// (may be null) that they fit the packed table: input shape, output units against labels, loss
// against the last activation and the kind of labels, batch size, class weights.
std::vector<ConfigProblem> CheckConfigs(const std::vector<hopper_config>& configs,
                                        const hopper_data_desc* data);

// Why a model with one input does not take the packed table's rows.
std::optional<Problem> InputMismatch(const ModelSpec& spec, const hopper_data_desc& data);

}  // namespace hopper
