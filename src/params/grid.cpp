#include "params/grid.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/cancel.h"
#include "base/hash.h"
#include "base/philox.h"
#include "params/grid_space.h"
#include "params/params.h"

namespace hopper {
namespace {

constexpr uint64_t kMany = std::numeric_limits<uint64_t>::max();
// Larger grids are refused whatever the limit says.
constexpr uint64_t kMaxGrid = 1000000;
// Spaces up to this size are listed when random draws keep meeting what is there already.
constexpr uint64_t kMaxListed = 200000;
// Longer parameters are not repeated in an error.
constexpr size_t kMaxShown = 2000;
// Further ones of one grid are not looked for.
constexpr size_t kMaxProblems = 20;

uint64_t Times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMany : product;
}

uint64_t Plus(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kMany : sum;
}

uint64_t Product(const std::vector<GridParameter>& parameters) {
  uint64_t product = 1;
  for (const GridParameter& parameter : parameters) {
    const uint64_t n = CountValues(parameter);
    product = n == 0 ? kMany : Times(product, n);
  }
  return product;
}

uint64_t CountOptimizers(const GridSpace& space) {
  uint64_t sum = 0;
  for (const OptimizerChoice& choice : space.optimizers) {
    sum = Plus(sum, Times(CountValues(choice.optimizer), Product(choice.arguments)));
  }
  return sum;
}

// Every combination of values, the last parameter changing fastest.
template <typename Visit>
void ForEachCombination(const std::vector<GridParameter>& parameters, Visit visit) {
  const uint64_t count = Product(parameters);
  std::vector<Value> values(parameters.size());
  for (uint64_t i = 0; i < count; ++i) {
    LookAtCancel();
    uint64_t rest = i;
    for (size_t p = parameters.size(); p-- > 0;) {
      const uint64_t n = CountValues(parameters[p]);
      values[p] = ValueAt(parameters[p], rest % n);
      rest /= n;
    }
    visit(values);
  }
}

// Remembers which configurations exist, in canonical form, and which texts are valid.
class Collector {
 public:
  // Model, compile_params, fit_params; texts are numbered, so that a key costs two look-ups.
  using Key = std::tuple<int32_t, size_t, size_t>;

  explicit Collector(const std::vector<Configuration>& existing) {
    for (const Configuration& c : existing) {
      LookAtCancel();
      keys_.insert(KeyOf(c));
    }
  }

  // Appends where the configuration is new. What is wrong with its texts is collected.
  bool Add(Configuration configuration) {
    LookAtCancel();
    Check(configuration.compile_params, /*compile=*/true);
    Check(configuration.fit_params, /*compile=*/false);
    if (!keys_.insert(KeyOf(configuration)).second) return false;
    configurations_.push_back(std::move(configuration));
    return true;
  }
  bool Has(const Key& key) const { return keys_.count(key) > 0; }
  Key KeyOf(const Configuration& c) {
    return {c.model_id, Number(c.compile_params), Number(c.fit_params)};
  }
  size_t size() const { return configurations_.size(); }
  std::vector<Configuration> Take() {
    RequireValid();
    return std::move(configurations_);
  }
  // Throws what is wrong with any text so far.
  void RequireValid() const {
    if (!problems_.empty()) throw Error(SummaryOf(problems_));
  }

 private:
  size_t Number(const std::string& text) {
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    const size_t number =
        canonical_.emplace(CanonicalParams(text), canonical_.size()).first->second;
    numbers_.emplace(text, number);
    return number;
  }
  void Check(const std::string& text, bool compile) {
    if (!(compile ? valid_compile_ : valid_fit_).insert(text).second) return;
    std::vector<ParamProblem> problems;
    if (compile) {
      ParseCompileParams(text, &problems);
    } else {
      ParseFitParams(text, &problems);
    }
    for (const ParamProblem& problem : problems) {
      if (problem.warning || !messages_.insert(problem.message).second) continue;
      Problem found = problem;
      if (text.size() <= kMaxShown) {
        found.detail += (found.detail.empty() ? "" : " ");
        found.detail += std::string("The ") + (compile ? "compile_params" : "fit_params") +
                        " are \"" + text + "\".";
      }
      problems_.push_back(std::move(found));
      if (problems_.size() == kMaxProblems) RequireValid();
    }
  }

