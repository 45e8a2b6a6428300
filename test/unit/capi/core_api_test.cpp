// libhopper_core.so as the glue sees it: loaded at run time, reached through one symbol.
#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "capi/core_library.h"
#include "support/keras_models.h"

namespace hopper {
namespace {

TEST(CoreApi, AnotherVersionGetsNothing) {
  ASSERT_NE(Getter(), nullptr);
  EXPECT_EQ(Getter()(HOPPER_API_VERSION + 1), nullptr);
  EXPECT_EQ(Getter()(0), nullptr);
  const hopper_core_api* api = Getter()(HOPPER_API_VERSION);
  ASSERT_NE(api, nullptr);
  EXPECT_EQ(api->version, HOPPER_API_VERSION);
  EXPECT_EQ(api->size, static_cast<int32_t>(sizeof(hopper_core_api)));
  EXPECT_STREQ(api->library_version, HOPPER_LIBRARY_VERSION);
}

TEST(CoreApi, EveryFunctionIsThere) {
  // The table from rows_free on is function pointers only.
  const auto* words = reinterpret_cast<void* const*>(&Api().rows_free);
  const size_t n = (sizeof(hopper_core_api) - offsetof(hopper_core_api, rows_free)) / sizeof(void*);
  for (size_t i = 0; i < n; ++i) EXPECT_NE(words[i], nullptr) << "function " << i;
}

// Names in the library's dynamic symbol table that others can bind to.
std::vector<std::string> ExportedNames(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> image((std::istreambuf_iterator<char>(file)), {});
  const auto at = [&image](size_t offset, auto* out) {
    std::memcpy(out, image.data() + offset, sizeof(*out));
  };
  std::vector<std::string> names;
  Elf64_Ehdr head;
  at(0, &head);
  for (int i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr section;
    at(head.e_shoff + i * sizeof(section), &section);
    if (section.sh_type != SHT_DYNSYM) continue;
    Elf64_Shdr strings;
    at(head.e_shoff + section.sh_link * sizeof(strings), &strings);
    for (size_t s = 0; s < section.sh_size / sizeof(Elf64_Sym); ++s) {
      Elf64_Sym symbol;
      at(section.sh_offset + s * sizeof(symbol), &symbol);
      const bool binds = ELF64_ST_BIND(symbol.st_info) != STB_LOCAL;
      if (binds && symbol.st_shndx != SHN_UNDEF && symbol.st_name != 0) {
        names.emplace_back(image.data() + strings.sh_offset + symbol.st_name);
      }
    }
  }
  return names;
}

TEST(CoreApi, OneSymbolIsExported) {
  EXPECT_EQ(ExportedNames(HOPPER_CORE_LIBRARY), std::vector<std::string>{"hopper_core_api_get"});
}

TEST(CoreApi, LoadsNoTorch) {
  ASSERT_NE(Getter(), nullptr);
  const auto look = [](dl_phdr_info* info, size_t, void* found) {
    const std::string name = info->dlpi_name;
    if (name.find("torch") != std::string::npos || name.find("c10") != std::string::npos) {
      static_cast<std::vector<std::string>*>(found)->push_back(name);
    }
    return 0;
  };
  std::vector<std::string> found;
  dl_iterate_phdr(look, &found);
  EXPECT_EQ(found, std::vector<std::string>{});
}

TEST(CoreApi, LayersAreListed) {
  hopper_rows* rows = nullptr;
  hopper_error error = {};
  ASSERT_EQ(Api().list("layers", &rows, &error), HOPPER_OK) << Show(error);
  bool dense = false, flatten = false;
  for (const auto& row : Take(rows)) {
    ASSERT_EQ(row.size(), 5u);  // class, arguments, weights, description, since
    EXPECT_NE(row[3], "");
    EXPECT_NE(row[4], "NULL");
    if (row[0] == "Dense") {
      dense = row[1].find("units") != std::string::npos && row[2] == "kernel, bias";
    }
    if (row[0] == "Flatten") flatten = row[2] == "NULL";
  }
  EXPECT_TRUE(dense);
  EXPECT_TRUE(flatten);
  EXPECT_EQ(Api().list("nothing", &rows, &error), HOPPER_NOT_SUPPORTED);
  EXPECT_STREQ(error.message, "there is no list \"nothing\"");
}

// A list tells what the parser takes, and ranks as results are ranked.
TEST(CoreApi, MetricsAreListedAsTheyAreRead) {
  hopper_rows* rows = nullptr;
  hopper_error error = {};
  ASSERT_EQ(Api().list("metrics", &rows, &error), HOPPER_OK) << Show(error);
  const auto listed = Take(rows);
  EXPECT_GT(listed.size(), 40u);
  std::set<std::string> seen;
  for (const auto& row : listed) {  // name, other names, arguments, better
    ASSERT_EQ(row.size(), 4u);
    std::stringstream names(row[0] + (row[1] == "NULL" ? "" : ", " + row[1]));
    for (std::string name; std::getline(names >> std::ws, name, ',');) {
      EXPECT_TRUE(seen.insert(name).second) << name << " stands twice";
      if (row[3] == "NULL") continue;
      int32_t direction = -1;
      ASSERT_EQ(Api().metric_direction(name.c_str(), &direction, &error), HOPPER_OK) << Show(error);
      EXPECT_EQ(direction, row[3] == "larger" ? HOPPER_LARGER_IS_BETTER : HOPPER_SMALLER_IS_BETTER)
          << name;
    }
  }
  EXPECT_EQ(seen.count("auc"), 1u);
  EXPECT_EQ(seen.count("huber"), 1u);
}

TEST(CoreApi, ErrorsAreFilled) {
  hopper_rows* rows = nullptr;
  hopper_model_info info;
  hopper_error error;
  std::memset(&error, 0x55, sizeof(error));
  const std::string text = "{\"class_name\": ";
  EXPECT_EQ(Api().inspect_model(text.data(), text.size(), &info, &error), HOPPER_INVALID_TEXT);
  EXPECT_EQ(error.code, HOPPER_INVALID_TEXT);
  EXPECT_STREQ(error.message, "model architecture is not valid JSON");
  EXPECT_NE(std::strlen(error.detail), 0u);
  EXPECT_EQ(std::string(error.hint)
                .rfind("Use hopper.mlp(), the output of Keras' model.to_json(), or", 0),
            0u);
  std::memset(&error, 0x55, sizeof(error));
  EXPECT_EQ(Api().describe_model(nullptr, 0, nullptr, &rows, &error), HOPPER_INTERNAL);
  EXPECT_STREQ(error.detail, "");
  EXPECT_EQ(Api().verify_state(nullptr, 0, error.detail, nullptr, &error), HOPPER_INTERNAL);
  // Without a place for the error the code still says it.
  EXPECT_EQ(Api().generate_configs(nullptr, &rows, nullptr, nullptr), HOPPER_INTERNAL);
  EXPECT_EQ(rows, nullptr);
}

TEST(CoreApi, LongMessagesEndBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 3000; ++i) name += "\xC3\xA9";
  const std::string text = "optimizer='" + name + "',loss='mse'";
  const int32_t model = 1;
  const char* compile = text.c_str();
  const char* fit = "";
  hopper_rows* rows = nullptr;
  hopper_error error = {};
  for (const char* pad : {"", "x"}) {
    const std::string padded = "optimizer='" + (pad + name) + "',loss='mse'";
    compile = padded.c_str();
    EXPECT_EQ(Api().cross_configs(1, &model, 1, &compile, 1, &fit, &rows, &error),
              HOPPER_INVALID_PARAMETER);
    const std::string message = error.message;
    EXPECT_GE(message.size(), sizeof(error.message) - 2);
    // A whole character: a lead byte and its continuation.
    EXPECT_EQ(message.substr(message.size() - 2), "\xC3\xA9");
  }
}

TEST(CoreApi, ConfigurationsAreGeneratedAndCrossed) {
  const int32_t models[] = {1, 2};
  hopper_grid grid = {};
  grid.n_models = 2;
  grid.model_ids = models;
  grid.compile_grid =
      "{'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['adam'], 'lr': [0.1, 0.01]}]}";
  grid.fit_grid = nullptr;
  grid.max_configs = 100;
  hopper_rows* rows = nullptr;
  hopper_error error = {};
  ASSERT_EQ(Api().generate_configs(&grid, &rows, nullptr, &error), HOPPER_OK) << Show(error);
  EXPECT_EQ(Take(rows), (Table{{"1", "optimizer='Adam(lr=0.1)',loss='mse'", ""},
                               {"1", "optimizer='Adam(lr=0.01)',loss='mse'", ""},
                               {"2", "optimizer='Adam(lr=0.1)',loss='mse'", ""},
                               {"2", "optimizer='Adam(lr=0.01)',loss='mse'", ""}}));
  const int32_t existing_models[] = {2, 1};
  const char* existing_compile[] = {"loss='mse', optimizer='Adam(lr=0.1)'", nullptr};
  const char* existing_fit[] = {nullptr, nullptr};
  grid.n_existing = 2;
  grid.existing_model_ids = existing_models;
  grid.existing_compile_params = existing_compile;
  grid.existing_fit_params = existing_fit;
  ASSERT_EQ(Api().generate_configs(&grid, &rows, nullptr, &error), HOPPER_OK) << Show(error);
  EXPECT_EQ(Take(rows).size(), 3u);
  grid.max_configs = 3;
  EXPECT_EQ(Api().generate_configs(&grid, &rows, nullptr, &error), HOPPER_LIMIT_EXCEEDED);
  EXPECT_STREQ(error.message, "grid has 4 combinations");
  grid.max_configs = 100;
  grid.random = 1;
  grid.num_configs = 2;
  grid.has_random_state = 1;
  grid.random_state = 0;
  ASSERT_EQ(Api().generate_configs(&grid, &rows, nullptr, &error), HOPPER_OK) << Show(error);
  EXPECT_EQ(Take(rows).size(), 2u);

  const char* compile[] = {"optimizer='sgd',loss='mse'", "loss='mse', optimizer=sgd"};
  const char* fit[] = {"epochs=1", "epochs = 1", nullptr};
  ASSERT_EQ(Api().cross_configs(2, models, 2, compile, 3, fit, &rows, &error), HOPPER_OK);
  EXPECT_EQ(Take(rows), (Table{{"1", "optimizer='sgd',loss='mse'", "epochs=1"},
                               {"1", "optimizer='sgd',loss='mse'", ""},
                               {"2", "optimizer='sgd',loss='mse'", "epochs=1"},
                               {"2", "optimizer='sgd',loss='mse'", ""}}));
}

TEST(CoreApi, CheckConfigsNamesEveryProblem) {
  const std::string json = Architecture("mlp");
  hopper_config configs[2] = {};
  configs[0].mst_key = 7;
  configs[0].model_arch = json.c_str();
  configs[0].model_arch_size = json.size();
  configs[0].compile_params =
      "optimizer='Adam(lr_rate=0.1)',loss='categorical_crossentropy',metrics=['acuracy']";
  configs[0].fit_params = "steps_per_epoch=3";
  configs[1] = configs[0];
  configs[1].mst_key = 8;
  configs[1].compile_params = "optimizer='adam',loss='categorical_crossentropy'";
  configs[1].fit_params = nullptr;
  hopper_rows* rows = nullptr;
  hopper_error error = {};
  ASSERT_EQ(Api().check_configs(configs, 2, nullptr, nullptr, &rows, &error), HOPPER_OK)
      << Show(error);
  EXPECT_EQ(Take(rows),
            (Table{{"7", "error", "1", "optimizer \"Adam\" has no argument \"lr_rate\"", "NULL",
                    "Perhaps you meant \"learning_rate\"."},
                   {"7", "error", "1", "metric \"acuracy\" is not known", "NULL",
                    "Perhaps you meant \"accuracy\"."},
                   {"7", "warning", "1", "fit parameter \"steps_per_epoch\" has no effect",
                    "A model trains on every batch of a partition.", "NULL"}}));
}

TEST(CoreApi, Packing) {
  const hopper_core_api& api = Api();
  EXPECT_EQ(api.type_size(HOPPER_UINT8), 1);
  EXPECT_EQ(api.type_size(HOPPER_FLOAT64), 8);
  EXPECT_EQ(api.type_size(99), 0);
  // Unaligned on purpose.
  char bytes[1 + 3 * sizeof(float)];
  const float values[3] = {1, 2, std::numeric_limits<float>::infinity()};
  std::memcpy(bytes + 1, values, sizeof(values));
  EXPECT_EQ(api.find_non_finite(HOPPER_FLOAT32, bytes + 1, 2), -1);
  EXPECT_EQ(api.find_non_finite(HOPPER_FLOAT32, bytes + 1, 3), 2);

  uint8_t one[16], two[16];
  api.row_key(1, "abc", 3, "d", 1, one);
  api.row_key(1, "abc", 3, "d", 1, two);
  EXPECT_EQ(std::memcmp(one, two, 16), 0);
  api.row_key(1, "abd", 3, "d", 1, two);
  EXPECT_NE(std::memcmp(one, two, 16), 0);
  api.row_key(1, "abc", 3, "e", 1, two);
  EXPECT_NE(std::memcmp(one, two, 16), 0);
  api.row_key(2, "abc", 3, "d", 1, two);
  EXPECT_NE(std::memcmp(one, two, 16), 0);

  EXPECT_EQ(api.default_partitions(1000, 100), 4);
  EXPECT_EQ(api.default_partitions(1000, 3), 3);
  EXPECT_EQ(api.default_partitions(0, 0), 1);
  EXPECT_EQ(api.default_partitions(int64_t{256} << 30, 1000000), 1024);
  int64_t first = -1, count = -1, next = 0;
  for (int p = 0; p < 4; ++p) {
    api.partition_range(10, 4, p, &first, &count);
    EXPECT_EQ(first, next);
    EXPECT_TRUE(count == 2 || count == 3);
    next = first + count;
  }
  EXPECT_EQ(next, 10);
  api.partition_range(10, 4, 4, &first, &count);
  EXPECT_EQ(count, 0);

  api.buffer_checksum(0, 1, 2, "abcd", 4, "e", 1, one);
  api.buffer_checksum(0, 1, 2, "abcd", 4, "e", 1, two);
  EXPECT_EQ(std::memcmp(one, two, 16), 0);
  api.buffer_checksum(0, 1, 2, "abce", 4, "e", 1, two);
  EXPECT_NE(std::memcmp(one, two, 16), 0);
  api.buffer_checksum(0, 2, 2, "abcd", 4, "e", 1, two);
  EXPECT_NE(std::memcmp(one, two, 16), 0);
}

TEST(CoreApi, FirstPartitions) {
  const int32_t starts[] = {0, 3, 5};
  const auto first = [&](int32_t key) {
    hopper_error error;
    int32_t partition = -1;
    EXPECT_EQ(Api().first_partition(starts, 3, key, &partition, &error), 0) << error.message;
    return partition;
  };
  EXPECT_EQ(first(1), 0);
  EXPECT_EQ(first(3), 5);
  EXPECT_EQ(first(4), 0);
  EXPECT_EQ(first(0), 5);
  EXPECT_EQ(first(-1), 3);
  EXPECT_EQ(first(std::numeric_limits<int32_t>::max()), 0);
  EXPECT_EQ(first(std::numeric_limits<int32_t>::min()), 0);
  hopper_error error;
  int32_t partition = 0;
  const int32_t wrong[] = {1, 0};
  EXPECT_NE(Api().first_partition(starts, 0, 1, &partition, &error), 0);
  EXPECT_NE(Api().first_partition(wrong, 2, 1, &partition, &error), 0);
}

// A sentence for the first thing that is not alike, in this order; none where a model takes the
// data.
TEST(CoreApi, DataDifference) {
  const char* columns[] = {"a", "b"};
  const char* turned[] = {"b", "a"};
  const char* classes[] = {nullptr, "cat"};
  const char* others[] = {nullptr, "dog"};
  hopper_input inputs[2] = {{"image", HOPPER_UINT8, 1, {8}}, {"age", HOPPER_INT32, 1, {1}}};
  hopper_output output = {};
  output.name = "price";
  output.column = "price";
  output.kind = HOPPER_LABEL_VALUE;
  hopper_data_desc desc = {};
  desc.x_rank = 1;
  desc.x_shape[0] = 2;
  desc.y_kind = HOPPER_LABEL_CLASS;
  desc.num_classes = 2;
  desc.n_class_values = 2;
  desc.class_values = classes;
  desc.normalizing_const = 255.0;
  hopper_data_desc its = desc;
  hopper_compared_data packed = {"p", &its, 2, columns};
  const hopper_compared_data trained = {"t", &desc, 2, columns};
  const auto difference = [&](const char* of_schemas = nullptr) {
    hopper_rows* rows = nullptr;
    hopper_error error = {};
    EXPECT_EQ(Api().data_difference(&packed, &trained, of_schemas, &rows, &error), 0);
    const std::string found = rows->n_rows == 0 ? "" : rows->cells[0];
    Api().rows_free(rows);
    return found;
  };
  EXPECT_EQ(difference(), "");
  its.normalizing_const = 1.0;
  EXPECT_EQ(difference(), "Its normalizing constant is 1, that of \"t\" is 255.");
  its.class_values = others;
  EXPECT_EQ(difference(), "Class 2 is \"dog\" in \"p\" but \"cat\" in \"t\".");
  its.n_class_values = 1;
  EXPECT_EQ(difference(), "Class 2 is unnamed in \"p\" but \"cat\" in \"t\".");
  its.y_kind = HOPPER_LABEL_VALUE;
  EXPECT_EQ(difference(), "Its labels are of another kind than those of \"t\".");
  packed.x_columns = turned;
  EXPECT_EQ(difference(), "Its features are \"b\", \"a\", those of \"t\" \"a\", \"b\".");
  packed.n_x_columns = 1;  // an array goes by any name
  EXPECT_EQ(difference(), "Its labels are of another kind than those of \"t\".");
  its.x_rank = 0;
  EXPECT_EQ(difference(), "Its examples have shape a number, those of \"t\" 2.");
  EXPECT_EQ(difference("Schemas differ."), "Schemas differ.");
  its.n_outputs = desc.n_outputs = 1;
  its.outputs = &output;
  hopper_output scaled = output;
  scaled.scale = {1, 0.5, 2.0, -1.0, 1.0};
  desc.outputs = &scaled;
  EXPECT_EQ(difference("Schemas differ."),
            "Labels of the label are scaled otherwise in \"p\" than in \"t\".");
  its.weighted = 1;
  EXPECT_EQ(difference(), "\"p\" goes with weights of rows, \"t\" has none.");
  its.n_inputs = 2;
  its.inputs = inputs;
  EXPECT_EQ(difference(), "\"p\" has 2 inputs, \"t\" has 1.");
  EXPECT_EQ(Api().data_difference(nullptr, &trained, nullptr, nullptr, nullptr), HOPPER_INTERNAL);
}

TEST(CoreApi, NearestName) {
  const char* names[] = {"id", "label", "image"};
  EXPECT_EQ(Api().nearest_name("labl", 3, names), 1);
  EXPECT_EQ(Api().nearest_name("quux", 3, names), -1);
  EXPECT_EQ(Api().nearest_name(nullptr, 3, names), -1);
  EXPECT_EQ(Api().nearest_name("labl", 0, nullptr), -1);
}

TEST(CoreApi, TextsAreCountedMostFrequentFirst) {
  const char* texts[] = {"a", "b", "c", "b", "c", "b"};
  hopper_error error = {};
  hopper_rows* rows = nullptr;
  ASSERT_EQ(Api().count_texts(6, texts, &rows, &error), HOPPER_OK) << Show(error);
  EXPECT_EQ(Take(rows), (Table{{"b (3), c (2), a (1)"}}));
  ASSERT_EQ(Api().count_texts(3, texts, &rows, &error), HOPPER_OK) << Show(error);
  EXPECT_EQ(Take(rows), (Table{{"a (1), b (1), c (1)"}}));
  ASSERT_EQ(Api().count_texts(1, texts, &rows, &error), HOPPER_OK) << Show(error);
  EXPECT_EQ(Take(rows), (Table{{"a"}}));
  const char* many[] = {"a", "b", "c", "d", "e", "f", "f"};
  ASSERT_EQ(Api().count_texts(7, many, &rows, &error), HOPPER_OK) << Show(error);
  EXPECT_EQ(Take(rows), (Table{{"f (2), a (1), b (1), c (1), d (1), and others"}}));
  ASSERT_EQ(Api().count_texts(0, nullptr, &rows, &error), HOPPER_OK) << Show(error);
  EXPECT_EQ(Take(rows), (Table{{""}}));
}

TEST(CoreApi, SparklinesKeepFirstAndLastValue) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double huge = std::numeric_limits<double>::max();
  const double values[] = {0, 1, nan, 3, 7};
  const double extremes[] = {-huge, 0, huge};
  const auto drawn = [](const double* numbers, int32_t n, int32_t width) {
    hopper_error error = {};
    hopper_rows* rows = nullptr;
    EXPECT_EQ(Api().sparkline(numbers, n, width, 0, &rows, &error), HOPPER_OK) << Show(error);
    return Take(rows);
  };
  EXPECT_EQ(drawn(values, 5, 30), (Table{{"_. ~#"}}));
  EXPECT_EQ(drawn(values, 5, 3), (Table{{"_ #"}}));
  EXPECT_EQ(drawn(values, 5, 1), (Table{{"#"}}));
  EXPECT_EQ(drawn(extremes, 3, 3), (Table{{"_=#"}}));
  EXPECT_EQ(drawn(values, 1, 3), (Table{{"~"}}));
  EXPECT_EQ(drawn(nullptr, 0, 3), (Table{{""}}));
}

