"""The #include lines of our C, C++ and CUDA files, and where they lead."""

import functools
import pathlib
import re

SUFFIXES = {".h", ".c", ".cpp", ".cu"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CONDITION = re.compile(r"^\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b(.*)")


def sources(root):
    """All source files below src/ and include/, sorted."""
    files = [path for folder in ("src", "include") for path in (root / folder).rglob("*")]
    return sorted(path for path in files if path.suffix in SUFFIXES)


@functools.lru_cache(maxsize=None)
def includes(path):
    """(line number, '<' or '"', name, whether it stands under #ifdef HOPPER_TORCH) of one file."""
    found = []
    conditions = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        condition = CONDITION.match(line)
        if condition:
            kind, rest = condition.groups()
            if kind in ("if", "ifdef", "ifndef"):
                conditions.append("HOPPER_TORCH" in rest and kind != "ifndef" and "!" not in rest)
            elif kind == "endif":
                conditions.pop()
            else:
                conditions[-1] = False
        include = INCLUDE.match(line)
        if include:
            found.append((number, include.group(1), include.group(2), any(conditions)))
    return found


def resolve(root, name):
    """The file of ours that a quoted include names, or None."""
    for folder in ("src", "include"):
        path = root / folder / name
        if path.is_file():
            return path
    return None


def closure(root, path, with_torch=True):
    """All own files that `path` includes, itself first; pathlib paths."""
    seen = [path]
    for file in seen:
        for _, kind, name, torch_only in includes(file):
            target = resolve(root, name) if kind == '"' else None
            if target and target not in seen and (with_torch or not torch_only):
                seen.append(target)
    return seen


def root_folder():
    return pathlib.Path(__file__).resolve().parent.parent
