// What layers refuse, and how they say it; shapes and weights are compared with Keras in
// test/unit/network.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "model/spec.h"

namespace hopper {
namespace {

// The problems of a Sequential with this input shape ("" where an example is a number) and these
// layer entries.
std::vector<Problem> Problems(const std::string& shape, const std::string& layers,
                              std::shared_ptr<const ModelSpec>* spec = nullptr) {
  const std::string json = R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
    {"class_name": "InputLayer", "config": {"name": "i", "batch_input_shape": [null)" +
                           (shape.empty() ? "" : ", " + shape) + "]}}, " + layers +
                           R"(]}, "keras_version": "2.11.0", "backend": "tensorflow"})";
  std::vector<Problem> problems;
  const auto parsed = ParseModel(json, nullptr, &problems);
  if (spec != nullptr) *spec = parsed;
  return problems;
}

std::string Entry(const std::string& class_name, const std::string& options) {
  return R"({"class_name": ")" + class_name + R"(", "config": {"name": "a")" +
         (options.empty() ? "" : ", " + options) + "}}";
}

struct Refused {
  const char* shape;
  const char* class_name;
  const char* options;
  ErrorCode code;
  const char* message;
};

// Names the case where a test fails.
void PrintTo(const Refused& refused, std::ostream* out) {
  *out << refused.class_name << " " << refused.options;
}

class LayerRefuses : public testing::TestWithParam<Refused> {};

TEST_P(LayerRefuses, ByName) {
  const Refused& expected = GetParam();
  const auto problems = Problems(expected.shape, Entry(expected.class_name, expected.options));
  ASSERT_EQ(problems.size(), 1U) << problems.back().message;
  EXPECT_EQ(problems[0].code, expected.code);
  EXPECT_EQ(problems[0].message,
            "layer \"a\" of class " + std::string(expected.class_name) + expected.message);
}

constexpr ErrorCode kInvalid = ErrorCode::kInvalidParameter;
constexpr ErrorCode kUnsupported = ErrorCode::kNotSupported;

INSTANTIATE_TEST_SUITE_P(
    All, LayerRefuses,
    testing::Values(
        Refused{"4", "Dense", R"("units": 0)", kInvalid,
                ": argument \"units\" must be at least 1, not 0"},
        Refused{"4", "Dense", R"("units": 2, "lora_rank": 4)", kUnsupported,
                ": argument \"lora_rank\" is not supported"},
        Refused{"8, 8", "Conv2D", R"("filters": 2, "kernel_size": 3)", kInvalid,
                " needs one input of height x width x channels, not one of shape 8x8"},
        Refused{"8, 8, 3", "Conv2D", R"("filters": 3, "kernel_size": 3, "groups": 2)", kInvalid,
                ": argument \"filters\" must be a positive multiple of groups (2), not 3"},
        Refused{"8, 8, 3", "Conv2D", R"("filters": 4, "kernel_size": 3, "groups": 2)", kInvalid,
                ": 3 channels cannot be divided into 2 groups"},
        Refused{"8, 8, 3", "Conv2D", R"("filters": 4, "kernel_size": [3, 9])", kInvalid,
                ": a window of 3x9 does not fit into an input of shape 8x8x3"},
        Refused{"8, 8, 3", "Conv2D", R"("filters": 4, "kernel_size": 3, "padding": "causal")",
                kUnsupported, ": padding \"causal\" is not supported"},
        Refused{"3, 8, 8", "Conv2D",
                R"("filters": 4, "kernel_size": 3, "data_format": "channels_first")", kUnsupported,
                ": data_format \"channels_first\" is not supported"},
        Refused{"8, 8, 3", "Conv2D", R"("filters": 4, "kernel_size": 3, "strides": 0)", kInvalid,
                ": argument \"strides\" must be at least 1, not 0"},
        Refused{"3, 8, 8", "MaxPooling2D", R"("data_format": "channels_first")", kUnsupported,
                ": data_format \"channels_first\" is not supported"},
        Refused{"1, 8, 3", "AveragePooling2D", R"("pool_size": 2)", kInvalid,
                ": a window of 2x2 does not fit into an input of shape 1x8x3"},
        Refused{"8", "GlobalMaxPooling2D", "", kInvalid,
                " needs one input of height x width x channels, not one of shape 8"},
        Refused{"7", "Reshape", R"("target_shape": [2, -1])", kInvalid,
                ": an input of shape 7 cannot take the shape 2x-1"},
        Refused{"8", "Reshape", R"("target_shape": [-1, -1])", kInvalid,
                ": argument \"target_shape\" allows one -1 and otherwise sizes of 0 or more"},
        Refused{"8", "Dropout", R"("rate": 1.5)", kInvalid,
                ": argument \"rate\" must lie between 0 and 1"},
        Refused{"8, 8", "Dropout", R"("rate": 0.5, "noise_shape": [null, 1])", kInvalid,
                ": argument \"noise_shape\" does not fit an input of shape 8x8"},
        Refused{"8", "Dropout", R"("rate": 0.5, "noise_shape": [null, 3])", kInvalid,
                ": argument \"noise_shape\" does not fit an input of shape 8"},
        Refused{"8", "Dropout", R"("rate": 0.5, "noise_shape": [32, 8])", kUnsupported,
                ": argument \"noise_shape\" starts with 32"},
        Refused{"8", "Dropout", R"("rate": 0.5, "noise_shape": 8)", kUnsupported,
                ": argument \"noise_shape\" starts with 8"},
        Refused{"8, 8", "SpatialDropout2D", R"("rate": 0.5)", kInvalid,
                " needs one input of height x width x channels, not one of shape 8x8"},
        Refused{"8, 8, 3", "ZeroPadding2D", R"("padding": [1, 2, 3])", kInvalid,
                ": argument \"padding\" must be an integer of 0 or more, a list of 2 of them, or a "
                "list of as many pairs, not [1,2,3]"},
        Refused{"8, 8, 3", "ZeroPadding2D", R"("padding": -1)", kInvalid,
                ": argument \"padding\" must be an integer of 0 or more, a list of 2 of them, or a "
                "list of as many pairs, not -1"},
        Refused{"8, 8, 3", "ZeroPadding2D", R"("padding": 5000000000)", ErrorCode::kLimitExceeded,
                ": argument \"padding\" is too large: 5000000000"},
        Refused{"8, 8, 3", "Cropping2D", R"("cropping": [[4, 4], [0, 0]])", kInvalid,
                ": nothing is left of an input of shape 8x8x3"},
        Refused{"8, 8, 3", "UpSampling2D", R"("interpolation": "bicubic")", kUnsupported,
                ": interpolation \"bicubic\" is not supported"},
        Refused{"8, 8, 3", "UpSampling2D", R"("size": 0)", kInvalid,
                ": argument \"size\" must be at least 1, not 0"},
        Refused{"8, 8", "Permute", R"("dims": [1, 3])", kInvalid,
                ": argument \"dims\" must hold each axis once, from 1 on"},
        Refused{"8, 8", "Permute", R"("dims": [3, 2, 1])", kInvalid,
                ": 3 axes do not fit an input of shape 8x8"},
        Refused{"8", "Permute", "", kInvalid, ": argument \"dims\" is missing"},
        Refused{"8, 3", "Rescaling", R"("scale": [1.0, 2.0])", kInvalid,
                ": a list of 2 values does not fit an input of shape 8x3"},
        Refused{"8, 3", "LayerScale", R"("projection_dim": 4, "init_values": 0.1)", kInvalid,
                ": projection_dim 4 does not fit an input of shape 8x3"},
        Refused{"8, 3", "Normalization", R"("axis": 3)", kInvalid,
                ": axis 3 does not exist in an input of shape 8x3"},
        Refused{"8, 3", "Normalization", R"("axis": 0)", kInvalid,
                ": axis 0 does not exist in an input of shape 8x3"},
        Refused{"8, 3", "Normalization", R"("mean": [1.0, 2.0], "variance": [1.0, 2.0])", kInvalid,
                ": 2 values of \"mean\" do not fit an input of shape 8x3"},
        Refused{"8, 3", "Normalization", R"("mean": [1.0, 2.0])", kInvalid,
                ": arguments \"mean\" and \"variance\" must have as many values"},
        Refused{"8, 8, 3", "DepthwiseConv2D", R"("kernel_size": 9)", kInvalid,
                ": a window of 9x9 does not fit into an input of shape 8x8x3"},
        Refused{"8, 8, 3", "DepthwiseConv2D", R"("kernel_size": 3, "depth_multiplier": 0)",
                kInvalid, ": argument \"depth_multiplier\" must be at least 1, not 0"},
        Refused{"8, 8, 3", "DepthwiseConv2D", "", kInvalid,
                ": argument \"kernel_size\" is missing"},
        Refused{"8, 8, 3", "SeparableConv2D", R"("kernel_size": 3)", kInvalid,
                ": argument \"filters\" is missing"},
        Refused{"8", "Subtract", "", kInvalid, ": two inputs are needed, not 1"},
        Refused{"8", "Softmax", R"("axis": 2)", kInvalid,
                ": axis 2 does not exist in an input of shape 8"},
        Refused{"8, 3", "Softmax", R"("axis": [1, 3])", kInvalid,
                ": axis 3 is not one of an example of shape 8x3, or is there twice"},
        Refused{"8", "Softmax", R"("axis": [])", kInvalid, ": argument \"axis\" names no axis"},
        Refused{"7", "Activation", R"("activation": "glu")", kInvalid,
                ": glu needs an even last axis, not an input of shape 7"},
        Refused{"8", "Dense", R"("units": 4, "activation": "glu")", kUnsupported,
                ": activation \"glu\" needs a layer of its own"},
        Refused{"8", "ReLU", R"("max_value": -2.0)", kInvalid,
                ": argument \"max_value\" must not be negative"},
        Refused{"4, 8", "BatchNormalization", R"("axis": [1])", kUnsupported,
                ": axis 1 is not supported"},
        Refused{"8", "BatchNormalization", R"("renorm": true)", kUnsupported,
                ": argument \"renorm\" is not supported"},
        Refused{"8", "BatchNormalization", R"("momentum": 2)", kInvalid,
                ": argument \"momentum\" must lie between 0 and 1"},
        Refused{
            "4, 4, 2", "Conv2DTranspose",
            R"("filters": 2, "kernel_size": 3, "strides": 2, "output_padding": 2)", kInvalid,
            ": argument \"output_padding\" must be at least 0 and less than strides (2), not 2"},
        Refused{"4, 4, 2", "Conv2DTranspose",
                R"("filters": 2, "kernel_size": 2, "strides": 2, "output_padding": 0,
                   "padding": "same")",
                kInvalid, ": padding \"same\" with output_padding 0 needs windows of odd sizes"},
        Refused{"4, 4, 2", "Conv2DTranspose",
                R"("filters": 2, "kernel_size": 3, "strides": 2, "dilation_rate": 2)", kInvalid,
                ": strides and dilation_rate cannot both be greater than 1"},
        Refused{"4, 2", "PReLU", R"("shared_axes": [3])", kInvalid,
                ": shared axis 3 does not exist in an input of shape 4x2"},
        Refused{"4, 6", "GroupNormalization", R"("groups": 4)", kInvalid,
                ": 6 channels cannot be divided into 4 groups"},
        Refused{"4", "GaussianNoise", "", kInvalid, ": argument \"stddev\" is missing"},
        Refused{"4", "GaussianDropout", R"("rate": 1.0)", kInvalid,
                ": argument \"rate\" must be at least 0 and below 1"},
        Refused{"4", "AlphaDropout", R"("rate": 1.0)", kInvalid,
                ": argument \"rate\" must be below 1"},
        Refused{"4", "CategoryEncoding", "", kInvalid, ": argument \"num_tokens\" is missing"},
        Refused{"4, 2", "CategoryEncoding", R"("num_tokens": 3)", kInvalid,
                ": output_mode \"multi_hot\" or \"count\" needs an input of one axis, not 4x2"},
        Refused{"4", "Discretization", R"("bin_boundaries": [1, 0])", kInvalid,
                ": argument \"bin_boundaries\" must be in ascending order"},
        Refused{"4", "Discretization", R"("num_bins": 4)", kUnsupported,
                ": argument \"bin_boundaries\" is missing, and a layer that adapt() is to fill is "
                "not supported"},
        Refused{"4, 4, 2", "Resizing", R"("height": 3, "width": 2, "interpolation": "bicubic")",
                kUnsupported, ": interpolation \"bicubic\" is not supported"},
        Refused{"4, 4, 2", "CenterCrop", R"("height": 0, "width": 2)", kInvalid,
                ": argument \"height\" must be at least 1, not 0"},
        Refused{"4, 4, 2", "RandomFlip", R"("mode": "left")", kInvalid,
                ": mode \"left\" is not known"},
        Refused{"4, 4, 2", "RandomRotation", R"("factor": 1.5)", kInvalid,
                ": argument \"factor\" must be a number, or two, between -1 and 1"},
        Refused{"4, 4, 2", "RandomZoom", R"("height_factor": [-1.0, 0.5])", kInvalid,
                ": argument \"height_factor\" must be a number, or two, above -1 and at most 1"},
        Refused{"4, 4, 2", "RandomZoom", R"("height_factor": 0.5, "width_factor": -1)", kInvalid,
                ": argument \"width_factor\" must be a number, or two, above -1 and at most 1"},
        Refused{"4", "SpectralNormalization",
                R"("layer": {"class_name": "ReLU", "config": {"name": "r"}})", kInvalid,
                ": a layer of class ReLU has no kernel of its own"},
        Refused{"4, 2", "SpectralNormalization",
                R"("layer": {"class_name": "LSTM", "config": {"units": 2}})", kInvalid,
                ": a layer of class LSTM has no kernel of its own"},
        Refused{
            "4", "SpectralNormalization",
            R"("layer": {"class_name": "Dense", "config": {"units": 2}}, "power_iterations": 0)",
            kInvalid, ": argument \"power_iterations\" must lie between 1 and 1000, not 0"},
        Refused{"4, 2", "ConvLSTM1D", R"("filters": 2, "kernel_size": 2)", kInvalid,
                ": an input of time x steps x features is needed, not one of shape 4x2"},
        Refused{"3, 4, 2", "ConvLSTM1D", R"("filters": 2, "kernel_size": 5)", kInvalid,
                ": a window of 1x5 does not fit into an input of shape 1x4x2"},
        Refused{"3, 4, 2", "ConvLSTM1D", R"("filters": 2, "kernel_size": 2, "padding": "causal")",
                kUnsupported, ": padding \"causal\" is not supported"},
        Refused{"3, 4, 2", "ConvLSTM1D", R"("filters": 2, "kernel_size": 2, "return_state": true)",
                kUnsupported, ": argument \"return_state\" is not supported"},
        Refused{"4, 4, 2", "RandomZoom", R"("height_factor": 0.1, "fill_mode": "mirror")", kInvalid,
                ": fill_mode \"mirror\" is not known"},
        Refused{"8", "Rescaling", R"("offset": 1.0)", kInvalid, ": argument \"scale\" is missing"},
        Refused{"4", "EinsumDense", R"("output_shape": 2)", kInvalid,
                ": argument \"equation\" is missing"},
        Refused{"4", "EinsumDense", R"("equation": "ab,bc->ac")", kInvalid,
                ": argument \"output_shape\" is missing"},
        Refused{"4", "EinsumDense", R"("equation": "ab,bc", "output_shape": 2)", kUnsupported,
                ": equation \"ab,bc\" is not supported"},
        Refused{"4", "EinsumDense", R"("equation": "ab,bc,cd->ad", "output_shape": 2)",
                kUnsupported, ": equation \"ab,bc,cd->ad\" is not supported"},
        Refused{"4", "EinsumDense", R"("equation": "a...b,bc->a...c", "output_shape": 2)",
                kUnsupported, ": equation \"a...b,bc->a...c\" is not supported"},
        Refused{"4", "EinsumDense", R"("equation": "aa,ac->ac", "output_shape": 2)", kUnsupported,
                ": equation \"aa,ac->ac\" is not supported"},
        Refused{
            "4", "EinsumDense", R"("equation": "ab,bc->ad", "output_shape": 2)", kInvalid,
            ": equation \"ab,bc->ad\" has a letter behind \"->\" or of the kernel that is in no "
            "other term"},
        Refused{
            "4", "EinsumDense", R"("equation": "ab,bcd->ac", "output_shape": 2)", kInvalid,
            ": equation \"ab,bcd->ac\" has a letter behind \"->\" or of the kernel that is in no "
            "other term"},
        Refused{"4", "EinsumDense",
                R"("equation": "ab,bc->ac", "output_shape": 2, "bias_axes": "b")", kInvalid,
                ": argument \"bias_axes\" must be letters behind \"->\" in \"ab,bc->ac\", not "
                "\"b\""},
        Refused{"4", "EinsumDense",
                R"("equation": "ab,bc->ac", "output_shape": 2, "bias_axes": "a")", kInvalid,
                ": argument \"bias_axes\" names the batch, or an axis whose size nobody says: "
                "\"a\""},
        Refused{"3, 4", "EinsumDense", R"("equation": "ab,bc->ac", "output_shape": 2)", kInvalid,
                ": equation \"ab,bc->ac\" does not fit an input of shape 3x4"},
        Refused{"3, 4", "EinsumDense", R"("equation": "abc,cd->abd", "output_shape": 2)", kInvalid,
                ": argument \"output_shape\" does not fit equation \"abc,cd->abd\" and an input of "
                "shape 3x4"},
        Refused{"3, 4", "EinsumDense", R"("equation": "abc,cd->abd", "output_shape": [2, 5])",
                kInvalid,
                ": argument \"output_shape\" does not fit equation \"abc,cd->abd\" and an input of "
                "shape 3x4"},
        Refused{"3, 4", "EinsumDense", R"("equation": "abc,cd->abd", "output_shape": [null, null])",
                kInvalid,
                ": equation \"abc,cd->abd\" leaves the size of axis \"d\" of the kernel open"},
        Refused{"4", "EinsumDense", R"("equation": "ab,ac->bc", "output_shape": 2)", kInvalid,
                ": equation \"ab,ac->bc\" leaves the size of axis \"a\" of the kernel open"},
        Refused{"4", "EinsumDense", R"("equation": "ab,bc->ca", "output_shape": 2)", kInvalid,
                ": equation \"ab,bc->ca\" leaves the size of axis \"c\" of the kernel open"},
        Refused{"4", "EinsumDense", R"("equation": "ab,bc->ac", "output_shape": 2, "lora_rank": 2)",
                kUnsupported, ": argument \"lora_rank\" is not supported"},
        // Of inputs without axes: what looks along one would mix the examples of a batch.
        Refused{"", "Dense", R"("units": 2)", kInvalid, " needs one input of rank 1 or more"},
        Refused{"", "BatchNormalization", "", kInvalid, " needs one input of rank 1 or more"},
        Refused{"", "Softmax", "", kInvalid,
                ": axis -1 does not exist in an input of shape scalar"},
        Refused{"", "Activation", R"("activation": "log_softmax")", kInvalid,
                ": axis -1 does not exist in an input of shape scalar"},
        Refused{"", "Activation", R"("activation": "sparsemax")", kInvalid,
                ": axis -1 does not exist in an input of shape scalar"},
        Refused{"", "Activation", R"("activation": "glu")", kInvalid,
                ": glu needs an even last axis, not an input of shape scalar"},
        Refused{"", "CategoryEncoding", R"("num_tokens": 3)", kInvalid,
                ": output_mode \"multi_hot\" or \"count\" needs an input of one axis, not scalar"},
        Refused{"8", "Activation", "", kInvalid, ": argument \"activation\" is missing"}));

TEST(LayerFlops, MultiplyAddsCountTwo) {
  std::shared_ptr<const ModelSpec> spec;
  Problems("10", Entry("Dense", R"("units": 4, "use_bias": false)"), &spec);
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->flops, 2 * 10 * 4);
  Problems("8, 8, 6", Entry("Conv2D", R"("filters": 4, "kernel_size": 3, "groups": 2,
                                         "use_bias": false, "padding": "same")"),
           &spec);
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->flops, 2 * (8 * 8 * 4) * (3 * 3 * 3));
}

// Of one multiply-add for each cell of the window, whatever the other channels are.
TEST(LayerFlops, Depthwise) {
  std::shared_ptr<const ModelSpec> spec;
  Problems("8, 8, 6", Entry("DepthwiseConv2D", R"("kernel_size": 3, "padding": "same")"), &spec);
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->flops, 2 * (8 * 8 * 6) * (3 * 3));
  Problems("8, 8, 6",
           Entry("SeparableConv2D", R"("filters": 4, "kernel_size": 3, "padding": "same")"), &spec);
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->flops, 2 * (8 * 8 * 6) * (3 * 3) + 2 * (8 * 8 * 4) * 6);
}

