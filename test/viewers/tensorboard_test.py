"""tensorboard_files(): TensorBoard's own readers, and its hparams page, read them."""

import pathlib

import pytest
from conftest import ask, query, serving
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.plugins.hparams import metadata


@pytest.fixture(scope="module")
def folder(connection, tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    for table in ("models", "searched"):
        for path, content in query(connection, "SELECT path, content FROM hopper.tensorboard_files(%s)", table):
            file = folder / table / path
            file.parent.mkdir(parents=True)
            file.write_bytes(bytes(content))
    return folder


def events(folder):
    file, = pathlib.Path(folder).iterdir()
    # The loader checks lengths and checksums, and ends where one is wrong.
    return [Event.FromString(record) for record in RawEventFileLoader(str(file)).Load()]


def test_each_record_is_read(connection, folder):
    assert {file.name for file in (folder / "models").iterdir()} == {"1", "2"}
    found = events(folder / "models" / "1")
    assert found[0].file_version == "brain.Event:2"
    points, = query(connection, "SELECT count(*) FROM hopper.learning_curves('models') WHERE mst_key = 1")[0]
    assert len(found) == 1 + 2 + points


def test_scalars_are_the_learning_curves(connection, folder):
    for key in (1, 2):
        reader = EventAccumulator(str(folder / "models" / str(key)), purge_orphaned_data=False)
        reader.Reload()
        assert set(reader.Tags()["tensors"]) | set(reader.Tags()["scalars"]) >= {"loss", "accuracy", "val_loss", "val_accuracy"}
        for tag, split, metric in (("val_accuracy", "validation", "accuracy"), ("loss", "training", "loss")):
            curve = query(connection, "SELECT iteration, value FROM hopper.learning_curves('models') WHERE mst_key = %s"
                          " AND split = %s AND metric = %s ORDER BY 1", key, split, metric)
            assert [(event.step, event.value) for event in reader.Scalars(tag)] == [(step, pytest.approx(value, rel=1e-6))
                                                                                     for step, value in curve]


def test_parameters_are_those_of_the_configuration(connection, folder):
    starts = [metadata.parse_session_start_info_plugin_data(value.metadata.plugin_data.content)
              for event in events(folder / "searched" / "3") for value in event.summary.value
              if value.tag == metadata.SESSION_START_INFO_TAG]
    given, = query(connection, "SELECT parameters FROM searched_trials WHERE mst_key = 3")[0]
    assert starts[0].hparams["learning_rate"].number_value == pytest.approx(given["lr"])
    assert starts[0].hparams["batch_size"].number_value == given["batch_size"]
    assert starts[0].hparams["optimizer"].string_value == given["optimizer"]


def test_tensorboard_shows_runs_and_parameters(connection, folder):
    with serving("/data/runs", "tensorboard", "--logdir", str(folder), "--load_fast", "false", "--reload_interval", "0") as board:
        runs = ask(board + "/data/runs")
        trials, = query(connection, "SELECT count(*) FROM searched_trials")[0]
        assert len(runs) == 2 + trials and "searched/3" in runs
        tags = ask(board + "/data/plugin/scalars/tags")
        assert set(tags["models/1"]) == {"loss", "accuracy", "val_loss", "val_accuracy"}
        experiment = ask(board + "/data/plugin/hparams/experiment", {"experimentName": ""})
        assert {"learning_rate", "optimizer", "batch_size"} <= {info["name"] for info in experiment["hparamInfos"]}
        assert "val_accuracy" in {info["name"]["tag"] for info in experiment["metricInfos"]}
