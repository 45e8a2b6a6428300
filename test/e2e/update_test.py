"""Updates of the extension: from each released version to the objects of a fresh installation.

test/update holds, for each version, its install script and tables that it made.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import psycopg2
import pytest

from digits import SOURCE, connect, create_database, drop_database, query, value

FIXTURES = SOURCE / "test" / "update"
VERSIONS = sorted(re.sub(r"filled-(.*)\.sql", r"\1", path.name)
                  for path in FIXTURES.glob("filled-*.sql"))
CURRENT = re.search(r"default_version = '(.*)'",
                    (SOURCE / "model_hopper.control").read_text(encoding="ascii")).group(1)
OLD, FRESH = "hopper_old", "hopper_fresh"

# A line for each property of each object of the extension, without numbers that differ.
CATALOGUE = """
WITH member AS (
  SELECT classid, objid, (pg_identify_object(classid, objid, 0)).identity AS name
  FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'model_hopper'))
SELECT name || ' ' || property FROM member, LATERAL (
  SELECT 'is a ' || (pg_identify_object(classid, objid, 0)).type
  UNION ALL SELECT 'comment ' || obj_description(objid, classid::regclass::text)
  UNION ALL SELECT pg_get_functiondef(objid) FROM pg_proc
    WHERE classid = 'pg_proc'::regclass AND oid = objid AND prokind IN ('f', 'p')
  UNION ALL SELECT 'rights ' || coalesce(proacl::text, 'default') FROM pg_proc
    WHERE classid = 'pg_proc'::regclass AND oid = objid
  UNION ALL SELECT concat_ws(' ', relkind, relpersistence, relacl, reloptions, relrowsecurity)
    FROM pg_class WHERE classid = 'pg_class'::regclass AND oid = objid
  UNION ALL SELECT concat_ws(' ', attnum, attname, format_type(atttypid, atttypmod), attnotnull,
      attstorage, attacl, pg_get_expr(adbin, adrelid), col_description(objid, attnum))
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE classid = 'pg_class'::regclass AND attrelid = objid AND attnum > 0 AND NOT attisdropped
  UNION ALL SELECT conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
    WHERE classid = 'pg_class'::regclass AND conrelid = objid
  UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index
    WHERE classid = 'pg_class'::regclass AND indrelid = objid
  UNION ALL SELECT pg_get_viewdef(objid) FROM pg_class
    WHERE classid = 'pg_class'::regclass AND oid = objid AND relkind = 'v'
  UNION ALL SELECT 'dumped ' || extcondition[array_position(extconfig, objid)] FROM pg_extension
    WHERE classid = 'pg_class'::regclass AND objid = ANY (extconfig)) AS p(property)
WHERE property IS NOT NULL
UNION ALL SELECT 'version ' || extversion FROM pg_extension WHERE extname = 'model_hopper'
UNION ALL SELECT 'schema ' || coalesce(nspacl::text, 'default') || ' '
  || obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = 'hopper'
