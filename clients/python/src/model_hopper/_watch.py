"""A run as it goes: one figure of its learning curves that is drawn anew while it trains."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from ._figures import curves_figure, new_figure

if TYPE_CHECKING:
    from ._runs import Run

SPLITS = ("validation", "training")
GOING_ON = ("waiting", "running")
AT_INTERRUPTS = ("leave", "pause", "cancel")


def _words(run: "Run", state: str) -> str:
    """How far it is, in a line."""
    info, now = run.info, run.progress()
    words = [f"run {run.id}: {info['model_table']}, {state}"]
    if now is not None:
        words.append(f"{now['iterations']} of {now['iterations_total']} iterations")
        if now["best_value"] is not None:
            words.append(f"best {now['best_value']:.4g} of {now['best_trial']}")
        if now["seconds_left"] is not None:
            words.append(f"about {now['seconds_left']:.0f} s left")
    elif info["best_value"] is not None:
        words.append(f"best {info['best_metric']} {info['best_value']:.4g} of {info['best_trial']}")
    if info["error"]:
        words.append(str(info["error"]))
    return ", ".join(words)


def live_figure(run: "Run", metric: Optional[str], n: int) -> Any:
    """The curves of the n best trials as far as checkpoints go, under a line on how far the run is."""
    state = run.state
    curves: List[Dict[str, Any]] = run.curves()
    board = run.board(n)
    found = {row["split"] for row in curves}
    if curves and board:
        figure = curves_figure(board, curves, metric, [split for split in SPLITS if split in found])
    else:
        figure = new_figure(9, 5)
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no checkpoint yet", ha="center", transform=axes.transAxes)
    figure.axes[0].set_title(_words(run, state), fontsize="medium")
    return figure


class _Screen:
    """Where a figure is shown: in a notebook in one place, elsewhere as lines of text."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._notebook = False
        if "IPython" in sys.modules:
            from IPython import get_ipython

            self._notebook = getattr(get_ipython(), "kernel", None) is not None

    def show(self, run: "Run", metric: Optional[str], n: int) -> None:
        """Draws it, in place of what it has drawn before."""
        if not self._notebook:
            print(_words(run, run.state), flush=True)
            return
        from IPython.display import display

        figure = live_figure(run, metric, n)
        if self._handle is None:
            self._handle = display(figure, display_id=True)
        else:
            self._handle.update(figure)


def watch(run: "Run", metric: Optional[str], n: int, every: float, seconds: Optional[float], interrupt: str) -> str:
    """What Run.watch() does."""
    if interrupt not in AT_INTERRUPTS:
        raise ValueError(f"interrupt is {interrupt!r}, but one of {', '.join(map(repr, AT_INTERRUPTS))} is expected")
    screen = _Screen()
    end = None if seconds is None else time.monotonic() + seconds
    try:
        while True:
            screen.show(run, metric, n)
            left = every if end is None else min(every, end - time.monotonic())
            if left <= 0:
                return run.state
            state = run.wait(left)
            if state not in GOING_ON:
                screen.show(run, metric, n)
                return state
    except KeyboardInterrupt:
        if interrupt == "leave":
            return run.state
        getattr(run, interrupt)()
        state = run.wait()
        screen.show(run, metric, n)
        return state
