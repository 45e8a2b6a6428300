// The graph of a whole model.
#pragma once

#include "model/exported/export_model.h"
#include "model/exported/op_graph.h"

namespace hopper {

void MakeGraph(const ModelExport& model, ops::Graph* graph);

}  // namespace hopper
