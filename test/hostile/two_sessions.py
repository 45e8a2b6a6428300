"""Sessions that pack, train, read, drop, rename, alter, vacuum and cancel on the same names at once.

python two_sessions.py SECONDS [SEED]. What a session is refused does not matter; that the server lives,
nobody sees an internal error, nobody waits for ever and no thread stays does.
"""

import contextlib
import random
import sys
import threading
import time

import psycopg2

import stage

STATEMENTS = [
    "SELECT hopper.training_preprocessor('points', 'work', 'y', 'x', validation_fraction := 0.25)",
    "SELECT hopper.training_preprocessor('seen', 'work', 'y', 'x')",
    "SELECT hopper.validation_preprocessor('points', 'work_validation', 'y', 'x', 'work')",
    "SELECT hopper.fit_multiple_model('work', 'race', 'configs', 3)",
    "SELECT hopper.fit_multiple_model('work', 'race', 'configs', 2, warm_start := true)",
    "SELECT hopper.fit_multiple_model('packed', 'run', 'configs', 2, warm_start := true)",
    "SELECT hopper.fit('packed', 'one', 'models', 1, $$loss='categorical_crossentropy', optimizer='SGD'$$,"
    " 'batch_size=4', 20)",
    "SELECT hopper.evaluate('run', 'packed_validation', mst_key := 1)",
    "SELECT hopper.evaluate('race', 'work', 'evaluated', mst_key := 1)",
    "SELECT hopper.predict('run', 'points', 'id', 'x', 'predicted', mst_key := 1)",
    "SELECT hopper.predict('race', 'seen', 'id', 'x', 'predicted', 'response', mst_key := 1)",
    "SELECT * FROM hopper.predict_row('run', 1, ARRAY[1, 2]::real[])",
    "SELECT * FROM hopper.predict_row('race', 1, ARRAY[1, 2]::real[])",
    "SELECT * FROM hopper.leaderboard('race')", "SELECT * FROM hopper.leaderboard('run')",
    "SELECT * FROM hopper.learning_curves('race')", "SELECT * FROM hopper.run_timeline('run')",
    "SELECT * FROM hopper.explain_fit('work', 'race', 'configs', 2)",
    "SELECT * FROM hopper.check_configs('configs', 'work')",
    "SELECT hopper.load_model('models', (SELECT model_arch FROM models LIMIT 1))",
    "SELECT hopper.delete_model('models', (SELECT max(model_id) FROM models HAVING max(model_id) > 1))",
    "SELECT hopper.generate_model_configs('models', 'drawn', '{1}', $${'loss': ['categorical_crossentropy'],"
    " 'optimizer_params_list': [{'optimizer': ['SGD', 'Adam']}]}$$, $${'batch_size': [4, 8]}$$)",
    "SELECT hopper.load_model_selection_table('models', 'drawn', '{1}', ARRAY[$$loss='mse', optimizer='SGD'$$],"
    " ARRAY['batch_size=4'])",
    "SELECT hopper.fit_multiple_model('work', 'race', 'configs', 2, replace := true)",
    "SELECT hopper.training_preprocessor('points', 'work', 'y', 'x', replace := true)",
    "SELECT hopper.predict('run', 'points', 'id', 'x', 'predicted', mst_key := 1, replace := true)",
    "SELECT hopper.automl('packed', 'sought', 'models', 'sought_configs', '{1}', $${'loss':"
    " ['categorical_crossentropy'], 'optimizer_params_list': [{'optimizer': ['SGD', 'Adam'], 'lr': [0.01, 0.1]}],"
    " 'metrics': ['accuracy']}$$, $${'batch_size': [8]}$$, 'random', 'num_configs=2, num_iterations=1',"
    " replace := true)",
    "SELECT * FROM hopper.best_config('sought')",
    "SELECT * FROM hopper.predict_rows('run', NULL::points)",
    "SELECT * FROM hopper.predict_rows('race', NULL::points)",
    "SELECT hopper.copy_model('run', 'race')", "SELECT hopper.copy_model('race', 'one', replace := true)",
    "SELECT hopper.rename_model('race', 'one', replace := true)", "SELECT hopper.rename_model('one', 'race')",
    "SELECT hopper.keep_best('race', 1)", "SELECT hopper.drop_model('race')", "SELECT hopper.drop_model('sought')",
    "SELECT hopper.drop_packed('work')", "SELECT hopper.grant_model('race', 'public')",
    "DROP TABLE IF EXISTS race, race_info, race_summary, race_state",
    "DROP TABLE IF EXISTS work, work_summary", "DROP TABLE IF EXISTS work_validation, work_validation_summary",
    "DROP TABLE IF EXISTS one, one_info, one_summary, one_state", "DROP TABLE IF EXISTS predicted",
    "DROP TABLE IF EXISTS evaluated", "DROP TABLE IF EXISTS drawn, drawn_summary",
    "ALTER TABLE race RENAME TO race_away", "ALTER TABLE race_away RENAME TO race",
    "ALTER TABLE work RENAME COLUMN x TO xx", "ALTER TABLE work ADD COLUMN more integer DEFAULT 7",
    "ALTER TABLE points ALTER COLUMN number TYPE numeric", "ALTER TABLE points ALTER COLUMN number TYPE float8",
    "ALTER TABLE points ALTER COLUMN x TYPE float8[]", "ALTER TABLE points ALTER COLUMN x TYPE real[]",
    "CREATE OR REPLACE VIEW seen AS SELECT * FROM points WHERE id > 10",
    "UPDATE run SET model_weights = model_weights", "UPDATE work SET n = n", "DELETE FROM race_info",
    "VACUUM FULL run", "VACUUM work", "VACUUM FULL points", "ANALYZE", "CLUSTER points USING points_pkey",
    "TRUNCATE work", "REINDEX TABLE run", "LOCK TABLE run IN ACCESS EXCLUSIVE MODE", "DISCARD ALL",
    "CREATE INDEX ON points (number)", "COMMENT ON TABLE run IS 'busy'",
]
# What VIEW seen and COLUMN x are kept from by each other, and what a race legitimately answers, is in
# the classes of errors that a session may get; these it may not.
FORBIDDEN = ("XX000", "XX002", "58", "53")


