#!/usr/bin/env python3
"""Writes keras_layers_operations.safetensors, of operations on tensors as Keras 3 writes them and,
tf_..., as tf.keras 2 does (package tf-keras, of TensorFlow's version); see keras_table.py and
write_layers() there. Others are in generate_keras_layers_image.py (op_...)."""

from keras_table import keras, np, tf, write_layers

import tf_keras
from keras import layers as L
from keras import ops


def keras_3_models(models):
    def operation(name, function, shape=(3, 4), batch=3):
        """`function` of the input and of a Dense layer's output, then another Dense layer where there
        is an axis for it."""
        a = keras.Input(shape)
        y = function(a, L.Dense(shape[-1])(a))
        models["op_" + name] = (keras.Model(a, L.Dense(2)(y) if len(y.shape) > 1 else y), batch)

    image = (4, 5, 3)
    operation("item_last", lambda x, y: y[:, -1])
    operation("item_slice", lambda x, y: y[:, 1:3])
    operation("item_index", lambda x, y: y[:, 1, 2:])
    operation("item_index_alone", lambda x, y: y[:, 2, 1])
    operation("item_ellipsis", lambda x, y: y[..., 0])
    operation("item_ellipsis_middle", lambda x, y: y[:, ..., 1:-1], image)
    operation("item_steps", lambda x, y: y[:, ::2, ::-1], image)
    operation("item_steps_back", lambda x, y: y[:, -1:0:-2, -2::-3], (7, 6, 2))
    operation("item_new_axis", lambda x, y: y[:, None, 1:, :, None])
    operation("item_beyond", lambda x, y: y[:, -9:9, 1:99])
    operation("item_batch_in_full", lambda x, y: y[0::1, 1])
    operation("item_of_image", lambda x, y: L.Conv2D(2, 2)(y)[:, 1, :, :1], image)
    operation("item_several", lambda x, y: y[:, 0] * y[:, 1] - y[:, 2])

    for name in ("mean", "sum", "max", "min", "var", "std"):
        function = getattr(ops, name)
        operation(name, lambda x, y, f=function: f(y, axis=1))
        operation(name + "_last_kept", lambda x, y, f=function: f(y, axis=-1, keepdims=True))
        operation(name + "_axes", lambda x, y, f=function: f(y, axis=(1, 2)), image)
        operation(name + "_axes_kept", lambda x, y, f=function: f(y, axis=(-1, 1), keepdims=True), image)
        operation(name + "_all", lambda x, y, f=function: f(y, axis=(1, 2)))
        operation(name + "_of_conv", lambda x, y, f=function: f(L.Conv2D(3, 2)(y), axis=(1, 2)), image)
    operation("max_ties", lambda x, y: ops.max(ops.relu(y), axis=1))
    operation("min_ties", lambda x, y: ops.min(ops.relu(y), axis=-1, keepdims=True))
    operation("amax", lambda x, y: ops.amax(y, axis=1))
    operation("amin", lambda x, y: ops.amin(y, axis=-1, keepdims=True))

    operation("divide_tensors", lambda x, y: x / (ops.abs(y) + 0.5))
    operation("divide_named", lambda x, y: ops.divide(y, 1.0 + x * x))
    operation("divide_broadcast", lambda x, y: y / ops.sum(ops.square(y), axis=-1, keepdims=True))
    operation("number_divided", lambda x, y: 2.0 / (ops.square(y) + 1.0))
    operation("reciprocal", lambda x, y: ops.reciprocal(ops.square(y) + 0.7))

    for name in ("greater", "greater_equal", "less", "less_equal", "equal"):
        function = getattr(ops, name)
        operation(name, lambda x, y, f=function: ops.cast(f(x, 0.2), "float32") * y)
        operation("number_" + name, lambda x, y, f=function: ops.cast(f(0.2, x), "float32") * y)
    operation("not_equal_as_number", lambda x, y: ops.cast(ops.not_equal(ops.relu(x), 0.0), "float32") * y)
    operation("list_added", lambda x, y: y + keras.ops.array([0.5, -1.0, 2.0, 0.0]))
    operation("list_subtracted", lambda x, y: y - np.array([0.5, -1.0, 2.0, 0.0], "f4"))
    operation("of_list_subtracted", lambda x, y: keras.ops.array([[[0.5, -1.0, 2.0, 0.0]]]) - y)
    operation("list_multiplied", lambda x, y: y * np.array([0.5, -1.0, 2.0, 0.0], "f4"))
    operation("list_divided", lambda x, y: y / np.array([0.5, -1.0, 2.0, 3.0], "f4"))
    operation("pad", lambda x, y: ops.pad(y, [[0, 0], [2, 1], [0, 0]]))
    operation("pad_image", lambda x, y: ops.pad(y, [[0, 0], [2, 1], [0, 1], [0, 0]]), image)
    operation("resize", lambda x, y: ops.image.resize(y, (3, 7)), image)
    operation("resize_nearest", lambda x, y: ops.image.resize(y, (7, 3), interpolation="nearest"), image)
    operation("normalize", lambda x, y: ops.normalize(y, axis=-1))
    operation("normalize_axis", lambda x, y: ops.normalize(y, axis=1, order=2))

    operation("transpose", lambda x, y: ops.transpose(y, (0, 2, 1)))
    operation("transpose_image", lambda x, y: ops.transpose(L.Conv2D(2, 2)(y), (0, -1, 1, 2)), image)
    operation("swapaxes", lambda x, y: ops.swapaxes(y, 1, -1), image)
    operation("moveaxis", lambda x, y: ops.moveaxis(y, 1, -1), image)
    operation("moveaxis_several", lambda x, y: ops.moveaxis(L.Conv2D(2, 2)(y), (3, 1), (1, 2)), image)
    operation("prod", lambda x, y: ops.prod(y, axis=1))
    operation("prod_kept", lambda x, y: ops.prod(y, axis=(-1, 1), keepdims=True), image)
    operation("prod_of_zeros", lambda x, y: ops.prod(ops.relu(y), axis=1))
    operation("take", lambda x, y: ops.take(y, [2, 0, 0, 1], axis=1))
    operation("take_last", lambda x, y: ops.take(y, np.array([-1, 0, 1]), axis=-1), image)
    operation("take_one", lambda x, y: ops.take(y, 1, axis=1))
    operation("take_one_last", lambda x, y: ops.take(y, -2, axis=-2), image)
    operation("squeeze", lambda x, y: ops.squeeze(y, axis=1), (1, 4))
    operation("squeeze_several", lambda x, y: ops.squeeze(y, axis=(1, -2)), (1, 3, 1, 4))
    operation("squeeze_all", lambda x, y: ops.squeeze(y), (1, 3, 1, 4))
    operation("expand_dims", lambda x, y: ops.expand_dims(y, axis=1))
    operation("expand_dims_several", lambda x, y: ops.expand_dims(y, axis=(1, -1)))
    operation("expand_and_multiply", lambda x, y: ops.expand_dims(y, -1) * ops.expand_dims(x, 2))
    operation("stack", lambda x, y: ops.stack([x, y, x * y], axis=1))
    operation("stack_last", lambda x, y: ops.stack([x, y], axis=-1))
    operation("concatenate_steps", lambda x, y: ops.concatenate([x, y], axis=1))
    operation("matmul", lambda x, y: ops.matmul(x, ops.transpose(y, (0, 2, 1))))
    operation("matmul_broadcast", lambda x, y: ops.max(y, axis=1, keepdims=True) @ ops.swapaxes(x, 2, 3),
              image)
    operation("attention", lambda x, y: ops.softmax(x @ ops.transpose(y, (0, 2, 1)) / 2.0) @ y)
    operation("cast", lambda x, y: ops.cast(y, "float32"))

    operation("absolute", lambda x, y: ops.absolute(y))
    operation("abs", lambda x, y: abs(y))
    operation("exp", lambda x, y: ops.exp(y))
    operation("log", lambda x, y: ops.log(y * y + 0.3))
    operation("log1p", lambda x, y: ops.log1p(ops.abs(y)))
    operation("sqrt", lambda x, y: ops.sqrt(ops.abs(y) + 0.1))
    operation("rsqrt", lambda x, y: ops.rsqrt(ops.square(y) + 0.4))
    operation("square", lambda x, y: ops.square(y))
    operation("sin_and_cos", lambda x, y: ops.concatenate([ops.sin(y), ops.cos(x)], axis=-1))
    operation("power", lambda x, y: y ** 3)
    operation("power_of_half", lambda x, y: ops.power(ops.abs(y) + 0.2, -1.5))
    operation("power_of_number", lambda x, y: 2.0 ** y)
    operation("clip", lambda x, y: ops.clip(y, -0.4, 0.7))
    operation("clip_ends", lambda x, y: ops.clip(ops.relu(y), 0.0, 0.5))
    operation("maximum_number", lambda x, y: ops.maximum(ops.relu(y), 0.0))
    operation("number_maximum", lambda x, y: ops.maximum(0.0, ops.relu(y)))
    operation("minimum_number", lambda x, y: ops.minimum(-ops.relu(y), 0.0))
    operation("number_minimum", lambda x, y: ops.minimum(0.3, y))
    operation("distance", lambda x, y: ops.sqrt(ops.sum(ops.square(x - y), axis=1, keepdims=True)), (6,))


