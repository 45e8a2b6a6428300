// Every allocation of the functions that need no libtorch fails, one after another: each time they
// say so or answer as ever; nothing crashes and nothing stays behind.
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "capi/boundary.h"
#include "model_hopper/core.h"
#include "support/failing_memory.h"
#include "support/keras_models.h"
#include "support/repetitions.h"

extern "C" const hopper_core_api* hopper_core_api_get(int32_t version);

namespace hopper {
namespace {

const hopper_core_api& Api() { return *hopper_core_api_get(HOPPER_API_VERSION); }

uint64_t Mixed(uint64_t sum, const char* text) {
  for (; text != nullptr && *text != '\0'; ++text) {
    sum = (sum ^ static_cast<unsigned char>(*text)) * 0x100000001b3U;
  }
  return sum + 1;
}

// Of a call that gives rows, or fails with a message that is part of the answer.
template <typename Call>
Outcome Answer(const Call& call) {
  hopper_rows* rows = nullptr;
  hopper_error error = {};
  Outcome outcome;
  outcome.code = call(&rows, &error);
  if (outcome.code == 0) {
    for (int64_t i = 0; i < int64_t{rows->n_rows} * rows->n_columns; ++i) {
      outcome.answer = Mixed(outcome.answer, rows->cells[i]);
    }
    Api().rows_free(rows);
  } else if (outcome.code != HOPPER_OUT_OF_MEMORY) {
    outcome.answer = Mixed(Mixed(Mixed(outcome.code, error.message), error.detail), error.hint);
    outcome.code = 0;
  }
  return outcome;
}

// A Functional of nested models, with Keras 3's connections and settings that are objects.
const char kNested[] = R"({"module": "keras", "class_name": "Functional", "config": {
  "name": "outer", "layers": [
    {"class_name": "InputLayer", "name": "in", "config": {"batch_shape": [null, 6],
      "dtype": "float32", "name": "in"}, "inbound_nodes": []},
    {"class_name": "Sequential", "name": "inner", "config": {"name": "inner", "layers": [
      {"class_name": "InputLayer", "config": {"batch_shape": [null, 6], "name": "i"}},
      {"class_name": "Dense", "config": {"name": "d", "units": 4, "activation":
        {"class_name": "LeakyReLU", "config": {"negative_slope": 0.1}},
        "kernel_initializer": {"class_name": "HeNormal", "config": {"seed": null}},
        "kernel_regularizer": {"class_name": "L2", "config": {"l2": 0.01}}}}]},
      "inbound_nodes": [{"args": [{"class_name": "__keras_tensor__", "config":
        {"shape": [null, 6], "dtype": "float32", "keras_history": ["in", 0, 0]}}],
        "kwargs": {"training": false, "mask": null}}]},
    {"class_name": "Dense", "name": "out", "config": {"name": "out", "units": 3,
      "activation": "softmax"}, "inbound_nodes": [{"args": [], "kwargs": {"inputs":
        {"class_name": "__keras_tensor__", "config": {"shape": [null, 4], "dtype": "float32",
         "keras_history": ["inner", 0, 0]}}}}]}],
  "input_layers": [["in", 0, 0]], "output_layers": [["out", 0, 0]]}})";

class Faults : public ::testing::Test {
 protected:
  static std::string Mlp() { return MlpJson(6, 5, 3); }

  static void ExpectDescribed(const std::string& json) {
    FailEachAllocation([&] {
      return Answer([&](hopper_rows** rows, hopper_error* error) {
        return Api().describe_model(json.data(), json.size(), nullptr, rows, error);
      });
    });
  }
};

// That a statement was cancelled is said without memory, too.
TEST_F(Faults, ACancel) {
  FailEachAllocation([] {
    hopper_error error = {};
    Outcome outcome;
    outcome.code = Guard(&error, [] {
      const std::string text(100, 'x');
      if (!text.empty()) throw Cancelled();
    });
    outcome.answer = Mixed(0, error.message);
    if (outcome.code == HOPPER_CANCELLED) outcome.code = 0;
    return outcome;
  });
}

