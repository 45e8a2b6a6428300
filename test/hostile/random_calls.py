"""Random SQL calls over every function of the extension, with values that nobody would choose.

python random_calls.py CALLS [SEED] runs them by itself against the server of PGHOST; the test runs fewer.
A seed gives the same calls, as long as the functions stay the same. Some 500 calls a second come from one
session where the server's data and log are not on a disk (scripts/server with TMPDIR=/dev/shm) and little
is logged (SERVER_OPTIONS="-c log_min_messages=fatal"); with HOPPER_STAGE=1, 2, ... several run beside
each other.
"""

import functools
import random
import select
import sys

import psycopg2
import psycopg2.extensions

import stage
from stage import GRID, SMALL

NAMES = ["points", "seen", "kept", "counter", "nothing", "bad", "packed", "packed_summary",
         "packed_validation", "packed_validation_summary", "models", "configs", "configs_summary",
         "run", "run_info", "run_summary", "run_state", "run_pkey", "points_pkey", "pg_class",
         "pg_catalog.pg_authid", "information_schema.tables", "hopper.journal_runs", "pg_temp.x",
         "no_such", "no_schema.points", stage.DATABASE + ".public.points"]
STRANGE_NAMES = ["", " ", ".", "..", "a.b.c.d", '"', '""', "'", "\\", '"o\'brien"', "o'brien",
                 f'"c\'; DROP TABLE {stage.STRANGER}.points; --"', "x" * 63, "x" * 64, "ü" * 31,
                 '"' + "ü" * 40 + '"', '"A b"', "*", "%s", "$1", "points, bad", "(SELECT 1)",
                 "points; SELECT 1", "\t", "json", "bytea", "text", '"text"', "1", "select"]
NEW_NAMES = ["made1", "made2", "made3", '"Made O\'4"', "pg_temp.made5", '"ü ""5"""']
COLUMNS = ["id", "x", "y", "fold", "number", "image", "ctid", "xmin", "tableoid", "", " ", "*", '"x"',
           "x, number", "x,x", "1", "no_such", "'x'", "x; DROP TABLE points", "points", "points.x",
           "ü" * 40, "NULL", "mst_key", "n", "x::text"]
COMPILE = [stage.COMPILE, "loss='mse', optimizer='Adam()', metrics=['mae']",
           "loss='categorical_crossentropy', optimizer='RMSprop(lr=0)', metrics=['AUC', 'top_k(1)']",
           "loss='binary_crossentropy', optimizer='Ftrl(lr=1e308)'", "loss='hinge', optimizer='SGD'",
           "{'loss': ['categorical_crossentropy', 'mse'], 'optimizer_params_list':"
           " [{'optimizer': ['SGD', 'Adam'], 'lr': [0.01, 0.1, 'log']}], 'metrics': ['accuracy']}",
           "", "loss=", "a" * 1000, "[" * 300, "loss='categorical_crossentropy', optimizer='SGD(lr=nan)'",
           "loss='(y-p)**2', optimizer='SGD(lr=1e-45, momentum=1e39)'"]
FIT = ["batch_size=8", "batch_size=1, epochs=2", "batch_size=2147483647", "batch_size=0", "epochs=-1",
       "batch_size=8, shuffle=False, class_weight={0: 1e300, 1: -1}", "", "batch_size=8,",
       "{'batch_size': [8, 16], 'epochs': [1]}", "{'batch_size': [1, 1000, 'uniform']}",
       "batch_size=8, epochs=2147483647", "batch_size=8, validation_split=0.2", "verbose=0"]
