#!/usr/bin/env python3
"""Writes the fuzz targets' first inputs: small architectures of real Keras, parameter texts,
search spaces, a state image and packed buffers.

  test/fuzz/make_seeds.py FOLDER
"""
import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).parent
KERAS = HERE.parent / "baseline" / "keras_json"

COMPILE = [
    "loss='mse', optimizer='Adam()', metrics=['mae']",
    "loss='categorical_crossentropy', optimizer=SGD(learning_rate=0.1, momentum=0.9, nesterov=True), metrics=['accuracy', 'top_k_categorical_accuracy(k=3)']",
    "loss=tf.keras.losses.BinaryFocalCrossentropy(gamma=2.0, from_logits=True), optimizer='RMSprop(rho=0.5, centered=True)'",
    "loss='expr: mean(where(y > p, 0.9, 0.1) * abs(y - p))', optimizer='Adam(lr=ExponentialDecay(0.1, decay_steps=10, decay_rate=0.9, staircase=True), clipnorm=1.0)', metrics=['AUC(num_thresholds=20)', 'Precision(top_k=2)']",
    '{"loss": "huber", "optimizer": {"class_name": "Ftrl", "config": {"l1_regularization_strength": 1e-3}}}',
    "optimizer=Adam(CosineDecay(1e-3, 100, alpha=0.1, warmup_target=0.01, warmup_steps=5), use_ema=True, ema_momentum=0.9), loss='dice'",
]
FIT = [
    "batch_size=32, epochs=3",
    "batch_size=16, class_weight={0: 1.0, 1: 2.5, 'cat': 3}, shuffle=False, seed=7",
    "callbacks=[EarlyStopping(monitor='val_loss', patience=3, restore_best_weights=True), ReduceLROnPlateau(factor=0.5)]",
]
GRIDS = [
    "{'loss': ['mse', 'mae'], 'optimizer_params_list': [{'optimizer': ['SGD', 'Adam'], 'learning_rate': [0.1, 0.01]}]}\n{'batch_size': [8, 16], 'epochs': [1]}",
    "{'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['Adam'], 'learning_rate': [0.001, 0.1, 'log']}], 'metrics': [['mae']]}\n{'batch_size': [8, 64, 'log_near_one']}",
]


SPACES = [
    """{"parameters": {"lr": {"type": "float", "low": 1e-4, "high": 0.1, "scale": "log"},
 "optimizer": ["Adam", "SGD"], "momentum": {"type": "float", "low": 0, "high": 0.9, "step": 0.3, "when": {"optimizer": "SGD"}},
 "depth": {"type": "int", "low": 1, "high": 3}, "units1": {"type": "int", "low": 16, "high": 64, "step": 16},
 "units2": {"type": "constant", "value": 8, "when": {"depth": {"from": 2}}}, "units3": {"type": "choice", "values": [8, 9], "when": {"depth": [3]}}},
 "model_id": 1, "compile_params": {"loss": "mse", "optimizer": {"class_name": {"hopper": "optimizer"},
 "config": {"learning_rate": {"hopper": "lr"}, "momentum": {"hopper": "momentum"}}}}, "fit_params": {"batch_size": 32}}""".replace("\n", " ")
    + """\n{"layers": [{"hopper": {"repeat": "depth", "layers": [{"name": "d_#", "units": {"hopper": "units#"}}]}}]}""",
    """{"parameters": {"p": {"type": "float", "low": 0.9, "high": 0.999, "scale": "log_near_one"}, "n": {"type": "int", "low": 1, "high": 100, "scale": "log"}},
 "model_id": [1], "compile_params": {"loss": "mse", "optimizer": {"class_name": "SGD", "config": {"momentum": {"hopper": "p"}}}},
 "fit_params": {"batch_size": {"hopper": "n"}}}""".replace("\n", " "),
]


def write(target, name, data):
    folder = pathlib.Path(sys.argv[1]) / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def keras():
    for version in ("handwritten", "keras-3.15.1", "tensorflow-keras-2.12.0"):
        document = json.loads((KERAS / (version + ".json")).read_text())
        for i, model in enumerate(document["accepted"]):
            text = json.dumps(model["architecture"])
            if len(text) < 6000 and i % 4 == 0:
                write("keras_json", f"{version}-{i}", bytes([i % 5]) + text.encode())


def parameters():
    for kind, texts in enumerate((COMPILE, FIT, GRIDS, GRIDS)):
        for i, text in enumerate(texts):
            write("parameters", f"{kind}-{i}", bytes([kind]) + text.encode())


def search_spaces():
    for i, text in enumerate(SPACES):
        for algorithm in range(4):
            write("search_space", f"{i}-{algorithm}", bytes([algorithm]) + text.encode())


def text(s):
    return struct.pack("<I", len(s)) + s.encode()


def state():
    # The layout that state_fuzz.cpp reads; its architecture's digest and the checksum are filled in by it.
    for slots in (0, 2):
        sizes = [(20, 1), (5, 1), (5, 0)]
        out = b"HOPSTATE" + struct.pack("<II", 1, 0) + bytes(16)
        out += text("torch 2.11.0, AVX2, fp32, planned, 1 thread") + text("Adam")
        out += struct.pack("<qqqii", 3, 40, 500, slots, len(sizes))
        for size, has in sizes:
            out += struct.pack("<qii", size, has, 0)
        floats = sum(size * (1 + slots * has) for size, has in sizes)
        out += struct.pack("<Q", floats) + struct.pack("<f", 0.5) * floats + bytes(16)
        write("state", f"slots-{slots}", out)


def packed():
    for x_type in range(1, 7):
        out = struct.pack("<Bb", x_type, 1) + struct.pack("<" + "h" * 8, 3, *[1] * 7)
        out += struct.pack("<BBb", 1, 1, 0) + struct.pack("<" + "b" * 8, *[1] * 8)
        out += struct.pack("<BihHf", 64, 3, 2, 4, 2.0)
        for partition in (0, 1):
            out += struct.pack("<bbbB", partition, 0, 2, 0) + bytes(range(60))
        write("packed", f"type-{x_type}", out)


def safetensors():
    """Of the model in safetensors_fuzz.cpp: two layers of one name."""
    shapes = {"d/kernel": (3, 2), "d/bias": (2,), "d/kernel#2": (2, 1), "d/bias#2": (1,)}
    for dtype, form in (("F32", "f"), ("F64", "d"), ("F16", "e"), ("BF16", "H")):
        header, data = {"__metadata__": {"format": "pt"}}, b""
        for name, shape in shapes.items():
            values = [1] * (shape[0] * (shape[1] if len(shape) > 1 else 1))
            begin = len(data)
            data += struct.pack(f"<{len(values)}{form}", *values)
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, len(data)]}
        for names in ("ours", "others"):
            text = json.dumps(header if names == "ours" else {
                name.replace("d/", "layer."): entry for name, entry in header.items()}).encode()
            write("safetensors", f"{dtype}-{names}", struct.pack("<Q", len(text)) + text + data)


if __name__ == "__main__":
    keras()
    parameters()
    search_spaces()
    state()
    packed()
    safetensors()
