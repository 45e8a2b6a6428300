#!/usr/bin/env python3
"""Writes keras_layers_series.safetensors; see keras_table.py.

Layers over series of steps x features, and over ids: their first input is whole numbers.
"""

import keras_table
from keras_table import keras, np, random, sequential, write_layers

from keras import layers as L


def series_models():
    """name -> (model, batch size)"""
    models = {}

    def add(name, shape, *stack, batch=4):
        models[name] = (sequential(shape, *stack), batch)

    conv = lambda name, shape, *args, **kw: add("conv_1d_" + name, shape, L.Conv1D(*args, **kw))
    conv("valid", (9, 3), 4, 3)
    conv("same_even_kernel", (9, 3), 4, 4, padding="same", activation="relu")
    conv("same_stride_2", (8, 3), 4, 3, padding="same", strides=2)
    conv("causal", (9, 3), 4, 3, padding="causal")
    conv("causal_dilated", (9, 2), 4, 3, padding="causal", dilation_rate=2, activation="tanh")
    conv("causal_strided", (10, 2), 4, 4, padding="causal", strides=3, use_bias=False)
    conv("causal_longer_than_series", (4, 2), 3, 6, padding="causal")
    conv("dilated_same", (11, 2), 3, 3, padding="same", dilation_rate=3)
    conv("groups", (9, 4), 6, 3, groups=2, padding="causal")
    conv("softmax", (5, 3), 4, 1, activation="softmax")
    for short, layer in (("max", L.MaxPooling1D), ("average", L.AveragePooling1D)):
        pool = lambda name, shape, *args, layer=layer, short=short, **kw: add(
            f"{short}_pool_1d_{name}", shape, layer(*args, **kw))
        pool("valid", (7, 3), 2)
        pool("same", (7, 3), 2, padding="same")
        pool("same_3_stride_1", (6, 2), 3, strides=1, padding="same")
        pool("same_2_stride_1", (6, 2), 2, strides=1, padding="same")
        pool("valid_3_stride_2", (9, 2), 3, strides=2)
    add("global_average_1d", (5, 3), L.GlobalAveragePooling1D())
    add("global_average_1d_keepdims", (5, 3), L.GlobalAveragePooling1D(keepdims=True))
    add("global_max_1d", (5, 3), L.GlobalMaxPooling1D())
    add("global_max_1d_keepdims", (5, 3), L.GlobalMaxPooling1D(keepdims=True))
    add("zero_padding_1d", (5, 3), L.ZeroPadding1D())
    add("zero_padding_1d_ends", (5, 3), L.ZeroPadding1D((0, 3)), L.Conv1D(2, 2))
    add("cropping_1d", (6, 3), L.Cropping1D((2, 1)))
    add("up_sampling_1d", (4, 3), L.UpSampling1D(3))
    add("repeat_vector", (4,), L.Dense(3), L.RepeatVector(5), L.Dense(2))
    add("spatial_dropout_1d_of_nothing", (5, 3), L.SpatialDropout1D(0.0))

    add("layer_norm", (6,), L.LayerNormalization())
    add("layer_norm_series", (5, 6), L.LayerNormalization(epsilon=1e-5), L.Dense(2))
    add("layer_norm_no_scale", (5, 6), L.LayerNormalization(scale=False))
    add("layer_norm_no_center", (5, 6), L.LayerNormalization(center=False))
    add("layer_norm_plain", (5, 6), L.LayerNormalization(center=False, scale=False))
    add("layer_norm_two_axes", (3, 4, 5), L.LayerNormalization(axis=[-2, -1]))
    add("layer_norm_axis_1", (3, 4, 5), L.LayerNormalization(axis=1))
    add("layer_norm_axes_1_3", (3, 4, 5), L.LayerNormalization(axis=[1, 3]))
    add("layer_norm_first_axes", (3, 4, 5), L.LayerNormalization(axis=[2, 1]))
    add("rms_norm", (5, 6), L.RMSNormalization())
    add("rms_norm_two_axes", (4, 5, 6), L.RMSNormalization(axis=[-1, -2], epsilon=1e-3))

    ids = lambda name, shape, *stack, batch=6: add("ids_" + name, shape, *stack, batch=batch)
    ids("embedding", (5,), L.Embedding(7, 3))
    ids("embedding_of_one", (1,), L.Embedding(7, 4), L.Flatten(), L.Dense(2))
    ids("embedding_of_images", (2, 3), L.Embedding(7, 2))
    ids("embedding_mean", (5,), L.Embedding(7, 3, mask_zero=True), L.GlobalAveragePooling1D())
    ids("embedding_masked_dense", (5,), L.Embedding(7, 3, mask_zero=True), L.Dense(4),
        L.SpatialDropout1D(0.0), L.LayerNormalization(), L.GlobalAveragePooling1D(keepdims=True))
    ids("embedding_mask_lost", (5,), L.Embedding(7, 3, mask_zero=True), L.Conv1D(2, 3),
        L.GlobalAveragePooling1D())
    gaps = lambda name, shape, *stack, batch=5: add("gaps_" + name, shape, *stack, batch=batch)
    gaps("masking", (6, 3), L.Masking(), L.GlobalAveragePooling1D())
    gaps("rms_norm_ends_masks", (6, 3), L.Masking(), L.RMSNormalization(),
         L.GlobalAveragePooling1D())
    gaps("masking_value", (6, 3), L.Masking(-1.5), L.Dense(2), L.GlobalAveragePooling1D())

    # Masks where Keras 3 writes them down, and where layers join them.
    a = keras.Input((5,))
    x = L.Embedding(7, 3, mask_zero=True)(a)
    y = L.Dense(3)(x)
    models["ids_add_of_masked"] = (keras.Model(a, L.GlobalAveragePooling1D()(L.Add()([x, y]))), 6)
    a = keras.Input((5,))
    x = L.Embedding(7, 3)(a)
    mask = keras.ops.not_equal(a, 3)
    models["ids_mask_given"] = (keras.Model(a, L.GlobalAveragePooling1D()(x, mask=mask)), 6)
    mask_models(models)
    recurrent_models(add, ids, gaps, models)
    attention_models(add, ids, models)
    conv_lstm_models(add, gaps)
    return models


