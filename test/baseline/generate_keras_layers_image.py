#!/usr/bin/env python3
"""Writes keras_layers_image.safetensors, of layers for images and tables and of operations on
tensors; see keras_table.py and write_layers() there."""

from keras_table import keras, normal_input, np, seed_of, sequential, write_layers

from keras import layers as L
from keras import ops
from keras.src.applications.convnext import LayerScale
from keras.src.applications.inception_resnet_v2 import CustomScaleLayer


def enlarging_models(add):
    transposed = lambda name, shape, *args, **kw: add("transposed_" + name, shape,
                                                      L.Conv2DTranspose(*args, **kw))
    transposed("valid", (4, 5, 3), 2, 3)
    transposed("valid_stride_2", (4, 5, 3), 2, 3, strides=2, activation="relu")
    transposed("valid_stride_3_of_2", (4, 3, 2), 3, 2, strides=3)
    transposed("same", (4, 5, 3), 2, 3, padding="same", use_bias=False)
    transposed("same_stride_2", (4, 5, 3), 4, 3, strides=2, padding="same")
    transposed("same_even_stride_2", (3, 4, 2), 2, 4, strides=2, padding="same")
    transposed("same_1_stride_2", (3, 4, 2), 2, 1, strides=2, padding="same")
    transposed("same_2_5_stride_3_2", (3, 4, 2), 2, (2, 5), strides=(3, 2), padding="same")
    transposed("output_padding", (3, 4, 2), 2, 3, strides=2, output_padding=1)
    transposed("same_output_padding", (3, 4, 2), 2, 3, strides=2, padding="same", output_padding=0)
    transposed("same_output_padding_1", (3, 4, 2), 2, 3, strides=(2, 3), padding="same",
               output_padding=(1, 1))
    transposed("same_output_padding_even", (3, 4, 2), 2, 4, strides=3, padding="same",
               output_padding=2)
    transposed("softmax", (3, 3, 2), 4, 2, strides=2, activation="softmax")
    series = lambda name, shape, *args, **kw: add("transposed_1d_" + name, shape,
                                                  L.Conv1DTranspose(*args, **kw))
    series("valid", (5, 3), 4, 3)
    series("stride_2", (5, 3), 4, 3, strides=2, padding="same", activation="tanh")
    series("output_padding", (5, 3), 4, 3, strides=3, output_padding=2)
    add("depthwise_1d", (9, 3), L.DepthwiseConv1D(3, padding="same", depth_multiplier=2))
    add("depthwise_1d_stride", (9, 3), L.DepthwiseConv1D(4, strides=2, activation="relu"))
    add("separable_1d", (9, 3), L.SeparableConv1D(4, 3, padding="same"))
    add("separable_1d_dilated", (9, 2), L.SeparableConv1D(4, 3, dilation_rate=2, use_bias=False,
                                                          activation="sigmoid"))
    add("resizing", (6, 5, 2), L.Conv2D(2, 1), L.Resizing(4, 7))
    add("resizing_nearest", (6, 5, 2), L.Conv2D(2, 1), L.Resizing(9, 4, interpolation="nearest"))
    add("resizing_ratio", (9, 5, 2), L.Resizing(4, 4, crop_to_aspect_ratio=True))
    add("resizing_ratio_nearest", (5, 9, 1), L.Resizing(3, 4, "nearest", crop_to_aspect_ratio=True))
    add("resizing_not", (5, 4, 1), L.Conv2D(2, 1), L.Resizing(5, 4))
    add("center_crop", (7, 6, 2), L.Conv2D(2, 1), L.CenterCrop(4, 3))
    add("center_crop_larger", (5, 6, 2), L.CenterCrop(8, 4))
    add("prelu", (4, 3), L.PReLU(), L.Dense(2))
    add("prelu_shared", (4, 5, 3), L.Conv2D(3, 2), L.PReLU(shared_axes=[1, 2]))
    add("prelu_shared_last", (4, 3), L.PReLU(shared_axes=[2]))
    group = lambda name, shape, *args, **kw: add("group_norm_" + name, shape,
                                                 L.GroupNormalization(*args, **kw), L.Dense(2))
    group("images", (4, 5, 6), 3)
    group("each_channel", (4, 5, 4), -1)
    group("one", (4, 6), 1, epsilon=1e-5)
    group("of_vectors", (12,), 2)
    group("plain", (3, 3, 4), 2, center=False, scale=False)
    group("no_scale", (3, 3, 4), 2, scale=False)
    group("axis_1", (4, 5, 3), 2, axis=1)
    group("axis_minus_2", (3, 4, 2), 2, axis=-2)
    add("unit_norm", (4, 5), L.UnitNormalization(), L.Dense(2))
    add("unit_norm_axes", (4, 5, 2), L.UnitNormalization(axis=[1, 2]))


