// Bayesian optimization with a Gaussian process and expected improvement (Jones, Schonlau, Welch:
// "Efficient Global Optimization of Expensive Black-Box Functions", 1998; Snoek, Larochelle, Adams:
// "Practical Bayesian Optimization", 2012), of which the logarithms are compared. Whole numbers,
// steps and choices are rounded before the kernel sees them (Garrido-Merchan, Hernandez-Lobato
// 2020). What runs counts with the value that the model expects of it ("kriging believer",
// Ginsbourger, Le Riche, Carraro 2010).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include "search/algorithms/common.h"
#include "search/algorithms/rows.h"
#include "search/gaussian_process.h"
#include "search/model_history.h"
#include "search/parzen.h"

namespace hopper {
namespace {

constexpr size_t kMostTrials = 500;  // of the model: the best half and the latest
constexpr size_t kFitTrials = 80;    // of which its parameters are fitted
constexpr int kFitSteps = 35;
constexpr size_t kAnywhere = 192;  // candidates from the whole space
constexpr size_t kAround = 64;     // and around the best trials
constexpr size_t kBestTrials = 4;
constexpr double kFarStep = 0.1;  // of candidates around the best, in shares of the range
constexpr double kNearSteps[] = {0.05, 0.02};  // around the best candidate, twice
constexpr size_t kNear = 32;
constexpr double kOtherChoice = 0.2;
// A space of no more points than are looked at otherwise is looked at as a whole.
constexpr uint64_t kMostListed = kAnywhere + kAround + 2 * kNear;

// Losses as the model sees them: mean 0, variance 1, without outliers; failures and missed
// constraints are as bad as the worst.
Eigen::VectorXd Scaled(const std::vector<Standing>& standings) {
  std::vector<double> kept;
  for (const Standing& s : standings) {
    if (s.grade == Standing::kKept) kept.push_back(s.value);
  }
  std::sort(kept.begin(), kept.end());
  double worst = 0;
  if (!kept.empty()) {
    // Diverged trainings would flatten all that lies below them.
    const double far = kept[kept.size() * 3 / 4];
    worst = std::min(kept.back(), far + 2 * (far - kept.front()));
  }
  Eigen::VectorXd y(static_cast<Eigen::Index>(standings.size()));
  for (size_t i = 0; i < standings.size(); ++i) {
    const Standing& s = standings[i];
    y[static_cast<Eigen::Index>(i)] = s.grade == Standing::kKept ? std::min(s.value, worst) : worst;
  }
  // Sums and squares of larger ones may have no end.
  constexpr double kLarge = 1e100;
  const double largest = y.size() > 0 ? y.cwiseAbs().maxCoeff() : 0;
  if (largest > kLarge) y /= largest;
  y.array() -= y.mean();
  const double deviation = std::sqrt(y.squaredNorm() / static_cast<double>(y.size()));
  if (deviation > 0) y /= deviation;
  return y;
}

class GpProposer : public SearchProposer {
 public:
  explicit GpProposer(size_t startup) : startup_(startup) {}

  std::optional<Proposal> Propose(const SearchJournal& journal) override {
    const uint64_t draw = draw_++;
    const ModelHistory history = HistoryOf(journal, startup_);
    std::string reason = "random, before the model has enough results";
    if (history.finished.size() >= startup_) {
      if (auto proposal = Best(journal, history, draw)) return proposal;
      reason = "random: all of the model's candidates were tried";
    }
    std::optional<SearchPoint> point = DrawUntried(journal, kAnyStream + kGpStream, draw);
    if (!point) return {};
    return Proposal{std::move(*point), {}, std::move(reason)};
  }

 private:
  struct Model {
    std::vector<size_t> used;  // dimensions with more than one value
    std::vector<bool> choices;
    std::unique_ptr<GaussianProcess> process;
    double best = 0;
  };