def mask_models(models):
    """Masks that go into nested models, and through Concatenate."""

    def functional(name, build, shape=(5,)):
        a = keras.Input(shape)
        models["ids_" + name] = (keras.Model(a, build(a)), 6)

    def masked(a, width=4):
        return L.Embedding(7, width, mask_zero=True)(a)

    def nested(build, *shapes):
        inputs = [keras.Input(shape) for shape in shapes]
        return keras.Model(inputs if len(inputs) > 1 else inputs[0], build(*inputs))

    functional("nested_masked", lambda a: nested(
        lambda x: L.Dense(2)(L.LSTM(3)(x)), (5, 4))(masked(a)))
    functional("nested_given_a_mask", lambda a: nested(
        lambda x: L.GlobalAveragePooling1D()(L.Dense(3)(x)), (5, 4))(
            L.Embedding(7, 4)(a), mask=keras.ops.not_equal(a, 2)))
    functional("nested_twice", lambda a: (lambda model: L.Add()([model(masked(a)), model(
        L.Embedding(7, 4)(a))]))(nested(lambda x: L.GRU(3)(x), (5, 4))))
    functional("nested_sequential", lambda a: keras.Sequential(
        [keras.Input((5, 4)), L.Dense(3), L.LSTM(2)])(masked(a)))
    functional("nested_one_of_two", lambda a: nested(
        lambda x, y: L.Concatenate()([L.LSTM(3)(x), L.GlobalAveragePooling1D()(y)]),
        (5, 4), (5, 2))([masked(a), L.Embedding(7, 2)(a)]))
    functional("nested_joins", lambda a: nested(
        lambda x, y: L.LSTM(3)(L.Concatenate()([x, y])), (5, 4), (5, 2))(
            [masked(a), L.Embedding(7, 2, mask_zero=True)(a)]))
    functional("nested_in_nested", lambda a: nested(lambda x: nested(
        lambda y: L.LSTM(2)(y), (5, 4))(x), (5, 4))(masked(a)))
    functional("concatenate_masked", lambda a: L.LSTM(3)(
        L.Concatenate()([masked(a), L.Embedding(7, 2, mask_zero=True)(a)])))
    functional("concatenate_other_masks", lambda a: L.LSTM(3)(L.Concatenate()(
        [masked(a), L.Masking(0.25)(L.Rescaling(0.25)(L.Reshape((5, 1))(a)))])))
    functional("concatenate_one_masked", lambda a: L.GlobalAveragePooling1D()(
        L.Concatenate()([masked(a), L.Embedding(7, 2)(a)])))
    # What does not count in one leaves the others as they are; what counts in none is 0.
    other = lambda a, width=4: L.Dense(width)(L.Masking(0.25)(L.Rescaling(0.25)(
        L.Reshape((5, 1))(a))))
    for name, layer in (("multiply", L.Multiply), ("maximum", L.Maximum), ("minimum", L.Minimum)):
        merge = lambda *inputs, layer=layer: layer()(list(inputs))
        steps = lambda y: L.LSTM(3)(y)
        mean = L.GlobalAveragePooling1D()
        functional(name + "_gate_of_masked", lambda a: steps((lambda x: merge(
            x, L.Dense(1, activation="sigmoid")(x)))(L.GRU(4, return_sequences=True)(masked(a)))))
        functional(name + "_other_masks", lambda a: steps(merge(masked(a), other(a))))
        functional(name + "_three_masks", lambda a: steps(merge(
            masked(a), other(a, 1), L.Dense(4)(masked(a, 2)))))
        functional(name + "_mask_first", lambda a: mean(merge(masked(a), L.Embedding(7, 4)(a))))
        functional(name + "_mask_last", lambda a: mean(merge(L.Embedding(7, 4)(a), masked(a))))
        functional(name + "_mask_and_vector", lambda a: mean(merge(masked(a), L.Dense(4)(a))))
        functional(name + "_masked_values", lambda a: L.Flatten()(merge(masked(a), other(a))))
    functional("operation_on_masked", lambda a: L.GlobalAveragePooling1D()(
        masked(a) * keras.ops.sigmoid(masked(a))))
    functional("spectral_of_masked", lambda a: L.GlobalAveragePooling1D()(
        L.SpectralNormalization(L.Dense(3))(masked(a))))
    functional("spectral_makes_masks", lambda a: L.LSTM(3)(
        L.SpectralNormalization(L.Embedding(7, 4, mask_zero=True))(a)))
    functional("concatenate_then_dense", lambda a: L.LSTM(2)(L.Dense(3)(
        L.Concatenate(axis=2)([masked(a), L.Dense(2)(masked(a))]))))


