"""mlflow_views(): the real MLflow server reads runs as experiments."""

import psycopg2
import pytest
from conftest import NAME, address, ask, query, serving, until_it_moves

API = "/api/2.0/mlflow/"


@pytest.fixture(scope="module")
def mlflow(connection):
    with serving("/health", "mlflow", "server", "--workers", "1", "--backend-store-uri", address("hopper_mlflow")) as server:
        yield server + API


def runs(mlflow, run, **more):
    found = ask(mlflow + "runs/search", {"experiment_ids": [str(run)], "max_results": 1000, **more})
    return [{"name": each["info"]["run_name"], "steps": [item["step"] for item in each["data"].get("metrics", [])], "status": each["info"]["status"], "id": each["info"]["run_id"],
             "inputs": each.get("inputs", {}).get("dataset_inputs", []),
             **{kind: {item["key"]: item["value"] for item in each["data"].get(kind, [])}
                for kind in ("metrics", "params", "tags")}}
            for each in found.get("runs", [])]


def test_runs_are_experiments(mlflow, run_of):
    found = {each["experiment_id"]: each for each in ask(mlflow + "experiments/search", {"max_results": 100})["experiments"]}
    assert found["0"]["name"] == "Default"
    assert found[str(run_of["searched"])]["name"] == f"{run_of['searched']}: {NAME}"
    assert {"key": "hopper.method", "value": "hyperband"} in found[str(run_of["searched"])]["tags"]


def test_trials_are_runs(connection, mlflow, run_of):
    rows = query(connection, """SELECT 'searched ' || mst_key, t.parameters->>'optimizer', t.parameters->>'lr',
        validation_loss, validation_metric FROM searched_trials t JOIN hopper.leaderboard('searched') USING (mst_key)
        ORDER BY validation_metric DESC, mst_key""")
    found = {run["name"]: run for run in runs(mlflow, run_of["searched"])}
    assert set(found) == {row[0] for row in rows}
    for name, optimizer, rate, _, _ in rows:
        assert found[name]["params"]["optimizer"] == optimizer and found[name]["params"]["lr"] == rate
        assert found[name]["status"] == "FINISHED" and found[name]["tags"]["hopper.mst_key"] == name.split()[1]
    checksum, = query(connection, "SELECT source_checksum FROM searched_summary")[0]
    assert checksum in {data["dataset"]["digest"] for run in found.values() for data in run["inputs"]}


def test_filters_and_orders_by_metrics(connection, mlflow, run_of):
    found = runs(mlflow, run_of["models"], filter="metrics.val_accuracy > 0.5", order_by=["metrics.val_loss ASC"])
    ours = query(connection, "SELECT mst_key, validation_loss FROM hopper.leaderboard('models') ORDER BY 2")
    assert [(int(run["tags"]["hopper.mst_key"]), run["metrics"]["val_loss"]) for run in found] == ours


def test_history_is_the_learning_curve(connection, mlflow, run_of):
    run = runs(mlflow, run_of["models"])[0]
    history = ask(f"{mlflow}metrics/get-history?run_id={run['id']}&metric_key=val_accuracy")["metrics"]
    curve = query(connection, """SELECT iteration, value FROM hopper.learning_curves('models')
        WHERE mst_key = %s AND split = 'validation' AND metric = 'accuracy' ORDER BY 1""", run["tags"]["hopper.mst_key"])
    assert len(curve) == 6 and [(point["step"], point["value"]) for point in history] == curve
    assert sorted(point["timestamp"] for point in history) == [point["timestamp"] for point in history]


@pytest.mark.parametrize("path", ["registered-models/search", "model-versions/search"])
def test_pages_of_models_are_empty(mlflow, path):
    assert ask(mlflow + path + "?max_results=10") == {}


def test_a_run_that_goes_on_moves(mlflow, going_on):
    until_it_moves(lambda: sum(sum(run["steps"]) for run in runs(mlflow, going_on) if run["status"] == "RUNNING"))


def test_another_revision_is_refused(connection):
    with pytest.raises(psycopg2.Error, match='revision "f4a9b2c7d1e6" of MLflow\'s schema is not known') as error:
        query(connection, "SELECT hopper.mlflow_views('other', 'f4a9b2c7d1e6')")
    assert "dc11669786a5" in error.value.diag.message_detail
    query(connection, "SELECT hopper.mlflow_views('other', 'f4a9b2c7d1e6', untested => true)")
    assert query(connection, "SELECT version_num FROM other.alembic_version") == [("f4a9b2c7d1e6",)]
