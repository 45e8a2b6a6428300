// A model's inputs: which parts of the data they are, and their shapes. Internal to model/.
#pragma once

#include <string>
#include <vector>

#include "model/keras/keras_json.h"
#include "model/spec.h"

namespace hopper {

// As ShapeText, with "?" for open axes.
std::string OpenShapeText(const Shape& shape);
// True where `shape` could be what `stated` (with -1 for open axes) means.
bool Matches(const Shape& stated, const Shape& shape);

// False, with a problem that calls it `what`, where no tensor or weight can have the shape.
bool CheckTensorShape(const Shape& shape, const std::string& what, std::vector<Problem>* problems);

// The graph's inputs in its order, their places those in a row of `data` (may be null: the graph's
// order). False with a problem.
bool FindModelInputs(const ModelGraph& graph, const std::vector<DataInput>* data,
                     std::vector<Problem>* problems, std::vector<ModelInput>* inputs);

}  // namespace hopper
