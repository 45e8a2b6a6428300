// Descriptions of packed data for tests.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace hopper {

struct LabelsDesc {
  LabelKind kind = LabelKind::kValue;
  ValueType type = ValueType::kFloat32;
  std::vector<int64_t> shape;
  int32_t num_classes = 0;
};

inline void SetFeatures(ValueType type, std::vector<int64_t> shape, DataDesc* desc) {
  desc->x_type = type;
  desc->x_shape = std::move(shape);
  desc->inputs = {{"", desc->x_shape, type}};
}

inline void SetLabels(const LabelsDesc& labels, DataDesc* desc) {
  desc->y_kind = labels.kind;
  desc->y_type = labels.type;
  desc->y_shape = labels.shape;
  desc->num_classes = labels.num_classes;
  DataOutput output;
  output.kind = labels.kind;
  output.shape = labels.shape;
  output.num_classes = labels.num_classes;
  output.size = desc->y_elements();
  desc->outputs = {output};
}

// Of one input and one output, in one partition.
inline DataDesc MakeDesc(ValueType type, std::vector<int64_t> shape, const LabelsDesc& labels,
                         int64_t rows) {
  DataDesc desc;
  SetFeatures(type, std::move(shape), &desc);
  SetLabels(labels, &desc);
  desc.n_partitions = 1;
  desc.n_rows = rows;
  desc.table_name = "made_up";
  return desc;
}

}  // namespace hopper