  static Eigen::MatrixXd Encoded(const SearchSpace& space, const std::vector<size_t>& used,
                                 const std::vector<const SearchPoint*>& points) {
    Eigen::MatrixXd x(static_cast<Eigen::Index>(points.size()),
                      static_cast<Eigen::Index>(used.size()));
    for (size_t i = 0; i < points.size(); ++i) {
      for (size_t k = 0; k < used.size(); ++k) {
        const Dimension& dimension = space.dimensions()[used[k]];
        const double value = (*points[i])[used[k]];
        const bool choice = dimension.kind == DimensionKind::kChoice;
        // What does not apply is a choice of its own, or the middle.
        double code = choice ? -1 : 0.5;
        if (!std::isnan(value)) code = choice ? value : dimension.ToUnit(value);
        x(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) = code;
      }
    }
    return x;
  }

  static Model ModelOf(const SearchJournal& journal, const ModelHistory& history) {
    const SearchSpace& space = journal.space();
    Model model;
    for (size_t d = 0; d < space.size(); ++d) {
      if (space.dimensions()[d].Count() == 1) continue;
      model.used.push_back(d);
      model.choices.push_back(space.dimensions()[d].kind == DimensionKind::kChoice);
    }
    std::vector<size_t> ranked(history.finished.size());
    std::iota(ranked.begin(), ranked.end(), size_t{0});
    std::stable_sort(ranked.begin(), ranked.end(), [&](size_t a, size_t b) {
      return history.standings[a] < history.standings[b];
    });
    if (ranked.size() > kMostTrials) {
      std::sort(ranked.begin() + kMostTrials / 2, ranked.end(), std::greater<>());
      ranked.resize(kMostTrials);
    }
    std::vector<const SearchPoint*> points;
    std::vector<Standing> standings;
    for (const size_t i : ranked) {
      points.push_back(&journal.trial(history.finished[i]).point);
      standings.push_back(history.standings[i]);
    }
    const Eigen::VectorXd y = Scaled(standings);
    for (const int64_t running : history.running) points.push_back(&journal.trial(running).point);
    const Eigen::MatrixXd x = Encoded(space, model.used, points);
    // The parameters come from trials of all ranks.
    const Eigen::Index n = y.size();
    const Eigen::Index few = std::min<Eigen::Index>(n, kFitTrials);
    Eigen::MatrixXd fit_x(few, x.cols());
    Eigen::VectorXd fit_y(few);
    for (Eigen::Index i = 0; i < few; ++i) {
      fit_x.row(i) = x.row(i * n / few);
      fit_y[i] = y[i * n / few];
    }
    const GpParameters parameters = FitGp(fit_x, model.choices, fit_y, kFitSteps);
    model.process = std::make_unique<GaussianProcess>(x, model.choices, parameters);
    Eigen::VectorXd all(x.rows());
    all.head(n) = y;
    if (n < x.rows()) all.tail(x.rows() - n) = model.process->PredictRest(y);
    model.process->Observe(all);
    model.best = y.minCoeff();
    return model;
  }

  // A step of a normal distribution in each dimension, `size` of the range.
  static SearchPoint Moved(const SearchSpace& space, const SearchPoint& from, double size,
                           const Philox& random, uint64_t first) {
    return space.Fill([&](size_t d) {
      const Dimension& dimension = space.dimensions()[d];
      const double u = random.UniformDouble(first + 2 * d);
      const double v = random.UniformDouble(first + 2 * d + 1);
      if (std::isnan(from[d])) return dimension.FromUnit(u);
      if (dimension.kind == DimensionKind::kChoice) {
        return u < kOtherChoice ? dimension.FromUnit(v) : from[d];
      }
      double moved = dimension.ToUnit(from[d]) + size * TruncatedNormalQuantile(u, -8, 8);
      // Back from the ends.
      moved = std::abs(moved);
      if (moved > 1) moved = std::max(0.0, 2 - moved);
      return dimension.FromUnit(std::clamp(moved, 1e-12, 1 - 1e-12));
    });
  }

  struct Candidate {
    SearchPoint point;
    double improvement = -INFINITY;  // its logarithm
  };

