"""kill -9 of a client and of a server process in the middle of each function."""

import os
import pathlib
import signal
import subprocess
import time

import pytest

from conftest import crashes, wait_for_server
from digits import (ADAM, PLAIN, SOURCE, connect, create_database, dense, drop_database, layer, outputs,
                    query, select, sequential, threads, value, wait_until)
from memory_fails_test import CALLS as ALL

pytestmark = pytest.mark.chance
DATABASE = "hopper_kill"
# 1.3 million parameters: 16 MB of state with Adam.
WIDE = sequential(layer("Flatten", "flatten"), dense("hidden", 18000, "relu"),
                  dense("output", 10, "softmax"))
FIT = ("hopper.fit_multiple_model('packed', '{}', 'configs', 1000000, validation_table =>"
       " 'packed_validation', threads => 2{})")
# Calls that do not end before they are killed.
CALLS = {
    "fit_multiple_model": FIT.format("made", ""),
    "fit_together": f"hopper.fit_together(ARRAY[$s$SELECT {FIT.format('made', '')}$s$, $s$SELECT {FIT.format('made_too', '')}$s$])",
    "warm start": FIT.format("trained", ", warm_start => true"),
    "fit": f"hopper.fit('packed', 'made', 'architectures', 2, $c${ADAM}$c$, 'batch_size=16', 1000000)",
    "training_preprocessor": "hopper.training_preprocessor('endless', 'made', 'label', 'pixels')",
    "validation_preprocessor": "hopper.validation_preprocessor('endless', 'made', 'label', 'pixels',"
                               " 'packed')",
    "predict": "hopper.predict('trained', 'endless', 'id', 'pixels', 'made', mst_key => 2)",
    "predict_byom": "hopper.predict_byom('byom', 1, 'endless', 'id', 'pixels', 'made')",
    # The key depends on the row, so that each row calls it.
    "evaluate": "count(e) FROM generate_series(1, 1000000) i,"
                " LATERAL hopper.evaluate('trained', 'packed', mst_key => 1 + 0 * i) e",
    "automl": "hopper.automl('packed', 'made', 'architectures', 'made_configs', 1, $g${'loss':"
              " ['categorical_crossentropy'], 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.01, 0.1]}]}$g$,"
              " $g${'batch_size': [32]}$g$, 'random', 'num_configs=2, num_iterations=1000000')",
    "predict_rows": "count(p) FROM hopper.predict_rows('trained', NULL::endless, mst_key => 2) p",
    "others wait for memory": "hopper.fit_multiple_model('packed', 'made', 'ten_wide', 3, threads => 2)",
}
# Other ways to call those above.
THE_SAME = ["create_predict_function, columns", "fit_multiple_model, replaced", "fit_multiple_model, warm start", "predict_byom, sequences",
            "predict_row, JSON of the best", "predict_row, a record", "predict_row, a record of the best", "predict_row, an object",
            "predict_row, made ready", "predict_row, of the best",
            "training_preprocessor, outputs",
            "training_preprocessor, replaced", "training_preprocessor, sequences"]
# They end by themselves in a moment, so that no client is gone for long while they work; every_function_test.py
# kills their server processes.
SHORT = ["add_trials", "best_config", "build_info", "calibrate", "cancel", "check_configs", "claim_names", "clone_trial", "cnn", "columns_of_name",
         "columns_of_names", "copy_model", "create_predict_function", "create_run", "delete_model", "describe_architecture",
         "describe_features", "describe_model", "describe_space",
         "drop_model", "drop_packed", "drop_run", "enqueue_trial", "ensemble", "expire_runs", "explain_automl", "explain_fit", "explain_row", "feature_importance",
         "fits_at_once", "from_safetensors", "generate_model_configs", "gpu_configuration", "grant_model", "grant_run", "help", "help_function",
         "hyperband_schedule", "integers_in", "integers_out", "keep_best", "layers", "leaderboard", "leakage_suspects",
         "learning_curves", "load_model", "load_model_selection_table", "losses", "metric_ascends", "metrics",
         "mlp", "model_columns", "model_id", "model_ids", "models", "names_like", "optimizers", "param_importance", "params_json", "partial_dependence", "pause", "pin_trial",
         "pred_type_of_double", "pred_type_of_real", "predict_outputs", "predict_packed",
         "predict_row", "predict_value", "progress_slots", "publish", "record_means", "rename_model", "report", "report_packing", "report_run", "report_source", "report_validation",
         "resume", "revoke_model", "revoke_run", "run_closing", "run_timeline", "search_algorithms", "set_iterations", "source_hash", "show_as", "sparkline", "step", "stop_trial", "submit", "tabular", "tensorboard_events",
         "tensorboard_files", "textin", "textout",
         "texts_in", "texts_of_booleans", "texts_of_text", "texts_out", "to_onnx", "to_onnx_arch", "to_pytorch",
         "to_pytorch_arch", "to_safetensors", "transform_rows", "unpin_trial", "version", "wait", "within"]


def test_no_function_is_forgotten():
    assert sorted([*(name for name in CALLS if name in ALL), *THE_SAME, *SHORT]) == sorted(ALL)


