#!/usr/bin/env python3
"""Writes keras_versions.json: the layers of Keras, since which version of the package there is each,
and the arguments that its constructor has, in Keras 3 and 2.

Reads the sources of released packages, which pip downloads; neither Keras nor TensorFlow is
imported. Keras 2.4 and 2.5 were names for what TensorFlow held: layers that TensorFlow 2.3 and 2.4
had, and Keras 2.3 had not, are said to be of 2.4.
"""

import ast
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

RELEASES = ["2.0.9", "2.1.6", "2.2.5", "2.3.1", "2.6.0", "2.7.0", "2.8.0", "2.9.0", "2.10.0",
            "2.11.0", "2.12.0", "2.13.1", "2.14.0", "2.15.0", "3.0.5", "3.1.1", "3.2.1", "3.3.3",
            "3.4.1", "3.5.0", "3.6.0", "3.7.0", "3.8.0", "3.9.0", "3.10.0", "3.11.3", "3.12.4",
            "3.13.2", "3.14.1", "3.15.1"]
ARGUMENTS_OF = ["3.15.1", "2.15.0"]
OF_TENSORFLOW = ["AdditiveAttention", "Attention", "Conv1DTranspose", "InputLayer",
                 "LayerNormalization", "MultiHeadAttention"]


def sources(version, folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder,
                    f"keras=={version}"], check=True)
    package = next(pathlib.Path(folder).glob(f"[Kk]eras-{version}-*.whl"))
    with zipfile.ZipFile(package) as wheel:
        for name in wheel.namelist():
            if name.endswith(".py") and "test" not in name:
                yield name, wheel.read(name).decode()


def exported_names(node):
    """Of a class with @keras_export("keras.layers.Name") or a list of such names."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "keras_export":
            for text in ast.walk(decorator):
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    found = re.fullmatch(r"keras\.layers\.(\w+)", text.value)
                    if found:
                        yield found[1]


def layers(version, folder):
    """name -> arguments, their bases' among them"""
    classes, exported = {}, {}
    for name, text in sources(version, folder):
        if "/layers/" not in name and "/engine/" not in name:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, node)
                for layer in exported_names(node):
                    exported[layer] = node
                if version < "2.6" and name.startswith("keras/layers/"):
                    exported[node.name] = node

    def arguments(node):
        for item in node.body:
            if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                names = [a.arg for a in item.args.args[1:] + item.args.kwonlyargs]
                if item.args.kwarg is None:
                    return names
                return names + [more for more in of_bases(node) if more not in names]
        return of_bases(node)

    def of_bases(node):
        for base in node.bases:
            known = classes.get(getattr(base, "id", getattr(base, "attr", "")))
            if known is not None and known.name != "Layer":
                return arguments(known)
        return []

    return {name: arguments(node) for name, node in exported.items()}


def main():
    found = {}
    for version in RELEASES:
        with tempfile.TemporaryDirectory() as folder:
            for name, arguments in layers(version, folder).items():
                since = "2.4" if name in OF_TENSORFLOW else ".".join(version.split(".")[:2])
                layer = found.setdefault(name, {"since": since, "arguments": []})
                if version in ARGUMENTS_OF:
                    layer["arguments"] += [a for a in arguments if a not in layer["arguments"]]
    found["InputLayer"]["since"] = "2.0"  # it stood elsewhere
    path = pathlib.Path(__file__).with_name("keras_versions.json")
    path.write_text(json.dumps(dict(sorted(found.items())), indent=0) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
