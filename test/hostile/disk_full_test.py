"""No space left: an error that names what is full, and nothing left behind.

Two ways: no file of the session's process may grow beyond a limit (which the kernel answers at the same
places as it would a full disk), and a small file system for tables and temporary files, where the machine
lets us mount one.
"""

import os
import pathlib
import re

import psycopg2
import pytest

from digits import (ADAM, PLAIN, connect, create_database, dense, drop_database, layer, outputs, pid, query,
                    select, sequential, threads, value)
from small_disk import small_tablespace

DATABASE = "hopper_disk_full"
MEGABYTE = 1024 * 1024
# More than a segment of the write-ahead log: that one must never fail.
LIMIT = 17 * MEGABYTE
# 1.3 million parameters: 5 MB of weights, 16 MB of state with Adam.
WIDE = sequential(layer("Flatten", "flatten"), dense("hidden", 18000, "relu"),
                  dense("output", 10, "softmax"))

# Two at a time fit, but not all that rest meanwhile.
SEARCH = """hopper.automl('first_packed', 'made', 'architectures', 'made_best',
    (SELECT max(model_id) FROM architectures), '{''loss'': [''categorical_crossentropy''],
    ''optimizer_params_list'': [{''optimizer'': [''Adam''], ''lr'': [1e-4, 1e-2, ''log'']}]}',
    '{''batch_size'': [128]}', 'random', 'num_configs=10, num_iterations=1', 1, parallel => 2, threads => 2)"""

# name: (SQL before it, call, the table or file that it fills)
CALLS = {
    "training_preprocessor": (
        "", "hopper.training_preprocessor('noise', 'made', 'y', 'x')", "made"),
    "validation_preprocessor": (
        "", "hopper.validation_preprocessor('noise', 'made', 'y', 'x', 'few_packed')", "made"),
    "fit_multiple_model": (
        "", "hopper.fit_multiple_model('first_packed', 'made', 'wide', 1, threads => 2)", "made_state"),
    "warm start": (
        "", "hopper.fit_multiple_model('first_packed', 'trained', 'wide', 1, warm_start => true,"
        " threads => 2)", "trained_state"),
    "others wait for memory": (
        "SET hopper.memory_limit = '150MB'",
        "hopper.fit_multiple_model('first_packed', 'made', 'ten_wide', 1, threads => 2)", "made_state"),
    # The table of weights and that of states grow by turns: either may be the one that is full.
    "automl": ("SET hopper.memory_limit = '150MB'", SEARCH, "INSERT INTO public.made"),
    "predict": (
        "", "hopper.predict('small', 'many', 'id', 'pixels', 'made')", "made"),
    "predict_byom": (
        "", "hopper.predict_byom('byom', 1, 'many', 'id', 'pixels', 'made')", "made"),
    "load_model": (
        "", "count(hopper.load_model('made', $$" + WIDE + "$$, model_weights))"
        " FROM trained, generate_series(1, 10) WHERE mst_key = 1", "made"),
}

@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "SET client_min_messages = warning")
    # Two batches of each model.
    query(connection, "CREATE TABLE first AS SELECT * FROM digits WHERE id <= 256")
    query(connection, "SELECT hopper.training_preprocessor('first', 'first_packed', 'label', 'pixels', normalizing_const => 16)")
    query(connection, "SELECT hopper.load_model('architectures', %s)", WIDE)
    model = value(connection, "SELECT max(model_id) FROM architectures")
    for table, n in (("wide", 2), ("ten_wide", 10)):
        select(connection, table, [
            (key, model, f"loss='categorical_crossentropy', optimizer='Adam(lr={key}e-4)'",
             "batch_size=128") for key in range(1, n + 1)])
    # 24 MB that do not compress.
    query(connection, "CREATE TABLE noise AS SELECT i AS id, i % 3 AS y,"
          " ARRAY(SELECT random()::real FROM generate_series(1, 1000) WHERE i > 0) AS x FROM generate_series(1, 7000) i")
    query(connection, "CREATE TABLE few AS SELECT * FROM noise WHERE id <= 100")
    query(connection, "SELECT hopper.training_preprocessor('few', 'few_packed', 'y', 'x')")
    query(connection, "CREATE VIEW many AS SELECT id + 10000 * i AS id, pixels"
          " FROM digits, generate_series(1, 150) i")
    query(connection, "SELECT hopper.fit_multiple_model('first_packed', 'trained', 'wide', 1)")
    query(connection, "SELECT hopper.fit('packed', 'small', 'architectures', 1, %s, 'batch_size=32', 1)", ADAM)
    query(connection, "SELECT hopper.load_model('byom', %s, model_weights) FROM small", PLAIN)
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.fixture
def session(database):
    connection = connect(DATABASE)
    query(connection, "SET client_min_messages = error")
    query(connection, "SELECT hopper.evaluate('small', 'packed')")
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def small_disk(database):
    """A tablespace that holds 24 MB."""
    with small_tablespace(database, 24, value(database, "SHOW data_directory")) as folder:
        yield folder


