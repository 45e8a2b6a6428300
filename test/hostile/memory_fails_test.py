"""Each function, while one allocation of its session fails after another: the server's contexts, the glue's,
the core's and libtorch's. The call says that memory is out or gives its answer; the session and the server
go on, and the same call then works.

Some of the allocations of each call fail, spread over all of it; HOPPER_ALL_FAULTS: each of them.
"""

import mmap
import os
import pathlib
import random
import struct
import subprocess
import tempfile

import psycopg2
import pytest

import stage
from stage import COMPILE, SMALL, execute

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SOME = 12
NEVER = 1 << 62

CALLS = {
    "layers": "SELECT count(*) FROM hopper.layers()",
    "describe_model": f"SELECT count(*) FROM hopper.describe_model($${SMALL}$$)",
    "load_model":
        f"SELECT hopper.load_model('models', $${SMALL}$$, decode(repeat('0000803f', 17), 'hex')) > 0",
    "load_model_selection_table":
        f"SELECT hopper.load_model_selection_table('models', 'made', '{{1}}', ARRAY[$${COMPILE}$$],"
        " ARRAY['batch_size=8', 'batch_size=16'])",
    "generate_model_configs":
        "SELECT hopper.generate_model_configs('models', 'made', '{1}', $${'loss': ['categorical_crossentropy'],"
        " 'optimizer_params_list': [{'optimizer': ['SGD', 'Adam'], 'lr': [0.01, 0.1]}], 'metrics': ['accuracy']}$$,"
        " $${'batch_size': [8, 16], 'epochs': [1]}$$, 'random', 3, 7)",
    "check_configs": "SELECT count(*) FROM hopper.check_configs('configs', 'packed')",
    "training_preprocessor":
        "SELECT hopper.training_preprocessor('points', 'made', 'y', 'x', validation_fraction := 0.25)",
    "validation_preprocessor": "SELECT hopper.validation_preprocessor('points', 'made', 'y', 'x', 'packed')",
    "fit_multiple_model":
        "SELECT models_trained + models_failed FROM hopper.fit_multiple_model('packed', 'made', 'configs', 2,"
        " validation_table := 'packed_validation')",
    "warm start":
        "SELECT models_trained + models_failed FROM hopper.fit_multiple_model('packed', 'run', 'configs', 1, warm_start := true)",
    "fit":
        f"SELECT models_trained + models_failed FROM hopper.fit('packed', 'made', 'models', 1, $${COMPILE}$$, 'batch_size=8', 2)",
    "explain_fit": "SELECT count(*) FROM hopper.explain_fit('packed', 'made', 'configs', 2)",
    "evaluate": "SELECT loss FROM hopper.evaluate('run', 'packed', mst_key := 1)",
    "predict": "SELECT hopper.predict('run', 'points', 'id', 'x', 'made', mst_key := 1)",
    "predict_byom": "SELECT hopper.predict_byom('models', 2, 'points', 'id', 'x', 'made')",
    "predict_row": "SELECT count(*) FROM hopper.predict_row('run', 1, ARRAY[1, 2]::real[])",
    "predict_rows": "SELECT count(*) FROM hopper.predict_rows('run', NULL::points, on_null := 'null', mst_key := 1)",
    "leaderboard": "SELECT count(*) FROM hopper.leaderboard('run')",
    "learning_curves": "SELECT count(*) FROM hopper.learning_curves('run')",
    "build_info": "SELECT count(*) FROM hopper.build_info()",
}


class Memory:
    """What the preloaded malloc() looks at."""

    def __init__(self, path):
        self.file = open(path, "r+b")
        self.control = mmap.mmap(self.file.fileno(), 24)

    def fail(self, process, at):
        self.control[:24] = struct.pack("qqq", 0, at, 0)
        self.control[:8] = struct.pack("q", process)

    def stop(self):
        """How many allocations there were."""
        self.control[:8] = struct.pack("q", 0)
        return struct.unpack("qqq", self.control[:24])[2]


def server(command, **environment):
    subprocess.run([SOURCE / "scripts" / "server", command, os.environ["HOPPER_BUILD"]], check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env={**os.environ, **environment})


@pytest.fixture(scope="module")
def memory():
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    library = folder / "failing_malloc.so"
    compiled = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library,
                               SOURCE / "test/hostile/failing_malloc.c"], check=False)
    if compiled.returncode != 0:
        pytest.skip("no C compiler")
    control = folder / "control"
    control.write_bytes(bytes(24))
    control.chmod(0o666)
    server("stop")
    server("start", LD_PRELOAD=str(library), FAILING_MALLOC=str(control))
    stage.create().close()
    yield Memory(control)
    stage.destroy()
    server("stop")
    server("start")


@pytest.fixture
def session(memory):
    connection = stage.connect()
    execute(connection, "SET client_min_messages = error; SET hopper.threads = 2")
    stage.become(connection, stage.OWNER)
    connection.autocommit = False
    yield connection
    connection.close()


def run(session, statement):
    """The answer of a call that is taken back."""
    try:
        return execute(session, statement)
    finally:
        session.rollback()


@pytest.mark.parametrize("name", CALLS)
def test_every_allocation(session, memory, name):
    statement = CALLS[name]
    process = stage.process(session)
    answer = run(session, statement)
    memory.fail(process, NEVER)
    assert run(session, statement) == answer
    count = memory.stop()
    numbers = range(1, count + 1)
    if "HOPPER_ALL_FAULTS" not in os.environ and count > SOME:
        numbers = sorted(random.Random(name).sample(numbers, SOME))
    errors = 0
    for number in numbers:
        memory.fail(process, number)
        try:
            assert run(session, statement) == answer, number
        except psycopg2.Error as error:
            # 22000: it was memory that every configuration of a run failed for
            assert session.closed == 0 and error.pgcode in ("53200", "22000"), (number, str(error))
            assert "memory" in str(error), (number, str(error))
            errors += 1
        finally:
            memory.stop()
        assert run(session, statement) == answer, number
    print(f"{name}: {len(numbers)} of {count} allocations, {errors} errors")
