#include "model/exported/model_graph.h"

#include "model/exported/export_layer.h"
#include "model/weights/safetensors.h"

namespace hopper {

using ops::Value;

void MakeGraph(const ModelExport& model, ops::Graph* graph) {
  const ModelSpec& spec = *model.spec;
  const std::vector<std::string> names = TensorNames(spec);
  std::vector<Value> tensors(spec.tensors.size());
  graph->Begin("input", "");
  // Several inputs are named by layers of their own, each of which has its part divided.
  const bool divided = spec.inputs.size() > 1 && model.normalizing_const != 1.0;
  if (spec.inputs.size() == 1) {
    Shape shape = spec.input_shape();
    shape.insert(shape.begin(), -1);
    Value x = graph->Input(spec.inputs[0].name, shape);
    if (model.normalizing_const != 1.0) x = div(x, model.normalizing_const);
    tensors[static_cast<size_t>(spec.input)] = x;
  }
  for (const Node& node : spec.nodes) {
    const Layer& layer = *spec.layers[static_cast<size_t>(node.layer)];
    graph->Begin(layer.name(), layer.class_name());
    ExportCall call;
    call.graph = graph;
    call.form = &node.form;
    for (const int input : node.inputs) call.inputs.push_back(tensors[static_cast<size_t>(input)]);
    for (const int weight : spec.layer_weights[static_cast<size_t>(node.layer)]) {
      const auto at = static_cast<size_t>(weight);
      call.weights.push_back(graph->Weight(names[at], weight, spec.weights[at].shape));
    }
    Value made = ExportLayer(layer, call);
    if (divided && layer.class_name() == std::string("InputLayer"))
      made = div(made, model.normalizing_const);
    tensors[static_cast<size_t>(node.output)] = made;
  }
  // Each by itself: of several, the row that they are joined to has no reader here.
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    Value value = tensors[static_cast<size_t>(spec.outputs[i].tensor)];
    if (i < model.outputs.size() && model.outputs[i].unit > 0.0) {
      const ModelExport::Output& label = model.outputs[i];
      graph->Begin("unit", "");
      value = hardtanh(add(mul(value, label.unit), label.zero), label.least, label.largest);
    }
    graph->Output(value, spec.outputs[i].name);
  }
}

}  // namespace hopper
