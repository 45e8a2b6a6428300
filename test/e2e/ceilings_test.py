"""What an administrator grants, and what sessions give back."""

import os
import pathlib
import re
import subprocess

import psycopg2
import psycopg2.extras
import pytest

from digits import (ADAM, SOURCE, connect, create_database, dense, drop_database, layer, pid, query,
                    select, sequential, threads, value, wait_until)

DATABASE = "hopper_ceilings"
# 150,010 weights: 600 kB
WIDE = sequential(layer("Flatten", "flatten"), dense("hidden", 2000, "relu"),
                  dense("output", 10, "softmax"))
ROW = "SELECT prob FROM hopper.predict_row('wide', 1, (SELECT pixels FROM digits WHERE id = 1))"
EVALUATE = "SELECT loss FROM hopper.evaluate('wide', 'packed_validation')"
LONG = ("SELECT hopper.fit('packed', 'never', 'architectures', 1, $$%s$$, 'batch_size=32', 1000000,"
        " threads => %d)")


def server(command, options=""):
    subprocess.run([SOURCE / "scripts" / "server", command, os.environ["HOPPER_BUILD"]], check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   env={**os.environ, "SERVER_OPTIONS": options})


@pytest.fixture(scope="module", autouse=True)
def database():
    connection = create_database(DATABASE)
    query(connection, "SELECT hopper.load_model('architectures', %s)", WIDE)
    query(connection, "SELECT hopper.fit('packed', 'wide', 'architectures', 3, %s, 'batch_size=64', 1)",
          ADAM)
    query(connection, "DROP ROLE IF EXISTS hopper_user; CREATE ROLE hopper_user")
    connection.close()
    yield
    drop_database(DATABASE)
    admin = connect("postgres")
    query(admin, "DROP ROLE hopper_user")
    admin.close()


@pytest.fixture
def preloaded():
    server("stop")
    server("start", "-c shared_preload_libraries=model_hopper")
    yield
    server("stop")
    server("start")


@pytest.fixture
def session():
    connection = connect(DATABASE)
    query(connection, "SELECT hopper.version()")
    yield connection
    connection.close()


@pytest.fixture
def other():
    connection = connect(DATABASE)
    query(connection, "SELECT hopper.version()")
    yield connection
    connection.close()


def notices(connection, statement):
    del connection.notices[:]
    query(connection, statement)
    return [notice.split(":  ")[1].strip() for notice in connection.notices
            if notice.startswith("NOTICE") and "hopper.max" in notice]


def test_only_superusers_raise_them(session):
    query(session, "SET ROLE hopper_user")
    for name in ("max_threads", "max_memory", "max_configs", "keep_memory", "keep_time"):
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            query(session, f"SET hopper.{name} = 1000")
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            query(session, "SELECT set_config('hopper.' || %s, '1000', false)", name)


def test_not_even_before_the_library_is_there():
    connection = connect(DATABASE)
    query(connection, "SET SESSION AUTHORIZATION hopper_user; SET hopper.max_configs = 20000")
    query(connection, "SELECT hopper.version()")
    assert value(connection, "SHOW hopper.max_configs") == "10000"
    connection.close()


def test_roles_have_ceilings_of_their_own():
    admin = connect(DATABASE)
    query(admin, "ALTER ROLE hopper_user LOGIN; ALTER ROLE hopper_user SET hopper.max_threads = 1")
    connection = psycopg2.connect(dbname=DATABASE, user="hopper_user")
    query(connection, "SELECT hopper.version()")
    assert value(connection, "SHOW hopper.max_threads") == "1"
    connection.close()
    query(admin, "ALTER ROLE hopper_user NOLOGIN; ALTER ROLE hopper_user RESET ALL")
    admin.close()


def test_threads_stay_below(session):
    query(session, "SET hopper.max_threads = 1")
    assert notices(session, "SELECT hopper.fit('packed', 'one_thread', 'architectures', 1, $$%s$$,"
                   " 'batch_size=64', 1, threads => 2)" % ADAM) == [
        "2 threads were asked for, but hopper.max_threads is 1"]
    assert value(session, "SELECT workers FROM hopper.journal_runs ORDER BY run DESC LIMIT 1") == 1
    assert notices(session, EVALUATE) == []
    query(session, "SET hopper.threads = 3")
    assert notices(session, EVALUATE) == ["hopper.threads is 3, but hopper.max_threads is 1"]
    with pytest.raises(psycopg2.errors.InvalidParameterValue, match="threads_per_model"):
        query(session, "SELECT hopper.fit('packed', 'two_threads', 'architectures', 1, %s,"
              " 'batch_size=64', 1, threads => 2, threads_per_model => 2)", ADAM)


def default_threads(connection):
    """What the default of hopper.max_threads means here, as a NOTICE says."""
    query(connection, "SET hopper.max_threads = 0; SET hopper.threads = 1000")
    (notice,) = notices(connection, EVALUATE)
    query(connection, "RESET hopper.threads")
    words = re.fullmatch(r"hopper\.threads is 1000, but (.* which means (\d+) processors? here)", notice)
    assert 1 <= int(words[2]) <= len(os.sched_getaffinity(0))
    return words[1], int(words[2])


