"""feature_importance() and partial_dependence() say what scikit-learn says of the same model and rows, explain_row() what
Shapley's formula over all subsets of the columns does. Columns have names that the queries use themselves."""

import itertools
import math

import numpy
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.metrics import roc_auc_score

from digits import create_database, drop_database, query, value

DATABASE = "hopper_explanations"
ROWS = 160
REPEATS = 6
COLUMNS = ["f", "Spent %s", "plan", "o"]
MODEL = "model_x"


def table():
    """Rows of (age by decades, money spent, plan, noise) and of their labels."""
    random = numpy.random.default_rng(291)
    age = random.integers(2, 9, ROWS) * 10
    spent = numpy.round(random.lognormal(3, 1, ROWS), 2)
    plan = random.choice(["basic", "gold", "silver"], ROWS)
    noise = numpy.round(random.normal(0, 1, ROWS), 3)
    label = numpy.where(age + 25 * (plan == "gold") + random.normal(0, 12, ROWS) > 60, "yes", "no")
    x = numpy.array([[int(a), float(s), str(p), float(n)] for a, s, p, n in zip(age, spent, plan, noise)], dtype=object)
    return x, label


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, 'CREATE TABLE people (i int PRIMARY KEY, f int, "Spent %s" float8, plan text, o float8, c text)')
    for i, (row, label) in enumerate(zip(*table())):
        query(connection, "INSERT INTO people VALUES (%s, %s, %s, %s, %s, %s)", i, *row, str(label))
    query(connection, "SELECT hopper.training_preprocessor('people', 'people_packed', 'c', '*')")
    model = value(connection, "SELECT hopper.mlp('networks', 'people_packed', '{12}')")
    query(connection, f"SELECT hopper.fit('people_packed', '{MODEL}', 'networks', %s, 'loss=binary_crossentropy,"
          " optimizer=Adam(lr=0.02), metrics=[auc]', 'batch_size=32, epochs=1', 15)", model)
    yield connection
    connection.close()
    drop_database(DATABASE)


class Model(ClassifierMixin, BaseEstimator):
    """The model in the database for scikit-learn."""

    def __init__(self, connection):
        self.connection = connection

    def fit(self, x, y):
        self.classes_ = numpy.unique(y)
        return self

    def predict_proba(self, x):
        columns = [[row[column] for row in x.tolist()] for column in range(len(COLUMNS))]
        rows = query(self.connection, f"SELECT hopper.predict_outputs('{MODEL}', 1, 'error', NULL, NULL, a, b, c, d) FROM unnest(%s::int[],"
                     " %s::float8[], %s::text[], %s::float8[]) WITH ORDINALITY AS t(a, b, c, d, i) ORDER BY i", *columns)
        return numpy.array([row[0] for row in rows])

    def predict(self, x):
        return self.classes_[self.predict_proba(x).argmax(axis=1)]


@pytest.mark.parametrize("metric,scoring", [("auc", "roc_auc"), ("accuracy", "accuracy"), ("log_loss", "neg_log_loss")])
def test_importance_is_that_of_scikit_learn(database, metric, scoring):
    x, label = table()
    theirs = permutation_importance(Model(database).fit(x, label), x, label, scoring=scoring, n_repeats=REPEATS, random_state=7)
    rows = query(database, f"SELECT * FROM hopper.feature_importance('{MODEL}', 'people', metric => %s, repeats => %s)", metric, REPEATS)
    assert [row[1] for row in rows] == sorted((row[1] for row in rows), reverse=True)
    ours = {row[0]: row for row in rows}
    assert sorted(ours) == sorted(COLUMNS)
    for i, column in enumerate(COLUMNS):
        _, importance, deviation, low, high, name, _ = ours[column]
        # Both are means of as many exchanges, which are others.
        error = math.sqrt((deviation ** 2 + theirs.importances_std[i] ** 2) / REPEATS)
        assert abs(importance - theirs.importances_mean[i]) <= 5 * error + 1e-12, (column, importance, theirs.importances_mean[i])
        assert (high - importance) == pytest.approx(2.571 * deviation / math.sqrt(REPEATS)) == pytest.approx(importance - low)
        assert name == metric
    assert ours["f"][3] > 0
    if metric == "auc":
        expected = roc_auc_score(label == "yes", Model(database).fit(x, label).predict_proba(x)[:, 1])
        assert ours["f"][6] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("column,points", [("f", 20), ("plan", 5)])
