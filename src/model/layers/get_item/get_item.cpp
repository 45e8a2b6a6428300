#include "model/layers/get_item/get_item.h"

#include <algorithm>
#include <cstdlib>

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {
namespace {

// The text between two separators; "" has one.
std::vector<std::string> PartsOf(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else if (c != ' ') {
      parts.back() += c;
    }
  }
  return parts;
}

// False where it is neither a number nor, for nothing, empty.
bool ReadNumber(const std::string& text, std::optional<int64_t>* number) {
  if (text.empty()) return true;
  char* end = nullptr;
  const int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (*end != '\0') return false;
  // Beyond any axis, and far from where sums overflow.
  constexpr int64_t kFar = int64_t{1} << 40;
  *number = std::clamp(value, -kFar, kFar);
  return true;
}

}  // namespace

GetItem::GetItem(LayerConfig& config) : Layer(config), key_(config.String("key", "...")) {
  bool valid = true;
  int64_t ellipses = 0;
  for (const std::string& text : PartsOf(key_, ',')) {
    items_.emplace_back();
    valid = valid && ReadItem(text, &items_.back());
    if (items_.back().kind == Item::Kind::kEllipsis) ++ellipses;
  }
  if (!valid || ellipses > 1) {
    config.Fail(ErrorCode::kInvalidParameter, "[" + key_ + "] is not a part of a tensor");
  }
}

bool GetItem::ReadItem(const std::string& text, Item* item) {
  if (text == "...") {
    item->kind = Item::Kind::kEllipsis;
    return true;
  }
  if (text == "None") {
    item->kind = Item::Kind::kNewAxis;
    return true;
  }
  const std::vector<std::string> numbers = PartsOf(text, ':');
  if (numbers.size() == 1) {
    item->kind = Item::Kind::kIndex;
    return !text.empty() && ReadNumber(text, &item->start);
  }
  return numbers.size() <= 3 && ReadNumber(numbers[0], &item->start) &&
         ReadNumber(numbers[1], &item->stop) &&
         (numbers.size() == 2 || ReadNumber(numbers[2], &item->step)) &&
         item->step.value_or(1) != 0;
}

GetItem::Part GetItem::PartOf(const Item& slice, int64_t axis, int64_t size) {
  Part part;
  part.axis = axis;
  part.step = slice.step.value_or(1);
  const bool back = part.step < 0;
  const int64_t lower = back ? -1 : 0;
  const int64_t upper = back ? size - 1 : size;
  const auto place = [&](const std::optional<int64_t>& given, int64_t fallback) {
    if (!given) return fallback;
    return std::clamp(*given < 0 ? *given + size : *given, lower, upper);
  };
  part.first = place(slice.start, back ? upper : lower);
  const int64_t stop = place(slice.stop, back ? lower : upper);
  const int64_t length = back ? part.first - stop : stop - part.first;
  const int64_t stride = back ? -part.step : part.step;
  part.count = length <= 0 ? 0 : (length - 1) / stride + 1;
  return part;
}

void GetItem::ThrowDoesNotFit(const Shape& input, const std::string& why) const {
  ThrowUnfit(*this,
             "[" + key_ + "] does not fit examples of shape " + ShapeText(input) + ": " + why);
}

void GetItem::RefuseBatch(const std::string& why) const {
  throw Error(
      ErrorCode::kNotSupported,
      "layer \"" + name() + "\" of class GetItem: [" + key_ + "] is not supported, as it " + why,
      "", "The first axis is the batch, which is taken whole: x[:, ...].");
}

GetItem::Taken GetItem::Of(const Shape& input) const {
  std::vector<Item> items = items_;
  const auto is = [](Item::Kind kind) {
    return [kind](const Item& item) { return item.kind == kind; };
  };
  const auto rank = static_cast<int64_t>(input.size()) + 1;
  const int64_t named = std::count_if(items.begin(), items.end(), is(Item::Kind::kIndex)) +
                        std::count_if(items.begin(), items.end(), is(Item::Kind::kSlice));
  if (named > rank) ThrowDoesNotFit(input, "they have fewer axes");
  if (std::none_of(items.begin(), items.end(), is(Item::Kind::kEllipsis))) {
    items.emplace_back();
    items.back().kind = Item::Kind::kEllipsis;
  }
  Taken taken;
  int64_t axis = 0;
  const auto size_of = [&](int64_t at) { return input[static_cast<size_t>(at) - 1]; };
  for (const Item& item : items) {
    switch (item.kind) {
      case Item::Kind::kNewAxis:
        if (axis == 0) RefuseBatch("has a new axis before the batch");
        taken.shape.push_back(1);
        continue;
      case Item::Kind::kEllipsis:
        for (int64_t n = rank - named; n > 0; --n, ++axis) {
          if (axis > 0) taken.shape.push_back(size_of(axis));
        }
        continue;
      case Item::Kind::kIndex: {
        if (axis == 0) RefuseBatch("takes one example of a batch");
        const int64_t index = *item.start < 0 ? *item.start + size_of(axis) : *item.start;
        if (index < 0 || index >= size_of(axis)) {
          ThrowDoesNotFit(input, "there is no place " + std::to_string(*item.start));
        }
        Part part;
        part.axis = axis++;
        part.first = index;
        taken.parts.push_back(part);
        continue;
      }
      case Item::Kind::kSlice:
        break;
    }
    if (axis == 0) {
      if (item.start.value_or(0) != 0 || item.stop || item.step.value_or(1) != 1) {
        RefuseBatch("takes some examples of a batch");
      }
      ++axis;
      continue;
    }
    const Part part = PartOf(item, axis, size_of(axis));
    if (part.count == 0) ThrowDoesNotFit(input, "it takes nothing of an axis");
    if (part.count != size_of(axis) || part.step != 1) taken.parts.push_back(part);
    taken.shape.push_back(part.count);
    ++axis;
  }
  return taken;
}

Shape GetItem::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  return Of(inputs[0]).shape;
}

}  // namespace layers
}  // namespace hopper
