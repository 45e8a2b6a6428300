"""Keras JSON of the networks that are not a list of layers (workloads.Network)."""

import json


class Model:
    """A functional model, as Keras 2 writes it."""

    def __init__(self):
        self.layers = []
        self.inputs = []

    def input(self, name, *shape):
        self.inputs.append(name)
        self.add("InputLayer", name, [], batch_input_shape=[None, *shape])
        return name

    def add(self, class_name, name, inputs, more=None, **config):
        calls = [[[one, 0, 0, more or {}] for one in inputs]] if inputs else []
        self.layers.append({"class_name": class_name, "name": name, "inbound_nodes": calls,
                            "config": {"name": name, **config}})
        return name

    def dense(self, name, x, units, activation="linear"):
        return self.add("Dense", name, [x], units=units, activation=activation)

    def text(self, output):
        config = {"name": "network", "layers": self.layers,
                  "input_layers": [[name, 0, 0] for name in self.inputs],
                  "output_layers": [[output, 0, 0]]}
        return json.dumps({"class_name": "Functional", "keras_version": "2.15.0",
                           "backend": "tensorflow", "config": config})


def lstm(shape, units, classes):
    m = Model()
    x = m.add("LSTM", "lstm", [m.input("x", *shape)], units=units)
    return m.text(m.dense("output", x, classes, "softmax"))


def transformer(shape, width, heads, inner, classes):
    m = Model()
    x = m.dense("project", m.input("x", *shape), width)
    y = m.add("MultiHeadAttention", "attention", [x], {"value": [x, 0, 0]}, num_heads=heads,
              key_dim=width // heads)
    x = m.add("LayerNormalization", "norm_1", [m.add("Add", "add_1", [x, y])])
    y = m.dense("down", m.dense("up", x, inner, "relu"), width)
    x = m.add("LayerNormalization", "norm_2", [m.add("Add", "add_2", [x, y])])
    x = m.add("GlobalAveragePooling1D", "mean", [x])
    return m.text(m.dense("output", x, classes, "softmax"))


def wide_deep(shape, ids, rows, width, hidden):
    m = Model()
    numbers = m.input("numbers", shape[0] - ids)
    own = m.input("ids", ids)
    wide, deep = (m.add("Flatten", f"{name}_flat", [
        m.add("Embedding", f"{name}_table", [own], input_dim=rows, output_dim=size)])
        for name, size in (("wide", 1), ("deep", width)))
    x = m.add("Concatenate", "deep_inputs", [numbers, deep])
    for i, units in enumerate(hidden):
        x = m.dense(f"deep_{i}", x, units, "relu")
    x = m.add("Concatenate", "all", [x, wide, numbers])
    return m.text(m.dense("output", x, 1, "sigmoid"))


def resnet(shape, stages, classes):
    """keras.applications.ResNet50."""
    m = Model()

    def convolution(name, x, filters, size, stride=1, padding="valid"):
        x = m.add("Conv2D", f"{name}_conv", [x], filters=filters, kernel_size=[size, size],
                  strides=[stride, stride], padding=padding)
        return m.add("BatchNormalization", f"{name}_bn", [x], epsilon=1.001e-5)

    def relu(name, x):
        return m.add("Activation", name, [x], activation="relu")

    def padded(name, x, by):
        return m.add("ZeroPadding2D", name, [x], padding=[[by, by], [by, by]])

    x = relu("conv1_relu", convolution("conv1", padded("conv1_pad", m.input("x", *shape), 3), 64, 7, 2))
    x = m.add("MaxPooling2D", "pool1_pool", [padded("pool1_pad", x, 1)], pool_size=[3, 3],
              strides=[2, 2])
    for stage, count in enumerate(stages):
        filters = 64 * 2 ** stage
        for i in range(count):
            name = f"conv{stage + 2}_block{i + 1}"
            stride = 2 if stage and not i else 1
            shortcut = x if i else convolution(f"{name}_0", x, 4 * filters, 1, stride)
            x = relu(f"{name}_1_relu", convolution(f"{name}_1", x, filters, 1, stride))
            x = relu(f"{name}_2_relu", convolution(f"{name}_2", x, filters, 3, 1, "same"))
            x = convolution(f"{name}_3", x, 4 * filters, 1)
            x = relu(f"{name}_out", m.add("Add", f"{name}_add", [shortcut, x]))
    x = m.add("GlobalAveragePooling2D", "avg_pool", [x])
    return m.text(m.dense("predictions", x, classes, "softmax"))


# Expansion, filters, blocks, stride of the first; of EfficientNet the kernel's size, too.
MOBILENET_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                    (6, 160, 3, 2), (6, 320, 1, 1))
EFFICIENTNET_STAGES = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
                       (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3))