TEST(CoreApi, DirectionsOfMetrics) {
  hopper_error error = {};
  int32_t direction = 7;
  EXPECT_EQ(Api().metric_direction("AUC(curve='PR')", &direction, &error), 0);
  EXPECT_EQ(direction, HOPPER_LARGER_IS_BETTER);
  EXPECT_EQ(Api().metric_direction("huber", &direction, &error), 0);
  EXPECT_EQ(direction, HOPPER_SMALLER_IS_BETTER);
  EXPECT_EQ(Api().metric_direction("acuracy", &direction, &error), HOPPER_INVALID_PARAMETER);
  EXPECT_STREQ(error.message, "metric \"acuracy\" is not known");
  EXPECT_EQ(Api().metric_direction(nullptr, &direction, &error), HOPPER_INTERNAL);
}

TEST(CoreApi, KeepsTheBestWhereItIsAskedFor) {
  const auto keeps = [](const char* fit_params) {
    hopper_error error = {};
    int32_t kept = 7;
    EXPECT_EQ(Api().keeps_best(fit_params, &kept, &error), HOPPER_OK) << Show(error);
    return kept;
  };
  EXPECT_EQ(keeps("restore_best=True"), 1);
  EXPECT_EQ(keeps("callbacks=[EarlyStopping(patience=3, restore_best_weights=True)]"), 1);
  EXPECT_EQ(keeps("patience=3, restore_best=False"), 0);
  EXPECT_EQ(keeps("callbacks=[EarlyStopping(patience=3, restore_best_weights=False)]"), 0);
  EXPECT_EQ(keeps("batch_size=8"), 0);
  EXPECT_EQ(keeps("damaged ("), 0);
  EXPECT_EQ(keeps(nullptr), 0);
}

