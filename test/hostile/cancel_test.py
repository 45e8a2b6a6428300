"""Cancels at random moments of every function, inside and outside transaction blocks.

HOPPER_CANCELS=500 HOPPER_SEED=7 pytest test/hostile/cancel_test.py: more of them, other moments.
"""

import os
import pathlib
import random
import threading
import time

import psycopg2
import pytest

from digits import (ADAM, PLAIN, connect, cpu_seconds, create_database, dense, drop_database, layer, outputs,
                    pid, query, select, sequential, threads, value, wait_until)

pytestmark = pytest.mark.chance
DATABASE = "hopper_cancel"
CANCELS = int(os.environ.get("HOPPER_CANCELS", "60"))
SEED = int(os.environ.get("HOPPER_SEED", "1"))
# What the backend computes after it was asked to stop, in seconds of all its threads: two train.
LIMIT = 2 * 0.2

FIT = ("hopper.fit_multiple_model('packed', '{}', 'configs', 1000000, validation_table =>"
       " 'packed_validation', threads => 2{})")
# name: an expression that takes a while, for a SELECT
CALLS = {
    "fit_multiple_model": FIT.format("made", ""),
    "warm start": FIT.format("trained", ", warm_start => true"),
    "fit": f"hopper.fit('packed', 'made', 'architectures', 2, $c${ADAM}$c$, 'batch_size=16', 1000000)",
    "explain_fit": "hopper.explain_fit('packed', 'made', 'wide_configs', 1000)",
    "training_preprocessor": "hopper.training_preprocessor('many', 'made', 'label', 'pixels')",
    "validation_preprocessor": "hopper.validation_preprocessor('many', 'made', 'label', 'pixels', 'packed')",
    "evaluate": "hopper.evaluate('trained', 'many_packed', 'made', mst_key => 1,"
                " confusion_table => 'made_too')",
    "predict": "hopper.predict('trained', 'many', 'id', 'pixels', 'made', mst_key => 2)",
    "predict_byom": "hopper.predict_byom('byom', 1, 'many', 'id', 'pixels', 'made')",
    "predict_row": "count(p) FROM many, LATERAL hopper.predict_row('trained', 1, pixels) p",
    "generate_model_configs": "hopper.generate_model_configs('architectures', 'made', '{1,2}', $g${"
                              "'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD'],"
                              " 'lr': [0.0001, 0.1, 'log']}]}$g$, $g${'batch_size': [8, 16]}$g$,"
                              " 'random', 9000, 1)",
    "check_configs": "count(c) FROM hopper.check_configs('wrong_configs', 'packed') c",
    "wrong configurations": FIT.format("made", "").replace("'configs'", "'wrong_configs'"),
    "load_model": "count(hopper.load_model('made', model_arch::text)) FROM architectures,"
                  " generate_series(1, 3000)",
    "describe_model": "count(d) FROM architectures, generate_series(1, 100000),"
                      " LATERAL hopper.describe_model(model_arch::text) d",
    "leaderboard": "count(l) FROM generate_series(1, 20000), LATERAL hopper.leaderboard('trained') l",
    "learning_curves": "count(l) FROM generate_series(1, 20000),"
                       " LATERAL hopper.learning_curves('trained') l",
    "run_timeline": "count(l) FROM generate_series(1, 5000), LATERAL hopper.run_timeline('trained') l",
}
PLACES = ["alone", "block", "savepoint", "cursor", "do", "handler"]


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "SET client_min_messages = warning")
    select(connection, "configs", [(key, 1 + key % 2, ADAM, "batch_size=32") for key in range(1, 5)])
    select(connection, "wide_configs", [(key, 2, ADAM, f"batch_size={key}") for key in range(1, 100)])
    query(connection, "CREATE TABLE wrong_configs AS SELECT i AS mst_key, 1 AS model_id,"
          " 'metrics=[''nope' || i || ''']' AS compile_params, ''::text AS fit_params"
          " FROM generate_series(1, 5000) i")
    query(connection, "CREATE TABLE wrong_configs_summary AS SELECT * FROM configs_summary")
    query(connection, "SELECT hopper.fit_multiple_model('packed', 'trained', 'configs', 3)")
    query(connection, "SELECT hopper.load_model('byom', %s, model_weights) FROM trained"
          " WHERE mst_key = 2", PLAIN)
    query(connection, "CREATE TABLE many AS SELECT id + 10000 * i AS id, label, pixels"
          " FROM digits, generate_series(1, 60) i")
    query(connection, "SELECT hopper.validation_preprocessor('many', 'many_packed', 'label', 'pixels',"
          " 'packed')")
    yield connection
    connection.close()
    drop_database(DATABASE)


