"""examples/nightly.sql, night after night: what readers have made of its results stays, and only a better model takes over."""
import pathlib
import subprocess

import psycopg2
import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "examples/nightly.sql"
DATABASE = "hopper_nightly"


@pytest.fixture
def cursor():
    admin = psycopg2.connect(dbname="postgres")
    admin.autocommit = True
    with admin.cursor() as on_server:
        on_server.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        on_server.execute(f"CREATE DATABASE {DATABASE}")
    connection = psycopg2.connect(dbname=DATABASE)
    connection.autocommit = True
    yield connection.cursor()
    connection.close()
    with admin.cursor() as on_server:
        on_server.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")
    admin.close()


def night(*options):
    done = subprocess.run(["psql", "-X", "-q", "-d", DATABASE, *options, "-f", SCRIPT], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def of_production(cursor):
    """Which run it is, and how good."""
    cursor.execute("SELECT s.tableoid, (hopper.evaluate('production', 'visits_judged')).metric FROM production_summary AS s")
    return cursor.fetchone()


def scored(cursor):
    cursor.execute("SELECT min(id), count(*), count(DISTINCT id) FROM board")
    return cursor.fetchone()


def test_three_nights(cursor):
    night()
    first = of_production(cursor)
    cursor.execute("CREATE VIEW board AS SELECT id, predicted_bought FROM scores; CREATE INDEX ON scores (id);"
                   "COMMENT ON TABLE scores IS 'of last night'; GRANT SELECT ON scores, production TO PUBLIC")
    assert scored(cursor) == (501, 100, 100)

    night()
    assert scored(cursor) == (1101, 100, 100)
    cursor.execute("SELECT name, count(*) FROM networks GROUP BY 1 ORDER BY 1")
    assert cursor.fetchall() == [("large", 1), ("small", 1)]
    cursor.execute("SELECT obj_description('scores'::regclass), relhasindex, has_table_privilege('pg_monitor', 'scores', 'SELECT'),"
                   " has_table_privilege('pg_monitor', 'production', 'SELECT') FROM pg_class WHERE oid = 'scores'::regclass")
    assert cursor.fetchone() == ("of last night", True, True, True)
    second = of_production(cursor)
    cursor.execute("SELECT to_regclass('candidate') IS NULL")
    taken = cursor.fetchone()[0]
    assert taken == (second[0] != first[0])

    night("-v", "rate=1e-12")  # it learns nothing
    third = of_production(cursor)
    assert third[0] == second[0]
    cursor.execute("SELECT (hopper.evaluate('candidate', 'visits_judged')).metric")
    assert cursor.fetchone()[0] < third[1]
    assert scored(cursor) == (1701, 100, 100)

    cursor.execute("DROP TABLE production, production_info, production_summary, production_state")
    night()  # whatever there is takes over where there is nothing
    assert of_production(cursor)[1] > 0.6
