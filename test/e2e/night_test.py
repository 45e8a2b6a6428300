"""examples/night.sql, night after night: what a night leaves unfinished the next one continues."""

import pathlib
import subprocess

import pytest

from digits import connect, drop_database, query, value, wait_until

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "examples/night.sql"
DATABASE = "hopper_night"


@pytest.fixture
def connection():
    drop_database(DATABASE)
    admin = connect("postgres")
    query(admin, f"CREATE DATABASE {DATABASE}")
    admin.close()
    connection = connect(DATABASE)
    yield connection
    connection.close()
    drop_database(DATABASE)


def night(failed=False):
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-d", DATABASE, "-f", SCRIPT], capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == (3 if failed else 0), done.stderr
    return done.stdout


def runs(connection):
    return query(connection, "SELECT run, state FROM hopper.runs ORDER BY run")


def test_three_nights(connection):
    assert "|done|" in night()
    first = runs(connection)
    assert [state for _, state in first] == ["done"]
    session = connect(DATABASE)
    left = value(session, "SELECT hopper.create_run($$ SELECT hopper.fit_multiple_model('night_packed', 'night_models',"
                 " 'night_configs', 400, replace := true) $$)")
    assert value(session, "SELECT hopper.step(%s, 0.001)", left) == "running"
    session.close()
    wait_until(lambda: (left, "interrupted") in runs(connection))
    night()
    assert runs(connection) == [*first, (left, "done")]
    assert value(connection, "SELECT max(iterations) FROM night_models_info") == 400
    night()
    assert [state for _, state in runs(connection)] == ["done"] * 3
    assert value(connection, "SELECT max(iterations) FROM night_models_info") == 8


def test_what_cannot_go_on_is_begun_anew(connection):
    night()
    session = connect(DATABASE)
    left = value(session, "SELECT hopper.create_run($$ SELECT hopper.fit_multiple_model('night_packed', 'night_models',"
                 " 'night_configs', 400, replace := true) $$)")
    assert value(session, "SELECT hopper.step(%s, 0.001)", left) == "running"
    session.close()
    wait_until(lambda: (left, "interrupted") in runs(connection))
    query(connection, "SELECT hopper.training_preprocessor(source_table := 'night_points', output_table := 'night_packed',"
          " dependent_varname := 'y', independent_varname := 'a, b', validation_fraction := 0.3, replace := true)")
    night(failed=True)
    assert [state for _, state in runs(connection)] == ["done", "failed"]
    night()
    assert [state for _, state in runs(connection)] == ["done", "failed", "done"]


def test_runs_of_other_roles_are_theirs(connection):
    night()
    query(connection, "DROP ROLE IF EXISTS other_nights; CREATE ROLE other_nights; GRANT CREATE ON SCHEMA public TO other_nights;"
          " GRANT SELECT ON ALL TABLES IN SCHEMA public TO other_nights")
    session = connect(DATABASE)
    query(session, "SET ROLE other_nights")
    other = value(session, "SELECT hopper.create_run($$ SELECT hopper.fit_multiple_model('night_packed', 'their_night_models',"
                  " 'night_configs', 400) $$)")
    assert value(session, "SELECT hopper.step(%s, 0.001)", other) == "running"
    session.close()
    wait_until(lambda: (other, "interrupted") in runs(connection))
    night()
    assert sorted(state for _, state in runs(connection)) == ["done", "done", "interrupted"]
    query(connection, "SELECT hopper.drop_run(%s); DROP OWNED BY other_nights; DROP ROLE other_nights", other)
