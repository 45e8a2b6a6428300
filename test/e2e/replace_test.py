"""replace => true: others use the old tables until the new ones are ready."""

import threading

import psycopg2
import pytest

from digits import (ADAM, connect, create_database, drop_database, pid, query, select, threads,
                    value, wait_until)

DATABASE = "hopper_replace"
FIT = ("SELECT models_trained FROM hopper.fit_multiple_model('packed', 'm', 'configs', %s,"
       " validation_table => 'packed_validation', threads => 2, replace => %s)")
PREDICT = "SELECT count(*) FROM hopper.predict_row('m', 1, (SELECT pixels FROM digits WHERE id = 1))"


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    select(connection, "configs", [(1, 1, ADAM, "batch_size=32"), (2, 1, ADAM, "batch_size=64")])
    query(connection, FIT, 1, False)
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.fixture
def training(database):
    """A session that trains until it is cancelled, in the place of "m"."""
    connection = connect(DATABASE)
    errors = []

    def run():
        try:
            query(connection, FIT, 1000000, True)
        except psycopg2.Error as error:
            errors.append(error)

    process = pid(connection)
    others = threads(process)
    thread = threading.Thread(target=run)
    thread.start()
    wait_until(lambda: threads(process) > others)
    yield connection
    connection.cancel()
    thread.join()
    connection.close()
    assert errors and errors[0].pgcode == "57014"


def test_the_old_models_are_used_meanwhile(database, training):
    before = query(database, "SELECT mst_key, md5(model_weights) FROM m ORDER BY 1")
    query(database, "SET statement_timeout = '20s'")
    assert value(database, PREDICT) == 10
    assert value(database, "SELECT count(*) FROM hopper.leaderboard('m')") == 2
    query(database, "SELECT hopper.predict('m', 'digits', 'id', 'pixels', 'p', mst_key => 1, replace => true)")
    with pytest.raises(psycopg2.errors.ObjectInUse, match="another session is making the table"):
        query(database, FIT, 1, True)
    query(database, "RESET statement_timeout")
    training.cancel()
    assert query(database, "SELECT mst_key, md5(model_weights) FROM m ORDER BY 1") == before
