// Models and their layers as Keras JSON nests them: Sequential in all its forms, Functional.

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"

namespace hopper {

using nlohmann::json;

ModelGraph::ModelGraph() = default;
ModelGraph::~ModelGraph() = default;

namespace {

constexpr size_t kMaxLayers = 10000;

class Reader {
 public:
  Reader(KerasModel* model, std::vector<Problem>* problems) : model_(model), problems_(problems) {}

  // `entry` has class_name and config of a Sequential or Functional.
  void ReadModel(json* entry, const std::string& path, const std::string& prefix, bool frozen,
                 ModelGraph* graph) {
    graph->path = path + "config";
    graph->sequential = StringMember(*entry, "class_name") == "Sequential";
    static const json empty;
    json none;
    json* config = entry->contains("config") ? &(*entry)["config"] : &none;
    graph->name = StringMember(*config, "name");
    if (graph->name.empty()) graph->name = StringMember(*entry, "name");
    if (graph->name.empty()) graph->name = graph->sequential ? "sequential" : "model";
    frozen = frozen || Member(*config, "trainable") == json(false);
    CheckDtype(*config, *graph);

    json* layers = nullptr;
    std::string layers_path = graph->path;
    if (config->is_array()) {  // Sequential up to Keras 2.2.2
      layers = config;
    } else if (config->is_object() && config->contains("layers")) {
      layers = &(*config)["layers"];
      layers_path += ".layers";
    }
    if (layers == nullptr || !layers->is_array() || layers->empty()) {
      const bool list = layers != nullptr && layers->is_array();
      return Fail(graph, ErrorCode::kInvalidText, "model \"" + graph->name + "\" has no layers",
                  list ? "The list at " + layers_path + " is empty."
                       : "No list of layers at " + graph->path + ".layers.",
                  kArchitectureHint);
    }
    std::set<std::string> masks;
    for (size_t i = 0; i < layers->size(); ++i) {
      if (n_layers_ >= kMaxLayers) {
        return Fail(graph, ErrorCode::kLimitExceeded, "model has too many layers",
                    "The limit is " + std::to_string(kMaxLayers) + ".");
      }
      ++n_layers_;
      ReadEntry(&(*layers)[i], layers_path + "[" + std::to_string(i) + "]", prefix, frozen, masks,
                graph);
      const GraphLayer& read = graph->layers.back();
      if (read.kind == GraphLayer::Kind::kMask) masks.insert(read.name);
    }
    if (graph->sequential) {
      Chain(*entry, *config, (*layers)[0], graph);
      return;
    }
    std::set<std::string> names;
    for (const GraphLayer& layer : graph->layers) {
      if (names.insert(layer.name).second) continue;
      Fail(graph, ErrorCode::kInvalidText,
           "model \"" + graph->name + "\" has two layers named \"" + layer.name + "\"",
           "The second is " + layer.path + " of the architecture.",
           "Give each layer a name of its own, such as keras.layers.Dense(4, name=\"second\").");
    }
    if (graph->valid) ReadConnections(*config, model_->family, graph, problems_);
  }

  // Says of each class that is not there how many layers have it.
  void NameRefusals() const {
    for (const auto& [key, refusal] : refusals_) {
      if (refusal.others == 0) continue;
      (*problems_)[refusal.problem].message += (refusal.others == 1 ? " (nor is " : " (nor are ") +
                                               std::to_string(refusal.others) +
                                               " more of this class)";
    }
  }

 private:
  void Fail(ModelGraph* graph, ErrorCode code, const std::string& message,
            const std::string& detail, const std::string& hint = "") {
    graph->valid = false;
    problems_->push_back({code, message, detail, hint});
  }

  void CheckDtype(const json& config, const ModelGraph& graph) {
    const json& dtype = Member(config, "dtype");
    std::string name;
    if (dtype.is_null()) return;
    if (DtypeName(dtype, &name) && (name == "float32" || IsMixedPolicy(name))) return;
    problems_->push_back({ErrorCode::kNotSupported,
                          "model \"" + graph.name + "\": dtype " +
                              (name.empty() ? ShortJson(dtype) : "\"" + name + "\"") +
                              " is not supported",
                          "It stands at " + graph.path + ".dtype.", DtypeHint(name)});
  }

