// One run on GPUs through the C interface, without a server; bench/gpu calls it.
//
//   gpu_run TRAIN VALID [NAME=VALUE ...] < configurations
//
// TRAIN and VALID are files of examples: a byte that names the class, then height x width x channel
// bytes. Configurations are groups of three lines: the file of an architecture, compile_params,
// fit_params. Prints a line of JSON for each model and one for each run: "total" are the seconds
// from making the run to its results, "first" those until a first visit had ended.
//
//   iterations=10 precision=bf16 fuse=1 partitions=4
//   height=32 width=32 channels=3     of an example
//   divisor=255                       of its bytes
//   threads=0                         of the CPU; 0: GPUs train
//   runs=1                            the same one after the other, in one process
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
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

constexpr int32_t kClasses = 10;

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void Require(int code, const hopper_error& error) {
  if (code == 0) return;
  throw std::runtime_error(std::string(error.message) + "\n" + error.detail + "\n" + error.hint);
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Options {
  // Throws where a name is unknown.
  Options(int argc, char** argv) {
    for (int i = 3; i < argc; ++i) {
      const std::string text = argv[i];
      const size_t equal = text.find('=');
      if (equal == std::string::npos || values.count(text.substr(0, equal)) == 0) {
        throw std::runtime_error("what is \"" + text + "\"? See bench/gpu_run.cpp");
      }
      values[text.substr(0, equal)] = text.substr(equal + 1);
    }
  }
  int32_t Number(const std::string& name) const { return std::atoi(values.at(name).c_str()); }

  std::map<std::string, std::string> values = {
      {"iterations", "10"}, {"precision", "bf16"}, {"fuse", "1"},     {"partitions", "4"},
      {"height", "32"},     {"width", "32"},       {"channels", "3"}, {"divisor", "255"},
      {"threads", "0"},     {"runs", "1"}};
};

struct Configuration {
  std::string architecture, compile, fit;
};

struct Split {
  Split(const std::string& path, const Options& options) : options_(options) {
    pixels = static_cast<int64_t>(options.Number("height")) * options.Number("width") *
             options.Number("channels");
    const std::string bytes = ReadFile(path);
    rows = static_cast<int64_t>(bytes.size()) / (pixels + 1);
    for (int64_t i = 0; i < rows; ++i) {
      const char* row = bytes.data() + i * (pixels + 1);
      y.push_back(static_cast<uint8_t>(row[0]));
      x.insert(x.end(), row + 1, row + 1 + pixels);
    }
  }
  hopper_data_desc Desc(int32_t partitions) const {
    hopper_data_desc desc = {};
    desc.x_type = HOPPER_UINT8;
    desc.x_rank = 3;
    desc.x_shape[0] = options_.Number("height");
    desc.x_shape[1] = options_.Number("width");
    desc.x_shape[2] = options_.Number("channels");
    desc.y_kind = HOPPER_LABEL_CLASS;
    desc.y_type = HOPPER_UINT8;
    desc.num_classes = kClasses;
    desc.n_partitions = partitions;
    desc.n_rows = rows;
    desc.normalizing_const = options_.Number("divisor");
    desc.table_name = "images";
    return desc;
  }
  int64_t pixels = 0;
  int64_t rows = 0;
  std::vector<uint8_t> x;
  std::vector<uint8_t> y;

 private:
  const Options& options_;
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
    buffer.x = split.x.data() + first * split.pixels;
    buffer.x_size = static_cast<size_t>(count * split.pixels);
    buffer.y = split.y.data() + first;
    buffer.y_size = static_cast<size_t>(count);
    uint8_t checksum[16];
    core->buffer_checksum(p, 0, buffer.n, buffer.x, buffer.x_size, buffer.y, buffer.y_size,
                          checksum);
    buffer.checksum = checksum;
    hopper_error error = {};
    Require(hopper_torch_api_get(HOPPER_API_VERSION)->engine.run.add_buffer(run, &buffer, &error),
            error);
  }
}

