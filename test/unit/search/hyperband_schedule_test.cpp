#include "search/hyperband_schedule.h"

#include <gtest/gtest.h>

#include <string>

namespace hopper {
namespace {

HyperbandOptions Options(int64_t max_resource, int64_t eta,
                         HyperbandVariant variant = HyperbandVariant::kFloor,
                         int64_t skip_last = 0) {
  HyperbandOptions options;
  options.max_resource = max_resource;
  options.eta = eta;
  options.variant = variant;
  options.skip_last = skip_last;
  return options;
}

// "4: 81@1 27@3 9@9 3@27 1@81"
std::string Text(const Bracket& bracket) {
  std::string text = std::to_string(bracket.s) + ":";
  for (const Rung& rung : bracket.rungs) {
    text += " " + std::to_string(rung.configs) + "@" + std::to_string(rung.resource);
  }
  return text;
}

std::string Text(const std::vector<Bracket>& brackets) {
  std::string text;
  for (const Bracket& bracket : brackets) text += Text(bracket) + "\n";
  return text;
}

// Table 1 of the paper.
TEST(HyperbandSchedule, IsThePapersForR81) {
  EXPECT_EQ(Text(HyperbandSchedule(Options(81, 3, HyperbandVariant::kJmlr))),
            "4: 81@1 27@3 9@9 3@27 1@81\n"
            "3: 34@3 11@9 3@27 1@81\n"
            "2: 15@9 5@27 1@81\n"
            "1: 8@27 2@81\n"
            "0: 5@81\n");
}

TEST(HyperbandSchedule, FloorsAsMadlib) {
  EXPECT_EQ(Text(HyperbandSchedule(Options(81, 3))),
            "4: 81@1 27@3 9@9 3@27 1@81\n"
            "3: 27@3 9@9 3@27 1@81\n"
            "2: 9@9 3@27 1@81\n"
            "1: 6@27 2@81\n"
            "0: 5@81\n");
  EXPECT_EQ(Text(HyperbandSchedule(Options(6, 3))), "1: 3@2 1@6\n0: 2@6\n");
}

TEST(HyperbandSchedule, CostsWhatTheTablesSay) {
  const auto check = [](int64_t max_resource, HyperbandVariant variant, int64_t configs,
                        int64_t restarted, int64_t resumed) {
    const HyperbandCost cost = CostOf(HyperbandSchedule(Options(max_resource, 3, variant)));
    EXPECT_EQ(cost.configs, configs) << max_resource;
    EXPECT_EQ(cost.iterations_restarted, restarted) << max_resource;
    EXPECT_EQ(cost.iterations, resumed) << max_resource;
  };
  check(9, HyperbandVariant::kJmlr, 17, 78, 69);
  check(27, HyperbandVariant::kJmlr, 49, 423, 357);
  check(81, HyperbandVariant::kJmlr, 143, 1902, 1581);
  check(9, HyperbandVariant::kFloor, 15, 72, 63);
  check(27, HyperbandVariant::kFloor, 46, 405, 342);
  check(81, HyperbandVariant::kFloor, 128, 1701, 1404);
}

// floor(log(243) / log(3)) is 4 in floating point.
TEST(HyperbandSchedule, PowersKeepTheirBracket) {
  EXPECT_EQ(HyperbandLevels(243, 3), 5);
  EXPECT_EQ(HyperbandLevels(1000, 10), 3);
  EXPECT_EQ(HyperbandLevels(59049, 3), 10);
  EXPECT_EQ(HyperbandLevels(59049, 9), 5);
  EXPECT_EQ(HyperbandLevels(80, 3), 3);
  EXPECT_EQ(Text(HyperbandSchedule(Options(243, 3)).front()), "5: 243@1 81@3 27@9 9@27 3@81 1@243");
  EXPECT_EQ(Text(HyperbandSchedule(Options(1000, 10)).front()), "3: 1000@1 100@10 10@100 1@1000");
}

TEST(HyperbandSchedule, AdditionalResourceTrainsSurvivorsLonger) {
  HyperbandOptions options = Options(81, 3);
  options.resource = RungResource::kAdditional;
  const std::vector<Bracket> brackets = HyperbandSchedule(options);
  EXPECT_EQ(Text(brackets.front()), "4: 81@1 27@4 9@13 3@40 1@121");
  EXPECT_EQ(CostOf(brackets).iterations, 1701);
  EXPECT_EQ(brackets.front().rungs.back().named, 81);
}

TEST(HyperbandSchedule, SkipsTheLastRungs) {
  EXPECT_EQ(Text(HyperbandSchedule(Options(9, 3, HyperbandVariant::kFloor, 1))),
            "2: 9@1 3@3\n1: 3@3\n");
}

TEST(HyperbandSchedule, RefusesWhatHasNoSchedule) {
  using Given = std::optional<int64_t>;
  const auto problems_of = [](Given max_resource, Given eta, Given skip_last) {
    std::vector<Problem> problems;
    CheckHyperband(max_resource, eta, skip_last, &problems);
    std::string text;
    for (const Problem& problem : problems) text += (text.empty() ? "" : "; ") + problem.message;
    return text;
  };
  EXPECT_EQ(problems_of(9, 1, 0), "eta must be at least 2, got 1");
  EXPECT_EQ(problems_of(2, 3, 0), "R must be at least eta, got R = 2 and eta = 3");
  EXPECT_EQ(problems_of(9, 3, 3), "skip_last must be from 0 to 2 for R = 9 and eta = 3, got 3");
  EXPECT_EQ(problems_of(9, 3, 2), "");
  // All at once, as far as it is known.
  EXPECT_EQ(problems_of(9, 1, 9),
            "eta must be at least 2, got 1; skip_last must be from 0 to 3 for R = 9, got 9");
  EXPECT_EQ(problems_of(9, {}, 3), "");
  EXPECT_EQ(
      problems_of(1, 0, -1),
      "eta must be at least 2, got 0; R must be at least eta, got R = 1; skip_last must be at "
      "least 0, got -1");
  EXPECT_EQ(problems_of({}, 3, 50), "");
}

}  // namespace
}  // namespace hopper
