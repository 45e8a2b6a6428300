"""Whatever would stop a run at its end stops it before it trains: nobody loses a night's training."""

import threading

import psycopg2
import pytest

from beside import make_small_tables
from digits import connect, drop_database, query, value, wait_until

DATABASE = "hopper_warm_start"
ROLE = "hopper_warm_start_user"
WARM = "SELECT * FROM hopper.fit_multiple_model('packed', 'run', 'configs', 2, warm_start => true)"
COLD = WARM.replace("'run'", "'fresh'").replace(", warm_start => true", "")
ADD = ("SELECT hopper.generate_model_configs('models', 'configs', '{1}', $${'loss': ['mse'],"
       " 'optimizer_params_list': [{'optimizer': ['SGD']}]}$$, $${'batch_size': [4]}$$)")
OUTPUTS = ("run", "run_state", "run_info", "run_summary")
TAKES_NOTHING = ("CREATE FUNCTION {0}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
                 "CREATE TRIGGER {0} BEFORE {1} ON {2} FOR EACH ROW EXECUTE FUNCTION {0}()")


@pytest.fixture(scope="module")
def database():
    drop_database(DATABASE)
    admin = connect("postgres")
    query(admin, f"DROP ROLE IF EXISTS {ROLE}")
    query(admin, f"CREATE ROLE {ROLE}")
    query(admin, f"CREATE DATABASE {DATABASE}")
    connection = connect(DATABASE)
    query(connection, "SET client_min_messages = warning")
    query(connection, "CREATE EXTENSION model_hopper")
    make_small_tables(connection)
    query(connection, WARM.replace(", warm_start => true", ""))
    query(connection, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {ROLE}")
    query(connection, f"GRANT SELECT, INSERT, DELETE ON {', '.join(OUTPUTS)} TO {ROLE}")
    yield connection
    connection.close()
    drop_database(DATABASE)
    query(admin, f"DROP ROLE {ROLE}")
    admin.close()


@pytest.fixture
def block(database):
    """A transaction whose changes go with the test."""
    query(database, "BEGIN")
    yield database
    query(database, "ROLLBACK")


# What a run that has begun says.
BEGUN = "2 iterations over 40 rows"


def test_nothing_is_wrong(block):
    query(block, f"SET LOCAL ROLE {ROLE}")
    query(block, "SET LOCAL client_min_messages = notice")
    del block.notices[:]
    query(block, WARM)
    assert any(BEGUN in line for line in block.notices)
    assert value(block, "SELECT count(*) FROM run_info WHERE iterations = 4") == 2
    assert value(block, "SELECT max(run) FROM hopper.run_timeline('run')") == 2


@pytest.mark.parametrize("change", [
    "CREATE TABLE notes (mst_key integer REFERENCES run)",
    "CREATE TABLE notes (mst_key integer REFERENCES run ON DELETE CASCADE)",
    "ALTER TABLE run ADD FOREIGN KEY (mst_key) REFERENCES configs_keys",
    "ALTER TABLE run_info ADD CHECK (training_loss_final < 1e-9) NOT VALID",
    "ALTER TABLE run_info ADD UNIQUE (seconds_training)",
    "CREATE UNIQUE INDEX one ON run_info (fit_params)",
    # What they compute fails of the third and the fourth iteration.
    "CREATE INDEX ON run_info ((1 / (iterations - 4)))",
    "CREATE INDEX ON run_info (mst_key) WHERE 1 / (iterations - 4) > 0",
    "ALTER TABLE run_info ADD g float8 GENERATED ALWAYS AS (1.0 / (iterations - 4)) STORED",
    "ALTER TABLE run_info DROP CONSTRAINT run_info_pkey, ADD PRIMARY KEY (seconds_training)",
    "ALTER TABLE run_state DROP CONSTRAINT run_state_pkey, ADD PRIMARY KEY (part, mst_key)",
    "ALTER TABLE run_summary ADD PRIMARY KEY (end_training_time)",
    *[f"REVOKE DELETE ON {table} FROM {ROLE}; SET LOCAL ROLE {ROLE}" for table in OUTPUTS],
    *[f"REVOKE INSERT ON {table} FROM {ROLE}; SET LOCAL ROLE {ROLE}" for table in OUTPUTS],
    f"REVOKE DELETE, INSERT ON {', '.join(OUTPUTS)} FROM {ROLE};"
    f" GRANT UPDATE ON {', '.join(OUTPUTS)} TO {ROLE}; SET LOCAL ROLE {ROLE}",
    "ALTER TABLE run_info ADD note text NOT NULL DEFAULT 'x'; ALTER TABLE run_info ALTER note DROP DEFAULT",
    "ALTER TABLE run_info ALTER validation_loss_final SET NOT NULL",
    "ALTER TABLE run_info ALTER error SET NOT NULL",
    "ALTER TABLE run_info DROP seconds_waiting",
    "ALTER TABLE run_summary DROP version",
    "ALTER TABLE run_state DROP state",
    "ALTER TABLE run_info ALTER loss_type TYPE varchar(200)",
    "ALTER TABLE run_info ALTER training_loss_final TYPE real",
    "ALTER TABLE run ALTER model_weights TYPE text USING ''",
    *[TAKES_NOTHING.format("swallow", "INSERT", table) for table in OUTPUTS],
    *[TAKES_NOTHING.format("keep", "DELETE", table) for table in OUTPUTS],
    "CREATE RULE away AS ON INSERT TO run_info DO INSTEAD NOTHING",
    "ALTER TABLE run ENABLE ROW LEVEL SECURITY; CREATE POLICY look ON run FOR SELECT USING (true);"
    f" SET LOCAL ROLE {ROLE}",
], ids=lambda change: change[:60])
def test_refused_before_training(block, change):
    query(block, "CREATE TABLE configs_keys (mst_key integer PRIMARY KEY);"
          " INSERT INTO configs_keys VALUES (1), (2)")
    query(block, "ALTER TABLE run_info ALTER error DROP NOT NULL")
    query(block, "UPDATE run_info SET error = '', validation_loss_final = 0; " + change
          if "NOT NULL" in change else change)
    query(block, "SET LOCAL client_min_messages = notice")
    del block.notices[:]
    with pytest.raises(psycopg2.Error):
        query(block, WARM)
    assert not any(BEGUN in line for line in block.notices)


def test_first_run_whose_tables_take_nothing(block):
    query(block, """CREATE FUNCTION spoil() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
        IF to_regclass('public.fresh_summary') IS NOT NULL THEN
            ALTER TABLE public.fresh_summary ADD IF NOT EXISTS note text NOT NULL;
        END IF; END $$""")
    query(block, "CREATE EVENT TRIGGER spoil ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS')"
          " EXECUTE FUNCTION spoil()")
    with pytest.raises(psycopg2.errors.NotNullViolation, match="before its first iteration"):
        query(block, COLD)


def test_error_inside_a_handler(block):
    """A caller who catches the refusal keeps what he did before."""
    query(block, f"""DO $$ BEGIN
        CREATE TABLE before_it (a int);
        ALTER TABLE run_info ADD note text NOT NULL DEFAULT 'x';
        ALTER TABLE run_info ALTER note DROP DEFAULT;
        BEGIN
            CREATE TABLE within_it (a int);
            PERFORM * FROM ({WARM.rstrip()}) run;
        EXCEPTION WHEN not_null_violation THEN
            CREATE TABLE after_it (a int);
        END; END $$""")
    assert query(block, "SELECT relname FROM pg_class WHERE relname ~ '_it$' ORDER BY 1") == [
        ("after_it",), ("before_it",)]


def test_open_cursor(block):
    query(block, "DECLARE reading CURSOR FOR SELECT * FROM run_info ORDER BY mst_key")
    query(block, "FETCH reading")
    query(block, WARM)
    assert len(query(block, "FETCH ALL FROM reading")) == 1


def test_from_the_table_itself(block):
    query(block, "SELECT (hopper.fit_multiple_model('packed', 'run', 'configs', 1, warm_start => true))"
          ".models_trained FROM run_info LIMIT 1")


def test_readers_are_not_waited_for(database):
    """Nor do those who look with an older snapshot see an empty table afterwards."""
    reader = connect(DATABASE)
    query(reader, "BEGIN ISOLATION LEVEL REPEATABLE READ")
    before = query(reader, "SELECT * FROM hopper.leaderboard('run')")
    query(database, "SET lock_timeout = '2s'")
    query(database, WARM)
    query(database, "RESET lock_timeout")
    assert len(before) == 2
    assert query(reader, "SELECT * FROM hopper.leaderboard('run')") == before
    # Its own warm start would go on from models that are no longer there.
    with pytest.raises(psycopg2.errors.SerializationFailure, match="before its first iteration"):
        query(reader, WARM)
    reader.close()


def test_waiting_is_said(database):
    writer = connect(DATABASE)
    query(writer, "BEGIN")
    query(writer, "SELECT * FROM run_info FOR UPDATE")
    waiting = connect(DATABASE)
    thread = threading.Thread(target=query, args=(waiting, WARM))
    thread.start()
    wait_until(lambda: value(database, "SELECT count(*) FROM pg_locks WHERE NOT granted") > 0)
    query(writer, "COMMIT")
    thread.join(30)
    assert not thread.is_alive()
    assert any('waiting for other sessions that use "run_info"' in line for line in waiting.notices)
    writer.close()
    waiting.close()


@pytest.mark.parametrize("table, statement", [
    ("packed", COLD), ("packed_summary", COLD), ("configs", COLD), ("models", COLD), ("run", WARM),
    ("points", "SELECT hopper.training_preprocessor('points', 'again', 'y', 'x')"),
    ("run_info", "SELECT * FROM hopper.leaderboard('run')"),
    ("run", "SELECT * FROM hopper.predict_row('run', 1, ARRAY[1, 2]::real[])"),
    ("points", "SELECT hopper.predict('run', 'points', 'id', 'x', 'predicted', mst_key => 1)"),
    ("models", "SELECT hopper.describe_model('models', 1)"),
    # A writer who adds configurations by hand, too.
    ("configs IN ROW EXCLUSIVE MODE", ADD),
])
def test_waiting_for_who_changes_a_table_is_said(database, table, statement):
    writer = connect(DATABASE)
    query(writer, "BEGIN")
    query(writer, f"LOCK TABLE {table}")
    waiting = connect(DATABASE)
    query(waiting, "BEGIN")
    thread = threading.Thread(target=query, args=(waiting, statement))
    thread.start()
    wait_until(lambda: value(database, "SELECT count(*) FROM pg_locks WHERE NOT granted") > 0)
    query(writer, "COMMIT")
    thread.join(30)
    assert not thread.is_alive()
    told = [line for line in waiting.notices if "waiting for other sessions" in line]
    assert len(told) == 1 and table.split()[0] in told[0]
    query(waiting, "ROLLBACK")
    writer.close()
    waiting.close()


def test_class_values_are_those_of_the_beginning(block):
    """Whatever becomes of the packed table's summary while models train."""
    query(block, """CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO packed_summary SELECT * FROM packed_summary; RETURN NEW; END $$""")
    query(block, "CREATE TRIGGER spoil AFTER INSERT ON run FOR EACH ROW EXECUTE FUNCTION spoil()")
    query(block, WARM)
    assert value(block, "SELECT y_class_values FROM run_summary") == [0, 1]


def test_evaluate_makes_its_tables_first(block):
    """A table that cannot be made is found out before the data are read."""
    query(block, "SET LOCAL default_tablespace = 'pg_global'")
    query(block, "UPDATE packed SET x = x || '\\x00'")
    with pytest.raises(psycopg2.Error, match="pg_global"):
        query(block, "SELECT hopper.evaluate('run', 'packed', 'evaluated', mst_key => 1)")


def test_histories_are_bounded(block):
    """A share of hopper.memory_limit; then every second iteration goes, then of those every second."""
    query(block, "CREATE TABLE many AS SELECT i AS mst_key, 1 AS model_id, compile_params, fit_params"
          " FROM configs, generate_series(1, 16) i WHERE mst_key = 1")
    query(block, "CREATE TABLE many_summary AS SELECT * FROM configs_summary")
    query(block, "SET LOCAL hopper.memory_limit = '20MB'")
    query(block, "SET LOCAL client_min_messages = notice")
    fit = "SELECT hopper.fit_multiple_model('packed', '{}', 'many', 1400, metrics_compute_frequency => {})"
    query(block, fit.format("thinned", 1))
    assert any("metrics of one iteration in 2 are kept" in line for line in block.notices)
    query(block, fit.format("sparse", 200))
    # 1000 at least have room. The best and the worst are kept beside each second one, so that models differ by these.
    for kept, losses in query(block, "SELECT array_length(metrics_iters, 1), array_length(training_loss, 1) FROM thinned_info"):
        assert 750 <= kept <= 1010 and losses == kept
    curves = ("SELECT mst_key, iteration, split, metric, value FROM hopper.learning_curves('{}')"
              " WHERE iteration % 200 = 0 ORDER BY 1, 2, 3, 4")
    assert query(block, curves.format("thinned")) == query(block, curves.format("sparse"))
