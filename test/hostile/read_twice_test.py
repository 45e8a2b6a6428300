"""What is read twice, or by a name that was looked up before, may be something else the second time.

Roles own their tables: they rename them, put views in their place, lock them, and plant others
beside those of other roles. None of that runs their functions with another role's rights, reads
memory or answers with what is gone.
"""

import threading

import psycopg2
import pytest

from stage import OWNER, STRANGER, become, connect, create, destroy, execute
from digits import value, wait_until

ROW = "(SELECT r FROM (SELECT '\\x0001020304050607'::bytea AS x) r)"


@pytest.fixture(scope="module", autouse=True)
def stage():
    create().close()
    yield
    destroy()


def session(role):
    connection = connect()
    execute(connection, "SET client_min_messages = warning")
    become(connection, role)
    return connection


def plant_evil(connection):
    """STRANGER's function that tells as whom it runs."""
    execute(connection, f"""
        CREATE TABLE IF NOT EXISTS {STRANGER}.ran_as (name text);
        GRANT ALL ON {STRANGER}.ran_as TO PUBLIC;
        GRANT USAGE ON SCHEMA {STRANGER} TO PUBLIC;
        DELETE FROM {STRANGER}.ran_as;
        CREATE OR REPLACE FUNCTION {STRANGER}.evil() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
        BEGIN INSERT INTO {STRANGER}.ran_as VALUES (current_user); RETURN 'x'; END $$""")


def ran_as(connection):
    return {row[0] for row in execute(connection, f"SELECT DISTINCT name FROM {STRANGER}.ran_as")}


def test_a_row_for_a_model_that_has_more_features_the_second_time():
    """The first reading of the summary tells of one feature, the second one of 60,000 (a crash)."""
    connection = session(STRANGER)
    execute(connection, """
        CREATE SEQUENCE reads;
        CREATE FUNCTION columns_now() RETURNS text[] LANGUAGE plpgsql VOLATILE AS $$ BEGIN
            IF nextval('reads') <= 1 THEN RETURN ARRAY['x']; END IF;
            RETURN array_fill('x'::text, ARRAY[60000]); END $$;
        CREATE FUNCTION types_now() RETURNS text[] LANGUAGE plpgsql VOLATILE AS $$ BEGIN
            IF (SELECT last_value FROM reads) <= 1 THEN RETURN ARRAY['real[]']; END IF;
            RETURN array_fill('bytea'::text, ARRAY[60000]); END $$;
        CREATE VIEW v AS SELECT * FROM run;
        CREATE VIEW v_info AS SELECT * FROM run_info;
        DO $$ DECLARE l text; BEGIN
            SELECT string_agg(CASE attname WHEN 'independent_varname' THEN 'columns_now() AS independent_varname'
                WHEN 'independent_vartype' THEN 'types_now() AS independent_vartype'
                ELSE quote_ident(attname) END, ', ' ORDER BY attnum) INTO l
            FROM pg_attribute WHERE attrelid = 'run_summary'::regclass AND attnum > 0;
            EXECUTE 'CREATE VIEW v_summary AS SELECT ' || l || ' FROM run_summary'; END $$""")
    for _ in range(3):
        execute(connection, "ALTER SEQUENCE reads RESTART")
        with pytest.raises(psycopg2.Error) as refused:
            execute(connection, f"SELECT * FROM hopper.predict_row('v', 1, {ROW})")
        assert refused.value.pgcode is not None, "the server crashed"
    assert execute(connection, "SELECT last_value FROM reads")[0][0] > 1, "it was read once only"
    connection.close()


