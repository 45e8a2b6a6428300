"""Two roles without rights of their own, each with data, architectures and a trained run.

Everything is small: what is tested is what the functions do with arguments and tables that nobody
would pass on purpose, not how well they train.
"""

import functools
import json
import os
import pathlib
import subprocess
import tempfile

import psycopg2

# Several at once beside each other take different names.
SUFFIX = os.environ.get("HOPPER_STAGE", "")
DATABASE = "hopper_hostile" + SUFFIX
OWNER = "hostile_owner" + SUFFIX
STRANGER = "hostile_stranger" + SUFFIX
SECRET = "SECRETLABEL"

# Bytes that held_bytes() may tell more than after a session's first calls.
MAY_GROW = 2_000_000

SMALL = json.dumps({"class_name": "Sequential", "config": {"name": "small", "layers": [
    {"class_name": "InputLayer", "config": {"batch_input_shape": [None, 2], "name": "in"}},
    {"class_name": "Dense", "config": {"name": "hidden", "units": 3, "activation": "relu"}},
    {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}})
GRID = ("{'loss': ['categorical_crossentropy'], 'optimizer_params_list': [{'optimizer': ['SGD', 'Adam'],"
        " 'lr': [0.01, 0.1]}], 'metrics': ['accuracy']}")
COMPILE = "loss='categorical_crossentropy', optimizer='SGD(lr=0.1, momentum=0.9)', metrics=['accuracy']"


def connect(database=DATABASE):
    connection = psycopg2.connect(dbname=database)
    connection.autocommit = True
    return connection


def execute(connection, text, arguments=None):
    with connection.cursor() as cursor:
        cursor.execute(text, arguments)
        return cursor.fetchall() if cursor.description else None


def become(connection, role):
    """From now on the session has the role's rights and its schema; a superuser's session may turn back."""
    execute(connection, "RESET SESSION AUTHORIZATION")
    execute(connection, f"SET SESSION AUTHORIZATION {role}")
    execute(connection, f"SET search_path = {role}")


def fill_schema(connection, label):
    """points, packed, packed_validation, models, configs, run and searched in the current schema."""
    execute(connection, f"""
        CREATE TABLE points AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x,
            '{label}' || i % 2 AS y, i % 4 AS fold, (i % 7)::float8 AS number,
            decode(lpad(to_hex(i), 4, '0'), 'hex') AS image FROM generate_series(1, 40) i;
        ALTER TABLE points ADD PRIMARY KEY (id);
        CREATE VIEW seen AS SELECT * FROM points;
        CREATE MATERIALIZED VIEW kept AS SELECT * FROM points;
        CREATE SEQUENCE counter;
        CREATE TABLE nothing (id integer, x real[], y text);
        CREATE TABLE bad AS SELECT i AS id, CASE WHEN i % 3 > 0 THEN ARRAY[i, NULL, 1e38]::real[] END
            AS x, NULL::text AS y FROM generate_series(1, 5) i;
        SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction := 0.25);
        SELECT hopper.training_preprocessor('points', 'treated', 'y', 'x', treatments := '{{}}');
        SELECT hopper.training_preprocessor('points', 'drawn', 'y', 'image', image_shape := '{{1,2}}');
        SELECT hopper.load_model('models', $json${SMALL}$json$, name := 'first');
        SELECT hopper.load_model('models', $json${SMALL}$json$,
            decode(repeat('0000803f', 17), 'hex'))""")
    execute(connection, "SELECT hopper.load_model_selection_table('models', 'configs', '{1}',"
            " ARRAY[%s], ARRAY['batch_size=8', 'batch_size=16'])", (COMPILE,))
    execute(connection, "SELECT hopper.fit_multiple_model('packed', 'run', 'configs', 2,"
            " validation_table := 'packed_validation')")
    execute(connection, "SELECT hopper.automl('packed', 'searched', 'models', 'searched_configs', '{1}', %s,"
            " $${'batch_size': [8]}$$, 'random', 'num_configs=2, num_iterations=1')", (GRID,))


def create():
    """The database with both roles' schemas; a connection of the superuser to it."""
    admin = connect("postgres")
    execute(admin, "SET client_min_messages = error")
    execute(admin, f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    for role in (OWNER, STRANGER):
        execute(admin, f"DROP ROLE IF EXISTS {role}")
        execute(admin, f"CREATE ROLE {role} LOGIN")
    execute(admin, f"CREATE DATABASE {DATABASE}")
    admin.close()
    connection = connect()
    execute(connection, "SET client_min_messages = error")
    execute(connection, "CREATE EXTENSION model_hopper")
    for role in (OWNER, STRANGER):
        execute(connection, f"CREATE SCHEMA {role} AUTHORIZATION {role}")
        execute(connection, f"GRANT TEMPORARY, CREATE ON DATABASE {DATABASE} TO {role}")
    # Strangers may look for the owner's tables by name: no more.
    execute(connection, f"GRANT USAGE ON SCHEMA {OWNER} TO {STRANGER}")
    for role in (OWNER, STRANGER):
        become(connection, role)
        fill_schema(connection, SECRET if role == OWNER else "kind")
    execute(connection, "RESET SESSION AUTHORIZATION")
    return connection


def destroy():
    admin = connect("postgres")
    execute(admin, "SET client_min_messages = error")
    execute(admin, f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    for role in (OWNER, STRANGER):
        execute(admin, f"DROP ROLE IF EXISTS {role}")
    admin.close()


def process(connection):
    return execute(connection, "SELECT pg_backend_pid()")[0][0]


def threads(pid):
    return len(list(pathlib.Path(f"/proc/{pid}/task").iterdir()))


@functools.lru_cache(maxsize=None)
def memory_use_library():
    """malloc_in_use() for SQL, compiled once; None without what it takes."""
    config = os.environ.get("PG_CONFIG", "pg_config")
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    library = folder / "memory_use.so"
    headers = subprocess.run([config, "--includedir-server"], capture_output=True, check=True, text=True)
    compiled = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-I", headers.stdout.strip(), "-o", library,
                               pathlib.Path(__file__).parent / "memory_use.c"], check=False)
    return library if compiled.returncode == 0 else None


def held_bytes(connection, role):
    """What the session holds beside what PostgreSQL keeps in contexts of its own: its caches of the catalog,
    which grow with every table that ever was, temporary buffers, hash tables. For a session of a
    superuser that goes on as the role. 0 where the server cannot tell."""
    library = memory_use_library()
    if library is None:
        return 0
    execute(connection, "RESET SESSION AUTHORIZATION")
    if not execute(connection, "SELECT 1 FROM pg_proc WHERE proname = 'malloc_in_use'"):
        execute(connection, "CREATE FUNCTION public.malloc_in_use() RETURNS bigint LANGUAGE c"
                f" AS '{library}', 'malloc_in_use'")
    held = execute(connection, """
        SELECT public.malloc_in_use() - coalesce(sum(total_bytes) FILTER (WHERE
            name <> 'TopMemoryContext' AND name !~ '^(hopper|SPI|CachedPlan)'), 0)::bigint
        FROM pg_backend_memory_contexts""")[0][0]
    become(connection, role)
    return held


def internal_error(error):
    """Whether the server says that something is wrong with itself rather than with the call."""
    code = error.pgcode or "XX"
    known = ("tuple concurrently updated", "tuple concurrently deleted",
             "could not open relation with OID", "cache lookup failed")
    return code.startswith("XX") and not any(text in str(error) for text in known)