void Run(const Options& given, const std::vector<Configuration>& configurations, const Split& train,
         const Split& valid) {
  const Clock::time_point begin = Clock::now();
  const int32_t partitions = given.Number("partitions");
  const hopper_engine_api* api = &hopper_torch_api_get(HOPPER_API_VERSION)->engine;
  const int fd = eventfd(0, EFD_NONBLOCK);
  std::vector<int32_t> starts;
  for (int32_t p = 0; p < partitions; ++p) starts.push_back(p);
  hopper_run_options options = {};
  options.num_iterations = given.Number("iterations");
  options.metrics_compute_frequency = 1;
  options.training_metrics = HOPPER_METRICS_RUNNING;
  options.threads = std::max(given.Number("threads"), 1);
  options.n_starts = partitions;
  options.starts = starts.data();
  options.memory_limit = int64_t{64} << 30;
  options.precision = given.values.at("precision").c_str();
  options.event_fd = fd;
  options.use_gpus = given.Number("threads") == 0 ? 1 : 0;
  options.fuse = given.Number("fuse");
  const hopper_data_desc train_desc = train.Desc(partitions);
  const hopper_data_desc valid_desc = valid.Desc(1);
  hopper_error error = {};
  hopper_run* run = nullptr;
  Require(api->run.create(&options, &train_desc, &valid_desc, &run, &error), error);
  int32_t key = 0;
  for (const Configuration& configuration : configurations) {
    hopper_config config = {};
    config.mst_key = ++key;
    config.model_arch = configuration.architecture.data();
    config.model_arch_size = configuration.architecture.size();
    config.compile_params = configuration.compile.c_str();
    config.fit_params = configuration.fit.c_str();
    Require(api->run.add_config(run, &config, &error), error);
  }
  AddBuffers(run, train, HOPPER_SPLIT_TRAIN, partitions);
  AddBuffers(run, valid, HOPPER_SPLIT_VALID, 1);
  Require(api->run.start(run, &error), error);
  double first = 0.0;
  std::map<int32_t, double> accuracy, best;
  for (bool finished = false; !finished;) {
    hopper_event event = {};
    hopper_visit visits[64];
    size_t count = 0;
    while ((count = api->run.next_visits(run, visits, 64)) >
           0) {  // or the run waits for its reader
      if (first > 0.0) continue;
      for (size_t i = 0; i < count && visits[i].started == visits[0].started; ++i) {
        first += visits[i].train;  // shares of what trained side by side
      }
      first += visits[0].started;
    }
    while (api->run.next_event(run, &event) == 1) {
      finished |= event.type == HOPPER_EVENT_FINISHED;
      if (event.type == HOPPER_EVENT_WARNING) std::cerr << event.message << "\n";
      if (event.type != HOPPER_EVENT_METRICS || event.split != HOPPER_SPLIT_VALID) continue;
      accuracy[event.mst_key] = event.metrics[0];
      best[event.mst_key] = std::max(best[event.mst_key], event.metrics[0]);
    }
    uint64_t told = 0;
    pollfd poll_fd = {fd, POLLIN, 0};
    if (!finished && poll(&poll_fd, 1, 1000) == 1 && read(fd, &told, sizeof(told)) < 0) break;
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
  api->run.free(run);
  close(fd);
  std::printf(
      "{\"seconds\": %.3f, \"total\": %.3f, \"first\": %.3f, \"busy\": %.3f, \"class\": \"%s\"}\n",
      info.seconds_wall, SecondsSince(begin), first, info.seconds_busy, info.numerics_class);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw std::runtime_error("see the first lines of bench/gpu_run.cpp");
    const Options options(argc, argv);
    const Split train(argv[1], options);
    const Split valid(argv[2], options);
    std::vector<Configuration> configurations;
    std::map<std::string, std::string> files;
    for (std::string path, compile, fit; std::getline(std::cin, path) &&
                                         std::getline(std::cin, compile) &&
                                         std::getline(std::cin, fit);) {
      if (files.count(path) == 0) files[path] = ReadFile(path);
      configurations.push_back({files[path], compile, fit});
    }
    for (int32_t i = 0; i < options.Number("runs"); ++i) Run(options, configurations, train, valid);
    return 0;
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
