"""Small data are copied to all segments: the same results, with few statements and no model that moves."""

import time

import pytest

from cluster import count_passes
from conftest import connect
from digits import dense, query, select, sequential, value
from plans import plans_with, watch_plans
from runs import CONFIGS, LOSS, curves, digests, fit, models, pack, working_tables
from search_test import call, found

TRAIN = "hopper_segment_train"


@pytest.fixture(scope="module")
def copied(packed):
    """A session whose data are copied, and PostgreSQL."""
    connection = connect("HOPPER_GREENPLUM", broadcast=True)
    yield connection, packed[1]
    connection.close()


def expect_alike(connections, table):
    for look in (digests, curves, models):
        assert look(connections[0], table) == look(connections[1], table)


@pytest.mark.parametrize("n", [1, 3, 8])
@pytest.mark.parametrize("data", ["packed_3", "packed_6", "packed_7"])
def test_the_same_bits(copied, data, n):
    table = f"copied_{data}_{n}"
    for connection in copied:
        fit(connection, data, table, f"configs_{n}")
    expect_alike(copied, table)
    assert working_tables(copied[0]) == []


@pytest.mark.parametrize("metrics", ["running", "every"])
def test_the_same_metrics(copied, metrics):
    table = f"copied_{metrics}"
    for connection in copied:
        fit(connection, "packed_7", table, "configs_3", 5,
            f", training_metrics := '{metrics}', metrics_compute_frequency := 2, validation_freq := 3")
    expect_alike(copied, table)


def test_early_stopping(copied):
    """Digests are those of models that move: validation data, which these states name, have other parts on PostgreSQL."""
    moving = connect("HOPPER_GREENPLUM")
    watched = ("batch_size=16, callbacks=[EarlyStopping(monitor='val_loss', patience=1, min_delta=0.05,"
               " restore_best_weights=True), ReduceLROnPlateau(monitor='val_loss', patience=1)]")
    found = []
    for connection, table in ((copied[0], "copied_stopped"), (copied[1], "copied_stopped"),
                              (moving, "moved_stopped")):
        select(connection, f"{table}_configs", [(key, model, text, watched) for key, model, text, _ in CONFIGS[:4]])
        fit(connection, "packed_6", table, f"{table}_configs", 30)
        found.append([query(connection, "SELECT mst_key, iterations, best_iteration, status"
                            f" FROM {table}_info ORDER BY 1"), curves(connection, table), models(connection, table)])
    assert found[0] == found[1] == found[2]
    assert digests(moving, "copied_stopped") == digests(moving, "moved_stopped")
    moving.close()
    assert min(iterations for _, iterations, _, _ in found[0][0]) < 30


def test_a_warm_start_and_one_that_fails(copied):
    bad = [CONFIGS[0], (2, 1, LOSS + "'SGD(lr=1e30)'", "batch_size=16"), CONFIGS[2]]
    for connection in copied:
        select(connection, "copied_bad", bad)
        fit(connection, "packed_6", "copied_warm", "copied_bad", 2)
        fit(connection, "packed_6", "copied_warm", "copied_bad", 2, ", warm_start := true")
    expect_alike(copied, "copied_warm")
    columns = "mst_key, status, error, iterations"
    assert query(copied[0], f"SELECT {columns} FROM copied_warm_info ORDER BY 1") == \
        query(copied[1], f"SELECT {columns} FROM copied_warm_info ORDER BY 1")


def passes(connection, run):
    return count_passes(connection, TRAIN, run)


def test_few_statements_train_many_iterations(copied):
    """Where hops would be 3 x 40 of them, and one more for each evaluation."""
    connection, _ = copied
    hits = passes(connection, lambda: fit(connection, "packed_3", "copied_long", "configs_3", 40))
    assert max(hits) < 20
    assert sum(value(connection, f"SELECT count(*) FROM hopper.run_timeline('copied_long')"
                     f" WHERE kind = 'training' AND mst_key = {key}") for key in (1, 2, 3)) == 3 * 40
    places = query(connection, "SELECT mst_key, count(DISTINCT segment) FROM hopper.run_timeline('copied_long')"
                   " GROUP BY 1 ORDER BY 1")
    assert places == [(1, 1), (2, 1), (3, 1)]
    assert value(connection, "SELECT count(DISTINCT segment) FROM hopper.run_timeline('copied_long')") == 3


def working_tables_filled(connection, run):
    """Of each statement that trains: whether it puts what comes of it into a table."""
    watch_plans(connection)
    run()
    return [any("MODIFYTABLE" in motion["below"] for motion in motions) for motions in plans_with(connection, "hopper.segment_visit")]


@pytest.mark.parametrize("drop_cache", [0, 1])
def test_small_models_go_through_a_table_only_where_they_go_on(copied, drop_cache):
    """After half a second, or where a segment has lost the data: bits and metrics are the same."""
    connection = connect("HOPPER_GREENPLUM", broadcast=True)
    query(connection, "SELECT hopper.version()")
    query(connection, f"SET hopper.debug_drop_cache = {drop_cache}")
    for iterations in (2, 400):
        table = f"copied_small_{drop_cache}_{iterations}"
        filled = working_tables_filled(connection, lambda: fit(connection, "packed_6", table, "configs_3", iterations, ", training_metrics := 'running'"))
        assert filled == [False] if iterations == 2 else len(filled) > 1 and filled == [False] + [True] * (len(filled) - 1)
        if not drop_cache:
            fit(copied[1], "packed_6", table, "configs_3", iterations, ", training_metrics := 'running'")
        for look in (digests, curves, models):
            assert look(connection, table) == look(copied[1], table.replace("small_1", "small_0"))
    assert working_tables(connection) == []
    connection.close()