INTEGERS = [None, 0, 1, 2, 3, -1, 7, 100, 2147483647, -2147483648]
BIGINTS = INTEGERS + [2**63 - 1, -2**63]
FLOATS = [None, 0.0, 1.0, -1.0, 0.5, 1e308, -1e308, 5e-324, float("nan"), float("inf"), float("-inf")]
ARRAYS = {
    "integer[]": ["{}", "{1}", "{1,2}", "{NULL}", "{{1},{2}}", "[-5:-4]={1,2}", "{1,1,1}", "{0}", "{-1}",
                  "{2147483647}", "{2}", "{1,2,1}", "{16777216,16777216,16777216}"],
    "hopper.integers": ["{}", "{1}", "1", "2", "-1", "{NULL}", "", "x", "{1,2}", "{{1},{2}}", "9999999999", "1,2"],
    "hopper.pad_length": ["2", "0", "-1", "longest", "", "x", '{"x": 2}', '{"x": "longest"}', '{"y": 3}', "{}", "{",
                          '{"x": null}', '{"x": 2, "x": 3}', "99999999999999999999", "1000000000", "2.5"],
    "hopper.pred_type": ["prob", "response", "", "x", "1", "0", "-1", "0.5", "1.5", "0.0", "NaN", "Infinity", "1e99", "99999999999"],
    "hopper.replacement": ["true", "false", "rows", "rows", "f", "", "x"],
    "hopper.texts": ["{}", "{a,b}", "a", "{NULL}", '{"",""}', "{{a},{b}}", "{first}", "{", "", "{a,b,c,d,e}"],
    "text[]": ["{}", "{a,b}", "{NULL}", '{"",""}', "{{a},{b}}", "{a}", "{a,b,c,d,e}"],
    "double precision[]": ["{}", "{1}", "{-1e308,1e308}", "{NaN,Infinity,-Infinity}", "{NULL,1}",
                           "{{1,2},{3,4}}", "[5:7]={1,2,3}"],
}
TEXTS = {"search_type": ["grid", "random", "hyperband", ""], "dtype": ["fp32", "bf16", "tf32", ""],
         "training_metrics": ["final", "running", "every", ""], "pred_type": ["prob", "response", "", "x"],
         "distribution_rules": ["all_segments", "gpu_segments", "", "points"]}
LIMITED = {"num_iterations": [1, 1, 1, 2, 2, 3, 0, -1, None, 2147483647],
           "num_configs": [1, 2, 5, 0, -1, 2147483647, None], "threads": [None, 1, 2, 4, 0, -1, 100000]}
FILES = []  # of weights, written by to_safetensors()
ROW_TYPES = ["points"] * 8 + ["seen", "bad", "packed", "run", "pg_class", "integer", "record", "hopper.automl_result"]
QUERIES = ["SELECT * FROM points", "SELECT x FROM points", "SELECT 1", "DELETE FROM points RETURNING *",
           "SELECT * FROM points; DROP TABLE points", f"SELECT * FROM {stage.OWNER}.points", "", ";", "COMMIT",
           "WITH d AS (DELETE FROM points RETURNING *) SELECT * FROM d", "SELECT * FROM points, points p",
           "TABLE points", "VALUES (1)", "SELECT * FROM points) q; SELECT (1", "SELECT id, x, x FROM points",
           "SELECT NULL::integer AS id, ARRAY[1e39, NULL]::real[] AS x", "CREATE TABLE made1 AS SELECT 1"]
READ_NAMES = ("source_table", "model_table", "packed_table", "model_arch_table", "model_selection_table",
              "validation_table")
