#!/usr/bin/env python3
"""Kills runs at random moments and compares what they come to with runs that nobody killed.

    eval "$(scripts/server env BUILD)"
    bench/run_kills.py [--kills 200] [--seed 1] [--interval 1] [--most 8] [--runs plateau,warm,...]

On a server of its own, of the programs in PATH, with the library preloaded. A run is driven by a background
worker or by CALL hopper.train() in a session; what is killed is its process, its session, the postmaster
(SIGKILL) or the whole server (pg_ctl stop -m immediate). It goes on by itself, or by hopper.resume(). Then its
digests, metrics, statuses and leaderboard are those of the same statement without a kill, or the script ends
with exit code 1. Three kills of four wait until the run trains; the others meet it wherever it is, also while it
is opened. Prints what was killed how often, and the seconds that a kill has cost: since the newest checkpoint
or the beginning of its process, which are to be at most the interval and an iteration, or what opening takes.
"""

import argparse
import collections
import contextlib
import os
import pathlib
import random
import signal
import sys
import threading
import time

import psycopg2

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "test" / "e2e"))
from digits import ADAM, connect, create_database, query, select, value, wait_until  # noqa: E402
from own_server import own_server  # noqa: E402

DATABASE = "hopper_run_kills"
PORT = "5436"
PRELOADED = {"shared_preload_libraries": "model_hopper"}
WATCHED = ("batch_size={}, callbacks=[EarlyStopping(monitor='val_loss', patience=4, min_delta=0.005,"
           " restore_best_weights=True), ReduceLROnPlateau(monitor='val_loss', patience=1)]")
CONFIGS = [(1, 1, ADAM, "batch_size=16"), (2, 2, ADAM, WATCHED.format(8)), (3, 1, ADAM, WATCHED.format(16)),
           (4, 2, ADAM, "batch_size=16")]
GRID = """$g${'loss': ['categorical_crossentropy'], 'metrics': [['accuracy']], 'optimizer_params_list':
    [{'optimizer': ['Adam'], 'lr': [0.001, 0.1, 'log']}]}$g$, $g${'batch_size': [16, 32]}$g$"""
SEARCH = ("SELECT hopper.automl('packed', '{table}', 'architectures', '{table}_found', ARRAY[1, 2], " + GRID +
          ", '%s', '%s', seed => 3, validation_table => 'packed_validation')")
# a warm start goes on with a copy of this
BASE = ("SELECT hopper.fit_multiple_model('packed', 'base', 'configs', 5, validation_table => 'packed_validation',"
        " seed => 5)")
# name: its statement, with {table} for what it makes
RUNS = {
    "warm": "SELECT hopper.fit_multiple_model('packed', '{table}', 'configs', 150, warm_start => true,"
            " validation_table => 'packed_validation', threads => 2, mst_keys => ARRAY[1, 3, 4])",
    "plateau": "SELECT hopper.fit_multiple_model('packed', '{table}', 'configs', 150,"
               " validation_table => 'packed_validation', seed => 5, threads => 2)",
    "random": SEARCH % ("random", "num_configs=8, num_iterations=30"),
    "hyperband": SEARCH % ("hyperband", "R=27, eta=3, skip_last=0"),
    "asha": SEARCH % ("asha", "R=27, eta=3, num_configs=12"),
    "pbt": SEARCH % ("pbt", "population=5, generations=6"),
}
COMPARED = {
    "models": "SELECT mst_key, state_digest, status, iterations, best_iteration, metrics_iters, training_loss,"
              " validation_loss, training_metrics_all, validation_metrics_all FROM {table}_info ORDER BY 1",
    "weights": "SELECT mst_key, md5(model_weights) FROM {table} ORDER BY 1",
    "leaderboard": "SELECT mst_key, validation_metric FROM hopper.leaderboard('{table}')",
    "metrics": "SELECT trial, iteration, split, metric, value FROM hopper.trial_metrics WHERE run = (SELECT max(run)"
               " FROM hopper.runs WHERE model_table = '{table}') ORDER BY 1, 2, 3, 4",
}


def ask(text, *arguments):
    connection = connect(DATABASE)
    try:
        return query(connection, text, *arguments)
    finally:
        connection.close()


def steady_ask(text, *arguments):
    """While the server may be coming back."""
    deadline = time.monotonic() + 120
    while True:
        try:
            return ask(text, *arguments)
        except psycopg2.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def state(run):
    return steady_ask("SELECT state, pid, extract(epoch FROM clock_timestamp() - greatest(last_checkpoint,"
                      " (SELECT max(at) FROM hopper.run_events e WHERE e.run = r.run AND event = 'started'),"
                      " (SELECT max(backend_start) FROM pg_stat_activity a WHERE a.pid = r.pid)))"
                      " FROM hopper.runs r WHERE run = %s", run)[0]


def trains(run):
    """Whether the process that drives it has begun, or none does any more."""
    return steady_ask("SELECT NOT EXISTS (SELECT 1 FROM hopper.runs r WHERE run = %s AND pid IS NOT NULL AND NOT EXISTS"
                      " (SELECT 1 FROM hopper.run_events e WHERE e.run = r.run AND detail = 'process ' || r.pid))", run)[0][0]


