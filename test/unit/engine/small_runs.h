// Runs of small CNNs over 8x8 images, whose models are compared bit by bit.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/keras_models.h"
#include "support/run_driver.h"

namespace hopper {

inline PackedTable::Options SmallImages() {
  PackedTable::Options options;
  options.x_shape = {8, 8, 1};
  options.rows = 150;
  options.partitions = 5;
  return options;
}

inline RunOptions SmallRun(int threads) {
  RunOptions options;
  options.iterations = 3;
  options.threads = threads;
  options.starts = {0, 2, 3};
  return options;
}

// Every architecture with every optimizer and fit_params, keys from 1.
inline std::vector<Configuration> AllConfigurations(const std::vector<std::string>& archs,
                                                    const std::vector<std::string>& optimizers,
                                                    const std::vector<std::string>& fits) {
  std::vector<Configuration> configs;
  for (const std::string& arch : archs) {
    for (const std::string& optimizer : optimizers) {
      for (const std::string& fit : fits) {
        Configuration config;
        config.key = static_cast<int32_t>(configs.size()) + 1;
        config.arch = arch;
        config.compile = "loss='sparse_categorical_crossentropy', optimizer='" + optimizer +
                         "', metrics=['accuracy']";
        config.fit = fit;
        configs.push_back(config);
      }
    }
  }
  return configs;
}

inline std::map<int32_t, std::string> DigestsOf(const std::map<int32_t, ModelResult>& results) {
  std::map<int32_t, std::string> digests;
  for (const auto& [key, result] : results) {
    EXPECT_EQ(result.raw.status, HOPPER_MODEL_DONE) << key << ": " << result.raw.error;
    digests[key] = result.digest;
  }
  return digests;
}

}  // namespace hopper
