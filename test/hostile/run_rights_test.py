"""A run is trained with its role's rights and no other's, and who steers it does not lend it his own."""

import psycopg2
import pytest

import stage
from companions_test import FUNCTIONS, TRAPS, call, first_column, times_sprung
from stage import OWNER, STRANGER, execute

RUN = "SELECT hopper.fit_multiple_model('packed', '{}', 'configs', {}, validation_table := 'packed_validation')"
# With their callers; None is a superuser.
# What the owner puts on what a run reads and on what it writes; escape() looks for the way to the session's own role.
PLANTED = {
    "view": "ALTER TABLE packed RENAME TO packed_before; CREATE VIEW packed AS SELECT * FROM packed_before WHERE escape()",
    "trigger": "CREATE TRIGGER escape BEFORE INSERT OR UPDATE ON hopper_run_{0}_info FOR EACH ROW EXECUTE FUNCTION escape_trigger()",
    "deferred": "CREATE CONSTRAINT TRIGGER escape AFTER INSERT OR UPDATE ON hopper_run_{0}_info DEFERRABLE INITIALLY DEFERRED"
                " FOR EACH ROW EXECUTE FUNCTION escape_trigger()",
}
ESCAPE = f"""
CREATE SEQUENCE tried;
CREATE FUNCTION escape() RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN
    PERFORM nextval('{OWNER}.tried');
    PERFORM set_config('search_path', '{OWNER}, pg_catalog', false);
    BEGIN PERFORM set_config('role', 'none', false); EXCEPTION WHEN OTHERS THEN NULL; END;
    BEGIN CREATE TEMPORARY TABLE planted (n integer); EXCEPTION WHEN OTHERS THEN NULL; END;
    RETURN {OWNER}.trap(); END $$;
CREATE FUNCTION escape_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM {OWNER}.escape(); RETURN NEW; END $$;
"""
CALLS = [("SELECT hopper.publish({}, 'published')", None), ("SELECT hopper.add_trials({})", None),
         ("SELECT hopper.clone_trial({}, 1, fit_params => 'batch_size=4')", STRANGER)]


@pytest.fixture(scope="module")
def session():
    connection = stage.create()
    execute(connection, f"GRANT ALL ON ALL TABLES IN SCHEMA {OWNER} TO {STRANGER}; DROP TABLE IF EXISTS {OWNER}.published")
    stage.become(connection, OWNER)
    execute(connection, FUNCTIONS + ESCAPE)
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


@pytest.mark.parametrize("driver", ["SELECT hopper.step(%s, 60)", "CALL hopper.train(%s)"])
@pytest.mark.parametrize("planted", PLANTED)
def test_who_has_taken_the_runs_role_lends_it_nothing(session, planted, driver):
    """What the role has put on its tables runs as in REFRESH MATERIALIZED VIEW, and leaves nothing in the session."""
    execute(session, f"SET ROLE {OWNER}; SET search_path = {OWNER}")
    number = execute(session, "SELECT hopper.create_run(%s)", (RUN.format("lent", 2),))[0][0]
    execute(session, PLANTED[planted].format(number))
    before = times_sprung(session), execute(session, "SELECT last_value FROM tried")
    try:
        execute(session, driver, (number,))
        error = None
    except psycopg2.Error as raised:
        error = raised
    assert execute(session, "SELECT current_user, current_setting('search_path'), to_regclass('pg_temp.planted')") == [(OWNER, OWNER, None)]
    execute(session, f"RESET ROLE; SET search_path = {OWNER}")
    if planted == "view":
        execute(session, "DROP VIEW packed; ALTER TABLE packed_before RENAME TO packed")
    assert times_sprung(session) == before[0]
    if planted == "deferred":
        assert "cannot fire deferred trigger" in str(error)
        execute(session, "SELECT hopper.cancel(%s)", (number,))
    else:
        assert error is None and execute(session, "SELECT last_value FROM tried") != before[1]
        execute(session, "SELECT hopper.drop_model('lent')")


@pytest.mark.parametrize("statement", [statement for statement, _ in CALLS])
def test_whoever_steers_as_the_runs_role_lends_it_nothing(session, statement):
    """Policies and triggers of the role's own tables run in publish(), add_trials() and clone_trial()."""
    execute(session, f"SET ROLE {OWNER}; SET search_path = {OWNER}")
    number = execute(session, "SELECT hopper.create_run(%s)", (RUN.format("governed", 1000),))[0][0]
    execute(session, "SELECT hopper.step(%s, 0)", (number,))
    execute(session, "CREATE TRIGGER escape BEFORE INSERT ON configs FOR EACH ROW EXECUTE FUNCTION escape_trigger()")
    for table in ("configs", f"hopper_run_{number}"):
        execute(session, f"CREATE POLICY escape ON {table} USING (escape()); ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    before = times_sprung(session), execute(session, "SELECT last_value FROM tried")
    try:
        execute(session, statement.format(number))
    except psycopg2.Error as error:
        assert error.pgcode == "42501", error
    assert execute(session, "SELECT current_user, current_setting('search_path'), to_regclass('pg_temp.planted')") == [(OWNER, OWNER, None)]
    execute(session, f"RESET ROLE; SET search_path = {OWNER}")
    assert times_sprung(session) == before[0]
    assert execute(session, "SELECT last_value FROM tried") != before[1]
    execute(session, f"""DROP TRIGGER escape ON configs; DROP POLICY escape ON configs; DELETE FROM configs WHERE fit_params = 'batch_size=4';
        ALTER TABLE configs DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY; SELECT hopper.drop_run({number}); DROP TABLE IF EXISTS published,
        published_info, published_state, published_summary""")


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