def conv_lstm_models(add, gaps):
    series = lambda name, shape, *args, **kw: add("conv_lstm_1d_" + name, shape,
                                                  L.ConvLSTM1D(*args, **kw))
    series("valid", (4, 6, 2), 3, 3)
    series("sequences", (3, 6, 2), 2, 3, return_sequences=True, padding="same")
    series("even_kernel", (3, 6, 2), 2, 4, padding="same")
    series("strides", (3, 7, 2), 2, 3, strides=2)
    series("dilated", (3, 8, 2), 2, 3, dilation_rate=2)
    series("backwards", (3, 5, 2), 2, 2, go_backwards=True, return_sequences=True)
    series("no_bias", (3, 5, 2), 2, 2, use_bias=False, activation="relu")
    series("hard_sigmoid", (3, 5, 2), 2, 2, recurrent_activation="hard_sigmoid")
    add("conv_lstm_1d_two", (3, 6, 2), L.ConvLSTM1D(3, 2, return_sequences=True),
        L.ConvLSTM1D(2, 3, padding="same"), L.Flatten(), L.Dense(2))
    add("conv_lstm_2d", (3, 5, 4, 2), L.ConvLSTM2D(2, 3, padding="same", return_sequences=True),
        L.ConvLSTM2D(2, (2, 3), strides=(1, 2)), batch=2)