class Backend:
    """A session and what its process shows from outside."""

    def __init__(self):
        self.connection = connect(DATABASE)
        query(self.connection, "SET client_min_messages = error")
        self.pid = pid(self.connection)
        # What sessions keep for themselves: libraries, threads of libtorch, a model of predict_row.
        query(self.connection, "SELECT hopper.evaluate('trained', 'packed', mst_key => 1)")
        query(self.connection, "SELECT hopper.predict_row('trained', 1, pixels) FROM digits LIMIT 1")
        self.idle = threads(self.pid)

    def megabytes(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("RssAnon:")[1].split()[0]) / 1024

    def length(self, call):
        """Seconds that it takes, or what is enough."""
        query(self.connection, "SET statement_timeout = '700ms'")
        began = time.monotonic()
        try:
            query(self.connection, f"SELECT {call}")
        except psycopg2.Error:
            pass
        query(self.connection, "RESET statement_timeout")
        took = time.monotonic() - began
        self.drop()
        return took

    def drop(self):
        query(self.connection, "DROP TABLE IF EXISTS made, made_info, made_state, made_summary,"
              " made_validation, made_too")

    def begin(self, call, place):
        """What stands before the statement that takes long; returns that one."""
        if place != "alone":
            query(self.connection, "BEGIN")
        if place == "savepoint":
            query(self.connection, "SAVEPOINT here")
        if place == "cursor":
            query(self.connection, f"DECLARE c CURSOR FOR SELECT {call}")
            return "FETCH ALL FROM c"
        if place == "do":
            return f"DO $do$ BEGIN PERFORM {call}; END $do$"
        if place == "handler":
            return (f"DO $do$ BEGIN PERFORM {call}; EXCEPTION WHEN query_canceled THEN NULL;"
                    " END $do$")
        return f"SELECT {call}"

    def end(self, place):
        if place == "savepoint":
            query(self.connection, "ROLLBACK TO here")
        if place != "alone":
            query(self.connection, "ROLLBACK")


class Call:
    """One call in a thread of its own."""

    def __init__(self, admin, backend, call, place):
        self.error = None
        statement = backend.begin(call, place)
        self.thread = threading.Thread(target=self.run, args=(backend, statement))
        self.thread.start()
        # A cancel that comes before the statement would cancel nothing.
        wait_until(lambda: not self.thread.is_alive() or value(
            admin, "SELECT state = 'active' AND query = %s FROM pg_stat_activity WHERE pid = %s",
            statement[:1000], backend.pid))

    def run(self, backend, statement):
        try:
            query(backend.connection, statement)
        except psycopg2.Error as error:
            self.error = error


def cancelled(admin, backend, name, place, delay):
    """Seconds that the backend computed after the cancel, or None where it came too late."""
    call = Call(admin, backend, CALLS[name], place)
    call.thread.join(delay)
    asked = call.thread.is_alive()
    query(admin, "SELECT pg_cancel_backend(%s)", backend.pid)
    # Not before: until then it computes on, as long as this process and its session wait for others.
    before = cpu_seconds(backend.pid)
    call.thread.join(60)
    assert not call.thread.is_alive(), f"{name} in {place} goes on after its cancel"
    took = cpu_seconds(backend.pid) - before
    # Before the client's ROLLBACK.
    assert threads(backend.pid) <= backend.idle, f"{name} in {place} leaves threads"
    backend.end(place)
    hit = place == "handler" or getattr(call.error, "pgcode", None) == "57014"
    if call.error and not hit:
        # Wrong configurations: their own error came first.
        assert call.error.pgcode == "22023", call.error
    backend.drop()
    return took if asked and hit else None