def test_by_default_threads_are_the_processors(session):
    words, processors = default_threads(session)
    assert notices(session, "SELECT hopper.fit('packed', 'default_threads', 'architectures', 1, $$%s$$,"
                   " 'batch_size=64', 1, threads => 999)" % ADAM) == [
        f"999 threads were asked for, but {words}"]
    assert value(session, "SELECT workers FROM hopper.journal_runs ORDER BY run DESC LIMIT 1") <= processors


def test_by_default_all_sessions_share_the_processors(preloaded, session, other):
    _, processors = default_threads(session)
    query(other, "SET hopper.max_threads = 0")
    training = psycopg2.extensions.connection(f"dbname={DATABASE}", async_=1)
    psycopg2.extras.wait_select(training)
    with training.cursor() as cursor:
        cursor.execute("SET hopper.max_threads = 0")
        psycopg2.extras.wait_select(training)
        cursor.execute(LONG % (ADAM, processors))
        if processors > 1:
            wait_until(lambda: notices(other, EVALUATE))
            assert notices(other, EVALUATE) == [
                f"1 thread instead of {processors}: others use the rest of hopper.max_threads"]
        training.cancel()
        with pytest.raises(psycopg2.errors.QueryCanceled):
            psycopg2.extras.wait_select(training)
    training.close()


def test_configurations_stay_below(session):
    select(session, "five", [(key, 1, ADAM, "batch_size=64") for key in range(1, 6)])
    query(session, "SET hopper.max_configs = 4")
    for call in ("hopper.fit_multiple_model('packed', 'never', 'five', 1)",
                 "hopper.check_configs('five')"):
        with pytest.raises(psycopg2.errors.ProgramLimitExceeded, match="more than 4 configurations"):
            query(session, f"SELECT {call}")
    query(session, "SET hopper.max_configs = 5")
    assert query(session, "SELECT hopper.check_configs('five')") == []


def test_memory_stays_below(session):
    assert notices(session, EVALUATE) == []
    query(session, "SET hopper.memory_limit = '1GB'; SET hopper.max_memory = '700MB'")
    assert notices(session, EVALUATE) == [
        "hopper.memory_limit is 1024 MB, but hopper.max_memory leaves 700 MB"]


@pytest.mark.parametrize("call", [
    "SELECT hopper.predict('huge', 'digits', 'id', 'pixels', 'never', 'response')",
    "SELECT hopper.predict_row('huge', 1, (SELECT pixels FROM digits WHERE id = 1))"])
def test_prediction_has_a_limit(session, call):
    query(session, "DROP TABLE IF EXISTS huge, huge_info, huge_state, huge_summary")
    query(session, "SELECT hopper.load_model('architectures', %s)", sequential(
        layer("Flatten", "flatten"), dense("hidden", 8000, "relu"), dense("output", 10, "softmax")))
    query(session, "SELECT hopper.fit('packed', 'huge', 'architectures', 4, %s, 'batch_size=64', 1)",
          ADAM)
    query(session, "SET hopper.memory_limit = '1MB'")
    with pytest.raises(psycopg2.errors.OutOfMemory):
        query(session, call)
    query(session, "RESET hopper.memory_limit; SET hopper.max_memory = '1MB'")
    with pytest.raises(psycopg2.errors.OutOfMemory):
        query(session, call)
    query(session, "RESET hopper.max_memory")
    query(session, call)
    query(session, "DROP TABLE IF EXISTS never")


def test_discard_all_and_idleness_end_what_a_session_keeps(session):
    first = query(session, ROW)
    with_model = threads(pid(session))
    query(session, "DISCARD ALL")
    assert threads(pid(session)) == with_model - 1
    assert query(session, ROW) == first
    process = pid(session)
    assert threads(process) == with_model
    query(session, "SET hopper.keep_time = 1")
    assert query(session, ROW) == first
    wait_until(lambda: threads(process) == with_model - 1)
    for _ in range(2):
        assert query(session, ROW) == first
    query(session, "SET hopper.keep_memory = 0")
    assert query(session, ROW) == first
    assert threads(process) == with_model - 1


