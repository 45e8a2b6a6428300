"""The peer's networks that are not a list of layers (workloads.Network), drawn as Keras draws them."""

import math

import torch
from torch import nn
from torch.nn import functional

from compare.keras_networks import EFFICIENTNET_STAGES, MOBILENET_STAGES


def glorot(weight, fan_in, fan_out):
    limit = math.sqrt(6 / (fan_in + fan_out))
    nn.init.uniform_(weight, -limit, limit)


def linear(inputs, outputs):
    layer = nn.Linear(inputs, outputs)
    glorot(layer.weight, inputs, outputs)
    nn.init.zeros_(layer.bias)
    return layer


class Lstm(nn.Module):
    """LSTM and a Dense layer; `stacked` writes the cells out, because vmap knows no nn.LSTM."""

    def __init__(self, shape, stacked, units, classes):
        super().__init__()
        self.stacked = stacked
        self.lstm = nn.LSTM(shape[1], units, batch_first=True)
        glorot(self.lstm.weight_ih_l0, shape[1], 4 * units)
        nn.init.orthogonal_(self.lstm.weight_hh_l0.data.t())
        nn.init.zeros_(self.lstm.bias_hh_l0)
        nn.init.zeros_(self.lstm.bias_ih_l0)
        self.lstm.bias_ih_l0.data[units:2 * units] = 1.0
        self.head = linear(units, classes)

    def last(self, x):
        if not self.stacked:
            return self.lstm(x)[0][:, -1]
        return lstm_steps(x, self.lstm, "l0")[-1]

    def forward(self, x):
        return self.head(self.last(x))


class Transformer(nn.Module):
    """A projection, one block of attention and two dense layers, the mean over time, Dense; `stacked`
    writes the attention out, because vmap knows no fused one."""

    def __init__(self, shape, stacked, width, heads, inner, classes):
        super().__init__()
        self.stacked = stacked
        self.heads = heads
        self.project = linear(shape[1], width)
        self.query, self.key, self.value, self.out = (linear(width, width) for _ in range(4))
        self.norms = nn.ModuleList(nn.LayerNorm(width, eps=1e-3) for _ in range(2))
        self.up = linear(width, inner)
        self.down = linear(inner, width)
        self.head = linear(width, classes)

    def attention(self, x):
        def split(y):
            return y.unflatten(-1, (self.heads, -1)).transpose(-2, -3)

        q, k, v = (split(layer(x)) for layer in (self.query, self.key, self.value))
        if self.stacked:
            y = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), -1) @ v
        else:
            y = functional.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(-2, -3).flatten(-2))

    def forward(self, x):
        x = self.project(x)
        x = self.norms[0](x + self.attention(x))
        x = self.norms[1](x + self.down(functional.relu(self.up(x))))
        return self.head(x.mean(-2))


