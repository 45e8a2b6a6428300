#include "params/expression.h"

#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/number_text.h"
#include "params/text.h"

namespace hopper {
namespace {

constexpr size_t kMaxLength = 4096;
constexpr int kMaxDepth = 64;

// Numbers of arguments.
const std::map<std::string, size_t>& Arity() {
  static const std::map<std::string, size_t> arity = {
      {"abs", 1},      {"square", 1},  {"sqrt", 1},      {"exp", 1},     {"expm1", 1},
      {"log", 1},      {"log1p", 1},   {"sigmoid", 1},   {"tanh", 1},    {"relu", 1},
      {"softplus", 1}, {"sign", 1},    {"round", 1},     {"floor", 1},   {"ceil", 1},
      {"sin", 1},      {"cos", 1},     {"mean", 1},      {"sum", 1},     {"max", 1},
      {"min", 1},      {"softmax", 1}, {"logsumexp", 1}, {"maximum", 2}, {"minimum", 2},
      {"power", 2},    {"where", 3},   {"clip", 3}};
  return arity;
}

bool IsSpaceInFormula(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || IsDigit(c);
}

std::string Trimmed(const std::string& text) {
  size_t begin = 0, end = text.size();
  while (begin < end && IsSpaceInFormula(text[begin])) ++begin;
  while (end > begin && IsSpaceInFormula(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

ExpressionNode Call(std::string function, std::vector<ExpressionNode> arguments) {
  ExpressionNode node;
  node.kind = ExpressionKind::kCall;
  node.function = std::move(function);
  node.arguments = std::move(arguments);
  return node;
}

bool Uses(const ExpressionNode& node, ExpressionKind kind) {
  if (node.kind == kind) return true;
  for (const ExpressionNode& argument : node.arguments) {
    if (Uses(argument, kind)) return true;
  }
  return false;
}

// Recursive descent, in Python's order of precedence. The first problem ends it.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const std::string& owner) : text_(text), owner_(owner) {}

  ExpressionNode Parse() {
    if (text_.size() > kMaxLength) {
      throw Error(ErrorCode::kLimitExceeded,
                  owner_ + " has " + std::to_string(text_.size()) + " characters",
                  "At most " + std::to_string(kMaxLength) + " are possible.");
    }
    ExpressionNode node = Comparison(0);
    SkipBlanks();
    if (at_ < text_.size()) FailUnexpected("an operator");
    return node;
  }

 private:
  [[noreturn]] void Fail(size_t at, const std::string& what, const std::string& hint = "") const {
    throw Error(ErrorCode::kInvalidParameter, owner_ + ": " + what, DescribePosition(text_, at),
                hint);
  }
  [[noreturn]] void FailUnexpected(const std::string& wanted) const {
    if (at_ >= text_.size()) Fail(at_, "expected " + wanted + " but the text ends");
    size_t end = at_ + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80U) ++end;
    Fail(at_,
         "expected " + wanted + " before \"" + std::string(text_.substr(at_, end - at_)) + "\"");
  }
  void SkipBlanks() {
    while (at_ < text_.size() && IsSpaceInFormula(text_[at_])) ++at_;
  }
  bool Take(std::string_view token) {
    SkipBlanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void CheckDepth(int depth) const {
    if (depth > kMaxDepth) {
      throw Error(ErrorCode::kLimitExceeded,
                  owner_ + " is nested more than " + std::to_string(kMaxDepth) + " deep",
                  DescribePosition(text_, at_));
    }
  }

  ExpressionNode Comparison(int depth) {
    CheckDepth(depth);
    ExpressionNode left = Sum(depth);
    // The longer tokens first.
    static const std::pair<const char*, const char*> kTokens[] = {
        {"<=", "less_equal"}, {">=", "greater_equal"}, {"==", "equal"},
        {"!=", "not_equal"},  {"<", "less"},           {">", "greater"}};
    for (const auto& [token, function] : kTokens) {
      const size_t start = at_;
      if (!Take(token)) continue;
      left = Call(function, Two(std::move(left), Sum(depth)));
      for (const auto& [other, name] : kTokens) {
        if (Take(other)) {
          Fail(start, "comparisons cannot be chained", "Set brackets, and multiply comparisons.");
        }
      }
      break;
    }
    return left;
  }

  ExpressionNode Sum(int depth) {
    ExpressionNode left = Product(depth);
    for (;;) {
      if (Take("+")) {
        left = Call("add", Two(std::move(left), Product(depth)));
      } else if (Take("-")) {
        left = Call("subtract", Two(std::move(left), Product(depth)));
      } else {
        return left;
      }
    }
  }

  ExpressionNode Product(int depth) {
    ExpressionNode left = Unary(depth);
    for (;;) {
      SkipBlanks();
      const bool power = text_.substr(at_, 2) == "**";
      if (!power && Take("*")) {
        left = Call("multiply", Two(std::move(left), Unary(depth)));
      } else if (text_.substr(at_, 2) != "//" && Take("/")) {
        left = Call("divide", Two(std::move(left), Unary(depth)));
      } else {
        return left;
      }
    }
  }

  // As in Python, -a ** b is -(a ** b) and a ** -b is a ** (-b).
  ExpressionNode Unary(int depth) {
    CheckDepth(depth);
    if (Take("-")) return Call("negative", One(Unary(depth + 1)));
    if (Take("+")) return Unary(depth + 1);
    ExpressionNode base = Primary(depth);
    if (!Take("**")) return base;
    return Call("power", Two(std::move(base), Unary(depth + 1)));
  }

  ExpressionNode Primary(int depth) {
    SkipBlanks();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (Take("(")) {
      ExpressionNode inner = Comparison(depth + 1);
      if (!Take(")")) FailUnexpected("\")\"");
      return inner;
    }
    if (IsDigit(c) || c == '.') return Number();
    if (IsName(c)) return NameOrCall(depth);
    FailUnexpected("a value");
  }

  ExpressionNode Number() {
    ExpressionNode node;
    const size_t length = NumberLength(text_.substr(at_));
    if (length > 0) node.number = NumberOf(text_.substr(at_, length));
    if (length == 0 || !std::isfinite(node.number)) FailUnexpected("a number");
    const size_t after = at_ + length;
    if (after < text_.size() && IsName(text_[after])) Fail(at_, "a number ends with a letter");
    at_ = after;
    return node;
  }

  ExpressionNode NameOrCall(int depth) {
    const size_t start = at_;
    while (at_ < text_.size() && IsName(text_[at_])) ++at_;
    const std::string name(text_.substr(start, at_ - start));
    const bool call = Take("(");
    const auto function = Arity().find(name);
    ExpressionNode node;
    if (!call) {
      if (name == "y" || name == "y_true") {
        node.kind = ExpressionKind::kLabel;
      } else if (name == "p" || name == "y_pred") {
        node.kind = ExpressionKind::kOutput;
      } else if (name == "pi") {
        node.number = M_PI;
      } else if (function != Arity().end()) {
        Fail(at_, "expected \"(\" after the function \"" + name + "\"");
      } else {
        Fail(start, "name \"" + name + "\" is not known",
             "Its names are y (labels), p (the model's output) and pi.");
      }
      return node;
    }
    if (function == Arity().end()) {
      const std::string nearest = NearestNameHint(name, ExpressionFunctions());
      Fail(start, "function \"" + name + "\" is not known",
           (nearest.empty() ? "" : nearest + " ") + "Its functions are " +
               Join(ExpressionFunctions()) + ".");
    }
    std::vector<ExpressionNode> arguments;
    if (!Take(")")) {
      do {
        arguments.push_back(Comparison(depth + 1));
      } while (Take(","));
      if (!Take(")")) FailUnexpected("\",\" or \")\"");
    }
    const size_t wanted = function->second;
    if (arguments.size() != wanted) {
      Fail(start, "function \"" + name + "\" takes " + std::to_string(wanted) +
                      (wanted == 1 ? " argument" : " arguments") + ", got " +
                      std::to_string(arguments.size()));
    }
    return Call(name, std::move(arguments));
  }

  static std::vector<ExpressionNode> One(ExpressionNode a) {
    std::vector<ExpressionNode> nodes;
    nodes.push_back(std::move(a));
    return nodes;
  }
  static std::vector<ExpressionNode> Two(ExpressionNode a, ExpressionNode b) {
    std::vector<ExpressionNode> nodes = One(std::move(a));
    nodes.push_back(std::move(b));
    return nodes;
  }

  std::string_view text_;
  const std::string& owner_;
  size_t at_ = 0;
};

}  // namespace

Expression::Expression(std::string text, ExpressionNode root)
    : text_(std::move(text)),
      root_(std::move(root)),
      uses_output_(Uses(root_, ExpressionKind::kOutput)) {}

const std::vector<std::string>& ExpressionFunctions() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& entry : Arity()) all.push_back(entry.first);
    return all;
  }();
  return names;
}

