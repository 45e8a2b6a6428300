"""Each function, while one allocation of its session fails after another: the server's contexts, the glue's,
the core's and libtorch's. The call says that memory is out or gives its answer; the session and the server
go on, and the same call then works.

Some of the allocations of each call fail, spread over all of it. HOPPER_ALL_FAULTS=1: of each kind, which is who
called whom in our libraries and last, the first two and the last one; HOPPER_ALL_FAULTS=0: each of them. More
numbers, as in "1 838 2000", are the places to begin at and to end behind.
"""

import mmap
import os
import pathlib
import random
import re
import struct
import subprocess
import tempfile

import psycopg2
import pytest

import stage
from stage import COMPILE, GRID, SMALL, execute

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SOME = 12
# The first ones fail where arguments are read, by calls of the core whose errors mean something else.
FIRST = {"automl": 50, "cnn": 200}
NEVER = 1 << 62
KINDS = 1 << 17
# What the server itself makes of memory that OpenSSL does not get for a digest.
DIGEST = re.compile(r"could not (initialize|update|finalize) \w+ context: |could not compute \w+ hash: ")
TEXT = 1 << 16
CONTROL = 32 + 8 * KINDS + TEXT
# A call that works between calls that fail, where many do.
EVERY = 20

CREATED = "hopper.create_run($r$SELECT hopper.fit_multiple_model('packed', 'made', 'configs', 1)$r$)"
SEARCH_CREATED = ("hopper.create_run($r$SELECT hopper.automl('packed', 'made', 'models', 'made_configs', '{1}', $g$"
                  + GRID + "$g$, $f${'batch_size': [8]}$f$, 'random', 'num_configs=2, num_iterations=1')$r$)")

