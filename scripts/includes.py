"""The #include lines of our C, C++ and CUDA files, and where they lead."""

import functools
import pathlib
import re

SUFFIXES = {".h", ".c", ".cpp", ".cu"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def sources(root):
    """All source files below src/ and include/, sorted."""
    files = [path for folder in ("src", "include") for path in (root / folder).rglob("*")]
    return sorted(path for path in files if path.suffix in SUFFIXES)


@functools.lru_cache(maxsize=None)
def includes(path):
    """(line number, '<' or '"', name) of one file."""
    matches = enumerate(map(INCLUDE.match, path.read_text(encoding="utf-8").splitlines()), 1)
    return [(number, include.group(1), include.group(2)) for number, include in matches if include]


def resolve(root, name):
    """The file of ours that a quoted include names, or None."""
    for folder in ("src", "include"):
        path = root / folder / name
        if path.is_file():
            return path
    return None


def closure(root, path):
    """All own files that `path` includes, itself first; pathlib paths."""
    seen = [path]
    for file in seen:
        for _, kind, name in includes(file):
            target = resolve(root, name) if kind == '"' else None
            if target and target not in seen:
                seen.append(target)
    return seen


def root_folder():
    return pathlib.Path(__file__).resolve().parent.parent
