"""Updates of the extension on a cluster; test/e2e/update_test.py does the same on one server.

test/update/greenplum holds the install script of each released version.
"""

import os
import pathlib
import re
import shutil
import subprocess

import psycopg2
import pytest

from cluster import HOME
from conftest import CSV, DATABASE, SOURCE, connect
from digits import PLAIN, query, select, value
from kernels import has_12
from runs import CONFIGS, digests, fit, pack

SCRIPTS = HOME / "root" / "share" / "postgresql" / "extension"
RELEASED = SOURCE / "test" / "update" / "greenplum"
VERSIONS = sorted(re.sub(r"model_hopper--(.*)\.sql", r"\1", path.name) for path in RELEASED.iterdir())
CURRENT = re.search(r"default_version = '(.*)'",
                    (SOURCE / "model_hopper.control").read_text(encoding="ascii")).group(1)
OLD, FRESH = f"{DATABASE}_old", f"{DATABASE}_fresh"

# A line for each property of each object of the extension, without numbers that differ.
CATALOGUE = """
WITH member AS (
  SELECT classid, objid, (pg_identify_object(classid, objid, 0)).identity AS name
  FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'model_hopper'))
SELECT name || ' ' || property FROM member, LATERAL (
  SELECT 'is a ' || (pg_identify_object(classid, objid, 0)).type
  UNION ALL SELECT 'comment ' || obj_description(objid, classid::regclass::text)
  UNION ALL SELECT CASE WHEN {is_aggregate} THEN 'aggregate' ELSE pg_get_functiondef(oid) END
    || ' ' || proexeclocation || ' rights ' || coalesce(proacl::text, 'default') FROM pg_proc
    WHERE classid = 'pg_proc'::regclass AND oid = objid
  UNION ALL SELECT concat_ws(' ', relkind, relpersistence, relacl,
      nullif(array_remove(reloptions, 'appendonly=false'), '{}'))
    FROM pg_class WHERE classid = 'pg_class'::regclass AND oid = objid
  UNION ALL SELECT pg_get_table_distributedby(objid) FROM pg_class
    WHERE classid = 'pg_class'::regclass AND oid = objid AND relkind = 'r'
  UNION ALL SELECT concat_ws(' ', attnum, attname, format_type(atttypid, atttypmod), attnotnull,
      attstorage, attacl, pg_get_expr(adbin, adrelid), col_description(objid, attnum))
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE classid = 'pg_class'::regclass AND attrelid = objid AND attnum > 0 AND NOT attisdropped
  UNION ALL SELECT conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
    WHERE classid = 'pg_class'::regclass AND conrelid = objid) AS p(property)
WHERE property IS NOT NULL
UNION ALL SELECT 'version ' || extversion FROM pg_extension WHERE extname = 'model_hopper'
"""
SECRET = "SELECT umoptions FROM pg_user_mappings WHERE srvname = 'hopper_segments'"


def catalogue(connection):
    is_aggregate = "prokind = 'a'" if has_12(connection) else "proisagg"
    return {row[0] for row in query(connection, CATALOGUE.replace("{is_aggregate}", is_aggregate))}


def create(greenplum, database):
    query(greenplum, f"DROP DATABASE IF EXISTS {database}")
    query(greenplum, f"CREATE DATABASE {database}")
    connection = connect("HOPPER_GREENPLUM", database)
    query(connection, "SET client_min_messages = warning")
    return connection


@pytest.fixture(params=VERSIONS)
def version(request):
    return request.param


