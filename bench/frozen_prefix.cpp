// Heads over a frozen ResNet50, as in transfer learning: what it gains that the frozen part is
// computed once an example and run.
//
//   frozen_prefix [HEADS] [ITERATIONS] [ROWS] [SIDE] [THREADS] [PARTITIONS]     (8 2 1024 32 2 4)
//
// Each head is GlobalAveragePooling2D's 2048 values to a softmax of 10 classes, with an optimizer
// of its own. One run as it is, and one in which every step computes the whole model; both in
// seconds of the clock, and the largest difference of their weights.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/philox.h"
#include "data/dataset.h"
#include "data/features.h"
#include "model/spec.h"
#include "model_hopper/torch.h"
#include "train/trainer.h"

extern "C" const hopper_torch_api* hopper_torch_api_get(int32_t version);

namespace hopper {
namespace {

void Check(int code, const hopper_error& error) {
  if (code != 0) throw std::runtime_error(std::string(error.message) + " " + error.detail);
}

// ResNet50 of keras.applications, all of it frozen, and a head.
class ResNet {
 public:
  explicit ResNet(int64_t side) {
    const std::string size = std::to_string(side);
    Add("InputLayer", "input", "\"batch_input_shape\": [null, " + size + ", " + size + ", 3]", {});
    std::string x = Add("ZeroPadding2D", "pad1", "\"padding\": [[3, 3], [3, 3]]", {"input"});
    x = Normalized(x, "conv1", 64, 7, 2, "valid");
    x = Relu(x);
    x = Add("ZeroPadding2D", "pad2", "\"padding\": [[1, 1], [1, 1]]", {x});
    x = Add("MaxPooling2D", "pool1", R"("pool_size": [3, 3], "strides": [2, 2])", {x});
    const int blocks[] = {3, 4, 6, 3};
    for (int stack = 0; stack < 4; ++stack) {
      for (int block = 0; block < blocks[stack]; ++block) {
        x = Block(x, 64 << stack, block == 0, block == 0 && stack > 0 ? 2 : 1);
      }
    }
    x = Add("GlobalAveragePooling2D", "average", "", {x});
    last_ = Add("Dense", "head", R"("units": 10, "activation": "softmax")", {x});
  }

  std::string Json() const {
    return R"({"class_name": "Functional", "config": {"name": "resnet50", "layers": [)" + layers_ +
           R"(], "input_layers": [["input", 0, 0]], "output_layers": [[")" + last_ +
           R"(", 0, 0]]}, "keras_version": "2.10.0", "backend": "tensorflow"})";
  }

 private:
  std::string Add(const std::string& class_name, const std::string& name,
                  const std::string& attributes, const std::vector<std::string>& inputs) {
    std::string from;
    for (const std::string& input : inputs) {
      from += (from.empty() ? "[\"" : ", [\"") + input + "\", 0, 0, {}]";
    }
    layers_ += (layers_.empty() ? "" : ", ") + (R"({"class_name": ")" + class_name) +
               R"(", "name": ")" + name + R"(", "config": {"name": ")" + name + "\"" +
               (attributes.empty() ? "" : ", " + attributes) + R"(}, "inbound_nodes": [)" +
               (inputs.empty() ? "" : "[" + from + "]") + "]}";
    return name;
  }
  std::string Next(const std::string& kind) { return kind + std::to_string(++count_); }
  std::string Relu(const std::string& x) {
    return Add("Activation", Next("relu"), R"("activation": "relu")", {x});
  }
  std::string Normalized(const std::string& x, const std::string& name, int filters, int kernel,
                         int stride, const char* padding) {
    const std::string k = std::to_string(kernel);
    const std::string s = std::to_string(stride);
    const std::string y = Add("Conv2D", name,
                              "\"filters\": " + std::to_string(filters) + ", \"kernel_size\": [" +
                                  k + ", " + k + "], \"strides\": [" + s + ", " + s +
                                  "], \"padding\": \"" + padding + "\", \"trainable\": false",
                              {x});
    return Add("BatchNormalization", Next("norm"), R"("epsilon": 1.001e-5, "trainable": false)",
               {y});
  }
  std::string Block(const std::string& x, int filters, bool shortcut, int stride) {
    std::string past = x;
    if (shortcut) past = Normalized(x, Next("short"), 4 * filters, 1, stride, "valid");
    std::string y = Relu(Normalized(x, Next("conv"), filters, 1, stride, "valid"));
    y = Relu(Normalized(y, Next("conv"), filters, 3, 1, "same"));
    y = Normalized(y, Next("conv"), 4 * filters, 1, 1, "valid");
    return Relu(Add("Add", Next("add"), "", {past, y}));
  }

  std::string layers_;
  std::string last_;
  int count_ = 1;
};

