// States of earlier runs from which models go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "state/state.h"
#include "train/trainer.h"

namespace hopper {

// A state of the configuration from its image; throws where that is damaged.
ModelState ReadStored(const Trainer& trainer, const uint8_t* image, size_t size);
// Reads an image that comes in pieces.
std::unique_ptr<StateReader> StoredReader(const Trainer& trainer, size_t size);

// Makes a warm start's state fit the numerics class of this process and the configuration's
// optimizer, and tells `warn` what that changes. Throws where it is of another class, unless `mix`:
// then it is one of "<numerics_class>, mixed" from now on, whatever runs it goes through.
void AdaptStored(int32_t mst_key, const Trainer& trainer, const std::string& numerics_class,
                 bool mix, const std::function<void(const Problem&)>& warn, ModelState* state);

// Makes a state fit the configuration's optimizer. false: its slots were another's, they and the
// step counter start at zero, and `problem` says so. `name` is the configuration's.
bool AdaptToOptimizer(const std::string& name, const Trainer& trainer, ModelState* state,
                      Problem* problem);

// Whether a state's class is `here`, mixed or not.
bool IsOfClass(const std::string& made_by, const std::string& here);
// Whether a state of this class has gone on from another one.
bool IsMixed(const std::string& numerics_class);

}  // namespace hopper
