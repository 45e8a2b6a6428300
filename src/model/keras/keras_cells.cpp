// Recurrent layers that a file writes as cells: RNN(LSTMCell(4)) for LSTM(4).

#include <nlohmann/json.hpp>

#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"

namespace hopper {

using nlohmann::json;

namespace {

// RNN(LSTMCell(...)) is the layer LSTM with the cell's arguments. Another cell stays.
void TakeCell(json* entry) {
  json& config = (*entry)["config"];
  static constexpr const char* kCells[][2] = {
      {"GRUCell", "GRU"}, {"LSTMCell", "LSTM"}, {"SimpleRNNCell", "SimpleRNN"}};
  for (const auto& [cell_class, layer_class] : kCells) {
    if (StringMember(config["cell"], "class_name") != cell_class) continue;
    if (!IsOfKeras(config["cell"]) || entry->contains(kPutAway)) return;
    // Out of the config first: an argument may be called as it is.
    json& cell = (*entry)[kPutAway];
    cell.swap(config["cell"]);
    config.erase("cell");
    (*entry)["class_name"] = layer_class;
    if (!Member(cell, "config").is_object()) return;
    for (const auto& [key, value] : cell["config"].items()) {
      const bool frozen = key == "trainable" && value == json(false);
      if ((key != "name" && key != "trainable") || frozen) config[key].swap(value);
    }
    return;
  }
}

// Arguments of an RNN of several cells that layers behind each other do not have together:
// backwards it is the first cell alone that hears the series so, and masks go along.
constexpr const char* kOfOneCell[] = {"go_backwards", "return_state", "stateful"};

// RNN([LSTMCell(...), LSTMCell(...)]): a model of layers behind each other, of which the last one
// gives what it gives.
void TakeCells(json* entry) {
  json& config = (*entry)["config"];
  json& stacked = config["cell"];
  json* cells = stacked.contains("config") && stacked["config"].is_object() &&
                        stacked["config"].contains("cells")
                    ? &stacked["config"]["cells"]
                    : nullptr;
  if (cells == nullptr || !cells->is_array() || cells->empty() || entry->contains(kPutAway)) return;
  for (const char* key : kOfOneCell) {
    if (Member(config, key) == json(true)) return;
  }
  json& away = (*entry)[kPutAway];
  json& layers = away["layers"];
  for (size_t i = 0; i < cells->size(); ++i) {
    layers.push_back(json());
    json& layer = layers.back();
    layer["class_name"] = "RNN";
    json& own = layer["config"];
    own["name"] = StringMember(Member((*cells)[i], "config"), "name");
    if (i + 1 < cells->size()) {
      own["return_sequences"] = true;
    } else {
      for (const char* key : {"return_sequences", "zero_output_for_mask"}) {
        if (Member(config, key).is_boolean()) own[key] = Member(config, key).get<bool>();
      }
    }
    own["cell"].swap((*cells)[i]);
  }
  const std::string name = StringMember(config, "name");
  const bool frozen = Member(config, "trainable") == json(false);
  away["config"].swap(config);
  config["name"] = name;
  if (frozen) config["trainable"] = false;
  config["layers"].swap(layers);
  (*entry)["class_name"] = "Sequential";
}

bool HasCell(const json& entry) {
  return StringMember(entry, "class_name") == "RNN" && IsOfKeras(entry) &&
         Member(Member(entry, "config"), "cell").is_object();
}

}  // namespace

const char* ArgumentOfOneCell(const json& entry) {
  const json& config = Member(entry, "config");
  if (!HasCell(entry) || StringMember(config["cell"], "class_name") != "StackedRNNCells") {
    return nullptr;
  }
  for (const char* key : kOfOneCell) {
    if (Member(config, key) == json(true)) return key;
  }
  return nullptr;
}

void UnfoldCells(json* entry) {
  if (!Member(*entry, "config").is_object()) return;
  json& config = (*entry)["config"];
  for (const char* key : {"layer", "backward_layer"}) {  // Bidirectional has them
    if (HasCell(Member(config, key))) TakeCell(&config[key]);
  }
  if (!HasCell(*entry)) return;
  if (StringMember(config["cell"], "class_name") == "StackedRNNCells") {
    TakeCells(entry);
  } else {
    TakeCell(entry);
  }
}

}  // namespace hopper
