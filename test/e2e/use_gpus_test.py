"""use_gpus => true is an error that says why, never ignored."""

import psycopg2
import pytest

from digits import ADAM, create_database, drop_database, query

DATABASE = "hopper_use_gpus"


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "SELECT * FROM hopper.fit('packed', 'm', 'architectures', 1, %s, NULL, 1)",
          ADAM)
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.mark.parametrize("statement", [
    "SELECT * FROM hopper.fit('packed', 'g', 'architectures', 1, %s, NULL, 1, use_gpus => true)",
    "SELECT * FROM hopper.evaluate('m', 'packed', use_gpus => true), (SELECT %s) s",
    "SELECT hopper.predict('m', 'digits', 'id', 'pixels', 'p', use_gpus => true), %s",
])
def test_without_a_usable_gpu(database, statement):
    if query(database, "SELECT * FROM hopper.gpu_configuration()"):
        pytest.skip("this machine has a GPU; scripts/test-gpu trains on it")
    with pytest.raises(psycopg2.Error) as raised:
        query(database, statement, ADAM)
    assert raised.value.pgcode == "55000"
    assert raised.value.diag.message_primary == "no GPU is available"
    assert "use_gpus => false" in raised.value.diag.message_hint


@pytest.mark.parametrize("arguments, code, message", [
    ("gpus => ARRAY[0]", "22023", "gpus are named but use_gpus is false"),
])
def test_arguments_of_gpus(database, arguments, code, message):
    with pytest.raises(psycopg2.Error) as raised:
        query(database, "SELECT * FROM hopper.fit('packed', 'g', 'architectures', 1, %s, NULL, 1, "
              + arguments + ")", ADAM)
    assert raised.value.pgcode == code
    assert raised.value.diag.message_primary == message


def test_with_a_gpu(database):
    """The session has trained on the CPU before; the same call has the same bits, on GPUs without fuse."""
    gpus = query(database, "SELECT * FROM hopper.gpu_configuration()")
    if not gpus:
        pytest.skip("no GPU: run it on a machine with one, its driver and libtorch's CUDA libraries")
    for name, fuse in (("fused", True), ("apart", False), ("again", False)):
        del database.notices[:]
        query(database, "SELECT * FROM hopper.fit('packed', %s, 'architectures', 2, %s, 'batch_size=32', 5,"
              " validation_table => 'packed_validation', use_gpus => true, fuse => %s)", name, ADAM, fuse)
        assert any(f" on {len(gpus)} GPU" in notice for notice in database.notices)
        assert query(database, "SELECT metric FROM hopper.evaluate(%s, 'packed_validation')", name)[0][0] > 0.85
    assert query(database, "SELECT model_weights FROM apart") == query(database, "SELECT model_weights FROM again")
