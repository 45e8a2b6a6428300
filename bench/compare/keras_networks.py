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


KINDS = {"lstm": lstm, "transformer": transformer, "wide_deep": wide_deep, "resnet": resnet}
