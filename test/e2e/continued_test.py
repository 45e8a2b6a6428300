"""What a warm start takes over from the run before, and what it must not compare with it."""

import pytest

from digits import ADAM, connect, create_database, drop_database, query, select, value

DATABASE = "hopper_continued"
CROSSENTROPY = "loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']"
SQUARES = "loss='mse', optimizer='SGD(lr=0.1)', metrics=['accuracy']"
# Nothing is ever better by so much.
STOPS = "batch_size=64, patience=1, min_delta=1000, restore_best=True"


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.fixture
def session(database):
    connection = connect(DATABASE)
    query(connection, "SET client_min_messages = notice")
    yield connection
    for table, in query(connection, "SELECT c.relname FROM pg_class c WHERE c.relname LIKE 'made%' AND relkind = 'r'"):
        query(connection, f'DROP TABLE IF EXISTS "{table}"')
    connection.close()


def train(session, iterations, compile_params=ADAM, fit_params="batch_size=64", packed="packed", **arguments):
    """What was said."""
    arguments = {"validation_table": "'packed_validation'", **arguments}
    given = "".join(f", {name} => {text}" for name, text in arguments.items() if text is not None)
    del session.notices[:]
    query(session, f"SELECT * FROM hopper.fit('{packed}', 'made', 'architectures', 1, $c${compile_params}$c$,"
          f" $f${fit_params}$f$, {iterations}{given})")
    return "".join(session.notices)


def info(session, columns, key=1):
    rows = query(session, f"SELECT {columns} FROM made_info WHERE mst_key = {key}")
    assert len(rows) == 1
    return rows[0]


def stops_after(session):
    return info(session, "status, iterations, best_iteration")


def test_early_stopping_goes_on_over_calls(session):
    train(session, 1, fit_params=STOPS)
    train(session, 8, fit_params=STOPS, warm_start="true")
    assert stops_after(session) == ("stopped", 2, 1)
    # A model that has stopped stays stopped.
    train(session, 8, fit_params=STOPS, warm_start="true")
    assert stops_after(session) == ("stopped", 2, 1)


def test_early_stopping_counts_anew_on_other_data(session):
    query(session, "CREATE TABLE made_rows AS SELECT * FROM digits WHERE id % 2 = 0")
    pack_of = ("SELECT hopper.training_preprocessor('made_rows', 'made_packed', 'label', 'pixels',"
               " normalizing_const => 16, validation_fraction => 0.2, replace => {})")
    query(session, pack_of.format("false"))
    of = {"packed": "made_packed", "fit_params": STOPS, "validation_table": "'made_packed_validation'"}
    train(session, 8, **of)
    assert stops_after(session) == ("stopped", 2, 1)
    query(session, "INSERT INTO made_rows SELECT * FROM digits WHERE id % 2 = 1")
    query(session, pack_of.format("true"))
    train(session, 8, warm_start="true", **of)
    assert stops_after(session) == ("stopped", 4, 3)
    # What is known of the model is of these rows.
    loss, = info(session, "validation_loss_final")
    assert value(session, "SELECT loss FROM hopper.evaluate('made', 'made_packed_validation')") == loss


@pytest.mark.parametrize("other", [SQUARES, CROSSENTROPY.replace("categorical_crossentropy",
                                                                 "CategoricalCrossentropy(label_smoothing=0.2)")])
def test_another_loss_is_not_compared_with_the_one_before(session, other):
    train(session, 8, CROSSENTROPY, STOPS)
    assert stops_after(session) == ("stopped", 2, 1)
    said = train(session, 8, other, STOPS, warm_start="true")
    assert "WARNING:  configuration 1 changed its loss\n" in said
    assert stops_after(session) == ("stopped", 4, 3)
    losses, accuracies = info(session, "validation_loss, validation_metrics")
    assert [loss is None for loss in losses] == [True, True, False, False]
    assert None not in accuracies


def test_the_same_loss_in_other_words_is_the_same(session):
    train(session, 2, CROSSENTROPY)
    said = train(session, 2, CROSSENTROPY.replace("categorical_crossentropy", "CategoricalCrossentropy()"), warm_start="true")
    assert "changed its loss" not in said
    assert None not in info(session, "validation_loss")[0]