def test_models_stay_ready_within_their_memory(session):
    """The one that was not used for longest makes room, with its thread and its bytes."""
    query(session, "DROP TABLE IF EXISTS several, several_info, several_state, several_summary")
    model = value(session, "SELECT hopper.load_model('architectures', %s)", sequential(
        layer("Flatten", "flatten"), dense("hidden", 18000, "relu"), dense("output", 10, "softmax")))
    select(session, "four", [(key, model, ADAM, f"batch_size={512 + key}") for key in range(1, 5)])
    query(session, "SELECT hopper.fit_multiple_model('packed', 'several', 'four', 1)")
    size = value(session, "SELECT length(model_weights) FROM several WHERE mst_key = 1")

    def row(key):
        return query(session, "SELECT prob FROM hopper.predict_row('several', %s,"
                     " (SELECT pixels FROM digits WHERE id = 1))", key)

    def held():
        status = pathlib.Path(f"/proc/{pid(session)}/status").read_text()
        return int(status.split("RssAnon:")[1].split()[0]) * 1024

    query(session, "DISCARD ALL")
    query(session, "SET hopper.keep_memory = '13MB'")
    assert 2 * size < 13e6 < 3 * size
    none = threads(pid(session))
    first, bytes_of = {}, {}
    for number, key in enumerate((1, 2, 3, 4), 1):
        first[key] = row(key)
        bytes_of[number] = held()
        assert threads(pid(session)) == none + min(number, 2)
    assert len(set(map(str, first.values()))) == 4
    for key in (1, 4, 2, 3, 1) * 2:
        assert row(key) == first[key]
        assert threads(pid(session)) == none + 2
    # Two of 5 MB, not four.
    assert held() - bytes_of[2] < size
    query(session, "SET hopper.keep_memory = '7MB'")
    assert row(1) == first[1]
    assert row(2) == first[2]
    assert threads(pid(session)) == none + 1
    query(session, "RESET hopper.keep_memory; DROP TABLE several, several_info, several_state, several_summary")


def test_all_sessions_share_threads(preloaded, session, other):
    query(session, "SET hopper.max_threads = 3")
    query(other, "SET hopper.max_threads = 3; SET hopper.threads = 3")
    assert notices(other, EVALUATE) == []
    process, before = pid(session), threads(pid(session))
    training = psycopg2.extensions.connection(f"dbname={DATABASE}", async_=1)
    psycopg2.extras.wait_select(training)
    with training.cursor() as cursor:
        cursor.execute(LONG % (ADAM, 2))
        wait_until(lambda: notices(other, EVALUATE))
        assert notices(other, EVALUATE) == [
            "1 thread instead of 3: others use the rest of hopper.max_threads"]
        training.cancel()
        with pytest.raises(psycopg2.errors.QueryCanceled):
            psycopg2.extras.wait_select(training)
    wait_until(lambda: not notices(other, EVALUATE))
    training.close()
    assert threads(process) == before


def test_all_sessions_share_memory(preloaded, session, other):
    for connection in (session, other):
        query(connection, "SET hopper.max_memory = '1MB'")
    answer = query(session, ROW)
    with pytest.raises(psycopg2.errors.OutOfMemory) as error:
        query(other, ROW)
    assert "hopper.max_memory leaves" in error.value.diag.message_primary
    assert "for all sessions of the server together" in error.value.diag.message_detail
    query(session, "DISCARD ALL")
    query(session, "SET hopper.max_memory = '1MB'")
    assert query(other, ROW) == answer
    # What idleness frees is free for others, while the session waits for its client.
    query(other, "DISCARD ALL")
    query(other, "SET hopper.max_memory = '1MB'; SET hopper.keep_time = 1")
    assert query(other, ROW) == answer

    def answered():
        try:
            return query(session, ROW) == answer
        except psycopg2.errors.OutOfMemory:
            return False

    wait_until(answered)
    query(connect(DATABASE), "SELECT pg_terminate_backend(%s)", pid(session))
    query(other, "SET hopper.keep_time = 0")
    session = other
    wait_until(answered)
    # A hundred calls that fail leave nothing behind.
    third = connect(DATABASE)
    query(third, "SELECT hopper.version(); SET hopper.max_memory = '1MB'")
    for _ in range(100):
        with pytest.raises(psycopg2.errors.OutOfMemory):
            query(third, ROW)
    query(other, "DISCARD ALL")
    assert query(third, ROW) == answer
    third.close()


def test_a_statement_that_trains_often_takes_its_share_once(preloaded, session):
    query(session, "SET hopper.max_threads = 2; SET hopper.max_memory = '20MB'; SET hopper.threads = 2")
    assert notices(session, """DO $$ BEGIN FOR i IN 1..30 LOOP
      PERFORM hopper.evaluate('wide', 'packed_validation');
      BEGIN
        PERFORM hopper.evaluate('wide', 'packed_validation', 'digits');
      EXCEPTION WHEN duplicate_table THEN NULL;
      END;
    END LOOP; END $$""") == []


def test_no_size_is_rounded_to_no_limit(session):
    for name in ("memory_limit", "max_memory", "keep_memory"):
        for size in ("1kB", "1023kB", "0.5MB"):
            with pytest.raises(psycopg2.errors.InvalidParameterValue):
                query(session, f"SET hopper.{name} = '{size}'")
        query(session, f"SET hopper.{name} = '1.5MB'")
        assert value(session, f"SHOW hopper.{name}") == "1536kB"
        query(session, f"SET hopper.{name} = 512")
        assert value(session, f"SHOW hopper.{name}") == "512MB"
        query(session, f"SET hopper.{name} = 0; RESET hopper.{name}")