TEST_F(Faults, Lists) {
  // One row's allocations are like another's.
  constexpr int kMost = 500;
  for (const char* what : {"layers", "losses", "metrics", "optimizers"}) {
    FailEachAllocation(
        [&] {
          return Answer([&](hopper_rows** rows, hopper_error* error) {
            return Api().list(what, rows, error);
          });
        },
        kMost);
  }
}

TEST_F(Faults, Architectures) {
  ExpectDescribed(Mlp());
  ExpectDescribed(kNested);
}

TEST_F(Faults, ArchitecturesWithProblems) {
  ExpectDescribed(KerasSequential({KerasDense("first", -1, "nonsense"), KerasLayer("Lstn", "x", ""),
                                   KerasLayer("Dropout", "drop", R"("rate": [1, {"a": []}])")}));
  ExpectDescribed(R"({"class_name": "Sequential", "config": [{"a": [1, 2, {"b": [}]}]})");
  ExpectDescribed(R"({"class_name": ["Model"], "config": {"a": [1e999]}})");
  // A key twice: the first one's value goes.
  ExpectDescribed(R"({"class_name": {"a": [[1], {"b": 2}]}, "class_name": "Model", "config": 1})");
}

TEST_F(Faults, Weights) {
  const std::string json = Mlp();
  const std::vector<float> weights(73, 0.5F);
  FailEachAllocation([&] {
    return Answer([&](hopper_rows** rows, hopper_error* error) {
      const int code = Api().check_weights(json.data(), json.size(), weights.data(), 73, error);
      return code != 0 ? code : Api().list("losses", rows, error);
    });
  });
}

TEST_F(Faults, Grids) {
  const int32_t models[] = {1, 2};
  const int32_t existing_models[] = {1};
  const char* existing_compile[] = {"loss='mse', optimizer='Adam(learning_rate=0.1)'"};
  const char* existing_fit[] = {"batch_size=8, epochs=1"};
  hopper_grid grid = {};
  grid.n_models = 2;
  grid.model_ids = models;
  grid.compile_grid =
      "{'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD', 'Adam'],"
      " 'learning_rate': [0.1, 0.01, 'log']}]}";
  grid.fit_grid = "{'batch_size': [8, 16], 'epochs': [1]}";
  grid.random = 1;
  grid.num_configs = 3;
  grid.has_random_state = 1;
  grid.random_state = 7;
  grid.max_configs = 100;
  grid.n_existing = 1;
  grid.existing_model_ids = existing_models;
  grid.existing_compile_params = existing_compile;
  grid.existing_fit_params = existing_fit;
  const auto generate = [&](hopper_rows** rows, hopper_error* error) {
    return Api().generate_configs(&grid, rows, nullptr, error);
  };
  FailEachAllocation([&] { return Answer(generate); });
  grid.random = 0;
  grid.compile_grid = "{\"loss\": [\"mse\", \"mae\"], \"metrics\": [[\"mae\"]]}";
  FailEachAllocation([&] { return Answer(generate); });
  FailEachAllocation([&] {
    return Answer([&](hopper_rows** rows, hopper_error* error) {
      return Api().cross_configs(2, models, 1, existing_compile, 1, existing_fit, rows, error);
    });
  });
}

