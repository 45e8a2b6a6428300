"""pg_dump carries runs and models to another server, where a run that was interrupted goes on."""

import os
import subprocess

import psycopg2
import pytest

from digits import ADAM, connect, create_database, drop_database, query, select, value
from own_server import own_server

DATABASE = "hopper_dumped"
PORT = "5435"
FIT = ("SELECT hopper.fit_multiple_model('packed', '{}', 'configs', 200, validation_table => 'packed_validation',"
       " seed => 5, threads => 1)")


@pytest.fixture(scope="module")
def restored():
    connection = create_database(DATABASE)
    select(connection, "configs", [(1, 1, ADAM, "batch_size=32"), (2, 2, ADAM, "batch_size=16")])
    query(connection, "DROP ROLE IF EXISTS hopper_dumped_owner")
    query(connection, "CREATE ROLE hopper_dumped_owner LOGIN")
    query(connection, "GRANT CREATE ON SCHEMA public TO hopper_dumped_owner")
    query(connection, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO hopper_dumped_owner")
    query(connection, FIT.format("straight"))
    query(connection, "SET SESSION AUTHORIZATION hopper_dumped_owner")
    run = value(connection, "SELECT hopper.create_run(%s)", FIT.format("moved"))
    for _ in range(20):
        assert value(connection, "SELECT hopper.step(%s, 0.001)", run) == "running"
    query(connection, "RESET SESSION AUTHORIZATION")
    connection.close()
    dump = subprocess.run(["pg_dump", DATABASE], capture_output=True, text=True, check=True).stdout
    drop_database(DATABASE)
    before = os.environ["PGPORT"]
    with own_server("restored", PORT) as server:
        server.start()
        os.environ["PGPORT"] = PORT
        try:
            admin = connect("postgres")
            # roles have other numbers there
            query(admin, "CREATE ROLE another")
            query(admin, "CREATE ROLE hopper_dumped_owner LOGIN")
            query(admin, f"CREATE DATABASE {DATABASE}")
            admin.close()
            done = subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d", DATABASE], input=dump, text=True,
                                  capture_output=True, check=False)
            assert done.returncode == 0, done.stderr
            connection = connect(DATABASE)
            yield connection, run
            connection.close()
        finally:
            os.environ["PGPORT"] = before
    admin = connect("postgres")
    query(admin, "DROP ROLE hopper_dumped_owner")
    admin.close()


def test_a_run_goes_on_there(restored):
    connection, run = restored
    assert query(connection, "SELECT state, owner, model_table FROM hopper.runs WHERE run = %s", run) == [
        ("interrupted", "hopper_dumped_owner", "moved")]
    assert value(connection, "SELECT sum(iterations) FROM hopper.trials WHERE run = %s", run) > 0
    query(connection, "SELECT hopper.resume(%s)", run)
    assert value(connection, "SELECT hopper.wait(%s, 120)", run) == "done"
    compared = "SELECT mst_key, state_digest, status, iterations, metrics_iters, validation_loss FROM {}_info ORDER BY 1"
    assert query(connection, compared.format("moved")) == query(connection, compared.format("straight"))
    metrics = ("SELECT trial, iteration, split, metric, value FROM hopper.trial_metrics JOIN hopper.runs USING (run)"
               " WHERE model_table = %s ORDER BY 1, 2, 3, 4")
    assert query(connection, metrics, "moved") == query(connection, metrics, "straight")
    assert query(connection, "SELECT tableowner FROM pg_tables WHERE tablename = 'moved'") == [
        ("hopper_dumped_owner",)]


def test_models_and_new_runs_are_as_before(restored):
    connection, run = restored
    assert value(connection, "SELECT count(*) FROM hopper.leaderboard('straight')") == 2
    assert value(connection, "SELECT loss IS NOT NULL FROM hopper.evaluate('straight', 'packed_validation', mst_key => 1)")
    assert value(connection, "SELECT hopper.create_run(%s)", FIT.format("newer")) > run
    with pytest.raises(psycopg2.errors.DuplicateTable):
        query(connection, "SELECT hopper.create_run(%s)", FIT.format("straight"))


def test_the_owner_of_a_database_dumps_it(restored):
    query(restored[0], "CREATE DATABASE hopper_owned OWNER hopper_dumped_owner")
    owned = connect("hopper_owned")
    query(owned, "CREATE EXTENSION model_hopper; SET SESSION AUTHORIZATION hopper_dumped_owner; CREATE TABLE public.one (i integer)")
    owned.close()
    text = subprocess.run(["pg_dump", "-U", "hopper_dumped_owner", "hopper_owned"], capture_output=True, text=True, check=True).stdout
    assert "CREATE TABLE public.one" in text and "COPY hopper.all_runs" in text


def test_a_run_whose_role_is_gone_is_in_no_dump(restored):
    """Its number may be that of another role elsewhere."""
    connection, run = restored
    query(connection, "UPDATE hopper.all_runs SET role = 4000000000::oid WHERE run = %s", run)
    dump = subprocess.run(["pg_dump", "--data-only", "-t", "hopper.all_runs", DATABASE], capture_output=True, text=True, check=True).stdout
    runs = [line.split("\t")[0] for line in dump.splitlines() if line[:1].isdigit()]
    assert str(run) not in runs and runs