LIKELY = {
    "source_table": ["points", "points", "seen"], "packed_table": ["packed", "packed", "packed_validation", "seen"],
    "model_arch_table": ["models"],
    "model_selection_table": ["configs", "configs", "made1"], "validation_table": ["packed_validation", None],
    "model_table": ["run", "run", "made1", "made2", "made3"], "dependent_varname": ["y", "number", '{"a": "y", "b": "number"}'],
    "independent_varname": ["x"], "id_col": ["id"], "fold_column": ["fold", None],
    "output_table": NEW_NAMES, "confusion_table": NEW_NAMES, "pred_type": ["prob", "response", 1, 0.5],
    "features": ["{1,2}"], "compile_params": COMPILE[:2], "compile_params_grid": [GRID],
    "fit_params": FIT[:2], "fit_params_grid": [FIT[8]], "compile_params_list": [[COMPILE[0]]],
    "fit_params_list": [[FIT[0]]], "model_id_list": ["{1}"], "model_id": [1], "mst_key": [1, 2, None],
    "num_iterations": [1, 2, 3], "threads": [1, 2, None], "search_type": ["grid", "random"],
    "num_configs": [2, None], "dtype": ["fp32", "bf16"], "training_metrics": ["final", "every"],
    "normalizing_const": [1, 10], "partitions": [1, 3, None], "image_shape": [None], "starts": [None],
    "num_classes": [None], "class_values": [None, ["a", "b"]], "distribution_rules": [None],
    "gpus": [None], "buffer_size": [None, 5], "model_weights": [None], "file": [None], "input_shape": [None], "seed": [None, 0, 7],
    "validation_fraction": [None, 0.25], "threads_per_model": [1, 2],
    "metrics_compute_frequency": [1, None], "validation_freq": [2, None], "model_arch": [SMALL], "name": ["n", None],
    "names": ["{first}"], "role": ["public"], "privilege": ["predict", "train"], "new_name": NEW_NAMES, "schedule_table": NEW_NAMES,
    "r": [9, 27], "eta": [3], "skip_last": [0, 1], "variant": ["floor", "jmlr"], "hidden": ["3", "{4,2}"], "activation": ["relu"],
    "dropout": [0, 0.5], "kernel_size": [1], "filters": ["2"], "dense": ["3"], "function_name": ["fit", "predict"],
    "automl_method": ["random", "hyperband"], "automl_params": [None], "objective": [None], "space": [None],
    "target": [None], "label_kind": [None], "null_labels": ["error", "skip"], "rank_by": [None], "mst_keys": [None],
    "first_table": [None], "from_run": [None], "constraints": [None], "keep": [None],
    "source_rows": [None], "source_query": [None, QUERIES[0]], "on_null": ["error", "null"],
    "bytea_type": [None, "uint8"], "weight_varname": [None, "number"], "layer": [None, "output", "dense"],
    "pad_to": [None, None, "3", "longest", '{"x": 2}'], "pad_value": [0, -1], "pad_side": ["post", "pre"],
    "truncate": [None, "post", "pre"], "treatments": [None, None, "{}"], "table_name": ["treated", "packed"],
    "background_table": ["points"], "feature": ["x"], "class_value": [None, "a"], "samples": [2, 4],
    "metric": [None, "accuracy"], "repeats": [2], "most_rows": [5, None], "points": [2], "group_varname": [None, None, "y"],
    "time_varname": [None, None, "id"], "older_than": ["1 day"], "source_row": ['(1,"{1,2}",,,,)'],
    "recipe": ["realmlp_small", "tabm_mini"], "options": [None], "use_gpus": [False], "warm_start": [False, False, True]}


# What only one function needs: predict_byom wants an architecture that has weights.
LIKELY_OF = {("hopper.predict_byom", "model_id"): [2], ("hopper.cnn", "packed_table"): ["drawn"],
             ("hopper.leakage_suspects", "packed_table"): ["treated"],
             ("hopper.model_id", "name"): ["first"], ("hopper.best_config", "model_table"): ["searched"],
             ("hopper.param_importance", "model_table"): ["searched"],
             # A search wants two names that nothing has yet.
             ("hopper.automl", "model_table"): ["made1"], ("hopper.automl", "model_selection_table"): ["made2", "made3"]}


