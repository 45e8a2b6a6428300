"""ensemble(): greedy selection with replacement, as numpy finds it from the members' probabilities, is one more model."""

import numpy
import psycopg2
import pytest
from digits import ADAM, GREENPLUM, connect, create_database, dense, drop_database, layer, query, select, sequential, threads, value

DATABASE = "hopper_ensemble"


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "SET client_min_messages = warning")
    select(connection, "configs", [(key, 1 + key % 2, ADAM.replace("lr=0.01", f"lr={rate}"), f"batch_size={batch}")
                                   for key, (rate, batch) in enumerate(
                                       [(0.01, 32), (0.001, 64), (0.03, 16), (0.003, 128), (0.0003, 32), (0.01, 8)], 1)])
    query(connection, "SELECT hopper.fit_multiple_model('packed', 'models', 'configs', 2, seed => 3,"
                      " validation_table => 'packed_validation')")
    # The rows that the models were not trained on, as they were before they were packed.
    query(connection, "CREATE TABLE held AS SELECT * FROM digits WHERE id % 5 = 0")
    query(connection, "SELECT hopper.validation_preprocessor('held', 'held_packed', 'label', 'pixels', 'packed')")
    yield connection
    connection.close()
    drop_database(DATABASE)


def probabilities(connection, model, key, rows):
    query(connection, "DROP TABLE IF EXISTS predicted")
    query(connection, f"SELECT hopper.predict('{model}', '{rows}', 'id', output_table => 'predicted', pred_type => 'prob',"
                      f" mst_key => {key})")
    return numpy.array([row[0] for row in query(
        connection, "SELECT array_agg(prob ORDER BY class_value::int) FROM predicted GROUP BY id ORDER BY id")])


def greedy(outputs, measure, ascends, size, initial):
    """Caruana's selection, sorted initialization first: keys, and the value after the best step."""
    sign = -1 if ascends else 1

    def best_first(total, step):
        found = {key: measure((total + output) / step) for key, output in outputs.items()}
        return sorted(found, key=lambda key: (sign * round(found[key], 9), key))

    chosen = best_first(0, 1)[:initial]
    while len(chosen) < size:
        chosen.append(best_first(sum(outputs[key] for key in chosen), len(chosen) + 1)[0])
    values = [measure(sum(outputs[key] for key in chosen[:n]) / n) for n in range(1, size + 1)]
    length = min(range(initial - 1, size), key=lambda i: (sign * round(values[i], 9), i)) + 1
    return chosen[:length], values[length - 1]


def loss(labels):
    return lambda p: -numpy.log(numpy.clip(p[numpy.arange(len(labels)), labels] / p.sum(1), 1e-7, 1)).mean()


def accuracy(labels):
    return lambda p: (p.argmax(1) == labels).mean()


@pytest.mark.parametrize("rank_by, measure, ascends", [("loss", loss, False), ("accuracy", accuracy, True)])
@pytest.mark.parametrize("initial", [1, 2, 3])
def test_as_numpy_selects(database, rank_by, measure, ascends, initial):
    query(database, f"SELECT hopper.copy_model('models', 'models_{rank_by}', replace => true)")
    outputs = {key: probabilities(database, "models", key, "held") for key in range(1, 7)}
    labels = numpy.array([row[0] for row in query(database, "SELECT label FROM held ORDER BY id")])
    chosen, expected = greedy(outputs, measure(labels), ascends, 12, initial)
    # Never more than half of the six are there from the start, and never more than there are steps.
    asked = initial if initial < 3 else 6
    row = query(database, f"SELECT * FROM hopper.ensemble('models_{rank_by}', 'held_packed', 12, rank_by => '{rank_by}', initial => {asked})")[0]
    key, members, shares, metric, found, best, best_value = row
    assert (key, metric) == (7, rank_by)
    assert found == pytest.approx(expected, abs=1e-5)
    assert dict(zip(members, shares)) == pytest.approx({k: chosen.count(k) / len(chosen) for k in set(chosen)})
    assert best == chosen[0]
    assert best_value == pytest.approx(measure(labels)(outputs[best]), abs=1e-5)
    # It is a model as any other.
    mean = sum(outputs[k] * share for k, share in zip(members, shares))
    assert probabilities(database, f"models_{rank_by}", key, "held") == pytest.approx(mean, abs=1e-6)
    evaluated = query(database, f"SELECT loss, metric FROM hopper.evaluate('models_{rank_by}', 'held_packed', mst_key => 7)")[0]
    assert evaluated == pytest.approx((loss(labels)(mean), accuracy(labels)(mean)), abs=1e-5)
    assert query(database, f"SELECT validation_loss_final, validation_metrics_final FROM models_{rank_by}_info"
                           " WHERE mst_key = 7")[0] == pytest.approx(evaluated)
    # Of fewer steps than models are asked for, all add one of the best.
    query(database, f"SELECT hopper.copy_model('models', 'models_{rank_by}_2', replace => true)")
    two = query(database, f"SELECT members, shares FROM hopper.ensemble('models_{rank_by}_2', 'held_packed', 2, rank_by => '{rank_by}', initial => 5)")[0]
    assert two == (sorted(greedy(outputs, measure(labels), ascends, 2, 2)[0]), [0.5, 0.5])
    first = value(database, f"SELECT mst_key FROM hopper.leaderboard('models_{rank_by}') LIMIT 1")
    assert first == value(database, f"SELECT best_mst_key FROM models_{rank_by}_summary")
    assert len(value(database, f"SELECT hopper.to_onnx('models_{rank_by}', 7)")) > 1000
    assert value(database, f"SELECT hopper.copy_model('models_{rank_by}', 'copied_{rank_by}', 7, replace => true)") == 1


