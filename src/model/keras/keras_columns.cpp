// Inputs of a model that layers prepare: strings become ids where packing makes numbers of columns.

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "model/keras/keras_json.h"
#include "model/layers/lookup/reads_column.h"
#include "model/layers/normalization/normalization.h"

namespace hopper {
namespace {

class ColumnReader {
 public:
  ColumnReader(KerasModel* model, std::vector<Problem>* problems)
      : model_(model), problems_(problems) {}

  void Run() {
    for (const TensorRef& ref : model_->graph.inputs) {
      inputs_.clear();
      readers_.clear();
      others_.clear();
      Follow(&model_->graph, ref.layer);
      Join(&model_->graph.layers[ref.layer]);
    }
    RefuseInside(model_->graph);
  }

 private:
  const Layer* LayerOf(const GraphLayer& layer) const {
    const bool made = layer.kind == GraphLayer::Kind::kLayer && layer.layer >= 0;
    return made ? model_->layers[layer.layer].get() : nullptr;
  }
  const layers::ReadsColumn* ReaderOf(const GraphLayer& layer) const {
    return dynamic_cast<const layers::ReadsColumn*>(LayerOf(layer));
  }

  // Finds the layers that read an input, in nested models, too. One that is called several times is
  // followed once: models that call each other twice have 2^n ways through n of them.
  void Follow(ModelGraph* graph, int input) {
    if (!inputs_.insert(&graph->layers[input]).second) return;
    for (GraphLayer& layer : graph->layers) {
      for (const Call& call : layer.calls) {
        for (size_t i = 0; i < call.inputs.size(); ++i) {
          if (call.inputs[i].layer != input) continue;
          if (layer.kind == GraphLayer::Kind::kModel && i < layer.model->inputs.size()) {
            Follow(layer.model.get(), layer.model->inputs[i].layer);
          } else if (ReaderOf(layer) != nullptr) {
            readers_.push_back(&layer);
            known_.emplace(&layer, &call);
          } else {
            others_.push_back(&layer);
          }
        }
      }
    }
  }

  static std::string Named(const GraphLayer& layer) { return "layer \"" + layer.name + "\""; }

  void Refuse(const GraphLayer& input, const std::string& message, const std::string& hint) {
    model_->graph.valid = false;
    problems_->push_back({ErrorCode::kNotSupported, "input \"" + input.name + "\" " + message,
                          "The input is " + input.path + " of the architecture.", hint});
  }

  void Join(GraphLayer* input) {
    if (readers_.empty()) {
      if (input->is_text) {
        Refuse(*input, "is of strings, which no layer makes numbers of",
               "Let keras.layers.StringLookup, Hashing or TextVectorization read it.");
      }
      input->is_normalized = IsNormalized();
      return;
    }
    const layers::ReadsColumn& first = *ReaderOf(*readers_[0]);
    const std::string treatment = first.Treatment();
    const GraphLayer* other = others_.empty() ? nullptr : others_[0];
    for (const GraphLayer* reader : readers_) {
      if (ReaderOf(*reader)->Treatment() != treatment) other = reader;
    }
    if (other != nullptr) {
      return Refuse(*input,
                    "is read by " + Named(*readers_[0]) + " and by " + Named(*other) +
                        ", which need other numbers of it",
                    "Give the model an input for each, and pack a view that has the column twice, "
                    "under their names.");
    }
    if (input->input_shape && ElementCount(*input->input_shape) > 1) {
      return Refuse(
          *input,
          "has several values in an example, of which " + Named(*readers_[0]) + " makes ids",
          "Give the model an input of shape (1,) for each of them, whose column packing "
          "makes ids of.");
    }
    input->treatment = treatment;
    for (GraphLayer* each : inputs_) {
      if (first.Slots() > 0) {
        each->input_shape = Shape{first.Slots()};
      } else if (!each->input_shape || ElementCount(*each->input_shape) < 1) {
        each->input_shape = Shape{1};  // it was left open
      }
    }
  }

  bool IsNormalized() const {
    for (const GraphLayer* layer : others_) {
      const auto* normalization = dynamic_cast<const layers::Normalization*>(LayerOf(*layer));
      if (normalization == nullptr || normalization->given() || normalization->invert) return false;
    }
    return !others_.empty();
  }

  // What a layer put out is no column, which packing could make ids of.
  void RefuseInside(const ModelGraph& graph) {
    for (const GraphLayer& layer : graph.layers) {
      if (layer.model != nullptr) RefuseInside(*layer.model);
      if (ReaderOf(layer) == nullptr) continue;
      for (const Call& call : layer.calls) {
        if (known_.count({&layer, &call}) != 0) continue;
        model_->graph.valid = false;
        problems_->push_back(
            {ErrorCode::kNotSupported,
             Named(layer) + " of class " + LayerOf(layer)->class_name() +
                 " reads what another layer puts out, which is not supported",
             "Packing does what it does, with the column itself. The layer is " + layer.path +
                 " of the architecture.",
             "Let it read an input of the model; compute what is before it in a view."});
        break;
      }
    }
  }

  KerasModel* model_;
  std::vector<Problem>* problems_;
  // Of the input that is looked at: it and those of nested models that it is given on to.
  std::set<GraphLayer*> inputs_;
  std::vector<const GraphLayer*> readers_;
  std::vector<const GraphLayer*> others_;
  std::set<std::pair<const GraphLayer*, const Call*>> known_;  // calls on inputs
};

}  // namespace

void ReadColumns(KerasModel* model, std::vector<Problem>* problems) {
  ColumnReader(model, problems).Run();
}

}  // namespace hopper
