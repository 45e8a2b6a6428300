"""A model's bits depend on data, seed, configuration and key, and on nothing else."""

import json

import pytest

from digits import (ADAM, PLAIN, connect, create_database, dense, drop_database, layer, query,
                    select, sequential, value)

DATABASE = "hopper_same_bits"
OPTIMIZERS = ["SGD(lr=0.05)", "SGD(lr=0.05, momentum=0.9, nesterov=True)", "RMSprop(lr=0.003)",
              "Adam(lr=0.01, decay=0.01)"]
CONFIGS = [(key + 1, model, f"loss='categorical_crossentropy', optimizer='{optimizer}',"
            " metrics=['accuracy']", f"batch_size={batch}")
           for key, (optimizer, model, batch) in enumerate(
               (optimizer, model, batch) for optimizer in OPTIMIZERS for model in (1, 2)
               for batch in (32, 50))]


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    select(connection, "configs", CONFIGS)
    query(connection, "SELECT * FROM hopper.fit_multiple_model('packed', 'whole', 'configs', 4,"
          " validation_table => 'packed_validation', threads => 2, seed => 7)")
    yield connection
    connection.close()
    drop_database(DATABASE)


def digests(connection, table):
    return dict(query(connection, f"SELECT mst_key, state_digest FROM {table}_info"))


def curves(connection, table):
    return query(connection, f"SELECT mst_key, iteration, split, metric, value"
                 f" FROM hopper.learning_curves('{table}') ORDER BY 1, 2, 3, 4")


def test_configurations_differ(database):
    found = digests(database, "whole")
    assert len(found) == 16 and None not in found.values()
    assert len(set(found.values())) == 16


@pytest.mark.parametrize("threads", [1, 5])
def test_threads_do_not_matter(database, threads):
    table = f"with_{threads}"
    query(database, f"SELECT * FROM hopper.fit_multiple_model('packed', '{table}', 'configs', 4,"
          f" validation_table => 'packed_validation', threads => {threads}, seed => 7)")
    assert digests(database, table) == digests(database, "whole")
    assert curves(database, table) == curves(database, "whole")


def test_the_seed_matters(database):
    query(database, "SELECT * FROM hopper.fit_multiple_model('packed', 'other_seed', 'configs', 4,"
          " seed => 8)")
    other, same = digests(database, "other_seed"), digests(database, "whole")
    assert all(other[key] != same[key] for key in same)


@pytest.mark.parametrize("key", [2, 7, 15])
def test_other_configurations_do_not_matter(database, key):
    select(database, f"alone_{key}", [CONFIGS[key - 1]])
    query(database, f"SELECT * FROM hopper.fit_multiple_model('packed', 'only_{key}',"
          f" 'alone_{key}', 4, threads => 2, seed => 7)")
    assert digests(database, f"only_{key}") == {key: digests(database, "whole")[key]}


def test_a_warm_start_goes_on_where_the_run_stopped(database):
    for iterations, warm in ((1, "false"), (2, "true"), (1, "true")):
        query(database, "SELECT * FROM hopper.fit_multiple_model('packed', 'stepwise', 'configs',"
              f" {iterations}, validation_table => 'packed_validation', threads => 2, seed => 7,"
              f" warm_start => {warm}, training_metrics => 'every')")
    assert digests(database, "stepwise") == digests(database, "whole")
    query(database, "SELECT * FROM hopper.fit_multiple_model('packed', 'in_one_go', 'configs', 4,"
          " validation_table => 'packed_validation', seed => 7, training_metrics => 'every')")
    assert curves(database, "stepwise") == curves(database, "in_one_go")
    elapsed = value(database, "SELECT metrics_elapsed_time FROM stepwise_info WHERE mst_key = 1")
    assert elapsed == sorted(elapsed) and len(elapsed) == 4


def test_threads_that_share_a_model_in_bf16_change_no_weight(database):
    wide = sequential(layer("Flatten", "flatten"), dense("hidden", 512, "relu"),
                      layer("BatchNormalization", "norm"), dense("output", 10, "softmax"))
    model = value(database, "SELECT hopper.load_model('architectures', %s)", wide)
    for members in (1, 2, 3):
        query(database, f"SELECT * FROM hopper.fit('packed', 'members_{members}', 'architectures',"
              f" %s, %s, 'batch_size=128', 3, threads => {members},"
              f" threads_per_model => {members}, dtype => 'bf16')", model, ADAM)
    for members in (2, 3):
        assert value(database, "SELECT a.model_weights = b.model_weights FROM members_1 a"
                     f" CROSS JOIN members_{members} b") is True
        assert digests(database, f"members_{members}") != digests(database, "members_1")


def test_fit_equals_fit_multiple_model(database):
    query(database, "SELECT * FROM hopper.fit('packed', 'single', 'architectures', %s, %s, %s, 4,"
          " seed => 7)", *CONFIGS[0][1:])
    assert digests(database, "single") == {1: digests(database, "whole")[1]}


