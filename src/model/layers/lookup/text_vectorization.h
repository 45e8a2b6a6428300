// TextVectorization: texts as ids of words or as numbers of times that each word is there, which
// packing has made.
#pragma once

#include <string>
#include <vector>

#include "model/layers/inputs.h"
#include "model/layers/lookup/reads_column.h"

namespace hopper {
namespace layers {

struct TextVectorization : SameShape, ReadsColumn {
  static constexpr const char* kName = "TextVectorization";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "texts as ids or counts of words of a vocabulary";
  static constexpr bool kMakesIds = true;
  static constexpr const char* kSince = "2.6";

  enum class Mode { kIds, kMultiHot, kCount, kTfIdf };

  explicit TextVectorization(LayerConfig& config);
  std::string Treatment() const override;
  int64_t Slots() const override;

  Mode mode = Mode::kIds;
  std::vector<std::string> vocabulary;
  std::vector<double> weights;  // kTfIdf: of unknown words, then of the vocabulary's
  std::string standardize;
  std::string split;
  int64_t length;  // kIds
};
std::unique_ptr<Operator> MakeOperator(const TextVectorization& layer);
ops::Value Export(const TextVectorization& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
