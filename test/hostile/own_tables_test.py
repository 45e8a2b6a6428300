"""The extension's own tables are their owner's alone, and nobody turns them against him."""

import os

import psycopg2
import pytest

from digits import connect, drop_database, query, value, wait_until

DATABASE = "hopper_own_tables"
MALLORY = "hopper_own_mallory"
MODEL = """{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"}},
  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}"""
COMPILE = "loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']"
FIT = "SELECT (hopper.fit('packed', %s, 'models', 1, %s, 'batch_size=8', 1)).models_trained"
# What others than its owner may do with which kind of the extension's objects.
RIGHTS = """
    SELECT DISTINCT kind, privilege_type, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END
    FROM (SELECT CASE relkind WHEN 'S' THEN 'sequence' WHEN 'c' THEN 'row type' ELSE 'table' END AS kind,
              relowner AS owner, coalesce(relacl, acldefault('r', relowner)) AS acl
          FROM pg_class WHERE relnamespace = 'hopper'::regnamespace AND relkind NOT IN ('i', 'v')
          UNION ALL SELECT relname::text, relowner, coalesce(relacl, acldefault('r', relowner))
          FROM pg_class WHERE relnamespace = 'hopper'::regnamespace AND relkind = 'v'
          UNION ALL SELECT 'column', relowner, attacl FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
          WHERE relnamespace = 'hopper'::regnamespace
          UNION ALL SELECT 'function', proowner, coalesce(proacl, acldefault('f', proowner))
          FROM pg_proc WHERE pronamespace = 'hopper'::regnamespace
          UNION ALL SELECT 'type', typowner, coalesce(typacl, acldefault('T', typowner)) FROM pg_type
          WHERE typnamespace = 'hopper'::regnamespace AND typrelid = 0 AND typelem = 0
          UNION ALL SELECT 'schema', nspowner, nspacl FROM pg_namespace WHERE nspname = 'hopper') o,
        LATERAL aclexplode(acl) WHERE grantee <> owner ORDER BY 1, 2, 3"""
# Views of runs show each role what is its own.
VIEWS = [(view, "SELECT", "PUBLIC") for view in ("progress", "run_events", "runs", "trial_metrics", "trials")]
EVERYBODYS = sorted([("function", "EXECUTE", "PUBLIC"), ("schema", "USAGE", "PUBLIC"), ("type", "USAGE", "PUBLIC"),
                     *[(kind, "SELECT", "pg_database_owner") for kind in ("sequence", "table")], *VIEWS])


@pytest.fixture
def database():
    admin = connect("postgres")
    drop_database(DATABASE)
    query(admin, f"DROP ROLE IF EXISTS {MALLORY}")
    query(admin, f"CREATE ROLE {MALLORY}")
    query(admin, f"CREATE DATABASE {DATABASE}")
    connection = connect(DATABASE)
    query(connection, "SET client_min_messages = warning")
    yield connection
    connection.close()
    drop_database(DATABASE)
    query(admin, f"DROP ROLE {MALLORY}")
    admin.close()


def test_rights_of_every_object(database):
    query(database, "CREATE EXTENSION model_hopper")
    assert query(database, RIGHTS) == EVERYBODYS
    assert value(database, "SELECT count(*) FROM pg_init_privs WHERE classoid = 'pg_class'::regclass"
                 " AND objoid IN (SELECT oid FROM pg_class WHERE relkind <> 'v' AND relnamespace = 'hopper'::regnamespace)"
                 " AND 0 = ANY (SELECT (aclexplode(initprivs)).grantee)") == 0


@pytest.mark.parametrize("role", ["PUBLIC", MALLORY])
def test_whatever_default_privileges_say(database, role):
    for kind in ("TABLES", "SEQUENCES"):
        query(database, f"ALTER DEFAULT PRIVILEGES GRANT ALL ON {kind} TO {role}")
    query(database, "CREATE EXTENSION model_hopper")
    assert query(database, RIGHTS) == EVERYBODYS
    query(database, f"SET ROLE {MALLORY}")
    for table in ("journal_runs", "journal_visits", "journal_run_seq", "all_runs", "all_trials", "all_trial_metrics",
                  "all_run_events", "all_run_grants", "all_search_results"):
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            query(database, f"SELECT * FROM hopper.{table}")


@pytest.mark.parametrize("table", ["journal_runs", "journal_visits", "all_runs", "all_trials", "all_trial_metrics",
                                   "all_run_events", "all_run_grants", "all_search_results"])
def test_a_trigger_on_the_record_of_runs(database, table):
    """Made by a role with the right to, it would run with a superuser's rights."""
    query(database, f"CREATE EXTENSION model_hopper; GRANT TRIGGER ON hopper.{table} TO {MALLORY};"
          f" CREATE SCHEMA mal AUTHORIZATION {MALLORY}")
    query(database, f"SET SESSION AUTHORIZATION {MALLORY}; SET search_path = mal")
    query(database, "CREATE TABLE points AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x,"
          " i % 2 AS y FROM generate_series(1, 40) i")
    query(database, "SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x')")
    query(database, "SELECT hopper.load_model('models', %s)", MODEL)
    assert value(database, FIT, "before", COMPILE) == 1
    query(database, f"""
        CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            EXECUTE 'ALTER ROLE {MALLORY} SUPERUSER'; RETURN NEW; END $$;
        CREATE TRIGGER evil BEFORE INSERT ON hopper.{table} FOR EACH ROW EXECUTE FUNCTION evil()""")
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState) as error:
        query(database, FIT, "after", COMPILE)
    assert error.value.diag.message_primary == f'table "hopper.{table}" has a trigger that is not the extension\'s'
    assert not value(database, f"SELECT rolsuper FROM pg_roles WHERE rolname = '{MALLORY}'")
    query(database, "RESET SESSION AUTHORIZATION")
    query(database, error.value.diag.message_hint)
    query(database, f"SET SESSION AUTHORIZATION {MALLORY}")
    assert value(database, FIT, "after", COMPILE) == 1
    assert value(database, "SELECT count(*) > 0 FROM hopper.run_timeline('after')")


def test_the_extension_is_dropped_while_a_run_goes_on(database):
    """Its worker ends for good: started again, it would find another run of its number in an extension that is made anew."""
    query(database, "CREATE EXTENSION model_hopper")
    query(database, "CREATE TABLE points AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x,"
          " i % 2 AS y FROM generate_series(1, 40) i")
    query(database, "SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x')")
    query(database, "SELECT hopper.load_model('models', %s)", MODEL)
    run = value(database, "SELECT hopper.submit(%s)", "SELECT hopper.fit('packed', 'endless', 'models', 1,"
                f" $c${COMPILE}$c$, 'batch_size=8', 10000000)")
    of_run = "SELECT pid FROM hopper.runs WHERE run = %s AND pid IS NOT NULL"
    wait_until(lambda: query(database, of_run, run))
    process = value(database, of_run, run)
    query(database, "DROP EXTENSION model_hopper CASCADE")
    wait_until(lambda: not os.path.exists(f"/proc/{process}"))
    connect(DATABASE).close()  # by the postmaster, which has told of its end before
    with open(os.environ["HOPPER_SERVER_LOG"], encoding="utf-8", errors="replace") as log:
        assert f'(PID {process}) exited with exit code' not in log.read()
