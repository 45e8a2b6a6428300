"""What an administrator does while models are trained does not cost them."""

import psycopg2
import pytest

from beside import Statement, make_small_tables
from digits import connect, drop_database, query, value

DATABASE = "hopper_administrator"
ROLE = "hopper_administrator_user"
LONG = 8000


@pytest.fixture(scope="module")
def administrator():
    drop_database(DATABASE)
    admin = connect("postgres")
    query(admin, f"DROP ROLE IF EXISTS {ROLE}")
    query(admin, f"CREATE ROLE {ROLE}")
    query(admin, f"CREATE DATABASE {DATABASE}")
    connection = connect(DATABASE)
    query(connection, "CREATE EXTENSION model_hopper")
    query(connection, f"CREATE SCHEMA w AUTHORIZATION {ROLE}; SET search_path = w")
    query(connection, f"SET ROLE {ROLE}; SET client_min_messages = warning")
    make_small_tables(connection)
    query(connection, "RESET ROLE; RESET client_min_messages")
    yield connection
    connection.close()
    drop_database(DATABASE)
    query(admin, f"DROP ROLE {ROLE}")
    admin.close()


class Training(Statement):
    """Of the role; it ends by itself."""

    def __init__(self, table, more=""):
        super().__init__(DATABASE, f"SELECT models_trained FROM hopper.fit_multiple_model('packed', '{table}', 'configs', {LONG},"
                         f" threads => 1{more})",
                         f"SET SESSION AUTHORIZATION {ROLE}; SET search_path = w; SET lock_timeout = '20s'")

    def end(self):
        notices = super().end()
        assert self.error is None, self.error
        assert self.rows == [(2,)]
        return notices


@pytest.mark.parametrize("statement", ["LOCK TABLE hopper.journal_runs IN ACCESS EXCLUSIVE MODE",
                                       "VACUUM FULL hopper.journal_visits",
                                       "REINDEX TABLE hopper.journal_runs",
                                       "ALTER TABLE hopper.journal_visits ADD note text"])
def test_the_record_of_runs_is_there_at_the_end(administrator, statement):
    """Whoever wants it for himself waits for the training, which has a lock_timeout, and not the other way round."""
    training = Training("noted")
    training.trains()
    query(administrator, "SET lock_timeout = '100ms'")
    if statement.startswith("LOCK"):
        query(administrator, "BEGIN")
    with pytest.raises(psycopg2.errors.LockNotAvailable):
        query(administrator, statement)
    if statement.startswith("LOCK"):
        query(administrator, "ROLLBACK")
    query(administrator, "RESET lock_timeout")
    training.end()
    assert value(administrator, "SELECT count(*) > 0 FROM hopper.run_timeline('w.noted')")
    query(administrator, "SELECT hopper.drop_model('w.noted')")


def test_that_it_is_waited_for_is_said(administrator):
    """Before anything is trained."""
    query(administrator, "BEGIN; LOCK TABLE hopper.journal_runs IN ACCESS EXCLUSIVE MODE")
    training = Training("waiting")
    training.waits(administrator)
    query(administrator, "ROLLBACK")
    assert "waiting for a session that has locked the record of runs" in training.end()
    query(administrator, "SELECT hopper.drop_model('w.waiting')")


@pytest.mark.parametrize("right", ["USAGE ON SCHEMA hopper", "EXECUTE ON ALL FUNCTIONS IN SCHEMA hopper"])
@pytest.mark.parametrize("more", ["", ", replace => true"])
def test_the_extension_is_kept_from_others(administrator, right, more):
    """As docs/security.md has it: whose training has begun may end it."""
    if more:
        Training("kept").end()
    training = Training("kept", more)
    training.trains()
    query(administrator, f"REVOKE {right} FROM PUBLIC")
    try:
        training.end()
        assert value(administrator, "SELECT best_mst_key IS NOT NULL FROM w.kept_summary")
    finally:
        query(administrator, f"GRANT {right} TO PUBLIC")
        query(administrator, "SELECT hopper.drop_model('w.kept')")


@pytest.mark.parametrize("more", ["", ", replace => true"])
def test_the_extensions_schema_gets_another_name(administrator, more):
    """Nothing of the extension is found by that name once the training has begun."""
    if more:
        Training("renamed").end()
    training = Training("renamed", more)
    training.trains()
    query(administrator, "ALTER SCHEMA hopper RENAME TO x")
    try:
        training.end()
        assert value(administrator, "SELECT count(*) > 0 FROM x.run_timeline('w.renamed')")
    finally:
        query(administrator, "ALTER SCHEMA x RENAME TO hopper")
        query(administrator, "SELECT hopper.drop_model('w.renamed')")