def test_seed_name_and_ranking_stay(session):
    metrics = ADAM.replace("['accuracy']", "['accuracy', 'mae']")
    select(session, "made_configs", [(1, 2, metrics, "batch_size=64"), (2, 2, metrics, "batch_size=32")])
    fit = ("SELECT best_metric FROM hopper.fit_multiple_model('packed', 'made', 'made_configs', {}{})")
    of = ", seed => 5, name => 'digits', description => 'of two', rank_by => 'mae'"
    assert value(session, fit.format(4, of)) == "training mae"
    whole = query(session, "SELECT state_digest FROM made_info ORDER BY mst_key")
    query(session, "SELECT hopper.drop_model('made')")
    query(session, fit.format(2, of))
    assert value(session, fit.format(2, ", warm_start => true")) == "training mae"
    assert query(session, "SELECT state_digest FROM made_info ORDER BY mst_key") == whole
    assert query(session, "SELECT seed, name, description FROM made_summary") == [(5, "digits", "of two")]
    query(session, fit.format(1, ", warm_start => true, seed => 6, name => 'new'"))
    assert query(session, "SELECT seed, name, description FROM made_summary") == [(6, "new", "of two")]


def test_what_ranks_all_is_known_before_training(session):
    select(session, "made_configs", [(1, 1, CROSSENTROPY, "batch_size=64"), (2, 1, SQUARES, "batch_size=64")])
    fit = "SELECT best_metric FROM hopper.fit_multiple_model('packed', 'made', 'made_configs', 1{})"
    assert value(session, fit.format("")) == "training accuracy"
    query(session, "UPDATE made_configs SET compile_params = replace(compile_params, '[', '[''mae'', ') WHERE mst_key = 2")
    assert value(session, fit.format(", warm_start => true, mst_keys => 2")) == "training accuracy"
    assert query(session, "SELECT iterations FROM made_info ORDER BY mst_key") == [(1,), (2,)]
    # Nothing in common any more: said before, and nothing is lost.
    query(session, "UPDATE made_configs SET compile_params = replace(compile_params, '''accuracy''', '''mse''') WHERE mst_key = 2")
    del session.notices[:]
    assert value(session, fit.format(", warm_start => true, mst_keys => 2")) is None
    assert "have neither a metric nor a loss in common" in session.notices[0]
    assert query(session, "SELECT iterations FROM made_info ORDER BY mst_key") == [(1,), (3,)]


def test_models_that_go_are_told(session):
    select(session, "made_configs", [(1, 1, ADAM, "batch_size=64"), (2, 1, ADAM, "batch_size=32")])
    fit = "SELECT * FROM hopper.fit_multiple_model('packed', 'made', 'made_configs', 1{})"
    query(session, fit.format(""))
    query(session, "DELETE FROM made_configs WHERE mst_key = 1")
    del session.notices[:]
    query(session, fit.format(", warm_start => true"))
    assert session.notices[0].startswith('NOTICE:  1 model of "made" that this call does not train will be dropped\n')
    assert query(session, "SELECT mst_key FROM made_info") == [(2,)]


def test_results_of_a_search_on_other_data_are_told(session):
    grid = ("{'loss': ['categorical_crossentropy'], 'optimizer_params_list': [{'optimizer': ['SGD'],"
            " 'lr': [0.01, 0.1]}]}")
    search = ("SELECT * FROM hopper.automl('{}', '{}', 'architectures', '{}_configs', 1, $g$" + grid.replace("{", "{{").replace("}", "}}")
              + "$g$, $g${{'batch_size': [64]}}$g$, 'random', 'num_configs=1, num_iterations=1'{})")
    query(session, search.format("packed", "made", "made", ""))
    del session.notices[:]
    query(session, search.format("packed", "made_again", "made_again", ", from_run => 'made'"))
    assert "measured its configurations on other data" not in "".join(session.notices)
    query(session, "CREATE TABLE made_rows AS SELECT * FROM digits WHERE id % 2 = 0")
    query(session, "SELECT hopper.training_preprocessor('made_rows', 'made_packed', 'label', 'pixels', normalizing_const => 16)")
    del session.notices[:]
    query(session, search.format("made_packed", "made_third", "made_third", ", from_run => 'made'"))
    assert 'WARNING:  search "made" measured its configurations on other data\n' in "".join(session.notices)