def test_with_one_sigmoid_and_of_a_search(database):
    query(database, "CREATE TABLE pairs AS SELECT id, label % 2 AS odd, pixels FROM digits")
    query(database, "SELECT hopper.training_preprocessor('pairs', 'odd_packed', 'odd', 'pixels', normalizing_const => 16,"
                    " validation_fraction => 0.3)")
    one = sequential(layer("Flatten", "flatten"), dense("hidden", 16, "relu"), dense("output", 1, "sigmoid"))
    query(database, "SELECT hopper.load_model('ones', %s)", one)
    query(database, "SELECT hopper.automl('odd_packed', 'odd', 'ones', 'odd_best', ARRAY[1], $${'loss': ['binary_crossentropy'],"
                    " 'metrics': [['accuracy']], 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.001, 0.1, 'log']}]}$$,"
                    " $${'batch_size': [16, 64]}$$, 'random', 'num_configs=8, num_iterations=3', seed => 2,"
                    " validation_table => 'odd_packed_validation', objective => 'loss')")
    key, members, shares, metric, found, best, best_value = query(
        database, "SELECT * FROM hopper.ensemble('odd', 'odd_packed_validation', initial => 1)")[0]
    assert metric == "loss" and found <= best_value
    assert query(database, "SELECT loss FROM hopper.evaluate('odd', 'odd_packed_validation', mst_key => %s)", key)[0][0] \
        == pytest.approx(found, abs=1e-6)
    query(database, "SELECT hopper.predict('odd', 'pairs', 'id', output_table => 'odd_predicted', pred_type => 'response',"
                    f" mst_key => {key})")
    mean = sum(share * probabilities(database, "odd", member, "pairs")[:, 1] for member, share in zip(members, shares))
    assert probabilities(database, "odd", key, "pairs")[:, 1] == pytest.approx(mean, abs=1e-6)
    predicted = numpy.array([int(row[0]) for row in query(database, "SELECT predicted_odd FROM odd_predicted ORDER BY id")])
    clear = abs(mean - 0.5) > 1e-5
    assert (predicted[clear] == (mean > 0.5)[clear]).all()


def test_what_cannot_be_an_ensemble(database):
    with pytest.raises(psycopg2.errors.InvalidParameterValue, match="needs two models or more"):
        query(database, "SELECT hopper.ensemble('models', 'held_packed', mst_keys => 1)")
    with pytest.raises(psycopg2.errors.InvalidParameterValue, match="initial must be"):
        query(database, "SELECT hopper.ensemble('models', 'held_packed', initial => 0)")
    with pytest.raises(psycopg2.errors.InvalidParameterValue, match='has no metric "auc"'):
        query(database, "SELECT hopper.ensemble('models', 'held_packed', rank_by => 'auc')")
    with pytest.raises(psycopg2.errors.InvalidParameterValue, match="does not hold all models"):
        query(database, "SELECT hopper.ensemble('models', 'held_packed', mst_keys => ARRAY[1, 2, 99])")
    query(database, "SELECT hopper.ensemble('models', 'held_packed', 3)")
    query(database, "INSERT INTO configs VALUES (7, 1, %s, 'batch_size=8')", ADAM)
    with pytest.raises(psycopg2.Error, match="no architecture or no state"):
        query(database, "SELECT hopper.fit_multiple_model('packed', 'models', 'configs', 1, warm_start => true,"
                        " validation_table => 'packed_validation')")


def test_no_threads_of_libtorch_spin(database):
    """They would take the processors of others, and bits would depend on how many they are."""
    session = connect(DATABASE)
    query(session, "SET client_min_messages = warning")
    process = value(session, "SELECT pg_backend_pid()")
    query(session, "SELECT hopper.copy_model('models', 'alone')")
    before = threads(process)  # Greenplum has one that receives rows
    assert GREENPLUM or before == 1
    for _ in range(2):
        query(session, "SELECT hopper.ensemble('alone', 'held_packed', 10)")
    assert threads(process) == before
    session.close()
