#!/usr/bin/env python3
"""Writes keras_applications.safetensors: some models of keras.applications for small images; see
keras_table.py.

Their weights and images are too many to be stored. They follow from a hash, which
test/unit/network/applications_test.cpp and test/python/formats_test.py have, too: value i of weight w is
shift[w] + scale[w] * (hash(w, i) / 2^24 - 0.5), evenly spread as Keras' initializers do it; images are
weight IMAGES. The last normalization of each residual block begins small, as it does in trainings of
these models, so that their slopes stay in reach of float32. Dropout's rates are 0.

Beside scales and shifts there are the output in inference and, of one step of training, the loss
(categorical crossentropy) and the slopes: of each trainable weight some elements, chosen by the hash,
and the sum of all with signs of the hash, divided by the root of their number. All of it is computed in
float64. The spread of a weight is how far Keras' own float32 is off for the batch as it is and for
others in which the same images are in another order: of all elements, divided by the largest.

A relu whose argument is all but 0 goes on or off by rounding, which changes the slopes of all layers
before it: between 1 % and a fifth of the largest one, here or there. So that such models say something
of each single weight, they are there a second time, smooth: with swish in the place of relu.
"""

import json

from keras_table import Table, keras, np, tf

SIZE = 64
CLASSES = 10
BATCH = 16
ORDERS = 4
SAMPLES = 16
IMAGES, PLACES, SIGNS = 1 << 20, 1 << 21, 1 << 22  # weights that no model has
NAMES = ("ResNet50", "MobileNetV2", "DenseNet121", "EfficientNetB0")
# Of images: EfficientNet takes 0 to 255.
RANGES = {"EfficientNetB0": (256.0, 128.0)}


def hashed(w, n):
    """24 bits for each of n elements: SplitMix64 of the weight's and the element's number."""
    with np.errstate(over="ignore"):
        z = (np.uint64(w) << np.uint64(32)) + np.arange(n, dtype=np.uint64)
        z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (z ^ (z >> np.uint64(31))) >> np.uint64(40)


def spread_evenly(w, n, scale, shift):
    return (shift + scale * (hashed(w, n).astype(np.float64) / (1 << 24) - 0.5)).astype(np.float32)


def range_of(weight):
    """Scale and shift of a weight."""
    name, layer = weight.name, weight.path.split("/")[-2]
    if name == "count":
        return 0.0, 0.0
    if "kernel" in name:
        fan = np.prod(weight.shape[:-1]) if "depthwise" not in weight.path else np.prod(weight.shape[:2])
        return np.sqrt(24.0 / fan), 0.0
    last = layer.endswith("_3_bn") or "project" in layer
    if name == "gamma" and last:
        return 0.1, 0.2
    if name in ("gamma", "moving_variance", "variance"):
        return 0.5, 1.0
    return 0.2, 0.0


