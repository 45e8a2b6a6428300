"""The workloads of bench/compare_pytorch: data, architectures and configurations, once for both
sides. An architecture is a list of layers: ("conv", filters, padding), ("pool",), ("dropout", rate),
("flatten",), ("dense", units, activation); convolutions are 3 x 3 with relu. Or it is a Network,
which keras_networks.py writes for us and torch_networks.py for the peers.
"""

import csv
import dataclasses
import itertools
import pathlib
import sys

import numpy

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CIFAR = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"

CIFAR_CNN = [("conv", 32, "same"), ("conv", 32, "valid"), ("pool",), ("dropout", 0.25),
             ("conv", 64, "same"), ("conv", 64, "valid"), ("pool",), ("dropout", 0.25), ("flatten",),
             ("dense", 512, "relu"), ("dropout", 0.5), ("dense", 10, None)]
DIGITS_CNN = [("conv", 32, "same"), ("conv", 32, "same"), ("pool",), ("dropout", 0.25), ("flatten",),
              ("dense", 64, "relu"), ("dense", 10, None)]
TABULAR_MLP = [("dense", 128, "relu"), ("dense", 64, "relu"), ("dense", 1, None)]
IRIS_MLPS = {"two": [("dense", 10, "relu"), ("dense", 10, "relu"), ("dense", 3, None)],
             "three": [("dense", 10, "relu"), ("dense", 10, "relu"), ("dense", 10, "relu"),
                       ("dense", 3, None)]}


@dataclasses.dataclass(frozen=True)
class Network:
    kind: str
    sizes: dict


@dataclasses.dataclass(frozen=True)
class Config:
    architecture: str
    optimizer: str  # "adam" or "sgd"
    rate: float
    batch: int
    momentum: float = 0.0


@dataclasses.dataclass
class Workload:
    name: str
    title: str
    shape: tuple  # of one example
    classes: int  # 0: one binary output
    scale: float  # features are divided by it
    train: tuple  # (x, y)
    valid: tuple
    architectures: dict
    configs: list
    iterations: int
    inputs: dict = dataclasses.field(default_factory=dict)  # several: how many features each has
    task: str = ""  # what is learned, if not classes or one binary output: see torch_models.loss_of()

    def __post_init__(self):
        self.task = self.task or ("class" if self.classes else "binary")

    @property
    def size(self):
        return f"{len(self.train[0])} rows x {len(self.configs)} x {self.iterations}"


def cifar(rows, split):
    """Real images where the folder with cifar10.py is; else this workload cannot run."""
    if not (CIFAR / "cifar10.py").exists():
        sys.exit(f"compare_pytorch: workload a wants cifar10.py and its images in {CIFAR}")
    sys.path.insert(0, str(CIFAR))
    from cifar10 import load

    cache = SOURCE / "build" / f"cifar_{split}_{rows}.npz"
    if not cache.exists():
        x, y, _ = load(split, rows)
        numpy.savez(cache, x=x, y=y.astype(numpy.int64))
    data = numpy.load(cache)
    return data["x"], data["y"]


def example(name, columns):
    """x and y of a CSV file of examples/."""
    with open(SOURCE / "examples" / f"{name}.csv", encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file))
    x = [[float(v) for v in row[columns[0]].replace("{", "").replace("}", "").split(",")] for row in rows]
    labels = [row[columns[1]] for row in rows]
    names = sorted(set(labels))
    return numpy.array(x), numpy.array([names.index(label) for label in labels])


def split(x, y, fraction):
    """A shuffled copy, cut into training and validation."""
    order = numpy.random.default_rng(7).permutation(len(x))
    cut = len(x) - int(len(x) * fraction)
    return (x[order[:cut]], y[order[:cut]]), (x[order[cut:]], y[order[cut:]])


def workload_a(quick):
    # Rates with which each batch size learns.
    grid = [Config("cnn", "adam", rate, batch)
            for rate, batch in ((3e-4, 32), (5e-4, 64), (1e-3, 128), (1e-3, 256))]
    grid += [Config("cnn", "sgd", rate, batch, 0.9)
             for rate, batch in ((0.01, 32), (0.02, 64), (0.03, 128), (0.05, 256))]
    return Workload("a", "CIFAR-10 example CNN, 8 configurations", (32, 32, 3), 10, 255.0,
                    cifar(2000 if quick else 8000, "train"), cifar(1000, "test"), {"cnn": CIFAR_CNN},
                    grid, 1)


