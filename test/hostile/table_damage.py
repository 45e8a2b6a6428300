"""Random damage to the tables that functions leave with the users, who may change them as they like.

A round damages one to three cells, columns or rows of a packed table, an output table or their
companions inside a transaction, calls some of all that reads them, and takes it all back.
python table_damage.py ROUNDS [SEED]
"""

import random
import sys

import psycopg2

import stage
from memory_fails_test import CALLS

TABLES = ["packed", "packed_summary", "packed_validation", "packed_validation_summary", "models",
          "configs", "configs_summary", "run", "run_info", "run_summary", "run_state",
          "searched", "searched_info", "searched_summary", "searched_state", "searched_trials",
          "searched_decisions", "searched_rungs", "searched_configs", "searched_configs_summary",
          "drawn", "drawn_summary", "treated", "treated_summary"]
# Tables with the user's own columns.
OF_THE_USER = ["points", "nothing", "bad"]
# Functions that read no table; all others are readers as memory_fails_test.py calls them.
NO_READERS = ["build_info", "claim_names", "describe_architecture", "from_safetensors", "gpu_configuration", "help",
              "help_function", "hyperband_schedule", "integers_in", "integers_out", "layers",
              "losses", "metric_ascends", "metrics", "names_like", "optimizers", "params_json", "expire_runs", "grant_run", "revoke_run", "pause", "set_iterations", "stop_trial", "pin_trial", "unpin_trial", "enqueue_trial", "progress_slots", "resume",
              "search_algorithms", "show_as", "sparkline", "submit", "tensorboard_events", "wait",
              "texts_in", "texts_of_booleans", "texts_out", "textin", "textout",
              "to_onnx_arch", "to_pytorch_arch", "to_safetensors", "run_closing", "version", "within"]
READERS = [statement for name, statement in CALLS.items() if name not in NO_READERS] + [
    "SELECT hopper.fit_multiple_model('packed', 'again', 'configs', 1, validation_table := 'packed_validation')",
    "SELECT hopper.fit_multiple_model('packed', 'run', 'configs', 1, warm_start := true)",
    "SELECT hopper.fit('packed', 'one', 'models', 1, $$loss='mse', optimizer='SGD'$$, 'batch_size=8', 1)",
    "SELECT * FROM hopper.explain_fit('packed', 'run', 'configs', 2)",
    "SELECT * FROM hopper.explain_fit(model_table := 'run', measure := true)",
    "SELECT hopper.validation_preprocessor('points', 'more', 'y', 'x', 'packed')",
    "SELECT hopper.evaluate('run', 'packed_validation', mst_key := 2)",
    "SELECT count(*) FROM hopper.predict_packed('run', 'packed_validation')",
    "SELECT hopper.evaluate('run', 'packed', 'evaluated', mst_key := 1, confusion_table := 'confused')",
    "SELECT hopper.predict('run', 'points', 'id', 'x', 'predicted', mst_key := 1)",
    "SELECT hopper.predict('run', 'points', 'id', 'x', 'predicted', 'response', mst_key := 2)",
    "SELECT hopper.predict_byom('models', 2, 'points', 'id', 'x', 'predicted')",
    "SELECT * FROM hopper.predict_row('run', 1, ARRAY[1, 2]::real[])",
    "SELECT * FROM hopper.leaderboard('run')",
    "SELECT * FROM hopper.learning_curves('run')",
    "SELECT * FROM hopper.run_timeline('run')",
    "SELECT * FROM hopper.best_config('searched')",
    "SELECT * FROM hopper.param_importance('searched')",
    "SELECT hopper.copy_model('searched', 'copied')",
    "SELECT hopper.automl('packed', 'anew', 'models', 'anew_configs', '{1}', $${'loss': ['categorical_crossentropy'],"
    " 'optimizer_params_list': [{'optimizer': ['SGD', 'Adam'], 'lr': [0.01, 0.1]}], 'metrics': ['accuracy']}$$,"
    " $${'batch_size': [8]}$$, 'random', 'num_configs=1, num_iterations=1', from_run := 'searched')",
    "SELECT * FROM hopper.check_configs('configs', 'packed')",
    "SELECT * FROM hopper.describe_model('models', 1)",
    "SELECT hopper.load_model('models', (SELECT model_arch FROM models LIMIT 1))",
    "SELECT hopper.delete_model('models', 1)",
    "SELECT hopper.load_model_selection_table('models', 'others', '{1}',"
    " ARRAY[$$loss='mse', optimizer='SGD'$$], ARRAY['batch_size=8'])",
    "SELECT hopper.generate_model_configs('models', 'configs', '{1}', $${'loss': ['mse'],"
    " 'optimizer_params_list': [{'optimizer': ['SGD']}]}$$, $${'batch_size': [4]}$$)",
]
PER_ROUND = 26
CELLS = {
    "integer": ["NULL", "0", "-1", "1", "2147483647", "-2147483648", "{0} + 1", "-{0}", "20000000"],
    "bigint": ["NULL", "0", "-1", "9223372036854775807", "-9223372036854775808", "4294967296", "{0} * 2"],
    "real": ["NULL", "0", "'NaN'", "'Infinity'", "-{0}", "1e-45"],
    "double precision": ["NULL", "0", "'NaN'", "'-Infinity'", "1e308", "-1"],
    "text": ["NULL", "''", "'x'", "{0} || {0}", "'[[[[[[[['", "'-1'", "'points'", "repeat('ab', 100000)"],
    "bytea": ["NULL", "''", "'\\x00'", "substring({0} FROM 2)", "{0} || {0}", "repeat('ab', 1000)::bytea",
              "set_byte({0}, octet_length({0}) / 2, 255)", "set_byte({0}, 0, 255)",
              "set_byte({0}, octet_length({0}) - 1, 127)"],
    "boolean": ["NULL", "NOT {0}"],
    "jsonb": ["NULL", "'{{}}'", "'[]'", "'null'", "'1'", "'{{\"lr\": 1}}'"],
    "json": ["NULL", "'{{}}'", "'[]'", "'null'", "'1'"],
}
ARRAY_CELLS = ["NULL", "'{{}}'", "'{{NULL}}'", "{0} || {0}", "{0}[2:10]", "ARRAY[{0}, {0}]",
               "array_fill({0}[1], ARRAY[5])", "array_fill({0}[1], ARRAY[1], ARRAY[-7])"]