def prepare():
    connection = create_database(DATABASE)
    query(connection, "SET client_min_messages = warning")
    query(connection, "SELECT hopper.load_model('architectures', %s)", WIDE)
    select(connection, "configs", [(key, 1 + key % 2, ADAM, "batch_size=32") for key in range(1, 5)])
    select(connection, "ten_wide", [
        (key, 3, f"loss='categorical_crossentropy', optimizer='Adam(lr={key}e-4)'", "batch_size=128")
        for key in range(1, 11)])
    query(connection, "SELECT hopper.fit_multiple_model('packed', 'trained', 'configs', 3)")
    query(connection, "SELECT hopper.load_model('byom', %s, model_weights) FROM trained"
          " WHERE mst_key = 2", PLAIN)
    query(connection, "CREATE VIEW endless AS SELECT id + 10000 * i AS id, label, pixels"
          " FROM digits, generate_series(1, 200000) i")
    return connection


def start(connection, name):
    """A client in the middle of the call, and the process that works for it."""
    size = size_of_files(connection)
    client = subprocess.Popen(
        ["psql", "-X", "-q", "-d", DATABASE, "-c", "SET hopper.notice_interval = 0",
         "-c", "SET hopper.memory_limit = '150MB'", "-c", f"SELECT {CALLS[name]}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "PGAPPNAME": name})
    active = ("SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT %%' AND state = 'active'"
              " AND application_name = %s")
    try:
        wait_until(lambda: query(connection, active, name))
        backend = value(connection, active, name)
        if name == "others wait for memory":
            # What has ended is in its tables, which nobody else sees.
            wait_until(lambda: size_of_files(connection) > size + 10 * 1024 * 1024)
        elif "preprocessor" not in name:
            wait_until(lambda: threads(backend) > 2)
        time.sleep(0.5)
        assert client.poll() is None, f"{name} has ended by itself"
    except BaseException:
        client.kill()
        raise
    return client, backend


def size_of_files(connection):
    own = value(connection, "SELECT oid FROM pg_database WHERE datname = current_database()")
    folder = pathlib.Path(value(connection, "SHOW data_directory")) / "base" / str(own)
    return sum(path.stat().st_size for path in folder.iterdir() if path.exists())


def temporary_files(connection):
    folder = pathlib.Path(value(connection, "SHOW data_directory")) / "base" / "pgsql_tmp"
    return list(folder.rglob("*")) if folder.exists() else []


class TestClient:
    """Nobody waits for the result: the backend ends soon, not with the next line of progress."""

    @pytest.fixture(scope="class")
    def database(self):
        connection = prepare()
        yield connection
        connection.close()
        drop_database(DATABASE)

    @pytest.mark.parametrize("name", CALLS)
    def test_is_killed(self, database, name):
        client, backend = start(database, name)
        client.send_signal(signal.SIGKILL)
        client.wait()
        wait_until(lambda: not pathlib.Path(f"/proc/{backend}").exists(), 20)
        assert outputs(database, "made%") == []
        assert temporary_files(database) == []


class TestServerProcess:
    """The server starts all of its processes anew; nothing is left of what the lost one did."""

    pytestmark = pytest.mark.crash

    @pytest.fixture(scope="class", autouse=True)
    def preloaded(self):
        """So that what runs take of hopper.max_memory is counted for the whole server."""
        def server(command, options=""):
            subprocess.run([SOURCE / "scripts" / "server", command, os.environ["HOPPER_BUILD"]],
                           check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           env={**os.environ, "SERVER_OPTIONS": options})

        server("stop")
        server("start", "-c shared_preload_libraries=model_hopper -c hopper.max_memory=300MB")
        prepare().close()
        yield
        drop_database(DATABASE)
        server("stop")
        server("start")

    @pytest.mark.parametrize("name", [
        "training_preprocessor", "fit_multiple_model", "warm start", "others wait for memory", "predict",
        "evaluate"])
    def test_is_killed(self, name):
        connection = connect(DATABASE)
        trained = query(connection, "SELECT mst_key, state_digest FROM trained_info ORDER BY 1")
        before = crashes()
        client, backend = start(connection, name)
        os.kill(backend, signal.SIGKILL)
        client.wait()
        wait_until(lambda: crashes() > before)
        wait_for_server()
        connection.close()

        connection = connect(DATABASE)
        assert outputs(connection, "made%") == []
        assert temporary_files(connection) == []
        assert query(connection, "SELECT mst_key, state_digest FROM trained_info ORDER BY 1") == trained
        query(connection, "SET client_min_messages = error; SET hopper.memory_limit = '200MB'")
        # Two of the large ones do not fit into hopper.max_memory: nothing of the lost one's is taken.
        configs = "ten_wide" if name == "others wait for memory" else "configs"
        query(connection, f"SELECT hopper.fit_multiple_model('packed', 'made', '{configs}', 1)")
        assert query(connection, "SELECT DISTINCT status FROM made_info") == [("done",)]
        query(connection, "DROP TABLE made, made_info, made_state, made_summary")
        connection.close()