def enter(connection):
    stage.become(connection, stage.STRANGER)
    stage.execute(connection, "SET client_min_messages = error; SET statement_timeout = '10s';"
                  " SET lock_timeout = '3s'; SET hopper.notice_interval = 0; SET hopper.threads = 2")


class Session:
    """What one thread does, with a session that others cancel at any time."""

    def __init__(self, seed, everybody):
        self.seed = seed
        self.chance = random.Random(seed)
        self.all = everybody
        self.connection = None
        self.block = self.entered = False
        self.statement = ""

    def do(self, text):
        self.statement = text
        stage.execute(self.connection, text)

    def step(self):
        if self.connection is None:
            self.connection = stage.connect()
        if not self.entered:
            enter(self.connection)
            self.entered = True
        what = self.chance.random()
        if what < 0.12 and not self.block:
            self.do("BEGIN" + self.chance.choice(
                ["", " ISOLATION LEVEL REPEATABLE READ", " ISOLATION LEVEL SERIALIZABLE", " READ ONLY"]))
            self.block = True
        elif what < 0.25 and self.block:
            self.do(self.chance.choice(["COMMIT", "ROLLBACK"]))
            self.block = False
        elif what < 0.30:
            # By its key: what a role may cancel depends on who connected.
            other = self.chance.choice([other for other in self.all if other is not self])
            connection = other.connection
            if connection is not None:
                with contextlib.suppress(psycopg2.InterfaceError):  # it has been closed meanwhile
                    connection.cancel()
        else:
            self.do(self.chance.choice(STATEMENTS))
            # The role and the settings went, too.
            self.entered = self.statement != "DISCARD ALL"

    def leave_block(self):
        """A cancel may hit the end of a block as well."""
        while self.block:
            try:
                stage.execute(self.connection, "ROLLBACK")
                self.block = False
            except psycopg2.errors.QueryCanceled:
                pass

    def run(self, until, findings, done):
        try:
            while time.monotonic() < until and not findings:
                try:
                    self.step()
                    done[0] += 1
                except psycopg2.Error as error:
                    code = error.pgcode or ""
                    if not code or (code.startswith(FORBIDDEN) and stage.internal_error(error)):
                        findings.append(f"session {self.seed}: {self.statement}\n{code} {error}")
                        return
                    self.leave_block()
        except psycopg2.Error as error:
            findings.append(f"session {self.seed}: after {self.statement}\n{error}")
        finally:
            connection, self.connection = self.connection, None
            if connection is not None:
                connection.close()


def run(seconds, seed, sessions=3):
    """Returns (statements that were not refused, findings)."""
    findings, done, until = [], [0], time.monotonic() + seconds
    everybody = []
    everybody += [Session(seed * 100 + number, everybody) for number in range(sessions)]
    workers = [threading.Thread(target=session.run, args=(until, findings, done))
               for session in everybody]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(seconds + 60)
        if worker.is_alive():
            findings.append("a statement waits for ever: " + str(_activity()))
    return done[0], findings


def _activity():
    watcher = stage.connect("postgres")
    try:
        return stage.execute(watcher, "SELECT pid, state, wait_event_type, wait_event, query"
                             " FROM pg_stat_activity WHERE datname = %s", (stage.DATABASE,))
    finally:
        watcher.close()


if __name__ == "__main__":
    stage.create().close()
    statements, found = run(float(sys.argv[1]) if len(sys.argv) > 1 else 3600,
                            int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(f"{statements} statements")
    print("\n".join(found))
    if not found:
        stage.destroy()
    sys.exit(1 if found else 0)
