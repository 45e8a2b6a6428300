// The text of a Keras architecture as a graph of layers, before any shape is known. Internal to
// model/: users of a model see ModelSpec.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/keras/keras_operands.h"
#include "model/layer.h"

namespace hopper {

// An output of a layer's call, as Keras' [layer, node, tensor].
struct TensorRef {
  int layer = 0;  // index in ModelGraph::layers
  int call = 0;   // index in GraphLayer::calls; as written in the file until it is resolved
  int tensor = 0;
};

struct Call {
  std::vector<TensorRef> inputs;
  // What follows the inputs in AllRefs(): masks, each of one of the inputs.
  std::vector<TensorRef> masks;
  std::vector<int> masked;        // by mask: the input's place
  std::vector<double> constants;  // numbers among the arguments of an operation
  bool inference = false;         // called with training=False
  bool training = false;          // called with training=True
  bool causal = false;            // called with use_causal_mask=True

  std::vector<TensorRef> AllRefs() const {
    std::vector<TensorRef> all = inputs;
    all.insert(all.end(), masks.begin(), masks.end());
    return all;
  }
};

// An operation on tensors that only makes masks.
enum class MaskOperation {
  kSame,
  kNotEqual,
  kAny,  // along the last axis, as kAll
  kAll,
  kAnd,
  kOr,
  // What Keras 3 writes between masked inputs of a Concatenate and its mask: masks get an axis of
  // features, as what is all true or all false has, and are joined along it.
  kExpand,
  kOnes,
  kZeros,
  kConcatenate,
  kFollow,  // the same along the steps
  kOther
};

struct ModelGraph;

struct GraphLayer {
  enum class Kind { kInput, kLayer, kModel, kMask } kind = Kind::kLayer;
  std::string name;
  std::string path;
  int layer = -1;          // kLayer: index in KerasModel::layers; -1: has problems
  bool operation = false;  // kLayer: stands for an operation, whose numbers it holds
  int parts = 1;           // kLayer: outputs of a call; each has a layer from `layer` on
  std::vector<ConstantOperand> constants;  // of an operation, in order, where they are tensors
  std::unique_ptr<ModelGraph> model;       // kModel
  std::optional<Shape> input_shape;        // kInput: as stated; -1 for an open axis
  bool lacks_batch = false;                // kInput: one size stands where the batch's is null
  bool is_text = false;                    // kInput: of strings
  // kInput of the model: the treatment that its column needs, as JSON; "" where any will do.
  std::string treatment;
  bool is_normalized =
      false;  // kInput of the model: read by Normalization that adapt() fills alone
  MaskOperation mask = MaskOperation::kSame;  // kMask
  std::vector<Call> calls;
};

// A Functional or, as a chain, a Sequential.
struct ModelGraph {
  ModelGraph();
  ~ModelGraph();
  std::string name;
  std::string path;
  bool sequential = false;
  std::vector<GraphLayer> layers;
  std::vector<TensorRef> inputs;
  std::vector<TensorRef> outputs;
  std::vector<std::string> output_names;  // where the file has them in a dictionary
  // False where problems were found; calling the model then says nothing more.
  bool valid = true;
};

struct KerasModel {
  KerasFamily family = KerasFamily::kKeras3;
  // Nested models expanded; without the layers that have problems.
  std::vector<std::unique_ptr<Layer>> layers;
  std::vector<std::string> fingerprints;  // of each layer: LayerConfig::fingerprint()
  std::vector<Problem> warnings;
  ModelGraph graph;
};

// Owns a document. The library's own destructor of a value with others in it takes memory, and
// ends the process where there is none. So no json but this one ever holds others: what is read of
// it is looked at where it is, or copied as a number or a text.
class JsonDocument {
 public:
  JsonDocument();
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;
  nlohmann::json* root() { return root_.get(); }
  const nlohmann::json* root() const { return root_.get(); }

