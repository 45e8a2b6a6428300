#include "model/keras/detours.h"

#include <string_view>

namespace hopper {
namespace {

constexpr const char* kAnotherFramework = "It wraps a model of another framework.";
constexpr const char* kPreparesData = "It prepares data; the model gets packed numbers.";
constexpr const char* kNoVolumes = "Layers of volumes are not there.";
constexpr const char* kImageByImage =
    "Write the layer of images inside keras.layers.TimeDistributed, for example "
    "TimeDistributed(Conv2D(8, 3)): it takes each image of a series by itself.";
constexpr const char* kKerasLayers = "Build the model of Keras' own layers.";
constexpr const char* kOtherAugmentation =
    "Leave it out, or augment with RandomFlip, RandomRotation, RandomTranslation, RandomZoom, "
    "RandomContrast, RandomBrightness or RandomCrop.";
constexpr const char* kRecurrentLayers =
    "Write keras.layers.LSTM(units), GRU(units) or SimpleRNN(units) in place of "
    "RNN(LSTMCell(units)); "
    "several behind each other with return_sequences=True in all but the last.";
constexpr const char* kBeforePacking = "Compute it before the data are packed.";

const Detour kLayers[] = {
    {"Lambda", "Lambda holds Python byte code.",
     "Write what it computes with layers: keras.layers.Rescaling(2.0) for x * 2, "
     "keras.layers.Activation(\"relu\"), keras.layers.Add()([x, y]), keras.layers.Reshape."},
    {"FlaxLayer JaxLayer TFSMLayer TorchModuleWrapper", kAnotherFramework, kKerasLayers},
    {"HashedCrossing", kPreparesData,
     "Join the two columns to one text in a view, and let keras.layers.Hashing read that."},
    {"DenseFeatures", kPreparesData,
     "Pack columns of numbers; for categories give the model an input of its own with "
     "keras.layers.Embedding."},
    {"MelSpectrogram STFTSpectrogram MaxNumBoundingBoxes", kPreparesData, kBeforePacking},
    {"AUGMIX AugMix AutoContrast ContrastLimitedAdaptiveHistogramEqualization CutMix Equalization "
     "MixUp RandAugment RandomColorDegeneration RandomColorJitter RandomElasticTransform "
     "RandomErasing RandomGaussianBlur RandomGrayscale RandomHue RandomInvert RandomPerspective "
     "RandomPosterization RandomSaturation RandomSharpness RandomShear Solarization",
     "", kOtherAugmentation},
    {"RandomHeight RandomWidth", "It makes images of several sizes.",
     "Use keras.layers.RandomZoom, or keras.layers.Resizing."},
    {"Pipeline", "", "Write its layers one behind the other."},
    {"AdaptiveAveragePooling1D AdaptiveAveragePooling2D", "",
     "Write GlobalAveragePooling2D (1D) for one value, or AveragePooling2D (1D) with the pool_size "
     "that gives the output's size."},
    {"AdaptiveMaxPooling1D AdaptiveMaxPooling2D", "",
     "Write GlobalMaxPooling2D (1D) for one value, or MaxPooling2D (1D) with the pool_size that "
     "gives the output's size."},
    {"AdaptiveAveragePooling3D AdaptiveMaxPooling3D AveragePooling3D Conv3D Conv3DTranspose "
     "Cropping3D GlobalAveragePooling3D GlobalMaxPooling3D MaxPooling3D SpatialDropout3D "
     "UpSampling3D ZeroPadding3D",
     kNoVolumes, kImageByImage},
    {"ConvLSTM3D", kNoVolumes, "Write keras.layers.ConvLSTM2D for series of images."},
    {"GRUCell LSTMCell RNN SimpleRNNCell StackedRNNCells", "", kRecurrentLayers},
    {"LocallyConnected1D LocallyConnected2D", "Keras 3 has it no more.",
     "Write keras.layers.Conv2D (Conv1D), whose kernel is the same at all places."},
    {"RandomFourierFeatures", "Keras 3 has it no more.",
     "Compute the features before the data are packed, or learn them with keras.layers.Dense."},
    {"ReversibleEmbedding", "",
     "Write keras.layers.Embedding, and keras.layers.Dense for the way back."},
};

constexpr const char* kMerge =
    "Write the layer: keras.layers.Add()([x, y]), and so Subtract, Multiply, Maximum and Minimum.";
constexpr const char* kReshape = "Write keras.layers.Reshape, whose shape leaves the batch out.";
constexpr const char* kSlice =
    "Write keras.layers.Cropping1D (2D), or give the model an input of its own for this part.";

const Detour kOperations[] = {
    {"add add_v2 subtract sub multiply mul maximum minimum add_n", "", kMerge},
    {"where select", "", "Write keras.ops.where(x > 0, x, y), with all three."},
    {"eq ne", "Keras 2 writes x == y into a file without y.",
     "Write tensorflow.equal(x, y) or tensorflow.not_equal(x, y)."},
    {"equal not_equal greater greater_equal less less_equal", "",
     "Compare two tensors, or a tensor and a number."},
    {"true_divide truediv divide floor_divide floordiv floor_div mod floormod", "",
     "Write keras.layers.Rescaling(1 / number), or divide in SQL before the data are packed."},
    {"mean reduce_mean", "",
     "Write keras.layers.GlobalAveragePooling1D() over steps, or 2D over pixels."},
    {"max amax reduce_max", "",
     "Write keras.layers.GlobalMaxPooling1D() over steps, or 2D over pixels."},
    {"sum reduce_sum", "",
     "Write keras.layers.GlobalAveragePooling1D() and keras.layers.Rescaling(steps) behind it."},
    {"min amin reduce_min", "",
     "Write keras.layers.Rescaling(-1.0) before and behind keras.layers.GlobalMaxPooling1D()."},
    {"einsum", "Keras 2 writes tensorflow.einsum() into a file without its tensors.",
     "Write keras.layers.Dot(axes=...)([x, y]), or keras.layers.Dense for a product with "
     "weights."},
    {"matmul linalg_matmul dot tensordot batch_dot", "",
     "Write keras.layers.Dot(axes=...)([x, y]), or keras.layers.Dense for a product with weights."},
    {"expand_dims squeeze reshape flatten", "", kReshape},
    {"transpose swapaxes moveaxis", "",
     "Write keras.layers.Permute, whose axes are counted from 1."},
    {"stack", "", "Write keras.layers.Reshape for each, and keras.layers.Concatenate."},
    {"concat concatenate", "", "Write keras.layers.Concatenate(axis=...)([x, y])."},
    {"split", "", "Write keras.ops.split(x, parts, axis=...), with an axis other than the batch."},
    {"gather take", "",
     "Write keras.ops.take(x, [2, 0], axis=1), with places that are numbers and an axis other than "
     "the batch."},
    {"unstack get_item getitem slicing_op_lambda slice strided_slice", "", kSlice},
    {"tile repeat broadcast_to", "",
     "Write keras.layers.RepeatVector or keras.layers.UpSampling1D (2D)."},
    {"norm", "", "Write keras.ops.norm(x, axis=...), which is the root of the sum of squares."},
    {"flip reverse", "", "Flip one axis, which is not the batch: keras.ops.flip(x, axis=1)."},
    {"pad", "", "Write keras.layers.ZeroPadding1D (2D)."},
    {"resize resize_bilinear resize_nearest_neighbor", "", "Write keras.layers.Resizing."},
    {"cast", "All tensors are float32.",
     "Leave it out; int32, int64 and bool are there, for values that they hold."},
    {"one_hot", "", "Write keras.layers.CategoryEncoding(num_tokens, output_mode=\"one_hot\")."},
    {"clip clip_by_value", "", "Write keras.layers.ReLU(max_value=...), which begins at 0."},
    {"l2_normalize normalize", "", "Write keras.layers.UnitNormalization()."},
    {"dropout", "", "Write keras.layers.Dropout(rate)."},
    {"convolution conv conv1d conv2d depthwise_conv2d", "",
     "Write keras.layers.Conv2D, or the layer that has these weights."},
    {"argmax argmin argsort", "Places have no slope: nothing before them would learn.",
     "Let the model put out the values themselves; predict() tells the most likely class."},
    {"stop_gradient", "Each weight learns from all that comes behind it.",
     "Set trainable=False in the layers before it, where nothing else is to train them."},
    {"erf", "", "Write keras.activations.gelu(x) for x * (1 + erf(x / sqrt(2))) / 2."},
    {"embedding_lookup", "", "Write keras.layers.Embedding."},
};

// Whether a list with blanks holds a name.
bool Holds(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const size_t end = names.find(' ');
    if (names.substr(0, end) == name) return true;
    if (end == std::string_view::npos) return false;
    names.remove_prefix(end + 1);
  }
  return false;
}

template <size_t n>
const Detour* Find(const Detour (&table)[n], const std::string& name) {
  for (const Detour& detour : table) {
    if (!name.empty() && Holds(detour.names, name)) return &detour;
  }
  return nullptr;
}

}  // namespace

const Detour* DetourOfLayer(const std::string& class_name) { return Find(kLayers, class_name); }

const Detour* DetourOfOperation(const std::string& function) { return Find(kOperations, function); }

}  // namespace hopper
