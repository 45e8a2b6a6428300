"""Runs of a role that an administrator limits by what PostgreSQL has since 17: a time for transactions, workers without LOGIN."""

import time

import psycopg2
import pytest

from digits import connect, query, value, wait_until
from called_runs import create, in_thread, runs_database, state

DATABASE = "hopper_limited_runs"
ROLE = "hopper_limited"


@pytest.fixture(scope="module")
def database():
    for connection in runs_database(DATABASE):
        if value(connection, "SHOW server_version_num") < "170000":
            pytest.skip("this is of PostgreSQL 17 and later")
        query(connection, f"DROP ROLE IF EXISTS {ROLE}; CREATE ROLE {ROLE} LOGIN; GRANT ALL ON SCHEMA public TO {ROLE};"
              f" GRANT SELECT ON ALL TABLES IN SCHEMA public TO {ROLE}")
        yield connection
        query(connection, f"DROP OWNED BY {ROLE}; DROP ROLE {ROLE}")


@pytest.fixture(name="owner")
def fixture_owner(database):
    connection = connect(DATABASE)
    query(connection, f"SET SESSION AUTHORIZATION {ROLE}")
    yield connection
    connection.close()
    query(database, f"ALTER ROLE {ROLE} LOGIN; ALTER ROLE {ROLE} RESET ALL")


def process_of(database, run):
    return value(database, "SELECT pid FROM hopper.runs WHERE run = %s", run)


def expect_to_go_on(database, run, process):
    """For longer than one transaction may take, in the same process."""
    time.sleep(10)
    assert (state(database, run), process_of(database, run)) == ("running", process)
    query(database, "SELECT hopper.cancel(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"


@pytest.mark.parametrize("call", ["SELECT hopper.resume({})", "CALL hopper.train({})"])
def test_transactions_that_may_not_take_long(database, owner, call):
    """Each of CALL hopper.train() is shorter; a worker, whom nobody asks for a lock, is free of it."""
    query(database, f"ALTER ROLE {ROLE} SET transaction_timeout = '10ms'")
    query(owner, "SET transaction_timeout = '4s'")
    run = create(owner, "short_transactions", "endless", 1000000)
    thread, found = in_thread(owner, call.format(run))
    wait_until(lambda: state(database, run) == "running")
    expect_to_go_on(database, run, process_of(database, run))
    thread.join(60)
    assert not any(isinstance(answer, psycopg2.Error) for answer in found), found
    assert value(owner, "SELECT 6 * 7") == 42


@pytest.mark.parametrize("call", ["SELECT hopper.resume({})", "CALL hopper.train({})"])
def test_a_role_that_loses_its_login(database, owner, call):
    run = create(owner, "no_login", "endless", 1000000)
    thread, found = in_thread(owner, call.format(run))
    wait_until(lambda: state(database, run) == "running")
    process = process_of(database, run)
    query(database, f"ALTER ROLE {ROLE} NOLOGIN")
    if "resume" in call:
        # Another worker logs in as the role.
        query(database, "SELECT pg_terminate_backend(%s)", process)
        wait_until(lambda: process_of(database, run) not in (None, process))
        process = process_of(database, run)
    expect_to_go_on(database, run, process)
    thread.join(60)
    assert not any(isinstance(answer, psycopg2.Error) for answer in found), found