TEST(CoreApi, RanksConfigurations) {
  hopper_error error = {};
  hopper_rows* rows = nullptr;
  const char* texts[] = {"loss='mse', optimizer='sgd', metrics=['FalsePositives', 'mae']",
                         "loss='mae', optimizer='sgd', metrics=['mae']"};
  hopper_ranked_config configs[2] = {};
  for (int i = 0; i < 2; ++i) configs[i].compile_params = texts[i];
  ASSERT_EQ(Api().rank_configs(2, configs, nullptr, nullptr, 0, &rows, &error), HOPPER_OK)
      << Show(error);
  ASSERT_EQ(rows->n_rows, 2);
  ASSERT_EQ(rows->n_columns, 5);
  const std::vector<std::string> cells(rows->cells, rows->cells + 10);
  EXPECT_EQ(cells, (std::vector<std::string>{"2", "-1", "1", "mae", "0",  //
                                             "1", "-1", "1", "mae", "0"}));
  Api().rows_free(rows);
  EXPECT_EQ(Api().rank_configs(2, configs, nullptr, "loss", 0, &rows, &error),
            HOPPER_INVALID_PARAMETER);
  ASSERT_EQ(Api().rank_configs(2, configs, nullptr, "loss", 1, &rows, &error), HOPPER_OK)
      << Show(error);
  EXPECT_STREQ(rows->cells[3], "mae");
  Api().rows_free(rows);
}