def noise_models(add, graph):
    """In training what is random has a range of one value, or acts on what it cannot change."""
    add("gaussian_noise", (4, 3), L.Dense(3), L.GaussianNoise(0.0))
    add("gaussian_dropout", (4, 3), L.Dense(3), L.GaussianDropout(0.0))
    add("alpha_dropout", (4, 3), L.Dense(3), L.AlphaDropout(0.0))
    graph("noise_of_a_functional", (4, 3), lambda a: L.AlphaDropout(0.0)(L.GaussianNoise(0.0)(
        L.GaussianDropout(0.0)(L.Dense(2)(a)))))
    add("activity_layer", (4, 3), L.Dense(3), L.ActivityRegularization(l1=0.01, l2=0.3), L.Dense(2))
    add("activity_dense", (5,), L.Dense(4, activation="tanh", activity_regularizer="l2"),
        L.Dense(3, activity_regularizer=keras.regularizers.L1L2(0.02, 0.1)))
    add("activity_conv", (4, 4, 2), L.Conv2D(3, 2, activity_regularizer=keras.regularizers.L1(0.1)),
        L.Flatten(), L.Dense(2))
    shared = L.Dense(4, activity_regularizer="l1")
    graph("activity_twice", (4,), lambda a: L.Add()([shared(a), shared(shared(a))]))
    # TensorFlow's slopes of what moves pixels are those of moving them back, which is not the same:
    # there are none behind Discretization.
    def moved(name, shape, layer):
        bounds = [round(0.1 * i, 1) for i in range(-15, 16)]
        add(name, shape, L.Discretization(bounds), layer, L.Dense(2))

    for mode in ("reflect", "wrap", "constant", "nearest"):
        for interpolation in ("bilinear", "nearest"):
            kw = {"fill_mode": mode, "interpolation": interpolation, "fill_value": 0.3}
            moved(f"rotation_{mode}_{interpolation}", (5, 6, 2),
                  L.RandomRotation((0.13, 0.13), **kw))
            moved(f"translation_{mode}_{interpolation}", (5, 6, 2),
                  L.RandomTranslation((0.35, 0.35), (-0.3, -0.3), **kw))
            moved(f"zoom_{mode}_{interpolation}", (5, 6, 2), L.RandomZoom((0.4, 0.4), **kw))
    moved("zoom_both", (6, 4, 1), L.RandomZoom((-0.3, -0.3), (0.2, 0.2)))
    moved("rotation_back", (6, 4, 1), L.RandomRotation((-0.05, -0.05)))
    moved("translation_far", (3, 4, 1), L.RandomTranslation((1.0, 1.0), (0.9, 0.9), "wrap"))
    add("brightness", (4, 3, 2), L.Conv2D(2, 1), L.RandomBrightness((0.2, 0.2), (-1.0, 1.5)))
    add("contrast_of_one_pixel", (1, 1, 3), L.RandomContrast(0.4, value_range=(-9.0, 9.0)))
    add("flip_of_one_pixel", (1, 1, 3), L.Conv2D(2, 1), L.RandomFlip())
    graph("augmentation_of_a_functional", (1, 1, 3), lambda a: L.Conv2D(2, 1)(
        L.RandomFlip("horizontal")(L.RandomZoom((0.0, 0.0))(a))))


def encoding_models(models):
    """Ids and numbers; the first input of an id model is whole numbers below 5."""
    def add(name, shape, *stack, batch=6):
        models["encoding_" + name] = (sequential(shape, *stack), batch)

    add("ids_one_hot", (4,), L.CategoryEncoding(5, output_mode="one_hot"), L.Dense(2))
    add("ids_one_hot_of_one", (1,), L.CategoryEncoding(5, output_mode="one_hot"), L.Dense(2))
    add("ids_multi_hot", (4,), L.CategoryEncoding(5), L.Dense(2))
    add("ids_count", (4,), L.CategoryEncoding(5, output_mode="count"), L.Dense(2))
    bins = [-0.5, 0.0, 0.8]
    add("ranges", (4,), L.Discretization(bins), L.Embedding(4, 2))
    add("ranges_one_hot", (4,), L.Discretization(bins, output_mode="one_hot"), L.Dense(2))
    add("ranges_multi_hot", (4,), L.Discretization(bins, output_mode="multi_hot"), L.Dense(2))
    add("ranges_count", (4,), L.Discretization(bins, output_mode="count"), L.Dense(2))
    add("ids_ranges_of_their_ends", (4,), L.Discretization([1.0, 3.0], output_mode="one_hot"),
        L.Dense(2))


