#include "loss/rows/table.h"

namespace hopper {
namespace {

template <typename... L>
std::vector<LossType> TypesOf(LossList<L...> /*losses*/) {
  return {L::Type()...};
}

}  // namespace

const std::vector<LossType>& LossTypes() {
  static const std::vector<LossType> types = TypesOf(Losses());
  return types;
}

}  // namespace hopper