def test_the_forecast_knows_that_models_stay(copied):
    """Each statement costs it some milliseconds: one or two, or three for each iteration."""
    connection, _ = copied
    hop = ("SELECT predicted FROM hopper.explain_fit('packed_3', NULL, 'configs_3', 4,"
           " training_metrics := 'running') WHERE item = 'hop' AND mst_key IS NULL")
    stays = value(connection, hop)
    query(connection, "SET hopper.broadcast_limit = 0")
    moves = value(connection, hop)
    query(connection, "RESET hopper.broadcast_limit")
    assert 0 < 2 * stays < moves


@pytest.fixture(scope="module")
def larger(copied):
    """Some 5 MB of real numbers."""
    connection, _ = copied
    query(connection, "CREATE TABLE copied_rows AS SELECT id * 12 + i AS id, label,"
          " (SELECT array_agg((p + i / 16.0)::real) FROM unnest(pixels) p) AS pixels"
          " FROM digits, generate_series(0, 11) i DISTRIBUTED BY (id)")
    pack(connection, "copied_larger", 6, "copied_rows")
    assert 4e6 < value(connection, "SELECT packed_bytes FROM copied_larger_summary") < 5e6
    flat = sequential(dense("hidden", 24, "relu"), dense("output", 10, "softmax"), shape=(64,))
    model = value(connection, "SELECT hopper.load_model('architectures', %s)", flat)
    select(connection, "copied_flat", [(key, model, text, batch) for key, _, text, batch in CONFIGS[:2]])
    return "copied_larger"


def segments_of_a_model(connection, table):
    """The most that one of them has trained on."""
    return value(connection, "SELECT max(n) FROM (SELECT count(DISTINCT segment) AS n FROM"
                 f" hopper.run_timeline('{table}') GROUP BY mst_key) m")


@pytest.mark.parametrize("setting, moves", [
    ("hopper.broadcast_limit = '4MB'", True), ("hopper.broadcast_limit = '8MB'", False),
    # Its share of the data fits on a segment, all of them do not.
    ("hopper.memory_limit = '5MB'", True)])
def test_larger_data_stay_where_they_lie(copied, larger, setting, moves):
    connection = connect("HOPPER_GREENPLUM", broadcast=True)
    query(connection, "SELECT hopper.version()")
    query(connection, f"SET {setting}")
    table = "copied_" + "".join(letter for letter in setting if letter.isalnum())
    watch_plans(connection)
    fit(connection, larger, table, "copied_flat", 1)
    # Above the function that loads them only answers move, to the coordinator.
    loading = [sum("AGG" in motion["above"] for motion in motions)
               for motions in plans_with(connection, "hopper.segment_data")]
    assert loading[-2:] == [0, 0] if moves else loading == [1]
    assert segments_of_a_model(connection, table) == (3 if moves else 1)
    assert not [notice for notice in connection.notices if "is read up to" in notice]
    connection.close()
    if not value(copied[0], "SELECT count(*) FROM pg_class WHERE relname = 'copied_expected'"):
        fit(copied[0], larger, "copied_expected", "copied_flat", 1)
    assert digests(copied[0], table) == digests(copied[0], "copied_expected")


def test_lost_data_are_copied_again(copied):
    connection = connect("HOPPER_GREENPLUM", broadcast=True)
    query(connection, "SELECT hopper.version()")
    query(connection, "SET hopper.debug_drop_cache = 1")
    fit(connection, "packed_6", "copied_dropped", "configs_5")
    connection.close()
    fit(copied[1], "packed_6", "copied_dropped", "configs_5")
    expect_alike(copied, "copied_dropped")


def test_a_search_and_its_steps(copied):
    """As where models move."""
    connection, _ = copied
    moving = connect("HOPPER_GREENPLUM")
    for one, table in ((connection, "copied_search"), (moving, "moved_search")):
        query(one, "SELECT best_mst_key FROM " + call("packed_7", table, "asha"))
    moving.close()
    run = value(connection, "SELECT hopper.create_run(%s)", "SELECT " + call("packed_7", "copied_steps", "asha"))
    while value(connection, "SELECT hopper.step(%s, 0)", run) == "running":
        pass
    assert found(connection, "copied_search") == found(connection, "moved_search") == found(connection, "copied_steps")
    assert value(connection, "SELECT max(n) FROM (SELECT count(DISTINCT segment) AS n FROM"
                 " hopper.run_timeline('copied_search') GROUP BY mst_key, iteration) m") == 1


def test_a_cancel_is_heeded_in_a_long_statement(copied):
    connection = connect("HOPPER_GREENPLUM", broadcast=True)
    query(connection, "SET statement_timeout = 2000")
    start = time.monotonic()
    with pytest.raises(Exception, match="statement timeout"):
        fit(connection, "packed_7", "copied_late", "configs_8", 1000000)
    assert time.monotonic() - start < 10
    query(connection, "SET statement_timeout = 0")
    fit(connection, "packed_7", "copied_late", "configs_2", 1)
    connection.close()