class WideDeep(nn.Module):
    """Numbers and embedded ids through an MLP, beside a weight for each id and number."""

    def __init__(self, shape, stacked, ids, rows, width, hidden):
        super().__init__()
        del stacked
        self.ids = ids
        numbers = shape[0] - ids
        self.deep_table = table(rows, width)
        self.wide_table = table(rows, 1)
        sizes = [numbers + ids * width, *hidden]
        self.layers = nn.ModuleList(linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.head = linear(sizes[-1] + ids + numbers, 1)

    def forward(self, x):
        numbers, ids = x[:, :-self.ids], x[:, -self.ids:].long()
        deep = torch.cat([numbers, self.deep_table(ids).flatten(1)], 1)
        for layer in self.layers:
            deep = functional.relu(layer(deep))
        return self.head(torch.cat([deep, self.wide_table(ids).flatten(1), numbers], 1))


def table(rows, width):
    """An Embedding as Keras draws it."""
    layer = nn.Embedding(rows, width)
    nn.init.uniform_(layer.weight, -0.05, 0.05)
    return layer


def convolution(inputs, outputs, size, stride=1, padding=0):
    layer = nn.Conv2d(inputs, outputs, size, stride, padding)
    glorot(layer.weight, inputs * size * size, outputs * size * size)
    nn.init.zeros_(layer.bias)
    return nn.Sequential(layer, nn.BatchNorm2d(outputs, eps=1.001e-5, momentum=0.01))


class Bottleneck(nn.Module):
    def __init__(self, inputs, filters, stride, shortcut):
        super().__init__()
        self.body = nn.Sequential(
            convolution(inputs, filters, 1, stride), nn.ReLU(),
            convolution(filters, filters, 3, padding=1), nn.ReLU(),
            convolution(filters, 4 * filters, 1))
        self.shortcut = convolution(inputs, 4 * filters, 1, stride) if shortcut else nn.Identity()

    def forward(self, x):
        return functional.relu(self.body(x) + self.shortcut(x))


class ResNet(nn.Module):
    """keras.applications.ResNet50: strides are those of the first of a block's convolutions."""

    def __init__(self, shape, stacked, stages, classes):
        super().__init__()
        del stacked
        blocks = []
        channels = 64
        for stage, count in enumerate(stages):
            filters = 64 * 2 ** stage
            for i in range(count):
                blocks.append(Bottleneck(channels, filters, 2 if stage and not i else 1, not i))
                channels = 4 * filters
        self.body = nn.Sequential(convolution(shape[2], 64, 7, 2, 3), nn.ReLU(),
                                  nn.MaxPool2d(3, 2, 1), *blocks)
        self.head = linear(channels, classes)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


def kernel_of(layer, groups=1):
    """A convolution's weights, drawn as Keras draws them."""
    if groups == 1:
        glorot(layer.weight, layer.weight[0].numel(), layer.weight.numel() // layer.weight.shape[1])
    else:
        size = layer.weight[0].numel()
        glorot(layer.weight, size * groups, size)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


class Same(nn.Module):
    """A convolution without bias, padded as Keras' "same", and its normalization; groups: depthwise."""

    def __init__(self, inputs, outputs, size, stride, depthwise, epsilon, momentum):
        super().__init__()
        groups = inputs if depthwise else 1
        padding = size // 2 if stride == 1 else 0
        self.pads = (size // 2 - 1, size // 2) * 2 if stride > 1 and size > 1 else None
        self.convolution = kernel_of(nn.Conv2d(inputs, outputs, size, stride, padding, groups=groups,
                                               bias=False), groups)
        self.norm = nn.BatchNorm2d(outputs, eps=epsilon, momentum=momentum)

    def forward(self, x):
        return self.norm(self.convolution(functional.pad(x, self.pads) if self.pads else x))


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, expansion, stride):
        super().__init__()
        inner = inputs * expansion
        layers = []
        if expansion > 1:
            layers += [Same(inputs, inner, 1, 1, False, 1e-3, 1e-3), nn.ReLU6(inplace=True)]
        layers += [Same(inner, inner, 3, stride, True, 1e-3, 1e-3), nn.ReLU6(inplace=True),
                   Same(inner, outputs, 1, 1, False, 1e-3, 1e-3)]
        self.body = nn.Sequential(*layers)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.body(x) if self.adds else self.body(x)


class MobileNet(nn.Module):
    """keras.applications.MobileNetV2."""

    def __init__(self, shape, stacked, classes):
        super().__init__()
        del stacked
        blocks = [Same(shape[2], 32, 3, 2, False, 1e-3, 1e-3), nn.ReLU6(inplace=True)]
        inputs = 32
        for expansion, outputs, count, stride in MOBILENET_STAGES:
            for i in range(count):
                blocks.append(InvertedResidual(inputs, outputs, expansion, 1 if i else stride))
                inputs = outputs
        self.body = nn.Sequential(*blocks, Same(inputs, 1280, 1, 1, False, 1e-3, 1e-3),
                                  nn.ReLU6(inplace=True))
        self.head = linear(1280, classes)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


class EfficientBlock(nn.Module):
    def __init__(self, inputs, outputs, expansion, size, stride, drop):
        super().__init__()
        inner = inputs * expansion
        squeezed = max(1, inputs // 4)
        self.expand = Same(inputs, inner, 1, 1, False, 1e-3, 0.01) if expansion > 1 else None
        self.depthwise = Same(inner, inner, size, stride, True, 1e-3, 0.01)
        self.squeeze = kernel_of(nn.Conv2d(inner, squeezed, 1))
        self.excite = kernel_of(nn.Conv2d(squeezed, inner, 1))
        self.project = Same(inner, outputs, 1, 1, False, 1e-3, 0.01)
        self.drop = drop if stride == 1 and inputs == outputs else None

    def forward(self, x):
        y = x if self.expand is None else functional.silu(self.expand(x), inplace=True)
        y = functional.silu(self.depthwise(y), inplace=True)
        weights = self.excite(functional.silu(self.squeeze(y.mean((2, 3), keepdim=True))))
        y = self.project(y * torch.sigmoid(weights))
        if self.drop is None:
            return y
        if self.training and self.drop > 0:  # of whole images
            keep = torch.empty(len(y), 1, 1, 1).bernoulli_(1 - self.drop).div_(1 - self.drop)
            y = y * keep
        return x + y


class EfficientNet(nn.Module):
    """keras.applications.EfficientNetB0, without its scaling of the input."""

    def __init__(self, shape, stacked, classes):
        super().__init__()
        del stacked
        self.stem = Same(shape[2], 32, 3, 2, False, 1e-3, 0.01)
        blocks = []
        inputs = 32
        total = sum(stage[2] for stage in EFFICIENTNET_STAGES)
        for expansion, outputs, count, stride, size in EFFICIENTNET_STAGES:
            for i in range(count):
                blocks.append(EfficientBlock(inputs, outputs, expansion, size, 1 if i else stride,
                                             0.2 * len(blocks) / total))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.top = Same(inputs, 1280, 1, 1, False, 1e-3, 0.01)
        self.head = nn.Sequential(nn.Dropout(0.2), linear(1280, classes))

    def forward(self, x):
        x = self.blocks(functional.silu(self.stem(x), inplace=True))
        return self.head(functional.silu(self.top(x), inplace=True).mean((2, 3)))


class UNet(nn.Module):
    """Two convolutions at each width, pooled on the way down and transposed on the way up."""

    def __init__(self, shape, stacked, widths):
        super().__init__()
        del stacked

        def pair(inputs, outputs):
            return nn.Sequential(kernel_of(nn.Conv2d(inputs, outputs, 3, padding=1)), nn.ReLU(),
                                 kernel_of(nn.Conv2d(outputs, outputs, 3, padding=1)), nn.ReLU())

        sizes = [shape[2], *widths]
        self.down = nn.ModuleList(pair(a, b) for a, b in zip(sizes, sizes[1:]))
        self.up = nn.ModuleList(kernel_of(nn.ConvTranspose2d(b, a, 2, 2))
                                for a, b in zip(widths[-2::-1], widths[:0:-1]))
        self.joined = nn.ModuleList(pair(2 * a, a) for a in widths[-2::-1])
        self.head = kernel_of(nn.Conv2d(widths[0], 1, 1))

    def forward(self, x):
        kept = []
        for i, layers in enumerate(self.down):
            x = layers(functional.max_pool2d(x, 2) if i else x)
            kept.append(x)
        kept.pop()
        for up, layers in zip(self.up, self.joined):
            x = layers(torch.cat([up(x), kept.pop()], 1))
        return self.head(x)


class TextCnn(nn.Module):
    """Ids through convolutions of several sizes, each one's maximum over the text, Dense."""

    def __init__(self, shape, stacked, words, width, filters, sizes, classes):
        super().__init__()
        del shape, stacked
        self.table = table(words, width)
        self.layers = nn.ModuleList(kernel_of(nn.Conv1d(width, filters, size)) for size in sizes)
        self.head = nn.Sequential(nn.Dropout(0.5), linear(filters * len(sizes), classes))

    def forward(self, x):
        x = self.table(x).transpose(1, 2)
        return self.head(torch.cat([functional.relu(layer(x)).amax(2) for layer in self.layers], 1))


class Tagger(nn.Module):
    """Ids through an LSTM in both directions, Dense at each step; `stacked` writes the cells out."""

    def __init__(self, shape, stacked, words, width, units, tags):
        super().__init__()
        del shape
        self.stacked = stacked
        self.table = table(words, width)
        self.lstm = nn.LSTM(width, units, batch_first=True, bidirectional=True)
        for suffix in ("l0", "l0_reverse"):
            glorot(getattr(self.lstm, f"weight_ih_{suffix}"), width, 4 * units)
            nn.init.orthogonal_(getattr(self.lstm, f"weight_hh_{suffix}").data.t())
            for name in ("ih", "hh"):
                nn.init.zeros_(getattr(self.lstm, f"bias_{name}_{suffix}"))
            getattr(self.lstm, f"bias_ih_{suffix}").data[units:2 * units] = 1.0
        self.head = linear(2 * units, tags)

    def forward(self, x):
        x = self.table(x)
        if not self.stacked:
            return self.head(self.lstm(x)[0])
        forward, backward = (lstm_steps(x, self.lstm, suffix) for suffix in ("l0", "l0_reverse"))
        return self.head(torch.cat([torch.stack(forward, 1), torch.stack(backward[::-1], 1)], -1))


def lstm_steps(x, lstm, suffix):
    """The states of one direction, in the order in which they are computed."""
    weights, own, biases, more = (getattr(lstm, f"{name}_{suffix}")
                                  for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    sums = functional.linear(x, weights, biases + more).unbind(1)
    states = []
    h = c = None
    for z in reversed(sums) if suffix.endswith("reverse") else sums:
        if h is not None:
            z = z + functional.linear(h, own)
        i, f, g, o = z.chunk(4, -1)
        new = torch.sigmoid(i) * torch.tanh(g)
        c = new if c is None else torch.sigmoid(f) * c + new
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
    return states


class TwoTower(nn.Module):
    """Two ids through a table and two dense layers each; a sigmoid over their product."""

    def __init__(self, shape, stacked, buyers, items, width, hidden, out):
        super().__init__()
        del shape, stacked
        self.tables = nn.ModuleList(table(rows, width) for rows in (buyers, items))
        self.towers = nn.ModuleList(nn.Sequential(linear(width, hidden), nn.ReLU(), linear(hidden, out))
                                    for _ in range(2))
        self.head = linear(1, 1)

    def forward(self, x):
        buyer, item = (tower(own(x[..., i])) for i, (own, tower) in enumerate(zip(self.tables, self.towers)))
        return self.head((buyer * item).sum(-1, keepdim=True))


KINDS = {"lstm": Lstm, "transformer": Transformer, "wide_deep": WideDeep, "resnet": ResNet,
         "mobilenet": MobileNet, "efficientnet": EfficientNet, "unet": UNet, "text_cnn": TextCnn,
         "tagger": Tagger, "two_tower": TwoTower}