NUMBER_ARRAY_CELLS = ["'{{-1}}'", "'{{0}}'", "'{{2147483647,2147483647,2147483647}}'", "'{{1,2,3,4,5,6,7}}'"]
TYPES = ["text", "bytea", "bigint", "integer", "smallint", "text[]", "real", "double precision", "json",
         "boolean", "name", "integer[]", '"char"', "timestamp"]


def columns(connection):
    rows = stage.execute(connection, """
        SELECT c.relname, a.attname, format_type(a.atttypid, NULL)
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
            AND c.relname = ANY (%s) ORDER BY 1, 2""", (TABLES,))
    assert {row[0] for row in rows} == set(TABLES)
    tables = stage.execute(connection, "SELECT relname FROM pg_class WHERE relkind = 'r'"
                           " AND relnamespace = current_schema()::regnamespace")
    assert {name for name, in tables} == set(TABLES + OF_THE_USER), "a table that nobody damages"
    return rows


def one_damage(chance, all_columns):
    table, column, kind = chance.choice(all_columns)
    what = chance.random()
    where = chance.choice(["", f" WHERE ctid = (SELECT min(ctid) FROM {table})"])
    quoted = f'"{column}"'
    if what < 0.6:
        if kind.endswith("[]"):
            values = ARRAY_CELLS + (NUMBER_ARRAY_CELLS if kind != "text[]" else [])
        else:
            values = CELLS.get(kind, ["NULL"])
        return f"UPDATE {table} SET {quoted} = {chance.choice(values).format(quoted)}{where}"
    if what < 0.72:
        new = chance.choice(TYPES)
        using = chance.choice([f"({quoted}::text)::{new}", f"NULL::{new}"])
        return (f"ALTER TABLE {table} ALTER COLUMN {quoted} DROP DEFAULT,"
                f" ALTER COLUMN {quoted} TYPE {new} USING {using}")
    if what < 0.80:
        return f"ALTER TABLE {table} DROP COLUMN {quoted} CASCADE"
    if what < 0.86:
        return f"ALTER TABLE {table} RENAME COLUMN {quoted} TO other"
    if what < 0.90:
        return f"DELETE FROM {table}{where}"
    if what < 0.94:
        return f"INSERT INTO {table} SELECT * FROM {table}"
    if what < 0.95:
        return f"DROP TABLE {table} CASCADE"
    if what < 0.97:
        event = chance.choice(["INSERT", "UPDATE", "DELETE"])
        return chance.choice([
            f"CREATE TRIGGER swallow BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION swallow()",
            f"CREATE RULE swallow AS ON {event} TO {table} DO INSTEAD NOTHING",
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY; ALTER TABLE {table} FORCE ROW LEVEL SECURITY"])
    return (f"ALTER TABLE {table} RENAME TO hidden; CREATE VIEW {table} AS SELECT * FROM hidden")


def release_constraints(connection):
    """So that NULL and double keys can be written, as after a copy with CREATE TABLE AS."""
    for table, name in stage.execute(connection, """
            SELECT conrelid::regclass::text, quote_ident(conname) FROM pg_constraint
            WHERE connamespace = current_schema()::regnamespace AND conrelid <> 0
              AND conrelid::regclass::text = ANY (%s)""", (TABLES,)):
        stage.execute(connection, f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    for table, column in stage.execute(connection, """
            SELECT c.relname, quote_ident(a.attname) FROM pg_class c JOIN pg_attribute a
            ON a.attrelid = c.oid WHERE c.relnamespace = current_schema()::regnamespace
              AND a.attnum > 0 AND a.attnotnull AND NOT a.attisdropped AND a.attidentity = ''
              AND c.relname = ANY (%s)""",
                                       (TABLES,)):
        stage.execute(connection, f"ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL")


class Finding(AssertionError):
    """Damage that did harm."""


def run(connection, rounds, seed, report=lambda text: None):
    """Returns how often each reader ended with which SQLSTATE; raises Finding."""
    chance = random.Random(seed)
    stage.become(connection, stage.STRANGER)
    stage.execute(connection, "SET client_min_messages = error; SET hopper.notice_interval = 0;"
                  " SET statement_timeout = '60s'; SET hopper.memory_limit = '500MB'; SET hopper.threads = 2")
    release_constraints(connection)
    all_columns = columns(connection)
    stage.execute(connection, "CREATE OR REPLACE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql"
                  " AS 'BEGIN RETURN NULL; END'")
    pid = stage.process(connection)
    outcome = {reader: {} for reader in READERS}
    held = None
    for number in range(rounds):
        done = []
        stage.execute(connection, "BEGIN")
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            damage = one_damage(chance, all_columns)
            try:
                stage.execute(connection, f"SAVEPOINT damage; {damage}; RELEASE damage")
                done.append(damage)
            except psycopg2.Error:
                stage.execute(connection, "ROLLBACK TO damage")
        for reader in chance.sample(READERS, PER_ROUND):
            stage.execute(connection, "SAVEPOINT reader")
            try:
                stage.execute(connection, reader)
                code = "00000"
            except psycopg2.Error as error:
                code = error.pgcode
                if connection.closed or (stage.internal_error(error) and code != "XX001") or code == "57014":
                    raise Finding(f"round {number} of seed {seed}: {done}\n{reader}\n{error}") from error
            outcome[reader][code] = outcome[reader].get(code, 0) + 1
            stage.execute(connection, "ROLLBACK TO reader")
        stage.execute(connection, "ROLLBACK")
        if stage.threads(pid) > 16:
            raise Finding(f"round {number} of seed {seed} left {stage.threads(pid)} threads: {done}")
        if number % 100 == 99:
            now = stage.held_bytes(connection, stage.STRANGER)
            held = held or (now if number >= 199 else None)
            report(f"{number + 1} rounds, {now / 1e6:.2f} MB held")
            if held is not None and now - held > stage.MAY_GROW:
                raise Finding(f"{number + 1} rounds of seed {seed}: the session holds {now} bytes,"
                              f" after 200 rounds it held {held}")
    return outcome


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    stage.create().close()
    session = stage.connect()
    for reader_text, codes in run(session, count, int(sys.argv[2]) if len(sys.argv) > 2 else 1, print).items():
        print(codes, reader_text)
    session.close()
    stage.destroy()
