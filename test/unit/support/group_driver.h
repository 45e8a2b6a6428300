// Trains with the segments engine's groups in one process: a group a segment, envelopes by hand.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/run_driver.h"

namespace hopper {

class GroupDriver {
 public:
  // `train_keys` and `valid_keys` give the segment of each partition; `planned`: data above the
  // memory limit are read in turns. `stint`: the run stays open, and these configurations train as
  // long; 0: the iterations of the options.
  GroupDriver(const RunOptions& options, const PackedTable& train, const PackedTable* valid,
              std::vector<int32_t> train_keys, std::vector<int32_t> valid_keys,
              const std::vector<Configuration>& configs, bool planned = false, int stint = 0)
      : train_(&train), valid_(valid), starts_(options.starts), train_keys_(std::move(train_keys)) {
    hopper_run_options raw = ToC(options, event_fd_.fd());
    std::vector<int32_t> keys = train_keys_;
    keys.insert(keys.end(), valid_keys.begin(), valid_keys.end());
    for (const int32_t key : keys) {
      if (groups_.count(key) > 0) continue;
      raw.device_number = static_cast<int32_t>(groups_.size());
      hopper_group*& group = groups_[key];
      Check(Api().group.create(&raw, &train.desc(), valid == nullptr ? nullptr : &valid->desc(),
                               train_keys_.data(), valid == nullptr ? nullptr : valid_keys.data(),
                               key, &group, &error_));
      if (stint > 0) Check(Api().group.stay_open(group, &error_));
      for (const Configuration& config : configs) {
        AddConfig(group, config, stint > 0 ? stint : options.iterations);
      }
      hopper_data_plan plan = {};
      plan.resident = 1;
      if (planned || stint > 0) Check(Api().group.plan_data(group, &plan, &error_));
      plans_[key] = plan;
      if (plan.resident == 0) continue;
      AddBuffers(group, train, HOPPER_SPLIT_TRAIN, train_keys_, key);
      if (valid != nullptr) AddBuffers(group, *valid, HOPPER_SPLIT_VALID, valid_keys, key);
      Check(Api().group.check_data(group, &error_));
    }
    for (const Configuration& config : configs) Put(config);
  }
  ~GroupDriver() {
    for (const auto& [key, group] : groups_) Api().group.free(group);
  }
  GroupDriver(const GroupDriver&) = delete;
  GroupDriver& operator=(const GroupDriver&) = delete;

  const std::map<int32_t, hopper_data_plan>& plans() const { return plans_; }
  int64_t loads() const {
    int64_t loads = 0;
    for (const auto& [key, group] : groups_) {
      hopper_run_info info = {};
      Api().group.get_info(group, &info);
      loads += info.n_loads;
    }
    return loads;
  }

  std::map<int32_t, ModelResult> Train(std::vector<hopper_event>* events = nullptr) {
    std::vector<hopper_event> unheard;
    for (int hops = 0; n_training() > 0; ++hops) {
      if (hops > 10000) throw std::runtime_error("the models do not end");
      Step(events == nullptr ? &unheard : events);
    }
    return std::move(results_);
  }

  // Others enter, or the same again, with a state that has `done` iterations of the
  // stint behind it. False: there is no room beside the data.
  bool Enter(const std::vector<Configuration>& configs, int stint, int done = 0) {
    std::vector<int32_t> stay;
    for (const auto& [key, envelope] : envelopes_) stay.push_back(key);
    const auto n = static_cast<int32_t>(stay.size());
    bool has_room = true;
    for (const auto& [key, group] : groups_) {
      Check(Api().group.keep(group, stay.data(), n, &error_));
      for (const Configuration& config : configs) AddConfig(group, config, stint, done);
      hopper_data_plan plan = {};
      const int code = Api().group.plan_data(group, &plan, &error_);
      has_room = has_room && code != HOPPER_LIMIT_EXCEEDED;
      if (code != HOPPER_LIMIT_EXCEEDED) Check(code);
    }
    for (const auto& [key, group] : groups_) {
      if (!has_room) Check(Api().group.keep(group, stay.data(), n, &error_));
    }
    for (const Configuration& config : configs) {
      if (has_room) Put(config);
    }
    return has_room;
  }
  // One hop: what the models report of iterations that are complete; the keys of those that have
  // ended, or with `halts` have halted, whose results() are there.
  std::vector<int32_t> Step(std::vector<hopper_event>* events, bool halts = false) {
    HopOnce(halts);
    for (const auto& [key, envelope] : envelopes_) {
      if (!envelope.done) continue;
      events->insert(events->end(), envelope.events.begin(), envelope.events.end());
    }
    for (const int32_t key : ended_) envelopes_.erase(key);
    return std::move(ended_);
  }
  // Of the model's latest iteration, as far as it has come.
  const std::vector<hopper_visit>& VisitsOf(int32_t key) const { return visits_.at(key); }
  size_t n_training() const { return envelopes_.size(); }
  const std::map<int32_t, ModelResult>& results() const { return results_; }

