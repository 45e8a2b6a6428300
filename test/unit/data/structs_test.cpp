// What the C boundary's structs become.
#include "capi/structs.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace hopper {
namespace {

hopper_data_desc Images() {
  hopper_data_desc desc = {};
  desc.x_type = HOPPER_UINT8;
  desc.x_rank = 2;
  desc.x_shape[0] = 2;
  desc.x_shape[1] = 3;
  desc.y_kind = HOPPER_LABEL_CLASS;
  desc.y_type = HOPPER_INT16;
  desc.num_classes = 3;
  desc.n_partitions = 3;
  desc.n_rows = 11;
  desc.normalizing_const = 255.0;
  desc.table_name = "images_packed";
  desc.x_column = "image";
  desc.y_column = "digit";
  return desc;
}

// What is thrown for Images() after a change; "": nothing.
std::string Refusal(const std::function<void(hopper_data_desc*)>& change) {
  hopper_data_desc desc = Images();
  change(&desc);
  try {
    FromC(desc);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidParameter);
    return error.what();
  }
  return "";
}

TEST(Structs, OneInputAndOneOutput) {
  hopper_data_desc raw = Images();
  const char* const names[] = {nullptr, "", "b"};
  raw.class_values = names;
  raw.n_class_values = 3;
  const int64_t counts[] = {5, 4, 2};
  raw.class_counts = counts;
  raw.n_class_counts = 3;
  raw.validation = -1;
  const DataDesc desc = FromC(raw);
  EXPECT_NO_THROW(desc.Check());
  EXPECT_EQ(desc.x_type, ValueType::kUint8);
  EXPECT_EQ(desc.x_shape, (std::vector<int64_t>{2, 3}));
  ASSERT_EQ(desc.inputs.size(), 1u);
  EXPECT_EQ(desc.inputs[0].type, ValueType::kUint8);
  EXPECT_EQ(desc.inputs[0].shape, desc.x_shape);
  EXPECT_EQ(desc.normalizing_const, 255.0);
  EXPECT_EQ(desc.table_name, "images_packed");
  EXPECT_EQ(desc.x_column, "image");
  EXPECT_EQ(desc.validation, false);
  EXPECT_FALSE(desc.by_parts);
  ASSERT_EQ(desc.outputs.size(), 1u);
  const DataOutput& output = desc.outputs[0];
  EXPECT_EQ(output.column, "digit");
  EXPECT_EQ(output.kind, LabelKind::kClass);
  EXPECT_EQ(output.num_classes, 3);
  // SQL's NULL is no empty text.
  EXPECT_EQ(output.class_values, (std::vector<std::optional<std::string>>{std::nullopt, "", "b"}));
  EXPECT_EQ(output.ClassNames(), (std::vector<std::string>{"", "b"}));
  EXPECT_EQ(output.class_counts, (std::vector<int64_t>{5, 4, 2}));
  EXPECT_FALSE(output.range.has_value());
  raw.validation = 0;
  EXPECT_EQ(FromC(raw).validation, std::nullopt);
  EXPECT_FALSE(FromC(static_cast<const hopper_data_desc*>(nullptr)).has_value());
}

TEST(Structs, LabelsOfSeveralOutputs) {
  hopper_output outputs[2] = {};
  outputs[0].name = "kind";
  outputs[0].column = "species";
  outputs[0].kind = HOPPER_LABEL_CLASS;
  outputs[0].num_classes = 3;
  outputs[1].name = "box";
  outputs[1].column = "corners";
  outputs[1].kind = HOPPER_LABEL_ARRAY;
  outputs[1].rank = 1;
  outputs[1].shape[0] = 4;
  outputs[1].has_label_range = 1;
  outputs[1].least_label = -2.0;
  outputs[1].largest_label = 7.0;
  const auto several = [&](hopper_data_desc* raw) {
    raw->n_outputs = 2;
    raw->outputs = outputs;
    raw->weighted = 1;
    raw->y_kind = HOPPER_LABEL_ARRAY;
    raw->y_type = HOPPER_FLOAT32;
    raw->y_rank = 1;
    raw->y_shape[0] = 6;
  };
  hopper_data_desc raw = Images();
  several(&raw);
  const DataDesc desc = FromC(raw);
  EXPECT_NO_THROW(desc.Check());
  EXPECT_TRUE(desc.by_parts);
  EXPECT_TRUE(desc.weighted);
  ASSERT_EQ(desc.outputs.size(), 2u);
  EXPECT_EQ(desc.outputs[0].first, 0);
  EXPECT_EQ(desc.outputs[0].size, 1);
  EXPECT_EQ(desc.outputs[1].first, 1);
  EXPECT_EQ(desc.outputs[1].size, 4);
  ASSERT_TRUE(desc.outputs[1].range.has_value());
  EXPECT_EQ(desc.outputs[1].range->least, -2.0);
  EXPECT_EQ(desc.outputs[1].range->largest, 7.0);
  const std::string no_row = "the labels of the outputs are not those of a row";
  EXPECT_EQ(Refusal([&](hopper_data_desc* d) {
              several(d);
              d->y_shape[0] = 5;
            }),
            no_row);
  EXPECT_EQ(Refusal([&](hopper_data_desc* d) {
              several(d);
              d->y_type = HOPPER_FLOAT64;
            }),
            no_row);
  EXPECT_EQ(Refusal([&](hopper_data_desc* d) {
              several(d);
              d->n_outputs = HOPPER_MAX_OUTPUTS + 1;
            }),
            "a row has labels of 33 outputs");
  outputs[0].kind = 9;
  EXPECT_EQ(Refusal(several), "labels are of the unknown kind 9");
}

// 2^24 rows of 2^40 bytes each would take none.
TEST(Structs, RefuseShapesThatCannotBe) {
  EXPECT_EQ(Refusal([](hopper_data_desc* /*desc*/) {}), "");
  EXPECT_EQ(Refusal([](hopper_data_desc* d) { d->x_rank = 9; }),
            "features of rank 9 are not supported");
  EXPECT_EQ(Refusal([](hopper_data_desc* d) { d->y_rank = -1; }),
            "labels of rank -1 are not supported");
  EXPECT_EQ(Refusal([](hopper_data_desc* d) { d->x_shape[1] = 0; }),
            "shape of the features has an axis of size 0");
  EXPECT_EQ(Refusal([](hopper_data_desc* d) { d->x_shape[0] = d->x_shape[1] = 1 << 20; }),
            "shape of the features has an axis of size 1048576");
  EXPECT_EQ(Refusal([](hopper_data_desc* d) { d->n_inputs = 1; }), "a row has 1 inputs");
}

}  // namespace
}  // namespace hopper
