"""Flipped bytes, errors of the user's own SQL, and configurations that cannot be trained."""

import random

import psycopg2
import pytest

from digits import (ADAM, connect, create_database, dense, drop_database, layer, outputs, pid,
                    query, select, sequential, threads, value)

DATABASE = "hopper_damage"


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    select(connection, "configs", [(1, 1, ADAM, "batch_size=32"), (2, 2, ADAM, "batch_size=32")])
    query(connection, "SELECT * FROM hopper.fit_multiple_model('packed', 'good', 'configs', 1)")
    yield connection
    connection.close()
    drop_database(DATABASE)


def fit(connection, source="packed", output="bad", more=""):
    return query(connection, f"SELECT * FROM hopper.fit_multiple_model('{source}', '{output}',"
                 f" 'configs', 1{more})")


def positions(size):
    chosen = random.Random(size)
    return [0, size - 1] + [chosen.randrange(size) for _ in range(3)]


@pytest.mark.parametrize("column", ["pixels", "label", "checksum"])
def test_a_flipped_byte_of_the_data(database, column):
    size = value(database, f"SELECT octet_length({column}) FROM packed WHERE buffer_id = 1")
    for at in positions(size):
        flip = (f"UPDATE packed SET {column} = set_byte({column}, {at},"
                f" get_byte({column}, {at}) # {random.randrange(1, 256)}) WHERE buffer_id = 1")
        query(database, "BEGIN")
        query(database, flip)
        with pytest.raises(psycopg2.errors.DataCorrupted) as raised:
            fit(database)
        assert "packed" in str(raised.value)
        query(database, "ROLLBACK")
    query(database, "BEGIN")
    query(database, flip)
    with pytest.raises(psycopg2.errors.DataCorrupted):
        query(database, "SELECT * FROM hopper.evaluate('good', 'packed', mst_key => 1)")
    query(database, "ROLLBACK")
    assert outputs(database, "bad%") == []


def test_a_missing_buffer(database):
    query(database, "BEGIN")
    query(database, "DELETE FROM packed WHERE buffer_id = 2")
    with pytest.raises(psycopg2.errors.DataCorrupted):
        fit(database)
    query(database, "ROLLBACK")


def test_a_flipped_byte_of_a_state(database):
    size = value(database, "SELECT octet_length(state) FROM good_state WHERE mst_key = 2")
    for at in positions(size):
        query(database, "BEGIN")
        query(database, f"UPDATE good_state SET state = set_byte(state, {at},"
              f" get_byte(state, {at}) # {random.randrange(1, 256)}) WHERE mst_key = 2")
        with pytest.raises(psycopg2.errors.DataCorrupted) as raised:
            fit(database, output="good", more=", warm_start => true")
        assert "configuration 2" in str(raised.value)
        query(database, "ROLLBACK")
    query(database, "BEGIN")
    query(database, f"UPDATE good_state SET state = substring(state FROM 1 FOR {size - 1})"
          " WHERE mst_key = 2")
    with pytest.raises(psycopg2.errors.DataCorrupted):
        fit(database, output="good", more=", warm_start => true")
    query(database, "ROLLBACK")


RAISE = """CREATE FUNCTION raise_it(number integer) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN
    IF number = 3 THEN
        RAISE EXCEPTION 'the source is on strike' USING ERRCODE = 'HP042',
            DETAIL = 'Buffer 3 was reached.', HINT = 'Talk to it.';
    END IF;
    RETURN number; END $$"""


