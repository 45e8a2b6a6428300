// In which order the calls of a graph are made. Internal to model/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "model/keras/keras_json.h"

namespace hopper {

// The calls of a graph in an order in which each finds its inputs, and what they gave: tensor ids.
class CallOrder {
 public:
  using Key = std::pair<int, int>;  // layer, call

  explicit CallOrder(const ModelGraph& graph)
      : values_(graph.layers.size()),
        missing_(graph.layers.size()),
        readers_(graph.layers.size()),
        parts_read_(graph.layers.size()) {
    for (size_t i = 0; i < graph.layers.size(); ++i) {
      const bool is_input = graph.layers[i].kind == GraphLayer::Kind::kInput;
      const size_t n = is_input ? 1 : graph.layers[i].calls.size();
      values_[i].resize(n);
      readers_[i].resize(n);
      missing_[i].assign(n, 0);
      if (graph.layers[i].parts > 1) parts_read_[i].assign(graph.layers[i].parts, false);
    }
    for (size_t i = 0; i < graph.layers.size(); ++i) {
      const GraphLayer& layer = graph.layers[i];
      if (layer.kind == GraphLayer::Kind::kInput) continue;
      for (size_t c = 0; c < layer.calls.size(); ++c) {
        const std::vector<TensorRef> refs = layer.calls[c].AllRefs();
        missing_[i][c] = static_cast<int>(refs.size());
        for (const TensorRef& ref : refs) {
          readers_[ref.layer][ref.call].push_back({static_cast<int>(i), static_cast<int>(c)});
          Read(ref);
        }
      }
    }
    for (const TensorRef& ref : graph.outputs) Read(ref);
  }

  // The first call that has its inputs; false where there is none.
  bool Next(Key* key) {
    if (ready_.empty()) return false;
    *key = ready_.top();
    ready_.pop();
    return true;
  }
  // What it gave is known, or will never be.
  void Settle(Key key) {
    for (Key reader : readers_[key.first][key.second]) {
      if (--missing_[reader.first][reader.second] == 0) ready_.push(reader);
    }
  }

  std::vector<int>& values(int layer, int call) { return values_[layer][call]; }
  // Of an operation with several outputs those that somebody reads.
  const std::vector<bool>& parts_read(int layer) const { return parts_read_[layer]; }
  // Whether a call of the layer has not had all its inputs.
  bool IsOpen(size_t layer) const {
    return std::any_of(missing_[layer].begin(), missing_[layer].end(),
                       [](int missing) { return missing != 0; });
  }

 private:
  void Read(const TensorRef& ref) {
    std::vector<bool>& read = parts_read_[ref.layer];
    if (static_cast<size_t>(ref.tensor) < read.size()) read[ref.tensor] = true;
  }

  std::vector<std::vector<std::vector<int>>> values_;
  std::vector<std::vector<int>> missing_;
  std::vector<std::vector<std::vector<Key>>> readers_;
  std::vector<std::vector<bool>> parts_read_;  // by layer
  std::priority_queue<Key, std::vector<Key>, std::greater<Key>> ready_;
};

}  // namespace hopper
