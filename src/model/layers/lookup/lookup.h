// StringLookup, IntegerLookup and Hashing: categories as ids, which packing has made, and these
// encoded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/layers/category_encoding/category_encoding.h"
#include "model/layers/lookup/reads_column.h"

namespace hopper {
namespace layers {

// Ids of a vocabulary: the mask token's, then `unknown` for values that it does not hold, then its
// own. Encoded, the mask token is none of them.
struct Lookup : IdLayer, ReadsColumn {
  Lookup(LayerConfig& config, const char* oov_token);  // what Keras has where none is written
  std::string Treatment() const override;
  [[noreturn]] void ThrowNoId(float id) const override;

  std::vector<std::string> vocabulary;
  std::optional<std::string> mask;
  int64_t unknown;
};

struct StringLookup : Lookup {
  static constexpr const char* kName = "StringLookup";
  static constexpr const char* kDescription = "texts as ids of a vocabulary";

  explicit StringLookup(LayerConfig& config);
};

struct IntegerLookup : Lookup {
  static constexpr const char* kName = "IntegerLookup";
  static constexpr const char* kDescription = "whole numbers as ids of a vocabulary";

  explicit IntegerLookup(LayerConfig& config);
};

struct Hashing : IdLayer, ReadsColumn {
  static constexpr const char* kName = "Hashing";
  static constexpr const char* kDescription = "texts and whole numbers as ids by their hashes";

  explicit Hashing(LayerConfig& config);
  std::string Treatment() const override;
  [[noreturn]] void ThrowNoId(float id) const override;

  std::optional<std::string> mask;
  std::vector<std::string> salt;  // none, or two whole numbers
};

}  // namespace layers
}  // namespace hopper
