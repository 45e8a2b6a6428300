#include "engine/held_outputs.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/cancel.h"
#include "base/number_text.h"
#include "model/weights/import.h"
#include "predict/forward_pass.h"

namespace hopper {

std::vector<float> OutputsOf(const std::shared_ptr<const PlannedNetwork>& network,
                             const ConfigSource& config, const Dataset& data, bool logits) {
  const ModelSpec& spec = network->spec();
  const int64_t width = spec.OutputValues();
  AlignedArray<float> flat(static_cast<size_t>(spec.flat_size));
  WeightsImport import(spec, config.n_weights, flat.data());
  import.Add(config.weights, config.n_weights);
  ForwardPass pass(network, data.desc(), flat.data(), kHeldBatch, logits ? 1 : 0);
  std::vector<float> outputs(static_cast<size_t>(data.desc().n_rows * width));
  int64_t row = 0;
  for (int p = 0; p < data.n_partitions(); ++p) {
    const Partition& partition = data.partition(p);
    for (int64_t first = 0; first < partition.n; first += kHeldBatch) {
      const int64_t n = std::min(kHeldBatch, partition.n - first);
      LookAtCancel();
      pass.Run(partition.x.data() + static_cast<size_t>(first) * data.desc().x_bytes(), n,
               outputs.data() + row * width);
      row += n;
    }
  }
  return outputs;
}

void ForEachHeldBatch(const Dataset& data,
                      const std::function<void(const LoadedBatch& batch)>& use) {
  for (int p = 0; p < data.n_partitions(); ++p) {
    const Partition& partition = data.partition(p);
    if (partition.n == 0) continue;
    const int64_t capacity = std::min(kHeldBatch, partition.n);
    LoadedBatch batch(data.desc(), capacity);
    std::vector<int32_t> rows(static_cast<size_t>(capacity));
    for (int64_t first = 0; first < partition.n; first += capacity) {
      const int64_t n = std::min(capacity, partition.n - first);
      std::iota(rows.begin(), rows.begin() + n, static_cast<int32_t>(first));
      batch.Load(partition, rows.data(), n);
      use(batch);
    }
  }
}

void RequireOutputMemory(int64_t bytes, size_t models, int64_t memory_limit, const char* hint) {
  if (bytes <= memory_limit) return;
  const std::string whose = models == 1
                                ? "The outputs of a model take "
                                : "The outputs of " + std::to_string(models) + " models take ";
  throw Error(
      ErrorCode::kOutOfMemory, "out of memory",
      whose + BytesText(bytes) + "; hopper.memory_limit is " + BytesText(memory_limit) + ".", hint);
}

}  // namespace hopper
