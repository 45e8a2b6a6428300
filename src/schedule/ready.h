// Which model is next: of those that are ready, the one with the most work left whose task there is
// room for. Setting and asking take a number of steps that grows with the logarithm of the models,
// and so does adding one, over all that are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hopper {

class ReadyModels {
 public:
  // By model, 0 .. n - 1: what its task takes, in any unit. Nobody is ready yet.
  explicit ReadyModels(const std::vector<int64_t>& needs);

  // One more model, the last one; it is not ready yet.
  void Add(int64_t needs);
  // The model is ready, with so much work left.
  void Set(size_t model, double work);
  void Remove(size_t model);
  bool Contains(size_t model) const { return parts_[place_[model].part].ready[place_[model].at]; }
  // The ready model with the most work, the first of equals, that needs no more than `room`;
  // -1: there is none.
  int64_t Best(int64_t room) const;
  // What all calls have looked at.
  int64_t looks() const { return looks_; }

 private:
  static constexpr int32_t kNobody = -1;
  // Some of the models, by place.
  struct Part {
    std::vector<int64_t> needs;  // ascending
    std::vector<size_t> model;
    std::vector<double> work;
    std::vector<bool> ready;
    size_t leaves = 1;            // a power of two
    std::vector<int32_t> winner;  // of a tournament: 1 is the root, leaves + place a leaf
    size_t size() const { return model.size(); }
  };
  struct Place {
    size_t part = 0;
    size_t at = 0;
  };

  Part Merge(const Part& a, const Part& b) const;
  // The last one, of which needs, models, work and readiness are there.
  void Append(Part part);
  int32_t Better(const Part& part, int32_t a, int32_t b) const;
  void Update(const Place& place);
  int32_t BestOf(const Part& part, int64_t room) const;

  // Each is larger than the next one. A new model is a part of its own until the one before it is
  // no larger: so a model moves into another part by the logarithm of the models, at most.
  std::vector<Part> parts_;
  std::vector<Place> place_;  // by model
  mutable int64_t looks_ = 0;
};

}  // namespace hopper