def functions(connection):
    """(name, [(argument, type)], how many have no default) of all that SQL may call."""
    rows = stage.execute(connection, """
        SELECT p.oid::regproc::text, p.proargnames, p.pronargs, p.pronargdefaults,
            ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY u(t, o)
                ORDER BY o)
        FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = 'hopper' AND p.prokind = 'f'
            -- Parts of others, which pass what they have made; and what takes a whole table, or a row of just these columns.
            AND coalesce(obj_description(p.oid, 'pg_proc'), '') NOT LIKE 'part of %'
            AND p.proname NOT IN ('auto_fit', 'cross_validate', 'predict_outputs', 'predict_value') ORDER BY p.oid::regprocedure::text""")
    result = []
    for name, names, number, defaults, types in rows:
        if "internal" in types or "trigger" in types or "hopper.untyped" in types or name == "hopper.untyped_in":
            continue
        names = (names or [None] * number)[:number]
        if names[:1] in (["run"], ["statement"]):
            continue  # they take a run that is there, or a call as text: by chance they would all be refused
        result.append((name, list(zip(names, types)), number - defaults))
    return result


def mutated(chance, text):
    """The text with some characters lost, doubled or replaced."""
    letters = list(text)
    for _ in range(chance.randrange(1, 6)):
        if not letters:
            break
        at = chance.randrange(len(letters))
        kind = chance.randrange(4)
        if kind == 0:
            del letters[at]
        elif kind == 1:
            letters[at:at] = letters[max(0, at - 20):at]
        elif kind == 2:
            letters[at] = chance.choice("{}[]()\"'\\,:;=-+.0123456789eE aNnté\n")
        else:
            letters[at:at + 1] = chance.choice(["null", "1e999", "-1", "2147483648", "true", "[]", "{}"])
    return "".join(letters)


def any_name(chance):
    name = chance.choice(NAMES + NEW_NAMES if chance.random() < 0.8 else STRANGE_NAMES)
    if chance.random() < 0.15 and "." not in name and '"' not in name:
        return f"{stage.OWNER}.{name}"
    return name


def argument_value(chance, function, name, kind, absurd):
    """A literal for one argument: what it is made for, or something that some role will try."""
    if not absurd and name in LIKELY and kind != "bytea":
        values = LIKELY_OF.get((function, name), LIKELY[name])
        if name == "pred_type":
            values = values[:2] if kind == "text" else values[2:]
        value = chance.choice(values)
        return int(value) if kind == "bigint" and isinstance(value, float) else value
    if chance.random() < 0.04:
        return None
    if kind in ("anyarray", "bytea") and name == "features":
        return chance.choice(["\\x", "\\x0102", "\\x00000000"]) if kind == "bytea" else chance.choice(
            ["{1,2}", "{}", "{1}", "{NULL,1}", "{1,2,3}", "{NaN,1}", "{{1,2}}", "{1e38,-1e38}"])
    if name == "file" and chance.random() < 0.5:
        return "\\x" + FILES[0].hex()
    if kind == "bytea":
        return chance.choice(["\\x", "\\x00", "\\x0000803f" * 1, "\\x" + "0000803f" * 17,
                              "\\x" + "0000c07f" * 17, "\\x" + "00" * chance.randrange(100)])
    if kind == "anyelement":
        return None
    if kind == "record":
        return chance.choice([None, "(1,\"{1,2}\",,,,)", "(,\"{1}\",,,,)", "(1,\"{NaN,1}\",a,,,)", "(1,\"{1,2,3}\",b,2,,)"])
    if name in LIMITED:
        return chance.choice(LIMITED[name])
    if kind in ARRAYS:
        return chance.choice(ARRAYS[kind])
    if kind in ("integer", "smallint"):
        return chance.choice([1, 1, 1, 2] + INTEGERS)
    if kind == "bigint":
        return chance.choice([1, 1, 1, 2] + BIGINTS)
    if kind in ("double precision", "real"):
        return chance.choice(FLOATS[:5] if kind == "real" else FLOATS)
    if kind == "boolean":
        return chance.random() < 0.2
    if name == "model_arch" or kind == "json":
        text = stage.SMALL
        if kind == "json":
            return text if chance.random() < 0.5 else chance.choice(["{}", "[]", "null", '"x"', "[[[]]]"])
        return mutated(chance, text) if chance.random() < 0.7 else text
    if name and name.startswith("compile_params"):
        text = chance.choice(COMPILE)
    elif name and name.startswith("fit_params"):
        text = chance.choice(FIT)
    elif name in TEXTS:
        text = chance.choice(TEXTS[name])
    elif name in READ_NAMES:
        return any_name(chance)
    elif name == "source_query":
        text = chance.choice(QUERIES)
    elif name in ("output_table", "confusion_table"):
        return chance.choice(NEW_NAMES) if chance.random() < 0.7 else any_name(chance)
    elif name in ("dependent_varname", "independent_varname", "id_col", "fold_column"):
        return chance.choice(COLUMNS)
    else:
        return any_name(chance)
    return mutated(chance, text) if chance.random() < 0.2 else text


