"""Each function on tables of another role who has put traps on what the call does not name: companions, and tables
whose names others hold. None of the traps runs with the caller's rights."""

import re

import psycopg2
import pytest

import stage
from memory_fails_test import CALLS
from stage import OWNER, STRANGER, execute

# On table {0}; each counts in the sequence "sprung" whenever somebody else than the owner computes it.
TRAPS = {
    "policy": "CREATE POLICY trap ON {0} USING (trap()); ALTER TABLE {0} ENABLE ROW LEVEL SECURITY",
    "view": "ALTER TABLE {0} RENAME TO trapped; CREATE VIEW {0} AS SELECT * FROM trapped WHERE trap();"
            f"GRANT ALL ON {{0}} TO {STRANGER}",
    "trigger": "CREATE TRIGGER trap BEFORE INSERT OR UPDATE OR DELETE ON {0} FOR EACH ROW"
               " EXECUTE FUNCTION trap_trigger()",
    "rule": "CREATE RULE trap AS ON DELETE TO {0} DO ALSO SELECT trap()",
    "index": "CREATE INDEX ON {0} ((1)) WHERE constant_trap('{0}')",
    "statistics": "CREATE STATISTICS trap ON (({1} IS NULL) = constant_trap('{0}')) FROM {0}",
    "child": f"CREATE TABLE trapped () INHERITS ({{0}}); GRANT ALL ON trapped TO {STRANGER};"
             "CREATE INDEX ON trapped ((1)) WHERE constant_trap('{0}')",
    # Of a function of the server, which runs a text.
    "default": f"ALTER TABLE {{0}} ADD COLUMN trap text DEFAULT query_to_xml('SELECT {OWNER}.trap()', true, true, '')::text",
}
FUNCTIONS = f"""
CREATE SEQUENCE sprung;
GRANT ALL ON SEQUENCE sprung TO PUBLIC;
CREATE FUNCTION trap() RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN
    IF current_user <> '{OWNER}' THEN PERFORM nextval('{OWNER}.sprung'); END IF; RETURN true; END $$;
CREATE FUNCTION constant_trap(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
    RETURN {OWNER}.trap(); END $$;
CREATE FUNCTION trap_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM {OWNER}.trap(); RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END; END $$;
"""


@pytest.fixture(scope="module")
def session():
    connection = stage.create()
    execute(connection, f"DROP SCHEMA {STRANGER} CASCADE; CREATE SCHEMA {STRANGER} AUTHORIZATION {STRANGER};"
            f"GRANT ALL ON ALL TABLES IN SCHEMA {OWNER} TO {STRANGER}")
    stage.become(connection, OWNER)
    execute(connection, FUNCTIONS)
    execute(connection, "RESET SESSION AUTHORIZATION")
    connection.autocommit = False
    yield connection
    connection.close()
    stage.destroy()


def call(session, statement, caller, trap=None):
    """The error of a call that is then taken back, and the other tables of the owner that it has locked; `trap`: what
    the owner does first."""
    try:
        if trap:
            execute(session, f"SET LOCAL ROLE {OWNER}; SET LOCAL search_path = {OWNER}; {trap}; RESET ROLE")
        execute(session, f"SET LOCAL search_path = {STRANGER}, {OWNER}")
        if caller:
            execute(session, f"SET LOCAL SESSION AUTHORIZATION {caller}")
        execute(session, "SAVEPOINT before")
        error = None
        try:
            execute(session, statement)
        except psycopg2.Error as raised:
            error = raised
            execute(session, "ROLLBACK TO before")
        return error, [name for name, in execute(session, """
            SELECT DISTINCT c.relname FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
            WHERE l.pid = pg_backend_pid() AND c.relnamespace = %s::regnamespace AND c.relkind = 'r'""", (OWNER,))]
    finally:
        session.rollback()


def times_sprung(session):
    count = execute(session, f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {OWNER}.sprung")[0][0]
    session.rollback()
    return count


def first_column(session, table):
    return execute(session, "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum = 1",
                   (f"{OWNER}.{table}",))[0][0]


@pytest.mark.parametrize("trap", TRAPS)
def test_the_traps_work(session, trap):
    """Else those below would say nothing."""
    before = times_sprung(session)
    error, _ = call(session, "INSERT INTO run_info SELECT * FROM run_info WHERE false; DELETE FROM run_info"
                    if trap in ("trigger", "rule") else "INSERT INTO run_info (mst_key) VALUES (7)"
                    if trap == "default" else "SELECT mst_key FROM run_info WHERE mst_key > 0", STRANGER,
                    TRAPS[trap].format("run_info", "mst_key"))
    assert (error is None or trap == "default") and times_sprung(session) > before


@pytest.mark.parametrize("caller", [STRANGER, None], ids=["stranger", "superuser"])
def test_nothing_unnamed_runs(session, caller):
    sprung, refused = [], 0
    there = {name for name, in execute(session, "SELECT tablename FROM pg_tables WHERE schemaname = %s", (OWNER,))}
    for name, statement in CALLS.items():
        named = {"".join(names) for names in re.findall(r"'(\w+)'|(?:FROM|UPDATE) (\w+)|NULL::(\w+)", statement)}
        _, used = call(session, statement, caller)
        for table in sorted(there & set(used) - named):
            for trap, making in TRAPS.items():
                before = times_sprung(session)
                error, _ = call(session, statement, caller, making.format(table, first_column(session, table)))
                if times_sprung(session) > before:
                    sprung.append((name, table, trap, error and str(error).split("\n", maxsplit=1)[0]))
                refused += error is not None and error.pgcode == "42501"
    assert sprung == [], sprung
    assert refused > 50