def brief(value):
    """An architecture without what changes nothing for who reads it: where weights begin, defaults."""
    if isinstance(value, list):
        return [brief(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("class_name") == "__keras_tensor__":
        history = value["config"]["keras_history"]
        return {"class_name": "__keras_tensor__", "config": {"keras_history": history}}
    left = ("build_config", "dtype", "module", "registered_name", "data_format", "synchronized")
    return {
        key: brief(item)
        for key, item in value.items()
        if key not in left and item is not None and not key.endswith("_initializer")
    }


def without_dropout(text):
    document = json.loads(text)
    for layer in document["config"]["layers"]:
        if layer["class_name"] == "Dropout":
            layer["config"]["rate"] = 0.0
    return document


def smooth(value):
    """The architecture with swish for relu, as the tests make it, too."""
    if isinstance(value, list):
        return [smooth(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {key: smooth(item) for key, item in value.items()}
    if made.get("class_name") == "ReLU":
        made["class_name"] = "Activation"
        made["config"] = {"name": made["config"]["name"], "activation": "swish"}
    if made.get("activation") == "relu":
        made["activation"] = "swish"
    return made


def load(document, dtype):
    """The model in float32 or float64."""
    keras.backend.set_floatx(dtype)
    model = keras.models.model_from_json(json.dumps(document).replace('"float32"', f'"{dtype}"'))
    for w, weight in enumerate(model.weights):
        scale, shift = (float(np.float32(one)) for one in range_of(weight))
        weight.assign(spread_evenly(w, int(np.prod(weight.shape)), scale, shift).reshape(weight.shape))
    for layer in model.layers:
        if hasattr(layer, "finalize_state"):
            layer.finalize_state()
    return model


def step(model, x, labels, dtype):
    """Loss and slopes."""
    with tf.GradientTape() as tape:
        y = model(tf.constant(x, dtype), training=True)
        loss = tf.reduce_mean(-tf.reduce_sum(tf.constant(labels, dtype) * tf.math.log(y), axis=-1))
    slopes = tape.gradient(loss, [v.value for v in model.trainable_variables])
    return float(loss), [np.asarray(slope, np.float64).ravel() for slope in slopes]


def distance(slope, reference, signs):
    most = max(np.abs(reference).max(), 1e-300)
    sums = abs(np.dot(signs, slope - reference)) / np.sqrt(slope.size)
    return max(np.abs(slope - reference).max(), sums) / most


def add_case(table, name, case, document):
    image_scale, image_shift = RANGES.get(name, (4.0, 0.0))
    x = spread_evenly(IMAGES, BATCH * SIZE * SIZE * 3, image_scale, image_shift)
    x = x.reshape(BATCH, SIZE, SIZE, 3)
    labels = np.eye(CLASSES)[np.arange(BATCH) * 3 % CLASSES]

    model = load(document, "float64")
    inference = np.asarray(model(x.astype(np.float64), training=False))
    loss, slopes = step(model, x, labels, "float64")
    ranges = [range_of(weight) for weight in model.weights]
    places = [i for i, weight in enumerate(model.weights) if weight.trainable]
    signs = [1.0 - 2.0 * (hashed(SIGNS + w, slope.size) >> np.uint64(23)) for w, slope in zip(places, slopes)]

    model = load(document, "float32")
    before = model.get_weights()
    near = np.abs(np.asarray(model(x, training=False)) - inference).max() / np.abs(inference).max()
    spread, loss_spread = np.zeros(len(slopes)), 0.0
    for order in range(ORDERS):
        rows = np.arange(BATCH) if order == 0 else np.random.default_rng(order).permutation(BATCH)
        model.set_weights(before)
        other_loss, others = step(model, x[rows], labels[rows], "float32")
        loss_spread = max(loss_spread, abs(other_loss - loss) / loss)
        spread = np.maximum(spread, [distance(*each) for each in zip(others, slopes, signs)])

    chosen = [hashed(PLACES + w, SAMPLES) % np.uint64(slope.size) for w, slope in zip(places, slopes)]
    largest = np.array([np.abs(slope).max() for slope in slopes])
    # Of biases before a batch normalization there is nothing but rounding.
    spread[largest < 1e-9 * largest.max()] = 0.0
    table.add(
        case,
        {
            "of": name,
            "parameters": model.count_params(),
            "batch": BATCH,
            "image_scale": image_scale,
            "image_shift": image_shift,
            "loss": loss,
            "loss_spread": loss_spread,
        },
        scales=np.array([one[0] for one in ranges]),
        shifts=np.array([one[1] for one in ranges]),
        inference=inference,
        slopes=np.array([slope[c.astype(int)] for slope, c in zip(slopes, chosen)]),
        sums=np.array([np.dot(s, g) / np.sqrt(g.size) for s, g in zip(signs, slopes)]),
        largest=largest,
        spread=spread,
    )
    print(case, "loss", loss, "off by", loss_spread, "inference off by", near, "largest slopes", largest.min(),
          largest.max(), "spread", np.median(spread), spread.max(), flush=True)


def main():
    table = Table()
    for name in NAMES:
        keras.backend.clear_session()
        keras.backend.set_floatx("float32")
        made = getattr(keras.applications, name)(weights=None, input_shape=(SIZE, SIZE, 3), classes=CLASSES)
        document = without_dropout(made.to_json())
        add_case(table, name, name, document)
        table.cases[-1]["architecture"] = brief(document)
        if smooth(document) != document:
            add_case(table, name, name + "Smooth", smooth(document))
    table.write("keras_applications.safetensors")


if __name__ == "__main__":
    main()