def files(connection):
    """The tables' files, without what a vacuum adds to them, and all temporary ones."""
    query(connection, "CHECKPOINT")  # those of dropped tables go
    folder = pathlib.Path(value(connection, "SHOW data_directory"))
    own = value(connection, "SELECT oid FROM pg_database WHERE datname = current_database()")
    return {str(path) for place in (f"base/{own}", "base/pgsql_tmp", "pg_tblspc")
            for path in (folder / place).rglob("*")
            if re.fullmatch(r"[0-9.]+|pgsql_tmp.+", path.name)}


def refused(session, name):
    """The call fails, says what is full, and leaves nothing; the session goes on."""
    before, call, full = CALLS[name]
    tables = outputs(session)
    idle = threads(pid(session))
    found = files(session)
    if before:
        query(session, before)
    with pytest.raises(psycopg2.Error) as raised:
        query(session, f"SELECT {call}")
    error = raised.value
    assert "could not " in str(error) and "file" in str(error), error
    assert full in (error.diag.context or ""), error
    assert threads(pid(session)) <= idle
    assert outputs(session) == tables
    assert files(session) == found
    assert value(session, "SELECT count(*) FROM hopper.leaderboard('trained')") == 2
    return error


def drop_made(session):
    for table in outputs(session, "made%"):
        query(session, f"DROP TABLE {table}")


def test_temporary_files_are_counted_before(session):
    call = "SELECT hopper.training_preprocessor('noise', 'made', 'y', 'x')"
    query(session, "SET maintenance_work_mem = '1MB'; SET temp_file_limit = '10MB'")
    with pytest.raises(psycopg2.errors.ConfigurationLimitExceeded) as raised:
        query(session, call)
    assert str(raised.value).startswith('sorting the rows of "noise" '), raised.value
    assert "temp_file_limit is 10 MB" in raised.value.diag.message_detail
    assert outputs(session, "made%") == []
    query(session, "SET temp_file_limit = '300MB'")
    query(session, call)
    drop_made(session)


@pytest.mark.parametrize("name", ["others wait for memory", "automl"])
def test_models_that_wait_for_memory_need_no_temporary_files(session, name):
    before, call, _ = CALLS[name]
    query(session, f"{before}; SET temp_file_limit = 0")
    query(session, f"SELECT {call}")
    assert value(session, "SELECT count(*) FROM made") == 10
    drop_made(session)


@pytest.mark.parametrize("name", CALLS)
def test_a_file_cannot_grow(session, name):
    # The program's parent is the session's process.
    query(session, "COPY (SELECT 1) TO PROGRAM"
          f" 'prlimit --pid $PPID --fsize={LIMIT}: && cat > /dev/null'")
    assert "File too large" in str(refused(session, name))


@pytest.mark.parametrize("name", [
    "training_preprocessor", "fit_multiple_model", "automl", "predict"])
def test_the_disk_becomes_full(session, small_disk, name):
    query(session, "SET temp_tablespaces = small; SET default_tablespace = small")
    free = os.statvfs(small_disk).f_bfree
    assert refused(session, name).pgcode == "53100"
    assert os.statvfs(small_disk).f_bfree == free


def test_models_that_cannot_fit_are_refused_before_they_train(session, small_disk):
    query(session, "SET default_tablespace = small")
    free = os.statvfs(small_disk).f_bfree
    tables = outputs(session)
    for call in ("hopper.fit_multiple_model('first_packed', 'made', 'ten_wide', 1000000, threads => 2)",
                 "hopper.fit_multiple_model('first_packed', 'trained', 'ten_wide', 1000000, threads => 2,"
                 " replace => true)"):
        with pytest.raises(psycopg2.errors.DiskFull) as raised:
            query(session, f"SELECT {call}")
        assert re.match(r"the models need \d+ MB on disk at least, but \d+ MB are free", str(raised.value))
        assert 'tablespace "small"' in raised.value.diag.message_detail
        assert outputs(session) == tables
        assert os.statvfs(small_disk).f_bfree == free


def test_the_disk_is_full(session, small_disk):
    """What makes tables is refused at once, and works in the same session when there is room."""
    filler = pathlib.Path(small_disk) / "filler"
    query(session, "SET default_tablespace = small")
    with pytest.raises(OSError), open(filler, "wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    for call in ("hopper.training_preprocessor('few', 'made', 'y', 'x')",
                 "hopper.fit('packed', 'made', 'architectures', 1, $$" + ADAM + "$$, 'batch_size=32', 1)",
                 "hopper.evaluate('small', 'packed', 'made')",
                 "hopper.predict('small', 'digits', 'id', 'pixels', 'made')",
                 "hopper.load_model('made', $$" + PLAIN + "$$)",
                 "hopper.load_model_selection_table('architectures', 'made', '{1}',"
                 " ARRAY[$$" + ADAM + "$$], ARRAY['batch_size=32'])"):
        tables = outputs(session)
        with pytest.raises(psycopg2.errors.DiskFull):
            query(session, f"SELECT {call}")
        assert outputs(session) == tables
        size = filler.stat().st_size
        os.truncate(filler, 0)
        query(session, f"SELECT {call}")
        made = [name for name in outputs(session) if name not in tables]
        query(session, "DROP TABLE " + ", ".join(made))
        query(session, "CHECKPOINT")
        with open(filler, "ab", buffering=0) as file:
            while file.tell() < size:
                file.write(bytes(min(4096, size - file.tell())))
