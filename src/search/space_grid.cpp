#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "search/space.h"

namespace hopper {
namespace {

// Texts of configurations as generate_model_configs writes them.
class GridTexts : public SearchTexts {
 public:
  explicit GridTexts(GridSpace space) : space_(std::move(space)) {}

  SearchConfiguration Configuration(const std::vector<Dimension>& dimensions,
                                    const SearchPoint& point) const override {
    // In the order in which ParseSearchGrid() adds dimensions.
    size_t d = 0;
    const auto next = [&] {
      const size_t at = d++;
      return std::isnan(point[at]) ? Value::None() : dimensions[at].ValueOf(point[at]);
    };
    SearchConfiguration configuration;
    configuration.model_id = static_cast<int32_t>(next().integer);
    const size_t chosen = static_cast<size_t>(point[d++]);
    std::string optimizer;
    for (size_t i = 0; i < space_.optimizers.size(); ++i) {
      const OptimizerChoice& choice = space_.optimizers[i];
      const Value name = next();
      std::vector<Value> arguments;
      for (size_t k = 0; k < choice.arguments.size(); ++k) arguments.push_back(next());
      if (i == chosen) optimizer = RenderOptimizer(choice, name, arguments);
    }
    std::vector<Value> compile, fit;
    for (size_t k = 0; k < space_.compile.size(); ++k) compile.push_back(next());
    for (size_t k = 0; k < space_.fit.size(); ++k) fit.push_back(next());
    configuration.compile_params = RenderCompile(space_, optimizer, compile);
    configuration.fit_params = RenderFit(space_, fit);
    return configuration;
  }

  std::string Architecture(const std::vector<Dimension>& /*dimensions*/,
                           const SearchPoint& /*point*/, int32_t /*model_id*/) const override {
    return "";
  }

 private:
  GridSpace space_;
};

// Each value once, as in MADlib's grids: two of the same make the same configurations.
std::vector<Value> Different(const std::vector<Value>& values) {
  std::set<std::string> seen;
  std::vector<Value> different;
  for (const Value& value : values) {
    if (seen.insert(Render(value)).second) different.push_back(value);
  }
  return different;
}

Dimension FromParameter(const GridParameter& parameter, const std::string& name,
                        const std::string& place) {
  Dimension dimension;
  dimension.name = name;
  dimension.used_in = {place};
  if (!parameter.distribution) {
    dimension.kind = DimensionKind::kChoice;
    dimension.choices = Different(parameter.choices);
    return dimension;
  }
  dimension.kind =
      parameter.distribution->integers ? DimensionKind::kInteger : DimensionKind::kFloat;
  dimension.scale = parameter.distribution->scale;
  dimension.low = parameter.distribution->low;
  dimension.high = parameter.distribution->high;
  dimension.step = parameter.distribution->integers ? 1 : 0;
  return dimension;
}

}  // namespace

SearchSpace ParseSearchGrid(const std::vector<int32_t>& model_ids, const std::string& compile_grid,
                            const std::string& fit_grid) {
  std::vector<Problem> problems;
  SearchSpace space = ParseSearchGrid(model_ids, compile_grid, fit_grid, &problems);
  if (!problems.empty()) throw Error(SummaryOf(problems));
  return space;
}

SearchSpace ParseSearchGrid(const std::vector<int32_t>& model_ids, const std::string& compile_grid,
                            const std::string& fit_grid, std::vector<Problem>* problems) {
  const size_t before = problems->size();
  GridSpace grid = ParseGridSpace(compile_grid, fit_grid, /*random=*/true, problems);
  if (model_ids.empty()) {
    problems->push_back({ErrorCode::kInvalidParameter, "there is no model_id", "", ""});
  }
  if (problems->size() > before) return SearchSpace({});
  std::vector<Dimension> dimensions(2);
  dimensions[0].name = "model_id";
  dimensions[0].kind = DimensionKind::kChoice;
  dimensions[0].structural = true;
  dimensions[0].used_in = {"model_id"};
  for (const int32_t id : model_ids) dimensions[0].choices.push_back(Value::Integer(id));
  dimensions[0].choices = Different(dimensions[0].choices);
  const std::string compile = "compile_params";
  dimensions[1].name = "optimizer_params_list";
  dimensions[1].kind = DimensionKind::kChoice;
  dimensions[1].used_in = {compile};
  const bool one = grid.optimizers.size() == 1;
  dimensions[1].numbered = !one;
  for (size_t i = 0; i < grid.optimizers.size(); ++i) {
    dimensions[1].choices.push_back(Value::Integer(static_cast<int64_t>(i) + 1));
    const std::string prefix = one ? "" : "optimizer_params_list[" + std::to_string(i + 1) + "].";
    DimensionCondition chosen;
    chosen.parent = 1;
    chosen.allowed = {static_cast<double>(i)};
    const auto add = [&](const GridParameter& parameter) {
      dimensions.push_back(FromParameter(parameter, prefix + parameter.name, compile));
      if (!one) dimensions.back().conditions = {chosen};
    };
    add(grid.optimizers[i].optimizer);
    for (const GridParameter& argument : grid.optimizers[i].arguments) add(argument);
  }
  if (dimensions[1].choices.empty()) dimensions[1].choices = {Value::Integer(1)};
  for (const GridParameter& parameter : grid.compile) {
    dimensions.push_back(FromParameter(parameter, parameter.name, compile));
  }
  for (const GridParameter& parameter : grid.fit) {
    dimensions.push_back(FromParameter(parameter, parameter.name, "fit_params"));
  }
  for (const Dimension& dimension : dimensions) {
    const std::string problem = RangeProblem(dimension);
    if (problem.empty()) continue;
    problems->push_back(
        {ErrorCode::kInvalidParameter, "parameter \"" + dimension.name + "\": " + problem, "", ""});
  }
  if (problems->size() > before) return SearchSpace({});
  if (dimensions.size() > kMaxDimensions) {
    problems->push_back(
        {ErrorCode::kLimitExceeded,
         "the grids have more than " + std::to_string(kMaxDimensions) + " parameters", "", ""});
    return SearchSpace({});
  }
  return SearchSpace(std::move(dimensions), std::make_shared<GridTexts>(std::move(grid)));
}

}  // namespace hopper