TEST_F(Faults, ChecksOfConfigurations) {
  const std::string json = Mlp();
  const std::string broken = KerasSequential({KerasDense("first", 4, "nonsense")});
  hopper_config configs[3] = {};
  for (hopper_config& config : configs) {
    config.mst_key = static_cast<int32_t>(&config - configs);
    config.model_arch = json.data();
    config.model_arch_size = json.size();
    config.compile_params =
        "loss='sparse_categorical_crossentropy', metrics=['accuracy', 'AUC(num_thresholds=20)'],"
        " optimizer=Adam(CosineDecay(1e-3, 100, alpha=0.1), clipnorm=1.0)";
    config.fit_params =
        "batch_size=8, class_weight={0: 1.0, 1: 2.5}, callbacks=[EarlyStopping(monitor='loss')]";
  }
  configs[1].compile_params = "{\"loss\": \"expr: mean(abs(y - p) + )\", \"optimizer\": [}";
  configs[1].fit_params = "batch_size=-1, epochz=3";
  configs[2].model_arch = broken.data();
  configs[2].model_arch_size = broken.size();
  hopper_data_desc data = {};
  data.x_type = HOPPER_FLOAT32;
  data.x_rank = 1;
  data.x_shape[0] = 6;
  data.y_kind = HOPPER_LABEL_CLASS;
  data.y_type = HOPPER_INT16;
  data.num_classes = 3;
  data.n_partitions = 2;
  data.n_rows = 40;
  data.normalizing_const = 1.0;
  data.table_name = "t";
  FailEachAllocation([&] {
    return Answer([&](hopper_rows** rows, hopper_error* error) {
      return Api().check_configs(configs, 3, &data, nullptr, rows, error);
    });
  });
  FailEachAllocation([&] {
    return Answer([&](hopper_rows** rows, hopper_error* error) {
      return Api().report_configs(configs, 3, &data, nullptr, rows, error);
    });
  });
}

TEST_F(Faults, Events) {
  const char* const tags[] = {"val_accuracy", "a loss of which the name is long"};
  const char* const names[] = {"lr", "optimizer"};
  const char* const given[] = {"0.1", "one of which the name is long"};
  const int64_t steps[] = {1, 2};
  const double numbers[] = {0.5, 0.25};
  const hopper_events events = {2, tags, steps, numbers, numbers, 2, names, given, 1.0, 0};
  FailEachAllocation([&] {
    return Answer([&](hopper_rows** rows, hopper_error* error) {
      return Api().export_events(&events, rows, error);
    });
  });
}

// Files for other tools, with the names of labels and classes in them.
TEST_F(Faults, Exports) {
  const std::string json = Mlp();
  const std::vector<float> weights(73, 0.5F);
  const char* const classes[] = {"a \"cat\"", "a dog", "neither of them"};
  hopper_data_desc data = {};
  data.x_type = HOPPER_FLOAT32;
  data.x_rank = 1;
  data.x_shape[0] = 6;
  data.y_kind = HOPPER_LABEL_CLASS;
  data.y_type = HOPPER_INT16;
  data.y_column = "what the picture shows";
  data.num_classes = 3;
  data.n_class_values = 3;
  data.class_values = classes;
  data.n_partitions = 2;
  data.n_rows = 40;
  data.normalizing_const = 255.0;
  data.table_name = "t";
  hopper_export model = {};
  model.model_arch = json.data();
  model.model_arch_size = json.size();
  model.weights = weights.data();
  model.n_weights = static_cast<int64_t>(weights.size());
  model.data = &data;
  for (const hopper_format format : {HOPPER_FORMAT_ONNX, HOPPER_FORMAT_PYTORCH}) {
    model.format = format;
    hopper_rows* rows = nullptr;
    hopper_error error = {};
    ASSERT_EQ(Api().export_model(&model, &rows, &error), 0) << error.message;
    Api().rows_free(rows);
    FailEachAllocation([&] {
      return Answer([&](hopper_rows** rows, hopper_error* error) {
        return Api().export_model(&model, rows, error);
      });
    });
  }
}

