#include "schema/schema.h"

#include <cmath>

#include "schema/treatments/one_hot.h"

namespace hopper {
namespace {

constexpr float kLargestFloat = 3.4028235e38F;

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

// Says what differs between two columns of one name, or "".
std::string ColumnDifference(const Column& a, const Column& b, const std::string& a_name,
                             const std::string& b_name) {
  const std::string column = "Column " + Quoted(a.name);
  if (a.treatment != b.treatment) {
    return column + " is " + Quoted(a.treatment->Name()) + " in " + Quoted(a_name) + " but " +
           Quoted(b.treatment->Name()) + " in " + Quoted(b_name) + ".";
  }
  if (a.null_rule != b.null_rule) {
    return column + " has NULL rule " + Quoted(NullRuleName(a.null_rule)) + " in " +
           Quoted(a_name) + " but " + Quoted(NullRuleName(b.null_rule)) + " in " + Quoted(b_name) +
           ".";
  }
  if (a.parameters != b.parameters || a.quantiles != b.quantiles || a.fill != b.fill ||
      a.values != b.values || (a.n_other > 0) != (b.n_other > 0) ||
      a.has_null_value != b.has_null_value || a.length != b.length || !(a.words == b.words) ||
      !(a.ids == b.ids)) {
    return column + " has other statistics in " + Quoted(a_name) + " than in " + Quoted(b_name) +
           ".";
  }
  return "";
}

}  // namespace

void Schema::Finish() {
  width_ = 0;
  for (Column& column : columns_) {
    column.slots.clear();
    column.treatment->AddSlots(column, &column.slots);
    if (column.null_rule == NullRule::kIndicator) {
      column.slots.push_back({SlotKind::kIndicator, column.name + " is null", 0});
    }
    column.places = CategoryPlaces();
    int place = 0;
    for (const std::string& value : column.values) column.places.Add(value, place++);
    width_ += static_cast<int64_t>(column.slots.size());
  }
}

EncodeProblem Schema::Encode(const Cell* cells, float* out) const {
  int at = 0;
  for (const Column& column : columns_) {
    Cell cell = cells[at];
    const auto n = static_cast<int64_t>(column.slots.size());
    // What other tools write where a number is missing.
    if (column.treatment->Reads() == CellKind::kNumber && std::isnan(cell.number) &&
        column.null_rule != NullRule::kRefuse) {
      cell.is_null = true;
    }
    if (column.null_rule == NullRule::kIndicator) out[n - 1] = cell.is_null ? 1.0F : 0.0F;
    if (cell.is_null && !column.treatment->IsCategory()) {
      if (column.null_rule == NullRule::kRefuse) return {EncodeProblem::Kind::kNull, at};
      cell.number = column.fill;
      cell.is_null = false;
    } else if (cell.is_null && column.null_rule == NullRule::kRefuse) {
      return {EncodeProblem::Kind::kNull, at};
    }
    const CellKind kind = column.treatment->Reads();
    if (kind == CellKind::kNumbers && cell.n != column.length) {
      return {EncodeProblem::Kind::kLength, at};
    }
    if (kind == CellKind::kNumber && !std::isfinite(cell.number)) {
      return {EncodeProblem::Kind::kNotFinite, at};
    }
    column.treatment->Encode(column, cell, out);
    for (int64_t i = 0; kind != CellKind::kText && i < n; ++i) {
      if (!(std::fabs(out[i]) <= kLargestFloat)) return {EncodeProblem::Kind::kNotFinite, at};
    }
    out += n;
    ++at;
  }
  return {};
}

std::string Schema::ColumnDiffers(size_t column, const Schema& wanted) const {
  const Column& a = columns_[column];
  const Column& b = wanted.columns_[0];
  if (a.treatment != b.treatment) {
    return "The column's treatment is " + Quoted(a.treatment->Name()) + ", the model needs " +
           Quoted(b.treatment->Name()) + ".";
  }
  if (a.values != b.values) return "The values are others than the vocabulary of the model.";
  if (a.length != b.length || !(a.words == b.words) || !(a.ids == b.ids) ||
      a.has_null_value != b.has_null_value) {
    return "The treatment has other options than the model needs.";
  }
  return "";
}

std::string Schema::Difference(const Schema& other, const std::string& name,
                               const std::string& other_name) const {
  for (size_t i = 0; i < columns_.size() || i < other.columns_.size(); ++i) {
    if (i >= columns_.size() || i >= other.columns_.size()) {
      const bool has = i < columns_.size();
      const Column& column = has ? columns_[i] : other.columns_[i];
      return "Column " + Quoted(column.name) + " is in " + Quoted(has ? name : other_name) +
             " but not in " + Quoted(has ? other_name : name) + ".";
    }
    if (columns_[i].name != other.columns_[i].name) {
      return "Column " + std::to_string(i + 1) + " is " + Quoted(columns_[i].name) + " in " +
             Quoted(name) + " but " + Quoted(other.columns_[i].name) + " in " + Quoted(other_name) +
             ".";
    }
    std::string difference = ColumnDifference(columns_[i], other.columns_[i], name, other_name);
    if (!difference.empty()) return difference;
  }
  if (label_.is_value != other.label_.is_value || label_.mean != other.label_.mean ||
      label_.deviation != other.label_.deviation || label_.least != other.label_.least ||
      label_.largest != other.label_.largest) {
    return "The label is scaled otherwise in " + Quoted(name) + " than in " + Quoted(other_name) +
           ".";
  }
  return "";
}

}  // namespace hopper
