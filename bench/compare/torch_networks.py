"""The peer's networks that are not a list of layers (workloads.Network), drawn as Keras draws them."""

import math

import torch
from torch import nn
from torch.nn import functional


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
        lstm = self.lstm
        sums = functional.linear(x, lstm.weight_ih_l0, lstm.bias_ih_l0 + lstm.bias_hh_l0)
        h = c = None
        for z in sums.unbind(1):
            if h is not None:
                z = z + functional.linear(h, lstm.weight_hh_l0)
            i, f, g, o = z.chunk(4, -1)
            new = torch.sigmoid(i) * torch.tanh(g)
            c = new if c is None else torch.sigmoid(f) * c + new
            h = torch.sigmoid(o) * torch.tanh(c)
        return h

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
        self.deep_table = nn.Embedding(rows, width)
        self.wide_table = nn.Embedding(rows, 1)
        for table in (self.deep_table, self.wide_table):
            nn.init.uniform_(table.weight, -0.05, 0.05)
        sizes = [numbers + ids * width, *hidden]
        self.layers = nn.ModuleList(linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.head = linear(sizes[-1] + ids + numbers, 1)

    def forward(self, x):
        numbers, ids = x[:, :-self.ids], x[:, -self.ids:].long()
        deep = torch.cat([numbers, self.deep_table(ids).flatten(1)], 1)
        for layer in self.layers:
            deep = functional.relu(layer(deep))
        return self.head(torch.cat([deep, self.wide_table(ids).flatten(1), numbers], 1))


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


KINDS = {"lstm": Lstm, "transformer": Transformer, "wide_deep": WideDeep, "resnet": ResNet}