  // `masks`: names of the entries before it that make masks.
  void ReadEntry(json* entry, const std::string& path, const std::string& prefix, bool frozen,
                 const std::set<std::string>& masks, ModelGraph* graph) {
    GraphLayer layer;
    layer.path = path;
    if (model_->family == KerasFamily::kKeras3) NameOperation(entry);
    layer.name = StringMember(*entry, "name");
    if (layer.name.empty()) layer.name = StringMember(Member(*entry, "config"), "name");
    if (layer.name.empty()) layer.name = path;
    if (!entry->is_object() || StringMember(*entry, "class_name").empty()) {
      Fail(graph, ErrorCode::kInvalidText, "layer \"" + layer.name + "\" has no class_name",
           "The file says " + ShortJson(*entry) + " at " + path + ".");
    } else if (IsOperationOfMasks(*entry, masks)) {
      layer.kind = GraphLayer::Kind::kMask;
      layer.mask = MaskOperationOf(*entry);
    } else {
      ResolveClassName(entry);
      UnfoldCells(entry);
      UnfoldSteps(entry, model_->family);
      layer.operation = IsOperation(*entry) && WriteOperationAsLayer(entry, &layer.constants);
      const EntryClass entry_class = ClassifyEntry(*entry, layer.name, path, problems_);
      switch (entry_class) {
        case EntryClass::kInput:
          layer.kind = GraphLayer::Kind::kInput;
          ReadInput(Member(*entry, "config"), graph, &layer);
          break;
        case EntryClass::kModel:
          layer.kind = GraphLayer::Kind::kModel;
          layer.model = std::make_unique<ModelGraph>();
          ReadModel(entry, path + ".", prefix + layer.name + "/", frozen, layer.model.get());
          break;
        case EntryClass::kLayer:
          if (layer.operation && PartsOf(*entry) != 1) {
            MakeParts(entry, prefix, frozen, graph, &layer);
          } else {
            MakeLayer(entry, prefix, frozen, &layer);
          }
          break;
        case EntryClass::kMask:
          layer.kind = GraphLayer::Kind::kMask;
          layer.mask = MaskOperationOf(*entry);
          break;
        case EntryClass::kUnknown:
          // How the class is called, and what comes out, is not known either.
          graph->valid = false;
          CountRefusal(*entry);
          break;
      }
    }
    graph->layers.push_back(std::move(layer));
  }

  // Of many layers of a class that is not there the first one is enough to name.
  void CountRefusal(const json& entry) {
    const std::string key = StringMember(entry, "class_name") + "\n" +
                            StringMember(entry, "registered_name") + "\n" +
                            StringMember(Member(entry, "config"), "function");
    const auto [at, is_new] = refusals_.try_emplace(key, Refusal{problems_->size() - 1, 0});
    if (is_new) return;
    problems_->pop_back();
    ++at->second.others;
  }

  void ReadInput(const json& config, ModelGraph* graph, GraphLayer* layer) {
    for (const char* key : {"batch_shape", "batch_input_shape"}) {
      if (layer->input_shape || Member(config, key).is_null()) continue;
      layer->input_shape = ReadBatchShape(Member(config, key));
      layer->lacks_batch = IsLoneSize(Member(config, key));
      if (layer->input_shape) continue;
      Fail(graph, ErrorCode::kInvalidText,
           "input \"" + layer->name + "\": " + key + " is not a shape",
           "The file says " + ShortJson(Member(config, key)) + " at " + layer->path + ".");
    }
    // As Input() and layers take it from those who write by hand: without the batch.
    for (const char* key : {"input_shape", "shape"}) {
      const json& shape = Member(config, key);
      if (!layer->input_shape && shape.is_array()) layer->input_shape = ReadBatchShape(shape, 0);
    }
    std::string dtype;
    const json& type = Member(config, "dtype");
    static const std::set<std::string> numbers = {"float32", "uint8", "int8",
                                                  "int16",   "int32", "int64"};
    const bool is_number = type.is_null() || (DtypeName(type, &dtype) && numbers.count(dtype) != 0);
    layer->is_text = dtype == "string";
    if (!is_number && !layer->is_text) {
      Fail(graph, ErrorCode::kNotSupported,
           "input \"" + layer->name + "\": dtype " +
               (dtype.empty() ? ShortJson(type) : "\"" + dtype + "\"") + " is not supported",
           "The input is " + layer->path + " of the architecture.",
           "Declare it as float32 or as an integer type: keras.Input(shape, dtype=\"float32\").");
    }
    for (const char* key : {"sparse", "ragged", "optional"}) {
      if (Member(config, key) != json(true)) continue;
      Fail(graph, ErrorCode::kNotSupported,
           "input \"" + layer->name + "\": " + key + " inputs are not supported",
           "The input is " + layer->path + " of the architecture.",
           std::strcmp(key, "ragged") == 0
               ? "Fill sequences up to one length, and leave the rest out with mask_zero of "
                 "keras.layers.Embedding or with keras.layers.Masking."
               : "Build the model with keras.Input(shape).");
    }
  }