"""


def catalogue(connection):
    return {row[0] for row in query(connection, CATALOGUE)}


def create(database):
    drop_database(database)
    admin = connect("postgres")
    query(admin, f"CREATE DATABASE {database}")
    admin.close()
    return connect(database)


def load(database, script):
    # Only psql reads what pg_dump writes.
    subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database, "-f", script],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


@pytest.fixture(params=VERSIONS)
def version(request):
    return request.param


@pytest.fixture
def old(version):
    """A database with the objects and tables of an earlier version."""
    admin = connect("postgres")
    folder = pathlib.Path(value(admin, "SELECT setting FROM pg_config() WHERE name = 'SHAREDIR'"))
    script = folder / "extension" / f"model_hopper--{version}.sql"
    admin.close()
    shutil.copy(FIXTURES / script.name, script)
    connection = create(OLD)
    query(connection, f"CREATE EXTENSION model_hopper VERSION '{version}'")
    load(OLD, FIXTURES / f"filled-{version}.sql")
    yield connection
    connection.close()
    script.unlink()
    drop_database(OLD)


def test_the_session_says_what_to_type(old, version):
    for call in ("hopper.leaderboard('run')", "hopper.layers()",
                 "hopper.predict_row('run', 1, ARRAY[1, 2]::real[])"):
        with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState) as error:
            query(old, f"SELECT * FROM {call}")
        assert f"are of version {version}" in error.value.diag.message_primary
        assert f"library is of version {CURRENT}" in error.value.diag.message_primary
    hint = error.value.diag.message_hint
    assert hint == f'A superuser types in database "{OLD}": ALTER EXTENSION model_hopper UPDATE;'
    assert value(old, "SELECT hopper.version()") == f"model_hopper {version} (library {CURRENT})"
    query(old, hint.split(": ")[1])
    # Nothing of the refusal lasts, in this session either.
    assert value(old, "SELECT count(*) FROM hopper.leaderboard('run')") == 2


def test_a_library_that_is_older_than_the_objects(old):
    query(old, "ALTER EXTENSION model_hopper UPDATE")
    query(old, "UPDATE pg_extension SET extversion = '99.0' WHERE extname = 'model_hopper'")
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState) as error:
        query(old, "SELECT * FROM hopper.layers()")
    assert "Reconnect" in error.value.diag.message_hint
    assert "99.0" in error.value.diag.message_hint


@pytest.fixture
def older_library():
    """A folder with libraries that say that they are of an earlier version, made of those that the server has loaded."""
    connection = create(FRESH)
    query(connection, "CREATE EXTENSION model_hopper; SELECT * FROM hopper.build_info()")
    process = value(connection, "SELECT pg_backend_pid()")
    loaded = {line.split()[-1] for line in pathlib.Path(f"/proc/{process}/maps").read_text().splitlines() if "hopper" in line}
    connection.close()
    drop_database(FRESH)
    with tempfile.TemporaryDirectory(dir=os.environ["PGHOST"]) as folder:  # where the server's user may read
        os.chmod(folder, 0o755)
        for name in ("model_hopper.so", "libhopper_core.so"):
            data, = (pathlib.Path(path).read_bytes() for path in loaded if pathlib.Path(path).name == name)
            assert f"{CURRENT}\0".encode() in data and len(CURRENT) == len("0.1.9") and CURRENT > "0.1.9"
            path = pathlib.Path(folder, name)
            path.write_bytes(data.replace(f"{CURRENT}\0".encode(), b"0.1.9\0"))
            path.chmod(0o755)
        yield folder


@pytest.mark.usefixtures("old")
def test_a_library_that_is_older_than_the_files(older_library):
    create(FRESH).close()
    for database, statement in (FRESH, "CREATE EXTENSION model_hopper"), (OLD, "ALTER EXTENSION model_hopper UPDATE"):
        connection = connect(database)
        query(connection, f"SET dynamic_library_path = '{older_library}:$libdir'")
        with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState) as error:
            query(connection, statement)
        assert error.value.diag.message_primary == (
            f"the SQL files of model_hopper are of version {CURRENT}, but the library is of version 0.1.9")
        assert f"Install version {CURRENT} everywhere" in error.value.diag.message_hint
        connection.close()
    drop_database(FRESH)


def test_an_update_gives_what_a_fresh_installation_gives(old, version):
    query(old, "CREATE VIEW users_view AS SELECT * FROM hopper.build_info()")
    query(old, "ALTER EXTENSION model_hopper UPDATE")
    fresh = create(FRESH)
    query(fresh, "CREATE EXTENSION model_hopper")
    wanted, found = catalogue(fresh), catalogue(old)
    fresh.close()
    drop_database(FRESH)
    assert len(wanted) > 100
    what = f"extend sql/update/{version}.sql (CONTRIBUTING.md says how)"
    assert sorted(found - wanted) == [], f"{what}: the update leaves this behind"
    assert sorted(wanted - found) == [], f"{what}: the update does not make this"
    assert value(old, "SELECT count(*) > 3 FROM users_view")


@pytest.fixture
def roles():
    """One that an administrator gives rights, and another."""
    admin = connect("postgres")
    for role in ("hopper_app", "hopper_other"):
        query(admin, f"DROP ROLE IF EXISTS {role}; CREATE ROLE {role}")
    yield "hopper_app", "hopper_other"
    query(admin, "DROP DATABASE IF EXISTS " + OLD + " WITH (FORCE)")
    query(admin, "DROP ROLE hopper_app; DROP ROLE hopper_other")
    admin.close()


MAY_CALL = """SELECT DISTINCT proname::text FROM pg_proc WHERE pronamespace = 'hopper'::regnamespace
    AND has_function_privilege(%s, oid, 'EXECUTE') {}"""


def test_functions_that_few_may_call(roles, old):
    app, other = roles
    query(old, "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA hopper FROM PUBLIC;"
          f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA hopper TO {app}")
    query(old, "ALTER EXTENSION model_hopper UPDATE")
    assert query(old, MAY_CALL.format(""), other) == []
    missing = "SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'hopper'::regnamespace"
    assert query(old, missing + " AND NOT has_function_privilege(%s, oid, 'EXECUTE')", app) == []
    # They are the administrator's, not those of any installation: a dump holds them.
    dump = subprocess.run(["pg_dump", "--schema-only", OLD], check=True, capture_output=True, text=True).stdout
    for function in ("leaderboard", "version"):  # made anew and replaced
        assert f"GRANT ALL ON FUNCTION hopper.{function}(" in dump
        assert f"REVOKE ALL ON FUNCTION hopper.{function}(" in dump


def test_a_function_that_few_may_call(roles, old):
    app, other = roles
    for function in query(old, "SELECT oid::regprocedure::text FROM pg_proc WHERE proname = ANY (%s)"
                          " AND pronamespace = 'hopper'::regnamespace", ["fit_multiple_model", "evaluate", "predict"]):
        query(old, f"REVOKE EXECUTE ON FUNCTION {function[0]} FROM PUBLIC;"
              f"GRANT EXECUTE ON FUNCTION {function[0]} TO {app} WITH GRANT OPTION")
    before = {name for name, in query(old, MAY_CALL.format(""), other)}
    query(old, "ALTER EXTENSION model_hopper UPDATE")
    after = {name for name, in query(old, MAY_CALL.format(""), other)}
    assert not after & {"fit_multiple_model", "evaluate", "predict"} and {"leaderboard", "automl"} <= after
    for name in before - after:  # which are no more
        assert value(old, "SELECT count(*) FROM pg_proc WHERE proname = %s", name) == 0, name
    query(old, f"SET ROLE {app}; GRANT EXECUTE ON FUNCTION hopper.evaluate TO {other}; RESET ROLE")
    assert query(old, MAY_CALL.format("AND proname IN ('fit_multiple_model', 'predict')") + " ORDER BY 1", app) == [
        ("fit_multiple_model",), ("predict",)]


def test_the_record_of_runs_is_closed(old):
    """Earlier versions left it to default privileges."""
    query(old, "GRANT ALL ON ALL TABLES IN SCHEMA hopper TO PUBLIC; GRANT ALL ON ALL SEQUENCES IN SCHEMA hopper TO PUBLIC")
    query(old, "ALTER EXTENSION model_hopper UPDATE")
    assert query(old, "SELECT DISTINCT a.privilege_type, a.grantee::regrole::text FROM pg_class c, aclexplode(relacl) a"
                 " WHERE relnamespace = 'hopper'::regnamespace AND relkind <> 'v' AND a.grantee <> c.relowner") == [
        ("SELECT", "pg_database_owner")]


def test_old_outputs_are_read(old):
    query(old, "ALTER EXTENSION model_hopper UPDATE")
    assert query(old, """SELECT
      (SELECT array_agg(l::text ORDER BY mst_key) FROM
        (SELECT mst_key, status, iterations, parameters FROM hopper.leaderboard('run')) l),
      (SELECT count(*) FROM hopper.learning_curves('run')),
      (SELECT array_agg(round(prob::numeric, 4) ORDER BY class_value)
       FROM hopper.predict_row('run', 1, ARRAY[1, 2]::real[])),
      (SELECT round(loss::numeric, 4) FROM hopper.evaluate('run', 'packed_validation', mst_key => 1))
      """) == query(old, 'SELECT leaderboard, curves, "row", loss FROM answers')
    query(old, "SELECT hopper.predict('run', 'points', 'id', 'x', 'again', 'response', mst_key => 1)")
    assert query(old, "TABLE again EXCEPT TABLE predicted") == []
    # Packed data, configurations and models go on.
    assert query(old, "SELECT models_trained, models_failed FROM"
                 " hopper.fit_multiple_model('packed', 'new_run', 'configs', 1)") == [(2, 0)]


def trained_on(connection, table):
    return query(connection, "SELECT (hopper.fit_multiple_model('packed', %s, 'configs', 2, warm_start => true,"
                             " validation_table => 'packed_validation', seed => 0)).models_failed", table)


# What wrote the tables of test/update had AVX-512: elsewhere going on with its states is to be asked for.
def go_on_from_other_processors(connection):
    if value(connection, "SELECT value FROM hopper.build_info() WHERE name = 'cpu_capability'") == "AVX512":
        return
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match="is of another numerics class"):
        trained_on(connection, "run")
    query(connection, "SET hopper.mix_numerics = on")


def test_old_models_go_on(old):
    query(old, "ALTER EXTENSION model_hopper UPDATE")
    go_on_from_other_processors(old)
    assert value(old, "SELECT hopper.copy_model('run', 'copied')") == 2
    for table in ("run", "copied"):
        assert trained_on(old, table) == [(0,)]
        assert query(old, "SELECT mst_key, iterations, status FROM hopper.leaderboard(%s) ORDER BY 1", table) == [
            (1, 4, "done"), (2, 4, "done")]
        # A second time on what this version wrote.
        assert trained_on(old, table) == [(0,)]
        assert query(old, f"SELECT num_iterations, warm_start, version FROM {table}_summary") == [(2, True, CURRENT)]
    digests = "SELECT state_digest, iterations, training_loss FROM {}_info ORDER BY mst_key"
    assert query(old, digests.format("run")) == query(old, digests.format("copied"))
    loss = "SELECT training_loss_final FROM run_info WHERE mst_key = 1"
    assert value(old, loss) < 0.383
    assert value(old, "SELECT loss FROM hopper.evaluate('run', 'packed', mst_key => 1)") == pytest.approx(
        value(old, loss), rel=1e-5)
    query(old, "SELECT hopper.predict('copied', 'points', 'id', 'x', 'later', 'response')")
    assert value(old, "SELECT count(*) FROM later") == 40
    assert value(old, "SELECT count(measured) FROM hopper.explain_fit(model_table => 'run', measure => true)") > 5
    query(old, "SELECT hopper.rename_model('copied', 'renamed')")
    assert value(old, "SELECT hopper.keep_best('renamed', 1)") == 1
    assert query(old, "SELECT model_table, models FROM hopper.models() ORDER BY 1") == [("renamed", 1), ("run", 2)]
    assert value(old, "SELECT hopper.drop_model('renamed')") == 4
    # The models of another run take the place of old ones.
    query(old, "SELECT hopper.fit_multiple_model('packed', 'run', 'configs', 1, replace => true)")
    assert trained_on(old, "run") == [(0,)]


def test_old_tables_are_searched(old):
    query(old, "ALTER EXTENSION model_hopper UPDATE")
    assert value(old, "SELECT hopper.generate_model_configs('models', 'more', from_run => 'run', mst_keys => '{1,2}')") == 2
    search = """SELECT configurations, failed FROM hopper.automl('packed', %s, 'models', %s, 1,
        '{''loss'': [''categorical_crossentropy''], ''metrics'': [[''accuracy'']],
          ''optimizer_params_list'': [{''optimizer'': [''SGD''], ''lr'': [0.01, 0.1, ''log'']}]}',
        '{''batch_size'': [8, 16]}', 'random', 'num_configs=3, num_iterations=2', 1,
        validation_table => 'packed_validation', from_run => %s)"""
    with pytest.raises(psycopg2.errors.WrongObjectType, match='"run" is not the result of a search'):
        query(old, search, "found", "found_best", "run")
    assert query(old, search, "found", "found_best", None) == [(3, 0)]
    assert query(old, search, "again", "again_best", "found") == [(3, 0)]


@pytest.mark.parametrize("preparation", [
    "ALTER SCHEMA hopper OWNER TO hopper_stranger",
    "GRANT CREATE ON SCHEMA hopper TO hopper_stranger",
    "GRANT CREATE ON SCHEMA hopper TO PUBLIC",
    "CREATE FUNCTION hopper.sparkline(integer) RETURNS text LANGUAGE sql AS 'SELECT NULL::text';"
    " ALTER FUNCTION hopper.sparkline(integer) OWNER TO hopper_stranger",
    "CREATE TABLE hopper.others (a integer); ALTER TABLE hopper.others OWNER TO hopper_stranger",
])
def test_a_foreign_schema_is_refused(preparation):
    connection = create(FRESH)
    query(connection, "DROP ROLE IF EXISTS hopper_stranger; CREATE ROLE hopper_stranger")
    try:
        query(connection, "CREATE SCHEMA hopper")
        if "ALTER FUNCTION" in preparation or "ALTER TABLE" in preparation:
            query(connection, "GRANT CREATE ON SCHEMA hopper TO hopper_stranger")
        query(connection, preparation)
        query(connection, "REVOKE CREATE ON SCHEMA hopper FROM hopper_stranger"
              if "ALTER" in preparation else "SELECT 1")
        with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState,
                           match='schema "hopper" exists'):
            query(connection, "CREATE EXTENSION model_hopper")
        query(connection, "ALTER SCHEMA hopper RENAME TO old_hopper")
        query(connection, "CREATE EXTENSION model_hopper")
    finally:
        connection.close()
        drop_database(FRESH)
        admin = connect("postgres")
        query(admin, "DROP ROLE hopper_stranger")
        admin.close()


def test_a_schema_of_superusers_is_taken():
    connection = create(FRESH)
    query(connection, "CREATE SCHEMA hopper")
    query(connection, "CREATE EXTENSION model_hopper")
    connection.close()
    drop_database(FRESH)


def test_a_dump_restores_all_but_the_journal(old, tmp_path):
    query(old, "ALTER EXTENSION model_hopper UPDATE")
    fit = ("SELECT models_trained FROM hopper.fit_multiple_model('packed', 'dumped', 'configs', 1,"
           " warm_start => %s)")
    assert value(old, fit, False) == 2
    assert value(old, "SELECT count(*) FROM hopper.run_timeline('dumped')") > 0
    board = query(old, "SELECT * FROM hopper.leaderboard('dumped')")
    subprocess.run(["pg_dump", "-f", tmp_path / "dump.sql", OLD], check=True)
    restored = create(FRESH)
    load(FRESH, tmp_path / "dump.sql")
    assert query(restored, "SELECT * FROM hopper.leaderboard('dumped')") == board
    # docs/reference/timing.md says how to keep it.
    assert value(restored, "SELECT count(*) FROM hopper.run_timeline('dumped')") == 0
    assert value(restored, fit, True) == 2
    assert value(restored, "SELECT count(*) FROM hopper.run_timeline('dumped')") > 0
    assert catalogue(restored) == catalogue(old)
    restored.close()
    drop_database(FRESH)
