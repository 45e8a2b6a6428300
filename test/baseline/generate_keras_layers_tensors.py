#!/usr/bin/env python3
"""Writes keras_layers_tensors.safetensors, of operations on several tensors, and on tensors beside
numbers and arrays: choices, comparisons, whole division, parts, ids as ones, sums of products; and
of masks of series that follow each other. tf_... are tf.keras 2's (package tf-keras); see
keras_table.py and write_layers() there. Others are in generate_keras_layers_operations.py."""

import keras_table
from keras_table import keras, np, tf, random, write_layers

import tf_keras
from keras import layers as L
from keras import ops

ROW = np.array([0.5, -1.0, 2.0, 0.25], "f4")
STEPS = np.array([[0.5], [-1.0], [2.0]], "f4")
ALL = np.round(random(5, 3, 4) * 8) / 8
KERNEL = np.round(random(6, 4, 2) * 8) / 8
BILINEAR = np.round(random(7, 4, 4) * 8) / 8


def keras_3_models(models):
    def operation(name, function, shape=(3, 4), batch=3):
        """`function` of the input and of a Dense layer's output, then another Dense layer where there
        is an axis for it."""
        a = keras.Input(shape)
        y = function(a, L.Dense(shape[-1])(a))
        models["op_" + name] = (keras.Model(a, L.Dense(2)(y) if len(y.shape) > 1 else y), batch)

    image = (4, 5, 3)
    operation("where", lambda x, y: ops.where(x > 0, x * y, y))
    operation("where_of_two", lambda x, y: ops.where(x > y, 0.0, y))
    operation("where_number_last", lambda x, y: ops.where(y < x, y, -1.5))
    operation("where_numbers", lambda x, y: ops.where(x > 0, 1.5, -0.5) * y)
    operation("where_array", lambda x, y: ops.where(x >= 0.1, y, ALL))
    operation("where_row", lambda x, y: ops.where(x >= 0.1, ROW, y))
    operation("where_by_array", lambda x, y: ops.where(ALL > 0, x * y, y - 1.0))
    operation("where_broadcast", lambda x, y: ops.where(ops.sum(x, -1, keepdims=True) > 0, x, y))
    operation("where_and", lambda x, y: ops.where(ops.logical_and(x > -0.5, x < 1), y, -9.0))
    operation("where_or", lambda x, y: ops.where(ops.logical_or(x > 0.5, y > 0.2), y, x))
    operation("where_not", lambda x, y: ops.where(ops.logical_not(x > 0), x * y, y))
    operation("where_not_equal", lambda x, y: ops.where(ops.not_equal(ops.relu(x), 0), y, x))
    operation("where_not_equal_twice", lambda x, y: ops.where(
        ops.logical_and(ops.not_equal(ops.relu(x), 0), ops.not_equal(ops.relu(y), 0)), y, x))
    operation("where_not_equal_or_greater", lambda x, y: ops.where(
        ops.logical_or(ops.not_equal(ops.relu(x), 0), y > 0), y, x))
    operation("where_log", lambda x, y: ops.where(y > 0.3, ops.log(ops.where(y > 0.3, y, 1.0)), 0.0))
    operation("where_image", lambda x, y: ops.where(L.Conv2D(3, 1)(y) > x, x, y), image)

    for name in ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal"):
        function = getattr(ops, name)
        operation(name + "_two", lambda x, y, f=function: ops.cast(f(ops.relu(x), ops.relu(y)), "float32") * y)
        operation(name + "_row", lambda x, y, f=function: ops.cast(f(x, ROW), "float32") * y)
    operation("greater_broadcast",
              lambda x, y: ops.cast(ops.mean(y, axis=1, keepdims=True) > x, "float32") * y)
    operation("number_of_greater", lambda x, y: ops.cast(ops.cast(x > y, "int32"), "float32") - y)

    operation("floor_divide", lambda x, y: (x // y) * 0.01 + y)
    operation("floor_divide_number", lambda x, y: y * (x // 0.3))
    operation("number_floor_divide", lambda x, y: y * (2.0 // (1.0 + ops.abs(x))))
    operation("floor_divide_array", lambda x, y: y + x // ALL)
    operation("mod", lambda x, y: x % (y + 3.0))
    operation("mod_negative", lambda x, y: y % -0.7)
    operation("mod_both", lambda x, y: ops.mod(x, y))
    operation("number_mod", lambda x, y: 5.0 % (1.0 + ops.abs(y)))
    operation("mod_row", lambda x, y: ops.mod(y, ROW))

    operation("split", lambda x, y: ops.subtract(*ops.split(y, 2, axis=-1)))
    operation("split_steps", lambda x, y: ops.concatenate(ops.split(y, 3, axis=1)[::-1], axis=-1))
    operation("split_at", lambda x, y: ops.split(y, [1, 3], axis=-1)[1] * ops.split(x, [1, 3], axis=2)[1])
    operation("split_image", lambda x, y: ops.multiply(*ops.split(L.Conv2D(6, 2)(y), 2, axis=-1)), image)

    operation("one_hot", lambda x, y: ops.one_hot(ops.cast(x * 2, "int32"), 3) * ops.expand_dims(y, -1))
    operation("one_hot_axis",
              lambda x, y: ops.one_hot(ops.cast(x * 2, "int32"), 4, axis=1) * ops.expand_dims(y, 1))
    operation("cast_whole", lambda x, y: ops.cast(ops.cast(x * 3, "int32"), "float32") * y)
    operation("cast_truth", lambda x, y: ops.cast(ops.cast(ops.relu(x), "bool"), "float32") * y)

    operation("einsum_scores", lambda x, y: ops.einsum("bqd,bkd->bqk", x, y))
    operation("einsum_attention", lambda x, y: ops.einsum(
        "bqk,bkd->bqd", ops.softmax(ops.einsum("bqd,bkd->bqk", x, y) / 2.0), y))
    operation("einsum_heads", lambda x, y: ops.einsum("bqhd,bkhd->bhqk", x, y), image)
    operation("einsum_of_heads", lambda x, y: ops.einsum(
        "bhqk,bkhd->bqhd", ops.softmax(ops.einsum("bqhd,bkhd->bhqk", x, y)), y), image)
    operation("einsum_bilinear", lambda x, y: ops.einsum("bi,ij,bj->b", x, BILINEAR, y), (4,))
    operation("einsum_array", lambda x, y: ops.einsum("bij,jk->bik", y, KERNEL))
    operation("einsum_array_first", lambda x, y: ops.einsum("jk,bij->bki", KERNEL, y))
    operation("einsum_outer", lambda x, y: ops.einsum("bi,bj->bij", x, y), (4,))
    operation("einsum_three", lambda x, y: ops.einsum("bi,bj,bk->bijk", x, y, x), (3,))
    operation("einsum_dots", lambda x, y: ops.einsum("...ij,...kj->...ik", x, y), image)
    operation("einsum_dots_array", lambda x, y: ops.einsum("...j,jk->...k", y, KERNEL))
    operation("einsum_turned", lambda x, y: ops.einsum("bij->bji", y))
    operation("einsum_summed", lambda x, y: ops.einsum("bijk->bk", y), image)

    operation("constant_added", lambda x, y: y + ALL)
    operation("constant_subtracted", lambda x, y: y - ops.convert_to_tensor(STEPS))
    operation("of_constant_subtracted", lambda x, y: ops.subtract(ALL, y))
    operation("constant_multiplied", lambda x, y: y * ALL[None])
    operation("constant_divided", lambda x, y: y / (np.abs(ALL) + 0.5))
    operation("of_constant_divided", lambda x, y: ops.divide(ALL, ops.abs(y) + 0.5))
    operation("constant_maximum", lambda x, y: ops.maximum(y, ALL))
    operation("constant_minimum_row", lambda x, y: ops.minimum(ROW, y))
    operation("constant_matmul", lambda x, y: y @ KERNEL)
    operation("constant_matmul_first", lambda x, y: ops.matmul(np.swapaxes(ALL, 0, 1), y))
    operation("constant_of_image", lambda x, y: L.Conv2D(3, 1)(y) * np.abs(random(8, 4, 1, 3)), image)


def tf_keras_models(models):
    K = tf_keras.layers

    def operation(name, function, shape=(3, 4), batch=3):
        a = tf_keras.Input(shape)
        y = function(a, K.Dense(shape[-1])(a))
        models["tf_" + name] = (tf_keras.Model(a, K.Dense(2)(y) if len(y.shape) > 1 else y), batch)

    operation("where", lambda x, y: tf.where(x > 0, x * y, y))
    operation("where_of_two", lambda x, y: tf.where(x > y, 0.0, y))
    operation("where_array", lambda x, y: tf.where(tf.not_equal(tf.nn.relu(x), 0), y, ALL[None]))
    operation("where_and_not",
              lambda x, y: tf.where(tf.logical_and(x > -0.5, tf.logical_not(x > 1)), y, -9.0))
    operation("where_or", lambda x, y: tf.where(tf.logical_or(x > 0.5, y > 0.2), y, x))
    for name in ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal"):
        function = getattr(tf.math, name)
        operation(name + "_two", lambda x, y, f=function: tf.cast(f(tf.nn.relu(x), tf.nn.relu(y)), "float32") * y)
    operation("floor_div", lambda x, y: (x // y) * 0.01 + y)
    operation("floor_div_number", lambda x, y: y * (x // 0.3))
    operation("number_floor_div", lambda x, y: y * (2.0 // (1.0 + tf.abs(x))))
    operation("floordiv", lambda x, y: y * tf.math.floordiv(x, 0.3))
    operation("floormod", lambda x, y: x % (y + 3.0))
    operation("number_floormod", lambda x, y: 5.0 % (1.0 + tf.abs(y)))
    operation("split", lambda x, y: tf.subtract(*tf.split(y, 2, axis=-1)))
    operation("split_sizes", lambda x, y: tf.split(y, [1, 2, 1], axis=-1)[1])
    operation("split_open_size", lambda x, y: tf.split(y, [1, -1], axis=2)[1])
    operation("one_hot", lambda x, y: tf.one_hot(tf.cast(x * 2, "int32"), 3) * tf.expand_dims(y, -1))
    operation("one_hot_axis",
              lambda x, y: tf.one_hot(tf.cast(x * 2, tf.int64), 4, axis=1) * tf.expand_dims(y, 1))
    operation("cast_truth", lambda x, y: tf.cast(tf.cast(tf.nn.relu(x), "bool"), "float32") * y)
    operation("constant_added", lambda x, y: y + ALL)
    operation("of_constant_subtracted", lambda x, y: tf.constant(ALL) - y)
    operation("constant_divided", lambda x, y: y / (np.abs(ALL) + 0.5))
    operation("constant_maximum", lambda x, y: tf.maximum(y, STEPS))
    operation("constant_matmul", lambda x, y: tf.matmul(y, KERNEL))


def mask_models(models):
    """Of series that follow each other, by both Keras."""

    def followed(prefix, k, joined):
        def add(name, build, shape=(8,)):
            a = k.Input(shape)
            models[f"ids_{prefix}follow_{name}"] = (k.Model(a, build(a)), 6)

        layers = k.layers

        def masked(a, first, last, width=3):
            return layers.Embedding(7, width, mask_zero=True)(a[:, first:last])

        def plain(a, first, last, width=3):
            return layers.Embedding(7, width)(a[:, first:last])

        two = lambda a: joined(layers, [masked(a, 0, 5), masked(a, 5, 8)])
        add("lstm", lambda a: layers.LSTM(2)(two(a)))
        add("mean", lambda a: layers.GlobalAveragePooling1D()(layers.Dense(2)(two(a))))
        add("attention", lambda a: layers.GlobalAveragePooling1D()(
            (lambda x: layers.MultiHeadAttention(2, 2)(x, x))(two(a))))
        add("three", lambda a: layers.GRU(2)(
            joined(layers, [masked(a, 5, 8), masked(a, 0, 2), masked(a, 2, 5)])))
        add("again", lambda a: layers.LSTM(2)(
            joined(layers, [two(a), layers.Dense(3)(masked(a, 3, 6))])))
        if prefix == "":  # tf.keras fails
            add("one_masked", lambda a: layers.LSTM(2)(
                joined(layers, [plain(a, 0, 5), masked(a, 5, 8)])))
            add("one_masked_first", lambda a: layers.GRU(2)(
                joined(layers, [masked(a, 0, 5), layers.Dense(3)(plain(a, 5, 8))])))

    followed("", keras, lambda layers, parts: layers.Concatenate(axis=1)(parts))
    followed("from_end_", keras, lambda layers, parts: layers.Concatenate(axis=-2)(parts))
    followed("tf_keras_", tf_keras, lambda layers, parts: layers.Concatenate(axis=1)(parts))


def make_input(name, shape):
    """Ids 0 to 6 with zeros at the ends of halves; no row has nothing else."""
    if not name.startswith("ids_"):
        return random(keras_table.seed_of(name) + 1, *shape)
    x = np.random.default_rng(keras_table.seed_of(name) + 1).integers(1, 7, size=shape)
    for i, row in enumerate(x):
        row[5 - i % 5:5] = 0
        row[8 - (i // 2) % 3:] = 0
    return x.astype(np.float32)


def models():
    """name -> (model, batch size)"""
    made = {}
    keras_3_models(made)
    tf_keras_models(made)
    mask_models(made)
    return made


if __name__ == "__main__":
    write_layers(models(), "keras_layers_tensors.safetensors", make_input)
