#include "model/layers/einsum/equation.h"

#include <algorithm>
#include <cctype>

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {
namespace {

constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr const char* kDots = "...";

[[noreturn]] void Refuse(const Layer& layer, const std::string& why) {
  throw Error(ErrorCode::kNotSupported,
              "layer \"" + layer.name() + "\" of class " + layer.class_name() + ": " + why, "",
              "Let each tensor's first letter and the output's be the batch's, as in "
              "\"bij,bjk->bik\", or write keras.layers.Dot(axes=...)([x, y]) or "
              "keras.layers.Dense.");
}

bool Has(const std::string& letters, char letter) { return letters.find(letter) != letters.npos; }

// Letters, of which none is there twice, and "..." once at most.
bool IsTerm(const std::string& term) {
  std::string letters = term;
  const size_t dots = letters.find(kDots);
  if (dots != letters.npos) letters.erase(dots, 3);
  for (size_t i = 0; i < letters.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(letters[i])) == 0) return false;
    if (letters.find(letters[i], i + 1) != letters.npos) return false;
  }
  return true;
}

}  // namespace

bool Equation::Read(const std::string& text, std::vector<std::string>* terms, std::string* output) {
  std::string plain;
  for (const char c : text) {
    if (c != ' ') plain += c;
  }
  const size_t arrow = plain.find("->");
  const std::string left = plain.substr(0, arrow);
  *output = arrow == plain.npos ? "" : plain.substr(arrow + 2);
  terms->assign(1, "");
  for (const char c : left) {
    if (c == ',') {
      terms->emplace_back();
    } else {
      terms->back() += c;
    }
  }
  return IsTerm(*output) && std::all_of(terms->begin(), terms->end(), IsTerm);
}

Equation::Equation(const Layer& layer, const std::string& text, const std::vector<Shape>& shapes,
                   const std::vector<char>& whole)
    : whole_(whole), sizes_(256, -1) {
  if (!Read(text, &terms_, &output_) || text.find("->") == text.npos) {
    Refuse(layer, "\"" + text +
                      "\" is not supported: it needs \"->\", and letters that occur once "
                      "in a term");
  }
  if (terms_.size() != shapes.size()) {
    ThrowUnfit(layer, "\"" + text + "\" is of " + std::to_string(terms_.size()) +
                          " operands but there are " + std::to_string(shapes.size()));
  }
  // Letters for "...", the last one of each operand the same.
  std::string free;
  for (const char* letter = kLetters; *letter != '\0'; ++letter) {
    if (!Has(text, *letter)) free += *letter;
  }
  size_t most = 0;
  for (size_t i = 0; i < terms_.size(); ++i) {
    std::string& term = terms_[i];
    const size_t axes = shapes[i].size() + (whole_[i] != 0 ? 0 : 1);
    const size_t dots = term.find(kDots);
    const size_t named = term.size() - (dots == term.npos ? 0 : 3);
    const size_t unnamed = axes - std::min(axes, named);
    if (named > axes || (dots == term.npos && unnamed > 0) || unnamed > free.size()) {
      ThrowUnfit(layer, "\"" + text + "\" does not fit operand " + std::to_string(i + 1) +
                            " of shape " + ShapeText(shapes[i]));
    }
    if (dots == term.npos) continue;
    term.replace(dots, 3, free.substr(free.size() - unnamed));
    most = std::max(most, unnamed);
  }
  const size_t dots = output_.find(kDots);
  if (dots != output_.npos) output_.replace(dots, 3, free.substr(free.size() - most));

  for (size_t i = 0; i < terms_.size() && batch_ == 0; ++i) {
    if (whole_[i] == 0 && !terms_[i].empty()) batch_ = terms_[i][0];
  }
  bool apart = batch_ != 0 && !output_.empty() && output_[0] == batch_;
  for (size_t i = 0; i < terms_.size(); ++i) {
    apart = apart && (whole_[i] != 0 ? !Has(terms_[i], batch_)
                                     : !terms_[i].empty() && terms_[i][0] == batch_);
  }
  if (!apart) Refuse(layer, "\"" + text + "\" would mix the examples of a batch");
  output_.erase(0, 1);
  for (size_t i = 0; i < terms_.size(); ++i) {
    if (whole_[i] == 0) terms_[i].erase(0, 1);
    for (size_t j = 0; j < terms_[i].size(); ++j) {
      int64_t& size = sizes_[static_cast<unsigned char>(terms_[i][j])];
      if (size >= 0 && size != shapes[i][j]) {
        ThrowUnfit(layer, "\"" + text + "\" does not fit operands of shapes " +
                              ShapeText(shapes[0]) + " and " + ShapeText(shapes[i]));
      }
      size = shapes[i][j];
    }
  }
  for (const char letter : output_) {
    if (SizeOf(letter) < 0) {
      Refuse(layer, "\"" + text + "\" has a letter behind \"->\" that no operand has");
    }
    shape_.push_back(SizeOf(letter));
  }
  Count();
}

int64_t Equation::SizeOf(const std::string& letters) const {
  Shape sizes;
  for (const char letter : letters) sizes.push_back(SizeOf(letter));
  return ProductOf(sizes);
}

void Equation::Count() {
  std::string made = terms_[0];
  for (size_t i = 1; i < terms_.size(); ++i) {
    std::string all = made;
    for (const char letter : terms_[i]) {
      if (!Has(all, letter)) all += letter;
    }
    flops_ = SaturatingAdd(flops_, Product({2, SizeOf(all)}));
    made.clear();
    for (const char letter : all) {
      const auto later = [&](const std::string& term) { return Has(term, letter); };
      const auto rest = terms_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      if (Has(output_, letter) || std::any_of(rest, terms_.end(), later)) made += letter;
    }
    between_ = SaturatingAdd(between_, SizeOf(made));
  }
  if (terms_.size() == 1) flops_ = SizeOf(terms_[0]);
}

std::string Equation::Text(bool all_with_batch) const {
  std::string text;
  for (size_t i = 0; i < terms_.size(); ++i) {
    if (i > 0) text += ',';
    if (all_with_batch || whole_[i] == 0) text += batch_;
    text += terms_[i];
  }
  return text + "->" + batch_ + output_;
}

}  // namespace layers
}  // namespace hopper
