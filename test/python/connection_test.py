"""What is committed, what is interrupted, what is heard: with every kind of connection."""

import os
import signal
import sys
import threading
import time
import warnings

import pandas
import psycopg
import psycopg2
import psycopg2.extensions
import psycopg2.extras
import pytest
import sqlalchemy

import model_hopper
from conftest import DATABASE, KINDS, LONG, ask, engine, exists, open_connection, plain_connection

FIT = ("SELECT * FROM hopper.fit_multiple_model('packed', 'lost', 'configs', 1,"
       " validation_table => 'packed_validation')")


def test_read_sql_alone_loses_the_model(database):
    """The trap that the client is there for."""
    result = pandas.read_sql(sqlalchemy.text(FIT), engine("psycopg"))
    assert result.models_trained[0] == 2
    assert not exists("lost")


def test_a_run_is_committed(hopper):
    result = hopper.fit_multiple_model("packed", "kept", "configs", 1, validation_table="packed_validation")
    assert result.models_trained == 2
    assert exists("kept")


def test_sql_is_committed(hopper):
    result = hopper.sql(FIT)
    assert list(result.models_trained) == [2]
    assert exists("lost")


@pytest.mark.filterwarnings("ignore:pandas only supports")
def test_pandas_on_the_clients_own_connection_keeps_it(database):
    for driver in ("psycopg", "psycopg2"):
        with model_hopper.connect(dbname=DATABASE, driver=driver, progress=False) as hopper:
            pandas.read_sql(FIT.replace("lost", driver), hopper.connection)
        assert exists(driver)


def own_block(kind, connection):
    """A transaction of the caller's own, as one begins it with this kind of connection."""
    if kind == "psycopg":
        return connection.transaction()
    if kind.startswith("alchemy"):
        return connection.begin()
    return None