  void MakeLayer(json* entry, const std::string& prefix, bool frozen, GraphLayer* layer) {
    const std::string class_name = StringMember(*entry, "class_name");
    json& config = (*entry)["config"];
    if (config.is_null()) config = json::object();  // all arguments have their defaults
    const std::string name = prefix + layer->name;
    const size_t before = problems_->size();
    if (!config.is_object()) {
      problems_->push_back({ErrorCode::kInvalidText, "layer \"" + name + "\" has no config",
                            "The file says " + ShortJson(config) + " at " + layer->path + ".", ""});
    } else {
      config["name"] = name;
      if (frozen) config["trainable"] = false;
    }
    LayerConfig layer_config(config, class_name, layer->path, model_->family, problems_,
                             layer->operation ? nullptr : &model_->warnings);
    std::unique_ptr<Layer> made;
    try {
      made = FindLayerType(class_name)->make(layer_config);
      layer_config.Finish();
    } catch (const Error& error) {
      problems_->push_back(error.problem());
    }
    if (made == nullptr && problems_->size() == before) {
      layer_config.Fail(ErrorCode::kInvalidParameter, "its arguments are not usable");
    }
    // A layer with problems keeps its place but is not called, so that one mistake does not
    // bring follow-up mistakes.
    if (problems_->size() != before) return;
    layer->layer = static_cast<int>(model_->layers.size());
    model_->layers.push_back(std::move(made));
    std::string fingerprint = class_name;
    for (const auto& [key, value] : layer_config.fingerprint()) {
      fingerprint += '\n' + key + '=' + value;
    }
    model_->fingerprints.push_back(fingerprint);
  }

  // A layer for each output of an operation that has several; the first has its name.
  void MakeParts(json* entry, const std::string& prefix, bool frozen, ModelGraph* graph,
                 GraphLayer* layer) {
    const int64_t parts = PartsOf(*entry);
    if (parts > static_cast<int64_t>(kMaxLayers - n_layers_)) {
      return Fail(graph, ErrorCode::kLimitExceeded, "model has too many layers",
                  "The limit is " + std::to_string(kMaxLayers) + "; layer \"" + layer->name +
                      "\" has " + std::to_string(parts) + " outputs.");
    }
    n_layers_ += static_cast<size_t>(parts);
    const std::string name = layer->name;
    const size_t before = problems_->size();
    int first = -1;
    for (int64_t part = 0; part < parts && problems_->size() == before; ++part) {
      (*entry)["config"]["part"] = part;
      if (part > 0) layer->name = name + "/" + std::to_string(part);
      MakeLayer(entry, prefix, frozen, layer);
      if (part == 0) first = layer->layer;
    }
    layer->name = name;
    layer->layer = problems_->size() == before ? first : -1;
    layer->parts = static_cast<int>(parts);
  }

  // [4] where [null, 4] is meant.
  static bool IsLoneSize(const json& shape) {
    return shape.is_array() && shape.size() == 1 && shape[0].is_number();
  }

