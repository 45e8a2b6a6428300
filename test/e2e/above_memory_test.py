"""Data above hopper.memory_limit: read in turns while models train, and the same results."""

import re
import threading
import time

import psycopg2
import pytest

from digits import (connect, create_database, dense, drop_database, layer, outputs, pid, query,
                    select, sequential, threads, value, wait_until)

DATABASE = "hopper_above_memory"
OPTIMIZERS = ["SGD(lr=0.05, momentum=0.9)", "RMSprop(lr=0.003)", "Adam(lr=0.01)"]
NETWORK = sequential(dense("hidden", 24, "relu"), layer("BatchNormalization", "norm"),
                     layer("Dropout", "dropout", rate=0.3), dense("output", 10, "softmax"),
                     shape=(64,))
NOTICE = re.compile(r'NOTICE:  fit "\w+": data and models exceed hopper\.memory_limit, each partition'
                    r' is read up to (\d+) times\nDETAIL:  The data take [0-9]+ [kM]B, the models'
                    r' [0-9]+ [kM]B; hopper\.memory_limit is 1024 kB\.\n')


@pytest.fixture(scope="module")
def database():
    """Some 5 MB of digits, as real numbers, in 32 partitions."""
    connection = create_database(DATABASE)
    query(connection, "CREATE TABLE many AS SELECT id * 12 + i AS id, label,"
          " (SELECT array_agg((p + i / 16.0)::real) FROM unnest(pixels) p) AS pixels"
          " FROM digits, generate_series(0, 11) i")
    query(connection, "SELECT hopper.training_preprocessor('many', 'many_packed', 'label', 'pixels',"
          " normalizing_const => 16, validation_fraction => 0.2, buffer_size => 100,"
          " partitions => 32)")
    query(connection, "SELECT hopper.load_model('architectures', %s)", NETWORK)
    model = value(connection, "SELECT max(model_id) FROM architectures")
    for n in (1, 4):
        select(connection, f"configs_{n}", [
            (key, model, f"loss='categorical_crossentropy', optimizer='{OPTIMIZERS[key % 3]}',"
             " metrics=['accuracy']", f"batch_size={16 + 8 * key}") for key in range(1, n + 1)])
    yield connection
    connection.close()
    drop_database(DATABASE)


def fit(connection, output, configs, iterations=2, more=""):
    query(connection, f"SELECT * FROM hopper.fit_multiple_model('many_packed', '{output}',"
          f" '{configs}', {iterations}, validation_table => 'many_packed_validation',"
          f" threads => 1{more})")


def limited(limit="1MB"):
    connection = connect(DATABASE)
    query(connection, "SELECT hopper.version()")
    query(connection, f"SET hopper.memory_limit = '{limit}'")
    return connection


def results(connection, output):
    return (query(connection, f"SELECT mst_key, state_digest FROM {output}_info ORDER BY 1"),
            query(connection, "SELECT mst_key, iteration, split, metric, value"
                  f" FROM hopper.learning_curves('{output}') ORDER BY 1, 2, 3, 4"))


@pytest.mark.parametrize("metrics, reads", [("running", 3), ("final", 4), ("every", 4)])
def test_the_same_results(database, metrics, reads):
    more = f", training_metrics => '{metrics}'"
    fit(database, f"roomy_{metrics}", "configs_4", more=more)
    connection = limited()
    fit(connection, f"tight_{metrics}", "configs_4", more=more)
    told = [NOTICE.fullmatch(notice) for notice in connection.notices if "is read up" in notice]
    assert len(told) == 1 and told[0], connection.notices
    assert int(told[0].group(1)) == reads
    assert results(connection, f"tight_{metrics}") == results(database, f"roomy_{metrics}")
    connection.close()


def test_what_fits_is_not_told_of(database):
    connection = limited("512MB")
    fit(connection, "fits", "configs_1")
    assert not [notice for notice in connection.notices if "memory_limit" in notice]
    connection.close()


def test_one_model_and_a_warm_start(database):
    fit(database, "roomy_one", "configs_1", 3)
    connection = limited()
    fit(connection, "tight_one", "configs_1", 1)
    fit(connection, "tight_one", "configs_1", 2, ", warm_start => true")
    assert results(connection, "tight_one")[0] == results(database, "roomy_one")[0]
    connection.close()


def test_evaluate_in_turns(database):
    fit(database, "evaluated", "configs_4", 1)
    connection = limited("2MB")
    for table in ("many_packed", "many_packed_validation"):
        for key in range(1, 5):
            statement = f"SELECT * FROM hopper.evaluate('evaluated', '{table}', mst_key => {key})"
            assert query(connection, statement) == query(database, statement)
    connection.close()


def test_other_sessions_may_write_to_the_table_meanwhile(database):
    """The statement's snapshot is that of its beginning, also for what it reads late."""
    connection = limited()
    rows = value(database, "SELECT count(*) FROM many_packed")
    fit(database, "undisturbed", "configs_4", 6)
    error = []
    process = pid(connection)

    def run():
        try:
            fit(connection, "disturbed", "configs_4", 6)
        except psycopg2.Error as raised:
            error.append(raised)
    thread = threading.Thread(target=run)
    thread.start()
    # Its snapshot is taken when it trains.
    wait_until(lambda: threads(process) > 1 or not thread.is_alive())
    query(database, "CREATE TABLE kept AS SELECT * FROM many_packed")
    query(database, "DELETE FROM many_packed")
    query(database, "VACUUM many_packed")
    thread.join()
    query(database, "INSERT INTO many_packed SELECT * FROM kept")
    assert value(database, "SELECT count(*) FROM many_packed") == rows
    query(database, "DROP TABLE kept")
    assert not error
    assert results(connection, "disturbed") == results(database, "undisturbed")
    connection.close()


@pytest.mark.parametrize("setting", ["statement_timeout = 1500", None])
def test_interrupted_while_it_reads(database, setting):
    connection = limited()
    if setting:
        query(connection, f"SET {setting}")
    else:
        threading.Timer(1.5, query, (database, "SELECT pg_cancel_backend(%s)",
                                     pid(connection))).start()
    started = time.monotonic()
    with pytest.raises(psycopg2.Error) as error:
        fit(connection, "never", "configs_4", 1000000)
    assert error.value.pgcode == "57014"
    assert time.monotonic() - started < 10
    assert outputs(database, "never%") == []
    query(connection, "SET statement_timeout = 0")
    fit(connection, "afterwards", "configs_1", 1)
    query(connection, "DROP TABLE afterwards, afterwards_info, afterwards_state, afterwards_summary")
    connection.close()


@pytest.mark.parametrize("partition", [0, 17, 31])
def test_damage_is_found_while_models_train(database, partition):
    query(database, "BEGIN")
    query(database, "UPDATE many_packed SET pixels = set_byte(pixels, 5, 255 - get_byte(pixels, 5))"
          f" WHERE buffer_id = (SELECT max(buffer_id) FROM many_packed WHERE partition_id = {partition})")
    query(database, "SET LOCAL hopper.memory_limit = '1MB'")
    with pytest.raises(psycopg2.Error) as error:
        fit(database, "damaged", "configs_4")
    assert error.value.pgcode == "XX001"
    assert f"of partition {partition} of" in error.value.diag.message_primary
    query(database, "ROLLBACK")
