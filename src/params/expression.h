// Losses and metrics that users write as an expression over labels and outputs:
//   loss='expr: mean(where(y > p, 0.9, 0.1) * abs(y - p))'
// The text becomes a checked tree; nothing but what is listed here can be in it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "params/callable.h"

namespace hopper {

enum class ExpressionKind {
  kNumber,
  kLabel,   // y, y_true: the labels with the shape of the output, classes as one-hot rows
  kOutput,  // p, y_pred: the model's output
  kCall,    // a function; operators are functions, too: add, subtract, multiply, divide, power,
            // negative, less, less_equal, greater, greater_equal, equal, not_equal
};

struct ExpressionNode {
  ExpressionKind kind = ExpressionKind::kNumber;
  double number = 0.0;
  std::string function;
  std::vector<ExpressionNode> arguments;
};

class Expression {
 public:
  Expression(std::string text, ExpressionNode root);
  const std::string& text() const { return text_; }
  const ExpressionNode& root() const { return root_; }
  bool uses_output() const { return uses_output_; }

 private:
  std::string text_;
  ExpressionNode root_;
  bool uses_output_;
};

// The functions that an expression may call, sorted, without the names of operators.
const std::vector<std::string>& ExpressionFunctions();

// Python's operators + - * / ** < <= > >= == != with Python's precedence, brackets, numbers, y, p,
// pi and functions. Null and a problem ('<owner> ...', with the position) where it is none.
std::shared_ptr<const Expression> ParseExpression(std::string_view text, const std::string& owner,
                                                  ProblemList* problems);

// "expr: ...", "expr max: ..." (larger is better), "expr max hit_rate: ..." (with a name).
struct ExpressionText {
  std::string body;
  std::string name;
  bool ascends = false;
};
// False where `text` does not begin with "expr" and have a colon.
bool SplitExpression(const std::string& text, ExpressionText* out);

}  // namespace hopper
