"""A progress bar, and lines of text, from what the server says while it works."""

from __future__ import annotations

import re
import sys
import threading
import warnings
from typing import Any, Optional

from ._drivers import Notice


class HopperWarning(UserWarning):
    """A WARNING of the server, such as a configuration that failed."""


def outside() -> int:
    """The stacklevel, for a warning that our caller gives, of the code that uses this package and its drivers."""
    level = 1
    inner = ("model_hopper", "contextlib", "psycopg", "psycopg2")
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in inner:
        frame, level = frame.f_back, level + 1
    return level


_START = re.compile(r'\S+ "(?P<name>.*)": (?P<models>[\d,]+) configurations? .*?'
                    r"(?P<iterations>[\d,]+) iterations? over ")
_STEP = re.compile(r'\S+ "(?P<name>.*)": (?P<done>[\d,]+) of (?P<total>[\d,]+) iterations?\b(?P<rest>.*)')
_BEST = re.compile(r"best configuration (?P<key>\d+),? (?P<metric>.*?) (?P<value>-?[\d.]+(?:e[-+]?\d+)?)\b")
_LEFT = re.compile(r"about .*? left\b")
_END = re.compile(r'\S+ "(?P<name>.*)" finished\b')


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _new_bar(total: int, title: str) -> Any:
    """tqdm's bar, or None without tqdm."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # in a notebook without ipywidgets tqdm warns, and goes on with text
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, desc=title, unit="iteration",
                bar_format="{desc}: {percentage:3.0f}%|{bar}| {n_fmt} of {total_fmt} iterations"
                           " [{elapsed}{postfix}]")


class Progress:
    """Hears the notices of one statement; a context manager that ends the bar."""

    def __init__(self, show: bool = True) -> None:
        self.show = show
        self._bar: Any = None
        self._ready = False
        self._error: Optional[Warning] = None
        self._ended = threading.Event()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *exception: Any) -> None:
        self._ended.set()
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        if self._error is not None and exception[0] is None:
            raise self._error

    def _say(self, text: str) -> None:
        if not self.show:
            return
        if self._bar is not None:
            self._bar.write(text, file=sys.stdout)
        else:
            print(text, flush=True)

    def _start(self, total: int, name: str) -> bool:
        if self.show and not self._ready:
            self._ready = True
            self._bar = _new_bar(total, name)
            if self._bar is not None:
                threading.Thread(target=self._tick, args=(self._bar,), daemon=True).start()
        return self._bar is not None

    def _tick(self, bar: Any) -> None:
        """The bar's clock goes on where the server says nothing, as it does the longer the run."""
        while not self._ended.wait(1):
            bar.refresh()

    def _step(self, done: int, text: str) -> None:
        best, left = _BEST.search(text), _LEFT.search(text)
        words = [left[0]] if left else []
        if best is not None:
            words.append(f"best: {best['key']}, {best['metric']} {best['value']}")
        self._bar.set_postfix_str("; ".join(words), refresh=False)
        self._bar.update(done - self._bar.n)
        self._bar.refresh()

    def __call__(self, notice: Notice) -> None:
        """Takes a notice."""
        text = str(notice).partition(":  ")[2]  # with its DETAIL and HINT
        if notice.severity == "WARNING":
            try:
                warnings.warn(text, HopperWarning, stacklevel=outside())
            except HopperWarning as error:  # a filter asks for errors, which the drivers would not pass on
                self._error = error
            return
        message = notice.message
        step, start = _STEP.match(message), _START.match(message)
        if step and self._start(_number(step["total"]), step["name"]):
            self._step(_number(step["done"]), step["rest"])
        elif start and self._start(_number(start["models"]) * _number(start["iterations"]), start["name"]):
            pass
        else:
            if _END.match(message) and self._bar is not None:
                self._step(self._bar.total, message)
            self._say(text)