  // Where one segment has all data a hop lasts as long.
  void GoOnFor(int32_t milliseconds) { milliseconds_ = milliseconds; }
  // Models come in any order from now on.
  void Shuffle(uint32_t seed) {
    shuffled_ = true;
    random_.seed(seed);
  }
  // Models that a segment had at a time, at most.
  int most_inside() const { return most_inside_; }
  // Bytes that models were promised at a time, the most of a segment.
  int64_t most_bytes() const {
    int64_t most = 0;
    for (const auto& [key, group] : groups_) {
      hopper_run_info info = {};
      Api().group.get_info(group, &info);
      most = std::max(most, info.bytes_models);
    }
    return most;
  }

  // One hop of all models; what they are to travel in next may be changed.
  void HopOnce(bool halts = false) {
    std::map<int32_t, Envelope> next;
    ended_.clear();
    for (const auto& [key, group] : groups_) {
      inside_ = 0;
      outside_ = 0;
      for (const int32_t mst_key : Order()) {
        if (envelopes_.at(mst_key).key != key) continue;
        outside_ += Add(group, mst_key, envelopes_.at(mst_key)) ? 0 : 1;
      }
      Check(Api().group.start(group, halts ? 1 : 0, milliseconds_, &error_));
      int done = 0;
      while ((done = Api().group.poll(group, &error_)) == 0) {
        if (!Load(group) && !Exchange(group, &next)) event_fd_.Wait();
      }
      if (done != 1) throw std::runtime_error(error_.message);
      hopper_group_part part = {};
      while (Api().group.next_part(group, &part, &error_) == 1) Take(part, &next);
    }
    envelopes_ = std::move(next);
  }
  std::vector<uint8_t>* Bytes(int32_t mst_key) { return &envelopes_.at(mst_key).bytes; }
  // To the first segment; returns the error's message.
  std::string AddPart(int32_t mst_key, int32_t part, int32_t n_parts, const uint8_t* bytes,
                      size_t size) {
    hopper_group* group = groups_.begin()->second;
    int32_t later = 0;
    const int code =
        Api().group.add_part(group, mst_key, part, n_parts, bytes, size, &later, &error_);
    return code == 0 ? "" : error_.message;
  }
  std::string AddBuffer(const hopper_buffer& buffer) {
    const int code = Api().group.add_buffer(groups_.begin()->second, &buffer, &error_);
    return code == 0 ? "" : error_.message;
  }

 private:
  struct Envelope {
    int32_t key = 0;
    bool done = false;
    std::vector<uint8_t> bytes;
    std::vector<hopper_event> events;
  };

