#!/usr/bin/env python3
"""Writes keras_layers.safetensors; see keras_table.py and write_layers() there."""

from keras_table import keras, normal_input, sequential, tf, write_layers

from keras import layers as L


@keras.saving.register_keras_serializable(package="keras_hub")
def gelu_approximate(x):
    """As Keras' extension for language models has it."""
    return keras.activations.gelu(x, approximate=True)


@keras.saving.register_keras_serializable(package="keras_hub")
def quick_gelu(x):
    """As Keras' extension has it for CLIP."""
    return x * keras.ops.sigmoid(1.702 * x)


def make_input(name, shape):
    x = normal_input(name, shape)
    if "_zeros_" in name:
        x[..., ::2] = 0.0
    return x


def layer_models():
    """name -> (model, batch size)"""
    models = {}

    def add(name, shape, *stack, batch=5):
        models[name] = (sequential(shape, *stack), batch)

    add("dense_linear", (7,), L.Dense(4))
    add("dense_relu_no_bias", (7,), L.Dense(4, activation="relu", use_bias=False))
    add("dense_rank_3", (3, 7), L.Dense(4, activation="tanh"))
    add("dense_rank_4_softmax", (2, 3, 7), L.Dense(4, activation="softmax"))
    add("dense_two", (9,), L.Dense(8, activation="relu"), L.Dense(3, activation="softmax"))
    add("dense_softmax_sigmoid_inside", (9,), L.Dense(8, activation="softmax"),
        L.Dense(6, activation="sigmoid"), L.Dense(3, activation="softmax"))
    add("dense_sigmoid_end", (9,), L.Dense(8), L.Activation("sigmoid"), L.Dense(1),
        L.Activation("sigmoid"))

    conv = lambda name, shape, *args, **kw: add(name, shape, L.Conv2D(*args, **kw), batch=3)
    conv("conv_valid", (7, 6, 3), 4, 3)
    conv("conv_same_odd", (7, 6, 3), 4, 3, padding="same", activation="relu")
    conv("conv_same_even_kernel", (7, 6, 3), 4, 4, padding="same")
    conv("conv_same_kernel_2_3", (7, 6, 2), 4, (2, 3), padding="same")
    conv("conv_same_stride_2", (6, 7, 3), 4, 3, padding="same", strides=2)
    conv("conv_same_stride_3_2", (8, 9, 2), 3, (5, 4), padding="same", strides=(3, 2))
    conv("conv_same_stride_over_kernel", (7, 6, 2), 3, 1, padding="same", strides=3)
    conv("conv_valid_stride_2", (8, 7, 3), 4, 3, strides=2, activation="sigmoid")
    conv("conv_dilated", (9, 8, 2), 3, 3, dilation_rate=2)
    conv("conv_dilated_same", (9, 8, 2), 3, (3, 2), dilation_rate=(2, 3), padding="same")
    conv("conv_groups", (6, 6, 4), 6, 3, groups=2, padding="same")
    conv("conv_groups_strided", (7, 8, 6), 9, (3, 2), groups=3, strides=(2, 3), padding="same",
         activation="relu")
    conv("conv_groups_dilated", (9, 8, 4), 6, 3, groups=2, dilation_rate=(1, 2), activation="swish")
    conv("conv_groups_of_one", (6, 6, 5), 5, 3, groups=5, padding="same", use_bias=False)
    conv("conv_dilated_softmax", (7, 6, 2), 3, 2, dilation_rate=2, activation="softmax")
    conv("conv_no_bias_1_channel", (6, 6, 1), 5, 3, use_bias=False)
    conv("conv_softmax", (4, 4, 3), 5, 1, activation="softmax")
    add("conv_conv_flatten", (8, 8, 1), L.Conv2D(4, 3, activation="relu"),
        L.Conv2D(6, 3, padding="same", activation="relu"), L.MaxPooling2D(), L.Flatten(),
        L.Dense(5, activation="softmax"), batch=3)

    for short, layer in (("max", L.MaxPooling2D), ("average", L.AveragePooling2D)):
        pool = lambda name, shape, *args, layer=layer, short=short, **kw: add(
            f"{short}_pool_{name}", shape, layer(*args, **kw), batch=2)
        pool("valid", (7, 6, 3), 2)
        pool("same", (7, 6, 3), 2, padding="same")
        pool("same_3_stride_2", (8, 7, 2), 3, strides=2, padding="same")
        pool("same_2_stride_1", (5, 6, 2), 2, strides=1, padding="same")
        pool("same_4_3_stride_1_2", (7, 6, 2), (4, 3), strides=(1, 2), padding="same")
        pool("same_3_stride_1", (5, 5, 2), 3, strides=1, padding="same")
        pool("same_2_stride_3", (7, 8, 2), 2, strides=3, padding="same")
        pool("valid_3_2_stride_2_3", (8, 9, 1), (3, 2), strides=(2, 3))
    add("global_average", (4, 5, 3), L.GlobalAveragePooling2D())
    add("global_average_keepdims", (4, 5, 3), L.GlobalAveragePooling2D(keepdims=True))
    add("global_max", (4, 5, 3), L.GlobalMaxPooling2D())
    add("global_max_keepdims", (4, 5, 3), L.GlobalMaxPooling2D(keepdims=True))
    # Equal maxima share the gradient.
    add("global_max_ties", (4, 5, 3), L.ReLU(max_value=0.5), L.GlobalMaxPooling2D())

    add("flatten", (3, 4, 2), L.Flatten(), L.Dense(3))
    add("conv_flatten_order", (4, 4, 2), L.Conv2D(3, 2), L.Flatten(), L.Dense(2))
    add("reshape", (6, 4), L.Reshape((2, -1, 3)), L.Conv2D(2, (2, 3)))
    add("reshape_after_conv", (4, 4, 2), L.Conv2D(3, 2), L.Reshape((9, 3)), L.Dense(2))

    for name in ("linear relu relu6 leaky_relu elu selu softplus softsign tanh sigmoid "
                 "hard_sigmoid exponential swish gelu mish softmax log_softmax celu hard_silu hard_tanh "
                 "hard_shrink soft_shrink tanh_shrink log_sigmoid squareplus sparse_plus "
                 "sparse_sigmoid sparsemax").split():
        add("activation_" + name, (9,), L.Activation(name))
    # Zeros among the inputs, where activations have corners. Not celu, whose slope there is 2 in Keras.
    for name in "relu leaky_relu elu selu softplus softsign hard_sigmoid hard_tanh sparse_plus".split():
        add("activation_zeros_" + name, (9,), L.Activation(name))
    add("activation_zeros_elu_layer", (9,), L.ELU(alpha=0.7))
    # Keras lets nothing follow that has been built for the width before glu.
    add("activation_glu", (10,), L.Activation("glu"))
    add("activation_glu_rank_3", (3, 4), L.Dense(6), L.Activation("glu"))
    add("activation_gelu_approximate", (9,), L.Activation(gelu_approximate))
    add("activation_quick_gelu", (9,), L.Activation(quick_gelu))
    # Behind a product, whose result they take the place of.
    for name in "swish gelu mish log_softmax hard_silu tanh_shrink squareplus celu".split():
        add("dense_" + name, (7,), L.Dense(5, activation=name), L.Dense(3), batch=19)
    add("dense_relu_threshold", (7,), L.Dense(5, activation=L.ReLU(threshold=0.2, max_value=1.0)))
    add("conv_gelu", (6, 7, 3), L.Conv2D(5, 3, activation="gelu"), batch=3)
    add("conv_wide_swish", (6, 7, 16), L.Conv2D(17, 3, activation="swish", padding="same"),
        batch=3)
    add("conv_log_softmax", (4, 4, 3), L.Conv2D(5, 2, activation="log_softmax"), batch=3)
    add("relu_layer", (9,), L.ReLU())
    add("relu_max", (9,), L.ReLU(max_value=0.8))
    add("relu_6", (9,), L.Rescaling(5.0), L.ReLU(max_value=6.0))
    add("relu_slope", (9,), L.ReLU(negative_slope=0.2))
    add("relu_threshold", (9,), L.ReLU(threshold=0.3))
    add("relu_everything", (9,), L.ReLU(max_value=0.9, negative_slope=0.1, threshold=0.3))
    add("leaky_relu_default", (9,), L.LeakyReLU())
    add("leaky_relu_slope", (9,), L.LeakyReLU(negative_slope=0.05))
    add("elu_layer", (9,), L.ELU(alpha=0.7))
    # Of Keras 2; Keras 3 keeps it under tf.keras.
    thresholded = tf.keras.layers.ThresholdedReLU
    add("thresholded_relu_default", (9,), L.Rescaling(2.0), thresholded())
    add("thresholded_relu", (9,), thresholded(theta=0.3))
    add("dense_thresholded_relu", (7,), L.Dense(5, activation=thresholded(theta=0.2)), L.Dense(3))
    add("softmax_layer", (3, 4), L.Softmax())
    add("softmax_axis_1", (3, 4), L.Softmax(axis=1))
    add("softmax_two_axes", (3, 4, 2), L.Dense(2), L.Softmax(axis=[1, -1]))

    add("batch_norm_rank_2", (5,), L.BatchNormalization(), batch=7)
    add("batch_norm_rank_3", (4, 5), L.BatchNormalization(momentum=0.9), batch=3)
    add("batch_norm_rank_4", (3, 4, 5), L.BatchNormalization(momentum=0.8, epsilon=1e-5), batch=3)
    add("batch_norm_no_scale", (3, 3, 4), L.BatchNormalization(scale=False), batch=3)
    add("batch_norm_no_center", (6,), L.BatchNormalization(center=False), batch=6)
    add("batch_norm_plain", (6,), L.BatchNormalization(center=False, scale=False), batch=6)
    add("batch_norm_axis_3", (3, 4, 1), L.BatchNormalization(axis=3), batch=3)
    frozen = L.BatchNormalization()
    frozen.trainable = False
    add("batch_norm_frozen", (5,), L.Dense(5), frozen, L.Dense(2), batch=6)
    add("conv_batch_norm_relu", (6, 6, 2), L.Conv2D(4, 3, use_bias=False), L.BatchNormalization(),
        L.ReLU(), L.GlobalAveragePooling2D(), L.Dense(3, activation="softmax"), batch=4)

    # Layers that are told to stay in inference, as in transfer learning. Keras 2 and Keras'
    # guides let that hold while the model trains; Keras 3 overrules it when the caller says
    # training=True, so here the caller says nothing.
    a = keras.Input((5,))
    b = L.BatchNormalization()(a, training=False)
    models["called_in_inference"] = (keras.Model(a, L.Dense(2)(b)), 6)

    spectral = L.SpectralNormalization
    add("spectral_dense", (6,), spectral(L.Dense(5, activation="tanh")), L.Dense(2))
    add("spectral_no_bias", (3, 6), spectral(L.Dense(4, use_bias=False), power_iterations=3))
    add("spectral_conv", (6, 5, 3), spectral(L.Conv2D(4, 3, padding="same", activation="relu")),
        spectral(L.DepthwiseConv2D(3)), L.Flatten(), spectral(L.Dense(2)), batch=3)
    add("spectral_transposed", (4, 3, 2), spectral(L.Conv2DTranspose(3, 2)), batch=3)
    add("spectral_series", (7, 3), spectral(L.Conv1D(4, 3, padding="causal")), batch=3)
    a = keras.Input((4,))
    shared = spectral(L.Dense(4, activation="tanh"))
    models["spectral_twice"] = (keras.Model(a, L.Add()([shared(a), shared(shared(a))])), 4)

    add("rescaling", (3, 4), L.Rescaling(1 / 127.5, offset=-1.0))
    add("rescaling_no_offset", (5,), L.Rescaling(0.25))

    a = keras.Input((6,))
    b = L.Dense(6, activation="relu")(a)
    c = L.Dense(6)(b)
    models["add_three"] = (keras.Model(a, L.Add()([a, b, c])), 4)
    a = keras.Input((4, 4, 3))
    b = L.Conv2D(3, 3, padding="same")(a)
    c = L.GlobalAveragePooling2D(keepdims=True)(a)
    models["add_broadcast"] = (keras.Model(a, L.Add()([b, c])), 3)
    a = keras.Input((4, 3))
    b = L.Dense(3)(L.Flatten()(a))
    models["add_rank"] = (keras.Model(a, L.Add()([a, b])), 3)
    a = keras.Input((4, 4, 3))
    b = L.Conv2D(2, 3, padding="same")(a)
    c = L.Conv2D(5, 1)(a)
    models["concatenate"] = (keras.Model(a, L.Flatten()(L.Concatenate()([a, b, c]))), 3)
    a = keras.Input((4, 3, 2))
    b = L.Dense(1)(a)
    c = L.MaxPooling2D((1, 3))(a)
    d = L.Reshape((2,))(L.GlobalMaxPooling2D()(a))
    models["add_broadcast_ways"] = (keras.Model(a, L.Add()([b, c, d, a])), 3)
    a = keras.Input((4, 4, 3))
    b = L.Conv2D(3, (2, 1))(a)
    models["concatenate_axis_1"] = (keras.Model(a, L.Concatenate(axis=1)([a, b, a])), 2)
    a = keras.Input((5,))
    shared = L.Dense(5, activation="tanh")
    models["shared_layer"] = (keras.Model(a, L.Dense(2)(shared(shared(a)))), 4)
    return models


if __name__ == "__main__":
    write_layers(layer_models(), "keras_layers.safetensors", make_input)