// Sizes whose product no tensor can have.
TEST(LayerChecks, TooLargeOutputs) {
  for (const std::string& entry :
       {Entry("UpSampling2D", R"("size": 1000000000)"),
        Entry("ZeroPadding2D", R"("padding": 1000000000)"),
        Entry("DepthwiseConv2D", R"("kernel_size": 1, "depth_multiplier": 1000000000)"),
        Entry("SeparableConv2D",
              R"("filters": 2, "kernel_size": 1, "depth_multiplier": 1000000000)"),
        Entry("DepthwiseConv2D", R"("kernel_size": 1000000000, "padding": "same")"),
        Entry("Conv2DTranspose", R"("filters": 1, "kernel_size": 3, "strides": 1000000000)"),
        Entry("Conv2DTranspose", R"("filters": 1, "kernel_size": 3, "dilation_rate": 1000000000,
                                    "padding": "same")"),
        Entry("Resizing", R"("height": 1000000000, "width": 1000000000)"),
        Entry("CategoryEncoding", R"("num_tokens": 1000000000, "output_mode": "one_hot")")}) {
    const auto problems = Problems("8, 8, 3", entry);
    ASSERT_EQ(problems.size(), 1U) << entry;
    EXPECT_EQ(problems[0].code, ErrorCode::kLimitExceeded) << problems[0].message;
  }
}