class Normalized(Model):
    """Convolutions with "same" padding, normalization and an activation behind them."""

    def __init__(self, activation, momentum):
        super().__init__()
        self.activation = activation
        self.momentum = momentum

    def convolution(self, name, x, filters, size, stride=1, active=True):
        """filters None: one for each channel"""
        padding = "same"
        if stride > 1:
            x = self.add("ZeroPadding2D", f"{name}_pad", [x], padding=[[size // 2 - 1, size // 2]] * 2)
            padding = "valid"
        kind = {"filters": filters} if filters else {}
        x = self.add("Conv2D" if filters else "DepthwiseConv2D", name, [x], kernel_size=[size, size],
                     strides=[stride, stride], padding=padding, use_bias=False, **kind)
        x = self.add("BatchNormalization", f"{name}_bn", [x], epsilon=1e-3, momentum=self.momentum)
        if not active:
            return x
        if self.activation == "relu6":
            return self.add("ReLU", f"{name}_relu", [x], max_value=6.0)
        return self.add("Activation", f"{name}_active", [x], activation=self.activation)


def mobilenet(shape, classes):
    """keras.applications.MobileNetV2."""
    m = Normalized("relu6", 0.999)
    x = m.convolution("conv1", m.input("x", *shape), 32, 3, 2)
    inputs = 32
    for stage, (expansion, filters, count, stride) in enumerate(MOBILENET_STAGES):
        for i in range(count):
            name = f"block_{stage}_{i}"
            y = m.convolution(f"{name}_expand", x, inputs * expansion, 1) if expansion > 1 else x
            y = m.convolution(f"{name}_depthwise", y, None, 3, 1 if i else stride)
            y = m.convolution(f"{name}_project", y, filters, 1, active=False)
            x = m.add("Add", f"{name}_add", [x, y]) if i else y
            inputs = filters
    x = m.add("GlobalAveragePooling2D", "pool", [m.convolution("conv_last", x, 1280, 1)])
    return m.text(m.dense("predictions", x, classes, "softmax"))


def efficientnet(shape, classes):
    """keras.applications.EfficientNetB0, without its scaling of the input."""
    m = Normalized("swish", 0.99)
    x = m.convolution("stem", m.input("x", *shape), 32, 3, 2)
    inputs = 32
    total = sum(stage[2] for stage in EFFICIENTNET_STAGES)
    at = 0
    for stage, (expansion, filters, count, stride, size) in enumerate(EFFICIENTNET_STAGES):
        for i in range(count):
            name = f"block_{stage}_{i}"
            inner = inputs * expansion
            y = m.convolution(f"{name}_expand", x, inner, 1) if expansion > 1 else x
            y = m.convolution(f"{name}_depthwise", y, None, size, 1 if i else stride)
            z = m.add("GlobalAveragePooling2D", f"{name}_se_squeeze", [y])
            z = m.add("Reshape", f"{name}_se_reshape", [z], target_shape=[1, 1, inner])
            for part, units, activation in (("reduce", max(1, inputs // 4), "swish"),
                                            ("expand", inner, "sigmoid")):
                z = m.add("Conv2D", f"{name}_se_{part}", [z], filters=units, kernel_size=[1, 1],
                          padding="same", activation=activation)
            y = m.add("Multiply", f"{name}_se_excite", [y, z])
            y = m.convolution(f"{name}_project", y, filters, 1, active=False)
            if i:
                if at:
                    y = m.add("Dropout", f"{name}_drop", [y], rate=0.2 * at / total,
                              noise_shape=[None, 1, 1, 1])
                y = m.add("Add", f"{name}_add", [x, y])
            x = y
            inputs = filters
            at += 1
    x = m.add("GlobalAveragePooling2D", "pool", [m.convolution("top", x, 1280, 1)])
    x = m.add("Dropout", "top_dropout", [x], rate=0.2)
    return m.text(m.dense("predictions", x, classes, "softmax"))


def unet(shape, widths):
    m = Model()

    def pair(name, x, filters):
        for part in ("a", "b"):
            x = m.add("Conv2D", f"{name}_{part}", [x], filters=filters, kernel_size=[3, 3],
                      padding="same", activation="relu")
        return x

    x = m.input("x", *shape)
    kept = []
    for i, filters in enumerate(widths):
        x = pair(f"down_{i}", m.add("MaxPooling2D", f"pool_{i}", [x], pool_size=[2, 2]) if i else x,
                 filters)
        kept.append(x)
    kept.pop()
    for i, filters in enumerate(widths[-2::-1]):
        x = m.add("Conv2DTranspose", f"up_{i}", [x], filters=filters, kernel_size=[2, 2], strides=[2, 2])
        x = pair(f"joined_{i}", m.add("Concatenate", f"join_{i}", [x, kept.pop()]), filters)
    return m.text(m.add("Conv2D", "mask", [x], filters=1, kernel_size=[1, 1], activation="sigmoid"))


def text_cnn(shape, words, width, filters, sizes, classes):
    m = Model()
    x = m.add("Embedding", "words", [m.input("x", *shape)], input_dim=words, output_dim=width)
    parts = [m.add("GlobalMaxPooling1D", f"max_{size}", [
        m.add("Conv1D", f"conv_{size}", [x], filters=filters, kernel_size=[size], activation="relu")])
        for size in sizes]
    x = m.add("Dropout", "dropout", [m.add("Concatenate", "parts", parts)], rate=0.5)
    return m.text(m.dense("output", x, classes, "softmax"))


def tagger(shape, words, width, units, tags):
    m = Model()
    x = m.add("Embedding", "words", [m.input("x", *shape)], input_dim=words, output_dim=width)
    lstm = {"class_name": "LSTM", "config": {"name": "lstm", "units": units, "return_sequences": True}}
    x = m.add("Bidirectional", "both", [x], layer=lstm, merge_mode="concat")
    return m.text(m.dense("tags", x, tags, "softmax"))


def two_tower(shape, buyers, items, width, hidden, out):
    m = Model()
    del shape
    towers = []
    for name, rows in (("buyer", buyers), ("item", items)):
        x = m.add("Embedding", f"{name}_table", [m.input(name, 1)], input_dim=rows, output_dim=width)
        x = m.dense(f"{name}_1", m.add("Flatten", f"{name}_flat", [x]), hidden, "relu")
        towers.append(m.dense(f"{name}_2", x, out))
    x = m.add("Dot", "match", towers, axes=1)
    return m.text(m.dense("output", x, 1, "sigmoid"))


KINDS = {"lstm": lstm, "transformer": transformer, "wide_deep": wide_deep, "resnet": resnet,
         "mobilenet": mobilenet, "efficientnet": efficientnet, "unet": unet, "text_cnn": text_cnn,
         "tagger": tagger, "two_tower": two_tower}
