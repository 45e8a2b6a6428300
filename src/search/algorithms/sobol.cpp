// Sobol's low-discrepancy points in place of random ones (Sobol 1967; direction numbers of Joe and
// Kuo 2008), scrambled (Owen: "Randomly Permuted (t,m,s)-Nets and (t,s)-Sequences", 1995).
#include "search/sobol.h"

#include <utility>

#include "search/algorithms/common.h"
#include "search/algorithms/rows.h"

namespace hopper {
namespace {

// Points in a row that were tried: the space is as good as used up.
constexpr int kSobolTries = 1000;

class SobolProposer : public SearchProposer {
 public:
  explicit SobolProposer(bool scramble) : scramble_(scramble) {}

  std::optional<Proposal> Propose(const SearchJournal& journal) override {
    const SearchSpace& space = journal.space();
    for (int i = 0; i < kSobolTries; ++i) {
      const uint32_t index = next_++;
      SearchPoint point = space.Fill([&](size_t d) {
        const uint32_t bits = SobolBits(index, d);
        const uint32_t placed = scramble_ ? OwenScrambled(bits, d, journal.seed()) : bits;
        return space.dimensions()[d].FromUnit((static_cast<double>(placed) + 0.5) * 0x1p-32);
      });
      if (!journal.IsTried(point)) {
        return Proposal{
            std::move(point), {}, "point " + std::to_string(index) + " of the sequence"};
      }
    }
    std::optional<SearchPoint> point = DrawUntried(journal, kSobolStream, next_);
    if (!point) return {};
    return Proposal{std::move(*point), {}, "random: the sequence meets what was tried"};
  }

 private:
  bool scramble_;
  uint32_t next_ = 0;
};

}  // namespace

std::unique_ptr<SearchProposer> MakeSobolProposer(bool scramble) {
  return std::make_unique<SobolProposer>(scramble);
}

AlgorithmType search_rows::Sobol() {
  AlgorithmType type;
  type.name = "sobol";
  type.meaning = "Trains configurations that fill the space evenly to the end.";
  type.arguments = {NumConfigs(), NumIterations(),
                    Word("scramble", {"true", "false"}, "whether the seed moves the points")};
  type.make = [](const SearchArguments& arguments, const SearchJournal&) {
    return MakeEachToTheEnd(MakeSobolProposer(arguments.Word("scramble") == "true"),
                            arguments.Integer("num_configs"), arguments.Integer("num_iterations"));
  };
  return type;
}

}  // namespace hopper