TEST(CoreApi, TheBestModelIsTheFirstOfALeaderboard) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  struct Model {
    std::optional<double> training, validation;
    double loss = 1;
  };
  const auto best = [](const std::vector<Model>& models, int32_t direction) {
    std::vector<hopper_measured> measured;
    for (const Model& model : models) {
      measured.push_back({{model.training.has_value(), model.validation.has_value()},
                          {model.training.value_or(0), model.validation.value_or(0)},
                          {1, model.validation.has_value()},
                          {model.loss, model.loss}});
    }
    hopper_error error = {};
    int32_t place = -1;
    EXPECT_EQ(Api().best_model(static_cast<int32_t>(measured.size()), measured.data(), direction,
                               &place, &error),
              HOPPER_OK)
        << Show(error);
    return place;
  };
  const auto up = HOPPER_LARGER_IS_BETTER;
  EXPECT_EQ(best({{0.7, {}}, {0.9, {}}, {0.8, {}}}, up), 1);
  EXPECT_EQ(best({{0.7, {}}, {0.9, {}}, {0.8, {}}}, HOPPER_SMALLER_IS_BETTER), 0);
  // Validation decides, and training values beside it do not.
  EXPECT_EQ(best({{0.9, 0.5}, {0.7, 0.6}}, up), 1);
  EXPECT_EQ(best({{0.99, {}}, {0.7, 0.1}}, up), 1);
  // NaN is the worst that is known.
  EXPECT_EQ(best({{0.9, nan}, {0.7, 0.1}}, up), 1);
  EXPECT_EQ(best({{0.99, {}}, {0.7, nan}}, up), 1);
  EXPECT_EQ(best({{nan, {}}, {0.1, {}}}, HOPPER_SMALLER_IS_BETTER), 1);
  // Of equal ones the loss decides, then the order.
  EXPECT_EQ(best({{0.9, 0.5, 2}, {0.7, 0.5, 1}}, up), 1);
  EXPECT_EQ(best({{0.7, 0.5}, {0.9, 0.5}}, up), 0);
  hopper_error error = {};
  int32_t place = 0;
  EXPECT_EQ(Api().best_model(0, nullptr, up, &place, &error), HOPPER_INTERNAL);
}