  // The shape that a Sequential without InputLayer states elsewhere.
  static std::optional<Shape> StatedShape(const json& entry, const json& config,
                                          const json& first) {
    const json& first_config = Member(first, "config");
    for (const json* value :
         {&Member(first_config, "batch_shape"), &Member(first_config, "batch_input_shape"),
          &Member(config, "build_input_shape"),
          &Member(Member(entry, "build_config"), "input_shape")}) {
      if (auto shape = ReadBatchShape(*value)) return shape;
    }
    if (const json& shape = Member(first_config, "input_shape"); shape.is_array()) {
      return ReadBatchShape(shape, 0);
    }
    return std::nullopt;
  }

  // Makes a Sequential a graph: an input, then each layer called on the one before.
  void Chain(const json& entry, const json& config, const json& first, ModelGraph* graph) {
    if (graph->layers[0].kind != GraphLayer::Kind::kInput) {
      GraphLayer input;
      input.kind = GraphLayer::Kind::kInput;
      input.name = "input";
      input.path = graph->path;
      input.input_shape = StatedShape(entry, config, first);
      input.lacks_batch = IsLoneSize(Member(Member(first, "config"), "batch_shape")) ||
                          IsLoneSize(Member(Member(first, "config"), "batch_input_shape"));
      // A nested model may state its own.
      const ModelGraph* inner = graph->layers[0].model.get();
      while (!input.input_shape && inner != nullptr && inner->inputs.size() == 1) {
        const GraphLayer& own = inner->layers[inner->inputs[0].layer];
        input.input_shape = own.input_shape;
        inner = own.model.get();
      }
      graph->layers.insert(graph->layers.begin(), std::move(input));
    }
    for (size_t i = 1; i < graph->layers.size(); ++i) {
      GraphLayer& layer = graph->layers[i];
      if (layer.kind == GraphLayer::Kind::kInput) {
        Fail(graph, ErrorCode::kInvalidText,
             "input \"" + layer.name + "\" stands in the middle of model \"" + graph->name + "\"",
             "It is " + layer.path + " of the architecture.");
        continue;
      }
      layer.calls.emplace_back();
      layer.calls.back().inputs.push_back({static_cast<int>(i) - 1, 0, 0});
    }
    graph->inputs.push_back({0, 0, 0});
    graph->outputs.push_back({static_cast<int>(graph->layers.size()) - 1, 0, 0});
  }

  struct Refusal {
    size_t problem;  // the place of the first one
    int others;
  };

  KerasModel* model_;
  std::vector<Problem>* problems_;
  size_t n_layers_ = 0;
  std::map<std::string, Refusal> refusals_;  // by class
};

}  // namespace

std::optional<Shape> ReadBatchShape(const json& value, size_t axes_before) {
  if (!value.is_array() || value.size() < axes_before) return std::nullopt;
  Shape shape;
  for (size_t i = axes_before; i < value.size(); ++i) {
    if (value[i].is_null()) {
      shape.push_back(-1);
      continue;
    }
    if (!value[i].is_number()) return std::nullopt;
    const double size = value[i].get<double>();
    if (!(size >= 1.0 && size <= 2147483647.0)) return std::nullopt;
    shape.push_back(static_cast<int64_t>(size));
  }
  return shape;
}

void ReadKerasModel(json* document, KerasModel* model, std::vector<Problem>* problems) {
  model->family = DetectFamily(*document);
  const std::string class_name = StringMember(*document, "class_name");
  if (class_name != "Sequential" && class_name != "Functional" && class_name != "Model") {
    const std::string hint = NearestNameHint(class_name, {"Sequential", "Functional"});
    problems->push_back(
        {ErrorCode::kNotSupported,
         "model class " + ShortJson((*document)["class_name"]) + " is not supported",
         "Sequential and Functional models are supported.",
         hint.empty() ? "Use the output of model.to_json() of a Sequential or Functional model."
                      : hint});
    return;
  }
  Reader reader(model, problems);
  reader.ReadModel(document, "", "", false, &model->graph);
  reader.NameRefusals();
  if (problems->empty() && model->graph.valid) ReadColumns(model, problems);
}

}  // namespace hopper
