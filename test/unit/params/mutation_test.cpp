// Texts that went wrong in a random place: never a crash, a hang or an exception of another kind.
#include <gtest/gtest.h>

#include "base/philox.h"
#include "params/grid.h"
#include "params/params.h"
#include "support/cpu_clock.h"

namespace hopper {
namespace {

// The grids stand at 4 and 5.
const std::vector<std::string> kValid = {
    "loss='categorical_crossentropy', optimizer='Adam(lr=0.01, decay=1e-6)', "
    "metrics=['accuracy', top_k(3)], loss_weights=None",
    "optimizer=SGD(lr=0.1, momentum=0.9, nesterov=True), loss=keras.losses.mse, metrics=[]",
    "{\"optimizer\": {\"class_name\": \"Adam\", \"config\": {\"learning_rate\": 0.1, \"epsilon\": "
    "null}}, \"loss\": \"mse\", \"metrics\": [\"mae\"]}",
    "batch_size=32, epochs=2, shuffle=False, class_weight={0: 1.0, 'a\\u00e9': 2.5}, seed=1",
    "{'loss': ['mse', 'mae'], 'metrics': [['mae'], None], 'optimizer_params_list': [{'optimizer': "
    "['SGD'], 'lr': [0.001, 0.1, 'log']}, {'lr': [1e-3]}]}",
    "{'batch_size': [8, 64, 'linear'], 'epochs': [1, 2], 'callbacks': ['[TensorBoard(a=\"b\")]']}",
    "loss='CategoricalCrossentropy(label_smoothing=0.1)', optimizer='AdamW(CosineDecay(0.0, 100, "
    "warmup_target=0.1, warmup_steps=10), use_ema=True)', metrics=[AUC(curve='PR'), F1Score]",
    "optimizer=SGD(lr=PiecewiseConstantDecay([1, 2], [0.1, 0.2, 0.3]), global_clipnorm=1), "
    "loss=Huber(delta=2), metrics=[Precision(thresholds=[0.5]), 'rmse']",
};

const std::string kPieces[] = {"'",        "\"",
                               "(",        ")",
                               "[",        "]",
                               "{",        "}",
                               ",",        "=",
                               ":",        "-",
                               ".",        "e9",
                               "0",        " ",
                               "\\",       "\n",
                               "\xC3",     "\xFF",
                               "None",     "nan",
                               "'log'",    "\\u12",
                               "1e308",    "99999999999999999999",
                               "((((((((", "[[[[[[[["};

// Five random changes: take out, double, insert, swap.
std::string Mutate(const std::string& text, uint64_t seed) {
  const Philox random(seed, Purpose::kSearch, 1, 0);
  std::string out = text;
  uint64_t draw = 0;
  const uint64_t changes = 1 + random.Below(draw++, 5);
  for (uint64_t c = 0; c < changes && !out.empty(); ++c) {
    const size_t at = random.Below(draw++, out.size());
    const size_t length = 1 + random.Below(draw++, 8);
    switch (random.Below(draw++, 4)) {
      case 0:
        out.erase(at, length);
        break;
      case 1:
        out.insert(at, out.substr(at, length));
        break;
      case 2:
        out.insert(at, kPieces[random.Below(draw++, std::size(kPieces))]);
        break;
      default:
        out[at] = out[random.Below(draw++, out.size())];
    }
  }
  return out;
}

TEST(Mutations, NeverCrashNeverHang) {
  int errors = 0, accepted = 0;
  double slowest = 0;
  for (uint64_t seed = 0; seed < 12000; ++seed) {
    const std::string text = Mutate(kValid[seed % kValid.size()], seed);
    const double start = CpuSeconds();
    std::vector<ParamProblem> problems;
    ParseCompileParams(text, &problems);
    ParseFitParams(text, &problems);
    for (const ParamProblem& problem : problems) EXPECT_FALSE(problem.message.empty());
    const std::string canonical = CanonicalParams(text);
    EXPECT_EQ(CanonicalParams(text), canonical);
    for (const bool random : {false, true}) {
      GridRequest request;
      request.model_ids = {1};
      request.compile_grid = seed % kValid.size() == 4 ? text : kValid[4];
      request.fit_grid = seed % kValid.size() == 5 ? text : "{}";
      request.random = random;
      request.num_configs = random ? 3 : 0;
      request.max_configs = 1000;
      try {
        accepted += GenerateConfigs(request).empty() ? 0 : 1;
      } catch (const Error& error) {
        EXPECT_STRNE(error.what(), "");
        EXPECT_NE(error.code(), ErrorCode::kInternal);
        ++errors;
      }
    }
    slowest = std::max(slowest, CpuSeconds() - start);
  }
  // Both kinds of ending were reached, or nothing was tested.
  EXPECT_GT(errors, 1000);
  EXPECT_GT(accepted, 1000);
  EXPECT_LT(slowest, 5.0);
}

}  // namespace
}  // namespace hopper
