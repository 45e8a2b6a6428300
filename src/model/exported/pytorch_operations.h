// Operations of a graph as expressions of PyTorch, and what Python's texts are written with.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/exported/op_graph.h"

namespace hopper::pytorch {

using Texts = std::vector<std::string>;

// What an expression is made of.
struct Call {
  const ops::Operation* node;
  const ops::Graph* graph;
  Texts in;                        // of each input: a variable, a number or "None"
  std::set<std::string>* helpers;  // gets the functions that the expression calls

  const ops::Tensor& Input(size_t i) const {
    return graph->tensors()[static_cast<size_t>(node->inputs[i])];
  }
  const ops::Tensor& Output() const { return graph->tensors()[static_cast<size_t>(node->output)]; }
  // Inputs that may be missing at the end.
  std::string In(size_t i) const { return i < in.size() ? in[i] : "None"; }
  std::string Axis(const char* name) const { return std::to_string(node->Int(name, -1)); }
  size_t SpatialAxes() const { return Input(0).shape.size() - 2; }
};

// Each operation that exports may use has one.
std::string Expression(const Call& call);

// "1.5", "2.0", "-math.inf"
std::string NumberOf(double number);

// "(1, 2)", "(1,)"
std::string Tuple(const Shape& numbers);

std::string Joined(const Texts& texts);

// As a literal.
std::string Quoted(const std::string& text);

}  // namespace hopper::pytorch