def test_models_reads_tables_as_their_owner():
    """A view that takes a summary's place while models() runs does not get the caller's rights."""
    attacker, caller, watching = session(STRANGER), session(OWNER), connect()
    execute(attacker, "GRANT SELECT ON run, run_summary TO PUBLIC")
    plant_evil(attacker)
    assert (STRANGER, "run") in {row[:2] for row in execute(caller, "SELECT schema, model_table FROM"
                                                            " hopper.models()")}
    execute(attacker, "BEGIN")
    execute(attacker, f"""
        ALTER TABLE run_summary RENAME TO run_summary_old;
        CREATE VIEW run_summary AS SELECT {STRANGER}.evil() AS source_table, validation_table,
            end_training_time, best_mst_key, best_metric, best_value, model_info FROM run_summary_old;
        GRANT SELECT ON run_summary TO PUBLIC""")
    outcome = []

    def run():
        try:
            outcome.append(execute(caller, "SELECT model_table FROM hopper.models()"))
        except psycopg2.Error as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    # It need not wait for the lock; where it does, the view is there when it goes on.
    wait_until(lambda: outcome or value(watching, "SELECT wait_event_type = 'Lock' FROM pg_stat_activity"
                                        " WHERE pid = %s", caller.get_backend_pid()))
    waited = not outcome
    execute(attacker, "COMMIT")
    thread.join(60)
    execute(attacker, "DROP VIEW run_summary; ALTER TABLE run_summary_old RENAME TO run_summary")
    assert not waited, "models() waits for as long as any role holds a lock"
    assert not isinstance(outcome[0], Exception), outcome[0]
    assert ran_as(watching) <= {STRANGER}
    for connection in (attacker, caller, watching):
        connection.close()


def test_a_model_that_is_copied_brings_no_functions_along():
    owner, copier = session(STRANGER), session(OWNER)
    plant_evil(owner)
    execute(owner, "SELECT hopper.copy_model('run', 'gift')")
    execute(owner, f"""
        ALTER TABLE gift ADD CHECK ({STRANGER}.evil() = 'x');
        ALTER TABLE gift_info ALTER COLUMN status SET DEFAULT {STRANGER}.evil();
        CREATE FUNCTION same(bytea) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS $$
            BEGIN PERFORM {STRANGER}.evil(); RETURN $1; END $$;
        CREATE INDEX ON gift ({STRANGER}.same(model_weights));
        DELETE FROM {STRANGER}.ran_as;
        SELECT hopper.grant_model('gift', '{OWNER}', 'train')""")
    execute(owner, f"DELETE FROM {STRANGER}.ran_as")
    assert execute(copier, f"SELECT hopper.copy_model('{STRANGER}.gift', 'taken')") == [(2,)]
    assert ran_as(copier) == set()
    assert execute(copier, "SELECT count(*) FROM pg_constraint WHERE conrelid = 'taken'::regclass"
                   " AND contype = 'c'") == [(0,)]
    # What training gives a table is there: its key, and how it is stored.
    for table, key in (("taken", "mst_key"), ("taken_info", "mst_key"), ("taken_state", "mst_key, part")):
        assert execute(copier, "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid ="
                       f" '{table}'::regclass AND indisprimary")[0][0].endswith(f"({key})")
    assert execute(copier, "SELECT attstorage FROM pg_attribute WHERE attrelid = 'taken'::regclass"
                   " AND attname = 'model_weights'") == [("e",)]
    execute(copier, "SELECT hopper.drop_model('taken')")
    for connection in (owner, copier):
        connection.close()


def test_tables_planted_beside_a_model_are_not_the_models():
    stage = connect()
    execute(stage, f"CREATE SCHEMA shared; GRANT ALL ON SCHEMA shared TO {OWNER}, {STRANGER}")
    owner, attacker = session(OWNER), session(STRANGER)
    plant_evil(attacker)
    execute(owner, "SELECT hopper.copy_model('run', 'shared.run')")
    execute(attacker, f"""
        CREATE TABLE shared.run_trials (mst_key int CHECK ({STRANGER}.evil() = 'x'), parameters jsonb,
            iterations int, value float8, status text, parent int, model_id int, compile_params text,
            fit_params text, place int, pareto bool, objectives float8[], constraints float8[]);
        INSERT INTO shared.run_trials (mst_key) VALUES (1);
        GRANT SELECT ON shared.run_trials TO PUBLIC;
        DELETE FROM {STRANGER}.ran_as""")
    execute(owner, "SELECT hopper.copy_model('shared.run', 'shared.copied')")
    assert ran_as(owner) == set()
    assert value(owner, "SELECT to_regclass('shared.copied_trials')") is None
    # Rights are granted on what is the owner's alone.
    execute(owner, f"SELECT hopper.grant_model('shared.run', '{STRANGER}')")
    execute(owner, "SELECT hopper.drop_model('shared.copied')")
    for connection in (stage, owner, attacker):
        connection.close()