def recurrent_models(add, ids, gaps, models):
    for name, layer in (("lstm", L.LSTM), ("gru", L.GRU), ("simple_rnn", L.SimpleRNN)):
        add(name, (5, 3), layer(4))
        add(name + "_sequences", (5, 3), layer(4, return_sequences=True))
        add(name + "_backwards", (5, 3), layer(4, go_backwards=True, return_sequences=True))
        add(name + "_no_bias", (5, 3), layer(4, use_bias=False))
        add(name + "_relu", (4, 3), layer(3, activation="relu"))
        add(name + "_two", (5, 3), layer(4, return_sequences=True), layer(3), L.Dense(2))
        add(name + "_unrolled", (3, 2), layer(3, unroll=True))
        ids(name + "_masked", (5,), L.Embedding(7, 3, mask_zero=True), layer(4))
        gaps(name + "_gaps", (6, 3), L.Masking(), layer(4, return_sequences=True), layer(2))
        gaps(name + "_gaps_backwards", (6, 3), L.Masking(),
             layer(4, return_sequences=True, go_backwards=True), L.GlobalAveragePooling1D())
        gaps(name + "_zero_output", (6, 3), L.Masking(),
             layer(4, return_sequences=True, zero_output_for_mask=True), L.GlobalMaxPooling1D())
        gaps(name + "_zero_last", (6, 3), L.Masking(), layer(4, zero_output_for_mask=True))
        add("both_ways_" + name, (5, 3), L.Bidirectional(layer(4)))
        add("both_ways_sequences_" + name, (5, 3),
            L.Bidirectional(layer(4, return_sequences=True)), L.Dense(2))
        gaps("both_ways_masked_" + name, (6, 3), L.Masking(),
             L.Bidirectional(layer(4, return_sequences=True)), L.Bidirectional(layer(2)))
    add("lstm_hard_sigmoid", (4, 3), L.LSTM(3, recurrent_activation="hard_sigmoid"))
    # More steps than exports write out one by one.
    add("lstm_long_hard_sigmoid", (520, 2), L.LSTM(2, recurrent_activation="hard_sigmoid"), batch=2)
    add("gru_long_hard_sigmoid", (520, 2), L.GRU(2, recurrent_activation="hard_sigmoid",
                                                return_sequences=True),
        L.SimpleRNN(2, activation="hard_sigmoid"), batch=2)
    ids("gru_masked_one_step", (1,), L.Embedding(7, 3, mask_zero=True),
        L.GRU(2, return_sequences=True), L.GlobalMaxPooling1D())
    add("gru_reset_before", (5, 3), L.GRU(4, reset_after=False))
    add("gru_reset_before_no_bias", (5, 3), L.GRU(4, reset_after=False, use_bias=False))
    for mode in ("sum", "mul", "ave"):
        add("both_ways_" + mode, (5, 3), L.Bidirectional(L.GRU(4), merge_mode=mode))
    add("both_ways_of_two_sizes", (5, 3),
        L.Bidirectional(L.LSTM(4), backward_layer=L.LSTM(2, go_backwards=True)))
    add("both_ways_frozen", (5, 3), L.Bidirectional(L.LSTM(4, trainable=False)), L.Dense(2))
    add("time_distributed_dense", (4, 3), L.TimeDistributed(L.Dense(2, activation="softmax")))
    add("time_distributed_conv", (3, 6, 5, 2), L.TimeDistributed(L.Conv2D(3, 2)),
        L.TimeDistributed(L.GlobalAveragePooling2D()), L.LSTM(3), batch=2)
    add("time_distributed_lstm", (3, 4, 2), L.TimeDistributed(L.LSTM(3)))
    add("time_distributed_batch_norm", (3, 4), L.TimeDistributed(L.BatchNormalization()), batch=6)
    # Of models: with weights that are not trained between others, a model within a model, and frozen.
    add("time_distributed_sequential", (3, 6, 5, 2), L.TimeDistributed(keras.Sequential([
        keras.Input((6, 5, 2)), L.Conv2D(3, 2, activation="relu"), L.BatchNormalization(), L.Flatten(),
        keras.Sequential([L.Dense(4), L.Dropout(0.0)]), L.Dense(2)])), L.LSTM(3), batch=2)
    image = keras.Input((4, 4, 1))
    chain = keras.Model(image, L.Dense(3)(L.GlobalMaxPooling2D()(L.Conv2D(5, 3)(image))))
    chain.trainable = False
    add("time_distributed_functional", (3, 4, 4, 1), L.TimeDistributed(chain), L.GRU(2), batch=3)
    gaps("time_distributed_masked", (6, 3), L.Masking(), L.TimeDistributed(L.Dense(3)), L.LSTM(2))
    # Keras 3 writes the masks down.
    a = keras.Input((6,))
    x = L.Embedding(7, 4, mask_zero=True)(a)
    x = L.Dropout(0.0)(x)
    y = L.LSTM(3, return_sequences=True)(x)
    z = L.Bidirectional(L.GRU(2))(y)
    w = L.GlobalAveragePooling1D()(y)
    v = L.LSTM(2)(L.TimeDistributed(L.Dense(3))(y))
    models["ids_masks_of_a_functional"] = (keras.Model(a, L.Concatenate()([z, w, v])), 6)


