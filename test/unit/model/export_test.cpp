// Models for other tools: the graph, and the bytes of the ONNX file. What the files compute is
// tested with ONNX Runtime and PyTorch (test/python/formats_test.py).
#include <gtest/gtest.h>

#include <string>

#include "model/exported/export_model.h"
#include "model/exported/model_graph.h"
#include "model/exported/protobuf.h"

namespace hopper {
namespace {

constexpr const char* kImages =
    R"({"class_name": "Sequential", "config": {"name": "m", "layers": [
      {"class_name": "Conv2D", "config": {"name": "a", "filters": 3, "kernel_size": 3,
        "activation": "relu", "batch_input_shape": [null, 8, 8, 2]}},
      {"class_name": "BatchNormalization", "config": {"name": "b"}},
      {"class_name": "ReLU", "config": {"name": "c"}},
      {"class_name": "ZeroPadding2D", "config": {"name": "d", "padding": 1}},
      {"class_name": "Conv2D", "config": {"name": "e", "filters": 2, "kernel_size": 3}},
      {"class_name": "GlobalAveragePooling2D", "config": {"name": "f"}}]}})";

TEST(Message, FieldsOfTheWireFormat) {
  Message inner;
  inner.Int(1, 300);
  Message message;
  message.Int(20, -1);
  message.Float(2, 1.0F);
  message.Bytes(9, "ab");
  message.Put(3, inner);
  EXPECT_EQ(message.bytes(), std::string("\xA0\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"
                                         "\x15\x00\x00\x80\x3F"
                                         "\x4A\x02"
                                         "ab"
                                         "\x1A\x03\x08\xAC\x02",
                                         12 + 5 + 4 + 5));
}

TEST(Export, ImagesAreTurnedOnceOnTheirWayIn) {
  const auto spec = ParseModel(kImages, nullptr);
  ModelExport model;
  model.spec = spec.get();
  ops::Graph graph;
  MakeGraph(model, &graph);
  std::string names;
  for (const ops::Operation* operation : graph.Nodes()) names += operation->op + " ";
  EXPECT_EQ(names,
            "Transpose Transpose Conv Relu BatchNormalization Relu Pad Transpose Conv ReduceMean ");
  EXPECT_EQ(graph.tensors()[static_cast<size_t>(graph.outputs()[0])].name, "f");
}

TEST(Export, WeightsStandInTheFileAsTheyAre) {
  const auto spec = ParseModel(kImages, nullptr);
  ModelExport model;
  model.spec = spec.get();
  model.normalizing_const = 255.0;
  int64_t floats = 0;
  int64_t next = 0;
  for (const FilePiece& piece : OnnxFile(model)) {
    if (piece.count == 0) continue;
    EXPECT_EQ(piece.first, next);
    next = piece.first + piece.count;
    floats += piece.count;
    // The last field is the data's, of as many bytes as follow.
    const std::string end = Message::Header(9, static_cast<size_t>(piece.count) * sizeof(float));
    EXPECT_EQ(piece.bytes.substr(piece.bytes.size() - end.size()), end);
  }
  EXPECT_EQ(floats, spec->parameters);
}

std::string Recurrent(const std::string& input, const std::string& before,
                      const std::string& arguments, const char* version,
                      const std::string& after = "") {
  return R"({"class_name": "Sequential", "keras_version": ")" + std::string(version) +
         R"(", "config": {"layers": [{"class_name": "InputLayer", "config": {"name": "i",
        "batch_input_shape": [null, )" +
         input + "]}}, " + before +
         R"({"class_name": "LSTM", "config": {"name": "l", "units": 2, )" + arguments + "}}" +
         after + "]}}";
}

// Python's tuple of one has a comma.
TEST(Export, SeriesOfOneStep) {
  const auto spec =
      ParseModel(Recurrent("1, 2", R"({"class_name": "Masking", "config": {"name": "m"}}, )",
                           R"("return_sequences": true)", "3.10.0",
                           R"(, {"class_name": "GlobalMaxPooling1D", "config": {"name": "p"}})"),
                 nullptr);
  ModelExport model;
  model.spec = spec.get();
  const std::string source = PytorchSource(model);
  const size_t begin = source.find("torch.cat((");
  ASSERT_NE(begin, source.npos);
  EXPECT_EQ(source.substr(source.find(')', begin) - 1, 6), ",), 1)");
}

// However many steps there are.
TEST(Export, HardSigmoidIsAFunctionOfRecurrentOperations) {
  for (const char* version : {"2.2.4", "3.10.0"}) {
    const auto spec = ParseModel(
        Recurrent("600, 1", "", R"("recurrent_activation": "hard_sigmoid")", version), nullptr);
    ModelExport model;
    model.spec = spec.get();
    ops::Graph graph;
    MakeGraph(model, &graph);
    const ops::Operation* lstm = nullptr;
    for (const ops::Operation* operation : graph.Nodes()) {
      if (operation->op == "LSTM") lstm = operation;
    }
    ASSERT_NE(lstm, nullptr);
    using Numbers = std::vector<double>;
    EXPECT_EQ(std::get<Numbers>(lstm->Find("activation_alpha")->value),
              Numbers{version[0] == '2' ? 0.2 : 1.0 / 6.0});
    EXPECT_EQ(std::get<Numbers>(lstm->Find("activation_beta")->value), Numbers{0.5});
    const char* formula = version[0] == '2' ? "lambda x: (x * 0.2 + 0.5).clamp(0.0, 1.0)"
                                            : "lambda x: (x * 0.166666667 + 0.5).clamp(0.0, 1.0)";
    EXPECT_NE(PytorchSource(model).find(formula), std::string::npos);
  }
}

TEST(Export, ALayerWithoutAFormIsRefusedByItsName) {
  const auto spec = ParseModel(
      R"({"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Masking", "config": {"name": "m", "batch_input_shape": [null, 501, 2]}},
        {"class_name": "LSTM", "config": {"name": "late", "units": 3}}]}})",
      nullptr);
  ModelExport model;
  model.spec = spec.get();
  try {
    OnnxFile(model);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "layer \"late\" of class LSTM has no export for 501 steps with a mask");
    EXPECT_EQ(error.problem().code, ErrorCode::kNotSupported);
  }
}

}  // namespace
}  // namespace hopper