std::shared_ptr<const Expression> ParseExpression(std::string_view text, const std::string& owner,
                                                  ProblemList* problems) {
  try {
    auto expression = std::make_shared<const Expression>(std::string(text),
                                                         ExpressionParser(text, owner).Parse());
    if (!expression->uses_output()) {
      problems->Error(ErrorCode::kInvalidParameter, owner + " does not use p", "",
                      "p is the model's output, y the labels: mean(square(y - p)), for example.");
      return nullptr;
    }
    return expression;
  } catch (const Error& error) {
    problems->Add(error.problem());
    return nullptr;
  }
}

bool SplitExpression(const std::string& text, ExpressionText* out) {
  const std::string whole = Trimmed(text);
  const size_t colon = whole.find(':');
  if (whole.compare(0, 4, "expr") != 0 || colon == std::string::npos) return false;
  std::string head = whole.substr(4, colon - 4);
  if (!head.empty() && !IsSpaceInFormula(head[0])) return false;
  head = Trimmed(head);
  *out = ExpressionText();
  const size_t blank = head.find(' ');
  const std::string first = head.substr(0, blank);
  if (first == "max" || first == "min") {
    out->ascends = first == "max";
    head = blank == std::string::npos ? "" : Trimmed(head.substr(blank));
  }
  out->name = head;
  out->body = Trimmed(whole.substr(colon + 1));
  return true;
}

}  // namespace hopper
