"""A run is trained with its role's rights and no other's, and who steers it does not lend it his own."""

import psycopg2
import pytest

import stage
from companions_test import FUNCTIONS, TRAPS, call, first_column, times_sprung
from stage import OWNER, STRANGER, execute

RUN = "SELECT hopper.fit_multiple_model('packed', '{}', 'configs', {}, validation_table := 'packed_validation')"
# With their callers; None is a superuser.
CALLS = [("SELECT hopper.publish({}, 'published')", None), ("SELECT hopper.add_trials({})", None),
         ("SELECT hopper.clone_trial({}, 1, fit_params => 'batch_size=4')", STRANGER)]


@pytest.fixture(scope="module")
def session():
    connection = stage.create()
    execute(connection, f"GRANT ALL ON ALL TABLES IN SCHEMA {OWNER} TO {STRANGER}; DROP TABLE IF EXISTS {OWNER}.published")
    stage.become(connection, OWNER)
    execute(connection, FUNCTIONS)
    execute(connection, "RESET SESSION AUTHORIZATION")
    yield connection
    connection.close()
    stage.destroy()


@pytest.fixture(scope="module")
def run(session):
    """Its number; it has a checkpoint."""
    stage.become(session, OWNER)
    number = execute(session, "SELECT hopper.create_run(%s)", (RUN.format("steered", 100000),))[0][0]
    execute(session, "SELECT hopper.step(%s, 0.2)", (number,))
    execute(session, "SELECT hopper.grant_run(%s, %s, 'steer')", (number, STRANGER))
    execute(session, "RESET SESSION AUTHORIZATION")
    execute(session, f"GRANT ALL ON ALL TABLES IN SCHEMA {OWNER} TO {STRANGER}")
    return number


def test_a_session_has_another_role(session, run):
    """What the one drives the other does not drive on."""
    execute(session, f"SET ROLE {OWNER}; SET search_path = {OWNER}")
    execute(session, "SELECT hopper.step(%s, 0.1)", (run,))
    execute(session, "RESET ROLE")
    with pytest.raises(psycopg2.errors.InsufficientPrivilege, match=f'belongs to role "{OWNER}"'):
        execute(session, "SELECT hopper.step(%s, 0.1)", (run,))


def test_the_worker_is_of_the_runs_role_alone(session):
    """A superuser calls a function with which its owner submits a run that would turn to the superuser."""
    stage.become(session, OWNER)
    execute(session, f"""
        CREATE FUNCTION turn(key integer) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN
            BEGIN RESET ROLE; EXCEPTION WHEN OTHERS THEN NULL; END;
            PERFORM {OWNER}.trap();
            RETURN key; END $$;
        CREATE VIEW turning AS SELECT turn(mst_key) AS mst_key, model_id, compile_params, fit_params FROM configs;
        CREATE VIEW turning_summary AS TABLE configs_summary;
        CREATE FUNCTION harmless() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = {OWNER} AS $$
            SELECT hopper.submit($run${RUN.format("turned", 2).replace("'configs'", "'turning'")}$run$) $$""")
    execute(session, "RESET SESSION AUTHORIZATION")
    before = times_sprung(session)
    number = execute(session, f"SELECT {OWNER}.harmless()")[0][0]
    assert execute(session, "SELECT hopper.wait(%s, 60)", (number,)) == [("done",)]
    assert times_sprung(session) == before


def test_what_a_run_names_runs_nothing(session, run):
    """Nor does what takes the place of its tables: the number alone was named."""
    tables = ["configs"] + [f"hopper_run_{run}" + suffix for suffix in ("", "_info", "_state", "_summary")]
    session.autocommit = False
    session.rollback()
    refused = 0
    for statement, caller in CALLS:
        error, _ = call(session, statement.format(run), caller)
        assert error is None, (statement, caller, error)
        for table in tables:
            for trap, making in TRAPS.items():
                before = times_sprung(session)
                error, _ = call(session, statement.format(run), caller, making.format(table, first_column(session, table)))
                assert times_sprung(session) == before, (statement, caller, table, trap)
                refused += error is not None and error.pgcode == "42501"
    session.autocommit = True
    assert refused > 50
