// The table of functions that need no libtorch: a thin layer that lets no exception out.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/hash.h"
#include "base/machine.h"
#include "capi/arguments.h"
#include "capi/boundary.h"
#include "capi/core_parts.h"
#include "capi/lists.h"
#include "capi/rows.h"
#include "capi/run_rules.h"
#include "capi/schema_api.h"
#include "capi/search_api.h"
#include "capi/structs.h"
#include "data/dataset.h"
#include "model/spec.h"
#include "params/text.h"
#include "schedule/course.h"
#include "schedule/workers.h"
#include "state/iterations.h"
#include "state/state.h"

namespace hopper {
namespace {

int32_t SizeOfType(int32_t type) {
  int32_t size = 0;
  Guard(nullptr, [&] { size = TypeSize(static_cast<ValueType>(type)); });
  return size;
}

int64_t NonFinite(int32_t type, const void* values, int64_t count) {
  int64_t at = -1;
  Guard(nullptr, [&] { at = FindNonFinite(static_cast<ValueType>(type), values, count); });
  return at;
}

// Outputs are set before and inside the guard, never read after it from a local struct: g++ 12
// (-O2) loses the first value of a struct of two registers whose assignment throws.
void KeyOfRow(uint64_t seed, const void* x, size_t x_size, const void* y, size_t y_size,
              uint8_t key[16]) {
  std::memset(key, 0, sizeof(Digest::bytes));
  Guard(nullptr, [&] {
    const Digest digest = RowKey(seed, x, x_size, y, y_size);
    std::memcpy(key, digest.bytes.data(), digest.bytes.size());
  });
}

int32_t PartitionsByDefault(int64_t bytes, int64_t n_rows) {
  int32_t n = 1;
  Guard(nullptr, [&] { n = DefaultPartitions(bytes, n_rows); });
  return n;
}

void RangeOfPartition(int64_t n_rows, int32_t n_partitions, int32_t partition, int64_t* first,
                      int64_t* count) {
  *first = 0;
  *count = 0;
  Guard(nullptr, [&] {
    const RankRange range = PartitionRange(n_rows, n_partitions, partition);
    *first = range.first;
    *count = range.count;
  });
}

void ChecksumOfBuffer(int32_t partition_id, int32_t buffer_id, int32_t n, const void* x,
                      size_t x_size, const void* y, size_t y_size, uint8_t checksum[16]) {
  std::memset(checksum, 0, sizeof(Digest::bytes));
  Guard(nullptr, [&] {
    const Digest digest = BufferChecksum(partition_id, buffer_id, n, x, x_size, y, y_size);
    std::memcpy(checksum, digest.bytes.data(), digest.bytes.size());
  });
}

int32_t NearestOfNames(const char* name, int32_t n, const char* const* names) {
  int32_t at = -1;
  Guard(nullptr, [&] {
    std::vector<std::string> candidates;
    for (int32_t i = 0; i < n; ++i) candidates.push_back(Text(names[i]));
    if (const auto nearest = NearestName(Text(name), candidates)) {
      at = static_cast<int32_t>(std::find(candidates.begin(), candidates.end(), *nearest) -
                                candidates.begin());
    }
  });
  return at;
}

// 0 to 7; halves, because the difference of two numbers can be infinite where they are not.
size_t LevelOf(double value, double low, double high) {
  const double share = (value / 2 - low / 2) / (high / 2 - low / 2);
  if (!(high / 2 - low / 2 > 0) || !std::isfinite(share)) return 3;
  return static_cast<size_t>(std::clamp(static_cast<int>(share * 8), 0, 7));
}

int Sparkline(const double* values, int32_t n, int32_t width, int32_t blocks, hopper_rows** rows,
              hopper_error* error) {
  static constexpr const char* kLevels[2][8] = {{"_", ".", "-", "~", "=", "+", "*", "#"},
                                                {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}};
  return Guard(error, [&] {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (int32_t i = 0; i < n; ++i) {
      if (!std::isfinite(values[i])) continue;
      low = std::min(low, values[i]);
      high = std::max(high, values[i]);
    }
    std::string line;
    const int64_t shown = std::min(n, width);
    for (int64_t i = 0; i < shown; ++i) {
      const double value = values[shown == 1 ? n - 1 : i * (n - 1) / (shown - 1)];
      line += std::isfinite(value) ? kLevels[blocks != 0 ? 1 : 0][LevelOf(value, low, high)] : " ";
    }
    auto table = std::make_unique<Rows>(1);
    table->Add({line});
    *rows = Rows::Release(std::move(table));
  });
}

int CountTexts(int32_t n, const char* const* texts, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    std::map<std::string_view, size_t> places;
    std::vector<std::pair<std::string_view, int64_t>> counted;
    for (int32_t i = 0; i < n; ++i) {
      LookAtCancel();
      const size_t at = places.emplace(texts[i], counted.size()).first->second;
      if (at == counted.size()) counted.emplace_back(texts[i], 0);
      ++counted[at].second;
    }
    std::stable_sort(counted.begin(), counted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    constexpr size_t kMostTexts = 5;
    std::string words;
    for (size_t i = 0; i < std::min(counted.size(), kMostTexts); ++i) {
      const auto& [text, count] = counted[i];
      words += (i > 0 ? ", " : "") + std::string(text);
      if (counted.size() > 1) words += " (" + std::to_string(count) + ")";
    }
    if (counted.size() > kMostTexts) words += ", and others";
    auto table = std::make_unique<Rows>(1);
    table->Add({words});
    *rows = Rows::Release(std::move(table));
  });
}

int VerifyStateImage(const uint8_t* state, size_t size, char digest[33], int64_t* iterations,
                     hopper_error* error) {
  return Guard(error, [&] {
    Require(state != nullptr, "state");
    const std::string hex = VerifyState(state, size).Hex();
    std::memcpy(digest, hex.c_str(), hex.size() + 1);
    *iterations = IterationsOfState(state, size);
  });
}

int EvaluationsOf(const hopper_run_options* options, int32_t split, int64_t* n,
                  hopper_error* error) {
  return Guard(error, [&] {
    Require(options != nullptr && n != nullptr, "options");
    Require(split == kTrainSplit || split == kValidSplit, "split");
    RunRules rules = RulesFromC(*options);
    for (int32_t& frequency : rules.frequency) frequency = std::max(frequency, 1);
    rules.partitions = {1, 1};
    *n = rules.Evaluations(split, 1, rules.num_iterations);
  });
}

int FirstPartitionOf(const int32_t* starts, int32_t n_starts, int32_t mst_key, int32_t* partition,
                     hopper_error* error) {
  return Guard(error, [&] {
    Require(starts != nullptr && n_starts > 0 && partition != nullptr, "starts");
    const std::vector<int> all(starts, starts + n_starts);
    *partition = Ring(all.back() + 1, all).FirstPartition(mst_key);
  });
}

int32_t Workers(int32_t threads, int32_t threads_per_model) {
  return WorkersOf(threads, std::max(threads_per_model, 1));
}

int CheckThreads(int32_t threads, int32_t threads_per_model, hopper_error* error) {
  return Guard(error, [&] { CheckThreadsPerModel(threads, threads_per_model); });
}

// Files are read for both: without memory for that nothing is known.
int64_t MemoryOfMachine() {
  int64_t bytes = 0;
  Guard(nullptr, [&] { bytes = AvailableMemory(); });
  return bytes;
}

int32_t ProcessorsOfMachine() {
  int32_t n = 1;
  Guard(nullptr, [&] { n = AvailableProcessors(); });
  return n;
}

hopper_core_api MakeApi() {
  hopper_core_api api = {};
  api.version = HOPPER_API_VERSION;
  api.size = static_cast<int32_t>(sizeof(hopper_core_api));
  api.library_version = HOPPER_LIBRARY_VERSION;
  api.rows_free = Rows::Free;
  api.ask_for_cancel = AskForCancel;
  api.list = ListRows;
  api.workers_of = Workers;
  api.check_threads_per_model = CheckThreads;
  api.evaluations = EvaluationsOf;
  api.first_partition = FirstPartitionOf;
  api.type_size = SizeOfType;
  api.find_non_finite = NonFinite;
  api.row_key = KeyOfRow;
  api.default_partitions = PartitionsByDefault;
  api.partition_range = RangeOfPartition;
  api.buffer_checksum = ChecksumOfBuffer;
  api.sparkline = Sparkline;
  api.count_texts = CountTexts;
  api.nearest_name = NearestOfNames;
  api.verify_state = VerifyStateImage;
  api.available_memory = MemoryOfMachine;
  api.available_processors = ProcessorsOfMachine;
  SetModelFunctions(&api);
  SetConfigurationFunctions(&api);
  SetDataFunctions(&api);
  api.search = MakeSearchApi();
  api.schema = MakeSchemaApi();
  SetEngineFunctions(&api);
  return api;
}

}  // namespace
}  // namespace hopper

extern "C" __attribute__((visibility("default"))) const hopper_core_api* hopper_core_api_get(
    int32_t version) {
  static const hopper_core_api api = hopper::MakeApi();
  return version == HOPPER_API_VERSION ? &api : nullptr;
}