def test_cancel_at_any_moment(database):
    dice = random.Random(SEED)
    backend = Backend()
    names = list(CALLS)
    lengths = {name: backend.length(CALLS[name]) for name in names}
    worst = {}
    sizes = []
    hits = 0
    for i in range(CANCELS):
        name = names[i % len(names)]
        place = dice.choice(PLACES)
        took = cancelled(database, backend, name, place,
                         dice.uniform(0.0, lengths[name]))
        sizes.append(backend.megabytes())
        if took is None:
            continue
        hits += 1
        worst.setdefault(name, []).append((round(took, 2), place))
    for name, times in worst.items():
        print(f"{name:24} {len(times):4} cancels, worst {max(times)}")
    print(f"{hits} of {CANCELS} in the middle; memory {sizes[0]:.0f} MB, at a third"
          f" {sizes[CANCELS // 3]:.0f}, at the end {sizes[-1]:.0f}, most {max(sizes):.0f}")
    # A machine that does much else makes single ones longer; what does not listen is long each time.
    for name, times in worst.items():
        assert sorted(times)[len(times) // 2][0] <= LIMIT, (name, times)
    assert sizes[-1] - sizes[CANCELS // 3] < 48, sizes
    assert value(backend.connection, "SELECT 6 * 7") == 42
    assert outputs(backend.connection, "made%") == []
    backend.connection.close()


WIDE = sequential(layer("Flatten", "flatten"), dense("hidden", 18000, "relu"), dense("output", 10, "softmax"))


def test_while_results_are_written(database):
    """States and weights of 5 MB and 16 MB go into their tables in parts."""
    query(database, "SELECT hopper.load_model('architectures', %s)", WIDE)
    select(database, "wide_ones", [(key, 3, ADAM, "batch_size=512") for key in range(1, 4)])
    query(database, "SELECT hopper.fit_multiple_model('packed', 'large', 'wide_ones', 1)")
    digests = query(database, "SELECT mst_key, state_digest FROM large_info ORDER BY 1")
    size = "SELECT pg_total_relation_size('large_state') + pg_total_relation_size('large')"
    backend = Backend()
    took = []
    for place in ("alone", "savepoint", "do"):
        before = value(database, size)
        call = Call(database, backend, FIT.format("large", ", warm_start => true").replace("'configs', 1000000",
                                                                                             "'wide_ones', 1"), place)
        wait_until(lambda: not call.thread.is_alive() or value(database, size) > before + 1_000_000)
        query(database, "SELECT pg_cancel_backend(%s)", backend.pid)
        began = cpu_seconds(backend.pid)
        call.thread.join(60)
        took.append(cpu_seconds(backend.pid) - began)
        assert call.error is not None, "it ended before its cancel"
        assert call.error.pgcode == "57014", call.error
        assert threads(backend.pid) <= backend.idle
        backend.end(place)
        assert query(database, "SELECT mst_key, state_digest FROM large_info ORDER BY 1") == digests
    print(f"while results are written: {took}")
    assert min(took) <= 0.2, took
    # They are whole.
    query(backend.connection, "SELECT " + FIT.format("large", ", warm_start => true").replace(
        "'configs', 1000000", "'wide_ones', 1"))
    assert query(database, "SELECT DISTINCT iterations FROM large_info") == [(2,)]
    backend.connection.close()
    query(database, "DROP TABLE large, large_info, large_state, large_summary")


def test_terminate_in_a_block(database):
    server = value(database, "SELECT pg_postmaster_start_time()")
    for name in ("fit_multiple_model", "fit", "warm start", "predict", "evaluate", "explain_fit"):
        backend = Backend()
        call = Call(database, backend, CALLS[name], "block")
        call.thread.join(0.3)
        query(database, "SELECT pg_terminate_backend(%s)", backend.pid)
        wait_until(lambda: not pathlib.Path(f"/proc/{backend.pid}").exists())
        call.thread.join(30)
    assert value(database, "SELECT pg_postmaster_start_time()") == server
    assert outputs(database, "made%") == []
