// What an expression may say, and what is told where it says something else.
#include "params/expression.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hopper {
namespace {

// The tree with brackets around everything; or the problem.
std::string Shown(const ExpressionNode& node) {
  switch (node.kind) {
    case ExpressionKind::kNumber:
      return RenderReal(node.number);
    case ExpressionKind::kLabel:
      return "y";
    case ExpressionKind::kOutput:
      return "p";
    case ExpressionKind::kCall:
      break;
  }
  std::string text = node.function + "(";
  for (const ExpressionNode& argument : node.arguments) {
    text += (&argument == &node.arguments.front() ? "" : ", ") + Shown(argument);
  }
  return text + ")";
}

std::string ParsedMetric(const std::string& text) {
  std::vector<ParamProblem> problems;
  ProblemList list(&problems);
  const auto expression = ParseExpression(text, "loss", &list);
  if (expression != nullptr) {
    EXPECT_TRUE(problems.empty());
    return Shown(expression->root());
  }
  EXPECT_EQ(problems.size(), 1U);
  const ParamProblem& problem = problems.front();
  // "Position 6, near ..."
  const std::string detail = problem.detail.substr(0, problem.detail.find(", near ")) +
                             (problem.detail.find(", near ") == std::string::npos ? "" : ".");
  return problem.message + " | " + detail + (problem.hint.empty() ? "" : " | " + problem.hint);
}

TEST(Expression, HasPythonsPrecedence) {
  EXPECT_EQ(ParsedMetric("p"), "p");
  EXPECT_EQ(ParsedMetric("y_true - y_pred"), "subtract(y, p)");
  EXPECT_EQ(ParsedMetric("y - p - 1"), "subtract(subtract(y, p), 1.0)");
  EXPECT_EQ(ParsedMetric("y + p * 2"), "add(y, multiply(p, 2.0))");
  EXPECT_EQ(ParsedMetric("(y + p) * 2"), "multiply(add(y, p), 2.0)");
  EXPECT_EQ(ParsedMetric("y / p / 2"), "divide(divide(y, p), 2.0)");
  EXPECT_EQ(ParsedMetric("p ** 2 ** y"), "power(p, power(2.0, y))");
  EXPECT_EQ(ParsedMetric("-p ** 2"), "negative(power(p, 2.0))");
  EXPECT_EQ(ParsedMetric("p ** -2"), "power(p, negative(2.0))");
  EXPECT_EQ(ParsedMetric("-p * y"), "multiply(negative(p), y)");
  EXPECT_EQ(ParsedMetric("+p--y"), "subtract(p, negative(y))");
  EXPECT_EQ(ParsedMetric("p + 1 <= y * 2"), "less_equal(add(p, 1.0), multiply(y, 2.0))");
  EXPECT_EQ(ParsedMetric("(p > .5) == (y != 1e-3)"), "equal(greater(p, 0.5), not_equal(y, 0.001))");
  EXPECT_EQ(ParsedMetric("where( p>=y ,1,clip(p,0,1) )"),
            "where(greater_equal(p, y), 1.0, clip(p, 0.0, 1.0))");
  EXPECT_EQ(ParsedMetric("p\n*pi"), "multiply(p, 3.141592653589793)");
}

TEST(Expression, SaysWhereItIsWrong) {
  const std::string functions =
      "Its functions are abs, ceil, clip, cos, exp, expm1, floor, log, log1p, logsumexp, max, "
      "maximum, mean, min, minimum, power, relu, round, sigmoid, sign, sin, softmax, softplus, "
      "sqrt, square, sum, tanh, where.";
  EXPECT_EQ(ParsedMetric("mean(sqare(y - p))"),
            "loss: function \"sqare\" is not known | Position 6. | Perhaps you "
            "meant \"square\". " +
                functions);
  EXPECT_EQ(ParsedMetric("__import__('os')"),
            "loss: function \"__import__\" is not known | Position 1. | " + functions);
  EXPECT_EQ(ParsedMetric("y - x"),
            "loss: name \"x\" is not known | Position 5. | Its names are y "
            "(labels), p (the model's output) and pi.");
  EXPECT_EQ(ParsedMetric("abs(y - p"),
            "loss: expected \",\" or \")\" but the text ends | Position 10.");
  EXPECT_EQ(ParsedMetric("(y - p"), "loss: expected \")\" but the text ends | Position 7.");
  EXPECT_EQ(ParsedMetric(""), "loss: expected a value but the text ends | Position 1.");
  EXPECT_EQ(ParsedMetric("p +"), "loss: expected a value but the text ends | Position 4.");
  EXPECT_EQ(ParsedMetric("p @ y"), "loss: expected an operator before \"@\" | Position 3.");
  EXPECT_EQ(ParsedMetric("p // y"), "loss: expected an operator before \"/\" | Position 3.");
  EXPECT_EQ(ParsedMetric("p[0]"), "loss: expected an operator before \"[\" | Position 2.");
  EXPECT_EQ(ParsedMetric("p.sum()"), "loss: expected an operator before \".\" | Position 2.");
  EXPECT_EQ(ParsedMetric("abs(ü)"), "loss: expected a value before \"ü\" | Position 5.");
  EXPECT_EQ(ParsedMetric("abs + p"),
            "loss: expected \"(\" after the function \"abs\" | Position 5.");
  EXPECT_EQ(ParsedMetric("where(p, 1)"),
            "loss: function \"where\" takes 3 arguments, got 2 | Position 1.");
  EXPECT_EQ(ParsedMetric("p + abs()"),
            "loss: function \"abs\" takes 1 argument, got 0 | Position 5.");
  EXPECT_EQ(ParsedMetric("0 < p < 1"),
            "loss: comparisons cannot be chained | Position 3. | Set brackets, "
            "and multiply comparisons.");
  EXPECT_EQ(ParsedMetric("2p"), "loss: a number ends with a letter | Position 1.");
  EXPECT_EQ(ParsedMetric("p * 1e999"), "loss: expected a number before \"1\" | Position 5.");
  EXPECT_EQ(ParsedMetric("square(y)"),
            "loss does not use p |  | p is the model's output, y the labels: mean(square(y - p)), "
            "for example.");
  EXPECT_EQ(ParsedMetric(std::string(100, '(') + "p" + std::string(100, ')')).substr(0, 36),
            "loss is nested more than 64 deep | P");
  EXPECT_EQ(ParsedMetric(std::string(100, '-') + "p").substr(0, 36),
            "loss is nested more than 64 deep | P");
  EXPECT_EQ(ParsedMetric(std::string(5000, ' ') + "p"),
            "loss has 5001 characters | At most 4096 are possible.");
}

TEST(Expression, HasAHead) {
  ExpressionText text;
  EXPECT_FALSE(SplitExpression("mse", &text));
  EXPECT_FALSE(SplitExpression("expression: p", &text));
  EXPECT_FALSE(SplitExpression("expr(p)", &text));
  ASSERT_TRUE(SplitExpression("expr: y - p", &text));
  EXPECT_EQ(text.body, "y - p");
  EXPECT_EQ(text.name, "");
  EXPECT_FALSE(text.ascends);
  ASSERT_TRUE(SplitExpression(" expr max : p ", &text));
  EXPECT_EQ(text.body, "p");
  EXPECT_TRUE(text.ascends);
  ASSERT_TRUE(SplitExpression("expr max hit_rate: p == y", &text));
  EXPECT_EQ(text.name, "hit_rate");
  EXPECT_TRUE(text.ascends);
  ASSERT_TRUE(SplitExpression("expr pinball: p", &text));
  EXPECT_EQ(text.name, "pinball");
  EXPECT_FALSE(text.ascends);
}

}  // namespace
}  // namespace hopper