def attention_models(add, ids, models):
    def functional(name, shape, build, batch=4):
        a = keras.Input(shape)
        models[name] = (keras.Model(a, build(a)), batch)

    functional("heads", (5, 6), lambda a: L.MultiHeadAttention(2, 3)(a, a))
    functional("heads_causal", (5, 6),
               lambda a: L.MultiHeadAttention(2, 3)(a, a, use_causal_mask=True))
    functional("heads_of_others", (5, 6), lambda a: L.MultiHeadAttention(
        3, 2, value_dim=4, output_shape=5)(L.Dense(4)(a), L.Conv1D(3, 2)(a), L.Conv1D(4, 2)(a)))
    functional("heads_no_bias", (5, 6), lambda a: L.MultiHeadAttention(2, 3, use_bias=False)(a, a))
    functional("heads_named", (5, 6), lambda a: L.MultiHeadAttention(2, 3)(
        query=a, key=L.Dense(4)(a), value=L.Dense(5)(a)))
    functional("heads_window", (7, 4),
               lambda a: L.MultiHeadAttention(2, 3, sliding_window=2)(a, a))
    functional("heads_causal_longer_values", (3, 4), lambda a: L.MultiHeadAttention(2, 3)(
        a, L.ZeroPadding1D((1, 2))(a), use_causal_mask=True))
    functional("group_heads", (5, 6), lambda a: L.GroupQueryAttention(4, 4, 2)(a, a))
    functional("group_heads_causal", (5, 6),
               lambda a: L.GroupQueryAttention(2, 3, 1)(a, a, use_causal_mask=True))
    functional("attention", (5, 6), lambda a: L.Attention()([L.Dense(4)(a), L.Conv1D(4, 2)(a)]))
    functional("attention_scale", (5, 4),
               lambda a: L.Attention(use_scale=True)([a, L.Dense(3)(a), L.Conv1D(4, 1)(a)]))
    functional("attention_concat", (5, 4),
               lambda a: L.Attention(use_scale=True, score_mode="concat")([a, L.Dense(4)(a)]))
    functional("attention_causal", (5, 4),
               lambda a: L.Attention()([a, L.Dense(4)(a)], use_causal_mask=True))
    functional("additive_attention", (5, 4),
               lambda a: L.AdditiveAttention()([a, L.Dense(4)(a)]))
    functional("additive_attention_no_scale", (5, 4),
               lambda a: L.AdditiveAttention(use_scale=False)([a, L.Dense(4)(a)]))

    functional("dot", (5, 6), lambda a: L.Dot(axes=2)([a, L.Conv1D(6, 2)(a)]))
    functional("dot_of_vectors", (5,), lambda a: L.Dot(axes=-1)([L.Dense(4)(a), L.Dense(4)(a)]))
    functional("dot_cosine", (5,),
               lambda a: L.Dot(axes=1, normalize=True)([L.Dense(4)(a), L.Dense(4)(a)]))
    functional("dot_axes", (5, 4), lambda a: L.Dot(axes=(1, 1))([a, L.Dense(3)(a)]))
    functional("dot_of_series_and_vector", (5, 4),
               lambda a: L.Dot(axes=(2, 1))([a, L.GlobalMaxPooling1D()(a)]))

    def masked(a):
        return L.Embedding(7, 4, mask_zero=True)(a)

    def block(a, attention):
        x = masked(a)
        x = L.LayerNormalization()(L.Add()([x, attention(x)]))
        y = L.Dense(4)(L.Dense(8, activation="gelu")(x))
        return L.GlobalAveragePooling1D()(L.LayerNormalization()(L.Add()([x, y])))

    functional("ids_heads_masked", (5,),
               lambda a: L.GlobalAveragePooling1D()((lambda x: L.MultiHeadAttention(2, 3)(x, x))(
                   masked(a))), 6)
    functional("ids_block", (5,), lambda a: block(a, lambda x: L.MultiHeadAttention(2, 3)(x, x)), 6)
    functional("ids_block_causal", (5,), lambda a: block(
        a, lambda x: L.MultiHeadAttention(2, 3)(x, x, use_causal_mask=True)), 6)
    functional("ids_block_grouped", (5,),
               lambda a: block(a, lambda x: L.GroupQueryAttention(2, 2, 1)(x, x)), 6)
    functional("ids_attention_masked", (5,), lambda a: L.GlobalAveragePooling1D()(
        (lambda x: L.Attention()([x, x]))(masked(a))), 6)
    functional("ids_additive_attention_masked", (5,), lambda a: L.LSTM(2)(
        (lambda x: L.AdditiveAttention()([x, x], use_causal_mask=True))(masked(a))), 6)


def series_input(name, shape):
    """Ids 0 to 6 with zeros at their ends, or series of which some steps are missing."""
    rng = np.random.default_rng(keras_table.seed_of(name) + 1)
    if name.startswith("ids_"):
        x = rng.integers(1, 7, size=shape)
        for i, row in enumerate(x):
            flat = row.reshape(-1)
            flat[len(flat) - min(i, len(flat) - 1):] = 0
        return x.astype(np.float32)
    x = random(keras_table.seed_of(name) + 1, *shape)
    if name.startswith("gaps_"):
        value = -1.5 if "value" in name else 0.0
        for i, row in enumerate(x):
            row[(i * 2) % shape[1]] = value
            row[shape[1] - 1 - i // 2:] = value
    return x


if __name__ == "__main__":
    write_layers(series_models(), "keras_layers_series.safetensors", series_input)