// A search from its options to its results, of which each decision takes memory.
class Searches : public Faults {
 protected:
  static constexpr char kSpace[] = R"({"parameters": {
      "depth": {"type": "int", "low": 1, "high": 2},
      "units": {"type": "int", "low": 2, "high": 8, "step": 2, "when": {"depth": 2}},
      "activation": ["relu", "tanh"],
      "lr": {"type": "float", "low": 0.001, "high": 0.1, "scale": "log"}},
    "compile_params": {"loss": "categorical_crossentropy", "metrics": ["accuracy"],
      "optimizer": {"class_name": "Adam", "config": {"learning_rate": {"hopper": "lr"}}}},
    "fit_params": {"batch_size": 8}})";

  static hopper_search_options Options(const char* algorithm, const char* arguments) {
    static const int32_t model = 1;
    static const std::string arch = KerasSequential(
        {KerasDense("in", 2, "relu", R"("batch_input_shape": [null, 6])"),
         R"({"hopper": {"repeat": "depth", "layers": [{"class_name": "Dense",)"
         R"( "config": {"units": {"hopper": "units"}, "activation": {"hopper": "activation"}}}]}})",
         KerasDense("out", 3, "softmax")});
    static const char* const archs[] = {arch.c_str()};
    static const hopper_search_earlier earlier[] = {
        {1, R"({"depth": 1, "activation": "relu", "lr": 0.01})", 3, nullptr}};
    hopper_search_options options = {};
    options.n_models = 1;
    options.model_ids = &model;
    options.model_archs = archs;
    options.space = kSpace;
    options.algorithm = algorithm;
    options.arguments = arguments;
    options.objective = "loss, parameters";
    options.constraints = "accuracy >= 0.3";
    options.seed = 5;
    options.seats = 2;
    options.max_configs = options.max_iterations = options.keep = HOPPER_NO_BUDGET;
    options.max_seconds = options.target = std::numeric_limits<double>::quiet_NaN();
    options.n_earlier = 1;
    options.earlier = earlier;
    return options;
  }

  static int Run(hopper_search* search, hopper_error* error) {
    const auto& api = Api().search;
    hopper_search_assignment assignments[4];
    while (api.done(search) == 0) {
      int32_t n = 0;
      if (const int code = api.ask(search, assignments, 4, &n, error); code != 0) return code;
      for (int32_t i = 0; i < n; ++i) {
        const auto trial = static_cast<double>(assignments[i].trial);
        const double values[] = {1.0 / (1.0 + trial), 10.0 + trial, 0.25 + trial / 50.0};
        const char* failure = assignments[i].trial == 2 ? "out of luck" : nullptr;
        const hopper_search_told told = {values, nullptr, failure == nullptr ? 3 : 0, -1, failure};
        const int code = api.tell(search, assignments[i].trial, &told, error);
        if (code != 0) return code;
      }
      while (api.next_stopped(search) >= 0) {
      }
      hopper_search_rung rung;
      while (api.next_rung(search, &rung) == 1) {
      }
    }
    return 0;
  }

  static Outcome All(const hopper_search_options& options) {
    const auto& api = Api().search;
    hopper_search* search = nullptr;
    hopper_error error = {};
    Outcome outcome;
    outcome.code = api.start(&options, &search, &error);
    if (outcome.code == 0) outcome.code = Run(search, &error);
    int64_t best = 0;
    if (outcome.code == 0) outcome.code = api.best(search, &best, &error);
    auto answer = static_cast<uint64_t>(best);
    const auto add = [&](const auto& call) {
      if (outcome.code != 0) return;
      outcome = Answer(call);
      answer = answer * 31 + outcome.answer;
    };
    add([&](hopper_rows** rows, hopper_error* e) { return api.trials(search, 0, rows, e); });
    add([&](hopper_rows** rows, hopper_error* e) { return api.decisions(search, rows, e); });
    add([&](hopper_rows** rows, hopper_error* e) { return api.results(search, rows, e); });
    add([&](hopper_rows** rows, hopper_error* e) { return api.probes(search, rows, e); });
    add([&](hopper_rows** rows, hopper_error* e) { return api.importance(search, rows, e); });
    if (search != nullptr) api.free(search);
    if (outcome.code != 0 && outcome.code != HOPPER_OUT_OF_MEMORY) {
      std::printf("%s %s %s\n", error.message, error.detail, error.hint);
    }
    outcome.answer = answer;
    return outcome;
  }
};

