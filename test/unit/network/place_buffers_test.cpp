// Buffers that are in use at one time have no memory in common, and few floats are wasted.
#include "model/planned/place_buffers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "support/cpu_clock.h"

namespace hopper {
namespace {

class Buffers {
 public:
  void Add(int64_t size, int first, int last) {
    auto buffer = std::make_unique<PlanBuffer>();
    buffer->size = size;
    buffer->first = first;
    buffer->last = last;
    all_.push_back(std::move(buffer));
  }
  // Of a chain of layers that train: values live until their way back, gradients for a moment.
  void AddChain(int layers) {
    for (int i = 0; i < layers; ++i) {
      const int back = 2 * layers + 1 - i;
      Add(21, i + 1, back);
      Add(21, back - 1, back);
      Add(9, back, back);
    }
  }
  void Place() {
    std::vector<PlanBuffer*> buffers;
    for (const auto& buffer : all_) buffers.push_back(buffer.get());
    offsets_.clear();
    end_ = PlaceBuffers(std::move(buffers), &offsets_);
  }
  int64_t end() const { return end_; }

  // Floats that are in use at a time, at most.
  int64_t Needed() const {
    std::map<int, int64_t> changes;
    for (const auto& buffer : all_) {
      changes[buffer->first] += buffer->size;
      changes[buffer->last + 1] -= buffer->size;
    }
    int64_t used = 0;
    int64_t most = 0;
    for (const auto& [moment, change] : changes) most = std::max(most, used += change);
    return most;
  }
  // Moment for moment, whose places meet or reach behind the end.
  int Collisions() const {
    std::map<int, std::vector<std::pair<int64_t, int64_t>>> at;
    int collisions = offsets_.size() == all_.size() ? 0 : 1;
    for (const auto& [buffer, offset] : offsets_) {
      if (offset < 0 || offset + buffer->size > end_) ++collisions;
      for (int t = buffer->first; t <= buffer->last; ++t) {
        at[t].emplace_back(offset, offset + buffer->size);
      }
    }
    for (auto& [moment, places] : at) {
      std::sort(places.begin(), places.end());
      for (size_t i = 1; i < places.size(); ++i) {
        if (places[i].first < places[i - 1].second) ++collisions;
      }
    }
    return collisions;
  }

 private:
  std::vector<std::unique_ptr<PlanBuffer>> all_;
  std::vector<std::pair<PlanBuffer*, int64_t>> offsets_;
  int64_t end_ = 0;
};

// Few of them are compared with each other, many are not.
TEST(PlaceBuffers, ThoseInUseAtOneTimeDoNotMeet) {
  std::mt19937 random(3);
  const auto draw = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  for (int round = 0; round < 60; ++round) {
    Buffers buffers;
    const int n = round % 6 == 0 ? draw(5001, 7000) : draw(1, 300);
    for (int i = 0; i < n; ++i) {
      const int first = draw(1, n);
      buffers.Add(draw(1, draw(1, 5000)), first, first + draw(0, draw(0, 60)));
    }
    buffers.Place();
    ASSERT_EQ(buffers.Collisions(), 0) << n;
    EXPECT_LT(static_cast<double>(buffers.end()),
              1.6 * static_cast<double>(buffers.Needed()) + 32.0 * n);
  }
}

// Of the largest network that is read.
TEST(PlaceBuffers, OfTenThousandLayersTakeNoTime) {
  Buffers buffers;
  buffers.AddChain(10000);
  const double begin = CpuSeconds();
  buffers.Place();
  EXPECT_LT(CpuSeconds() - begin, 0.4);
  EXPECT_LT(buffers.end(), 10010 * 48);
}

// No machine has as much, and no sum wraps.
TEST(PlaceBuffers, BeyondAllMemoryIsSaid) {
  for (const int n : {3, 6000}) {
    Buffers buffers;
    for (int i = 0; i < n; ++i) buffers.Add(kMostFloats, 1, 2);
    buffers.Place();
    EXPECT_GE(buffers.end(), kMostFloats);
  }
}

}  // namespace
}  // namespace hopper