def workload_b(quick):
    x, y = example("digits", ("pixels", "label"))
    train, valid = split(x.astype(numpy.uint8).reshape(-1, 8, 8, 1), y, 0.2)
    grid = [Config("cnn", "adam", rate, batch) for rate in (1e-3, 3e-3) for batch in (16, 32, 64, 128)]
    grid += [Config("cnn", "sgd", rate, batch, 0.9) for rate in (0.01, 0.03)
             for batch in (16, 32, 64, 128)]
    return Workload("b", "digits, 16 configurations of a small CNN", (8, 8, 1), 10, 16.0, train, valid,
                    {"cnn": DIGITS_CNN}, grid, 2 if quick else 10)


def workload_c(quick):
    x, y = example("iris", ("attributes", "class_text"))
    train, valid = split(x.astype(numpy.float32), y, 0.2)
    grid = [Config(name, "adam", rate, batch)
            for name, rate, batch in itertools.product(IRIS_MLPS, (0.1, 0.01, 0.001), (4, 8))]
    return Workload("c", "MADlib's iris example, 12 MLPs", (4,), 3, 1.0, train, valid, IRIS_MLPS, grid,
                    3 if quick else 10)


def tabular(rows):
    """Binary labels from a noisy function of 64 normal features."""
    random = numpy.random.default_rng(3)
    x = random.standard_normal((rows, 64), dtype=numpy.float32)
    hidden = numpy.tanh(x @ random.standard_normal((64, 8), dtype=numpy.float32) / 4)
    score = hidden @ random.standard_normal(8, dtype=numpy.float32) + hidden[:, 0] * hidden[:, 1] * 2
    noise = 0.3 * random.standard_normal(rows, dtype=numpy.float32)
    return x, (score + noise > 0).astype(numpy.int64)


def workload_d(quick):
    rows = 50_000 if quick else 200_000
    x, y = tabular(rows + 10_000)
    grid = [Config("mlp", "adam", rate, batch)
            for rate in (3e-4, 1e-3, 3e-3, 1e-2) for batch in (128, 256, 512)]
    grid += [Config("mlp", "sgd", rate, batch, 0.9)
             for rate in (0.003, 0.01, 0.03, 0.1) for batch in (128, 256, 512)]
    return Workload("d", "tabular MLP 64-128-64-1, 24 configurations", (64,), 0, 1.0,
                    (x[:rows], y[:rows]), (x[rows:], y[rows:]), {"mlp": TABULAR_MLP}, grid,
                    1 if quick else 2)


def workload_m(quick):
    """What MADlib 2.1 takes 98 s for; see bench/segments.py."""
    grid = [Config("cnn", "adam", rate, batch) for rate in (3e-4, 1e-3) for batch in (64, 128, 256)]
    return Workload("m", "CIFAR-10 example CNN, MADlib's 6 configurations", (32, 32, 3), 10, 255.0,
                    cifar(1500 if quick else 6000, "train"), cifar(300, "test"), {"cnn": CIFAR_CNN},
                    grid, 1 if quick else 2)


def workload_f(quick):
    """Batch normalization and large products: what transfer learning starts from."""
    grid = [Config("resnet", "adam", 1e-3, 32), Config("resnet", "sgd", 0.02, 32, 0.9)]
    network = Network("resnet", {"stages": (3, 4, 6, 3), "classes": 10})
    return Workload("f", "CIFAR-10 ResNet50, 2 configurations", (32, 32, 3), 10, 255.0,
                    cifar(256 if quick else 1024, "train"), cifar(256, "test"), {"resnet": network},
                    grid, 1)


def sequences():
    """Digits as 8 steps of 8 numbers."""
    x, y = example("digits", ("pixels", "label"))
    return split(x.astype(numpy.float32).reshape(-1, 8, 8), y, 0.2)


def workload_g(quick):
    train, valid = sequences()
    grid = [Config("lstm", "adam", rate, batch) for rate in (3e-3, 1e-2) for batch in (16, 32, 64, 128)]
    network = Network("lstm", {"units": 64, "classes": 10})
    return Workload("g", "digits as sequences, 8 configurations of an LSTM", (8, 8), 10, 16.0, train,
                    valid, {"lstm": network}, grid, 2 if quick else 10)


def workload_h(quick):
    train, valid = sequences()
    grid = [Config("transformer", "adam", rate, batch)
            for rate in (3e-4, 1e-3, 3e-3, 1e-2) for batch in (16, 32, 64, 128)]
    network = Network("transformer", {"width": 32, "heads": 4, "inner": 64, "classes": 10})
    return Workload("h", "digits as sequences, 16 configurations of a transformer block", (8, 8), 10,
                    16.0, train, valid, {"transformer": network}, grid, 2 if quick else 10)