def tf_keras_models(models):
    K = tf_keras.layers

    def operation(name, function, shape=(3, 4), batch=3):
        a = tf_keras.Input(shape)
        y = function(a, K.Dense(shape[-1])(a))
        models["tf_" + name] = (tf_keras.Model(a, K.Dense(2)(y) if len(y.shape) > 1 else y), batch)

    image = (4, 5, 3)
    operation("item_last", lambda x, y: y[:, -1])
    operation("item_slices", lambda x, y: y[:, 1:, ::-1, ::2], image)
    operation("item_ellipsis", lambda x, y: y[..., 1])
    operation("item_new_axis", lambda x, y: y[:, tf.newaxis, 1:])
    for name in ("mean", "sum", "max", "min", "variance", "std"):
        function = getattr(tf.math, "reduce_" + name)
        operation("reduce_" + name, lambda x, y, f=function: f(y, axis=1))
        operation("reduce_" + name + "_kept",
                  lambda x, y, f=function: f(y, axis=[1, -1], keepdims=True), image)
    operation("reduce_prod", lambda x, y: tf.reduce_prod(y, axis=1))
    operation("divide", lambda x, y: x / (tf.abs(y) + 0.5))
    operation("number_divided", lambda x, y: 2.0 / (tf.square(y) + 1.0))
    for name in ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal"):
        function = getattr(tf.math, name)
        operation(name, lambda x, y, f=function: tf.cast(f(tf.nn.relu(x), 0.0), "float32") * y)
    operation("number_less", lambda x, y: tf.cast(0.2 < x, "float32") * y)
    operation("list_added", lambda x, y: y + [0.5, -1.0, 2.0, 0.0])
    operation("list_subtracted", lambda x, y: y - [0.5, -1.0, 2.0, 0.0])
    operation("list_divided", lambda x, y: y / [0.5, -1.0, 2.0, 3.0])
    operation("pad", lambda x, y: tf.pad(y, [[0, 0], [2, 1], [0, 0]]))
    operation("resize", lambda x, y: tf.image.resize(y, (3, 7)), image)
    operation("resize_nearest", lambda x, y: tf.image.resize(y, (7, 3), method="nearest"), image)
    operation("l2_normalize", lambda x, y: tf.math.l2_normalize(y, axis=-1))
    operation("transpose", lambda x, y: tf.transpose(y, [0, 2, 1]))
    operation("transpose_v1", lambda x, y: tf.compat.v1.transpose(y, [0, 2, 1]))
    operation("squeeze", lambda x, y: tf.squeeze(y, axis=1), (1, 4))
    operation("squeeze_several", lambda x, y: tf.squeeze(y, axis=[1, 3]), (1, 3, 1, 4))
    operation("expand_dims", lambda x, y: tf.expand_dims(y, axis=1))
    operation("stack", lambda x, y: tf.stack([x, y], axis=1))
    operation("concat", lambda x, y: tf.concat([x, y], axis=-1))
    operation("reshape", lambda x, y: tf.reshape(y, [-1, 2, 6]))
    operation("matmul", lambda x, y: tf.matmul(x, tf.transpose(y, [0, 2, 1])))
    operation("exp", lambda x, y: tf.exp(y))
    operation("log", lambda x, y: tf.math.log(y * y + 0.3))
    operation("log1p", lambda x, y: tf.math.log1p(tf.abs(y)))
    operation("sqrt", lambda x, y: tf.sqrt(tf.abs(y) + 0.1))
    operation("rsqrt", lambda x, y: tf.math.rsqrt(tf.square(y) + 0.4))
    operation("reciprocal", lambda x, y: tf.math.reciprocal(tf.square(y) + 0.4))
    operation("sin_and_cos", lambda x, y: tf.sin(y) * tf.cos(x))
    operation("negative", lambda x, y: -y)
    operation("power", lambda x, y: y ** 3)
    operation("power_of_number", lambda x, y: 2.0 ** y)
    operation("clip", lambda x, y: tf.clip_by_value(y, -0.4, 0.7))
    operation("maximum_number", lambda x, y: tf.maximum(tf.nn.relu(y), 0.0))
    operation("number_minimum", lambda x, y: tf.minimum(0.3, y))
    operation("cast", lambda x, y: tf.cast(y, "float32"))
    operation("gelu_approximate", lambda x, y: tf.nn.gelu(y, approximate=True))
    operation("gelu", lambda x, y: tf.nn.gelu(y))
    operation("leaky_relu", lambda x, y: tf.nn.leaky_relu(y, alpha=0.1))
    operation("softmax_axis", lambda x, y: tf.nn.softmax(y, axis=1))


def operation_models():
    """name -> (model, batch size)"""
    models = {}
    keras_3_models(models)
    tf_keras_models(models)
    return models


if __name__ == "__main__":
    write_layers(operation_models(), "keras_layers_operations.safetensors")
