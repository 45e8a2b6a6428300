"""The figures: what is drawn, looked up in matplotlib's own objects."""

import pathlib

import pytest

from conftest import SOURCE


def test_curves(one):
    figure = one.plot_curves("models")
    axes, = figure.axes
    assert len(axes.lines) == 4  # two models, validation and training
    assert {line.get_linestyle() for line in axes.lines} == {"-", "--"}
    for line in axes.lines:
        assert list(line.get_xdata()) == [1, 2, 3] or list(line.get_xdata()) == [3]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert any("learning_rate 0.01" in label for label in labels)
    assert axes.get_ylabel() == "accuracy"
    curves = one.learning_curves("models")
    key = int(labels[0].partition(":")[0])
    expected = curves[(curves.mst_key == key) & (curves.split == "validation") & (curves.metric == "accuracy")]
    assert list(axes.lines[0].get_ydata()) == list(expected.sort_values("iteration").value)
    assert one.plot_curves("models", "loss", splits=["validation"], n=1).axes[0].get_ylabel() == "validation loss"
    with pytest.raises(ValueError, match='"auc", but of .*accuracy'):
        one.plot_curves("models", "auc")


def test_parallel_coordinates(one):
    figure = one.plot_parallel("models")
    axes, = figure.axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["learning_rate", "validation_metric"]
    lines = [line for line in axes.lines if line.get_marker() == "o"]
    assert len(lines) == 2
    assert lines[-1].get_linewidth() > lines[0].get_linewidth()  # the best, on top
    assert list(lines[-1].get_ydata())[-1] == 1
    assert "best: " in axes.get_title()
    with pytest.raises(KeyError):
        one.plot_parallel("models", "no_such_column")
    one.fit_multiple_model("packed", "unvalidated", "configs", 1)
    axes, = one.plot_parallel("unvalidated").axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["learning_rate", "training_metric"]
    folder = pathlib.Path(SOURCE, "build", "python")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "parallel.png")
    one.plot_curves("models").savefig(folder / "curves.png")