# By the C function; after a comma, another way to call it.
CALLS = {
    "automl": "SELECT configurations FROM hopper.automl('packed', 'made', 'models', 'made_configs', '{1}', "
              f"$${GRID}$$, $${{'batch_size': [8]}}$$, 'random', 'num_configs=2, num_iterations=1')",
    "best_config": "SELECT count(*) FROM hopper.best_config('searched')",
    "build_info": "SELECT count(*) FROM hopper.build_info()",
    "calibrate": "SELECT temperature FROM hopper.calibrate('run', 'packed', 1)",
    "cancel": f"SELECT hopper.cancel({CREATED})",
    "check_configs": "SELECT count(*) FROM hopper.check_configs('configs', 'packed')",
    "claim_names": "SELECT hopper.claim_names('made', ARRAY[['search', ''], ['packed', '_packed']], true, 'points')",
    "cnn": "SELECT hopper.cnn('models', 'drawn', filters := '2', kernel_size := 1, pooling := 1, hidden := '3') > 0",
    "columns_of_name": "SELECT hopper.training_preprocessor('points', 'made', 'y'::name, 'x')",
    "columns_of_names": "SELECT hopper.training_preprocessor('points', 'made', 'y', ARRAY['x'])",
    "copy_model": "SELECT hopper.copy_model('run', 'made')",
    "create_run": f"SELECT {CREATED} > 0",
    "delete_model": "SELECT hopper.delete_model('models', 2)",
    "create_predict_function": "SELECT hopper.create_predict_function('run', 'guess', 1) IS NOT NULL",
    "create_predict_function, columns": "SELECT hopper.create_predict_function('run', 'guess', 1, pred_type := 'columns') IS NOT NULL",
    "describe_features": "SELECT count(*) FROM hopper.describe_features('treated')",
    "describe_architecture": f"SELECT count(*) FROM hopper.describe_model($${SMALL}$$)",
    "model_columns": "SELECT count(*) FROM hopper.model_columns('models', 1)",
    "describe_model": "SELECT count(*) FROM hopper.describe_model('models', 1, 'packed')",
    "describe_space": f"SELECT count(*) FROM hopper.describe_space('models', '{{1}}', $${GRID}$$)",
    "drop_model": "SELECT hopper.drop_model('run')",
    "drop_packed": "SELECT hopper.drop_packed('drawn')",
    "drop_run": f"SELECT hopper.drop_run({CREATED})",
    "record_means": "SELECT hopper.record_means('run', 'crossed', now(), 'loss', '{1}', '{0.5}')",
    "report_packing": "SELECT hopper.report_packing('run', false)",
    "report_source": "SELECT hopper.report_source('run', false)",
    "report_validation": "SELECT hopper.report_validation('run')",
    "ensemble": "SELECT value FROM hopper.ensemble('run', 'packed', 3)",
    "predict_packed": "SELECT count(*) FROM hopper.predict_packed('run', 'packed', 1, 10)",
    "evaluate": "SELECT loss FROM hopper.evaluate('run', 'packed', mst_key := 1)",
    "expire_runs": "SELECT hopper.expire_runs('0 days') >= 0",
    "explain_automl": "SELECT count(*) FROM hopper.explain_automl('packed', 'models', '{1}', "
                      f"$${GRID}$$, $${{'batch_size': [8]}}$$, 'random', 'num_configs=2, num_iterations=1')",
    "explain_row": "SELECT count(*) FROM hopper.explain_row('run', (SELECT p FROM points p LIMIT 1), 'points', 1, samples := 2)",
    "feature_importance": "SELECT count(*) FROM hopper.feature_importance('run', 'points', 1, repeats := 2)",
    "partial_dependence": "SELECT count(*) FROM hopper.partial_dependence('run', 'points', 'x', 1, points := 2)",
    "explain_fit": "SELECT count(*) FROM hopper.explain_fit('packed', 'made', 'configs', 2)",
    "fit":
        "SELECT models_trained + models_failed FROM hopper.fit('packed', 'made', 'models', 1,"
        f" $${COMPILE}$$, 'batch_size=8', 2)",
    "fit_multiple_model":
        "SELECT models_trained + models_failed FROM hopper.fit_multiple_model('packed', 'made', 'configs', 2,"
        " validation_table := 'packed_validation', validation_freq := 2)",
    "fit_together":
        "SELECT hopper.fit_together(ARRAY[$$SELECT hopper.fit_multiple_model('packed', 'made', 'configs', 1)$$,"
        " $$SELECT hopper.fit_multiple_model('packed', 'made_too', 'configs', 1)$$])",
    "fits_at_once": "SELECT hopper.fits_at_once(ARRAY[$$SELECT hopper.fit_multiple_model('packed', 'made', 'configs', 1)$$]) >= 1",
    "fit_multiple_model, warm start":
        "SELECT models_trained + models_failed FROM hopper.fit_multiple_model('packed', 'run', 'configs', 1,"
        " warm_start := true)",
    "fit_multiple_model, replaced":
        "SELECT models_trained + models_failed FROM hopper.fit_multiple_model('packed', 'run', 'configs', 1,"
        " replace := true)",
    "from_safetensors":
        f"SELECT length(hopper.from_safetensors($${SMALL}$$, hopper.to_safetensors($${SMALL}$$,"
        " decode(repeat('0000803f', 17), 'hex'))))",
    "generate_model_configs":
        f"SELECT hopper.generate_model_configs('models', 'made', '{{1}}', $${GRID}$$,"
        " $${'batch_size': [8, 16], 'epochs': [1]}$$, 'random', 3, 7)",
    "gpu_configuration": "SELECT count(*) FROM hopper.gpu_configuration()",
    "grant_model": "SELECT hopper.grant_model('run', 'public')",
    "help": "SELECT count(*) FROM hopper.help()",
    "help_function": "SELECT hopper.help('fit')",
    "hyperband_schedule": "SELECT hopper.hyperband_schedule('made', 9)",
    "integers_in": "SELECT '{1,2}'::text::hopper.integers::text",
    "integers_out": "SELECT '{1,2}'::hopper.integers::text",
    "keep_best": "SELECT hopper.keep_best('run', 1)",
    "layers": "SELECT count(*) FROM hopper.layers()",
    "leakage_suspects": "SELECT count(*) FROM hopper.leakage_suspects('treated')",
    "leaderboard": "SELECT count(*) FROM hopper.leaderboard('run')",
    "learning_curves": "SELECT count(*) FROM hopper.learning_curves('run')",
    "load_model":
        f"SELECT hopper.load_model('models', $${SMALL}$$, decode(repeat('0000803f', 17), 'hex')) > 0",
    "load_model_selection_table":
        f"SELECT hopper.load_model_selection_table('models', 'made', '{{1}}', ARRAY[$${COMPILE}$$],"
        " ARRAY['batch_size=8', 'batch_size=16'])",
    "losses": "SELECT count(*) FROM hopper.losses()",
    "params_json": "SELECT hopper.params_json($$loss='mse', optimizer='Adam(lr=0.1)'$$)",
    "metric_ascends": "SELECT hopper.metric_ascends('accuracy')",
    "metrics": "SELECT count(*) FROM hopper.metrics()",
    "tabular": "SELECT model_id > 0 FROM hopper.tabular('models', 'packed')",
    "mlp": "SELECT hopper.mlp('models', 'packed', '{4,2}') > 0",
    "model_id": "SELECT hopper.model_id('models', 'first')",
    "model_ids": "SELECT hopper.model_ids('models', 'first')",
    "models": "SELECT count(*) FROM hopper.models()",
    "param_importance": "SELECT count(*) FROM hopper.param_importance('searched')",
    "names_like": "SELECT hopper.names_like('made', 'model_table', 'summary')",
    "optimizers": "SELECT count(*) FROM hopper.optimizers()",
    "add_trials": f"SELECT hopper.add_trials({CREATED})",
    "clone_trial": f"SELECT hopper.clone_trial({CREATED}, 1, fit_params := 'batch_size=5')",
    "publish": f"SELECT hopper.publish(run, 'early') > 0 FROM (SELECT run, hopper.step(run, 60) AS ended FROM (SELECT {CREATED}"
    " AS run OFFSET 0) c OFFSET 0) s WHERE ended = 'done'",
    "set_iterations": f"SELECT hopper.set_iterations({CREATED}, 2)",
    "stop_trial": f"SELECT hopper.stop_trial({CREATED}, 1)",
    "pin_trial": f"SELECT hopper.pin_trial({SEARCH_CREATED}, 1)",
    "unpin_trial": f"SELECT hopper.unpin_trial({SEARCH_CREATED}, 1)",
    "enqueue_trial": f"SELECT hopper.enqueue_trial({SEARCH_CREATED}, '{{\"batch_size\": 8}}')",
    "grant_run": f"SELECT hopper.grant_run({CREATED}, 'public')",
    "revoke_run": f"SELECT hopper.revoke_run({CREATED}, 'public')",
    "pause": f"SELECT hopper.pause({CREATED})",
    "predict": "SELECT hopper.predict('run', 'points', 'id', 'x', 'made', mst_key := 1)",
    "pred_type_of_real": "SELECT 0.5::real::hopper.pred_type::text",
    "pred_type_of_double":
        "SELECT hopper.predict('run', 'points', 'id', 'x', 'made', 0.5::double precision, mst_key := 1)",
    "predict_byom": "SELECT hopper.predict_byom('models', 2, 'points', 'id', 'x', 'made')",
    "predict_byom, sequences":
        "SELECT hopper.predict_byom('models', 2, 'points', 'id', 'x', 'made', pad_value := 0, truncate := 'pre')",
    "predict_row, an object": "SELECT count(*) FROM hopper.predict_row('run', 1, '{\"x\": [1, 2]}')",
    "predict_row, JSON of the best": "SELECT count(*) FROM hopper.predict_row('run', '[1, 2]'::jsonb)",
    "predict_row, a record":
        "SELECT count(*) FROM hopper.predict_row('run', 1, (SELECT p FROM points p WHERE id = 1))",
    "predict_row, a record of the best":
        "SELECT count(*) FROM hopper.predict_row('run', (SELECT p FROM points p WHERE id = 1))",
    "predict_row": "SELECT count(*) FROM hopper.predict_row('run', 1, ARRAY[1, 2]::real[])",
    # The other ones find it so.
    "predict_row, made ready": "UPDATE run_summary SET name = 'x'; SELECT count(*) FROM hopper.predict_row('run', 1, ARRAY[1, 2]::real[])",
    "predict_row, of the best": "SELECT count(*) FROM hopper.predict_row('run', ARRAY[1, 2]::real[])",
    "predict_rows": "SELECT count(*) FROM hopper.predict_rows('run', NULL::points)",
    "progress_slots": "SELECT count(*) >= 0 FROM hopper.progress_slots()",
    "rename_model": "SELECT hopper.rename_model('run', 'made')",
    "report": "SELECT length(hopper.report('run')) > 10000",
    "report_run": "SELECT length(hopper.report(max(run))) > 5000 FROM hopper.runs",
    "resume": f"SELECT hopper.resume({CREATED})",
    "revoke_model": "SELECT hopper.revoke_model('run', 'public')",
    "run_closing": "SELECT hopper.run_closing('SELECT 1')",
    "run_timeline": "SELECT count(*) FROM hopper.run_timeline('run')",
    "search_algorithms": "SELECT count(*) FROM hopper.search_algorithms()",
    "source_hash": "SELECT length(hopper.source_hash('points', NULL, 1)) > 0",
    "show_as": "SELECT hopper.show_as('made', 'points')::text",
    "sparkline": "SELECT hopper.sparkline('{1,2,3}')",
    # of hopper.pad_length
    "step": f"SELECT hopper.step({CREATED}, 60)",
    "submit": CREATED.replace("create_run", "submit").join(["SELECT ", " > 0"]),
    "textin": "SELECT '{\"x\": 3}'::text::hopper.pad_length::text",
    "textout": "SELECT 'longest'::hopper.pad_length::text",
    "tensorboard_events": "SELECT length(hopper.tensorboard_events('{loss}', '{1}', '{2}', '{0.5}', '{lr}', '{0.1}', 1, false)) > 100",
    "tensorboard_files": "SELECT count(*) FROM hopper.tensorboard_files('run')",
    "texts_in": "SELECT '{a,b}'::hopper.texts::text",
    "texts_of_booleans": "SELECT ARRAY[true, false]::hopper.texts::text",
    "texts_of_text": "SELECT hopper.model_ids('models', names => 'first'::text)",
    "texts_out": "SELECT ARRAY[1, 2]::hopper.texts::text",
    "to_onnx": "SELECT length(hopper.to_onnx('run', 1))",
    "to_onnx_arch":
        f"SELECT length(hopper.to_onnx($${SMALL}$$, decode(repeat('0000803f', 17), 'hex')))",
    "to_pytorch": "SELECT length(hopper.to_pytorch('run', 1))",
    "to_pytorch_arch": f"SELECT length(hopper.to_pytorch($${SMALL}$$::json))",
    "to_safetensors":
        f"SELECT length(hopper.to_safetensors($${SMALL}$$, decode(repeat('0000803f', 17), 'hex')))",
    "training_preprocessor":
        "SELECT hopper.training_preprocessor('points', 'made', 'y', 'x', validation_fraction := 0.25)",
    "training_preprocessor, outputs":
        """SELECT hopper.training_preprocessor('points', 'made', '{"a": "y", "b": "id"}', 'x', weight_varname := 'id')""",
    "training_preprocessor, replaced":
        "SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction := 0.25, replace := true)",
    "training_preprocessor, sequences":
        """SELECT hopper.training_preprocessor('points', 'made', 'y', 'x', pad_to := '{"x": 3}', truncate := 'pre')""",
    "validation_preprocessor": "SELECT hopper.validation_preprocessor('points', 'made', 'y', 'x', 'packed')",
    "predict_outputs": "SELECT hopper.predict_outputs('run', 1, 'error', NULL, NULL, ARRAY[1, 2]::real[])",
    "predict_value": "SELECT hopper.predict_value('run', 1, 'error', NULL, ARRAY[1, 2]::real[])",
    "transform_rows": "SELECT count(*) FROM hopper.transform_rows('treated', 'points')",
    "version": "SELECT hopper.version()",
    "wait": f"SELECT hopper.wait({CREATED}, 0)",
    "within": "SELECT count(*) FROM hopper.auto_fit('points', 'y', 'made', 1)",
}