def test_dependence_is_that_of_scikit_learn(database, column, points):
    x, label = table()
    at = COLUMNS.index(column)
    theirs = partial_dependence(Model(database).fit(x, label), x, [at], categorical_features=[at], method="brute",
                                response_method="predict_proba", kind="both", grid_resolution=points)
    means = dict(zip((str(each) for each in theirs["grid_values"][0]), theirs["average"][0]))
    single = dict(zip(means, theirs["individual"][0].T))
    rows = query(database, f"SELECT * FROM hopper.partial_dependence('{MODEL}', 'people', %s, points => %s, most_rows => 1000)",
                 column, points)
    assert sorted(row[0] for row in rows) == sorted(means)
    for given, prediction, low, high, n, explained in rows:
        assert prediction == pytest.approx(means[given], abs=1e-6)
        assert [low, high] == pytest.approx(list(numpy.percentile(single[given], [10, 90])), abs=1e-6)
        assert (n, explained) == (ROWS, "yes")
    if column == "f":
        assert [row[0] for row in rows] == sorted(means, key=int)


def test_a_row_is_explained_by_shapley_values(database):
    """All subsets of four columns, each against 20 rows."""
    query(database, "CREATE VIEW first_rows AS SELECT * FROM people WHERE i < 20")
    x, label = table()
    model = Model(database).fit(x, label)
    row, background = x[100], x[:20]
    n = len(COLUMNS)
    subsets = [set(chosen) for size in range(n + 1) for chosen in itertools.combinations(range(n), size)]
    mixed = numpy.array([[row[i] if i in chosen else other[i] for i in range(n)] for chosen in subsets for other in background],
                        dtype=object)
    means = model.predict_proba(mixed)[:, 1].reshape(len(subsets), -1).mean(axis=1)
    of = {frozenset(chosen): mean for chosen, mean in zip(subsets, means)}
    expected = [sum(math.factorial(len(chosen)) * math.factorial(n - len(chosen) - 1) / math.factorial(n)
                    * (of[frozenset(chosen | {i})] - of[frozenset(chosen)]) for chosen in subsets if i not in chosen)
                for i in range(n)]
    rows = query(database, f"SELECT * FROM hopper.explain_row('{MODEL}', (SELECT p FROM people p WHERE i = 100), 'first_rows',"
                 " samples => 1600)")
    ours = {each[0]: each for each in rows}
    for i, column in enumerate(COLUMNS):
        assert ours[column][2] == pytest.approx(expected[i], abs=0.02), (ours, expected)
        assert ours[column][1] == str(row[i])
    assert max(abs(each) for each in expected) > 0.1
    baseline, prediction, explained = ours["f"][3:]
    assert baseline == pytest.approx(of[frozenset()], abs=1e-6)
    assert prediction == pytest.approx(model.predict_proba(x[100:101])[0, 1], abs=1e-6)
    assert sum(each[2] for each in rows) == pytest.approx(prediction - baseline, abs=1e-9)
    assert explained == "yes"
    assert rows == query(database, f"SELECT * FROM hopper.explain_row('{MODEL}', (SELECT p FROM people p WHERE i = 100), 'first_rows',"
                         " samples => 1600)")
    other = query(database, f"SELECT sum(contribution), min(prediction) - min(baseline) FROM hopper.explain_row('{MODEL}',"
                  " (SELECT p FROM people p WHERE i = 100), 'first_rows', class_value => 'no')")[0]
    assert other[0] == pytest.approx(other[1], abs=1e-9) and other[0] * (prediction - baseline) < 0


def test_which_rows_are_taken_does_not_depend_on_their_order(database):
    query(database, "CREATE TABLE shuffled AS SELECT * FROM people ORDER BY md5(i::text)")
    seen = [query(database, f"SELECT * FROM hopper.feature_importance('{MODEL}', %s, most_rows => 50)", source)
            for source in ("people", "shuffled")]
    assert seen[0] == seen[1]


