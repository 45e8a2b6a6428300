// All problems of configurations before anything is trained.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/dataset.h"
#include "model/config_source.h"
#include "model/spec.h"
#include "params/params.h"

namespace hopper {

struct ConfigProblem {
  int32_t mst_key = 0;
  ParamProblem problem;
};

// Architecture, compile_params, fit_params and weights of each configuration, and with `data`
// (may be null) that they fit the packed table: input shape, output units against labels, loss
// against the last activation and the kind of labels, batch size, class weights.
std::vector<ConfigProblem> CheckConfigs(const std::vector<ConfigSource>& configs,
                                        const DataDesc* data);

// Why a model with one input does not take the packed table's rows.
std::optional<Problem> InputMismatch(const ModelSpec& spec, const DataDesc& data);

}  // namespace hopper
