#!/usr/bin/env python3
"""Writes keras_applications.safetensors: some models of keras.applications for small images; see
keras_table.py.

Their weights are too many to be stored. They follow from a formula, which
test/unit/network/applications_test.cpp has, too: value i of weight w is
shift[w] + scale[w] * ((((i + 7919 * w) * 2654435761 mod 2^32) >> 8) / 2^24 - 0.5). Beside scales and
shifts there are images, the output in inference, and of one step of training the output, the loss
(categorical crossentropy) and the length of each gradient. Dropout's rates are 0.
"""

import json

from keras_table import Table, keras, np, random, tf

SIZE = 64
CLASSES = 10
BATCH = 4


def without_dropout(model):
    document = json.loads(model.to_json())
    for layer in document["config"]["layers"]:
        if layer["class_name"] == "Dropout":
            layer["config"]["rate"] = 0.0
    text = json.dumps(document, separators=(",", ":"))
    return text, keras.models.model_from_json(text)


def fill(model):
    scales, shifts, values = [], [], []
    for w, weight in enumerate(model.weights):
        size = int(np.prod(weight.shape))
        name = weight.name
        scale, shift = 0.2, 0.0
        if "kernel" in name:
            fan = np.prod(weight.shape[:-1]) if "depthwise" not in weight.path else np.prod(weight.shape[:2])
            scale = float(np.float32(np.sqrt(24.0 / fan)))
        if name in ("gamma", "moving_variance", "variance"):
            scale, shift = 0.5, 1.0
        scale, shift = float(np.float32(scale)), float(np.float32(shift))
        index = (np.arange(size, dtype=np.uint64) + np.uint64(7919 * w)) * np.uint64(2654435761)
        bits = (index % np.uint64(1 << 32)) >> np.uint64(8)
        value = shift + scale * (bits.astype(np.float64) / (1 << 24) - 0.5)
        if name == "count":
            value = np.zeros(size)
        values.append(value.astype(np.float32).reshape(weight.shape))
        scales.append(0.0 if name == "count" else scale)
        shifts.append(shift)
    model.set_weights(values)
    for layer in model.layers:
        if hasattr(layer, "finalize_state"):
            layer.finalize_state()
    return scales, shifts


def main():
    table = Table()
    for name in ("ResNet50", "MobileNetV2", "DenseNet121", "EfficientNetB0"):
        keras.backend.clear_session()
        made = getattr(keras.applications, name)(weights=None, input_shape=(SIZE, SIZE, 3), classes=CLASSES)
        text, model = without_dropout(made)
        scales, shifts = fill(model)
        x = random(11, BATCH, SIZE, SIZE, 3)
        if name == "EfficientNetB0":
            x = 100.0 + 50.0 * x
        inference = model(x, training=False)
        with tf.GradientTape() as tape:
            y = model(x, training=True)
            labels = np.eye(CLASSES, dtype=np.float32)[np.arange(BATCH) * 3 % CLASSES]
            loss = tf.reduce_mean(-tf.reduce_sum(labels * tf.math.log(y), axis=-1))
        variables = [v.value for v in model.trainable_variables]
        lengths = [float(tf.norm(g)) for g in tape.gradient(loss, variables)]
        table.add(name, {"architecture": text, "parameters": model.count_params()}, scales=np.array(scales),
                  shifts=np.array(shifts), input=x, inference=inference, output=y, loss=loss,
                  gradient_lengths=np.array(lengths))
        print(name, float(loss), np.asarray(inference)[0, :3], min(lengths), max(lengths))
    table.write("keras_applications.safetensors")


if __name__ == "__main__":
    main()
