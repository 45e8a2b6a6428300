// x[:, -1], x[:, 1:5, ..., None]: a part of each example, as NumPy takes it.
#pragma once

#include <optional>

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct GetItem : Layer {
  static constexpr const char* kName = "GetItem";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "a part of its input, x[:, -1]";
  static constexpr const char* kSince = kOperationOnly;

  // "key" as Python writes it: integers, "start:stop:step", "..." and "None" with commas between.
  explicit GetItem(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  // Of an axis (the batch is 0): `count` places from `first` on, each `step` behind the one before.
  struct Part {
    int64_t axis = 0;
    int64_t first = 0;
    int64_t count = 1;
    int64_t step = 1;

    // The smallest and the largest of its places.
    int64_t low() const { return step > 0 ? first : first + (count - 1) * step; }
    int64_t high() const { return step > 0 ? first + (count - 1) * step : first; }
  };
  // Parts of those axes that are not taken whole; then the values have the shape.
  struct Taken {
    std::vector<Part> parts;
    Shape shape;
  };
  // Throws where the key does not fit the example's shape.
  Taken Of(const Shape& input) const;

 private:
  struct Item {
    enum class Kind { kIndex, kSlice, kEllipsis, kNewAxis } kind = Kind::kSlice;
    std::optional<int64_t> start;  // of an index: the index
    std::optional<int64_t> stop;
    std::optional<int64_t> step;
  };

  static bool ReadItem(const std::string& text, Item* item);
  // Of an axis of `size` places, by Python's rule (slice.indices()).
  static Part PartOf(const Item& slice, int64_t axis, int64_t size);
  [[noreturn]] void ThrowDoesNotFit(const Shape& input, const std::string& why) const;
  [[noreturn]] void RefuseBatch(const std::string& why) const;

  std::string key_;
  std::vector<Item> items_;
};
std::unique_ptr<Operator> MakeOperator(const GetItem& layer);
ops::Value Export(const GetItem& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
