"""Each function, called again and again in one statement, each time taken back: cancelled, and its server
process killed. Which functions there are, and how they are called, memory_fails_test.py knows, which fails where
one is missing; so a new function cannot be forgotten.

Some functions of all; HOPPER_EVERY_FUNCTION=1: each. HOPPER_SEED=7: others, and other moments.
"""

import os
import random
import signal
import threading
import time

import psycopg2
import pytest

import stage
from conftest import crashes, wait_for_server
from digits import cpu_seconds, threads, wait_until
from memory_fails_test import CALLS

pytestmark = pytest.mark.chance
SEED = int(os.environ.get("HOPPER_SEED", "1"))
EVERY = "HOPPER_EVERY_FUNCTION" in os.environ
CANCELLED = list(CALLS) if EVERY else random.Random(SEED).sample(sorted(CALLS), 16)
KILLED = list(CALLS) if EVERY else random.Random(SEED).sample(sorted(CALLS), 3)
# What the backend computes after it was asked to stop, in seconds of all its threads: the better of a few
# tries, because what else the machine does makes single ones longer; what does not listen is long each time.
LIMIT = 0.2
TRIES = 3
# Models that predict_row() made may stay ready, with a thread each: one for each way to call it.
READY = sum("hopper.predict_row(" in call for call in CALLS.values())


def endless(statement):
    return ("DO $endless$ BEGIN LOOP BEGIN EXECUTE $call$" + statement + "$call$; RAISE SQLSTATE 'HP000';"
            " EXCEPTION WHEN SQLSTATE 'HP000' THEN NULL; END; END LOOP; END $endless$")


def tables(connection):
    return stage.execute(connection, "SELECT relname, relfilenode FROM pg_class WHERE relkind = 'r'"
                         f" AND relnamespace = '{stage.OWNER}'::regnamespace ORDER BY 1")


@pytest.fixture(scope="module")
def database():
    connection = stage.create()
    yield connection
    connection.close()
    stage.destroy()


class Session:
    """A session of the owner that calls one function until it is ended."""

    def __init__(self):
        self.connection = stage.connect()
        self.pid = stage.process(self.connection)
        stage.execute(self.connection, "SET client_min_messages = error; SET hopper.threads = 2;"
                      " SET hopper.notice_interval = 0")
        stage.become(self.connection, stage.OWNER)
        # Threads that libtorch keeps, and a model that stays ready.
        stage.execute(self.connection, "SELECT hopper.evaluate('run', 'packed', mst_key := 1)")
        stage.execute(self.connection, "SELECT * FROM hopper.predict_row('run', 1, ARRAY[1, 2]::real[])")
        self.idle = threads(self.pid)
        self.error = self.thread = None

    def begin(self, name):
        self.error = None
        self.thread = threading.Thread(target=self.loop, args=(name,))
        self.thread.start()

    def loop(self, name):
        try:
            stage.execute(self.connection, endless(CALLS[name]))
        except psycopg2.Error as error:
            self.error = error


@pytest.fixture(scope="module")
def session(database):
    session = Session()
    yield session
    session.connection.close()


@pytest.mark.parametrize("name", CANCELLED)
def test_is_cancelled(session, database, name):
    chance = random.Random(f"{SEED} {name}")
    before = tables(database)
    took = []
    while len(took) < TRIES and (not took or min(took) > LIMIT):
        session.begin(name)
        # A cancel that comes before the statement would cancel nothing.
        wait_until(lambda: not session.thread.is_alive() or stage.execute(
            database, "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND state = 'active'", (session.pid,)))
        session.thread.join(chance.uniform(0.1, 0.4))
        assert session.thread.is_alive(), session.error
        session.connection.cancel()
        began = cpu_seconds(session.pid)
        session.thread.join(60)
        assert not session.thread.is_alive(), "it goes on after its cancel"
        took.append(cpu_seconds(session.pid) - began)
        assert session.error.pgcode == "57014", session.error
        assert threads(session.pid) <= session.idle + READY
    print(f"{name}: {min(took):.2f} s")
    assert min(took) <= LIMIT, took
    assert tables(database) == before


@pytest.mark.crash
@pytest.mark.parametrize("name", KILLED)
def test_its_process_is_killed(name):
    stage.create().close()
    try:
        watcher = stage.connect()
        before = tables(watcher)
        watcher.close()
        session = Session()
        crashed = crashes()
        session.begin(name)
        time.sleep(random.Random(f"{SEED} {name}").uniform(0.1, 0.4))
        os.kill(session.pid, signal.SIGKILL)
        session.thread.join(30)
        wait_until(lambda: crashes() > crashed)
        wait_for_server()
        watcher = stage.connect()
        assert tables(watcher) == before
        stage.become(watcher, stage.OWNER)
        stage.execute(watcher, "SET client_min_messages = error")
        assert stage.execute(watcher, "SELECT models_failed FROM hopper.fit_multiple_model('packed', 'run', 'configs',"
                             " 1, warm_start := true)") == [(0,)]
        watcher.close()
    finally:
        wait_for_server()
        stage.destroy()
