"""What an administrator may have set for the whole cluster changes neither plans nor tables of ours."""

import psycopg2
import pytest

from conftest import CSV, DATABASE, connect
from digits import PLAIN, outputs, query
from kernels import has_12
from runs import CONFIGS, fit, pack

OTHER = f"{DATABASE}_other"
PARAMS = CONFIGS[0][2]


@pytest.fixture
def other(greenplum):
    """A database of its own, with a table of digits and nothing else."""
    query(greenplum, f"CREATE DATABASE {OTHER}")
    connection = connect("HOPPER_GREENPLUM", OTHER)
    query(connection, "SET client_min_messages = warning")
    query(connection, "CREATE TABLE digits (id integer PRIMARY KEY, label integer, pixels smallint[])")
    with connection.cursor() as cursor, open(CSV, encoding="ascii") as file:
        cursor.copy_expert("COPY digits FROM STDIN CSV HEADER", file)
    yield connection
    connection.close()
    query(greenplum, f"DROP DATABASE {OTHER}")


# ---------------------------------------------------------------- the other planner

OPTIMIZER = "SELECT setting, source FROM pg_settings WHERE name = 'optimizer'"
WATCH = f"""
CREATE TABLE planners (tag text, setting text, source text) DISTRIBUTED RANDOMLY;
CREATE FUNCTION note_planner() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
  found record;
BEGIN
  {OPTIMIZER} INTO found;
  INSERT INTO public.planners VALUES (tg_tag, found.setting, found.source);
END $$;
CREATE EVENT TRIGGER watch_planner ON ddl_command_start WHEN tag IN ('CREATE TABLE', 'DROP TABLE')
  EXECUTE PROCEDURE note_planner();
"""
TRAINING = {
    "fit": f"SELECT hopper.fit('packed', 'models', 'architectures', 1, $${PARAMS}$$, 'batch_size=64', 1)",
    "automl": "SELECT hopper.automl('packed', 'models', 'architectures', 'best', ARRAY[1],"
              " $${'loss': ['categorical_crossentropy'], 'optimizer_params_list': [{'optimizer': ['SGD']}]}$$,"
              " $${'batch_size': [64]}$$, 'grid', 'num_iterations=1')",
}


@pytest.mark.parametrize("function", TRAINING)
def test_a_run_is_planned_by_the_planner_of_postgresql(other, function):
    """ORCA may not be in this server: the run's statements find that its setting is off on purpose."""
    query(other, "CREATE EXTENSION model_hopper")
    query(other, "SELECT hopper.load_model('architectures', %s)", PLAIN)
    pack(other, "packed", 3)
    before = query(other, OPTIMIZER)
    query(other, WATCH)
    query(other, TRAINING[function])
    query(other, "DROP EVENT TRIGGER watch_planner")
    assert before != [("off", "session")]
    # The working tables are made before the first hop, and go after the last one. A search makes others before.
    seen = query(other, "SELECT DISTINCT tag, setting, source FROM planners")
    assert ("CREATE TABLE", "off", "session") in seen
    assert [row for row in seen if row[0] == "DROP TABLE"] == [("DROP TABLE", "off", "session")]
    assert query(other, OPTIMIZER) == before


# ---------------------------------------------------------------- append-optimized tables


def append_optimized(connection):
    """The tables that are no heaps."""
    condition = ("relam IN (SELECT oid FROM pg_am WHERE amname IN ('ao_row', 'ao_column'))"
                 if has_12(connection) else "relstorage IN ('a', 'c')")
    return [row[0] for row in query(connection, "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r'"
                                    f" AND {condition} ORDER BY 1")]


def test_tables_are_heaps_where_others_are_the_default(other):
    query(other, "SET default_table_access_method = ao_row" if has_12(other)
          else "SET gp_default_storage_options = 'appendonly=true'")
    query(other, "CREATE TABLE theirs AS SELECT * FROM digits")
    assert append_optimized(other) == ["theirs"]
    query(other, "CREATE EXTENSION model_hopper")
    query(other, "SELECT hopper.load_model('architectures', %s)", PLAIN)
    pack(other, "packed", 3, source="theirs")
    query(other, "SELECT hopper.validation_preprocessor('theirs', 'again', packed_table := 'packed')")
    query(other, "SELECT hopper.load_model_selection_table('architectures', 'configs', ARRAY[1],"
          f" ARRAY[$${PARAMS}$$], ARRAY['batch_size=64'])")
    fit(other, "packed", "models", "configs", 1)
    fit(other, "packed", "models", "configs", 1, ", warm_start := true")
    query(other, "SELECT hopper.copy_model('models', 'copies')")
    query(other, "SELECT hopper.evaluate('copies', 'again', 'evaluated', confusion_table := 'confusion')")
    query(other, "SELECT hopper.predict('models', 'theirs', 'id', 'pixels', 'predicted')")
    query(other, "CREATE TABLE everywhere WITH (appendonly=false) AS SELECT * FROM theirs DISTRIBUTED REPLICATED")
    query(other, "SELECT hopper.predict('models', 'everywhere', 'id', 'pixels', 'predicted_everywhere')")
    query(other, "SELECT hopper.hyperband_schedule('schedule', 4)")
    query(other, TRAINING["automl"].replace("'models'", "'searched'"))
    assert append_optimized(other) == ["theirs"]


# ---------------------------------------------------------------- how byte strings are compared


def test_rows_that_come_out_of_order_are_no_packed_table(other):
    """The coordinator merges the keys of the segments by a comparison that is not that of bytes."""
    query(other, "CREATE EXTENSION model_hopper")
    query(other, "CREATE FUNCTION backwards(bytea, bytea) RETURNS integer LANGUAGE sql IMMUTABLE AS"
          " 'SELECT pg_catalog.byteacmp($2, $1)'")
    query(other, "SET allow_system_table_mods = on")
    comparing = ("amproclefttype = 'bytea'::regtype AND amprocfamily IN (SELECT opcfamily FROM pg_opclass"
                 " WHERE opcname = 'bytea_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'btree'))")
    query(other, f"UPDATE pg_amproc SET amproc = 'backwards(bytea, bytea)'::regprocedure WHERE amprocnum = 1 AND {comparing}")
    query(other, f"DELETE FROM pg_amproc WHERE amprocnum = 2 AND {comparing}")  # since 9.5 a faster way to sort
    with pytest.raises(psycopg2.Error) as error:
        pack(other, "packed", 3)
    assert error.value.pgcode == "XX000"
    assert error.value.diag.message_primary.startswith(  # Greenplum adds the place in the source
        'the server does not return the rows of "packed_pack_rows" in the order of their keys')
    assert outputs(other, "packed%") == []
