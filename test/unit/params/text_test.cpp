#include "params/text.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "params/repr_vectors.h"

namespace hopper {
namespace {

std::string Normal(const std::string& text) { return Render(ParsePythonValue(text, "text")); }

std::string ErrorOf(const std::string& text) {
  try {
    ParseArguments(text, "compile_params");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidText);
    return std::string(error.what()) + " | " + error.problem().detail;
  }
  return "no error";
}

TEST(PythonText, ReadsAndWritesLiteralsAsPythonDoes) {
  for (const ReprVector& vector : kReprVectors) EXPECT_EQ(Normal(vector.source), vector.repr);
}

TEST(PythonText, Values) {
  EXPECT_EQ(Normal(" [ 1 , -2, +3, 4.5, ] "), "[1,-2,3,4.5]");
  EXPECT_EQ(Normal("(1)"), "1");
  EXPECT_EQ(Normal("(1,)"), "(1,)");
  EXPECT_EQ(Normal("()"), "()");
  EXPECT_EQ(Normal("(1, 2)"), "(1,2)");
  EXPECT_EQ(Normal("{0: 1.0, 'a': None, }"), "{0:1.0,'a':None}");
  EXPECT_EQ(Normal("keras.optimizers.Adam (0.1, lr = 1, b=[True, False])"),
            "keras.optimizers.Adam(0.1,lr=1,b=[True,False])");
  EXPECT_EQ(Normal("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(Normal("9223372036854775808"), "9.223372036854776e+18");
  EXPECT_EQ(Normal("1e-400"), "0.0");
}

TEST(PythonText, ATrailingCommaIsTolerated) {
  EXPECT_EQ(RenderArguments(ParseArguments("a=1, b='x',\n", "t")), "a=1,b='x'");
  EXPECT_TRUE(ParseArguments("", "t").empty());
  EXPECT_TRUE(ParseArguments(" \n ", "t").empty());
}

TEST(PythonText, ErrorsHaveAPositionAndTheTextAroundIt) {
  EXPECT_EQ(ErrorOf("loss='mse' optimizer='SGD'"),
            "compile_params cannot be parsed: expected \",\", not \"optimizer\" | "
            "Position 12, near \"oss='mse' optimizer=\".");
  EXPECT_EQ(ErrorOf("loss='mse', optimizer=Adam(lr 0.1)"),
            "compile_params cannot be parsed: expected \",\" or \")\", not \"0\" | "
            "Position 31, near \"r=Adam(lr 0.1)\".");
  EXPECT_EQ(ErrorOf("loss='mse"),
            "compile_params cannot be parsed: the string is not closed | "
            "Position 6, near \"loss='mse\".");
  EXPECT_EQ(ErrorOf("metrics=['a'"),
            "compile_params cannot be parsed: \"[\" is not closed | "
            "Position 9, near \"metrics=['a'\".");
  EXPECT_EQ(ErrorOf("adam"),
            "compile_params cannot be parsed: expected \"=\" after \"adam\" but the text ends | "
            "Position 5, near \"adam\".");
  EXPECT_EQ(ErrorOf("a=1,,b=2"),
            "compile_params cannot be parsed: expected the name of an argument, not \",\" | "
            "Position 5, near \"a=1,,b=2\".");
  EXPECT_EQ(ErrorOf("a=1,a=2"),
            "compile_params cannot be parsed: argument \"a\" is given twice | "
            "Position 5, near \"a=1,a=2\".");
  EXPECT_EQ(ErrorOf("{'a': 1, 'a': 2}"),
            "compile_params cannot be parsed: key 'a' stands twice | "
            "Position 10, near \"{'a': 1, 'a': 2}\".");
  EXPECT_EQ(ErrorOf("a=1/3"),
            "compile_params cannot be parsed: expected \",\", not \"/\" | "
            "Position 4, near \"a=1/3\".");
  EXPECT_EQ(ErrorOf("a=1e999"),
            "compile_params cannot be parsed: the number is too large | "
            "Position 3, near \"a=1e999\".");
  EXPECT_EQ(ErrorOf("{1: 2}"), "compile_params cannot be parsed: key 1 is not a string | ");
}

TEST(PythonText, PositionsCountCharactersNotBytes) {
  EXPECT_EQ(ErrorOf("a='\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9' "
                    "\xE2\x80\x98"
                    "b"),
            "compile_params cannot be parsed: expected \",\", not \"\xE2\x80\x98\" | "
            "Position 14, near \"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9' "
            "\xE2\x80\x98"
            "b\".");
}

TEST(PythonText, DepthIsBounded) {
  EXPECT_EQ(Normal(std::string(60, '[') + std::string(60, ']')),
            std::string(60, '[') + std::string(60, ']'));
  for (const char* bracket : {"[", "{", "f(", "(", "{'a':"}) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += bracket;
    EXPECT_THROW(ParsePythonValue(text, "t"), Error);
    EXPECT_THROW(ParseArguments("{\"a\": " + text, "t"), Error);
  }
  std::string json = "{\"a\":";
  for (int i = 0; i < 100000; ++i) json += "[";
  for (int i = 0; i < 100000; ++i) json += "]";
  EXPECT_EQ(ErrorOf(json + "}"),
            "compile_params cannot be parsed: values are nested more than 64 deep | ");
}

TEST(Json, BecomesTheSameTree) {
  EXPECT_EQ(RenderArguments(
                ParseArguments("{\"a\": [1, 2.5, null, true, \"x\"], \"b\": {\"c\": -3}}", "t")),
            "a=[1,2.5,None,True,'x'],b={'c':-3}");
  // Python's spelling of the same.
  EXPECT_EQ(
      RenderArguments(ParseArguments("{'a': [1, 2.5, None, True, 'x'], 'b': {'c': -3}}", "t")),
      "a=[1,2.5,None,True,'x'],b={'c':-3}");
}

TEST(Json, Errors) {
  try {
    ParseJson("{\"a\": 1, \"b\": }", "compile_params");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidText);
    EXPECT_EQ(error.problem().detail, "Position 15, near \": 1, \"b\": }\".");
  }
  EXPECT_EQ(ErrorOf("{\"a\": 1, \"a\": 2}"),
            "compile_params cannot be parsed: key 'a' stands twice | ");
  EXPECT_EQ(ErrorOf("{\"a\": \"\\u0000\"}"),
            "compile_params cannot be parsed: a string holds the character 0 | ");
}

TEST(Json, DictionaryIsRequired) {
  EXPECT_THROW(ParseDictionary("[1]", "compile_params_grid"), Error);
  EXPECT_THROW(ParseDictionary("", "compile_params_grid"), Error);
}

TEST(Text, Thousands) {
  EXPECT_EQ(WithThousands(0), "0");
  EXPECT_EQ(WithThousands(999), "999");
  EXPECT_EQ(WithThousands(1259712), "1,259,712");
  EXPECT_EQ(WithThousands(100000), "100,000");
}

}  // namespace
}  // namespace hopper
