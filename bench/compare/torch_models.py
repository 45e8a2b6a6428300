"""The peer's networks: as torch modules, and stacks of networks of one shape.

Weights are drawn as Keras draws them (glorot_uniform, biases 0); outputs are logits; Adam has Keras'
epsilon. So both sides learn the same thing equally well.
"""

import math

import torch
from torch import nn
from torch.nn import functional

from compare import torch_networks
from compare.torch_networks import glorot
from compare.workloads import Network

ADAM_EPSILON = 1e-7


def module(layers, shape, stacked=False):
    """A network for inputs of shape (height, width, channels), (steps, features) or (features,)."""
    if isinstance(layers, Network):
        return torch_networks.KINDS[layers.kind](shape, stacked, **layers.sizes)
    height, width, channels = shape if len(shape) == 3 else (1, 1, shape[0])
    built = []
    for layer in layers:
        if layer[0] == "conv":
            convolution = nn.Conv2d(channels, layer[1], 3, padding=1 if layer[2] == "same" else 0)
            glorot(convolution.weight, 9 * channels, 9 * layer[1])
            nn.init.zeros_(convolution.bias)
            built += [convolution, nn.ReLU()]
            channels = layer[1]
            if layer[2] == "valid":
                height, width = height - 2, width - 2
        elif layer[0] == "pool":
            built.append(nn.MaxPool2d(2))
            height, width = height // 2, width // 2
        elif layer[0] == "dropout":
            built.append(nn.Dropout(layer[1]))
        elif layer[0] == "flatten":
            built.append(nn.Flatten())
            channels, height, width = channels * height * width, 1, 1
        else:
            linear = nn.Linear(channels, layer[1])
            glorot(linear.weight, channels, layer[1])
            nn.init.zeros_(linear.bias)
            built.append(linear)
            if layer[2] == "relu":
                built.append(nn.ReLU())
            channels = layer[1]
    return nn.Sequential(*built)


def loss_of(logits, y, task):
    """class: an index a row; tags: one a step; binary: one output; mask: one a pixel; numbers: mse."""
    if task == "class":
        return functional.cross_entropy(logits, y)
    if task == "tags":
        return functional.cross_entropy(logits.flatten(0, 1), y.flatten())
    if task == "numbers":
        return functional.mse_loss(logits, y)
    return functional.binary_cross_entropy_with_logits(logits.squeeze(1), y)


def optimizer(config, model, **how):
    """Plain SGD changes only those rows of a table that a batch has read."""
    parameters = model.parameters()
    if config.optimizer == "sgd" and config.momentum == 0.0:
        tables = [layer for layer in model.modules() if isinstance(layer, nn.Embedding)]
        for layer in tables:
            layer.sparse = True
        if tables:
            how = {}  # fused ones take no sparse gradients
    if config.optimizer == "adam":
        return torch.optim.Adam(parameters, lr=config.rate, eps=ADAM_EPSILON, **how)
    return torch.optim.SGD(parameters, lr=config.rate, momentum=config.momentum, **how)


def tensors(workload, part, channels_last=True):
    """Resident inputs as float32, ids as int64, and targets."""
    x, y = (torch.from_numpy(values) for values in getattr(workload, part))
    x = x.long() if x.dtype in (torch.int16, torch.int32) else x.to(torch.float32).div_(workload.scale)
    if len(workload.shape) == 3:
        x = x.permute(0, 3, 1, 2)
        x = x.contiguous(memory_format=torch.channels_last) if channels_last else x.contiguous()
    if workload.task == "tags":
        return x, y.argmax(-1)
    if workload.task == "mask":
        y = y.squeeze(-1)
    return x, y if workload.task == "class" else y.to(torch.float32)


@torch.inference_mode()
def correct(logits, y, task):
    """How many rows are predicted right, by the row after axes of networks; of tags and masks the
    share of each row that is, of numbers 1 less the mean squared error."""
    if task == "class":
        return (logits.argmax(-1) == y).sum(-1)
    if task == "tags":
        return (logits.argmax(-1) == y).float().mean(-1).sum(-1)
    if task == "mask":
        return ((logits.squeeze(-3) > 0) == (y > 0.5)).float().mean((-2, -1)).sum(-1)
    if task == "numbers":
        return (1 - (logits - y).square().mean(-1)).sum(-1)
    return ((logits.squeeze(-1) > 0) == (y > 0.5)).sum(-1)


