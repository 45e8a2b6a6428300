#include "capi/search_cost.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "capi/structs.h"
#include "model/spec.h"
#include "model/work.h"
#include "params/params.h"

namespace hopper {
namespace {

class SearchCost {
 public:
  SearchCost(const hopper_search_options& options, std::shared_ptr<const SearchSpace> space)
      : space_(std::move(space)) {
    for (int32_t i = 0; options.model_archs != nullptr && i < options.n_models; ++i) {
      if (options.model_archs[i] != nullptr) {
        architectures_[options.model_ids[i]] = options.model_archs[i];
      }
    }
    const auto data = FromC(options.data);
    if (!data.has_value()) return;
    inputs_ = data->inputs;
    rows_ = static_cast<double>(data->n_rows);
  }

  double Of(const SearchPoint& point) {
    const SearchConfiguration one = space_->Configuration(point);
    const double example = OfExample(point, one.model_id);
    if (example == 0) return 1;
    std::vector<ParamProblem> ignored;
    return IterationFlops(example, rows_, ParseFitParams(one.fit_params, &ignored).epochs);
  }

 private:
  // 0: not known.
  double OfExample(const SearchPoint& point, int32_t model_id) {
    const auto [known, is_new] = examples_.try_emplace({model_id, space_->StructureText(point)}, 0);
    if (!is_new) return known->second;
    std::string json = space_->Architecture(point, model_id);
    const auto whole = architectures_.find(model_id);
    if (json.empty() && whole != architectures_.end()) json = whole->second;
    if (json.empty()) return 0;
    std::vector<Problem> problems;
    const auto spec = inputs_.empty() ? ParseModel(json, nullptr, &problems)
                                      : ParseModelFor(json, inputs_, &problems);
    if (spec != nullptr) known->second = TrainingFlops(*spec);
    return known->second;
  }

  std::shared_ptr<const SearchSpace> space_;
  std::map<int32_t, std::string> architectures_;
  std::vector<DataInput> inputs_;
  double rows_ = 1;
  std::map<std::pair<int32_t, std::string>, double> examples_;
};

}  // namespace

std::function<double(const SearchPoint&)> SearchCostOf(const hopper_search_options& options,
                                                       std::shared_ptr<const SearchSpace> space) {
  const auto cost = std::make_shared<SearchCost>(options, std::move(space));
  return [cost](const SearchPoint& point) { return cost->Of(point); };
}

}  // namespace hopper
