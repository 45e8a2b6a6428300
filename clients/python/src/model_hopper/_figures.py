"""Learning curves and parallel coordinates with matplotlib."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

Record = Mapping[str, Any]

# Columns of a leaderboard that are results, not choices.
_RESULTS = {
    "rank", "mst_key", "status", "metric", "validation_metric", "training_metric", "overfit_gap", "validation_loss",
    "training_loss", "iterations", "seconds", "parameters", "compile_params", "fit_params", "curve", "best_value",
    "best_iteration", "has_weights",
}


def new_figure(width: float, height: float) -> Any:
    """A figure that a notebook shows once, where it is returned."""
    import matplotlib.pyplot  # noqa: F401  it teaches the notebook to show figures
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def differing(board: Sequence[Record]) -> List[str]:
    """Columns in which the configurations differ, such as learning_rate."""
    found = []
    for name in board[0] if board else ():
        if name not in _RESULTS and not name.startswith("best_") and len({repr(row[name]) for row in board}) > 1:
            found.append(name)
    return found


def _words(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)


def _title(row: Record, names: Sequence[str]) -> str:
    chosen = ", ".join(f"{name} {_words(row[name])}" for name in names if row[name] is not None)
    return f"{row['mst_key']}: {chosen}" if chosen else f"{row['mst_key']}"


def curves_figure(board: Sequence[Record], curves: Sequence[Record], metric: Optional[str],
                  splits: Sequence[str]) -> Any:
    """A line for each configuration of the board, and each split."""
    metrics = list(dict.fromkeys(row["metric"] for row in curves))
    if metric is None:
        metric = next((name for name in metrics if name != "loss"), "loss")
    if metric not in metrics:
        raise ValueError(f'there are no curves of "{metric}", but of {", ".join(metrics) or "nothing"}')
    names = differing(board)
    figure = new_figure(9, 5)
    axes = figure.add_subplot()
    styles = {"validation": "-", "training": "--"}
    for place, row in enumerate(board):
        for split in splits:
            points = sorted((point["iteration"], point["value"]) for point in curves
                            if (point["mst_key"], point["metric"], point["split"]) == (row["mst_key"], metric, split)
                            and point["value"] is not None)
            if points:
                axes.plot([x for x, _ in points], [y for _, y in points], styles.get(split, ":"), color=f"C{place % 10}",
                          marker="." if len(points) < 30 else None,
                          label=_title(row, names) + ("" if len(splits) == 1 else f", {split}"))
    axes.set(xlabel="iteration", ylabel=metric if len(splits) > 1 else f"{splits[0]} {metric}")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5), title="mst_key")
    return figure


def _scale(values: Sequence[Any]) -> Tuple[List[Optional[float]], Dict[float, str]]:
    """Values as heights from 0 to 1, and what stands at which height of their axis."""
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)
               and math.isfinite(value)]
    if len(numbers) == len([value for value in values if value is not None]) and numbers:
        least, most = min(numbers), max(numbers)
        logarithmic = least > 0 and most / least >= 50

        def height(value: float) -> float:
            if most == least:
                return 0.5
            if logarithmic:
                return math.log(value / least) / math.log(most / least)
            return (value - least) / (most - least)

        heights = [None if value is None else height(value) for value in values]
        distinct = sorted(set(numbers))
        shown = distinct if len(distinct) <= 6 else [distinct[0], distinct[-1]]
        return heights, {height(value): f"{value:.4g}" for value in shown}
    kinds = sorted({_words(value) for value in values if value is not None})
    places = {kind: (place / (len(kinds) - 1) if len(kinds) > 1 else 0.5) for place, kind in enumerate(kinds)}
    return ([None if value is None else places[_words(value)] for value in values],
            {height: kind for kind, height in places.items()})


def parallel_figure(board: Sequence[Record], value: str) -> Any:
    """A line for each configuration through its hyperparameters to what came of it."""
    rows = [row for row in board if row[value] is not None]
    if not rows:
        raise ValueError(f'no model has a value of "{value}"')
    names = [*differing(rows), value]
    figure = new_figure(2.2 * max(3, len(names)), 4.5)
    axes = figure.add_subplot()
    columns = []
    for place, name in enumerate(names):
        heights, marks = _scale([row[name] for row in rows])
        columns.append(heights)
        axes.axvline(place, color="0.6", linewidth=0.8)
        for height, text in marks.items():
            axes.annotate(text, (place, height), textcoords="offset points", xytext=(4, 2), fontsize="small")
    from matplotlib import colormaps

    colours = colormaps["viridis"]
    # Worst first, so that the best lies on top; the board is in order of ranks.
    for order in reversed(range(len(rows))):
        points = [(place, heights[order]) for place, heights in enumerate(columns) if heights[order] is not None]
        share = 1 - order / max(1, len(rows) - 1)
        axes.plot(*zip(*points), color=colours(share), linewidth=2.5 if order == 0 else 1, alpha=1 if order == 0 else 0.7,
                  marker="o", markersize=3)
    axes.set_xticks(range(len(names)), names)
    axes.set_yticks([])
    axes.set_ylim(-0.05, 1.08)
    axes.set_xlim(-0.2, len(names) - 0.5)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_title(f"best: mst_key {_title(rows[0], names[:-1])}", fontsize="medium")
    return figure