class Memory:
    """What the preloaded malloc() looks at."""

    def __init__(self, path):
        self.file = open(path, "r+b")
        self.control = mmap.mmap(self.file.fileno(), CONTROL)

    def fail(self, process, at):
        self.control[:32] = struct.pack("qqqq", 0, at, 0, at == NEVER)
        self.control[:8] = struct.pack("q", process)

    def stop(self):
        """How many allocations there were."""
        self.control[:8] = struct.pack("q", 0)
        return struct.unpack("qqq", self.control[:24])[2]

    def kinds(self, count):
        return struct.unpack(f"{count}Q", self.control[32:32 + 8 * count])

    def uncaught(self):
        """Where an exception for want of memory would have ended the process, since the last call of this."""
        text = self.control[CONTROL - TEXT:].split(b"\0")[0].decode()
        self.control[CONTROL - TEXT:] = bytes(TEXT)
        return [[functions(*frame.split()) for frame in trace.split("\n")] for trace in text.split("\n\n") if trace]


def functions(library, offset):
    """What stands there, innermost first: several where they are inlined."""
    said = subprocess.run(["addr2line", "-Cpfie", library, offset], check=False, capture_output=True, text=True).stdout
    return f"{library.rsplit('/', 1)[-1]}+{offset}: {said.strip()}"