  std::unordered_map<std::string, size_t> numbers_;    // by text
  std::unordered_map<std::string, size_t> canonical_;  // by canonical text
  std::unordered_set<std::string> valid_compile_, valid_fit_;
  std::set<Key> keys_;
  std::vector<Configuration> configurations_;
  std::vector<Problem> problems_;
  std::unordered_set<std::string> messages_;
};

std::vector<int32_t> Distinct(const std::vector<int32_t>& ids) {
  std::vector<int32_t> distinct;
  std::unordered_set<int32_t> seen;
  for (const int32_t id : ids) {
    if (seen.insert(id).second) distinct.push_back(id);
  }
  return distinct;
}

std::vector<std::string> AllCompileTexts(const GridSpace& space) {
  std::vector<std::string> texts;
  for (const OptimizerChoice& choice : space.optimizers) {
    for (const Value& name : choice.optimizer.choices) {
      ForEachCombination(choice.arguments, [&](const std::vector<Value>& arguments) {
        const std::string optimizer = RenderOptimizer(choice, name, arguments);
        ForEachCombination(space.compile, [&](const std::vector<Value>& values) {
          texts.push_back(RenderCompile(space, optimizer, values));
        });
      });
    }
  }
  return texts;
}

std::vector<std::string> AllFitTexts(const GridSpace& space) {
  std::vector<std::string> texts;
  ForEachCombination(space.fit, [&](const std::vector<Value>& values) {
    texts.push_back(RenderFit(space, values));
  });
  return texts;
}

template <typename Visit>
void ForEachConfiguration(const std::vector<int32_t>& model_ids, const GridSpace& space,
                          Visit visit) {
  const std::vector<std::string> compile = AllCompileTexts(space), fit = AllFitTexts(space);
  for (const int32_t id : model_ids) {
    for (const std::string& c : compile) {
      for (const std::string& f : fit) visit(Configuration{id, c, f});
    }
  }
}

uint64_t CountConfigurations(size_t n_models, const GridSpace& space) {
  return Times(Times(n_models, CountOptimizers(space)),
               Times(Product(space.compile), Product(space.fit)));
}

// 'The product of the list lengths: 2 models x 6 optimizers x 3 loss x 8 batch_size.'
std::string DescribeProduct(size_t n_models, const GridSpace& space) {
  std::string text = "The product of the list lengths: " + WithThousands(n_models) + " models x " +
                     WithThousands(CountOptimizers(space)) + " optimizers";
  for (const auto* parameters : {&space.compile, &space.fit}) {
    for (const GridParameter& parameter : *parameters) {
      text += " x " + WithThousands(CountValues(parameter)) + " " + parameter.name;
    }
  }
  return text + ".";
}

// Draws of one parameter: a stream of its own for each (state, draw, parameter), so that no draw
// depends on another and a parameter that is added changes none of the others.
double DrawUniform(uint64_t state, uint64_t draw, const std::string& parameter) {
  const Digest digest = Hash(parameter.data(), parameter.size());
  uint32_t stream = 0;
  for (int i = 0; i < 4; ++i) stream = stream << 8 | digest.bytes[i];
  return Philox(state, Purpose::kSearch, stream, draw).UniformDouble(0);
}

std::vector<Value> DrawValues(const std::vector<GridParameter>& parameters, uint64_t state,
                              uint64_t draw, const std::string& prefix) {
  std::vector<Value> values;
  for (const GridParameter& parameter : parameters) {
    values.push_back(DrawValue(parameter, DrawUniform(state, draw, prefix + parameter.name)));
  }
  return values;
}

size_t DrawIndex(size_t n, uint64_t state, uint64_t draw, const std::string& name) {
  const auto i = static_cast<size_t>(DrawUniform(state, draw, name) * static_cast<double>(n));
  return std::min(i, n - 1);
}

Configuration Draw(const std::vector<int32_t>& model_ids, const GridSpace& space, uint64_t state,
                   uint64_t draw) {
  const size_t o = DrawIndex(space.optimizers.size(), state, draw, "optimizer_params_list");
  const OptimizerChoice& choice = space.optimizers[o];
  const std::string prefix = "optimizer_params_list." + std::to_string(o) + ".";
  const Value name =
      DrawValue(choice.optimizer, DrawUniform(state, draw, prefix + choice.optimizer.name));
  const std::string optimizer =
      RenderOptimizer(choice, name, DrawValues(choice.arguments, state, draw, prefix));
  Configuration configuration;
  configuration.model_id = model_ids[DrawIndex(model_ids.size(), state, draw, "model_id")];
  configuration.compile_params =
      RenderCompile(space, optimizer, DrawValues(space.compile, state, draw, "compile."));
  configuration.fit_params = RenderFit(space, DrawValues(space.fit, state, draw, "fit."));
  return configuration;
}

// What is left of a finite space when draws hit the same configurations again and again.
void DrawFromTheRest(const GridRequest& request, const std::vector<int32_t>& model_ids,
                     const GridSpace& space, uint64_t state, Collector* collector) {
  std::vector<Configuration> rest;
  std::set<Collector::Key> seen;
  ForEachConfiguration(model_ids, space, [&](Configuration c) {
    LookAtCancel();
    const Collector::Key key = collector->KeyOf(c);
    if (seen.insert(key).second && !collector->Has(key)) rest.push_back(std::move(c));
  });
  const auto wanted = static_cast<uint64_t>(request.num_configs);
  const uint64_t possible = collector->size() + rest.size();
  if (possible < wanted) {
    const std::string existing =
        seen.size() == possible
            ? ""
            : "It has " + WithThousands(seen.size()) + " configurations, of which " +
                  WithThousands(seen.size() - possible) + " exist already.";
    throw Error(ErrorCode::kInvalidParameter,
                "search space has " + WithThousands(possible) +
                    " different configurations, but num_configs is " + WithThousands(wanted),
                existing, "Lower num_configs, or widen the lists.");
  }
  // A partial Fisher-Yates shuffle.
  const Philox stream(state, Purpose::kSearch, 0, kMany);
  for (uint64_t i = 0; collector->size() < wanted; ++i) {
    std::swap(rest[i], rest[i + stream.Below(i, rest.size() - i)]);
    collector->Add(rest[i]);
  }
}

void GenerateRandom(const GridRequest& request, const std::vector<int32_t>& model_ids,
                    const GridSpace& space, Collector* collector) {
  const auto state = static_cast<uint64_t>(request.random_state.value_or(0));
  const auto wanted = static_cast<uint64_t>(request.num_configs);
  const uint64_t count = CountConfigurations(model_ids.size(), space);
  const bool listable = count <= kMaxListed;
  const uint64_t patience = listable ? 4 * wanted + 100 : 1000 * wanted + 100000;
  for (uint64_t draw = 0; collector->size() < wanted && draw < patience; ++draw) {
    collector->Add(Draw(model_ids, space, state, draw));
  }
  collector->RequireValid();
  if (collector->size() == wanted) return;
  if (listable) {
    DrawFromTheRest(request, model_ids, space, state, collector);
    return;
  }
  throw Error(ErrorCode::kInvalidParameter,
              WithThousands(patience) + " draws gave " + WithThousands(collector->size()) +
                  " different configurations, but num_configs is " + WithThousands(wanted),
              "", "Lower num_configs, or widen the lists.");
}

void RequireModels(const std::vector<int32_t>& model_ids) {
  if (model_ids.empty()) throw Error(ErrorCode::kInvalidParameter, "model_id_list is empty");
}

}  // namespace