class Stack:
    """K networks of one shape, trained together: every parameter has a leading axis of K, and the
    optimizer works on one matrix [K, parameters] with a rate for each row."""

    def __init__(self, workload, layers, configs):
        self.task = workload.task
        self.rates = torch.tensor([[c.rate] for c in configs])
        self.momentum = torch.tensor([[c.momentum] for c in configs])
        self.adam = configs[0].optimizer == "adam"
        self.model = module(layers, workload.shape, stacked=True)
        self.dense = not isinstance(layers, Network) and all(layer[0] == "dense" for layer in layers)
        self.activations = [layer[2] for layer in layers] if self.dense else []
        names = [name for name, _ in self.model.named_parameters()]
        shapes = {}
        rows = []
        for _ in configs:
            fresh = module(layers, workload.shape, stacked=True)
            values = dict(fresh.named_parameters())
            if self.dense:  # [in, out] for baddbmm
                values = {n: v.detach().t() if v.dim() == 2 else v.detach() for n, v in values.items()}
            shapes = {n: v.shape for n, v in values.items()}
            rows.append(torch.cat([values[n].detach().reshape(-1) for n in names]))
        self.flat = torch.stack(rows)
        self.slots = [torch.zeros_like(self.flat) for _ in range(2 if self.adam else 1)]
        self.params = {}
        at = 0
        for name in names:
            size = shapes[name].numel()
            view = self.flat[:, at:at + size].unflatten(1, shapes[name])
            self.params[name] = view.detach().requires_grad_()
            at += size
        self.steps = 0
        self.loss = self.dense_loss if self.dense else self.mapped_loss

    def dense_logits(self, params, x):
        values = list(params.values())
        x = x.unsqueeze(0).expand(len(self.rates), -1, -1)
        for i, activation in enumerate(self.activations):
            x = torch.baddbmm(values[2 * i + 1].unsqueeze(1), x, values[2 * i])
            if activation == "relu":
                x = functional.relu(x)
        return x

    def dense_loss(self, params, x, y):
        logits = self.dense_logits(params, x)
        k = len(self.rates)
        if self.task == "class":
            losses = functional.cross_entropy(logits.flatten(0, 1), y.repeat(k), reduction="none")
        elif self.task == "numbers":
            return functional.mse_loss(logits, y.expand(k, -1, -1)) * k
        else:
            losses = functional.binary_cross_entropy_with_logits(
                logits.squeeze(2), y.expand(k, -1), reduction="none")
        return losses.view(k, -1).mean(1).sum()

    def mapped_loss(self, params, x, y):
        def one(values, x, y):
            return loss_of(torch.func.functional_call(self.model, values, (x,)), y, self.task)

        return torch.func.vmap(one, in_dims=(0, None, None), randomness="different")(params, x, y).sum()

    def step(self, x, y, loss, autocast):
        with autocast:
            total = loss(self.params, x, y)
        gradients = torch.autograd.grad(total, list(self.params.values()))
        with torch.no_grad():
            self.update(torch.cat([g.flatten(1) for g in gradients], 1))
        return total.detach()

    def update(self, g):
        self.steps += 1
        if not self.adam:
            velocity, = self.slots
            velocity.mul_(self.momentum).add_(g)
            self.flat.addcmul_(velocity, self.rates, value=-1)
            return
        mean, square = self.slots
        mean.lerp_(g, 0.1)
        square.mul_(0.999).addcmul_(g, g, value=0.001)
        correction = math.sqrt(1 - 0.999 ** self.steps) / (1 - 0.9 ** self.steps)
        # As Keras: epsilon is added to the uncorrected root.
        self.flat.addcdiv_(mean * (self.rates * -correction), square.sqrt().add_(ADAM_EPSILON))

    @torch.inference_mode()
    def accuracy(self, x, y):
        self.model.eval()
        params = {name: value.detach() for name, value in self.params.items()}
        if self.dense:
            logits = self.dense_logits(params, x)
        else:
            def one(values):
                return torch.func.functional_call(self.model, values, (x,))

            logits = torch.func.vmap(one)(params)
        self.model.train()
        return (correct(logits, y, self.task) / len(y)).tolist()