def customers(rows):
    """Binary labels from numbers and categories: 16 normal numbers and 6 ids of one table."""
    random = numpy.random.default_rng(5)
    counts = numpy.array([10, 50, 100, 300, 500, 1000])
    numbers = random.standard_normal((rows, 16), dtype=numpy.float32)
    ids = (random.random((rows, 6)) ** 2 * counts).astype(numpy.int64)  # small ones are frequent
    ids += numpy.concatenate([[0], counts.cumsum()[:-1]])
    hidden = numpy.tanh(numbers @ random.standard_normal((16, 4), dtype=numpy.float32) / 4)
    vectors = random.standard_normal((counts.sum(), 4)).astype(numpy.float32)
    score = (vectors[ids].sum(1) * hidden).sum(1) + vectors[ids, 0].sum(1) / 2
    noise = 0.3 * random.standard_normal(rows, dtype=numpy.float32)
    return numpy.concatenate([numbers, ids.astype(numpy.float32)], 1), (score + noise > 0).astype(numpy.int64)


def workload_i(quick):
    rows = 50_000 if quick else 200_000
    x, y = customers(rows + 10_000)
    grid = [Config("wide_deep", "adam", rate, batch)
            for rate in (3e-4, 1e-3, 3e-3, 1e-2) for batch in (128, 256, 512)]
    grid += [Config("wide_deep", "sgd", rate, batch, 0.9)
             for rate in (0.003, 0.01, 0.03, 0.1) for batch in (128, 256, 512)]
    network = Network("wide_deep", {"ids": 6, "rows": 1960, "width": 8, "hidden": (128, 64)})
    return Workload("i", "wide and deep, 24 configurations", (22,), 0, 1.0, (x[:rows], y[:rows]),
                    (x[rows:], y[rows:]), {"wide_deep": network}, grid, 1,
                    inputs={"numbers": 16, "ids": 6})


def images(name, title, quick):
    """One of keras.applications on small images."""
    network = Network(name, {"classes": 10})
    return Workload("j" if name == "mobilenet" else "k", title, (32, 32, 3), 10, 255.0,
                    cifar(128 if quick else 512, "train"), cifar(128, "test"), {name: network},
                    [Config(name, "adam", 1e-3, 32), Config(name, "sgd", 0.02, 32, 0.9)], 1)


def workload_j(quick):
    return images("mobilenet", "CIFAR-10 MobileNetV2, 2 configurations", quick)


def workload_k(quick):
    return images("efficientnet", "CIFAR-10 EfficientNetB0, 2 configurations", quick)


def discs(rows):
    """Noisy images of 32 x 32 with two discs of unlike brightness; the mask is the brighter one's."""
    random = numpy.random.default_rng(11)
    place = numpy.arange(32, dtype=numpy.float32)
    x = 60 + 25 * random.standard_normal((rows, 32, 32), dtype=numpy.float32)
    mask = numpy.zeros((rows, 32, 32), bool)
    for brightness in (50, 110):
        middle = random.uniform(6, 26, (2, rows, 1, 1))
        radius = random.uniform(3, 9, (rows, 1, 1))
        mask = (place[:, None] - middle[0]) ** 2 + (place - middle[1]) ** 2 < radius ** 2
        x[mask] = brightness + x[mask] / 2
    return x.clip(0, 255).astype(numpy.uint8)[..., None], mask.astype(numpy.int16)[..., None]


def cut(x, y, rows):
    return (x[:rows], y[:rows]), (x[rows:], y[rows:])


def workload_l(quick):
    rows = 256 if quick else 1024
    network = Network("unet", {"widths": (16, 32, 64)})
    return Workload("l", "discs of 32 x 32, 2 configurations of a U-Net", (32, 32, 1), 0, 255.0,
                    *cut(*discs(rows + 128), rows), {"unet": network},
                    [Config("unet", "adam", rate, 32) for rate in (1e-3, 3e-3)], 1, task="mask")


