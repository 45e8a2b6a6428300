// JSON of search spaces with an architecture behind a line feed, and short searches in what is
// accepted.
#include <map>
#include <memory>
#include <vector>

#include "fuzz.h"
#include "search/search.h"

using namespace hopper;

namespace {

void SearchIn(const std::shared_ptr<const SearchSpace>& space, const char* algorithm) {
  SearchRequest request;
  request.space = space;
  request.algorithm = algorithm;
  request.objectives = {{"loss", false, 1.0}};
  request.seats = 3;
  request.max_configs = 14;
  Search search(std::move(request));
  int64_t told = 0;
  while (!search.done()) {
    const std::vector<SearchAssignment> works = search.Ask();
    Expect(!works.empty(), "work while a search goes on");
    for (const SearchAssignment& work : works) {
      SearchOutcome outcome;
      outcome.failed = ++told % 5 == 0;
      outcome.objectives = {static_cast<double>(work.trial % 4)};
      search.Tell(work.trial, outcome);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  FuzzInput in(data, size);
  const auto what = in.Get<uint8_t>();
  const std::string text = in.Rest();
  const size_t middle = text.find('\n');
  std::map<int32_t, std::string> architectures;
  if (middle != std::string::npos) architectures[1] = text.substr(middle + 1);
  std::vector<Problem> problems;
  const auto space = std::make_shared<SearchSpace>(
      ParseSearchSpace(text.substr(0, middle), architectures, &problems));
  for (const Problem& problem : problems) {
    Expect(!problem.message.empty() && problem.code != ErrorCode::kInternal, "a message");
  }
  if (!problems.empty()) return 0;
  DescribeSpace(*space);
  for (int i = 0; i < 3; ++i) {
    const SearchPoint point =
        space->Fill([&](size_t d) { return space->dimensions()[d].FromUnit(0.01 + 0.49 * i); });
    Try([&] {
      space->Configuration(point);
      space->Architecture(point, 1);
    });
    // What is written down can be read again.
    std::vector<Problem> problems;
    const SearchPoint again = space->ParsePoint(space->PointText(point), &problems);
    Expect(problems.empty() && space->PointText(again) == space->PointText(point),
           "the same point");
  }
  const char* const algorithms[] = {"random", "tpe", "sobol", "hyperband"};
  // Listing a space takes time that grows with it.
  if (space->size() < 20) SearchIn(space, algorithms[what % 4]);
  return 0;
}