def test_an_error_of_the_users_own(database):
    query(database, RAISE)
    query(database, "CREATE VIEW striking AS SELECT partition_id, raise_it(buffer_id) AS buffer_id,"
          " n, pixels, label, pixels_shape, label_shape, checksum FROM packed")
    query(database, "CREATE TABLE striking_summary AS SELECT * FROM packed_summary")
    query(database, "CREATE VIEW striking_rows AS SELECT raise_it(id) AS id, pixels FROM digits")
    others = threads(pid(database))
    for statement in (
            "SELECT * FROM hopper.fit_multiple_model('striking', 'bad', 'configs', 1)",
            "SELECT * FROM hopper.evaluate('good', 'striking', mst_key => 1)",
            "SELECT hopper.predict('good', 'striking_rows', 'id', 'pixels', 'bad', mst_key => 1)"):
        with pytest.raises(psycopg2.Error) as raised:
            query(database, statement)
        assert raised.value.pgcode == "HP042"
        assert raised.value.diag.message_primary == "the source is on strike"
        assert raised.value.diag.message_detail == "Buffer 3 was reached."
        assert raised.value.diag.message_hint == "Talk to it."
        assert "raise_it" in raised.value.diag.context
        assert threads(pid(database)) == others
        assert outputs(database, "bad%") == []


def test_a_bad_configuration_fails_alone(database):
    connection = connect(DATABASE)
    exploding = "loss='mse', optimizer='SGD(lr=1e30)', metrics=['accuracy']"
    select(connection, "mixed", [(1, 1, ADAM, "batch_size=32"), (2, 1, exploding, "batch_size=32"),
                                 (3, 2, ADAM, "batch_size=32")])
    query(connection, "SET client_min_messages = notice")
    row = query(connection, "SELECT models_trained, models_failed FROM"
                " hopper.fit_multiple_model('packed', 'mixed_models', 'mixed', 3)")
    assert row == [(2, 1)]
    assert query(connection, "SELECT mst_key, status, error IS NULL, state_digest IS NULL,"
                 " iterations FROM mixed_models_info ORDER BY 1") == [
                     (1, "done", True, False, 3), (2, "failed", False, True, 0),
                     (3, "done", True, False, 3)]
    assert query(connection, "SELECT mst_key FROM mixed_models ORDER BY 1") == [(1,), (3,)]
    assert query(connection, "SELECT mst_key, rank FROM hopper.leaderboard('mixed_models')")[2] == (
        2, None)
    warning = [notice for notice in connection.notices if notice.startswith("WARNING")]
    assert len(warning) == 1
    assert warning[0].startswith('WARNING:  fit "mixed_models": configuration 2 failed\n')
    assert "Loss became NaN" in warning[0] and "the run goes on" in warning[0]
    # The others are those of a run without it.
    select(connection, "sound", [(1, 1, ADAM, "batch_size=32"), (3, 2, ADAM, "batch_size=32")])
    query(connection, "SELECT * FROM hopper.fit_multiple_model('packed', 'sound_models', 'sound', 3)")
    digests = "SELECT mst_key, state_digest FROM {}_info WHERE status = 'done' ORDER BY 1"
    assert query(connection, digests.format("mixed_models")) == query(
        connection, digests.format("sound_models"))
    connection.close()


def test_all_failed(database):
    select(database, "hopeless", [(key, 1, f"loss='mse', optimizer='SGD(lr=1e{rate})'",
                                   "batch_size=32") for key, rate in ((1, 30), (2, 27), (3, 25))])
    with pytest.raises(psycopg2.Error) as raised:
        query(database, "SELECT * FROM hopper.fit_multiple_model('packed', 'bad', 'hopeless', 3)")
    assert raised.value.pgcode == "22000"
    assert raised.value.diag.message_primary == 'no configuration of "bad" finished'
    assert raised.value.diag.message_detail == "3 failed: loss became NaN."
    assert outputs(database, "bad%") == []


def test_a_configuration_that_needs_too_much_memory(database):
    wide = sequential(layer("Flatten", "flatten"), dense("wide", 50000, "relu"),
                      dense("output", 10, "softmax"))
    connection = connect(DATABASE)
    query(connection, "SELECT hopper.load_model('architectures', %s)", wide)
    select(connection, "greedy", [(1, 3, ADAM, "batch_size=32"), (2, 1, ADAM, "batch_size=32")])
    query(connection, "SET hopper.memory_limit = '16MB'")
    query(connection, "SELECT * FROM hopper.fit_multiple_model('packed', 'modest', 'greedy', 1)")
    assert query(connection, "SELECT mst_key, status, error LIKE '%memory%' FROM modest_info"
                 " ORDER BY 1") == [(1, "failed", True), (2, "done", None)]
    connection.close()