TEST_F(Searches, OfEachAlgorithm) {
  for (const auto& [algorithm, arguments] :
       {std::pair<const char*, const char*>{"random", "num_configs=4, num_iterations=2"},
        {"sobol", "num_configs=4, num_iterations=2"},
        {"hyperband", "R=4, eta=2"},
        {"asha", "num_configs=5, R=4, eta=2"},
        {"tpe", "num_configs=14, num_iterations=1"},
        {"bohb", "R=4, eta=2"},
        {"gp", "num_configs=9, num_iterations=1"},
        {"pbt", "population=3, interval=2, generations=2"}}) {
    hopper_search_options options = Options(algorithm, arguments);
    SCOPED_TRACE(algorithm);
    ASSERT_EQ(All(options).code, 0);
    FailEachAllocation([&] { return All(options); }, ChanceCases(400));
  }
}

TEST_F(Searches, SpacesAreDescribed) {
  const hopper_search_options options = Options("random", nullptr);
  FailEachAllocation([&] {
    return Answer([&](hopper_rows** rows, hopper_error* error) {
      return Api().search.describe_space(&options, rows, error);
    });
  });
}

// A schema with every kind of column is made, written, read, described and used.
TEST_F(Faults, Schemas) {
  const char* const request =
      R"({"star": false, "label": "y", "treatments": {"plan": "one_hot", "hours": "quantile"},
      "columns": [{"name": "age", "type": "integer", "family": "integer"},
        {"name": "hours", "type": "real", "family": "number"},
        {"name": "plan", "type": "text", "family": "text"}]})";
  const char* const answers =
      R"({"columns": [{"rows": 90, "nulls": 3, "bad": 0, "quantiles": [1, 2, 3, 4, 5]},
        {"rows": 90, "nulls": 0, "bad": 0, "quantiles": [)";
  std::string statistics = answers;
  for (int i = 0; i < 1000; ++i) statistics += std::to_string(i) + (i < 999 ? "," : "");
  statistics += R"(]}, {"rows": 90, "nulls": 0, "bad": 0, "values_found": 2,
        "values": [["a", 50], ["b", 40]]}]})";
  const hopper_schema_label label = {"y", "real", {1, 0.5, 2.0, -1.0, 3.0}};
  std::string made;
  const auto make = [&](hopper_rows** rows, hopper_error* error) {
    const int code = Api().schema.make(request, statistics.c_str(), &label, rows, error);
    if (code == 0) made = (*rows)->cells[0];
    return code;
  };
  ASSERT_EQ(Answer(make).code, 0);
  constexpr int kMost = 400;
  FailEachAllocation([&] { return Answer(make); }, kMost);
  const std::string json = made;
  FailEachAllocation(
      [&] {
        return Answer([&](hopper_rows** rows, hopper_error* error) {
          hopper_data_schema* schema = nullptr;
          int code = Api().schema.open(json.c_str(), &schema, error);
          if (code == 0) code = Api().schema.describe(schema, rows, error);
          Api().schema.free(schema);
          return code;
        });
      },
      kMost);
}

// Of functions that give no error: they need no memory, or say less.
TEST_F(Faults, WhatGivesNoError) {
  const std::vector<float> x(10, 0.5F);
  FailEachAllocation([&] {
    Outcome outcome;
    uint8_t bytes[16];
    Api().row_key(7, x.data(), 40, "y", 1, bytes);
    for (const uint8_t byte : bytes) outcome.answer = outcome.answer * 31 + byte;
    Api().buffer_checksum(1, 2, 3, x.data(), 40, "y", 1, bytes);
    for (const uint8_t byte : bytes) outcome.answer = outcome.answer * 31 + byte;
    if (Api().available_processors() < 1) outcome.code = HOPPER_INTERNAL;
    // Nothing is promised of what is not known.
    if (Api().available_memory() == 0) outcome.code = HOPPER_OUT_OF_MEMORY;
    return outcome;
  });
}

}  // namespace
}  // namespace hopper