def test_equal_rows_are_taken_by_chance(database):
    """Rows of eight kinds, of each of which a thousand are there with either label: those that are taken are of all kinds."""
    query(database, "CREATE TABLE kinds AS SELECT i, i % 8 / 2 * 10 + 30 AS f, 20.0::float8 AS \"Spent %s\", (ARRAY['basic', 'gold'])[1 + i % 2] AS plan,"
                    " 0.0::float8 AS o, CASE WHEN (i % 8 > 3) <> (i % 9 = 0) THEN 'yes' ELSE 'no' END AS c FROM generate_series(0, 7999) i")
    query(database, "CREATE TABLE kinds_shuffled AS SELECT * FROM kinds ORDER BY md5(i::text)")
    predicted = f"SELECT avg(prob) FROM hopper.predict_rows('{MODEL}', NULL::kinds, pred_type => 'prob') WHERE class_value = 'yes'"
    explained = query(database, f"SELECT feature, baseline FROM hopper.explain_row('{MODEL}', (SELECT k FROM kinds AS k WHERE i = 3), 'kinds', samples => 800)")
    assert explained[0][1] == pytest.approx(value(database, predicted), abs=0.08)
    curve = query(database, f"SELECT feature_value, prediction FROM hopper.partial_dependence('{MODEL}', 'kinds', 'f', most_rows => 800)")
    assert [row[0] for row in curve] == ["30", "40", "50", "60"]
    everyone = query(database, f"SELECT feature_value, prediction FROM hopper.partial_dependence('{MODEL}', 'kinds', 'f', most_rows => 8000)")
    assert [row[1] for row in curve] == pytest.approx([row[1] for row in everyone], abs=0.05)
    important = f"SELECT feature, importance, low, high FROM hopper.feature_importance('{MODEL}', %s, metric => %s, most_rows => 800)"
    for metric in ("auc", "log_loss"):
        seen = query(database, important, "kinds", metric)
        among_all = {row[0]: row[1] for row in query(database, important.replace("800", "8000"), "kinds", metric)}
        assert all(row[1] == pytest.approx(among_all[row[0]], abs=0.25 * among_all["f"]) for row in seen)
        for setting in ("work_mem = '64kB'", "enable_hashjoin = off; SET enable_hashagg = off"):  # other orders of the same sums
            query(database, f"SET {setting}")
            assert query(database, important, "kinds_shuffled", metric) == seen
            query(database, "RESET work_mem; RESET enable_hashjoin; RESET enable_hashagg")


def test_an_explanation_has_all_digits(database):
    explain = ("SELECT string_agg(float8send(contribution), '' ORDER BY feature) FROM"
               f" hopper.explain_row('{MODEL}', (SELECT p FROM people AS p WHERE i = 1), 'people', samples => 20)")
    seen = bytes(value(database, explain))
    query(database, "SET extra_float_digits = -14")
    assert bytes(value(database, explain)) == seen
    query(database, "RESET extra_float_digits")


def test_more_columns_than_a_function_has_arguments(database):
    columns = ", ".join(f"hashtext(i || '/{c}') % 100 AS c{c}" for c in range(120))
    query(database, f"CREATE TABLE wide AS SELECT {columns}, hashtext(i || '/0') % 100 > 0 AS late FROM generate_series(1, 400) AS i")
    query(database, "SELECT hopper.training_preprocessor('wide', 'wide_packed', 'late', '*')")
    network = value(database, "SELECT hopper.mlp('wide_networks', 'wide_packed', '{16}')")
    query(database, "SELECT hopper.fit('wide_packed', 'wide_models', 'wide_networks', %s,"
                    " 'loss=binary_crossentropy, optimizer=Adam(lr=0.01), metrics=[accuracy]', 'batch_size=32', 20)", network)
    importance = query(database, "SELECT feature FROM hopper.feature_importance('wide_models', 'wide', most_rows => 60, repeats => 2)")
    assert len(importance) == 120 and importance[0] == ("c0",)
    rows = query(database, "SELECT feature, contribution, prediction - baseline FROM hopper.explain_row('wide_models',"
                           " (SELECT w FROM wide AS w LIMIT 1), 'wide', samples => 4)")
    assert len(rows) == 120 and sum(row[1] for row in rows) == pytest.approx(rows[0][2], abs=1e-9)
    assert len(query(database, "SELECT * FROM hopper.partial_dependence('wide_models', 'wide', 'c0', points => 3, most_rows => 20)")) == 3
