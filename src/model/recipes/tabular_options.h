// Options of recipes for tables: their defaults, and what the places of a row are.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "model/keras/keras_json.h"
#include "model/recipes/row_layout.h"

namespace hopper {

[[noreturn]] void RefuseRecipe(const std::string& message, const std::string& hint = "");

// JSON text of a value.
std::string JsonOf(const nlohmann::json& value);

// No value is copied: see JsonDocument.
class RecipeOptions {
 public:
  // `given`: JSON text; `recipe` is one that there is. Throws where it is no object, has an option
  // that the recipe lacks, or says what cannot be of places in the row.
  RecipeOptions(const std::string& recipe, std::string_view given, const DataDesc& data,
                const RowLayout& layout);

  // What is given, or else the recipe's own; null where it has no such thing.
  const nlohmann::json& Value(const char* name) const;
  bool Has(const char* name) const;
  // A number that is not 0, a list or an object.
  bool IsOn(const char* name) const;
  // A list of choices, or an object of a space's parameter.
  static bool IsRange(const nlohmann::json& value);
  // One that decides shapes or the length of a schedule.
  int64_t Whole(const char* name, int64_t least = 1) const;

  // Places in the row, from 0 on and sorted.
  const std::vector<int64_t>& numbers() const { return numbers_; }
  const std::vector<int64_t>& one_hot() const { return one_hot_; }
  const std::vector<RecipeIds>& ids() const { return ids_; }

 private:
  void RefuseUnknown() const;
  void ReadIds(const char* name, const std::string& place, const nlohmann::json& ids);
  void TakeIds(const RecipeIds& ids, const char* option);
  void ReadSlots(const RowLayout& layout);
  int64_t Slot(int64_t place, const char* option);

  const std::string recipe_;
  const int64_t slots_;
  JsonDocument given_;
  JsonDocument defaults_;
  std::vector<int64_t> numbers_;
  std::vector<int64_t> one_hot_;
  std::vector<RecipeIds> ids_;
  std::set<int64_t> taken_;
};

}  // namespace hopper
