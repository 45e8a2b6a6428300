"""class_weight='balanced' is what scikit-learn computes from the same labels."""

import numpy
import pytest
from sklearn.utils.class_weight import compute_class_weight

from digits import connect, drop_database, query

DATABASE = "hopper_class_weight"


@pytest.fixture(scope="module")
def database():
    drop_database(DATABASE)
    server = connect("postgres")
    query(server, f"CREATE DATABASE {DATABASE}")
    server.close()
    connection = connect(DATABASE)
    query(connection, "CREATE EXTENSION model_hopper")
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.mark.parametrize("shares", [(0.5, 0.3, 0.2), (0.9, 0.08, 0.02), (0.6, 0.4)])
def test_balanced_is_that_of_scikit_learn(database, shares):
    labels = numpy.random.default_rng(len(shares)).choice(len(shares), 500, p=shares)
    query(database, "DROP TABLE IF EXISTS labelled")
    query(database, "CREATE TABLE labelled AS SELECT u.i AS id, u.y, (u.i % 7 / 7.0)::real AS a, (u.y + u.i % 3)::real AS b"
          f" FROM unnest(ARRAY{labels.tolist()}) WITH ORDINALITY AS u (y, i)")
    query(database, "SELECT hopper.training_preprocessor('labelled', 'packed', 'y', 'a, b', replace => true)")
    weights = compute_class_weight("balanced", classes=numpy.arange(len(shares)), y=labels)
    written = ", ".join(f"{i}: {weight!r}" for i, weight in enumerate(weights.tolist()))
    network = query(database, "SELECT hopper.mlp('networks', 'packed', 4)")[0][0]
    loss = "binary_crossentropy" if len(shares) == 2 else "categorical_crossentropy"
    for table, weight in (("balanced", "'balanced'"), ("by_hand", "{" + written + "}"), ("alike", "None")):
        query(database, f"SELECT hopper.fit('packed', '{table}', 'networks', {network}, $$loss='{loss}', optimizer='Adam'$$,"
              f" $$batch_size=32, class_weight={weight}$$, 2, replace => true)")
    assert query(database, "SELECT b.model_weights = w.model_weights, b.model_weights = a.model_weights"
                 " FROM balanced b, by_hand w, alike a") == [(True, False)]
    # what is kept has the user's words
    assert "'balanced'" in query(database, "SELECT fit_params FROM balanced_info")[0][0]
