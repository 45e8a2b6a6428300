// Random search (Bergstra, Bengio: "Random Search for Hyper-Parameter Optimization", JMLR 13,
// 2012).
#include <utility>

#include "search/algorithms/common.h"
#include "search/algorithms/rows.h"

namespace hopper {
namespace {

class RandomProposer : public SearchProposer {
 public:
  std::optional<Proposal> Propose(const SearchJournal& journal) override {
    std::optional<SearchPoint> point = DrawUntried(journal, kRandomStream, draw_++);
    if (!point) return {};
    return Proposal{std::move(*point), {}, "random"};
  }

 private:
  uint64_t draw_ = 0;
};

}  // namespace

std::unique_ptr<SearchProposer> MakeRandomProposer() { return std::make_unique<RandomProposer>(); }

AlgorithmType search_rows::Random() {
  AlgorithmType type;
  type.name = "random";
  type.meaning = "Trains configurations drawn at random to the end.";
  type.arguments = {NumConfigs(), NumIterations()};
  type.make = [](const SearchArguments& arguments, const SearchJournal&) {
    return MakeEachToTheEnd(MakeRandomProposer(), arguments.Integer("num_configs"),
                            arguments.Integer("num_iterations"));
  };
  return type;
}

}  // namespace hopper