def call(chance, function):
    """The text of one call and its arguments."""
    name, arguments, required = function
    written, values = [], []
    # None, one or half of the arguments are such as nobody would choose.
    level = chance.choice([0.0, 0.0, 1.0 / max(1, len(arguments)), 0.5])
    for index, (argument, kind) in enumerate(arguments):
        if index >= required and chance.random() < (0.6 if index > 3 else 0.15):
            continue
        cast = {"anyarray": "real[]", "anyelement": chance.choice(ROW_TYPES), "record": "points"}.get(kind, kind)
        prefix = f'"{argument}" := ' if argument else ""
        if (name, argument, kind) == ("hopper.model_ids", "names", "text[]"):
            prefix = "VARIADIC " + prefix
        value = argument_value(chance, name, argument, kind, chance.random() < level)
        written.append(f"{prefix}%s::{cast}")
        values.append(value)
    return f"SELECT * FROM {name}({', '.join(written)})", values


def tables(connection):
    return {row[0] for row in stage.execute(connection, """
        SELECT c.oid::regclass::text FROM pg_class c WHERE c.relkind IN ('r', 'v', 'm')
            AND (c.relnamespace = current_schema()::regnamespace OR c.relnamespace = pg_my_temp_schema())""")}


WRAPPERS = [
    ("{}", False), ("{}", False), ("{}", False), ("{}", True),
    ("DO $do$ BEGIN PERFORM * FROM ({}) q; EXCEPTION WHEN OTHERS THEN"
     " RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM; END $do$", False),
    ("CREATE TEMP TABLE held AS {}", True),
    ("DECLARE c CURSOR FOR {}; FETCH 1 FROM c; FETCH ALL FROM c", True),
    ("SAVEPOINT s; {}; ROLLBACK TO s", True),
    ("EXPLAIN (ANALYZE, COSTS OFF) {}", False),
]


def tidy(connection, keep):
    """Drops what the calls made, and makes again what they dropped."""
    stage.execute(connection, "SET statement_timeout = 0")
    found = tables(connection)
    if found - keep:
        stage.execute(connection, f"DROP TABLE IF EXISTS {', '.join(sorted(found - keep))} CASCADE")
    if not keep <= found or not stage.execute(
            connection, "SELECT 1 FROM models WHERE model_id = 1"):
        # delete_model may have dropped the last architecture's table, as it should.
        stage.execute(connection, f"DROP OWNED BY {stage.STRANGER}; CREATE SCHEMA {stage.STRANGER}")
        stage.fill_schema(connection, "kind")
    stage.execute(connection, "SET statement_timeout = '1s'")


class Finding(AssertionError):
    """What a call did that none may do."""


# Seconds: far above the timeout of a call, also where the machine does much else.
FOR_EVER = 300


