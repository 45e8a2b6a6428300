#include "model/planned/place_buffers.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/product.h"

namespace hopper {

namespace {

// A cache line more, so that equal positions of two buffers do not fall into one cache set.
int64_t PlacedSize(const PlanBuffer& buffer) { return (buffer.size + 15) / 16 * 16 + 16; }

using Places = std::vector<std::pair<PlanBuffer*, int64_t>>;

// First fit, larger buffers first: two buffers share memory where their times do not overlap. Takes
// the square of how many there are. Returns the end of all.
int64_t PlaceLargestFirst(std::vector<PlanBuffer*> all, Places* places) {
  std::stable_sort(all.begin(), all.end(),
                   [](const PlanBuffer* a, const PlanBuffer* b) { return a->size > b->size; });
  struct Placed {
    const PlanBuffer* buffer;
    int64_t offset;
    int64_t end;
  };
  std::vector<Placed> placed;  // by offset
  int64_t end = 0;
  for (PlanBuffer* buffer : all) {
    const int64_t size = PlacedSize(*buffer);
    int64_t offset = 0;
    for (const Placed& other : placed) {
      if (other.buffer->last < buffer->first || other.buffer->first > buffer->last) continue;
      if (offset + size <= other.offset) break;
      offset = std::max(offset, other.end);
    }
    offset = std::min(offset, kMostFloats);
    const Placed here{buffer, offset, offset + size};
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), here,
                         [](const Placed& a, const Placed& b) { return a.offset < b.offset; }),
        here);
    places->emplace_back(buffer, offset);
    end = std::max(end, offset + size);
  }
  return end;
}

// Pieces of memory that nobody has, in the order of their sizes and of their places.
class FreePieces {
 public:
  void Add(int64_t offset, int64_t end) {
    const auto next = ends_.lower_bound(offset);
    if (next != ends_.end() && next->first == end) {
      end = next->second;
      Remove(next);
    }
    const auto behind = ends_.lower_bound(offset);
    if (behind != ends_.begin() && std::prev(behind)->second == offset) {
      offset = std::prev(behind)->first;
      Remove(std::prev(behind));
    }
    ends_[offset] = end;
    by_size_.emplace(end - offset, offset);
  }
  // The smallest one that is large enough, or, where there is none, what there is at the end `*all`
  // of all memory, which grows.
  int64_t Take(int64_t size, int64_t* all) {
    const auto best = by_size_.lower_bound({size, 0});
    auto at = ends_.end();
    if (best != by_size_.end()) {
      at = ends_.find(best->second);
    } else if (!ends_.empty() && std::prev(ends_.end())->second == *all) {
      at = std::prev(ends_.end());
    }
    if (at == ends_.end()) {
      *all += size;
      return *all - size;
    }
    const auto [offset, end] = *at;
    Remove(at);
    *all = std::max(*all, offset + size);
    if (offset + size < end) Add(offset + size, end);
    return offset;
  }

 private:
  void Remove(std::map<int64_t, int64_t>::iterator at) {
    by_size_.erase({at->second - at->first, at->first});
    ends_.erase(at);
  }

  std::map<int64_t, int64_t> ends_;  // by offset
  std::set<std::pair<int64_t, int64_t>> by_size_;
};

// In the order of their times, for models of very many layers: takes little more time than reading
// them, and somewhat more memory.
int64_t PlaceByTime(std::vector<PlanBuffer*> all, Places* places) {
  int64_t sum = 0;
  for (const PlanBuffer* buffer : all) sum = SaturatingAdd(sum, PlacedSize(*buffer));
  if (sum > kMostFloats) {  // never allocated
    for (PlanBuffer* buffer : all) places->emplace_back(buffer, 0);
    return kMostFloats;
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const PlanBuffer* a, const PlanBuffer* b) { return a->first < b->first; });
  std::multimap<int, std::pair<int64_t, int64_t>> living;  // by the last moment: offset and end
  FreePieces free;
  int64_t end = 0;
  for (PlanBuffer* buffer : all) {
    for (auto old = living.begin(); old != living.end() && old->first < buffer->first;) {
      free.Add(old->second.first, old->second.second);
      old = living.erase(old);
    }
    const int64_t size = PlacedSize(*buffer);
    const int64_t offset = free.Take(size, &end);
    living.emplace(buffer->last, std::make_pair(offset, offset + size));
    places->emplace_back(buffer, offset);
  }
  return end;
}

}  // namespace

int64_t PlaceBuffers(std::vector<PlanBuffer*> buffers, Places* offsets) {
  // Some milliseconds' work; networks of a thousand layers have fewer.
  constexpr size_t kMostToCompare = 5000;
  return buffers.size() > kMostToCompare ? PlaceByTime(std::move(buffers), offsets)
                                         : PlaceLargestFirst(std::move(buffers), offsets);
}

}  // namespace hopper