// What goes over something as long as a user likes asks between two elements.
TEST(CoreApi, LongCallsEndWhenTheyAreCancelled) {
  static int asked = 0;
  std::vector<std::string> compile;
  for (int i = 0; i < 1000; ++i) compile.push_back("loss='mine" + std::to_string(i) + "'");
  std::vector<hopper_ranked_config> ranked(compile.size());
  for (size_t i = 0; i < compile.size(); ++i) ranked[i].compile_params = compile[i].c_str();
  std::string metrics = "optimizer='sgd', loss='mse', metrics=[";
  for (int i = 0; i < 1000; ++i) metrics += "'nobody" + std::to_string(i) + "',";
  metrics += "]";
  const char* long_text = metrics.c_str();
  const char* fit = "batch_size=8";
  const int32_t model = 1;
  hopper_grid grid = {};
  grid.n_models = 1;
  grid.model_ids = &model;
  grid.compile_grid = "{'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD']}]}";
  grid.fit_grid = "{'batch_size': [1, 2, 'linear']}";
  grid.random = 1;
  grid.num_configs = 100;
  std::string layers = KerasDense("d", 1, "linear", R"("batch_input_shape": [null, 1])");
  const std::string deep = KerasSequential(std::vector<std::string>(500, layers));
  hopper_rows* rows = nullptr;
  const std::vector<std::pair<const char*, std::function<int(hopper_error*)>>> calls = {
      {"rank_configs",
       [&](hopper_error* e) {
         return Api().rank_configs(1000, ranked.data(), nullptr, nullptr, 0, &rows, e);
       }},
      {"cross_configs",
       [&](hopper_error* e) {
         return Api().cross_configs(1, &model, 1, &long_text, 1, &fit, &rows, e);
       }},
      {"generate_configs",
       [&](hopper_error* e) { return Api().generate_configs(&grid, &rows, nullptr, e); }},
      {"safetensors_header",
       [&](hopper_error* e) {
         return Api().safetensors_header(deep.data(), deep.size(), 0, nullptr, nullptr, -1, &rows,
                                         e);
       }},
  };
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    asked = 0;
    hopper_error error = {};
    Api().ask_for_cancel([] { return ++asked > 100 ? 1 : 0; });
    EXPECT_EQ(call(&error), HOPPER_CANCELLED) << Show(error);
    EXPECT_EQ(error.code, HOPPER_CANCELLED);
    EXPECT_EQ(asked, 101);  // and is not asked again
    Api().ask_for_cancel(nullptr);
  }
}

TEST(CoreApi, DamagedStatesAreRefused) {
  const std::vector<uint8_t> image(100, 7);
  char digest[33] = "";
  hopper_error error = {};
  int64_t iterations = 0;
  EXPECT_EQ(Api().verify_state(image.data(), image.size(), digest, &iterations, &error),
            HOPPER_CORRUPT);
  EXPECT_NE(std::strlen(error.message), 0u);
}

}  // namespace
}  // namespace hopper