def server(command, **environment):
    subprocess.run([SOURCE / "scripts" / "server", command, os.environ["HOPPER_BUILD"]], check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env={**os.environ, **environment})


@pytest.fixture(scope="module")
def memory():
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    library = folder / "failing_malloc.so"
    compiled = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE / "test/hostile/failing_malloc.c",
                               SOURCE / "test/hostile/uncaught.c", "-lstdc++"], check=False)
    if compiled.returncode != 0:
        pytest.skip("no C compiler")
    control = folder / "control"
    control.write_bytes(bytes(CONTROL))
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


def test_no_function_is_forgotten(session):
    functions = execute(session, """
        SELECT DISTINCT CASE p.prosrc WHEN 'hopper_sql_list' THEN p.proname::text  -- one of several tables
            ELSE replace(p.prosrc, 'hopper_sql_', '') END FROM pg_proc p
        WHERE p.pronamespace = 'hopper'::regnamespace AND p.prokind <> 'p'
            AND p.proname <> 'untyped_in' AND p.prolang = ANY (SELECT oid FROM pg_language WHERE lanname IN ('c', 'internal'))
        """)  # the first is always an error
    assert {name.split(",")[0] for name in CALLS} == {name for name, in functions}


def tidy():
    """Tables that were taken back leave dead rows in the catalogs, which each call then looks at."""
    admin = stage.connect()
    for table in ("attribute", "class", "type", "depend", "shdepend", "index", "constraint", "description", "attrdef"):
        execute(admin, f"VACUUM pg_catalog.pg_{table}")
    admin.close()


