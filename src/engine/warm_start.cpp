#include "engine/warm_start.h"

#include <utility>

#include "model/spec.h"
#include "optim/optimizer.h"

namespace hopper {

namespace {

// Behind the class of a state whose bits come from several.
constexpr char kMixed[] = ", mixed";

}  // namespace

bool IsOfClass(const std::string& made_by, const std::string& here) {
  return made_by == here || made_by == here + kMixed;
}

bool IsMixed(const std::string& numerics_class) {
  constexpr size_t kSize = sizeof(kMixed) - 1;
  return numerics_class.size() > kSize &&
         numerics_class.compare(numerics_class.size() - kSize, kSize, kMixed) == 0;
}

namespace {

// Makes the state one of the numerics class `here`, or throws; false: `problem` is the warning.
// Which state it is says the error alone: a warning tells of all of them.
bool AdaptToClass(const std::string& name, const std::string& here, bool mix, ModelState* state,
                  Problem* problem) {
  if (IsOfClass(state->numerics_class, here)) return true;
  const std::string made_by = std::move(state->numerics_class);
  state->numerics_class = here;
  if (IsOlderNameOf(made_by, here)) {
    problem->message = "states may be of another numerics class";
    problem->detail = "They were made by \"" + made_by +
                      "\", as version 0.1 called it; training goes on with \"" + here + "\".";
    return false;
  }
  if (mix) {
    state->numerics_class = here + kMixed;
    problem->message = "states are of another numerics class";
    problem->detail = "They were made by \"" + made_by + "\"; training goes on with \"" + here +
                      "\". No run has the same bits by itself.";
    return false;
  }
  throw Error(ErrorCode::kNotReady, "state of " + name + " is of another numerics class",
              "It was made by \"" + made_by + "\"; here it would go on with \"" + here + "\".",
              "Train without warm start, or with the precision, libtorch and CPU of that class; or "
              "SET hopper.mix_numerics = on to go on with bits that no run has by itself.");
}

}  // namespace

bool AdaptToOptimizer(const std::string& name, const Trainer& trainer, ModelState* state,
                      Problem* problem) {
  trainer.stopping().Adopt(&state->monitor);
  const OptimizerParams& optimizer = trainer.compile().optimizer;
  const std::string wanted = SlotNames(optimizer);
  const int n_slots = SlotCount(optimizer);
  if (state->optimizer == wanted && state->n_slots == n_slots) return true;
  const std::string kind = OptimizerName(optimizer);
  const std::string old_kind = state->optimizer.substr(0, state->optimizer.find(' '));
  problem->message = old_kind == kind
                         ? name + " changed the arguments of its optimizer " + kind
                         : name + " changed its optimizer from " + old_kind + " to " + kind;
  problem->detail = "Its moments and its step counter start at zero.";
  state->optimizer = wanted;
  state->n_slots = n_slots;
  state->step = 0;
  state->slots =
      AlignedArray<float>(static_cast<size_t>(trainer.network().spec().slot_size * n_slots));
  return false;
}

ModelState ReadStored(const Trainer& trainer, const uint8_t* image, size_t size) {
  const OptimizerParams& optimizer = trainer.compile().optimizer;
  return ReadState(StateLayoutOf(trainer.network().spec()), image, size, SlotNames(optimizer),
                   SlotCount(optimizer));
}

std::unique_ptr<StateReader> StoredReader(const Trainer& trainer, size_t size) {
  const OptimizerParams& optimizer = trainer.compile().optimizer;
  return std::make_unique<StateReader>(StateLayoutOf(trainer.network().spec()), size,
                                       SlotNames(optimizer), SlotCount(optimizer));
}

void AdaptStored(int32_t mst_key, const Trainer& trainer, const std::string& numerics_class,
                 bool mix, const std::function<void(const Problem&)>& warn, ModelState* state) {
  const std::string name = "configuration " + std::to_string(mst_key);
  Problem problem;
  if (!AdaptToClass(name, numerics_class, mix, state, &problem)) warn(problem);
  if (!AdaptToOptimizer(name, trainer, state, &problem)) warn(problem);
}

}  // namespace hopper