struct Buffer {
  std::vector<uint8_t> x;
  std::vector<int16_t> y;
  Digest checksum;
  hopper_buffer raw = {};
};

struct Table {
  hopper_data_desc desc = {};
  std::vector<std::unique_ptr<Buffer>> buffers;  // one a partition
};

Table MakeTable(int64_t rows, int64_t side, int32_t partitions) {
  Table table;
  table.desc.x_type = HOPPER_UINT8;
  table.desc.x_rank = 3;
  table.desc.x_shape[0] = table.desc.x_shape[1] = side;
  table.desc.x_shape[2] = 3;
  table.desc.y_kind = HOPPER_LABEL_CLASS;
  table.desc.y_type = HOPPER_INT16;
  table.desc.num_classes = 10;
  table.desc.n_partitions = partitions;
  table.desc.n_rows = rows;
  table.desc.normalizing_const = 255.0;
  table.desc.table_name = "images";
  const int64_t values = side * side * 3;
  const Philox random(1, Purpose::kPack, 0, 0);
  for (int32_t p = 0; p < partitions; ++p) {
    const RankRange range = PartitionRange(rows, partitions, p);
    auto buffer = std::make_unique<Buffer>();
    for (int64_t row = range.first; row < range.first + range.count; ++row) {
      for (int64_t i = 0; i < values; ++i) {
        const float value = random.Uniform(static_cast<uint64_t>(row * values + i));
        buffer->x.push_back(static_cast<uint8_t>(value * 255.0F));
      }
      buffer->y.push_back(static_cast<int16_t>(row % 10));
    }
    hopper_buffer& raw = buffer->raw;
    raw.split = HOPPER_SPLIT_TRAIN;
    raw.partition_id = p;
    raw.n = static_cast<int32_t>(range.count);
    raw.x = buffer->x.data();
    raw.x_size = buffer->x.size();
    raw.y = buffer->y.data();
    raw.y_size = buffer->y.size() * sizeof(int16_t);
    buffer->checksum = BufferChecksum(p, 0, raw.n, raw.x, raw.x_size, raw.y, raw.y_size);
    raw.checksum = buffer->checksum.bytes.data();
    table.buffers.push_back(std::move(buffer));
  }
  return table;
}

struct Outcome {
  double seconds = 0.0;
  int64_t computed = 0;  // partitions by the frozen part
  std::vector<std::vector<float>> weights;
};

