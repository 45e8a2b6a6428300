#include "model/recipes/network.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/product.h"
#include "model/recipes/written_layers.h"
#include "params/json_writer.h"

namespace hopper {
namespace {

using Fields = JsonObjectText;

constexpr int64_t kEmbedding = 8;  // weights for each category, as recipes for tables have them

void RequireClasses(const DataDesc& data) {
  for (const DataOutput& output : data.outputs) {
    if (output.kind != LabelKind::kClass || output.num_classes >= 2) continue;
    throw Error(
        ErrorCode::kInvalidParameter,
        "column \"" + output.column + "\" of \"" + data.table_name + "\" holds one class only",
        "There is nothing to learn.",
        "Pack rows of other classes, too, or numbers with label_kind => 'value'.");
  }
}

void RequireImages(const DataDesc& data) {
  const size_t rank = data.x_shape.size();
  if (rank == 2 || rank == 3) return;
  throw Error(ErrorCode::kInvalidParameter, "\"" + data.table_name + "\" does not hold images",
              "An example has " + std::to_string(rank) + (rank == 1 ? " axis" : " axes") +
                  "; an image has two or three.",
              "Pack with image_shape, or use hopper.mlp().");
}

class NetworkWriter {
 public:
  NetworkWriter(const NetworkRequest& request, const DataDesc& data,
                const std::vector<RecipeIds>& ids)
      : request_(request),
        data_(data),
        ids_(ids),
        layers_(!ids.empty() || data.outputs.size() > 1) {}

  std::string Write() {
    std::string shape = "[null";
    for (const int64_t size : data_.x_shape) shape += "," + std::to_string(size);
    last_ = layers_.Add("InputLayer", "input", {}, Fields().Add("batch_shape", shape + "]"));
    if (!ids_.empty()) Embed();
    // Bytes as they are would be too large for weights that begin small.
    if (data_.x_type == ValueType::kUint8 && data_.normalizing_const == 1.0) {
      Add("Rescaling", Fields().Add("scale", JsonNumber(1.0 / 255.0)).Add("offset", "0.0"));
    }
    if (request_.of_images) Convolutions();
    if (request_.of_images || data_.x_shape.size() > 1) Add("Flatten");
    for (const int64_t units : request_.hidden) {
      Block("Dense", Fields().Add("units", std::to_string(units)));
      if (request_.dropout > 0.0) {
        Add("Dropout", Fields().Add("rate", JsonNumber(request_.dropout)));
      }
    }
    std::vector<std::string> ends;
    const std::string before = last_;
    for (const DataOutput& output : data_.outputs) {
      last_ = before;
      End(output);
      ends.push_back(last_);
    }
    return layers_.Model(request_.of_images ? "cnn" : "mlp", ends).Text();
  }

 private:
  // "dense_3"
  std::string NextName(std::string class_name) {
    std::transform(class_name.begin(), class_name.end(), class_name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return class_name + "_" + std::to_string(++n_layers_);
  }

  // Reads the layer before it, or these.
  void Add(const char* class_name, const Fields& config = {}) {
    AddOf(class_name, {last_}, config);
  }
  void AddOf(const char* class_name, const std::vector<std::string>& inputs, const Fields& config) {
    last_ = layers_.Add(class_name, NextName(class_name), inputs, config);
  }

  void Take(const std::vector<int64_t>& places) {
    AddOf("Take", {"input"}, Fields().Add("axis", "1").Add("indices", WholeNumbers(places)));
  }

  // Rows of weights in the place of ids, beside the numbers.
  void Embed() {
    std::vector<int64_t> numbers, places, counts, lengths;
    for (const RecipeIds& ids : ids_) {
      for (int64_t i = 0; i < ids.length; ++i) places.push_back(ids.place + i);
      counts.push_back(ids.count);
      lengths.push_back(ids.length);
    }
    for (int64_t place = 0; place < data_.x_elements(); ++place) {
      if (!std::binary_search(places.begin(), places.end(), place)) numbers.push_back(place);
    }
    if (!numbers.empty()) Take(numbers);
    const std::string beside = last_;
    Take(places);
    Fields config;
    config.Add("output_dim", std::to_string(kEmbedding)).Add("input_dims", WholeNumbers(counts));
    if (places.size() > counts.size()) config.Add("lengths", WholeNumbers(lengths));
    Add("CategoryEmbedding", config);
    if (!numbers.empty()) AddOf("Concatenate", {beside, last_}, Fields().Add("axis", "-1"));
  }

  // A layer, its normalization and its activation.
  void Block(const char* class_name, Fields config) {
    const std::string activation = JsonString(request_.activation);
    if (!request_.batch_norm) config.Add("activation", activation);
    Add(class_name, config);
    if (!request_.batch_norm) return;
    Add("BatchNormalization");
    Add("Activation", Fields().Add("activation", activation));
  }

  void Convolutions() {
    int64_t height = data_.x_shape[0];
    int64_t width = data_.x_shape[1];
    if (data_.x_shape.size() == 2) {
      Add("Reshape", Fields().Add("target_shape", WholeNumbers({height, width, 1})));
    }
    const int64_t kernel = request_.kernel_size;
    const int64_t pooling = request_.pooling;
    for (const int64_t filters : request_.filters) {
      Block("Conv2D", Fields()
                          .Add("filters", std::to_string(filters))
                          .Add("kernel_size", WholeNumbers({kernel, kernel}))
                          .Add("padding", "\"same\""));
      // An image smaller than the window stays as it is.
      if (pooling > 1 && height >= pooling && width >= pooling) {
        Add("MaxPooling2D", Fields().Add("pool_size", WholeNumbers({pooling, pooling})));
        height /= pooling;
        width /= pooling;
      }
    }
  }

  // The last layer of one among several outputs has its name.
  void AddEnd(const char* class_name, const DataOutput& output, bool is_last,
              const Fields& config) {
    const bool named = is_last && data_.outputs.size() > 1;
    last_ = layers_.Add(class_name, named ? output.name : NextName(class_name), {last_}, config);
  }

  // A number for each class or value of the labels. Of two classes one unit tells the second one's
  // probability, so that metrics such as AUC and precision are of that class.
  void End(const DataOutput& output) {
    const bool is_class = output.kind == LabelKind::kClass;
    const bool is_reshaped = output.shape.size() > 1;
    int64_t units = ProductOf(output.shape);
    const char* activation = "\"linear\"";
    if (is_class) {
      units = output.num_classes == 2 ? 1 : output.num_classes;
      activation = output.num_classes == 2 ? "\"sigmoid\"" : "\"softmax\"";
    } else if (output.kind == LabelKind::kArray && data_.y_type == ValueType::kUint8) {
      // Only arrays of booleans are packed as bytes: each says whether a label holds.
      activation = "\"sigmoid\"";
    }
    AddEnd("Dense", output, !is_reshaped,
           Fields().Add("units", std::to_string(units)).Add("activation", activation));
    if (!is_reshaped) return;
    AddEnd("Reshape", output, true, Fields().Add("target_shape", WholeNumbers(output.shape)));
  }

  const NetworkRequest& request_;
  const DataDesc& data_;
  const std::vector<RecipeIds>& ids_;
  WrittenLayers layers_;
  int n_layers_ = 0;
  std::string last_;  // the layer that was written last
};

}  // namespace

std::string MakeNetwork(const NetworkRequest& request, const DataDesc& data,
                        const RowLayout& layout) {
  RequireClasses(data);
  if (request.of_images) RequireImages(data);
  return NetworkWriter(request, data, layout.ids).Write();
}

}  // namespace hopper
