"""Packed tables that do not lie as they were packed are refused before anything is trained."""

import psycopg2
import pytest

from conftest import connect
from digits import outputs, query, value
from runs import fit, pack

MOVES = {
    "by_buffer": ("ALTER TABLE {} SET DISTRIBUTED BY (buffer_id)", "not distributed by"),
    "by_both": ("ALTER TABLE {} SET DISTRIBUTED BY (__dist_key__, buffer_id)", "not distributed by"),
    "at_random": ("ALTER TABLE {} SET DISTRIBUTED RANDOMLY", "not distributed by"),
    "everywhere": ("ALTER TABLE {} SET DISTRIBUTED REPLICATED", "not distributed by"),
    "split": ("UPDATE {} SET __dist_key__ = (SELECT max(__dist_key__) FROM {} WHERE partition_id = 2)"
              " WHERE buffer_id = 0", "Partition 0 lies on several segments"),
    # of another key that the first segment's rows have, too
    "other_key": ("CREATE TABLE {}_keys AS SELECT k FROM generate_series(1000, 1100) k"
                  " DISTRIBUTED BY (k); UPDATE {} SET __dist_key__ = (SELECT min(k) FROM {}_keys"
                  " WHERE gp_segment_id = 0) WHERE partition_id = 1",
                  "Partitions 0 and 1 have the keys"),
    "lost": ("DELETE FROM {} WHERE partition_id = 1", "Partition 1 is missing"),
    # What a table looks like that was packed before the cluster grew from two segments to three.
    "before_growth": ("UPDATE gp_distribution_policy SET numsegments = 2"
                      " WHERE localoid = '{}'::regclass", "It lies on 2 segments, the cluster has 3."),
}


def wrong(table, statement):
    """Packs, and moves the rows; the catalog of distributions is the server's own to change."""
    connection = connect("HOPPER_GREENPLUM")
    pack(connection, table, 3)
    query(connection, "SET allow_system_table_mods = true")
    query(connection, statement)
    connection.close()
    return connect("HOPPER_GREENPLUM")  # sessions remember how a table is distributed


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("which", ["", "_validation"])
def test_moved_rows_are_refused(packed, name, which):
    statement, detail = MOVES[name]
    table = f"w_{name}{'_v' if which else ''}"
    connection = wrong(table, statement.replace("{}", table + which))
    with pytest.raises(psycopg2.Error) as error:
        fit(connection, table, "w_out", "configs_2")
    assert error.value.pgcode == "55000"
    assert f'"{table}{which}" is not spread over the segments' in error.value.diag.message_primary
    assert detail in error.value.diag.message_detail
    assert error.value.diag.message_hint == "Pack the data again."
    assert outputs(connection, "w_out%") == []
    connection.close()


def test_a_copy_that_lies_right_is_taken(packed):
    connection = connect("HOPPER_GREENPLUM")
    pack(connection, "w_first", 3)
    for suffix in ("", "_validation"):
        query(connection, f"CREATE TABLE w_copy{suffix} AS SELECT * FROM w_first{suffix}"
              " DISTRIBUTED BY (__dist_key__)")
        query(connection, f"CREATE TABLE w_copy{suffix}_summary AS SELECT * FROM"
              f" w_first{suffix}_summary DISTRIBUTED RANDOMLY")
    fit(connection, "w_copy", "w_copy_out", "configs_2", 1)
    assert value(connection, "SELECT count(*) FROM w_copy_out") == 2
    connection.close()


@pytest.mark.parametrize("call", [
    "hopper.fit('packed_3', 'pg_temp.w_short', 'architectures', 1, {}, 'batch_size=32', 1)",
    "hopper.fit_multiple_model('packed_3', 'pg_temp.w_short', 'configs_1', 1)"])
def test_a_temporary_output_is_refused(packed, call):
    compile_params = "$$loss='categorical_crossentropy', optimizer='SGD'$$"
    with pytest.raises(psycopg2.Error) as error:
        query(packed[0], "SELECT * FROM " + call.replace("{}", compile_params))
    assert error.value.pgcode == "0A000"
    assert "cannot be temporary" in error.value.diag.message_primary
    assert error.value.diag.message_detail and error.value.diag.message_hint


def test_what_an_event_trigger_puts_on_new_tables_is_found_before_training(packed):
    """Where there is an event trigger, what the run writes at its end is tried first."""
    connection = connect("HOPPER_GREENPLUM")
    query(connection, """CREATE FUNCTION w_spoil() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
      IF EXISTS (SELECT FROM pg_class WHERE relname = 'w_spoiled_summary' AND NOT relhasrules) THEN
        CREATE RULE no_rows AS ON INSERT TO public.w_spoiled_summary DO INSTEAD NOTHING; END IF; END $$;
      CREATE EVENT TRIGGER w_spoil ON ddl_command_end WHEN tag IN ('ALTER TABLE') EXECUTE PROCEDURE w_spoil()""")
    try:
        with pytest.raises(psycopg2.Error) as error:
            fit(connection, "packed_3", "w_spoiled", "configs_1", 1)
    finally:
        query(connection, "DROP EVENT TRIGGER w_spoil")
    assert '"w_spoiled_summary" does not take rows' in error.value.diag.message_primary
    assert "before its first iteration, trying its output tables" in error.value.diag.context
    assert outputs(connection, "w_spoiled%") == []
    connection.close()