Outcome Run(const Table& table, const std::string& json, const std::vector<float>& weights,
            int32_t heads, int32_t iterations, int32_t threads) {
  const hopper_engine_api& api = hopper_torch_api_get(HOPPER_API_VERSION)->engine;
  const int event_fd = eventfd(0, EFD_NONBLOCK);
  std::vector<int32_t> starts;
  for (int32_t p = 0; p < table.desc.n_partitions; ++p) starts.push_back(p);
  hopper_run_options options = {};
  options.seed = 42;
  options.num_iterations = iterations;
  options.metrics_compute_frequency = iterations;
  options.training_metrics = HOPPER_METRICS_FINAL;
  options.threads = threads;
  options.n_starts = table.desc.n_partitions;
  options.starts = starts.data();
  options.memory_limit = int64_t{1} << 34;
  options.precision = "fp32";
  options.event_fd = event_fd;
  hopper_error error = {};
  hopper_run* run = nullptr;
  Outcome outcome;
  const int64_t before = FeatureStore::computed();
  const Stopwatch watch;
  Check(api.run.create(&options, &table.desc, nullptr, &run, &error), error);
  for (int32_t key = 1; key <= heads; ++key) {
    const std::string compile =
        "loss='sparse_categorical_crossentropy', metrics=['accuracy'], optimizer='SGD(lr=" +
        std::to_string(0.0005 * key) + ", momentum=0.9)'";
    hopper_config config = {};
    config.mst_key = key;
    config.model_arch = json.data();
    config.model_arch_size = json.size();
    config.compile_params = compile.c_str();
    config.fit_params = "batch_size=32, epochs=1";
    config.weights = weights.data();
    config.n_weights = static_cast<int64_t>(weights.size());
    Check(api.run.add_config(run, &config, &error), error);
  }
  hopper_data_plan plan = {};
  Check(api.run.plan_data(run, &plan, &error), error);
  for (const auto& buffer : table.buffers) {
    Check(api.run.add_buffer(run, &buffer->raw, &error), error);
  }
  Check(api.run.start(run, &error), error);
  for (bool finished = false; !finished;) {
    hopper_event event = {};
    hopper_visit visits[64];
    while (api.run.next_event(run, &event) == 1) finished |= event.type == HOPPER_EVENT_FINISHED;
    while (api.run.next_visits(run, visits, 64) > 0) {
    }
    if (finished) break;
    pollfd poll_fd = {event_fd, POLLIN, 0};
    uint64_t count = 0;
    if (poll(&poll_fd, 1, -1) == 1 && read(event_fd, &count, sizeof(count)) < 0) break;
  }
  outcome.seconds = watch.Seconds();
  outcome.computed = FeatureStore::computed() - before;
  std::vector<uint8_t> piece(1 << 20);
  for (int32_t key = 1; key <= heads; ++key) {
    size_t taken = 1;
    while (taken > 0) {
      Check(api.run.take_state(run, key, piece.data(), piece.size(), &taken, &error), error);
    }
    std::vector<float> trained(weights.size());
    Check(api.run.take_weights(run, key, trained.data(), static_cast<int64_t>(trained.size()),
                               &error),
          error);
    outcome.weights.push_back(std::move(trained));
  }
  api.run.free(run);
  close(event_fd);
  return outcome;
}

int Main(int argc, char** argv) {
  const auto argument = [&](int at, int otherwise) {
    return argc > at ? std::atoi(argv[at]) : otherwise;
  };
  const int heads = argument(1, 8);
  const int iterations = argument(2, 2);
  const int rows = argument(3, 1024);
  const int side = argument(4, 32);
  const int threads = argument(5, 2);
  const Table table = MakeTable(rows, side, argument(6, 4));
  const std::string json = ResNet(side).Json();
  const auto spec = ParseModel(json, nullptr);
  std::vector<float> flat(static_cast<size_t>(spec->flat_size));
  InitializeWeights(*spec, 1, flat.data());
  std::vector<float> weights(static_cast<size_t>(spec->parameters));
  ExportWeights(*spec, flat.data(), weights.data());
  const Outcome apart = Run(table, json, weights, heads, iterations, threads);
  UseFrozenPrefixes(false);
  const Outcome whole = Run(table, json, weights, heads, iterations, threads);
  double difference = 0.0;
  for (size_t head = 0; head < whole.weights.size(); ++head) {
    for (size_t i = 0; i < weights.size(); ++i) {
      difference = std::max(difference, std::abs(static_cast<double>(whole.weights[head][i]) -
                                                 static_cast<double>(apart.weights[head][i])));
    }
  }
  std::printf(
      "%d heads over ResNet50, %d images of %d x %d, %d iterations, %d threads: %.1f s, every step "
      "with the whole model %.1f s: %.1f times as fast; %lld partitions computed, weights differ "
      "by "
      "%.1e\n",
      heads, rows, side, side, iterations, threads, apart.seconds, whole.seconds,
      whole.seconds / apart.seconds, static_cast<long long>(apart.computed), difference);
  return 0;
}

}  // namespace
}  // namespace hopper

int main(int argc, char** argv) {
  try {
    return hopper::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "frozen_prefix: %s\n", error.what());
    return 1;
  }
}
