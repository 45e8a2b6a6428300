"""What a run cost, overfitted and searched, with matplotlib: points of models, bars of parameters, visits of workers."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Sequence, Tuple

from ._figures import Record, differing, new_figure, result_label, title_of


def _labelled_points(axes: Any, points: Sequence[Tuple[float, float, Record]], names: Sequence[str]) -> None:
    """A dot for each model, the best a filled square; the title says which one that is. Points are in order of ranks."""
    for place, (x, y, row) in reversed(list(enumerate(points))):
        axes.plot([x], [y], marker="s" if place == 0 else "o", markersize=9 if place == 0 else 5, color="C0",
                  markerfacecolor="C0" if place == 0 else "none", linestyle="none", label=str(row["mst_key"]))
        if len(points) <= 20:
            axes.annotate(str(row["mst_key"]), (x, y), textcoords="offset points", xytext=(6, 4), fontsize="small")
    axes.set_title(f"best: mst_key {title_of(points[0][2], names)}", fontsize="medium")
    axes.grid(alpha=0.3)


def _finite(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def points_figure(board: Sequence[Record], across: str, label: str) -> Any:
    """A dot for each model of the board: one of its columns against what models are compared by."""
    validated = any(row["validation_metric"] is not None for row in board)
    value = "validation_metric" if validated else "training_metric"
    rows = [row for row in board if _finite(row[across]) and _finite(row[value])]
    if not rows:
        raise ValueError(f'no model has values of "{across}" and "{value}"')
    figure = new_figure(7, 5)
    axes = figure.add_subplot()
    _labelled_points(axes, [(row[across], row[value], row) for row in rows], differing(rows))
    axes.set(xlabel=label, ylabel=result_label(rows, value).replace("\n", ", "))
    return figure


def overfit_figure(board: Sequence[Record]) -> Any:
    """How good each model is on validation data, and how much better on the data that it was trained on."""
    figure = points_figure(board, "overfit_gap", "overfitting: how much better on the training data")
    axes, = figure.axes
    low, high = axes.get_xlim()
    if low < 0 < high:
        axes.axvline(0, color="0.6", linestyle=":", linewidth=1)
    return figure


def cost_figure(board: Sequence[Record]) -> Any:
    """How good each model is, and how many seconds of computing it took."""
    figure = points_figure(board, "seconds", "seconds of computing")
    axes, = figure.axes
    seconds = [line.get_xdata()[0] for line in axes.lines]
    if min(seconds) > 0 and max(seconds) / min(seconds) >= 10:
        axes.set_xscale("log")
    return figure


def importance_figure(importances: Sequence[Record]) -> Any:
    """A bar for each parameter of a search, the most important one on top."""
    rows = sorted(importances, key=lambda row: -row["importance"])
    figure = new_figure(7, 1 + 0.35 * len(rows))
    axes = figure.add_subplot()
    bars = axes.barh([row["parameter"] for row in rows], [100 * row["importance"] for row in rows], color="C0")
    axes.bar_label(bars, fmt="%.0f %%", padding=3, fontsize="small")
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set(xlabel="share of what made good results good, %")
    axes.grid(axis="x", alpha=0.3)
    return figure


def gantt_figure(visits: Sequence[Record]) -> Any:
    """Which worker trained which model when: a row for each worker, a colour for each model, evaluations half as high."""
    if not visits:
        raise ValueError("the run has no timeline")
    origin = min(row["started"] for row in visits)
    places = {(row["segment"] or 0, row["worker"]) for row in visits}
    # The rows that several workers share stand below those of one.
    order = sorted(places, key=lambda place: (place[0], place[1] is None, place[1] or 0))
    lanes = {place: lane for lane, place in enumerate(order)}
    keys = sorted({row["mst_key"] for row in visits})
    figure = new_figure(10, 1.2 + 0.45 * len(order))
    axes = figure.add_subplot()
    for place, key in enumerate(keys):
        for kind, height in (("train", 0.8), ("evaluate", 0.4)):
            bars: Dict[int, List[Tuple[float, float]]] = {}
            for row in visits:
                if row["mst_key"] == key and (row["kind"] == "evaluation") == (kind == "evaluate"):
                    begun = (row["started"] - origin).total_seconds()
                    seconds = row["seconds_read"] + row["seconds_train"] + row["seconds_evaluate"]
                    bars.setdefault(lanes[row["segment"] or 0, row["worker"]], []).append((begun, seconds))
            for lane, spans in bars.items():
                axes.broken_barh(spans, (lane - height / 2, height), facecolor=f"C{place % 10}", edgecolor="white", linewidth=0.3)
    segments = len({segment for segment, _ in order}) > 1
    names = ["several" if worker is None else str(int(worker) + 1) for _, worker in order]
    axes.set_yticks(range(len(order)), [f"{segment}.{name}" if segments else name for (segment, _), name in zip(order, names)])
    axes.invert_yaxis()
    axes.set(xlabel="seconds", ylabel="segment.worker" if segments else "worker")
    axes.grid(axis="x", alpha=0.3)
    if len(keys) <= 20:
        from matplotlib.patches import Patch

        handles = [Patch(color=f"C{place % 10}", label=str(key)) for place, key in enumerate(keys)]
        figure.legend(handles=handles, title="mst_key", fontsize="small", loc="outside lower center", ncols=min(len(keys), 10))
    return figure