def test_a_copy_is_of_one_moment():
    """Weights, states and infos of different moments would be a model that never was."""
    changing, copying = session(OWNER), session(OWNER)
    execute(changing, "SELECT hopper.copy_model('run', 'moving')")
    stop = threading.Event()
    tables = ("moving", "moving_info", "moving_state")

    def change():
        while not stop.is_set():
            execute(changing, "BEGIN;" + "".join(f"UPDATE {table} SET mst_key = mst_key + 2;" for table in tables)
                    + "COMMIT")

    thread = threading.Thread(target=change, daemon=True)
    thread.start()
    try:
        for _ in range(100):
            execute(copying, "SELECT hopper.copy_model('moving', 'still', replace := TRUE)")
            keys = [execute(copying, f"SELECT DISTINCT mst_key FROM {table} ORDER BY 1")
                    for table in ("still", "still_info", "still_state")]
            assert keys[0] == keys[1] == keys[2]
    finally:
        stop.set()
        thread.join(60)
    for name in ("moving", "still"):
        execute(copying, f"SELECT hopper.drop_model('{name}')")
    for connection in (changing, copying):
        connection.close()


def test_a_ready_model_heeds_rights_and_what_ranks_it():
    """The session keeps models of predict_row(); rights are asked with each call all the same."""
    owner = session(OWNER)
    user = session(STRANGER)
    call = f"SELECT * FROM hopper.predict_row('{OWNER}.kept_ready', 1, ARRAY[0, 1]::real[])"
    execute(owner, "SELECT hopper.copy_model('run', 'kept_ready')")
    execute(owner, f"SELECT hopper.grant_model('kept_ready', '{STRANGER}')")
    assert execute(user, call)
    for table in ("kept_ready", "kept_ready_info", "kept_ready_summary"):
        execute(owner, f"REVOKE SELECT ON {table} FROM {STRANGER}")
        with pytest.raises(psycopg2.Error) as refused:
            execute(user, call)
        assert refused.value.pgcode == "42501"
        execute(owner, f"GRANT SELECT ON {table} TO {STRANGER}")
        assert execute(user, call)
    # Without a key the best one: which that is, the infos say.
    best = "SELECT mst_key FROM hopper.leaderboard('kept_ready') LIMIT 1"
    row = "SELECT * FROM hopper.predict_row('kept_ready', ARRAY[0, 1]::real[])"
    first, before = execute(owner, best), execute(owner, row)
    execute(owner, "UPDATE kept_ready SET model_weights = (SELECT decode(repeat('0000803f', 17), 'hex'))"
            f" WHERE mst_key <> {first[0][0]}")
    execute(owner, "UPDATE kept_ready_info SET status = 'failed'"
            f" WHERE mst_key = {first[0][0]}")
    assert execute(owner, best) != first
    assert execute(owner, row) != before
    execute(owner, "SELECT hopper.drop_model('kept_ready')")
    for connection in (owner, user):
        connection.close()


def test_a_model_behind_a_foreign_table_is_read_anew():
    """Foreign rows have no version: xmin is 0 and ctid may stay, whatever the other server did."""
    stage = connect()
    execute(stage, "SET client_min_messages = warning")
    if not execute(stage, "SELECT 1 FROM pg_available_extensions WHERE name = 'postgres_fdw'"):
        pytest.skip("no postgres_fdw: install this server's contrib modules")
    execute(stage, "CREATE EXTENSION postgres_fdw")
    there = execute(stage, "SELECT format('CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L,"
                    " port %L, dbname %L)', split_part(current_setting('unix_socket_directories'), ',', 1),"
                    " current_setting('port'), current_database())")[0][0]
    execute(stage, there)
    execute(stage, "CREATE USER MAPPING FOR PUBLIC SERVER loop OPTIONS (user 'postgres', password_required 'false')")
    execute(stage, "CREATE SCHEMA remote")
    owner = session(OWNER)
    execute(owner, "SELECT hopper.copy_model('run', 'far')")
    execute(stage, f"IMPORT FOREIGN SCHEMA {OWNER} LIMIT TO (far, far_info, far_summary, far_state)"
            " FROM SERVER loop INTO remote")
    call = "SELECT class_value, prob FROM hopper.predict_row('{}.far', 1, ARRAY[0, 1]::real[])"
    assert execute(stage, call.format("remote")) == execute(stage, call.format(OWNER))
    # Rows at the same places, as after a VACUUM and a training that replaces.
    execute(owner, "CREATE TABLE other AS SELECT mst_key, decode(repeat('0000803f', 17), 'hex') AS model_weights,"
            " model_arch FROM far ORDER BY ctid; ALTER TABLE far RENAME TO former; ALTER TABLE other RENAME TO far")
    assert execute(stage, call.format("remote")) == execute(stage, call.format(OWNER))
    execute(stage, "DROP SCHEMA remote CASCADE; DROP SERVER loop CASCADE; DROP EXTENSION postgres_fdw")
    for connection in (stage, owner):
        connection.close()


