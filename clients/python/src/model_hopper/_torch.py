"""torch.nn.Sequential as a Keras architecture with weights, and back.

PyTorch has channels first, Keras and the packed tables have them last. A model takes pictures in the order of
its library; the weights are transposed on the way, also those of the first layer after a Flatten.
"""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from ._keras import complete, split_weights

# Activations without arguments that matter: PyTorch's class, Keras' name.
_ACTIVATIONS = {
    "ReLU": "relu", "ReLU6": "relu6", "SELU": "selu", "SiLU": "silu", "Mish": "mish", "Sigmoid": "sigmoid",
    "Tanh": "tanh", "Softsign": "softsign", "Hardswish": "hard_silu", "Hardsigmoid": "hard_sigmoid",
    "LogSigmoid": "log_sigmoid", "Tanhshrink": "tanh_shrink",
}
_TORCH_CLASS = {**{name: torch for torch, name in _ACTIVATIONS.items()}, "swish": "SiLU", "hard_swish": "Hardswish"}
# Activations with arguments, which must be as Keras' function has them.
_FIXED: Dict[str, Tuple[str, Dict[str, Any]]] = {
    "ELU": ("elu", {"alpha": 1.0}), "CELU": ("celu", {"alpha": 1.0}), "Softplus": ("softplus", {"beta": 1}),
    "Hardtanh": ("hard_tanh", {"min_val": -1.0, "max_val": 1.0}), "Hardshrink": ("hard_shrink", {"lambd": 0.5}),
    "Softshrink": ("soft_shrink", {"lambd": 0.5}), "LeakyReLU": ("leaky_relu", {"negative_slope": 0.2}),
}


def _pair(value: Any) -> Tuple[int, int]:
    return (value, value) if isinstance(value, int) else (int(value[0]), int(value[1]))


def _array(tensor: Any) -> Any:
    return np.array(np.from_dlpack(tensor.detach().cpu().contiguous()), "<f4")


