"""The figures: what is drawn, looked up in matplotlib's own objects."""

import base64
import os
import pathlib

import pytest

from conftest import DATABASE, LONG, SOURCE
from model_hopper._figures import parallel_figure


def test_curves(one):
    figure = one.plot_curves("models")
    axes, = figure.axes
    assert len(axes.lines) == 4  # two models, validation and training
    figure.draw_without_rendering()
    assert axes.get_position().width > 0.85  # of the figure
    assert {line.get_linestyle() for line in axes.lines} == {"-", "--"}
    for line in axes.lines:
        assert list(line.get_xdata()) == [1, 2, 3] or list(line.get_xdata()) == [3]
    legend, = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert sorted(label.partition(":")[2] for label in labels) == [" learning_rate 0.001", " learning_rate 0.01"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["validation", "training"]
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
    assert [text.get_text() for text in axes.get_xticklabels()] == ["learning_rate", "validation accuracy\nup is better"]
    lines = [line for line in axes.lines if line.get_marker() == "o"]
    assert len(lines) == 2
    assert lines[-1].get_linewidth() > lines[0].get_linewidth()  # the best, on top
    assert list(lines[-1].get_ydata())[-1] == 1
    assert "best: " in axes.get_title()
    with pytest.raises(KeyError):
        one.plot_parallel("models", "no_such_column")
    one.fit_multiple_model("packed", "unvalidated", "configs", 1)
    axes, = one.plot_parallel("unvalidated").axes
    assert [text.get_text() for text in axes.get_xticklabels()] == [
        "learning_rate", "training accuracy\nup is better"]
    folder = pathlib.Path(SOURCE, "build", "python")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "parallel.png")
    one.plot_curves("models").savefig(folder / "curves.png")


def test_overfitting_and_cost(one):
    board = one.leaderboard("models")
    axes, = one.plot_overfit("models").axes
    points = {line.get_label(): (line.get_xdata()[0], line.get_ydata()[0], line.get_marker()) for line in axes.lines if line.get_label()[0] != "_"}
    for row in board.itertuples():
        assert points[str(row.mst_key)] == (row.overfit_gap, row.validation_metric, "s" if row.rank == 1 else "o")
    assert axes.get_ylabel() == "validation accuracy, up is better"
    axes, = one.plot_cost("models").axes
    assert sorted(line.get_xdata()[0] for line in axes.lines) == sorted(board.seconds)
    one.fit_multiple_model("packed", "unvalidated", "configs", 1)
    with pytest.raises(ValueError, match='no model has values of "overfit_gap"'):
        one.plot_overfit("unvalidated")
    assert one.plot_cost("unvalidated").axes[0].get_ylabel() == "training accuracy, up is better"


def test_visits(one):
    axes, = one.plot_gantt("models").axes
    spans = [box for bars in axes.collections for box in bars.get_paths()]
    assert len(spans) == len(one.run_timeline("models"))
    assert len(axes.get_yticks()) == len(set(one.run_timeline("models").worker))
    heights = {round(box.get_extents().height, 3) for box in spans}
    assert heights == {0.8, 0.4}  # training, evaluation


def test_importance(one):
    with pytest.raises(Exception, match="models"):
        one.plot_importance("models")  # of a grid
    one.automl("packed", "searched", "architectures", "searched_configs", [1], "{'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],"
               " 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.0001, 0.1, 'log']}]}", "{'batch_size': [16, 64]}",
               automl_method="random", automl_params="{'num_configs': 8, 'num_iterations': 1}", validation_table="packed_validation")
    importances = one.param_importance("searched")
    axes, = one.plot_importance("searched").axes
    assert [bar.get_width() for bar in axes.patches] == [100 * share for share in sorted(importances.importance, reverse=True)]
    one.drop_model("searched")
    one.sql("DROP TABLE searched_configs, searched_configs_summary")


def test_one_bad_model_does_not_press_the_others_together():
    errors = [0.08, 0.09, 0.1, 0.11, 0.12, 0.76]
    board = [{"mst_key": place, "metric": "mae", "learning_rate": 0.1 / (place + 1), "validation_metric": error}
             for place, error in enumerate(errors)]
    axes, = parallel_figure(board, "validation_metric").axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["learning_rate", "validation mae\ndown is better"]
    ends = sorted(list(line.get_ydata())[-1] for line in axes.lines if line.get_marker() == "o")
    assert ends == pytest.approx([0, 0.25, 0.5, 0.75, 1, 1])
    assert "0.12 to 0.76" in {text.get_text() for text in axes.texts}


def pictures(messages):
    """Pictures that are shown: the kind of message, the place that it is shown in, the content."""
    return [(message["msg_type"], message["content"].get("transient", {}).get("display_id"), message["content"]["data"]["image/png"])
            for message in messages if "image/png" in message["content"].get("data", {})]


@pytest.fixture(scope="module")
def kernel(database):
    """Runs code in a kernel as Jupyter starts it, and returns its messages; `heard` gets each as it comes."""
    from jupyter_client.manager import start_new_kernel

    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    manager, client = start_new_kernel(kernel_name="python3", env=environment)

    def run(code, heard=lambda messages: None):
        outputs = []

        def hear(message):
            outputs.append(message)
            heard(outputs)

        reply = client.execute_interactive(code, timeout=300, output_hook=hear)
        assert reply["content"]["status"] == "ok", reply["content"]
        return outputs

    try:
        run(f"import sys\nsys.path.insert(0, {str(SOURCE / 'clients/python/src')!r})\nimport model_hopper\n"
            f"hopper = model_hopper.connect(dbname={DATABASE!r}, progress=False)")
        run.interrupt = manager.interrupt_kernel
        yield run
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_notebook_shows_figures(kernel):
    """Once each, as pictures."""
    for call in ("plot_curves", "plot_gantt"):
        (kind, _, picture), = pictures(kernel(f"hopper.{call}('models')"))
        assert kind != "update_display_data" and base64.b64decode(picture).startswith(b"\x89PNG")


def test_a_notebook_shows_a_run_live_and_its_button_stops_it(kernel):
    """One figure that is drawn anew, as examples/notebook.ipynb has it; the button interrupts the kernel."""
    kernel(f"run = hopper.submit('fit_multiple_model', 'packed', 'live', 'configs', {LONG})")
    stopped = []

    def stop(messages):
        if len({picture for _, _, picture in pictures(messages)}) >= 3 and not stopped:
            stopped.append(True)
            kernel.interrupt()

    messages = kernel("run.watch(every=0.2, interrupt='pause')", stop)
    shown = pictures(messages)
    assert [kind for kind, _, _ in shown] == ["display_data"] + ["update_display_data"] * (len(shown) - 1)
    assert len({place for _, place, _ in shown}) == 1 and shown[0][1]
    assert [message["content"]["data"]["text/plain"] for message in messages if message["msg_type"] == "execute_result"] == ["'paused'"]
    kernel("run.cancel()")
