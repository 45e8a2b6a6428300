#include "schema/schema.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "schema/model_fit.h"
#include "schema/treatments/quantile.h"

namespace hopper {
namespace {

using nlohmann::json;

// What scikit-learn and pytabkit make of columns (test/baseline/generate_schema.py).
const json& Baseline() {
  static const json table = [] {
    std::ifstream file(std::string(HOPPER_TEST_DIR) + "/baseline/schema.json");
    return json::parse(file);
  }();
  return table;
}

json ColumnOf(const std::string& name, const std::string& family) {
  return {{"name", name}, {"type", family}, {"family", family}};
}

json RequestOf(const json& columns, const json& treatments, bool star = false) {
  return {{"source", "people"}, {"columns", columns}, {"treatments", treatments}, {"star", star}};
}

Schema MakeOf(const json& request, const json& statistics, std::vector<Note>* notes = nullptr) {
  std::vector<Note> unread;
  return Schema::Make(Schema::ReadRequest(request.dump()),
                      Schema::ReadStatistics(json({{"columns", statistics}}).dump()),
                      notes != nullptr ? notes : &unread);
}

std::string RefusalOf(const json& request, const json& statistics) {
  try {
    MakeOf(request, statistics);
  } catch (const Error& e) {
    return e.problem().message + "|" + e.problem().detail + "|" + e.problem().hint;
  }
  return "";
}

// Lists of one element, which braces alone would take for the element.
template <typename... T>
json List(T... elements) {
  return json::array({json(std::move(elements))...});
}

json NumberStatistics(std::vector<double> quartiles, int64_t rows = 100, int64_t nulls = 0) {
  return {{"rows", rows}, {"nulls", nulls}, {"bad", 0}, {"quantiles", std::move(quartiles)}};
}

json ValueStatistics(const json& values, int64_t rows, int64_t nulls = 0) {
  return {{"rows", rows},
          {"nulls", nulls},
          {"bad", 0},
          {"values_found", values.size()},
          {"values", values}};
}

Cell CellOf(const json& value, const std::string& family) {
  Cell cell;
  cell.is_null = value.is_null();
  if (cell.is_null) return cell;
  if (family == "text") {
    cell.text = value.get_ref<const std::string&>();
  } else {
    cell.number = value.get<double>();
  }
  return cell;
}

std::vector<float> EncodeOf(const Schema& schema, const std::vector<Cell>& cells) {
  std::vector<float> row(static_cast<size_t>(schema.width()));
  EXPECT_FALSE(schema.Encode(cells.data(), row.data()));
  return row;
}

TEST(Schema, TreatmentsAreTheirsOfOtherTools) {
  const json& cases = Baseline()["cases"];
  ASSERT_GT(cases.size(), 15U);
  for (const json& each : cases) {
    SCOPED_TRACE(each["name"].get<std::string>() + " " + each["treatment"].get<std::string>());
    const std::string family = each["family"];
    json options = each.value("options", json::object());
    options["treatment"] = each["treatment"];
    const Schema made =
        MakeOf(RequestOf(List(ColumnOf("x", family)), {{"x", options}}), List(each["statistics"]));
    // What is stored and read again encodes alike.
    const Schema schema = Schema::Parse(made.ToJson());
    EXPECT_EQ(schema.ToJson(), made.ToJson());
    for (size_t i = 0; i < each["given"].size(); ++i) {
      const std::vector<float> row = EncodeOf(schema, {CellOf(each["given"][i], family)});
      EXPECT_EQ(row, EncodeOf(made, {CellOf(each["given"][i], family)}));
      const auto expected = each["expected"][i].get<std::vector<double>>();
      ASSERT_EQ(row.size(), expected.size());
      for (size_t k = 0; k < row.size(); ++k) {
        EXPECT_NEAR(row[k], expected[k], 2e-6 * std::max(1.0, std::fabs(expected[k])))
            << each["given"][i];
      }
    }
  }
}

TEST(Schema, NormalQuantilesAreExact) {
  // scipy.stats.norm.ppf
  EXPECT_NEAR(NormalQuantile(1e-7), -5.1993375821928165, 1e-13);
  EXPECT_NEAR(NormalQuantile(0.02), -2.053748910631823, 1e-13);
  EXPECT_NEAR(NormalQuantile(0.5), 0.0, 1e-15);
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-13);
}

TEST(Schema, DefaultsGoByTypeAndNumberOfValues) {
  json few = json::array();
  json many = json::array();
  for (int i = 0; i < 9; ++i) few.push_back({std::string(1, static_cast<char>('a' + i)), 20});
  for (int i = 0; i < 30; ++i) many.push_back({"v" + std::to_string(i), 20 + i});
  const Schema schema =
      MakeOf(RequestOf({ColumnOf("n", "number"), ColumnOf("i", "integer"), ColumnOf("b", "boolean"),
                        ColumnOf("d", "date"), ColumnOf("few", "text"), ColumnOf("many", "text"),
                        ColumnOf("a", "numbers")},
                       nullptr),
             {NumberStatistics({0, 1, 2, 3, 9}),
              NumberStatistics({0, 1, 2, 3, 9}, 100, 7),
              NumberStatistics({0, 0, 1, 1, 1}),
              NumberStatistics({0, 1, 2, 3, 9}),
              ValueStatistics(few, 180),
              ValueStatistics(many, 1035),
              {{"rows", 100}, {"nulls", 0}, {"least_length", 3}, {"largest_length", 3}}});
  std::vector<std::string> treatments;
  for (const Column& column : schema.columns()) treatments.emplace_back(column.treatment->Name());
  EXPECT_EQ(treatments, (std::vector<std::string>{"robust", "robust", "none", "calendar", "one_hot",
                                                  "index", "array"}));
  // A NULL in training makes an indicator, and date has no places in the day.
  EXPECT_EQ(schema.columns()[1].slots.size(), 2U);
  EXPECT_EQ(schema.columns()[1].slots[1].kind, SlotKind::kIndicator);
  EXPECT_EQ(schema.columns()[3].slots.size(), 5U);
  EXPECT_EQ(schema.columns()[5].slots[0].cardinality, 30);
  EXPECT_EQ(schema.width(), 1 + 2 + 1 + 5 + 9 + 1 + 3);
}

TEST(Schema, NullIsTheMedianAndAnIndicatorOrRefused) {
  const Schema schema =
      MakeOf(RequestOf({ColumnOf("a", "number"), ColumnOf("b", "number"), ColumnOf("c", "number")},
                       {{"b", {{"null", "refuse"}}}}),
             {NumberStatistics({0, 10, 20, 30, 40}, 100, 3), NumberStatistics({0, 1, 2, 3, 4}),
              NumberStatistics({0, 1, 2, 3, 4})});
  std::vector<Cell> cells(3);
  cells[0].is_null = true;
  cells[1].number = 2.0;
  // Training rows of "c" have no NULL: the median is all that there is.
  cells[2].is_null = true;
  EXPECT_EQ(EncodeOf(schema, cells), (std::vector<float>{0.0F, 1.0F, 0.0F, 0.0F}));
  cells[0] = Cell();
  cells[1].is_null = true;
  float row[4];
  const EncodeProblem problem = schema.Encode(cells.data(), row);
  EXPECT_EQ(problem.kind, EncodeProblem::Kind::kNull);
  EXPECT_EQ(problem.column, 1);
  cells[1] = Cell();
  cells[1].number = INFINITY;
  EXPECT_EQ(schema.Encode(cells.data(), row).kind, EncodeProblem::Kind::kNotFinite);
}

TEST(Schema, TheRarestValueSharesItsIndexWithUnseenOnes) {
  const json values = List(List("a", 50), List("b", 30), List("c", 20));
  const Schema schema = MakeOf(RequestOf(List(ColumnOf("x", "text")), {{"x", "index"}}),
                               List(ValueStatistics(values, 100)));
  const auto index = [&](const char* text) {
    Cell cell;
    cell.text = text;
    return EncodeOf(schema, {cell})[0];
  };
  EXPECT_EQ(index("a"), 1.0F);
  EXPECT_EQ(index("b"), 2.0F);
  EXPECT_EQ(index("c"), 0.0F);
  EXPECT_EQ(index("never"), 0.0F);
  EXPECT_EQ(schema.columns()[0].slots[0].cardinality, 3);
}

// Which words of a text there are is asked in SQL: translate(text, letters, stand-ins), split at '
// '.
std::vector<std::string> TranslatedWords(const std::string& text, const Questions& questions) {
  std::vector<std::string> words(1);
  for (const char letter : text) {
    const size_t place = questions.letters.find(letter);
    if (place == std::string::npos) {
      words.back() += letter;
    } else if (place < questions.stand_ins.size()) {
      if (questions.stand_ins[place] == ' ') {
        words.emplace_back();
      } else {
        words.back() += questions.stand_ins[place];
      }
    }
  }
  words.erase(std::remove(words.begin(), words.end(), ""), words.end());
  return words;
}

// What keras.layers.TextVectorization makes of texts (test/baseline/generate_keras_words.py).
TEST(Schema, WordsHaveTheIdsOfKeras) {
  std::ifstream file(std::string(HOPPER_TEST_DIR) + "/baseline/keras_words.json");
  const json cases = json::parse(file)["cases"];
  ASSERT_GE(cases.size(), 4U);
  for (const json& each : cases) {
    SCOPED_TRACE(each["name"].get<std::string>());
    const json request =
        RequestOf(List(ColumnOf("x", "text")), {{"x",
                                                 {{"treatment", "words"},
                                                  {"length", each["length"]},
                                                  {"vocabulary", each["vocabulary"]},
                                                  {"min_frequency", 1}}}});
    std::map<std::string, int64_t> counted;
    int64_t n_words = 0;
    const Questions questions = Schema::ReadRequest(request.dump()).columns[0].questions;
    EXPECT_EQ(questions.least_rows, 1);
    for (const json& text : each["train"]) {
      for (const std::string& word : TranslatedWords(text.get<std::string>(), questions)) {
        ++counted[word];
        ++n_words;
      }
    }
    json words = json::array();
    for (const auto& [word, n] : counted) words.push_back(List(word, n));
    EXPECT_EQ(words, each["words"]);
    json statistics = ValueStatistics(words, static_cast<int64_t>(each["train"].size()));
    statistics["words"] = n_words;
    const Schema schema = Schema::Parse(MakeOf(request, List(statistics)).ToJson());
    EXPECT_EQ(json(schema.columns()[0].values), each["vocabulary_found"]);
    EXPECT_EQ(schema.columns()[0].slots[0].cardinality, 2 + each["vocabulary_found"].size());
    for (size_t i = 0; i < each["given"].size(); ++i) {
      EXPECT_EQ(EncodeOf(schema, {CellOf(each["given"][i], "text")}),
                each["ids"][i].get<std::vector<float>>())
          << each["given"][i];
    }
    Cell null;
    null.is_null = true;
    EXPECT_EQ(EncodeOf(schema, {null}), std::vector<float>(each["length"].get<size_t>(), 0.0F));
  }
}

// What Keras' StringLookup, IntegerLookup and TextVectorization with vocabularies make of values.
TEST(Schema, GivenValuesHaveTheIdsOfKeras) {
  std::ifstream file(std::string(HOPPER_TEST_DIR) + "/baseline/keras_words.json");
  const json cases = json::parse(file)["lookups"];
  ASSERT_GE(cases.size(), 20U);
  for (const json& each : cases) {
    SCOPED_TRACE(each["treatment"].dump());
    const std::string family = each["family"];
    // The rows hold one value of the vocabulary and no others.
    json statistics = ValueStatistics(List(List("basic", 30)), 30);
    statistics["words"] = 30;
    const Schema schema = Schema::Parse(
        MakeOf(RequestOf(List(ColumnOf("x", family)), {{"x", each["treatment"]}}), List(statistics))
            .ToJson());
    for (size_t i = 0; i < each["given"].size(); ++i) {
      EXPECT_EQ(EncodeOf(schema, {CellOf(each["given"][i], "text")}),
                each["ids"][i].get<std::vector<float>>())
          << each["given"][i];
    }
    // NULL, of which Keras knows nothing, is the mask, or else as an unknown value or an empty
    // text.
    Cell null;
    null.is_null = true;
    const json& treatment = each["treatment"];
    if (treatment["treatment"] != "hash" || treatment.contains("mask")) {
      const bool refuses = treatment.value("unknown", 1) == 0;
      EXPECT_EQ(EncodeOf(schema, {null})[0], refuses ? -1.0F : 0.0F);
    } else {
      EXPECT_EQ(EncodeOf(schema, {null}), EncodeOf(schema, {CellOf("", "text")}));
    }
  }
}

TEST(Schema, GivenValuesThatCannotBeAreRefused) {
  for (const json& treatment :
       {json({{"treatment", "index"}, {"values", {"a", "a"}}}),
        json({{"treatment", "index"}, {"values", json::array()}}),
        json({{"treatment", "index"}, {"values", {"a", 1.5}}}),
        json({{"treatment", "index"}, {"values", "a"}}), json({{"values", {"a"}}}),
        json({{"treatment", "index"}, {"values", {"a", std::string("b\0", 2)}}}),
        json({{"treatment", "words"}, {"length", 2}, {"split", "none"}}),
        json({{"treatment", "words"}, {"length", 2}, {"split", "character"}}),
        json({{"treatment", "words"}, {"length", 2}, {"standardize", 1}}),
        json({{"treatment", "hash"}}), json({{"treatment", "hash"}, {"bins", 0}}),
        json({{"treatment", "hash"}, {"bins", 9}, {"values", {"a"}}}),
        json({{"treatment", "hash"}, {"bins", 9}, {"salt", {1, -2}}}),
        json({{"treatment", "hash"}, {"bins", 9}, {"unknown", 2}}),
        json({{"treatment", "index"}, {"bins", 9}}),
        json({{"treatment", "index"}, {"values", {"a"}}, {"unknown", -1}}),
        json({{"treatment", "index"}, {"values", {"a"}}, {"mask", 1.5}}),
        json({{"treatment", "one_hot"}, {"values", {"a"}}, {"mask", "b"}})}) {
    EXPECT_THROW(
        Schema::ReadRequest(RequestOf(List(ColumnOf("x", "text")), {{"x", treatment}}).dump()),
        Error)
        << treatment;
  }
}

TEST(Schema, WhatFollowsFromARefusedOptionIsNotToldAgain) {
  const auto refusal = [](const char* family, const json& treatment) {
    return RefusalOf(RequestOf(List(ColumnOf("x", family)), {{"x", treatment}}), json::array());
  };
  EXPECT_EQ(
      refusal("number", {{"treatment", "index"}, {"values", {"1"}}, {"unknown", 2}}),
      "the treatment of column \"x\" is \"index\", which is not for values of type number||"
      "Cast it to integer or text in a view, or use \"robust\", \"standardize\", \"quantile\", "
      "\"log\", \"none\" or \"drop\".");
  EXPECT_EQ(refusal("text", {{"treatment", "hash"}, {"bins", 1 << 25}}),
            "the treatment of column \"x\" has \"bins\" that is no whole number from 1 to "
            "16777216||");
}

TEST(Schema, AModelWhoseColumnsCannotBePreparedIsRefused) {
  const auto problem = [](const json& treatment) {
    const auto found = ColumnsProblem(
        {{"age", 1, R"({"treatment":"none"})", false}, {"plan", 1, treatment.dump(), true}});
    return found ? found->message + "|" + found->detail : "";
  };
  EXPECT_EQ(problem({{"treatment", "index"}, {"values", {"a", "b"}}, {"mask", ""}}), "");
  EXPECT_EQ(problem({{"treatment", "index"}, {"values", {"a", "a"}}}),
            "input \"plan\" of the model cannot be prepared as its layers ask|the treatment of "
            "column \"plan\" has \"values\" that are no list of different texts or whole numbers.");
  EXPECT_NE(problem({{"treatment", "words"}, {"length", 9}, {"values", json::array()}}), "");
  EXPECT_NE(problem({{"treatment", "words"}, {"length", 1 << 29}, {"values", {"a"}}}), "");
  EXPECT_NE(problem({{"treatment", "hash"}, {"bins", 1 << 25}}), "");
}

TEST(Schema, WordsNeedALengthAndMayBeRareOnes) {
  const auto request = [](const json& treatment) {
    return RequestOf(List(ColumnOf("note", "text")), {{"note", treatment}});
  };
  json statistics = ValueStatistics(List(List("a", 3), List("b", 3)), 9);
  statistics["words"] = 8;
  const std::string lacks = RefusalOf(request("words"), List(statistics));
  EXPECT_NE(lacks.find("column \"note\" lacks \"length\""), std::string::npos) << lacks;
  for (const json& length : {json(0), json(-1), json(1e9), json("9"), json(2.5)}) {
    EXPECT_NE(RefusalOf(request({{"treatment", "words"}, {"length", length}}), List(statistics)),
              "")
        << length;
  }
  const std::string none = RefusalOf(
      request({{"treatment", "words"}, {"length", 2}, {"min_frequency", 4}}), List(statistics));
  EXPECT_NE(none.find("holds no word often enough"), std::string::npos) << none;
  // Of equally frequent words the last comes first, as in Keras.
  const Schema schema =
      MakeOf(request({{"treatment", "words"}, {"length", 2}, {"vocabulary", 3}}), List(statistics));
  EXPECT_EQ(schema.columns()[0].values, std::vector<std::string>{"b"});
  EXPECT_EQ(schema.columns()[0].n_other, 5);
  const Schema refuses = MakeOf(
      request({{"treatment", "words"}, {"length", 2}, {"null", "refuse"}}), List(statistics));
  Cell null;
  null.is_null = true;
  float row[2];
  EXPECT_EQ(refuses.Encode(&null, row).kind, EncodeProblem::Kind::kNull);
  const json good = json::parse(schema.ToJson());
  for (const auto& [pointer, value] :
       std::vector<std::pair<std::string, json>>{{"/columns/0/length", 0},
                                                 {"/columns/0/length", 3},
                                                 {"/columns/0/split", "never"},
                                                 {"/columns/0/standardize", nullptr},
                                                 {"/columns/0/null", "median"}}) {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    EXPECT_THROW(Schema::Parse(bad.dump()), Error) << pointer;
  }
}

TEST(Schema, ProseIsToldTheTreatmentOfWords) {
  const std::string refusal = RefusalOf(
      RequestOf(List(ColumnOf("note", "text")), json::object()),
      List(json({{"rows", 9}, {"nulls", 0}, {"values_found", 9}, {"values", json::array()}})));
  EXPECT_NE(refusal.find("{\"treatment\": \"words\", \"length\": 100}"), std::string::npos)
      << refusal;
}

TEST(Schema, AllProblemsOfTreatmentsAreOneError) {
  const std::string refusal = RefusalOf(
      RequestOf(
          {ColumnOf("age", "integer"), ColumnOf("plan", "text")},
          {{"agee", "log"}, {"plan", "robust"}, {"age", {{"treatment", "robst"}, {"nul", 1}}}}),
      json::array());
  EXPECT_NE(refusal.find("column \"agee\", which is no feature"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("Perhaps you meant \"age\""), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("\"robust\", which is not for values of type text"), std::string::npos);
  EXPECT_NE(refusal.find("Perhaps you meant \"robust\""), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("unknown \"nul\""), std::string::npos) << refusal;
}

TEST(Schema, WhatSaysNothingIsLeftOutOrRefused) {
  const json columns = {ColumnOf("id", "text"),          ColumnOf("nothing", "number"),
                        ColumnOf("no_number", "number"), ColumnOf("neither", "number"),
                        ColumnOf("constant", "number"),  ColumnOf("x", "number")};
  const json statistics = {
      {{"rows", 500}, {"nulls", 0}, {"values_found", 500}, {"values", json::array()}},
      {{"rows", 500}, {"nulls", 500}, {"quantiles", nullptr}},
      {{"rows", 500}, {"nulls", 500}, {"nans", 500}, {"quantiles", nullptr}},
      {{"rows", 500}, {"nulls", 500}, {"nans", 20}, {"quantiles", nullptr}},
      NumberStatistics({7, 7, 7, 7, 7}, 500),
      NumberStatistics({0, 1, 2, 3, 4}, 500)};
  std::vector<Note> notes;
  const Schema schema = MakeOf(RequestOf(columns, nullptr, true), statistics, &notes);
  EXPECT_EQ(schema.columns().size(), 1U);
  EXPECT_EQ(notes.size(), 5U);
  const std::string refusal = RefusalOf(RequestOf(columns, nullptr, false), statistics);
  EXPECT_NE(refusal.find("column \"id\" of \"people\" holds no category often enough"),
            std::string::npos);
  EXPECT_NE(refusal.find("column \"nothing\" of \"people\" holds nothing but NULL"),
            std::string::npos);
  EXPECT_NE(refusal.find("column \"no_number\" of \"people\" holds nothing but NaN"),
            std::string::npos);
  EXPECT_NE(refusal.find("column \"neither\" of \"people\" holds nothing but NULL and NaN"),
            std::string::npos);
}

TEST(Schema, DifferencesAreToldByColumn) {
  const json columns = List(ColumnOf("x", "number"));
  const Schema robust =
      MakeOf(RequestOf(columns, nullptr), List(NumberStatistics({0, 1, 2, 3, 4})));
  const Schema none =
      MakeOf(RequestOf(columns, {{"x", "none"}}), List(NumberStatistics({0, 1, 2, 3, 4})));
  const Schema other = MakeOf(RequestOf(columns, nullptr), List(NumberStatistics({0, 1, 2, 5, 9})));
  EXPECT_EQ(robust.Difference(robust, "a", "b"), "");
  EXPECT_EQ(robust.Difference(none, "a", "b"),
            "Column \"x\" is \"robust\" in \"a\" but \"none\" in \"b\".");
  EXPECT_EQ(robust.Difference(other, "a", "b"),
            "Column \"x\" has other statistics in \"a\" than in \"b\".");
}

TEST(Schema, DamagedOnesAreRefused) {
  const Schema schema =
      MakeOf(RequestOf({ColumnOf("x", "number"), ColumnOf("plan", "text")}, {{"x", "standardize"}}),
             {{{"rows", 9},
               {"nulls", 0},
               {"bad", 0},
               {"mean", 1},
               {"deviation", 2},
               {"quantiles", {0, 1, 2, 3, 4}}},
              ValueStatistics(List(List("a", 5), List("b", 4)), 9)});
  const json good = json::parse(schema.ToJson());
  EXPECT_NO_THROW(Schema::Parse(good.dump()));
  const auto refuses = [&](const char* pointer, const json& value) {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    EXPECT_THROW(Schema::Parse(bad.dump()), Error) << pointer << " " << value;
  };
  refuses("/version", 2);
  refuses("/width", 17);
  refuses("/columns", json::array());
  refuses("/columns/0/treatment", "array");
  refuses("/columns/0/treatment", "never");
  refuses("/columns/0/deviation", 0);
  refuses("/columns/0/deviation", "1");
  refuses("/columns/0/null", "category");
  refuses("/columns/1/values", json({"a", "a"}));
  refuses("/columns/1/values", json({"a", 1}));
  refuses("/columns/1/other", -1);
  refuses("/columns/1/name", nullptr);
  EXPECT_THROW(Schema::Parse("[1"), Error);
  EXPECT_THROW(Schema::Parse("null"), Error);
}

TEST(Schema, LabelsGoAndComeBackBetweenTheirEnds) {
  Schema schema = MakeOf(RequestOf(List(ColumnOf("x", "number")), nullptr),
                         List(NumberStatistics({0, 1, 2, 3, 4})));
  schema.set_label({"price", "numeric(8,2)", true, 100.0, 20.0, 50.0, 180.0});
  const Label label = Schema::Parse(schema.ToJson()).label();
  EXPECT_EQ(label.Scaled(140.0), 2.0);
  EXPECT_EQ(label.Unscaled(2.0), 140.0);
  EXPECT_EQ(label.Unscaled(9.0), 180.0);
  EXPECT_EQ(label.Unscaled(-9.0), 50.0);
  EXPECT_EQ(label.sql_type, "numeric(8,2)");
}

}  // namespace
}  // namespace hopper
