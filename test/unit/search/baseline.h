// test/baseline/search.json, which generate_search.py makes.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "search/drive.h"

namespace hopper {

inline const nlohmann::json& SearchBaseline() {
  static const nlohmann::json table = [] {
    std::ifstream file(std::string(HOPPER_TEST_DIR) + "/baseline/search.json");
    return nlohmann::json::parse(file);
  }();
  return table;
}

// A point whose numbers need not be multiples of steps from the tool's rounding.
inline SearchPoint PointOf(const SearchSpace& space, const nlohmann::json& params) {
  return space.Fill([&](size_t d) {
    const Dimension& dimension = space.dimensions()[d];
    const nlohmann::json& value = params.at(dimension.name);
    if (dimension.kind != DimensionKind::kChoice) return value.get<double>();
    size_t i = 0;
    while (RenderJson(dimension.choices[i]) != value.dump()) ++i;
    return static_cast<double>(i);
  });
}

// Trials with "params" and "value"; those whose value is null run.
inline SearchJournal JournalOf(const std::shared_ptr<const SearchSpace>& space,
                               const nlohmann::json& history) {
  SearchJournal journal(space, 1, {{"loss", false, 1.0}}, {});
  for (const nlohmann::json& trial : history) {
    const SearchPoint point = PointOf(*space, trial["params"]);
    if (trial["value"].is_null()) {
      class Fixed : public SearchProposer {
       public:
        explicit Fixed(SearchPoint point) : point_(std::move(point)) {}
        std::optional<Proposal> Propose(const SearchJournal&) override {
          return Proposal{point_, {}, ""};
        }

       private:
        SearchPoint point_;
      } fixed(point);
      journal.Begin(*journal.Propose(&fixed, -1, -1, 5), 5);
    } else {
      journal.AddEarlier(point, 5, Loss(trial["value"].get<double>()));
    }
  }
  return journal;
}

}  // namespace hopper