CALLS = {
    "predict_row": "SELECT count(*) > 0 FROM hopper.predict_row('swapped', 1, ARRAY[0, 1]::real[])",
    "predict_rows": "SELECT count(*) > 0 FROM hopper.predict_rows('swapped', NULL::points, mst_key := 1)",
    "predict": "SELECT hopper.predict('swapped', 'points', 'id', output_table := 'swapped_out', mst_key := 1,"
               " replace := TRUE) IS NOT NULL",
    "evaluate": "SELECT loss IS NOT NULL FROM hopper.evaluate('swapped', 'packed_validation', mst_key := 1)",
    "to_onnx": "SELECT length(hopper.to_onnx('swapped', 1)) > 0",
    "copy_model": "SELECT hopper.copy_model('swapped', 'swapped_copy', replace := TRUE) = 2",
    "leaderboard": "SELECT count(*) = 2 FROM hopper.leaderboard('swapped')",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_waits_for_a_model_that_is_replaced_sees_the_new_one(call):
    replacing, calling, watching = session(OWNER), session(OWNER), connect()
    execute(replacing, "SELECT hopper.copy_model('run', 'swapped', replace := TRUE)")
    execute(replacing, "BEGIN; SELECT hopper.copy_model('run', 'swapped', replace := TRUE)")
    outcome = []

    def run():
        try:
            outcome.append(execute(calling, CALLS[call]))
        except psycopg2.Error as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    wait_until(lambda: outcome or value(watching, "SELECT wait_event_type = 'Lock' FROM pg_stat_activity"
                                        " WHERE pid = %s", calling.get_backend_pid()), 30)
    execute(replacing, "COMMIT")
    thread.join(60)
    assert not isinstance(outcome[0], Exception), outcome[0]
    assert outcome[0] == [(True,)] or call == "predict" and outcome[0]
    for connection in (replacing, calling, watching):
        connection.close()


def test_a_call_that_the_deadlock_detector_lets_pass_goes_on():
    """It gave the lock back that it had been let have before those that queued, and queued again for ever."""
    holding, queueing, calling = session(OWNER), session(OWNER), session(OWNER)
    execute(holding, "SELECT hopper.copy_model('run', 'wanted', replace := TRUE); CREATE TABLE other ()")
    execute(holding, "BEGIN; SELECT count(*) FROM wanted")
    execute(calling, "BEGIN; LOCK TABLE other IN ACCESS EXCLUSIVE MODE")
    pids = [connection.get_backend_pid() for connection in (queueing, calling, holding)]
    watching = connect()

    def waits(pid):
        return value(watching, "SELECT coalesce(wait_event_type = 'Lock', FALSE) FROM pg_stat_activity"
                     " WHERE pid = %s", pid)

    done = []

    def lock():
        execute(queueing, "BEGIN; LOCK TABLE wanted IN ACCESS EXCLUSIVE MODE; COMMIT")
        done.append("queueing")

    def call():
        execute(calling, "SELECT count(*) FROM hopper.leaderboard('wanted')")
        done.append("calling")
        execute(calling, "COMMIT")

    def read():
        execute(holding, "SELECT count(*) FROM other; COMMIT")
        done.append("holding")

    threads = []
    for target, pid in ((lock, pids[0]), (call, pids[1]), (read, pids[2])):
        threads.append(threading.Thread(target=target, daemon=True))
        threads[-1].start()
        wait_until(lambda pid=pid: waits(pid) or len(done) > 0, 30)
    for thread in threads:
        thread.join(30)
    try:
        assert sorted(done) == ["calling", "holding", "queueing"]
    finally:
        for pid in pids:
            execute(watching, f"SELECT pg_terminate_backend({pid})")