  void Check(int code) {
    if (code != 0) throw DriverError(error_);
  }
  // As it starts: where it does.
  void Put(const Configuration& config) {
    const int32_t start = starts_[static_cast<size_t>(config.key - 1) % starts_.size()];
    Envelope envelope;
    envelope.key = train_keys_[static_cast<size_t>(start)];
    envelope.bytes = {HOPPER_ENVELOPE_NEW};
    if (!config.state.empty()) {
      envelope.bytes = {HOPPER_ENVELOPE_STATE};
      envelope.bytes.insert(envelope.bytes.end(), config.state.begin(), config.state.end());
    }
    envelopes_[config.key] = std::move(envelope);
  }
  void AddConfig(hopper_group* group, const Configuration& config, int stint, int done = 0) {
    hopper_config raw = {};
    raw.mst_key = config.key;
    raw.model_arch = config.arch.data();
    raw.model_arch_size = config.arch.size();
    raw.compile_params = config.compile.c_str();
    raw.fit_params = config.fit.c_str();
    Check(Api().group.enter(group, &raw, stint, done, &error_));
  }
  void AddBuffers(hopper_group* group, const PackedTable& table, hopper_split split,
                  const std::vector<int32_t>& keys, int32_t key) {
    for (const hopper_buffer& buffer : table.buffers(split)) {
      if (keys[static_cast<size_t>(buffer.partition_id)] != key) continue;
      Check(Api().group.add_buffer(group, &buffer, &error_));
    }
  }
  bool Load(hopper_group* group) {
    int32_t split = 0;
    int32_t partition = 0;
    if (Api().group.next_load(group, &split, &partition) != 1) return false;
    const PackedTable& table = split == HOPPER_SPLIT_VALID ? *valid_ : *train_;
    for (const hopper_buffer& buffer : table.buffers(static_cast<hopper_split>(split))) {
      if (buffer.partition_id == partition) {
        Check(Api().group.add_buffer(group, &buffer, &error_));
      }
    }
    Check(Api().group.end_load(group, split, partition, &error_));
    return true;
  }
  // False: it comes when it is wanted.
  bool Add(hopper_group* group, int32_t mst_key, const Envelope& envelope) {
    int32_t later = 0;
    Check(Api().group.add_part(group, mst_key, 0, 1, envelope.bytes.data(), envelope.bytes.size(),
                               &later, &error_));
    if (later == 0) most_inside_ = std::max(most_inside_, ++inside_);
    return later == 0;
  }
  // What is through goes out where others wait, and one of these comes in.
  bool Exchange(hopper_group* group, std::map<int32_t, Envelope>* next) {
    if (outside_ == 0) return false;
    hopper_group_part part = {};
    bool any = false;
    while (Api().group.next_part(group, &part, &error_) == 1) {
      Take(part, next);
      any = true;
    }
    int32_t mst_key = 0;
    if (Api().group.next_arrival(group, &mst_key) != 1) return any;
    if (!Add(group, mst_key, envelopes_.at(mst_key))) {
      throw std::runtime_error("a model was asked for without room");
    }
    --outside_;
    return true;
  }
  // In which models come, another one each time where it is shuffled.
  std::vector<int32_t> Order() {
    std::vector<int32_t> keys;
    for (const auto& [key, envelope] : envelopes_) keys.push_back(key);
    if (shuffled_) std::shuffle(keys.begin(), keys.end(), random_);
    return keys;
  }
  void Take(const hopper_group_part& part, std::map<int32_t, Envelope>* next) {
    Envelope& envelope = (*next)[part.mst_key];
    ModelResult& result = results_[part.mst_key];
    if (part.part < 0) {
      const auto* floats = reinterpret_cast<const float*>(part.bytes);
      result.weights.assign(floats, floats + part.size / sizeof(float));
      return;
    }
    if (part.part == 0) --inside_;
    envelope.key = part.next_key;
    envelope.done = part.done != 0;
    envelope.bytes.assign(part.bytes, part.bytes + part.size);
    if (part.part == 0) visits_[part.mst_key].assign(part.visits, part.visits + part.n_visits);
    envelope.events.assign(part.events, part.events + part.n_events);
    if (part.result == nullptr) return;
    ended_.push_back(part.mst_key);
    result.raw = *part.result;
    result.digest = part.result->digest;
    result.state = envelope.bytes;
  }

  EventFd event_fd_;
  const PackedTable* train_;
  const PackedTable* valid_;
  std::map<int32_t, hopper_data_plan> plans_;
  std::vector<int32_t> starts_;
  std::vector<int32_t> train_keys_;
  std::map<int32_t, hopper_group*> groups_;
  std::map<int32_t, Envelope> envelopes_;
  std::map<int32_t, ModelResult> results_;
  std::map<int32_t, std::vector<hopper_visit>> visits_;
  std::vector<int32_t> ended_;  // in the hop before
  bool shuffled_ = false;
  std::mt19937 random_;
  int inside_ = 0;  // of the segment whose turn it is
  int outside_ = 0;
  int most_inside_ = 0;
  int32_t milliseconds_ = 0;
  hopper_error error_ = {};
};

}  // namespace hopper