@pytest.mark.parametrize("kind", ["psycopg", "alchemy-psycopg", "alchemy-psycopg2"])
def test_the_callers_own_block_is_his_to_commit(database, kind):
    connection, close = open_connection(kind)
    hopper = model_hopper.Hopper(connection, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", model_hopper.TransactionWarning)
        with pytest.raises(ZeroDivisionError), own_block(kind, connection):
            hopper.fit_multiple_model("packed", "undone", "configs", 1)
            raise ZeroDivisionError
        assert not exists("undone")
        with own_block(kind, connection):
            hopper.fit_multiple_model("packed", "done", "configs", 1)
            assert not exists("done")
    assert exists("done")
    close()


def test_a_block_of_the_client(hopper):
    with pytest.raises(ZeroDivisionError), hopper.transaction():
        hopper.fit_multiple_model("packed", "undone", "configs", 1)
        raise ZeroDivisionError
    assert not exists("undone")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with hopper.transaction():
            hopper.fit_multiple_model("packed", "done", "configs", 1)
            with pytest.raises(psycopg.Error if "psycopg." in str(type(hopper.connection)) else psycopg2.Error):
                with hopper.transaction():
                    hopper.sql("SELECT 1 / 0")
            assert not exists("done")
    assert exists("done")


@pytest.mark.parametrize("kind", ["psycopg-transactions", "psycopg2-transactions", "alchemy-psycopg"])
def test_what_an_earlier_statement_began_is_told(database, kind):
    """After a SELECT the drivers are in a transaction, and its author may not know."""
    connection, close = open_connection(kind)
    if kind.startswith("alchemy"):
        connection.execute(sqlalchemy.text("SELECT 1"))
    else:
        connection.cursor().execute("SELECT 1")
    hopper = model_hopper.Hopper(connection, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hopper.leaderboard("models")  # writes nothing
    with pytest.warns(model_hopper.TransactionWarning, match="commit"):
        hopper.fit_multiple_model("packed", "open", "configs", 1)
    assert not exists("open")
    connection.commit()
    assert exists("open")
    close()


def test_after_an_error_the_connection_works(hopper):
    for _ in range(2):
        with pytest.raises(Exception) as caught:
            hopper.fit_multiple_model("packd", "never", "configs", 1)
        assert type(caught.value).__module__.partition(".")[0] in ("psycopg", "psycopg2")
        assert "packd" in str(caught.value) and "Perhaps you meant" in str(caught.value)  # the hint, visible
    assert len(hopper.leaderboard("models")) == 2


# ---------------------------------------------------------------- interrupting

def interrupt_when_training(pid, ready=lambda: True):
    """What a notebook's stop button does, once a best configuration is known and all is ready."""
    def press():
        with plain_connection() as connection:
            for _ in range(3000):
                if connection.execute("SELECT 1 FROM hopper.progress WHERE pid = %s AND best_trial IS NOT NULL",
                                      [pid]).fetchone():
                    break
                time.sleep(0.02)
            for _ in range(3000):
                if ready():
                    break
                time.sleep(0.02)
            os.kill(os.getpid(), signal.SIGINT)
            while connection.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND state = 'active'",
                                     [pid]).fetchone()[0]:
                time.sleep(0.01)
    thread = threading.Thread(target=press)
    thread.start()
    return thread


def test_interrupt(hopper):
    pid = hopper.connection.info.backend_pid
    hopper.fit_multiple_model("packed", "short", "configs", 1)  # loading libtorch cannot be interrupted
    thread = interrupt_when_training(pid)
    # It does not wait for the run, which would have made a table after hours.
    with pytest.raises(KeyboardInterrupt):
        hopper.fit_multiple_model("packed", "never", "configs", LONG)
    thread.join(30)
    assert not thread.is_alive()  # the server's process is idle, too
    assert not exists("never")
    assert hopper.connection.info.transaction_status == 0
    assert len(hopper.leaderboard("models")) == 2


def test_psycopg2_has_its_wait_callback_back(database):
    connection, close = open_connection("psycopg2")
    hopper = model_hopper.Hopper(connection, progress=False)
    other = plain_connection(psycopg2)
    for callback in (None, psycopg2.extras.wait_select):
        psycopg2.extensions.set_wait_callback(callback)
        try:
            seen = []

            def while_it_runs(notice):
                seen.append(psycopg2.extensions.get_wait_callback())
                with other.cursor() as cursor:  # another thread's work would be this
                    cursor.execute("SELECT 1")

            hopper.sql("DO $$ BEGIN RAISE NOTICE 'now'; PERFORM pg_sleep(0.1); END $$", progress=while_it_runs)
            assert seen == [callback]
            assert psycopg2.extensions.get_wait_callback() is callback
            with pytest.raises(psycopg2.Error):
                hopper.sql("SELECT 1 / 0")
            assert psycopg2.extensions.get_wait_callback() is callback
            hopper.write_table(f"copied_{callback is None}", {"x": [1, 2]})  # COPY refuses to run under a callback
        finally:
            psycopg2.extensions.set_wait_callback(None)
    other.close()
    close()


# ---------------------------------------------------------------- notices

def test_notices_are_heard_while_it_runs(hopper):
    """The statement goes on when the first one was heard, and fails otherwise."""
    heard = []
    with plain_connection() as other:
        other.execute("SELECT pg_advisory_lock(77)")

        def hear(notice):
            heard.append(notice)
            other.execute("SELECT pg_advisory_unlock_all()")

        hopper.sql("DO $$ BEGIN SET LOCAL lock_timeout = '30s'; RAISE NOTICE 'first' USING DETAIL = 'a', HINT = 'b';"
                   " PERFORM pg_advisory_xact_lock(77); RAISE WARNING 'second'; END $$", progress=hear)
    assert heard == [model_hopper.Notice("NOTICE", "first", "a", "b"), model_hopper.Notice("WARNING", "second")]


def test_a_bar(one, capsys, monkeypatch):
    one.sql("SET hopper.notice_interval = 1")
    pid = one.connection.info.backend_pid
    thread = interrupt_when_training(pid, lambda: all(word in sys.stderr.getvalue() for word in ("about ", "best: ")))
    with pytest.raises(KeyboardInterrupt):
        one.fit_multiple_model("packed", "never", "configs", LONG, validation_table="packed_validation", progress=True)
    thread.join(30)
    shown = capsys.readouterr()
    assert "of 20000000 iterations" in shown.err
    assert "about " in shown.err and "best: " in shown.err and "validation accuracy" in shown.err
    one.fit_multiple_model("packed", "short", "configs", 2, progress=True)
    shown = capsys.readouterr()
    assert "4 of 4 iterations" in shown.err
    last = shown.err.rstrip().rpartition("\r")[2]
    assert "100%" in last and "best: " in last and "training accuracy" in last
    assert 'fit "short" finished' in shown.out and "\nHINT:  " in shown.out
    # Without tqdm there is text.
    monkeypatch.setattr("model_hopper._progress._new_bar", lambda total, title: None)
    one.fit_multiple_model("packed", "text", "configs", 2, progress=True)
    shown = capsys.readouterr()
    assert shown.err == "" and 'fit "text": 2 configurations' in shown.out and 'fit "text" finished' in shown.out


def test_warnings_are_pythons(hopper):
    with pytest.warns(model_hopper.HopperWarning, match="attention"):
        hopper.sql("DO $$ BEGIN RAISE WARNING 'attention'; END $$")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(model_hopper.HopperWarning, match="attention"):
            hopper.sql("DO $$ BEGIN RAISE WARNING 'attention'; END $$")


def test_a_table_that_is_made_anew(hopper):
    """psycopg 3 prepares a statement that it has run five times."""
    for i in range(8):
        hopper.write_table("again", {"a" if i < 7 else "b": [1, 2]}, replace=True)
        assert "ab"[i == 7] in str(hopper.sql("SELECT * FROM again").columns)
        assert len(hopper.sql("SELECT * FROM again WHERE id >= %s", [1])) == 1


def test_how_often_is_the_sessions_own(one):
    one.fit_multiple_model("packed", "short", "configs", 1, progress=False)
    assert one.sql("SHOW hopper.notice_interval").iloc[0, 0] == "10s"
    one.set(notice_interval=60)
    one.fit_multiple_model("packed", "other", "configs", 1, progress=False)
    assert one.sql("SHOW hopper.notice_interval").iloc[0, 0] == "1min"


def test_other_things_are_refused(database):
    with pytest.raises(TypeError, match="psycopg"):
        model_hopper.Hopper(object())
    with pytest.raises(TypeError, match="asynchronous"):
        model_hopper.Hopper(psycopg2.connect(dbname=DATABASE, async_=1))


def test_warnings_name_the_callers_line(one):
    with pytest.warns(model_hopper.HopperWarning) as caught:
        one.sql("DO $$ BEGIN RAISE WARNING 'attention'; END $$")
    assert caught[0].filename == __file__


def test_all_kinds_are_tested():
    assert len(KINDS) == 8
