"""Calls that are refused for what they were given have made nothing: in a block whose client goes on after
each, tables that were made and taken back would fill the server's caches."""

import pathlib

import psycopg2
import pytest

import stage
from stage import COMPILE, execute


@pytest.fixture(scope="module")
def session():
    stage.create().close()
    connection = stage.connect()
    stage.become(connection, stage.OWNER)
    connection.autocommit = False
    yield connection
    connection.close()
    stage.destroy()


def next_oid(session):
    """Every table, type and constraint that is made takes one."""
    return execute(session, "SELECT lo_create(0)")[0][0]


GRID = ("$${'loss': ['categorical_crossentropy'], 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.1]}],"
        " 'metrics': ['accuracy']}$$")


@pytest.mark.parametrize("call", [
    "generate_model_configs('models', 'made', '{1}', 'x', $${'batch_size': [8]}$$)",
    f"generate_model_configs('models', 'made', '{{1}}', {GRID}, 'x')",
    f"generate_model_configs('models', 'made', '{{1}}', {GRID}, $${{'batch_size': [-8]}}$$)",
    f"load_model_selection_table('models', 'made', '{{1}}', ARRAY[$${COMPILE}$$], ARRAY['batch_size=0'])",
    "load_model_selection_table('models', 'made', '{1}', ARRAY['loss='], ARRAY['batch_size=8'])",
    f"load_model_selection_table('models', 'configs', '{{1}}', ARRAY[$${COMPILE}$$], ARRAY['x'], replace := true)",
    "load_model('made', '{}')",
    "training_preprocessor('points', 'made', 'y', 'no_such')",
    "training_preprocessor('points', 'made', 'no_such', 'x')",
    "predict('run', 'points', 'id', 'no_such', 'made', mst_key := 1)",
    "predict('run', 'points', 'id', 'x', 'made', mst_key := 99)",
    "predict_byom('models', 1, 'points', 'id', 'x', 'made')",
    f"fit('packed', 'made', 'models', 1, $${COMPILE}$$, 'batch_size=0')",
    f"fit('packed', 'made', 'models', 99, $${COMPILE}$$, 'batch_size=8')",
    "fit_multiple_model('packed', 'made', 'no_such')",
    "evaluate('run', 'packed', mst_key := 99)",
])
def test_nothing_is_made(session, call):
    try:
        before = next_oid(session)
        execute(session, "SAVEPOINT s")
        with pytest.raises(psycopg2.Error) as refused:
            execute(session, f"SELECT hopper.{call}")
        assert not stage.internal_error(refused.value)
        execute(session, "ROLLBACK TO s")
        assert next_oid(session) == before + 1
    finally:
        session.rollback()


def available():
    """Bytes of memory that the machine has left."""
    text = pathlib.Path("/proc/meminfo").read_text(encoding="ascii")
    return int(text.split("MemAvailable:")[1].split()[0]) * 1024


@pytest.mark.skipif(available() < 4e9, reason="the row takes 2 GB for a moment")
def test_a_row_that_pg_dump_cannot_write_is_refused(session):
    """Two digits a byte, and a gigabyte at most: weights that could be stored would spoil every backup."""
    with pytest.raises(psycopg2.errors.ProgramLimitExceeded, match="more than can be stored"):
        execute(session, "SELECT hopper.load_model('models', %s, convert_to(repeat('a', %s), 'UTF8'))",
                (stage.SMALL, 2**29))
    session.rollback()
