#include "loss/rows/table.h"

#include "base/place_in.h"

namespace hopper {
namespace {

template <typename L>
constexpr bool IsAt(LossKind kind) {
  return PlaceIn<L>(Losses()) == static_cast<int>(kind);
}
static_assert(IsAt<loss_rows::CategoricalCrossentropy>(LossKind::kCategoricalCrossentropy));
static_assert(
    IsAt<loss_rows::SparseCategoricalCrossentropy>(LossKind::kSparseCategoricalCrossentropy));
static_assert(IsAt<loss_rows::BinaryCrossentropy>(LossKind::kBinaryCrossentropy));
static_assert(IsAt<loss_rows::MeanSquaredError>(LossKind::kMeanSquaredError));
static_assert(IsAt<loss_rows::MeanAbsoluteError>(LossKind::kMeanAbsoluteError));
static_assert(IsAt<loss_rows::CosineSimilarity>(LossKind::kCosineSimilarity));
static_assert(IsAt<loss_rows::ExpressionLoss>(LossKind::kExpression));

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