  static void Improve(const SearchSpace& space, const Model& model,
                      const std::vector<SearchPoint>& points, Candidate* best) {
    std::vector<const SearchPoint*> pointers;
    for (const SearchPoint& point : points) pointers.push_back(&point);
    Eigen::VectorXd mean;
    Eigen::VectorXd deviation;
    model.process->Predict(Encoded(space, model.used, pointers), &mean, &deviation);
    for (size_t i = 0; i < points.size(); ++i) {
      const Eigen::Index at = static_cast<Eigen::Index>(i);
      const double improvement = LogExpectedImprovement(model.best, mean[at], deviation[at]);
      if (best->point.empty() || improvement > best->improvement) *best = {points[i], improvement};
    }
  }

  static std::optional<Proposal> Best(const SearchJournal& journal, const ModelHistory& history,
                                      uint64_t draw) {
    const SearchSpace& space = journal.space();
    const Model model = ModelOf(journal, history);
    if (model.used.empty()) return {};
    const uint64_t count = space.CountPoints(kMostListed + 1);
    const bool is_small = count > 0 && count <= kMostListed;
    const Candidate best =
        is_small ? BestOfAll(journal, model) : BestOfSome(journal, history, model, draw);
    if (best.point.empty()) return {};
    char reason[160];
    std::snprintf(reason, sizeof(reason),
                  "largest expected improvement by a model of %zu results after %lld iteration%s",
                  history.finished.size(), static_cast<long long>(history.resource),
                  history.resource == 1 ? "" : "s");
    return Proposal{best.point, std::exp(best.improvement), reason};
  }

  // Without a point where everything was tried, as below.
  static Candidate BestOfAll(const SearchJournal& journal, const Model& model) {
    std::vector<SearchPoint> points;
    SearchPoint point = journal.space().First();
    do {
      if (!journal.IsTried(point)) points.push_back(point);
    } while (journal.space().Next(&point));
    Candidate best;
    if (!points.empty()) Improve(journal.space(), model, points, &best);
    return best;
  }

  static Candidate BestOfSome(const SearchJournal& journal, const ModelHistory& history,
                              const Model& model, uint64_t draw) {
    const SearchSpace& space = journal.space();
    const Philox random = journal.Random(kGpStream, draw);
    uint64_t next = 0;
    std::vector<SearchPoint> points;
    const auto add = [&](SearchPoint point) {
      next += 2 * space.size();
      if (!journal.IsTried(point)) points.push_back(std::move(point));
    };
    for (size_t i = 0; i < kAnywhere; ++i) {
      add(space.Fill([&](size_t d) {
        return space.dimensions()[d].FromUnit(random.UniformDouble(next + d));
      }));
    }
    std::vector<size_t> places(history.finished.size());
    std::iota(places.begin(), places.end(), size_t{0});
    std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) {
      return history.standings[a] < history.standings[b];
    });
    for (size_t i = 0; i < kAround; ++i) {
      const int64_t from = history.finished[places[i % std::min(kBestTrials, places.size())]];
      add(Moved(space, journal.trial(from).point, kFarStep, random, next));
    }
    Candidate best;
    if (points.empty()) return best;
    Improve(space, model, points, &best);
    for (const double size : kNearSteps) {
      points.clear();
      const SearchPoint from = best.point;
      for (size_t i = 0; i < kNear; ++i) add(Moved(space, from, size, random, next));
      if (!points.empty()) Improve(space, model, points, &best);
    }
    return best;
  }

  size_t startup_;
  uint64_t draw_ = 0;
};

}  // namespace

std::unique_ptr<SearchProposer> MakeGpProposer(int64_t startup) {
  return std::make_unique<GpProposer>(static_cast<size_t>(startup));
}

AlgorithmType search_rows::Gp() {
  AlgorithmType type;
  type.name = "gp";
  type.meaning = "Proposes where a Gaussian process expects the largest improvement.";
  type.arguments = {
      NumConfigs(), NumIterations(),
      Integer("num_startup", kGpStartup, 2, kMaxConfigs, "random configurations first")};
  type.make = [](const SearchArguments& arguments, const SearchJournal&) {
    return MakeEachToTheEnd(MakeGpProposer(arguments.Integer("num_startup")),
                            arguments.Integer("num_configs"), arguments.Integer("num_iterations"));
  };
  return type;
}

}  // namespace hopper
