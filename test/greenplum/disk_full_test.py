"""No space left on a segment while models are on their way: an error, nothing left, and the session goes on."""

import os

import psycopg2
import pytest

from cluster import HOME
from conftest import connect
from digits import dense, layer, outputs, query, select, sequential, value
from runs import LOSS, digests, fit, pack, working_tables
from small_disk import small_tablespace


@pytest.fixture
def small_disk(greenplum):
    """A tablespace of 40 MB that the segments share; the coordinator has a folder in it, too."""
    with small_tablespace(greenplum, 40, HOME / "data" / "segment0") as folder:
        yield folder


def test_while_models_travel(greenplum, small_disk):
    """Four models of 5 MB with as much momentum: their states fill the disk in the first hops."""
    pack(greenplum, "for_hops", 3)
    query(greenplum, "SELECT hopper.load_model('architectures', %s)", sequential(
        layer("Flatten", "flatten"), dense("hidden", 18000, "relu"), dense("output", 10, "softmax")))
    model = value(greenplum, "SELECT max(model_id) FROM architectures")
    select(greenplum, "four_wide", [(key, model, LOSS + "'SGD(lr=0.01, momentum=0.9)'", "batch_size=256")
                                    for key in range(1, 5)])
    select(greenplum, "narrow", [(1, 1, LOSS + "'SGD(lr=0.01)'", "batch_size=256")])
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SET statement_timeout = '120s'; SET default_tablespace = small")
    free = os.statvfs(small_disk).f_bfree
    with pytest.raises(psycopg2.Error) as error:
        fit(connection, "for_hops", "full", "four_wide", 2)
    assert "No space left on device" in str(error.value) or error.value.pgcode == "53100", error.value
    assert "hop" in (error.value.diag.context or ""), error.value.diag.context
    assert outputs(connection, "full%") == [] and working_tables(connection) == []
    query(connection, "CHECKPOINT")
    assert os.statvfs(small_disk).f_bfree >= free - 16  # pages of catalogs
    fit(connection, "for_hops", "full", "narrow", 1)
    assert len(digests(connection, "full")) == 1
    query(connection, "SELECT hopper.drop_model('full'), hopper.drop_packed('for_hops')")
    query(connection, "DROP TABLE four_wide, four_wide_summary, narrow, narrow_summary")
    query(connection, "CHECKPOINT")
    connection.close()