def reviews(rows, steps, words):
    """Ids of words, small ones frequent; each has one of 4 subjects, whose most frequent one is the class."""
    random = numpy.random.default_rng(13)
    x = (random.random((rows, steps)) ** 2 * words).astype(numpy.int16)
    subjects = random.integers(0, 4, words)
    leading = random.integers(0, 4, (rows, 1))
    moved = random.random((rows, steps)) < 0.3  # to a word of the text's own subject
    choice = numpy.stack([numpy.flatnonzero(subjects == s)[:words // 8] for s in range(4)])
    own = choice[leading, random.integers(0, choice.shape[1], (rows, steps))]
    return numpy.where(moved, own, x).astype(numpy.int16), leading[:, 0].astype(numpy.int64)


def workload_n(quick):
    rows = 2_000 if quick else 8_000
    network = Network("text_cnn", {"words": 5000, "width": 64, "filters": 64, "sizes": (3, 4, 5), "classes": 4})
    grid = [Config("text_cnn", "adam", rate, batch) for rate in (1e-3, 3e-3) for batch in (32, 64)]
    return Workload("n", "texts of 48 words, 4 configurations of a TextCNN", (48,), 4, 1.0,
                    *cut(*reviews(rows + 500, 48, 5000), rows), {"text_cnn": network}, grid, 1)


def sentences(rows, steps, words, tags):
    """Ids of words and a tag for each, one-hot: it depends on the word and on both neighbours."""
    random = numpy.random.default_rng(17)
    x = (random.random((rows, steps)) ** 2 * words).astype(numpy.int16)
    kind = random.integers(0, 4, words)[x]
    around = numpy.pad(kind, ((0, 0), (1, 1)))
    tag = (2 * kind + (around[:, :-2] + around[:, 2:]) % 2) % tags
    return x, numpy.eye(tags, dtype=numpy.int16)[tag]


def workload_o(quick):
    rows = 1_000 if quick else 4_000
    network = Network("tagger", {"words": 2000, "width": 32, "units": 64, "tags": 8})
    grid = [Config("tagger", "adam", rate, batch) for rate in (3e-3, 1e-2) for batch in (32, 64)]
    return Workload("o", "sentences of 24 words, 4 configurations of a BiLSTM tagger", (24,), 8, 1.0,
                    *cut(*sentences(rows + 500, 24, 2000, 8), rows), {"tagger": network}, grid, 1,
                    task="tags")


def meetings(rows, buyers, items):
    """Ids of two tables, and whether they went together."""
    random = numpy.random.default_rng(19)
    x = (random.random((rows, 2)) ** 2 * [buyers, items]).astype(numpy.int32)
    vectors = [random.standard_normal((n, 4)) for n in (buyers, items)]
    score = (vectors[0][x[:, 0]] * vectors[1][x[:, 1]]).sum(1) + 0.3 * random.standard_normal(rows)
    return x, (score > 0).astype(numpy.int64)


def workload_p(quick):
    rows = 40_000 if quick else 200_000
    network = Network("two_tower", {"buyers": 100_000, "items": 20_000, "width": 32, "hidden": 64, "out": 32})
    grid = [Config("two_tower", "adam", 1e-3, batch) for batch in (512, 2048)]
    grid += [Config("two_tower", "sgd", 0.1, batch) for batch in (512, 2048)]
    return Workload("p", "two towers over 100,000 and 20,000 ids, 4 configurations", (2,), 0, 1.0,
                    *cut(*meetings(rows + 10_000, 100_000, 20_000), rows), {"two_tower": network},
                    grid, 1, inputs={"buyer": 1, "item": 1})


def sensors(rows):
    """256 standardized numbers that 12 others tell."""
    random = numpy.random.default_rng(23)
    hidden = random.standard_normal((rows, 12), dtype=numpy.float32)
    x = numpy.tanh(hidden @ random.standard_normal((12, 256), dtype=numpy.float32) / 2)
    x += 0.1 * random.standard_normal((rows, 256), dtype=numpy.float32)
    return ((x - x.mean(0)) / x.std(0)).astype(numpy.float32)


def workload_q(quick):
    rows = 8_000 if quick else 30_000
    x = sensors(rows + 2_000)
    layers = [("dense", n, "relu") for n in (128, 64, 16, 64, 128)] + [("dense", 256, None)]
    grid = [Config("autoencoder", "adam", rate, batch) for rate in (1e-3, 3e-3) for batch in (64, 128, 256)]
    return Workload("q", "autoencoder 256-128-64-16-64-128-256, 6 configurations", (256,), 0, 1.0,
                    *cut(x, x, rows), {"autoencoder": layers}, grid, 1, task="numbers")


def workload_r(quick):
    """What agents learn online: values of 4 actions of a state of 8 numbers."""
    rows = 2_000 if quick else 10_000
    random = numpy.random.default_rng(29)
    x = random.standard_normal((rows + 1_000, 8), dtype=numpy.float32)
    y = numpy.tanh(x @ random.standard_normal((8, 4), dtype=numpy.float32)) * 1.5
    layers = [("dense", 64, "relu"), ("dense", 64, "relu"), ("dense", 4, None)]
    grid = [Config("dqn", "adam", rate, batch) for rate in (3e-4, 1e-3) for batch in (1, 2, 4, 8)]
    return Workload("r", "DQN's MLP 8-64-64-4 with batches of 1 to 8, 8 configurations", (8,), 0, 1.0,
                    *cut(x, y, rows), {"dqn": layers}, grid, 1, task="numbers")


WORKLOADS = {"a": workload_a, "b": workload_b, "c": workload_c, "d": workload_d, "f": workload_f,
             "g": workload_g, "h": workload_h, "i": workload_i, "j": workload_j, "k": workload_k,
             "l": workload_l, "m": workload_m, "n": workload_n, "o": workload_o, "p": workload_p,
             "q": workload_q, "r": workload_r}
