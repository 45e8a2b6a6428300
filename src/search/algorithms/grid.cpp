// Grid search: every point, in order.
#include <limits>
#include <utility>

#include "search/algorithms/common.h"
#include "search/algorithms/rows.h"

namespace hopper {
namespace {

class GridProposer : public SearchProposer {
 public:
  std::optional<Proposal> Propose(const SearchJournal& journal) override {
    const SearchSpace& space = journal.space();
    if (point_.empty() && !ended_) {
      point_ = space.First();
    } else if (!ended_) {
      ended_ = !space.Next(&point_);
    }
    while (!ended_ && journal.IsTried(point_)) ended_ = !space.Next(&point_);
    if (ended_) return {};
    return Proposal{point_, {}, "next of the grid"};
  }

 private:
  SearchPoint point_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<SearchProposer> MakeGridProposer() { return std::make_unique<GridProposer>(); }

AlgorithmType search_rows::Grid() {
  AlgorithmType type;
  type.name = "grid";
  type.meaning = "Trains every configuration of the space to the end.";
  type.arguments = {NumIterations()};
  type.check = [](const SearchArguments&, const SearchSpace* space,
                  std::vector<Problem>* problems) { CheckFinite(space, problems); };
  type.make = [](const SearchArguments& arguments, const SearchJournal&) {
    return MakeEachToTheEnd(MakeGridProposer(), std::numeric_limits<int64_t>::max(),
                            arguments.Integer("num_iterations"));
  };
  return type;
}

}  // namespace hopper
