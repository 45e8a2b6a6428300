"""Learning curves and parallel coordinates with matplotlib."""

from __future__ import annotations

import functools
import io
import math
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

Record = Mapping[str, Any]

# Columns of a leaderboard that are results, not choices.
_RESULTS = {
    "rank", "mst_key", "status", "metric", "validation_metric", "training_metric", "overfit_gap", "validation_loss",
    "training_loss", "iterations", "seconds", "parameters", "compile_params", "fit_params", "curve", "best_value",
    "best_iteration", "has_weights",
}


@functools.lru_cache(maxsize=None)
def _figure_class() -> Any:
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """A notebook shows it where it is returned, whether or not a backend of matplotlib is loaded."""

        def _repr_png_(self) -> bytes:
            content = io.BytesIO()
            self.savefig(content, format="png")
            return content.getvalue()

    return ShownFigure


def new_figure(width: float, height: float) -> Any:
    """A figure that a notebook shows once, where it is returned."""
    return _figure_class()(figsize=(width, height), layout="constrained")


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


def title_of(row: Record, names: Sequence[str]) -> str:
    """A model's mst_key with what sets it apart."""
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
                          marker="." if len(points) < 30 else None, label=title_of(row, names))
    axes.set(xlabel="iteration", ylabel=metric if len(splits) > 1 else f"{splits[0]} {metric}")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(alpha=0.3)
    _curves_legend(figure, axes, [(split, styles.get(split, ":")) for split in splits])
    return figure


def _curves_legend(figure: Any, axes: Any, splits: Sequence[Tuple[str, str]]) -> None:
    """Below the curves, so that they have the width: each model once, by its colour, and what the strokes mean."""
    from matplotlib.lines import Line2D

    models = {line.get_label(): Line2D([], [], color=line.get_color(), label=line.get_label()) for line in axes.lines}
    longest = max((len(label) for label in models), default=1)
    columns = max(1, min(len(models), 150 // (longest + 8)))
    figure.legend(handles=list(models.values()), title="mst_key", fontsize="small", loc="outside lower center", ncols=columns)
    figure.set_figheight(figure.get_figheight() + 0.19 * max(0, math.ceil(len(models) / columns) - 3))
    if len(splits) > 1:
        axes.legend(handles=[Line2D([], [], color="0.4", linestyle=style, label=split) for split, style in splits],
                    fontsize="small")


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
               for value in values)


def _without_outliers(numbers: Sequence[float]) -> Tuple[float, float]:
    """The range of the numbers but for those that lie beyond Tukey's fences: 1.5 times the quartiles' distance."""
    ordered = sorted(numbers)
    lower, upper = (ordered[round(share * (len(ordered) - 1))] for share in (0.25, 0.75))
    reach = 1.5 * (upper - lower)
    if reach == 0:
        return ordered[0], ordered[-1]
    within = [number for number in ordered if lower - reach <= number <= upper + reach]
    return within[0], within[-1]


def _result_scale(values: Sequence[float]) -> Tuple[List[Optional[float]], Dict[float, str]]:
    """As _scale(), but that a few values far from all others lie at the end of the axis and do not press these together."""
    least, most = _without_outliers(values)
    cut = [min(max(value, least), most) for value in values]
    heights, marks = _scale(cut)
    ends = {0.0: (least, min(values)), 1.0: (most, max(values))}
    for height, (end, furthest) in ends.items():
        if furthest != end and height in marks:
            marks[height] = f"{end:.4g} to {furthest:.4g}"
    return heights, marks


def result_label(rows: Sequence[Record], value: str) -> str:
    """What the last axis shows, and which of its ends is the good one; rows are in order of ranks."""
    split = value.partition("_")[0]
    if value not in ("validation_metric", "training_metric"):
        return value
    best, worst = rows[0][value], rows[-1][value]
    good = "" if best == worst else "\nup is better" if best > worst else "\ndown is better"
    return f"{split} {rows[0].get('metric') or 'metric'}{good}"


def _scale(values: Sequence[Any]) -> Tuple[List[Optional[float]], Dict[float, str]]:
    """Values as heights from 0 to 1, and what stands at which height of their axis."""
    numbers: List[float] = [value for value in values if value is not None]
    if numbers and _are_numbers(numbers):
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
        shown = [row[name] for row in rows]
        heights, marks = (_result_scale if name == value and _are_numbers(shown) else _scale)(shown)
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
    axes.set_xticks(range(len(names)), [*names[:-1], result_label(rows, value)])
    axes.set_yticks([])
    axes.set_ylim(-0.05, 1.08)
    axes.set_xlim(-0.2, len(names) - 0.5)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_title(f"best: mst_key {title_of(rows[0], names[:-1])}", fontsize="medium")
    return figure