@pytest.fixture
def old(greenplum, version):
    """Tables of a run and the objects of an earlier version."""
    script = SCRIPTS / f"model_hopper--{version}.sql"
    shutil.copy(RELEASED / script.name, script)
    script.chmod(0o644)
    connection = create(greenplum, OLD)
    query(connection, "CREATE EXTENSION model_hopper")
    query(connection, "CREATE TABLE digits (id integer PRIMARY KEY, label integer, pixels smallint[])")
    with connection.cursor() as cursor, open(CSV, encoding="ascii") as file:
        cursor.copy_expert("COPY digits FROM STDIN CSV HEADER", file)
    query(connection, "SELECT hopper.load_model('architectures', %s)", PLAIN)
    select(connection, "configs", [(key, 1, *CONFIGS[key][2:]) for key in (1, 2)])
    pack(connection, "packed", 3)
    fit(connection, "packed", "run", "configs", 1)
    # The tables' formats have not changed since; the functions have.
    query(connection, "DROP EXTENSION model_hopper")
    query(connection, f"CREATE EXTENSION model_hopper VERSION '{version}'")
    connection.close()
    connection = connect("HOPPER_GREENPLUM", OLD)
    query(connection, "SET client_min_messages = warning")
    yield connection
    connection.close()
    script.unlink()
    query(greenplum, f"DROP DATABASE {OLD}")


def test_an_update_gives_what_a_fresh_installation_gives(greenplum, old):
    query(old, "ALTER EXTENSION model_hopper UPDATE")
    fresh = create(greenplum, FRESH)
    query(fresh, "CREATE EXTENSION model_hopper")
    wanted, found = catalogue(fresh), catalogue(old)
    fresh.close()
    query(greenplum, f"DROP DATABASE {FRESH}")
    assert len(wanted) > 100
    assert sorted(found - wanted) == []
    assert sorted(wanted - found) == []
    query(old, "DROP EXTENSION model_hopper")
    assert query(old, SECRET) == []


def test_old_tables_go_on(old, version):
    with pytest.raises(psycopg2.Error) as error:
        query(old, "SELECT * FROM hopper.leaderboard('run')")
    assert error.value.pgcode == "55000"
    assert f"are of version {version}" in error.value.diag.message_primary
    query(old, error.value.diag.message_hint.split(": ")[1])
    assert value(old, "SELECT count(*) FROM hopper.leaderboard('run')") == 2
    assert value(old, "SELECT loss FROM hopper.evaluate('run', 'packed', mst_key := 1)") > 0
    query(old, "SELECT hopper.predict('run', 'digits', 'id', 'pixels', 'predicted', mst_key := 1)")
    assert value(old, "SELECT count(DISTINCT id) FROM predicted") == value(
        old, "SELECT count(*) FROM digits")
    fit(old, "packed", "run", "configs", 1, ", warm_start := true")
    fit(old, "packed", "run_of_two", "configs", 2)
    assert digests(old, "run") == digests(old, "run_of_two")


def test_an_update_from_this_version_keeps_the_secret(greenplum, tmp_path):
    """The script of a version that is not there yet, made as the build makes it, but that the library may be older."""
    released = tmp_path / f"{CURRENT}.sql"
    released.write_text("", encoding="ascii")
    functions = sorted((SOURCE / "sql" / "functions").glob("*.sql"))
    segments = sorted((SOURCE / "sql" / "greenplum").glob("*.sql"))
    script = subprocess.run([SOURCE / "sql" / "make-update", released, SOURCE / "sql" / "tables.sql", *functions, *segments],
                            check=True, capture_output=True, text=True).stdout
    kernel = "12" if has_12(greenplum) else "9.4"
    script = subprocess.run([SOURCE / "sql" / "for-greenplum", kernel], input=script, check=True, capture_output=True,
                            text=True).stdout
    path = pathlib.Path(SCRIPTS / f"model_hopper--{CURRENT}--99.0.sql")
    path.write_text(script, encoding="utf-8")
    os.chmod(path, 0o644)
    connection = create(greenplum, FRESH)
    try:
        query(connection, "CREATE EXTENSION model_hopper")
        before, secret = catalogue(connection), value(connection, SECRET)
        query(connection, "ALTER EXTENSION model_hopper UPDATE TO '99.0'")
        after = catalogue(connection)
        assert {line for line in before ^ after if not line.startswith("version ")} == set()
        assert value(connection, SECRET) == secret
    finally:
        path.unlink()
        connection.close()
        query(greenplum, f"DROP DATABASE {FRESH}")