def wait(connection):
    """What psycopg2 calls to wait for the server's answer; one that never comes is a finding."""
    while True:
        state = connection.poll()
        if state == psycopg2.extensions.POLL_OK:
            return
        reads = [connection.fileno()] if state == psycopg2.extensions.POLL_READ else []
        writes = [] if reads else [connection.fileno()]
        if not any(select.select(reads, writes, [], FOR_EVER)):
            raise Finding(f"process {connection.info.backend_pid} goes on after its timeout")


def run(connection, calls, seed, report=lambda text: None):
    """Makes `calls` calls as STRANGER; how often each function ended with which SQLSTATE.

    Raises Finding with the call that did harm.
    """
    psycopg2.extensions.set_wait_callback(wait)
    try:
        return make_calls(connection, calls, seed, report)
    finally:
        psycopg2.extensions.set_wait_callback(None)


def make_calls(connection, calls, seed, report):
    chance = random.Random(seed)
    stage.become(connection, stage.STRANGER)
    stage.execute(connection, "SET statement_timeout = '1s'; SET hopper.notice_interval = 0;"
                  " SET client_min_messages = error; SET hopper.threads = 2")
    known = functions(connection)
    FILES[:] = [bytes(stage.execute(connection, "SELECT hopper.to_safetensors(%s, decode(repeat('0000803f', 17),"
                                    " 'hex'))", (SMALL,))[0][0])]
    pid = stage.process(connection)
    keep = tables(connection)
    held, outcome = None, {name: {} for name, _, _ in known}
    for number in range(calls):
        function = chance.choice(known)
        text, values = call(chance, function)
        wrapper, block = chance.choice(WRAPPERS)
        with connection.cursor() as cursor:
            statement = wrapper.format(cursor.mogrify(text, values).decode())
            printed = ""
            try:
                if block:
                    cursor.execute("BEGIN")
                cursor.execute(statement)
                printed = str(cursor.fetchall()) if cursor.description else ""
                code = "00000"
            except Finding as finding:
                raise Finding(f"call {number} of seed {seed}: {finding}: {statement}") from finding
            except psycopg2.Error as error:
                code = error.pgcode
                printed = str(error)
                if connection.closed or stage.internal_error(error):
                    raise Finding(f"call {number} of seed {seed}: {statement}\n{error}") from error
            codes = outcome[function[0]]
            codes[code] = codes.get(code, 0) + 1
            if stage.SECRET in printed:
                raise Finding(f"call {number} of seed {seed} shows another role's data: {statement}\n"
                              f"{printed}")
            if block:
                end = chance.choice(["COMMIT", "ROLLBACK"])
                try:
                    cursor.execute(end)
                except psycopg2.errors.QueryCanceled:
                    pass  # on a machine that does much else; then it is rolled back
        if stage.threads(pid) > 64:
            raise Finding(f"call {number} of seed {seed} left threads: {statement}")
        if number % 20 == 19:
            tidy(connection, keep)
        if number % 1000 == 999:
            # What is asked here is not what a time limit is for.
            stage.execute(connection, "SET statement_timeout = 0; DISCARD TEMP")
            # The first thousands load the libraries and fill what has a bound.
            now = stage.held_bytes(connection, stage.STRANGER)
            stage.execute(connection, "SET statement_timeout = '1s'")
            held = now if number <= 1999 else held
            report(f"{number + 1} calls, {now / 1e6:.2f} MB held")
            if held is not None and now - held > stage.MAY_GROW:
                raise Finding(f"{number + 1} calls of seed {seed}: the session holds {now} bytes,"
                              f" after 2000 calls it held {held}")
    return outcome


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    start = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    stage.create().close()
    # A session a hundred thousand calls; a seed names each.
    for part in range(0, count, 100_000):
        session = stage.connect()
        outcomes = run(session, min(100_000, count - part), start + part, functools.partial(print, flush=True))
        for function, codes in outcomes.items():
            print(function, codes, flush=True)
        session.close()
    stage.destroy()