def layer_input(name, shape):
    if name.startswith("encoding_ids_"):
        return np.random.default_rng(seed_of(name)).integers(0, 5, size=shape).astype(np.float32)
    return normal_input(name, shape)


def layer_models():
    """name -> (model, batch size)"""
    models = {}

    def add(name, shape, *stack, batch=3):
        models[name] = (sequential(shape, *stack), batch)

    def graph(name, shape, function, batch=3):
        a = keras.Input(shape)
        models[name] = (keras.Model(a, function(a)), batch)

    # Calls say training=True, the default of layers of images.
    graph("resizing_called", (6, 5, 2), lambda a: L.CenterCrop(3, 3)(L.Resizing(4, 7)(L.Conv2D(2, 1)(a))))
    add("zero_padding", (4, 5, 3), L.ZeroPadding2D(2))
    add("zero_padding_by_axis", (4, 5, 3), L.ZeroPadding2D((1, 2)))
    add("zero_padding_by_end", (4, 5, 3), L.ZeroPadding2D(((1, 0), (0, 2))))
    add("zero_padding_nothing", (4, 5, 3), L.ZeroPadding2D(0))
    add("zero_padding_conv", (5, 5, 3), L.Conv2D(2, 1), L.ZeroPadding2D(((0, 1), (0, 1))),
        L.Conv2D(4, 3, strides=2))
    add("cropping", (6, 5, 3), L.Cropping2D(((1, 2), (0, 2))))
    add("cropping_by_axis", (6, 5, 3), L.Conv2D(2, 1), L.Cropping2D((2, 1)))
    add("identity", (4, 3), L.Dense(3), L.Identity(), L.Dense(2))
    add("permute", (2, 3, 4), L.Permute((3, 1, 2)), L.Dense(2))
    add("permute_conv", (4, 5, 3), L.Conv2D(2, 2), L.Permute((2, 1, 3)), L.Flatten(), L.Dense(2))
    add("up_sampling", (3, 4, 2), L.Conv2D(2, 1), L.UpSampling2D())
    add("up_sampling_by_axis", (3, 2, 2), L.UpSampling2D((1, 3)))
    add("up_sampling_bilinear", (3, 4, 2), L.Conv2D(2, 1), L.UpSampling2D(interpolation="bilinear"))
    add("up_sampling_bilinear_by_axis", (3, 4, 2), L.UpSampling2D((3, 1), interpolation="bilinear"))
    add("rescaling_list", (4, 5, 3), L.Rescaling([0.5, 2.0, 3.0], offset=[1.0, 0.0, -2.0]))
    add("rescaling_list_and_number", (3,), L.Dense(3), L.Rescaling([0.5, 2.0, 3.0], offset=1.0))
    add("layer_scale", (3, 4), LayerScale(0.1, 4))

    add("normalization_weights", (4,), L.Normalization())
    add("normalization_two_axes", (3, 4, 2), L.Normalization(axis=(1, 3)))
    add("normalization_no_axis", (3, 4), L.Normalization(axis=None))
    add("normalization_given", (5, 3), L.Dense(3),
        L.Normalization(mean=[1.0, 2.0, 3.0], variance=[4.0, 0.25, 0.0625]))
    add("normalization_one_number", (5, 3), L.Normalization(mean=2.0, variance=9.0))
    add("normalization_no_variance", (3,),
        L.Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 1e-10, 4.0]))
    add("normalization_given_axes", (2, 3), L.Normalization(
        axis=(1, 2), mean=np.arange(6.0).reshape(2, 3), variance=1.0 + np.arange(6.0).reshape(2, 3)))
    add("normalization_given_last", (2, 3),
        L.Normalization(axis=(1, 2), mean=[1.0, 2.0, 3.0], variance=[1.0, 4.0, 9.0]))
    add("normalization_invert", (4,), L.Normalization(invert=True))

    depthwise = lambda name, shape, *args, **kw: add("depthwise_" + name, shape,
                                                     L.DepthwiseConv2D(*args, **kw))
    depthwise("valid", (7, 6, 3), 3)
    depthwise("same", (7, 6, 3), 3, padding="same", activation="relu")
    depthwise("same_even", (7, 6, 3), (2, 4), padding="same", use_bias=False)
    depthwise("stride_2", (7, 8, 4), 3, strides=2, padding="same", use_bias=False)
    depthwise("stride_2_valid", (9, 8, 4), (3, 2), strides=2)
    depthwise("multiplier", (6, 6, 3), 3, depth_multiplier=2, activation="softmax")
    depthwise("dilated", (9, 8, 3), 3, dilation_rate=2)
    depthwise("dilated_same", (9, 8, 2), 3, dilation_rate=(2, 2), padding="same", depth_multiplier=3)
    depthwise("one_channel", (5, 5, 1), 3, padding="same")
    depthwise("wide", (6, 6, 32), 3, padding="same", activation="swish")
    separable = lambda name, shape, *args, **kw: add("separable_" + name, shape,
                                                     L.SeparableConv2D(*args, **kw))
    separable("valid", (7, 6, 3), 4, 3)
    separable("same", (7, 6, 3), 4, 3, padding="same", activation="relu", use_bias=False)
    separable("stride_2", (7, 8, 3), 5, 3, strides=2, padding="same")
    separable("multiplier", (6, 6, 2), 3, (2, 3), depth_multiplier=2, activation="sigmoid")
    separable("dilated", (9, 8, 3), 2, 3, dilation_rate=2)

    # They do nothing in inference, and a rate of 0 does nothing in training.
    add("dropout_noise_shape", (4, 5, 3), L.Dropout(0.0, noise_shape=(None, 1, 1, 3)))
    add("spatial_dropout", (4, 5, 3), L.SpatialDropout2D(0.0))

    for cls in (L.Multiply, L.Average, L.Maximum, L.Minimum):
        name = cls.__name__.lower()
        graph(name, (6,), lambda a, cls=cls: cls()([a, L.Dense(6)(a), L.Dense(6)(a)]), batch=4)
        graph(name + "_channels", (4, 4, 3), lambda a, cls=cls: cls()(
            [L.Conv2D(3, 3, padding="same")(a), L.GlobalAveragePooling2D(keepdims=True)(a)]))
        graph(name + "_rank", (4, 3), lambda a, cls=cls: cls()(
            [L.Dense(3)(L.Flatten()(a)), L.Dense(3)(a)]))
    graph("subtract", (6,), lambda a: L.Subtract()([L.Dense(6)(a), a]))
    graph("subtract_broadcast", (4, 3), lambda a: L.Subtract()([L.Dense(1)(a), a]))
    # Equal values, as between rectified tensors: the first gets the gradient.
    graph("maximum_ties", (6,), lambda a: L.Maximum()([L.ReLU()(a), L.ReLU()(L.Rescaling(2.0)(a))]))
    graph("minimum_ties", (6,), lambda a: L.Minimum()([L.ReLU()(a), L.ReLU()(L.Rescaling(2.0)(a))]))
    graph("multiply_itself", (6,), lambda a: (lambda b: L.Multiply()([b, b]))(L.Dense(4)(a)))
    graph("custom_scale", (4, 3), lambda a: CustomScaleLayer(0.17)([a, L.Dense(3)(a)]))
    graph("squeeze_excite", (5, 5, 4), lambda a: L.Multiply()(
        [a, L.Dense(4, activation="sigmoid")(L.Dense(2, activation="relu")(
            L.GlobalAveragePooling2D(keepdims=True)(a)))]))

    enlarging_models(add)
    noise_models(add, graph)
    encoding_models(models)

    # Operations on tensors.
    def operation(name, function, shape=(6,)):
        graph("op_" + name, shape, lambda a: function(a, L.Dense(shape[-1])(a)))

    operation("add", lambda x, y: x + y)
    operation("add_named", lambda x, y: ops.add(x1=x, x2=y))
    operation("subtract", lambda x, y: y - x)
    operation("multiply", lambda x, y: x * y)
    operation("maximum", lambda x, y: ops.maximum(x, y))
    operation("minimum", lambda x, y: ops.minimum(x, y))
    operation("add_number", lambda x, y: y + 3.0)
    operation("number_first", lambda x, y: 1 - y)
    operation("subtract_number", lambda x, y: y - 0.5)
    operation("multiply_number", lambda x, y: 2.5 * y)
    operation("divide_number", lambda x, y: y / 3)
    operation("negative", lambda x, y: -y)
    operation("concatenate", lambda x, y: ops.concatenate([x, y], axis=-1))
    operation("reshape", lambda x, y: ops.reshape(y, (-1, 2, 3)))
    operation("hard_swish", lambda x, y: y * keras.activations.relu(y + 3.0, max_value=6.0) * (1 / 6))
    for name in ("relu relu6 sigmoid tanh gelu silu softmax log_softmax elu leaky_relu celu selu "
                 "hard_sigmoid hard_silu softplus hard_shrink").split():
        function = getattr(ops, name, None) or getattr(keras.activations, name)
        operation(name, lambda x, y, function=function: function(y))
    operation("gelu_approximate", lambda x, y: ops.gelu(y, approximate=True))
    operation("relu_arguments", lambda x, y: keras.activations.relu(
        y, negative_slope=0.1, max_value=0.9, threshold=0.3))
    return models


if __name__ == "__main__":
    write_layers(layer_models(), "keras_layers_image.safetensors", layer_input)