 private:
  std::unique_ptr<nlohmann::json> root_;
};

// Parses JSON text of bounded size and depth. False, with a problem, where it is not JSON; the
// problem's message speaks of an architecture.
bool ParseAnyJson(std::string_view text, JsonDocument* document, std::vector<Problem>* problems);
// ParseAnyJson() where it must be a Keras model.
bool ParseJsonText(std::string_view text, JsonDocument* document, std::vector<Problem>* problems);

// Which Keras wrote the document.
KerasFamily DetectFamily(const nlohmann::json& document);

// Reads a whole document and makes its layers; appends every problem. `document` is edited.
void ReadKerasModel(nlohmann::json* document, KerasModel* model, std::vector<Problem>* problems);

// Writes the module of an operation's entry where it has none, as in .h5 files of Keras 3.
void NameOperation(nlohmann::json* entry);
// Whether the entry is an operation on tensors, not a layer.
bool IsOperation(const nlohmann::json& entry);
// The function of an operation in snake case: "add" of Keras 3's class Add, and of TFOpLambda with
// "math.add" or "__operators__.add".
std::string OperationFunction(const nlohmann::json& entry);
// Makes an operation's entry one of a layer that does the same, in this module; false where there
// is none. A file names a layer that is there for operations alone (IsOperationOnly()) only as one
// of ours ("model_hopper>Take").
constexpr const char* kOperationModule = "keras.operations";
// `constants`: those of its operands that the layer takes as tensors.
bool WriteOperationAsLayer(nlohmann::json* entry, std::vector<ConstantOperand>* constants);
// How many outputs such a layer has for each of its calls.
int64_t PartsOf(const nlohmann::json& entry);
// Whether a layer's entry says that it is of Keras, or of ours ("model_hopper>NTKDense"), and not
// by the user.
bool IsOfKeras(const nlohmann::json& entry);
// Where a part of an entry goes that is read no more: see JsonDocument.
constexpr const char* kPutAway = "put away";
// Writes layers in place of an RNN of cells of Keras, also where it is a layer's argument.
void UnfoldCells(nlohmann::json* entry);
// Writes a Sequential of TimeDistributed layers in place of TimeDistributed of a model whose layers
// follow each other, where its weights have the same order.
void UnfoldSteps(nlohmann::json* entry, KerasFamily family);
// The argument for which an RNN of several cells is not unfolded; null for other entries.
const char* ArgumentOfOneCell(const nlohmann::json& entry);
// Writes the usual name of a class in place of another one that it has had.
void ResolveClassName(nlohmann::json* entry);

// What the class of a layer entry at a path is to us. Appends the problem where it is kUnknown.
enum class EntryClass { kInput, kModel, kLayer, kMask, kUnknown };
EntryClass ClassifyEntry(const nlohmann::json& entry, const std::string& name,
                         const std::string& path, std::vector<Problem>* problems);

// Of an entry that is kMask.
MaskOperation MaskOperationOf(const nlohmann::json& entry);
// Whether an entry is an operation of masks, which it is of tensors, too: `masks` are the names of
// the entries before it that make masks.
bool IsOperationOfMasks(const nlohmann::json& entry, const std::set<std::string>& masks);

// Fills in `calls`, `inputs` and `outputs` of a Functional from its config.
void ReadConnections(const nlohmann::json& config, KerasFamily family, ModelGraph* graph,
                     std::vector<Problem>* problems);

// Of a model that is read: which of its inputs layers prepare (StringLookup and its like), and by
// what treatment of a column packing does that. Such an input gets the shape that packing gives it.
void ReadColumns(KerasModel* model, std::vector<Problem>* problems);

// [null, 28, 28, 1] without the batch, -1 for null; nullopt where the value is not a shape. Of a
// shape that is written without the batch, `axes_before` is 0.
std::optional<Shape> ReadBatchShape(const nlohmann::json& value, size_t axes_before = 1);

}  // namespace hopper
