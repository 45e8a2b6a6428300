"""Many sessions in a control group whose memory is small: some are refused, none is killed."""

import collections
import concurrent.futures
import contextlib
import os
import pathlib
import subprocess
import time

import psycopg2
import pytest

from digits import (SOURCE, connect, create_database, dense, drop_database, layer, query, select, sequential,
                    value)

DATABASE = "hopper_control_group"
GROUP_MB = 1000
SESSIONS = 12
MEMORY = pathlib.Path("/sys/fs/cgroup/memory")  # version 1
UNIFIED = pathlib.Path("/sys/fs/cgroup")  # version 2

# Each of a model of 65 MB.
CALLS = ["SELECT * FROM hopper.predict_row('heavy', 1, (SELECT pixels FROM digits WHERE id = 1))",
         "SELECT length(hopper.to_onnx('heavy', 1))",
         "SELECT * FROM hopper.evaluate('heavy', 'packed_validation')",
         "SELECT hopper.predict('heavy', 'digits', 'id', 'pixels', 'made_{0}', replace => true)",
         "SELECT hopper.copy_model('heavy', 'copied_{0}', replace => true)"]


def server(command, options=""):
    subprocess.run([SOURCE / "scripts" / "server", command, os.environ["HOPPER_BUILD"]], check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   env={**os.environ, "SERVER_OPTIONS": options})


@contextlib.contextmanager
def memory_group(megabytes):
    """The file that takes the processes of a new group; skipped where none can be made."""
    folder, limit = (MEMORY, "memory.limit_in_bytes") if MEMORY.is_dir() else (UNIFIED, "memory.max")
    folder = folder / f"hopper_test_{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group: {error}")
    try:
        if not (folder / limit).exists():
            pytest.skip("no control group for memory")
        (folder / limit).write_text(str(megabytes << 20), encoding="ascii")
        yield folder / "cgroup.procs"
    finally:
        for _ in range(100):
            if not (folder / "cgroup.procs").read_text(encoding="ascii").split():
                break
            time.sleep(0.1)
        folder.rmdir()


@pytest.fixture(scope="module")
def heavy():
    connection = create_database(DATABASE)
    query(connection, "SELECT hopper.load_model('architectures', %s)",
          sequential(layer("Flatten", "flatten"), dense("first", 4000, "relu"), dense("second", 4000, "relu"),
                     dense("output", 10, "softmax")))
    query(connection, "CREATE TABLE few AS SELECT * FROM digits WHERE id <= 40")
    query(connection, "SELECT hopper.training_preprocessor('few', 'few_packed', 'label', 'pixels',"
          " normalizing_const => 16)")
    select(connection, "configs", [(1, value(connection, "SELECT max(model_id) FROM architectures"),
                                    "loss='categorical_crossentropy', optimizer='SGD(lr=1e-3)'", "")])
    query(connection, "SELECT hopper.fit_multiple_model('few_packed', 'heavy', 'configs', 1)")
    connection.close()
    yield
    drop_database(DATABASE)


@pytest.fixture
def grouped(heavy):
    """All processes of the server in a group, the library preloaded, ceilings at their defaults."""
    server("stop")
    with memory_group(GROUP_MB) as processes:
        server("start", "-c shared_preload_libraries=model_hopper -c shared_buffers=64MB -c hopper.max_threads=0")
        try:
            admin = connect(DATABASE)
            data = pathlib.Path(value(admin, "SHOW data_directory"))
            admin.close()
            postmaster = (data / "postmaster.pid").read_text(encoding="ascii").split()[0]
            processes.write_text(postmaster, encoding="ascii")
            yield
        finally:
            server("stop")
    server("start")


def one_session(number):
    """What each of the calls came to: "done", or the code of its error."""
    answers = []
    connection = connect(DATABASE)
    query(connection, "SET client_min_messages = error; SET hopper.threads = 1")
    for turn in range(len(CALLS)):
        try:
            query(connection, CALLS[(number + turn) % len(CALLS)].format(number))
            answers.append("done")
        except psycopg2.Error as error:
            answers.append(error.pgcode)
    connection.close()
    return answers


def test_nobody_is_killed(grouped):
    witness = connect(DATABASE)
    with concurrent.futures.ThreadPoolExecutor(SESSIONS) as pool:
        answers = collections.Counter(answer for some in pool.map(one_session, range(SESSIONS))
                                      for answer in some)
    print(dict(answers))
    # A server that lost a process throws all others out.
    assert value(witness, "SELECT 1") == 1
    witness.close()
    assert set(answers) <= {"done", "53200"}
    assert answers["done"] > 0
