"""What is mapped into a backend, and who may handle its signals.

A session that only looks up and checks things must stay light: libtorch costs 0.2 s and 110 MB. A
process that forks must not have it at all, and PostgreSQL's signal handlers must run on the main
thread only.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

import psycopg2
import pytest

from digits import wait_until

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ["HOPPER_BUILD"]
DATABASE = "hopper_process_map"

MODEL = json.dumps({
    "class_name": "Sequential",
    "keras_version": "2.4.0",
    "backend": "tensorflow",
    "config": {"name": "small", "layers": [
        {"class_name": "Dense", "config": {
            "name": "hidden", "batch_input_shape": [None, 4], "units": 8, "activation": "relu"}},
        {"class_name": "Dense", "config": {
            "name": "output", "units": 3, "activation": "softmax"}},
    ]},
})
GRID = ("{'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'], "
        "'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.01, 0.001]}]}")


def connect(database=DATABASE):
    connection = psycopg2.connect(dbname=database)
    connection.autocommit = True
    return connection


def query(connection, text, *arguments):
    with connection.cursor() as cursor:
        cursor.execute(text, arguments)
        return cursor.fetchall() if cursor.description else None


def mapped(pid):
    """Names of the libraries in a process."""
    lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {pathlib.Path(line.split(maxsplit=5)[5]).name for line in lines if line.count("/") > 0}


def torch_libraries(pid):
    return {name for name in mapped(pid)
            if name.startswith(("libtorch", "libc10", "libhopper_torch", "libhopper_cuda"))}


def blocked_signals(pid):
    """Per thread: the set of blocked signal numbers."""
    result = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            status = (task / "status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue  # the thread has ended
        mask = int(next(line.split()[1] for line in status.splitlines()
                        if line.startswith("SigBlk:")), 16)
        result[int(task.name)] = {number for number in range(1, 65) if mask >> (number - 1) & 1}
    return result


# Nobody can block these two.
BLOCKABLE = set(range(1, 32)) - {signal.SIGKILL, signal.SIGSTOP}
HANDLED = {signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1}


def server(command, options="", **environment):
    subprocess.run([SOURCE / "scripts" / "server", command, BUILD], check=True, timeout=120,
                   stdin=subprocess.DEVNULL, env={**os.environ, "SERVER_OPTIONS": options, **environment})


@pytest.fixture(scope="module", autouse=True)
def database():
    connection = connect("postgres")
    query(connection, f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    query(connection, f"CREATE DATABASE {DATABASE}")
    connection.close()
    yield
    connection = connect("postgres")
    query(connection, f"DROP DATABASE {DATABASE} WITH (FORCE)")
    connection.close()


@pytest.fixture
def session():
    connection = connect()
    query(connection, "DROP EXTENSION IF EXISTS model_hopper CASCADE")
    query(connection, "DROP TABLE IF EXISTS models, mst, mst_summary")
    query(connection, "CREATE EXTENSION model_hopper")
    yield connection
    connection.close()


def backend(connection):
    return query(connection, "SELECT pg_backend_pid()")[0][0]


def test_looking_up_and_checking_loads_no_libtorch(session):
    pid = backend(session)
    assert torch_libraries(pid) == set()
    assert "model_hopper" in query(session, "SELECT hopper.version()")[0][0]
    assert query(session, "SELECT hopper.load_model('models', %s)", MODEL) == [(1,)]
    assert query(session, "SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1], %s, %s)",
                 GRID, "{'batch_size': [16, 32]}") == [(4,)]
    assert query(session, "SELECT * FROM hopper.check_configs('mst')") == []
    assert len(query(session, "SELECT * FROM hopper.layers()")) > 10
    assert query(session, "SELECT count(*) FROM hopper.describe_model('models', 1)") == [(3,)]
    with pytest.raises(psycopg2.errors.UndefinedTable):
        query(session, "SELECT hopper.delete_model('modls', 1)")
    query(session, "SELECT hopper.delete_model('models', 1)")
    libraries = mapped(pid)
    assert "model_hopper.so" in libraries and "libhopper_core.so" in libraries
    assert torch_libraries(pid) == set()


def test_build_info_loads_libtorch_and_leaves_signals_to_the_main_thread(session):
    pid = backend(session)
    assert torch_libraries(pid) == set()
    assert len(query(session, "SELECT * FROM hopper.build_info()")) > 0
    assert {"libhopper_torch.so", "libtorch_cpu.so"} <= torch_libraries(pid)
    check_signals(pid)


def check_signals(pid):
    """Asserts and returns the number of threads."""
    masks = blocked_signals(pid)
    main = masks.pop(pid)
    assert not main & HANDLED, "the main thread must hear the server's signals"
    for thread, blocked in masks.items():
        assert BLOCKABLE <= blocked, f"thread {thread} hears {sorted(BLOCKABLE - blocked)}"
    return len(masks) + 1


def test_training_threads_hear_no_signals(session):
    query(session, "CREATE TABLE flowers AS SELECT i AS id,"
                   " ARRAY[i %% 7, i %% 5, i %% 3, 1]::real[] AS x, i %% 3 AS y"
                   " FROM generate_series(1, 20000) AS i")
    query(session, "SELECT hopper.load_model('models', %s)", MODEL)
    query(session, "SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1], %s, %s)",
          GRID, "{'batch_size': [16, 32]}")
    query(session, "SELECT hopper.training_preprocessor('flowers', 'packed', 'y', 'x')")
    pid = backend(session)
    failures = []

    def train():
        try:
            query(session, "SELECT hopper.fit_multiple_model('packed', 'trained', 'mst', 100000,"
                           " threads => 2)")
        except psycopg2.errors.QueryCanceled:
            pass
        except psycopg2.Error as error:
            failures.append(error)

    trainer = threading.Thread(target=train)
    trainer.start()
    most = 0
    deadline = time.monotonic() + 30
    try:
        while most < 3 and time.monotonic() < deadline and trainer.is_alive():
            most = max(most, check_signals_while_loading(pid))
            time.sleep(0.02)
        if trainer.is_alive():
            # While it starts threads it has everything blocked.
            wait_until(lambda: not blocked_signals(pid)[pid] & HANDLED)
            check_signals(pid)
    finally:
        session.cancel()
        trainer.join(30)
    assert not trainer.is_alive() and not failures
    assert most >= 3, "two workers and the main thread"
    # Nobody of the run is left.
    assert query(session, "SELECT 1") == [(1,)]
    # a thread that has ended may stand there a moment longer
    wait_until(lambda: not any("hopper" in name for name in thread_names(pid)))


# The third layer has no planned form.
TURNED = json.dumps({
    "class_name": "Sequential",
    "keras_version": "2.4.0",
    "backend": "tensorflow",
    "config": {"name": "turned", "layers": [
        {"class_name": "Reshape", "config": {"name": "square", "batch_input_shape": [None, 4], "target_shape": [2, 2]}},
        {"class_name": "Permute", "config": {"name": "turn", "dims": [2, 1]}},
        {"class_name": "Flatten", "config": {"name": "flat"}},
        {"class_name": "Dense", "config": {"name": "output", "units": 3, "activation": "softmax"}},
    ]},
})


def make_leaves(connection):
    for (name,) in query(connection, "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'leaves%%'"):
        query(connection, f"DROP TABLE {name}")
    query(connection, "CREATE TABLE leaves AS SELECT i AS id, ARRAY[i %% 7, i %% 5, i %% 3, 1]::real[] AS x, i %% 3 AS y"
                      " FROM generate_series(1, 300) AS i")
    query(connection, "SELECT hopper.load_model('models', %s), hopper.load_model('models', %s)", MODEL, TURNED)
    query(connection, "SELECT hopper.training_preprocessor('leaves', 'leaves_packed', 'y', 'x')")
    query(connection, "SELECT hopper.generate_model_configs('models', 'leaves_configs', ARRAY[1], %s, %s)", GRID, "{'batch_size': [50]}")


def test_predicting_loads_no_libtorch_unless_a_layer_wants_it(session):
    make_leaves(session)
    for key in 1, 2:
        query(session, f"SELECT hopper.fit('leaves_packed', 'leaves_{key}', 'models', %s, $$loss='categorical_crossentropy', optimizer='sgd'$$,"
                       " $$batch_size=50$$, 1)", key)
    for key, wanted in (1, False), (2, True):
        for statement in (f"SELECT hopper.predict_row('leaves_{key}', ARRAY[1, 2, 0, 1]::real[])",
                          f"SELECT * FROM hopper.predict_rows('leaves_{key}', NULL::leaves)",
                          f"SELECT hopper.predict('leaves_{key}', 'leaves', 'id', 'x', 'leaves_predicted_{key}')"):
            connection = connect()
            assert query(connection, statement)
            pid = backend(connection)
            assert (torch_libraries(pid) != set()) == wanted, statement
            assert "libhopper_core.so" in mapped(pid)
            check_signals(pid)
            connection.close()


FIT = ("SELECT hopper.fit('leaves_packed', '{}', 'models', {}, $$loss={}, optimizer='adam', metrics=['accuracy']$$, $$batch_size=50$$,"
       " 2, validation_table => 'leaves_packed')")
# Of a planned network.
WITHOUT_LIBTORCH = (
    FIT.format("leaves_1", 1, "'categorical_crossentropy'"),
    FIT.format("leaves_3", 1, "'mse'"),
    "SELECT hopper.evaluate('leaves_1', 'leaves_packed')",
    "SELECT * FROM hopper.explain_fit('leaves_packed', 'models', 'leaves_configs', 1)",
    "SELECT hopper.calibrate('leaves_1', 'leaves_packed')",
    "SELECT hopper.ensemble('leaves_1', 'leaves_packed')",
    "SELECT hopper.predict_row('leaves_1', ARRAY[1, 2, 0, 1]::real[])",
)


def test_training_loads_no_libtorch_unless_something_wants_it(session):
    make_leaves(session)
    for statement in WITHOUT_LIBTORCH:
        connection = connect()
        query(connection, statement)
        pid = backend(connection)
        assert torch_libraries(pid) == set(), statement
        check_signals(pid)
        connection.close()
    for statement in (FIT.format("leaves_2", 2, "'categorical_crossentropy'"),
                      FIT.format("leaves_4", 1, "'expr: mean(square(y - p))'")):
        connection = connect()
        query(connection, statement)
        assert torch_libraries(backend(connection)) != set(), statement
        connection.close()


@contextlib.contextmanager
def without(library):
    """A server beside whose glue this library does not lie."""
    connection = connect()
    query(connection, "SELECT hopper.version()")
    maps = pathlib.Path(f"/proc/{backend(connection)}/maps").read_text().splitlines()
    glue = next(line.split(maxsplit=5)[5] for line in maps if line.endswith("/model_hopper.so"))
    connection.close()
    there = pathlib.Path(glue).with_name(library)
    away = there.with_name(f"{library}.away")
    there.rename(away)
    try:
        yield
    finally:
        away.rename(there)


def test_where_libtorch_is_not_installed_what_wants_it_says_so(session):
    make_leaves(session)
    with without("libhopper_torch.so"):
        for statement in WITHOUT_LIBTORCH:
            query(session, statement)
        names = [name for name, _ in query(session, "SELECT * FROM hopper.build_info()")]
        assert "numerics_class" in names and "libtorch" not in names
        assert query(session, "SELECT * FROM hopper.gpu_configuration()") == []
        for statement, wanting in (
                (FIT.format("leaves_2", 2, "'categorical_crossentropy'"), 'layer "turn" of configuration 1'),
                (FIT.format("leaves_4", 1, "'expr: mean(square(y - p))'"), "the loss of configuration 1"),
                (FIT.format("leaves_5", 1, "'mse'").replace(", validation", ", use_gpus => true, validation"), "use_gpus")):
            with pytest.raises(psycopg2.errors.UndefinedFile, match='could not load library "libhopper_torch.so"') as refused:
                query(session, statement)
            assert refused.value.diag.message_detail.startswith(f"{wanting} wants it.")
            assert "model-hopper-libtorch" in refused.value.diag.message_hint


def thread_names(pid):
    for name in pathlib.Path(f"/proc/{pid}/task").glob("*/comm"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            yield name.read_text().strip()


def check_signals_while_loading(pid):
    """While a library is being opened the main thread has everything blocked, on purpose."""
    masks = blocked_signals(pid)
    masks.pop(pid)
    for thread, blocked in masks.items():
        assert BLOCKABLE <= blocked, f"thread {thread} hears {sorted(BLOCKABLE - blocked)}"
    return len(masks) + 1


def test_preloaded():
    server("stop")
    server("start", "-c shared_preload_libraries=model_hopper -c hopper.threads=3")
    try:
        connection = connect()
        pid = backend(connection)
        parent = int(next(line.split()[1] for line in
                          pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
                          if line.startswith("PPid:")))
        assert "model_hopper.so" in mapped(parent)
        assert "libhopper_core.so" not in mapped(parent)
        assert torch_libraries(parent) == set()
        assert len(blocked_signals(parent)) == 1, "a process that forks has one thread"
        # Settings are known without calling anything.
        assert query(connection, "SHOW hopper.threads") == [("3",)]
        assert query(connection, "SHOW hopper.memory_limit") == [("0",)]
        query(connection, "CREATE EXTENSION IF NOT EXISTS model_hopper")
        assert "model_hopper" in query(connection, "SELECT hopper.version()")[0][0]
        assert torch_libraries(pid) == set()
        query(connection, "SELECT * FROM hopper.build_info()")
        assert torch_libraries(pid) != set()
        assert torch_libraries(parent) == set()
        connection.close()
    finally:
        server("stop")
        server("start")


def test_another_libtorch_is_named():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for library in ("libc10.so", "libtorch_cpu.so"):
            compiled = subprocess.run(["cc", "-shared", "-fPIC", "-xc", "/dev/null", "-o", f"{folder}/{library}"], check=False)
            if compiled.returncode != 0:
                pytest.skip("no C compiler")
        server("stop")
        server("start", LD_LIBRARY_PATH=folder)
        try:
            connection = connect()
            query(connection, "CREATE EXTENSION IF NOT EXISTS model_hopper")
            with pytest.raises(psycopg2.errors.SystemError, match='could not load library "libhopper_torch.so"') as refused:
                query(connection, "SELECT * FROM hopper.build_info()")
            assert "another libtorch" in refused.value.diag.message_hint and "LD_LIBRARY_PATH" in refused.value.diag.message_hint
            connection.close()
        finally:
            server("stop")
            server("start")


def test_settings_have_units_and_bounds(session):
    query(session, "SELECT hopper.version()")
    rows = dict(query(session, "SELECT name, unit FROM pg_settings WHERE name LIKE 'hopper.%%'"))
    assert rows == {"hopper.checkpoint_interval": "s", "hopper.keep_memory": "MB", "hopper.keep_time": "s",
                    "hopper.max_configs": None, "hopper.max_memory": "MB", "hopper.max_threads": None, "hopper.memory_limit": "MB",
                    "hopper.mix_numerics": None, "hopper.notice_interval": "s", "hopper.threads": None}
    query(session, "SET hopper.memory_limit = '2GB'")
    assert query(session, "SHOW hopper.memory_limit") == [("2GB",)]
    for statement in ("SET hopper.threads = -1", "SET hopper.max_configs = 0",
                      "SET hopper.notice_interval = '2d'"):
        with pytest.raises(psycopg2.errors.InvalidParameterValue):
            query(session, statement)
    # The prefix is reserved: a misspelt setting is an error, not a silent no-op.
    with pytest.raises(psycopg2.Error):
        query(session, "SET hopper.thread = 3")