// Other names that classes have had.
TEST(LayerChecks, FormerNames) {
  std::shared_ptr<const ModelSpec> spec;
  for (const char* name : {"BatchNormalizationV1", "BatchNormalizationV2"}) {
    EXPECT_TRUE(Problems("8", Entry(name, ""), &spec).empty());
    ASSERT_NE(spec, nullptr);
    EXPECT_EQ(spec->layers[0]->class_name(), "BatchNormalization");
    const std::string wrapped =
        R"("layer": {"class_name": ")" + std::string(name) + R"(", "config": {"name": "inner"}})";
    EXPECT_TRUE(Problems("4, 8", Entry("TimeDistributed", wrapped), &spec).empty());
    ASSERT_NE(spec, nullptr);
    EXPECT_EQ(spec->weights.size(), 4U);
  }
  const std::string arguments = R"("filters": 2, "kernel_size": 3)";
  EXPECT_TRUE(Problems("8, 8, 1", Entry("Convolution2D", arguments), &spec).empty());
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->layers[0]->class_name(), "Conv2D");
  EXPECT_TRUE(Problems("8, 1", Entry("Convolution1D", arguments), &spec).empty());
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->layers[0]->class_name(), "Conv1D");
  EXPECT_TRUE(Problems("5, 3", Entry("CuDNNLSTM", R"("units": 2)"), &spec).empty());
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->layers[0]->class_name(), "LSTM");
  EXPECT_TRUE(Problems("5, 3", Entry("CuDNNGRU", R"("units": 2)"), &spec).empty());
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->layers[0]->class_name(), "GRU");
  EXPECT_EQ(spec->weights[2].shape, (Shape{2, 6}));  // reset_after
}

// Windows and counts as large as attributes may be must not overflow.
TEST(LayerFlops, HugeWindows) {
  std::shared_ptr<const ModelSpec> spec;
  Problems("4, 4, 1",
           Entry("MaxPooling2D", R"("pool_size": 1000000000, "strides": 1, "padding": "same")"),
           &spec);
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->output_shape(), (Shape{4, 4, 1}));
  EXPECT_GT(spec->flops, 0);
  EXPECT_FALSE(Problems("4, 4, 1", Entry("Conv2D", R"("filters": 1000000000, "padding": "same",
                                         "kernel_size": 1000000000, "dilation_rate": 1000000000)"))
                   .empty());
}

}  // namespace
}  // namespace hopper