def _modules(module: Any, prefix: str = "") -> Iterator[Tuple[str, Any]]:
    for name, child in module.named_children():
        if type(child).__name__ == "Sequential":
            yield from _modules(child, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", child


class _Writer:
    """Keras layers and weights of one model, as its modules come."""

    def __init__(self, shape: Tuple[int, ...]) -> None:
        self.shape = shape  # of one example, in PyTorch's order
        self.layers: List[Dict[str, Any]] = []
        self.weights: List[Any] = []
        self.flattened: Optional[Tuple[int, ...]] = None  # channels, height, width before Flatten
        keras_shape = [*shape[1:], shape[0]] if len(shape) == 3 else list(shape)
        self.layer("InputLayer", batch_shape=[None, *keras_shape])

    def layer(self, class_name: str, **config: Any) -> None:
        self.layers.append({"module": "keras.layers", "class_name": class_name, "registered_name": None,
                            "config": {"name": f"layer_{len(self.layers)}", **config}})

    def order(self, values: Any) -> Any:
        """Along the last axis from channels first to channels last, where this axis is a flattened picture."""
        if self.flattened is None:
            return values
        lead = values.shape[:-1]
        values = values.reshape(*lead, *self.flattened)
        return np.moveaxis(values, len(lead), -1).reshape(*lead, -1)

    def add(self, name: str, module: Any) -> None:
        kind = type(module).__name__
        method = getattr(self, f"_{kind.lower()}", None)
        if kind in _ACTIVATIONS:
            self.layer("Activation", activation=_ACTIVATIONS[kind])
        elif kind == "ELU":
            self.layer("ELU", alpha=float(module.alpha))
        elif kind == "LeakyReLU":
            self.layer("LeakyReLU", negative_slope=float(module.negative_slope))
        elif kind in _FIXED:
            function, wanted = _FIXED[kind]
            for argument, value in wanted.items():
                self.demand(getattr(module, argument) == value, name, module, f"{argument} must be {value}")
            self.layer("Activation", activation=function)
        elif kind == "Identity":
            pass
        elif method is not None:
            method(name, module)
        else:
            raise TypeError(f'layer "{name}", {module}, has no counterpart: replace it by Linear, Conv2d, BatchNorm1d,'
                            " BatchNorm2d, MaxPool2d, AvgPool2d, AdaptiveAvgPool2d(1), Flatten, Dropout or activations")

    @staticmethod
    def demand(condition: bool, name: str, module: Any, what: str) -> None:
        if not condition:
            raise ValueError(f'layer "{name}", {module}, has no counterpart: {what}')

    def _linear(self, name: str, module: Any) -> None:
        self.demand(len(self.shape) != 3, name, module, "on pictures it works along their width: put Flatten before it")
        self.demand(self.shape[-1] == module.in_features, name, module, f"its input has {self.shape[-1]} features")
        self.layer("Dense", units=module.out_features, use_bias=module.bias is not None)
        self.weights.append(self.order(_array(module.weight)).T)
        if module.bias is not None:
            self.weights.append(_array(module.bias))
        self.shape = (*self.shape[:-1], module.out_features)
        self.flattened = None

    def _conv2d(self, name: str, module: Any) -> None:
        self.demand(len(self.shape) == 3, name, module,
                    "its input is no picture: give input_shape=(channels, height, width)")
        self.demand(module.padding_mode == "zeros", name, module, "padding_mode must be 'zeros'")
        kernel, stride, dilation = _pair(module.kernel_size), _pair(module.stride), _pair(module.dilation)
        spans = [dilation[axis] * (kernel[axis] - 1) for axis in (0, 1)]
        pads = spans if module.padding == "same" else [0, 0] if module.padding == "valid" else [
            2 * pad for pad in _pair(module.padding)]
        after = [(self.shape[1 + axis] + pads[axis] - spans[axis] - 1) // stride[axis] + 1 for axis in (0, 1)]
        same = pads != [0, 0] and all(
            after[axis] == -(-self.shape[1 + axis] // stride[axis])
            and pads[axis] == max(0, (after[axis] - 1) * stride[axis] + spans[axis] + 1 - self.shape[1 + axis])
            for axis in (0, 1))
        self.demand(pads == [0, 0] or same, name, module, "padding must be 0, or that of Keras' 'same'")
        self.layer("Conv2D", filters=module.out_channels, kernel_size=list(kernel), strides=list(stride),
                   padding="same" if same else "valid", dilation_rate=list(dilation), groups=module.groups,
                   use_bias=module.bias is not None)
        self.weights.append(_array(module.weight).transpose(2, 3, 1, 0))
        if module.bias is not None:
            self.weights.append(_array(module.bias))
        self.shape = (module.out_channels, after[0], after[1])

    def _normalization(self, name: str, module: Any) -> None:
        self.demand(module.track_running_stats, name, module, "track_running_stats must be True")
        self.demand(module.momentum is not None, name, module, "momentum must be a number")
        self.layer("BatchNormalization", momentum=1 - module.momentum, epsilon=module.eps, center=module.affine,
                   scale=module.affine)
        parts = [module.weight, module.bias] if module.affine else []
        for part in (*parts, module.running_mean, module.running_var):
            self.weights.append(self.order(_array(part)))

    def _batchnorm1d(self, name: str, module: Any) -> None:
        self.demand(len(self.shape) == 1, name, module, "its input must be a vector")
        self._normalization(name, module)

    def _batchnorm2d(self, name: str, module: Any) -> None:
        self._normalization(name, module)

    def _pool(self, name: str, module: Any, class_name: str) -> None:
        size, stride = _pair(module.kernel_size), _pair(module.stride)
        self.demand(_pair(module.padding) == (0, 0), name, module, "padding must be 0")
        self.demand(not module.ceil_mode, name, module, "ceil_mode must be False")
        self.demand(_pair(getattr(module, "dilation", 1)) == (1, 1), name, module, "dilation must be 1")
        self.layer(class_name, pool_size=list(size), strides=list(stride), padding="valid")
        self.shape = (self.shape[0], *((self.shape[1 + axis] - size[axis]) // stride[axis] + 1 for axis in (0, 1)))

    def _maxpool2d(self, name: str, module: Any) -> None:
        self._pool(name, module, "MaxPooling2D")

    def _avgpool2d(self, name: str, module: Any) -> None:
        self._pool(name, module, "AveragePooling2D")

    def _global(self, name: str, module: Any, class_name: str) -> None:
        self.demand(module.output_size in (1, (1, 1)), name, module, "output_size must be 1")
        self.layer(class_name, keepdims=True)
        self.shape = (self.shape[0], 1, 1)

    def _adaptiveavgpool2d(self, name: str, module: Any) -> None:
        self._global(name, module, "GlobalAveragePooling2D")

    def _adaptivemaxpool2d(self, name: str, module: Any) -> None:
        self._global(name, module, "GlobalMaxPooling2D")

    def _flatten(self, name: str, module: Any) -> None:
        self.demand((module.start_dim, module.end_dim) == (1, -1), name, module, "it must flatten all axes but the first")
        self.layer("Flatten")
        self.flattened = self.shape if len(self.shape) == 3 else None
        self.shape = (int(np.prod(self.shape)),)

    def _dropout(self, name: str, module: Any) -> None:
        self.layer("Dropout", rate=float(module.p))

    def _softmax(self, name: str, module: Any) -> None:
        self.demand(module.dim in (1, -1) and (len(self.shape) == 1 or module.dim == 1), name, module,
                    "dim must be that of the features or channels")
        self.layer("Activation", activation="softmax")

    def _logsoftmax(self, name: str, module: Any) -> None:
        self.demand(module.dim in (1, -1) and len(self.shape) == 1, name, module, "dim must be that of the features")
        self.layer("Activation", activation="log_softmax")

    def _gelu(self, name: str, module: Any) -> None:
        approximate = getattr(module, "approximate", "none") != "none"
        self.layer("Activation", activation="gelu_approximate" if approximate else "gelu")


def from_torch(model: Any, input_shape: Optional[Sequence[int]]) -> Tuple[Dict[str, Any], List[Any]]:
    """Architecture and weights, as Keras has them, of a torch.nn.Sequential."""
    if type(model).__name__ != "Sequential":
        raise TypeError(f"{type(model).__name__} cannot be read: give a torch.nn.Sequential, whose layers say all"
                        " that it does")
    modules = list(_modules(model))
    if input_shape is None:
        if not modules or type(modules[0][1]).__name__ != "Linear":
            raise ValueError("give input_shape: (channels, height, width) for pictures, (8, 8) or such for what is"
                             " flattened first")
        input_shape = (modules[0][1].in_features,)
    writer = _Writer(tuple(int(extent) for extent in input_shape))
    for name, module in modules:
        writer.add(name, module)
    if writer.flattened is not None:
        raise ValueError("the model ends with a flattened picture, whose order differs: put a Linear layer after it")
    architecture = {"module": "keras", "class_name": "Sequential", "registered_name": None,
                    "config": {"name": "sequential", "layers": writer.layers}}
    return architecture, writer.weights


# ---------------------------------------------------------------- back

class _Reader:
    """Modules of PyTorch of one model, as its Keras layers come."""

    def __init__(self, values: Optional[bytes]) -> None:
        from torch import nn

        self.nn = nn
        self.modules: List[Any] = []
        self.shape: Tuple[int, ...] = ()  # of one example, in Keras' order
        self.flattened: Optional[Tuple[int, ...]] = None  # height, width, channels before Flatten
        self.kept: List[Tuple[Any, Any]] = []  # a tensor and how its value comes from those stored
        self.shapes: List[Tuple[int, ...]] = []
        self.values = values

    def weight(self, shape: Sequence[int], tensor: Any, turn: Any = lambda value: value) -> None:
        """The next stored weight, of this shape in Keras, belongs into this tensor."""
        self.shapes.append(tuple(shape))
        self.kept.append((tensor, turn))

    def order(self) -> Any:
        """Turns the first axis from channels last to channels first, where it is a flattened picture."""
        flattened = self.flattened
        if flattened is None:
            return lambda value: value
        return lambda value: np.moveaxis(value.reshape(*flattened, *value.shape[1:]), 2, 0).reshape(value.shape)

    def fill(self) -> None:
        import torch

        if self.values is None:
            return
        with torch.no_grad():
            for (tensor, turn), value in zip(self.kept, split_weights(self.values, self.shapes)):
                tensor.copy_(torch.tensor(np.ascontiguousarray(turn(value)).tolist(), dtype=torch.float32)
                             if not hasattr(torch, "from_dlpack") else
                             torch.from_dlpack(np.array(turn(value), order="C")))

    def activation(self, value: Any) -> None:
        if value is None or value == "linear":
            return
        name = value if isinstance(value, str) else value.get("class_name") or value.get("config")
        nn = self.nn
        if name == "softmax":
            self.modules.append(nn.Softmax(dim=1))
        elif name == "log_softmax":
            self.modules.append(nn.LogSoftmax(dim=1))
        elif name in ("gelu", "gelu_approximate"):
            self.modules.append(nn.GELU(approximate="none" if name == "gelu" else "tanh"))
        elif name in _TORCH_CLASS:
            self.modules.append(getattr(nn, _TORCH_CLASS[name])())
        else:
            for torch_class, (function, arguments) in _FIXED.items():
                if function == name:
                    self.modules.append(getattr(nn, torch_class)(**arguments))
                    return
            raise ValueError(f'activation "{name}" has no counterpart in PyTorch')

    def add(self, class_name: str, config: Dict[str, Any]) -> None:
        method = getattr(self, f"_{class_name.lower()}", None)
        if method is None:
            raise ValueError(f'layer "{config.get("name")}" of class {class_name} has no counterpart in torch.nn:'
                             " pull the model with to='keras'")
        method(config)

    def _inputlayer(self, config: Dict[str, Any]) -> None:
        self.shape = tuple(config["batch_shape"][1:])

    def _dense(self, config: Dict[str, Any]) -> None:
        if len(self.shape) == 3:
            raise ValueError(f'layer "{config.get("name")}" of class Dense works on pictures, which PyTorch has otherwise')
        linear = self.nn.Linear(self.shape[-1], config["units"], bias=config.get("use_bias", True))
        order = self.order()
        self.weight((self.shape[-1], config["units"]), linear.weight, lambda value: order(value).T)
        if linear.bias is not None:
            self.weight((config["units"],), linear.bias)
        self.modules.append(linear)
        self.shape, self.flattened = (*self.shape[:-1], config["units"]), None
        self.activation(config.get("activation"))

    def _conv2d(self, config: Dict[str, Any]) -> None:
        nn = self.nn
        kernel, stride = _pair(config["kernel_size"]), _pair(config.get("strides", 1))
        dilation, groups = _pair(config.get("dilation_rate", 1)), config.get("groups", 1)
        height, width, channels = self.shape
        spans = [dilation[axis] * (kernel[axis] - 1) + 1 for axis in (0, 1)]
        after = [height, width]
        if config.get("padding", "valid") == "same":
            after = [-(-after[axis] // stride[axis]) for axis in (0, 1)]
            pads = [max(0, (after[axis] - 1) * stride[axis] + spans[axis] - (height, width)[axis]) for axis in (0, 1)]
            if any(pads):
                self.modules.append(nn.ZeroPad2d((pads[1] // 2, pads[1] - pads[1] // 2,
                                                  pads[0] // 2, pads[0] - pads[0] // 2)))
        else:
            after = [(after[axis] - spans[axis]) // stride[axis] + 1 for axis in (0, 1)]
        convolution = nn.Conv2d(channels, config["filters"], kernel, stride, 0, dilation, groups,
                                bias=config.get("use_bias", True))
        self.weight((*kernel, channels // groups, config["filters"]), convolution.weight,
                    lambda value: value.transpose(3, 2, 0, 1))
        if convolution.bias is not None:
            self.weight((config["filters"],), convolution.bias)
        self.modules.append(convolution)
        self.shape = (after[0], after[1], config["filters"])
        self.activation(config.get("activation"))

    def _batchnormalization(self, config: Dict[str, Any]) -> None:
        nn, size = self.nn, self.shape[-1]
        if len(self.shape) not in (1, 3):
            raise ValueError("BatchNormalization is read for vectors and pictures alone")
        norm = (nn.BatchNorm2d if len(self.shape) == 3 else nn.BatchNorm1d)(
            size, eps=config.get("epsilon", 1e-3), momentum=1 - config.get("momentum", 0.99))
        for name, tensor in (("scale", norm.weight), ("center", norm.bias)):
            if config.get(name, True):
                self.weight((size,), tensor, self.order())
        self.weight((size,), norm.running_mean, self.order())
        self.weight((size,), norm.running_var, self.order())
        self.modules.append(norm)

    def _pool(self, config: Dict[str, Any], pool: Any) -> None:
        size = _pair(config.get("pool_size", 2))
        stride = _pair(config.get("strides") or size)
        if config.get("padding", "valid") == "same" and any(
                self.shape[axis] % stride[axis] or size[axis] > stride[axis] for axis in (0, 1)):
            raise ValueError(f'layer "{config.get("name")}" pads its input as PyTorch does not')
        self.modules.append(pool(size, stride))
        self.shape = (*((self.shape[axis] - size[axis]) // stride[axis] + 1 for axis in (0, 1)), self.shape[2])

    def _maxpooling2d(self, config: Dict[str, Any]) -> None:
        self._pool(config, self.nn.MaxPool2d)

    def _averagepooling2d(self, config: Dict[str, Any]) -> None:
        self._pool(config, self.nn.AvgPool2d)

    def _global(self, config: Dict[str, Any], pool: Any) -> None:
        self.modules.append(pool(1))
        if config.get("keepdims"):
            self.shape = (1, 1, self.shape[2])
        else:
            self.modules.append(self.nn.Flatten())
            self.shape = (self.shape[2],)

    def _globalaveragepooling2d(self, config: Dict[str, Any]) -> None:
        self._global(config, self.nn.AdaptiveAvgPool2d)

    def _globalmaxpooling2d(self, config: Dict[str, Any]) -> None:
        self._global(config, self.nn.AdaptiveMaxPool2d)

    def _flatten(self, config: Dict[str, Any]) -> None:
        self.modules.append(self.nn.Flatten())
        self.flattened = self.shape if len(self.shape) == 3 else None
        self.shape = (int(np.prod(self.shape)),)

    def _reshape(self, config: Dict[str, Any]) -> None:
        target = [int(extent) for extent in config["target_shape"]]
        if -1 in target:
            target[target.index(-1)] = int(np.prod(self.shape)) // -int(np.prod(target))
        if tuple(target) == self.shape:
            return
        if len(self.shape) == 2 and target == [*self.shape, 1]:  # a channel for pictures without
            self.modules.append(self.nn.Unflatten(1, (1, self.shape[0])))
        elif len(target) == 1 and len(self.shape) < 3:
            self.modules.append(self.nn.Flatten())
        else:
            raise ValueError(f'layer "{config.get("name")}" of class Reshape has no counterpart in torch.nn:'
                             " pull the model with to='keras'")
        self.shape = tuple(target)

    def _dropout(self, config: Dict[str, Any]) -> None:
        self.modules.append(self.nn.Dropout(config["rate"]))

    def _activation(self, config: Dict[str, Any]) -> None:
        self.activation(config["activation"])

    def _softmax(self, config: Dict[str, Any]) -> None:
        self.activation("softmax")

    def _relu(self, config: Dict[str, Any]) -> None:
        if config.get("threshold"):
            raise ValueError("ReLU with a threshold has no counterpart in torch.nn")
        slope = config.get("negative_slope") or 0
        most = config.get("max_value")
        if most is not None and (slope or most != 6):
            raise ValueError(f"ReLU with max_value={most} and negative_slope={slope} has no counterpart in torch.nn")
        self.modules.append(self.nn.LeakyReLU(slope) if slope else self.nn.ReLU6() if most else self.nn.ReLU())

    def _leakyrelu(self, config: Dict[str, Any]) -> None:
        self.modules.append(self.nn.LeakyReLU(config.get("negative_slope", 0.3)))

    def _elu(self, config: Dict[str, Any]) -> None:
        self.modules.append(self.nn.ELU(config.get("alpha", 1.0)))


def to_torch(architecture: Any, weights: Optional[bytes], input_shape: Optional[Sequence[int]]) -> Any:
    """A torch.nn.Sequential with its weights, in evaluation mode; it takes pictures with channels first."""
    model = complete(json.loads(architecture) if isinstance(architecture, str) else architecture, input_shape)
    if model["class_name"] != "Sequential":
        raise ValueError(f"a model of class {model['class_name']} is no torch.nn.Sequential: pull it with to='keras', or"
                         " write it with save_model() into two files, net.py, whose class Model is a module of PyTorch,"
                         " and net.safetensors, its weights")
    reader = _Reader(weights)
    for layer in model["config"]["layers"]:
        reader.add(layer["class_name"], layer["config"])
    if reader.flattened is not None:
        raise ValueError("the model ends with a flattened picture: pull it with to='keras'")
    reader.fill()
    return reader.nn.Sequential(*reader.modules).eval()