def test_the_engine_takes_keys_as_they_come_and_go(database):
    select(database, "these", [CONFIGS[0], CONFIGS[2]])
    select(database, "others", [CONFIGS[2], CONFIGS[5]])
    query(database, "SELECT * FROM hopper.fit_multiple_model('packed', 'changing', 'these', 2,"
          " seed => 7)")
    query(database, "GRANT SELECT ON changing TO public")
    query(database, "SELECT * FROM hopper.fit_multiple_model('packed', 'changing', 'others', 2,"
          " seed => 7, warm_start => true)")
    assert query(database, "SELECT mst_key, iterations, metrics_iters FROM changing_info"
                 " ORDER BY 1") == [(3, 4, [1, 2, 3, 4]), (6, 2, [1, 2])]
    assert query(database, "SELECT mst_key FROM changing ORDER BY 1") == [(3,), (6,)]
    assert query(database, "SELECT DISTINCT mst_key FROM changing_state ORDER BY 1") == [(3,), (6,)]
    assert digests(database, "changing")[3] == digests(database, "whole")[3]
    assert value(database, "SELECT relacl::text LIKE '%%=r/%%' FROM pg_class"
                 " WHERE oid = 'changing'::regclass") is True


def test_evaluate_equals_the_info_table(database):
    for key in (1, 8, 16):
        found = query(database, "SELECT loss, metric, metrics_type, loss_type FROM"
                      " hopper.evaluate('whole', 'packed_validation', mst_key => %s)", key)
        assert found == query(
            database, "SELECT validation_loss_final, validation_metrics_final, metrics_type,"
            " loss_type FROM whole_info WHERE mst_key = %s", key)
        found = query(database, "SELECT loss, metric FROM"
                      " hopper.evaluate('whole', 'packed', mst_key => %s)", key)
        assert found == query(database, "SELECT training_loss_final, training_metrics_final"
                              " FROM whole_info WHERE mst_key = %s", key)


def frozen(model):
    model = json.loads(model)
    for one in model["config"]["layers"]:
        one["config"]["trainable"] = False
    return json.dumps(model)


def test_frozen_layers_keep_what_was_learnt(database):
    """A network that is frozen altogether ends where the run it came from ended."""
    weights = value(database, "SELECT model_weights FROM whole WHERE mst_key = 5")
    model = value(database, "SELECT hopper.load_model('architectures', %s, %s)", frozen(PLAIN),
                  bytes(weights))
    query(database, "SELECT * FROM hopper.fit('packed', 'transferred', 'architectures', %s, %s,"
          " 'batch_size=32', 2, validation_table => 'packed_validation')", model, ADAM)
    learnt = query(database, "SELECT training_loss_final, validation_loss_final,"
                   " validation_metrics_final FROM whole_info WHERE mst_key = 5")
    last = "SELECT training_loss_final, validation_loss_final, validation_metrics_final FROM {}_info"
    assert query(database, last.format("transferred")) == learnt
    query(database, "SELECT * FROM hopper.fit('packed', 'transferred', 'architectures', %s, %s,"
          " 'batch_size=32', 2, validation_table => 'packed_validation', warm_start => true)",
          model, ADAM)
    assert query(database, last.format("transferred")) == learnt
    assert bytes(value(database, "SELECT model_weights FROM transferred")) == bytes(weights)
    # and thawed it learns on from there
    thawed = value(database, "SELECT hopper.load_model('architectures', %s, %s)", PLAIN,
                   bytes(weights))
    query(database, "SELECT * FROM hopper.fit('packed', 'thawed', 'architectures', %s, %s,"
          " 'batch_size=32', 2)", thawed, ADAM)
    first = value(database, "SELECT training_loss[1] FROM thawed_info")
    fresh = value(database, "SELECT training_loss[1] FROM whole_info WHERE mst_key = 5")
    assert first < 0.8 * fresh


def test_a_large_state_comes_back_in_parts(database):
    wide = sequential(layer("Flatten", "flatten"), dense("wide", 80000, "relu"),
                      dense("output", 10, "softmax"))
    query(database, "CREATE VIEW few AS SELECT * FROM digits WHERE id <= 60")
    query(database, "SELECT hopper.training_preprocessor('few', 'few_packed', 'label', 'pixels',"
          " normalizing_const => 16)")
    model = value(database, "SELECT hopper.load_model('architectures', %s)", wide)
    fit = ("SELECT * FROM hopper.fit('few_packed', '{}', 'architectures', %s, %s, 'batch_size=30',"
           " {}, warm_start => {})")
    query(database, fit.format("wide_at_once", 2, "false"), model, ADAM)
    query(database, fit.format("wide_in_two", 1, "false"), model, ADAM)
    parts = query(database, "SELECT part, octet_length(state) FROM wide_in_two_state ORDER BY part")
    assert len(parts) > 1
    assert [part for part, _ in parts] == list(range(len(parts)))
    assert sum(size for _, size in parts) > 3 * 4 * 80000 * (64 + 10)
    query(database, fit.format("wide_in_two", 1, "true"), model, ADAM)
    assert digests(database, "wide_in_two") == digests(database, "wide_at_once")
    query(database, "DROP TABLE wide_at_once, wide_in_two, wide_at_once_state, wide_in_two_state")


def test_both_drivers_see_the_same(database):
    import psycopg
    connection = connect(DATABASE, psycopg)
    row = query(connection, "SELECT (f).best_mst_key, (f).models_trained FROM (SELECT"
                " hopper.fit_multiple_model('packed', 'other_driver', 'configs', 4,"
                " validation_table => 'packed_validation', seed => 7) f) s")
    connection.close()
    assert row == query(database, "SELECT best_mst_key, models_trained FROM whole_summary")
    assert digests(database, "other_driver") == digests(database, "whole")