def call(run):
    """In a session of its own, which may be killed."""
    try:
        ask("CALL hopper.train(%s)", run)
    except psycopg2.Error:
        pass


class Killer:
    def __init__(self, server, chance):
        self.server = server
        self.chance = chance
        self.kills = collections.Counter()
        self.lost = []

    def kill(self, run):
        """False where the run was quicker."""
        now, pid, since = state(run)
        if now != "running":
            return False
        how = self.chance.choice(["process", "process", "session", "session", "postmaster", "server"])
        if how == "process":
            os.kill(pid, signal.SIGKILL)
        elif how == "session":
            steady_ask("SELECT pg_terminate_backend(%s)", pid)
        elif how == "postmaster":
            self.server.kill()
            self.server.start_again(**PRELOADED)
        else:
            self.server.stop("immediate")
            self.server.start_again(**PRELOADED)
        self.kills[how] += 1
        self.lost.append(float(since or 0))
        # the one that was killed is gone
        wait_until(lambda: state(run)[1] != pid, 60)
        return True

    def drive_on(self, run):
        """Once nobody drives it: a worker that was killed comes back by itself."""
        deadline = time.monotonic() + 120
        while (now := state(run)[0]) not in ("running", "done", "failed"):
            if now in ("created", "interrupted"):
                self.begin(run)
            elif time.monotonic() > deadline:
                sys.exit(f"run {run} is {now}, and nobody drives it")
            time.sleep(1)

    def begin(self, run):
        """A session may be lost with its server, and a worker be quicker."""
        if self.chance.random() < 0.5:
            with contextlib.suppress(psycopg2.errors.ObjectInUse, psycopg2.errors.ObjectNotInPrerequisiteState):
                steady_ask("SELECT hopper.resume(%s)", run)
        else:
            threading.Thread(target=call, args=(run,), daemon=True).start()


def begin_table(name, table):
    if name == "warm":
        steady_ask(f"SELECT hopper.copy_model('base', '{table}')")


def killed_run(killer, statement, table, seconds, most):
    run = steady_ask("SELECT hopper.create_run(%s)", statement.replace("{table}", table))[0][0]
    before = sum(killer.kills.values())
    while True:
        killer.drive_on(run)
        if state(run)[0] != "running":
            break
        if sum(killer.kills.values()) - before < most:
            if killer.chance.random() < 0.75:
                wait_until(lambda: trains(run), 60)
            time.sleep(killer.chance.uniform(0, seconds / 2))
            killer.kill(run)
        else:
            steady_ask("SELECT hopper.wait(%s)", run)
    if state(run)[0] != "done":
        sys.exit(f"run {run} of {table}: {steady_ask('SELECT state, error FROM hopper.runs WHERE run = %s', run)}")


def differences(table, straight):
    return [what for what, text in COMPARED.items()
            if steady_ask(text.replace("{table}", table)) != steady_ask(text.replace("{table}", straight))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--interval", type=int, default=1)
    parser.add_argument("--most", type=int, default=8, help="kills of one run")
    parser.add_argument("--runs", default=",".join(RUNS))
    options = parser.parse_args()
    chance = random.Random(options.seed)
    statements = {name: RUNS[name] for name in options.runs.split(",")}
    os.environ["PGPORT"] = PORT
    with own_server("kills", PORT) as server:
        server.start(**PRELOADED)
        connection = create_database(DATABASE)
        select(connection, "configs", CONFIGS)
        query(connection, f"ALTER DATABASE {DATABASE} SET hopper.checkpoint_interval = {options.interval}")
        query(connection, f"ALTER DATABASE {DATABASE} SET client_min_messages = error")
        seconds = {}
        query(connection, BASE)
        for name, statement in statements.items():
            begin_table(name, f"{name}_straight")
            start = time.monotonic()
            query(connection, statement.replace("{table}", f"{name}_straight"))
            seconds[name] = time.monotonic() - start
        connection.close()
        killer = Killer(server, chance)
        rounds, wrong = 0, 0
        while sum(killer.kills.values()) < options.kills:
            for name, statement in statements.items():
                left = options.kills - sum(killer.kills.values())
                if left <= 0:
                    break
                table = f"{name}_{rounds}"
                begin_table(name, table)
                killed_run(killer, statement, table, seconds[name], min(left, options.most))
                found = differences(table, f"{name}_straight")
                wrong += bool(found)
                print(f"{table}: {'differs: ' + ', '.join(found) if found else 'equal'},"
                      f" {sum(killer.kills.values())} kills so far", flush=True)
                rounds += 1
        restarts = steady_ask("SELECT count(*) FROM hopper.run_events WHERE event = 'started'")[0][0]
        print(f"{sum(killer.kills.values())} kills ({', '.join(f'{n} {how}' for how, n in killer.kills.items())}),"
              f" {rounds} runs in {restarts} sessions, {rounds - wrong} equal;"
              f" a kill cost {sum(killer.lost) / len(killer.lost):.2f} s of training on average,"
              f" {max(killer.lost):.2f} s at most, at an interval of {options.interval} s")
        sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
