// Equations of einsum ("bij,bjk->bik") over examples: which letter is the batch, what they give.
#pragma once

#include <string>
#include <vector>

#include "model/layer.h"

namespace hopper {
namespace layers {

class Equation {
 public:
  // An equation for operands of these shapes, all axes with the same letter of the same size; "..."
  // stands for axes that are not named, of as many operands as have it. `whole` says which have no
  // batch; the others have theirs in front, and shapes without it. Throws for `layer` where it does
  // not fit or would mix examples.
  Equation(const Layer& layer, const std::string& text, const std::vector<Shape>& shapes,
           const std::vector<char>& whole);

  // With letters for "...", and the batch at all operands, or only at those that have one.
  std::string Text(bool all_with_batch) const;
  // Of an example.
  const Shape& shape() const { return shape_; }
  // Of one operand after the other, from the first on.
  int64_t flops() const { return flops_; }
  // Values of an example that are made on the way.
  int64_t between() const { return between_; }

  // The terms before and behind "->" without blanks; `output` is empty where there is no "->".
  // False where it is no equation.
  static bool Read(const std::string& text, std::vector<std::string>* terms, std::string* output);

 private:
  int64_t SizeOf(char letter) const { return sizes_[static_cast<unsigned char>(letter)]; }
  int64_t SizeOf(const std::string& letters) const;
  void Count();

  std::vector<std::string> terms_;  // without the batch
  std::string output_;
  std::vector<char> whole_;
  char batch_ = 0;
  Shape sizes_;  // by letter
  Shape shape_;
  int64_t flops_ = 0;
  int64_t between_ = 0;
};

}  // namespace layers
}  // namespace hopper
