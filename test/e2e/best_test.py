"""The best model that a training tells is the first of its leaderboard, which is a query over its tables."""

import pytest

from digits import create_database, drop_database, query, select

DATABASE = "hopper_best"
CROSSENTROPY = "loss='categorical_crossentropy', optimizer='SGD(lr={})', metrics={}"
BOTH = "['accuracy', 'top_k_categorical_accuracy']"
BEST = ("{}, callbacks=[EarlyStopping(monitor='loss', patience=1, min_delta=0.05, restore_best_weights=True)]")
# Some learn, two fail, and those that do not move are equal.
MIXED = [(1, 1, CROSSENTROPY.format(1e30, BOTH), "batch_size=64"),
         (2, 1, CROSSENTROPY.format(1e-30, BOTH), "batch_size=64"),
         (3, 1, CROSSENTROPY.format(0.1, BOTH), "batch_size=64"),
         (4, 2, CROSSENTROPY.format(0.1, BOTH), BEST.format("batch_size=32")),
         (5, 1, CROSSENTROPY.format(0.3, BOTH), BEST.format("batch_size=16")),
         (6, 1, CROSSENTROPY.format(1e30, BOTH), "batch_size=32"),
         (7, 2, CROSSENTROPY.format(0.05, BOTH), "batch_size=128")]
EQUAL = [(key, 1, CROSSENTROPY.format(1e-30, BOTH), "batch_size=64") for key in (4, 2, 9)]
# Only the loss is the same for both; then not even that, but where one of them fails.
BY_LOSS = [(1, 1, CROSSENTROPY.format(1e-30, "['accuracy']"), "batch_size=64"),
           (2, 1, CROSSENTROPY.format(0.1, "['mse']"), "batch_size=64")]
UNLIKE = [(1, 1, CROSSENTROPY.format(0.1, "['accuracy']"), "batch_size=64"),
          (2, 1, "loss='mse', optimizer='SGD(lr=0.1)', metrics=['mae']", "batch_size=64")]
ONE_LEFT = [(1, 1, CROSSENTROPY.format(1e30, "['accuracy']"), "batch_size=64"), UNLIKE[1]]
SELECTIONS = {"mixed": MIXED, "equal": EQUAL, "by_loss": BY_LOSS, "unlike": UNLIKE, "one_left": ONE_LEFT}


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    for name, rows in SELECTIONS.items():
        select(connection, name, rows)
    yield connection
    connection.close()
    drop_database(DATABASE)


def train(connection, selection, more):
    return query(connection, "SELECT best_mst_key, best_metric, best_value FROM hopper.fit_multiple_model('packed', 'made',"
                 f" '{selection}', 3, seed => 3, replace => true{more})")[0]


def first_of_leaderboard(connection):
    rows = query(connection, "SELECT mst_key, CASE WHEN validation_metric IS NULL THEN 'training ' ELSE 'validation ' END"
                 " || metric, coalesce(validation_metric, training_metric) FROM hopper.leaderboard('made', 1)")
    return rows[0] if len(rows) == 1 else (None, None, None)


@pytest.mark.parametrize("validation", ["", ", validation_table => 'packed_validation'"])
@pytest.mark.parametrize("rank_by", ["", "accuracy", "top_k_categorical_accuracy", "loss"])
def test_of_models_that_learn_and_fail(database, rank_by, validation):
    more = validation + (f", rank_by => '{rank_by}'" if rank_by else "")
    told = train(database, "mixed", more)
    assert told == first_of_leaderboard(database)
    assert told[0] in (3, 4, 5, 7)
    assert told[1] == f"{'validation' if validation else 'training'} {rank_by or 'accuracy'}"
    assert query(database, "SELECT best_mst_key, best_metric, best_value FROM made_summary") == [told]


@pytest.mark.parametrize("selection, key, metric", [("equal", 2, "accuracy"), ("by_loss", 2, "loss"),
                                                    ("unlike", None, None), ("one_left", 2, "mae")])
def test_of_what_they_have_in_common(database, selection, key, metric):
    told = train(database, selection, ", validation_table => 'packed_validation'")
    assert told[:2] == (key, metric and f"validation {metric}")
    assert told == first_of_leaderboard(database)