def chosen_places(name, kinds):
    """Which allocations are to fail."""
    count = len(kinds)
    if "HOPPER_ALL_FAULTS" not in os.environ:
        chosen = random.Random(name).sample(range(1, count + 1), min(SOME, count))
        return sorted({*chosen, *range(1, min(FIRST.get(name, 0), count) + 1)})
    said = [int(number) for number in os.environ["HOPPER_ALL_FAULTS"].split()]
    each, first, last = said + [1, 1, NEVER][len(said):]
    alike = {}
    for place, kind in enumerate(kinds, 1):
        alike.setdefault(kind if each else place, []).append(place)
    places = sorted({place for of_kind in alike.values() for place in (*of_kind[:2], of_kind[-1])})
    print(f"{name}: {len(alike)} kinds of {count} allocations")
    return [place for place in places if first <= place <= last]


@pytest.mark.parametrize("name", CALLS)
def test_every_allocation(session, memory, name):
    statement = CALLS[name]
    process = stage.process(session)
    answer = run(session, statement)
    memory.fail(process, NEVER)
    assert run(session, statement) == answer
    count = memory.stop()
    uncaught = memory.uncaught()
    assert not uncaught, "an exception would end the process here:\n" + "\n".join(uncaught[0])
    numbers = chosen_places(name, memory.kinds(min(count, KINDS)))
    errors = 0
    for at, number in enumerate(numbers):
        memory.fail(process, number)
        try:
            assert run(session, statement) == answer, number
        except psycopg2.Error as error:
            # 22000: it was memory that every configuration of a run failed for; 2201B: a regular expression
            assert session.closed == 0, (number, str(error))
            if not DIGEST.match(str(error)):
                assert error.pgcode in ("53200", "22000", "2201B"), (number, str(error))
                assert "memory" in str(error), (number, str(error))
            errors += 1
        finally:
            memory.stop()
            if at % 200 == 0:
                print(f"{name}: at {number}", flush=True)
        if len(numbers) <= 3 * EVERY or at % EVERY == 0 or number == numbers[-1]:
            assert run(session, statement) == answer, number
        if at % EVERY == EVERY - 1:
            tidy()
    print(f"{name}: {len(numbers)} of {count} allocations, {errors} errors")
