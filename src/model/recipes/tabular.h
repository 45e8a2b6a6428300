// Published networks for tables, as an architecture and a configuration of this program.
#pragma once

#include <string>
#include <string_view>

#include "data/dataset.h"
#include "model/recipes/row_layout.h"

namespace hopper {

// A recipe written out for packed data. Each is JSON.
struct TabularRecipe {
  std::string architecture;
  // compile_params and fit_params; empty where an option is a range.
  std::string compile_params;
  std::string fit_params;
  // Of a search: the ranges, and the two with {"hopper": "<option>"} in the place of a range.
  std::string space;
};

// `recipe`: "realmlp" and "realmlp_small" (TD and TD-S of Holzmueller et al., "Better by Default",
// 2024, with the defaults of pytabkit 1.7.3 for classes or for numbers, which the labels tell), or
// "resnet" (Gorishniy et al., "Revisiting Deep Learning Models for Tabular Data", 2021, with the
// defaults of TabZilla), or "tabm" and "tabm_mini" (Gorishniy et al., "TabM", 2025, with the
// defaults of pytabkit's TabM_D; members share batches, and biases begin as zeros). `options`: a
// JSON object, see RecipeOptions; a list of choices or an object with "low" and "high" in the place
// of a number or a name is a range. Places in the row are counted from 1; what options do not say
// of them `layout` does. Throws for data of more than a row of numbers or with several inputs or
// outputs, and for options that are not known or do not fit.
TabularRecipe MakeTabularRecipe(const std::string& recipe, std::string_view options,
                                const DataDesc& data, const RowLayout& layout = {});

}  // namespace hopper