std::vector<Configuration> GenerateConfigs(const GridRequest& request, Problem* notice) {
  RequireModels(request.model_ids);
  const std::vector<int32_t> model_ids = Distinct(request.model_ids);
  if (!request.random && (request.num_configs != 0 || request.random_state)) {
    throw Error(ErrorCode::kInvalidParameter,
                std::string(request.num_configs != 0 ? "num_configs" : "seed") +
                    " is for random search only",
                "A grid search takes every combination.",
                "Leave it out, or use search_type 'random'.");
  }
  if (request.random && request.num_configs <= 0) {
    throw Error(ErrorCode::kInvalidParameter,
                "num_configs must be positive, got " + std::to_string(request.num_configs));
  }
  const bool limited = request.max_configs > 0;
  const auto limit = static_cast<uint64_t>(request.max_configs);
  if (request.random && limited && static_cast<uint64_t>(request.num_configs) > limit) {
    throw Error(ErrorCode::kLimitExceeded,
                "num_configs is " + WithThousands(static_cast<uint64_t>(request.num_configs)),
                "At most " + WithThousands(limit) + " are allowed.",
                "Lower num_configs, or raise hopper.max_configs.");
  }
  const GridSpace space = ParseGridSpace(request.compile_grid, request.fit_grid, request.random);
  if (notice != nullptr) *notice = space.notice;
  Collector collector(request.existing);
  if (request.random) {
    GenerateRandom(request, model_ids, space, &collector);
    return collector.Take();
  }
  const uint64_t count = CountConfigurations(model_ids.size(), space);
  if ((limited && count > limit) || count > kMaxGrid) {
    throw Error(ErrorCode::kLimitExceeded,
                "grid has " + (count == kMany ? "more than " : std::string()) +
                    WithThousands(count) + " combinations",
                DescribeProduct(model_ids.size(), space),
                "Use random search, or raise hopper.max_configs.");
  }
  ForEachConfiguration(model_ids, space, [&](Configuration c) { collector.Add(std::move(c)); });
  return collector.Take();
}

std::vector<Configuration> CrossConfigs(const std::vector<int32_t>& model_ids,
                                        const std::vector<std::string>& compile_params,
                                        const std::vector<std::string>& fit_params) {
  RequireModels(model_ids);
  if (compile_params.empty()) {
    throw Error(ErrorCode::kInvalidParameter, "compile_params_list is empty");
  }
  if (fit_params.empty()) {
    throw Error(ErrorCode::kInvalidParameter, "fit_params_list is empty", "",
                "Use ARRAY[''] for the defaults.");
  }
  Collector collector({});
  for (const int32_t id : Distinct(model_ids)) {
    for (const std::string& c : compile_params) {
      for (const std::string& f : fit_params) collector.Add({id, c, f});
    }
  }
  return collector.Take();
}

}  // namespace hopper
