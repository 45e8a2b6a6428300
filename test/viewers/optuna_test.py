"""optuna_views(): the real Optuna and optuna-dashboard read runs as studies."""

import contextlib

import optuna
import psycopg2
import pytest
from conftest import DATABASE, NAME, address, ask, connect, query, serving, until_it_moves


@pytest.fixture(scope="module")
def storage(connection):
    return address("hopper_optuna")


def studies(storage):
    return {name.partition(": ")[2]: optuna.load_study(study_name=name, storage=storage)
            for name in optuna.get_all_study_names(storage)}


def test_a_search_is_a_study(connection, storage, run_of):
    study = studies(storage)[NAME]
    assert study.direction == optuna.study.StudyDirection.MAXIMIZE and study.metric_names == ["validation accuracy"]
    best, value, parameters = query(connection, "SELECT mst_key, value, parameters FROM hopper.best_config('searched')")[0]
    assert study.best_trial.number == best and study.best_value == value
    assert study.best_params == {name: parameters[name] for name in ("optimizer", "lr", "batch_size")}
    rows = query(connection, "SELECT mst_key, value, parameters FROM searched_trials ORDER BY 1")
    assert [(trial.number, trial.value) for trial in study.trials] == [row[:2] for row in rows]
    for trial, (_, _, parameters) in zip(study.trials, rows):
        assert trial.distributions["lr"] == optuna.distributions.FloatDistribution(0.0001, 0.3, log=True)
        assert trial.distributions["optimizer"] == optuna.distributions.CategoricalDistribution(("Adam", "SGD"))
        assert trial.params == {name: parameters[name] for name in ("optimizer", "lr", "batch_size")}
        assert trial.state == optuna.trial.TrialState.COMPLETE and trial.datetime_complete >= trial.datetime_start
    assert study.user_attrs["method"] == "hyperband" and study.user_attrs["model_table"] == "searched"


def test_intermediate_values_are_the_learning_curve(connection, storage):
    trial = studies(storage)["models"].trials[0]
    curve = query(connection, """SELECT iteration, value FROM hopper.learning_curves('models')
        WHERE mst_key = %s AND split = 'validation' AND metric = 'accuracy'""", trial.number)
    assert len(curve) == 6 and trial.intermediate_values == dict(curve)
    assert trial.params == {"learning_rate": 0.01}


def test_optuna_finds_the_same_importances(connection, storage):
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    theirs = optuna.importance.get_param_importances(studies(storage)[NAME], evaluator=evaluator)
    assert set(theirs) == {"optimizer", "lr", "batch_size"} and abs(sum(theirs.values()) - 1) < 1e-9


def test_values_that_are_not_finite(connection, storage):
    query(connection, """SELECT hopper.generate_model_configs('networks', 'wild', ARRAY[1],
        $${'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.01, 1e30]}]}$$, $${'batch_size': [16]}$$)""")
    query(connection, "SELECT hopper.fit_multiple_model('packed', 'wildly', 'wild', 3, validation_table => 'packed_validation')")
    good, bad = studies(storage)["wildly"].trials
    assert good.state == optuna.trial.TrialState.COMPLETE and bad.state == optuna.trial.TrialState.FAIL
    assert studies(storage)["wildly"].direction == optuna.study.StudyDirection.MINIMIZE
    assert "error" in bad.user_attrs


def test_others_see_nothing(connection, storage):
    assert optuna.get_all_study_names(address("hopper_optuna", "stranger")) == []


def test_dashboard_shows_a_run_that_goes_on(connection, storage, run_of, going_on):
    with serving("/api/studies", "optuna-dashboard", storage) as dashboard:
        names = {study["study_name"] for study in ask(dashboard + "/api/studies")["study_summaries"]}
        assert {f"{run_of['searched']}: {NAME}", f"{run_of['models']}: models", f"{going_on}: endless"} <= names
        shown = ask(f"{dashboard}/api/studies/{run_of['searched']}")
        assert len(shown["trials"]) == query(connection, "SELECT count(*) FROM searched_trials")[0][0]
        assert shown["objective_names"] == ["validation accuracy"]

        def steps():
            trials = ask(f"{dashboard}/api/studies/{going_on}")["trials"]
            return max((value["step"] for trial in trials for value in trial["intermediate_values"]), default=0)

        until_it_moves(steps)


@pytest.mark.parametrize("schema, problem", [("", "must not be NULL or empty"), ("taken", 'has a "studies" that is no view')])
def test_schemas_that_will_not_do(connection, schema, problem):
    query(connection, "CREATE SCHEMA IF NOT EXISTS taken; CREATE TABLE IF NOT EXISTS taken.studies (study_id integer)")
    with pytest.raises(psycopg2.Error, match=problem):
        query(connection, "SELECT hopper.optuna_views(%s)", schema)


def test_the_address_is_written_for_any_name(connection):
    address = query(connection, "SELECT hopper.optuna_views('my \"own\"')")[0][0]
    assert address.endswith(f"/{DATABASE}?options=-csearch_path%3D%22my%20%22%22own%22%22%22")
    assert query(connection, 'SELECT count(*) FROM "my ""own""".studies')[0][0] >= 2
    # A second time, after an update of the extension
    query(connection, "SELECT hopper.optuna_views('my \"own\"')")


def test_the_extension_may_have_another_name(connection, storage):
    with contextlib.closing(connect(DATABASE)) as owner:
        query(owner, "ALTER SCHEMA hopper RENAME TO renamed")
        try:
            assert query(connection, "SELECT renamed.optuna_views('elsewhere'), renamed.mlflow_views('elsewhere_2')")
            assert query(connection, "SELECT count(*) FROM elsewhere.trial_params")[0][0] > 0
            assert query(connection, "SELECT count(*) FROM elsewhere_2.runs")[0][0] > 0
        finally:
            query(owner, "ALTER SCHEMA renamed RENAME TO hopper")
    assert NAME in studies(storage)
