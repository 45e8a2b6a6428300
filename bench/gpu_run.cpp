// One run on GPUs through the C interface, without a server; bench/gpu calls it.
//
//   gpu_run TRAIN VALID ITERATIONS PRECISION FUSE PARTITIONS < configurations
//
// TRAIN and VALID are files of examples as CIFAR-10's binary version has them: a byte that names
// the class, then 32 x 32 x 3 bytes, here height x width x channel. Configurations are groups of
// three lines: the file of an architecture, compile_params, fit_params. Prints a line of JSON for
// each model and one for the run.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "model_hopper/core_api.h"

extern "C" const hopper_core_api* hopper_core_api_get(int32_t version);
extern "C" const hopper_torch_api* hopper_torch_api_get(int32_t version);

namespace {

constexpr int64_t kPixels = 32 * 32 * 3;
constexpr int32_t kClasses = 10;

void Require(int code, const hopper_error& error) {
  if (code == 0) return;
  throw std::runtime_error(std::string(error.message) + "\n" + error.detail + "\n" + error.hint);
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Split {
  explicit Split(const std::string& path) {
    const std::string bytes = ReadFile(path);
    rows = static_cast<int64_t>(bytes.size()) / (kPixels + 1);
    for (int64_t i = 0; i < rows; ++i) {
      const char* row = bytes.data() + i * (kPixels + 1);
      y.push_back(static_cast<uint8_t>(row[0]));
      x.insert(x.end(), row + 1, row + 1 + kPixels);
    }
  }
  hopper_data_desc Desc(int32_t partitions) const {
    hopper_data_desc desc = {};
    desc.x_type = HOPPER_UINT8;
    desc.x_rank = 3;
    desc.x_shape[0] = 32;
    desc.x_shape[1] = 32;
    desc.x_shape[2] = 3;
    desc.y_kind = HOPPER_LABEL_CLASS;
    desc.y_type = HOPPER_UINT8;
    desc.num_classes = kClasses;
    desc.n_partitions = partitions;
    desc.n_rows = rows;
    desc.normalizing_const = 255.0;
    desc.table_name = "images";
    return desc;
  }
  int64_t rows = 0;
  std::vector<uint8_t> x;
  std::vector<uint8_t> y;
};

void AddBuffers(hopper_run* run, const Split& split, hopper_split which, int32_t partitions) {
  const hopper_core_api* core = hopper_core_api_get(HOPPER_API_VERSION);
  for (int32_t p = 0; p < partitions; ++p) {
    int64_t first = 0, count = 0;
    core->partition_range(split.rows, partitions, p, &first, &count);
    hopper_buffer buffer = {};
    buffer.split = which;
    buffer.partition_id = p;
    buffer.n = static_cast<int32_t>(count);
    buffer.x = split.x.data() + first * kPixels;
    buffer.x_size = static_cast<size_t>(count * kPixels);
    buffer.y = split.y.data() + first;
    buffer.y_size = static_cast<size_t>(count);
    uint8_t checksum[16];
    core->buffer_checksum(p, 0, buffer.n, buffer.x, buffer.x_size, buffer.y, buffer.y_size,
                          checksum);
    buffer.checksum = checksum;
    hopper_error error = {};
    Require(hopper_torch_api_get(HOPPER_API_VERSION)->run.add_buffer(run, &buffer, &error), error);
  }
}

int Run(int argc, char** argv) {
  if (argc != 7) throw std::runtime_error("see the first lines of bench/gpu_run.cpp");
  const Split train(argv[1]);
  const Split valid(argv[2]);
  const int32_t partitions = std::atoi(argv[6]);
  const hopper_torch_api* api = hopper_torch_api_get(HOPPER_API_VERSION);
  const int fd = eventfd(0, EFD_NONBLOCK);
  std::vector<int32_t> starts;
  for (int32_t p = 0; p < partitions; ++p) starts.push_back(p);
  hopper_run_options options = {};
  options.num_iterations = std::atoi(argv[3]);
  options.metrics_compute_frequency = 1;
  options.training_metrics = HOPPER_METRICS_RUNNING;
  options.threads = 1;
  options.n_starts = partitions;
  options.starts = starts.data();
  options.memory_limit = int64_t{64} << 30;
  options.precision = argv[4];
  options.event_fd = fd;
  options.use_gpus = 1;
  options.fuse = std::atoi(argv[5]);
  const hopper_data_desc train_desc = train.Desc(partitions);
  const hopper_data_desc valid_desc = valid.Desc(1);
  hopper_error error = {};
  hopper_run* run = nullptr;
  Require(api->run.create(&options, &train_desc, &valid_desc, &run, &error), error);
  std::string path, compile, fit;
  int32_t key = 0;
  while (std::getline(std::cin, path) && std::getline(std::cin, compile) &&
         std::getline(std::cin, fit)) {
    const std::string architecture = ReadFile(path);
    hopper_config config = {};
    config.mst_key = ++key;
    config.model_arch = architecture.data();
    config.model_arch_size = architecture.size();
    config.compile_params = compile.c_str();
    config.fit_params = fit.c_str();
    Require(api->run.add_config(run, &config, &error), error);
  }
  AddBuffers(run, train, HOPPER_SPLIT_TRAIN, partitions);
  AddBuffers(run, valid, HOPPER_SPLIT_VALID, 1);
  Require(api->run.start(run, &error), error);
  std::map<int32_t, double> accuracy, best;
  for (bool finished = false; !finished;) {
    hopper_event event = {};
    hopper_visit visits[64];
    while (api->run.next_visits(run, visits, 64) > 0) {  // or the run waits for its reader
    }
    while (api->run.next_event(run, &event) == 1) {
      finished |= event.type == HOPPER_EVENT_FINISHED;
      if (event.type == HOPPER_EVENT_WARNING) std::cerr << event.message << "\n";
      if (event.type != HOPPER_EVENT_METRICS || event.split != HOPPER_SPLIT_VALID) continue;
      accuracy[event.mst_key] = event.metrics[0];
      best[event.mst_key] = std::max(best[event.mst_key], event.metrics[0]);
    }
    uint64_t count = 0;
    pollfd poll_fd = {fd, POLLIN, 0};
    if (!finished && poll(&poll_fd, 1, 1000) == 1 && read(fd, &count, sizeof(count)) < 0) break;
  }
  for (int32_t i = 1; i <= key; ++i) {
    hopper_model_result result = {};
    Require(api->run.result(run, i, &result, &error), error);
    if (result.status == HOPPER_MODEL_DONE) {  // the digest is known once the state was taken
      std::vector<uint8_t> piece(1 << 20);
      for (size_t taken = 1; taken > 0;) {
        Require(api->run.take_state(run, i, piece.data(), piece.size(), &taken, &error), error);
      }
      Require(api->run.result(run, i, &result, &error), error);
    }
    std::printf(
        "{\"mst_key\": %d, \"failed\": %d, \"error\": \"%s\", \"accuracy\": %.4f, \"best\": %.4f, "
        "\"training\": %.3f, \"digest\": \"%s\"}\n",
        i, result.status == HOPPER_MODEL_FAILED ? 1 : 0, result.error, accuracy[i], best[i],
        result.seconds_training, result.digest);
  }
  hopper_run_info info = {};
  api->run.get_info(run, &info);
  std::printf("{\"seconds\": %.3f, \"busy\": %.3f, \"class\": \"%s\"}\n", info.seconds_wall,
              info.seconds_busy, info.numerics_class);
  api->run.free(run);
  close(fd);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
