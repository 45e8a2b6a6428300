"""A search is the same search on any number of segments, and the one of a server without any."""

import pytest

from cluster import count_passes
from conftest import connect
from digits import query, value
from runs import checksums, digests, models, pack, starts, working_tables

GRID = """{'loss': ['categorical_crossentropy'], 'metrics': [['accuracy']],
    'optimizer_params_list': [{'optimizer': ['Adam', 'SGD'], 'lr': [0.0003, 0.1, 'log']}]}"""
METHODS = {
    "grid": "num_iterations=1",
    "random": "num_configs=6, num_iterations=1",
    "sobol": "num_configs=6, num_iterations=1",
    "successive_halving": "num_configs=8, R=4, eta=2",
    "hyperband": "R=4, eta=2",
    "asha": "num_configs=8, R=4, eta=2",
    "median": "num_configs=8, num_iterations=3, min_trials=2",
    "tpe": "num_configs=6, num_iterations=2, num_startup=3",
    "bohb": "R=4, eta=2",
    "gp": "num_configs=6, num_iterations=1, num_startup=3",
    "pbt": "population=4, generations=3",
}
HALVING = ("successive_halving", "hyperband", "bohb")
# Others have what these have.
ON_ANY_NUMBER = ("hyperband", "asha", "pbt")


@pytest.fixture(scope="module")
def searched(greenplum, postgres):
    """Equal rows in the same order on 1, 2 and 3 segments, and on PostgreSQL."""
    pack(greenplum, "search_3", 7)
    first = ",".join(map(str, starts(greenplum, "search_3")))
    for segments in (1, 2):
        query(greenplum, f"CREATE TABLE search_rule_{segments} AS SELECT dbid FROM gp_segment_configuration"
              f" WHERE content BETWEEN 0 AND {segments - 1} DISTRIBUTED RANDOMLY")
        pack(greenplum, f"search_{segments}", 7, extra=f", distribution_rules := 'search_rule_{segments}',"
             f" starts := '{{{first}}}'")
        assert value(greenplum, f"SELECT count(DISTINCT gp_segment_id) FROM search_{segments}") == segments
    pack(postgres, "search_0", 7, extra=f", starts := '{{{first}}}'")
    # Of one an iteration costs eight times as much as of the other.
    for connection, table in ((greenplum, "search_3"), (postgres, "search_0")):
        for hidden in (64, 8):
            query(connection, "SELECT hopper.mlp(model_arch_table := 'search_unlike', packed_table :="
                              f" '{table}', hidden := ARRAY[{hidden}])")
    assert checksums(greenplum, "search_1") == checksums(greenplum, "search_2") == checksums(greenplum, "search_3") \
        == checksums(postgres, "search_0")
    return greenplum, postgres


def call(table, name, method, more="", architectures="architectures", keeps_best=True):
    grid = GRID.replace("[0.0003, 0.1, 'log']", "[0.001, 0.01]") if method == "grid" else GRID
    return (f"hopper.automl('{table}', '{name}', '{architectures}', '{name}_best', ARRAY[1, 2], $$ {grid} $$,"
            f" '{{''batch_size'': [32, 64], ''restore_best'': [{keeps_best}]}}', '{method}', '{METHODS[method]}', 7,"
            f" validation_table := '{table}_validation', objective := 'accuracy', parallel := 3{more})")


def search(connection, table, name, method, more="", architectures="architectures", keeps_best=True):
    """All that a search decides and finds; nothing that a clock has measured.

    States that have watched name the validation data, which are packed in as many parts as there are segments.
    """
    result = query(connection, "SELECT best_mst_key, best_metric, best_value, configurations, failed, iterations FROM "
                   + call(table, name, method, more, architectures, keeps_best))
    return [result] + found(connection, name, keeps_best)


def found(connection, name, keeps_best=True):
    return [query(connection, f"SELECT {columns} FROM {name}{suffix} ORDER BY 1, 2, 3") for columns, suffix in (
        ("mst_key, iterations, place, value, status, parent, parameters::text, model_id, objectives, constraints",
         "_trials"),
        ("mst_key, iterations, virtual_time, objectives, kept, error", "_rungs"),
        ("number, decision, mst_key, s, i, iterations, score, parent, reason, virtual_time", "_decisions"),
        ("mst_key, search_place, s, i, iterations, validation_metrics_final, training_loss_final", "_info"),
        ("mst_key, model_id, compile_params, fit_params", "_best"))] + [
        (models if keeps_best else digests)(connection, name),
        query(connection, f"SELECT rank, mst_key FROM hopper.leaderboard('{name}') ORDER BY 1")]


@pytest.mark.parametrize("method", list(METHODS))
def test_a_search_does_not_depend_on_segments(searched, method):
    greenplum, postgres = searched
    expected = search(postgres, "search_0", f"found_0_{method}", method, architectures="search_unlike")
    assert expected[0][0][3] >= 6
    assert {row[7] for row in expected[1]} == {1, 2}
    decided = {decision[1] for decision in expected[3]}
    assert "promoted" in decided or method not in (*HALVING, "asha")
    assert "stopped" in decided or method not in (*HALVING, "median", "pbt")
    assert "exploited" in decided or method != "pbt"
    for segments in (1, 2, 3) if method in ON_ANY_NUMBER else (2,):
        found = search(greenplum, f"search_{segments}", f"found_{segments}_{method}", method, architectures="search_unlike")
        for ours, theirs in zip(found, expected):
            assert ours == theirs, segments


@pytest.mark.parametrize("method", ON_ANY_NUMBER)
def test_nor_do_the_states_of_a_search(searched, method):
    """Legs of several lengths, results in any order, and a state that is copied."""
    found = [search(connection, table, f"states_{method}", method, keeps_best=False)
             for connection, table in zip(searched, ("search_2", "search_0"))]
    for ours, theirs in zip(*found):
        assert ours == theirs


def test_failures_and_small_spaces_are_those_of_postgres(searched):
    """Segments tell what came of a trial as the threads of a server do."""
    found = []
    for connection, table in zip(searched, ("search_3", "search_0")):
        query(connection, "SELECT hopper.automl(%s, 'failing', 'architectures', 'failing_best', ARRAY[1, 2], %s,"
                          " '{''batch_size'': [32]}', 'hyperband', 'R=4, eta=2, loops=3', 7)", table,
              GRID.replace("[0.0003, 0.1, 'log']", "[0.01, 1e30]").replace("'Adam', 'SGD'", "'SGD'"))
        found.append([query(connection, f"SELECT {columns} FROM failing_{table} ORDER BY 1") for columns, table in (
            ("mst_key, status, value, iterations", "trials"), ("number, decision, mst_key, iterations, reason", "decisions"))])
    for ours, theirs in zip(*found):
        assert ours == theirs
    (listed, decisions), _ = found
    assert sorted(status for _, status, _, _ in listed).count("failed") == 2 and len(listed) == 4
    assert {"failed", "reused", "exhausted"} <= {decision[1] for decision in decisions}


def test_a_trial_that_is_too_large_fails_alone(searched):
    greenplum, _ = searched
    query(greenplum, "SELECT hopper.mlp(model_arch_table := 'two_widths', packed_table := 'search_3', hidden := ARRAY[16])")
    query(greenplum, "SELECT hopper.mlp(model_arch_table := 'two_widths', packed_table := 'search_3', hidden := ARRAY[100000])")
    query(greenplum, "SET hopper.memory_limit = '60MB'")
    query(greenplum, "SELECT hopper.automl('search_3', 'too_large', 'two_widths', 'too_large_best', ARRAY[1, 2], %s,"
                     " '{''batch_size'': [32]}', 'grid', 'num_iterations=1')",
          GRID.replace("[0.0003, 0.1, 'log']", "[0.01]").replace("'Adam', 'SGD'", "'SGD'"))
    query(greenplum, "RESET hopper.memory_limit")
    assert query(greenplum, "SELECT model_id, status FROM too_large_trials ORDER BY 1") == [(1, "done"), (2, "failed")]


def test_the_best_of_a_search_is_the_best_on_segments(searched):
    """The constraint keeps the metric's best away."""
    both = [search(connection, table, "bounded", "tpe", ", constraints := 'loss >= 1.0', keep := 1")
            for connection, table in zip(searched, ("search_3", "search_0"))]
    assert both[0] == both[1]
    greenplum, _ = searched
    best = both[0][0][0][0]
    assert value(greenplum, "SELECT mst_key FROM hopper.leaderboard('bounded', 1, 'loss')") != best
    assert query(greenplum, "SELECT mst_key, has_weights FROM hopper.leaderboard('bounded', 2)")[0] == (best, True)
    assert query(greenplum, "SELECT mst_key FROM bounded") == [(best,)]
    assert value(greenplum, "SELECT best_mst_key FROM hopper.models() WHERE model_table = 'bounded'") == best
    assert value(greenplum, "SELECT mst_key FROM hopper.best_config('bounded')") == best
    assert value(greenplum, "SELECT hopper.keep_best('bounded')") == 0


def buffers(connection, table):
    """Of each segment."""
    return [n for n, in query(connection, f"SELECT count(*) FROM (SELECT gp_segment_id AS s FROM {table} UNION ALL"
                                          f" SELECT gp_segment_id FROM {table}_validation) b GROUP BY s ORDER BY s")]


def test_a_search_loads_the_data_once(on_segments, searched):
    """Each buffer comes to its segment once, however many trials enter after another."""
    def load():
        return count_passes(on_segments, "hopper_segment_load",
                            lambda: search(on_segments, "search_3", "search_loads", "hyperband"))
    assert load() == buffers(on_segments, "search_3")
    assert working_tables(on_segments) == []


def test_trials_enter_while_others_train(searched):
    """Between two iterations of one leg of another trial: in rounds all of them began together."""
    greenplum, _ = searched
    query(greenplum, "SELECT hopper.automl('search_3', 'entered', 'architectures', 'entered_best', ARRAY[1, 2], %s,"
                     " '{''batch_size'': [32]}', 'asha', 'num_configs=16, R=8, eta=2', 7, parallel := 4)", GRID)
    # With eta = 2 iterations 5 to 8 are one leg.
    assert value(greenplum, "SELECT count(*) FROM (SELECT mst_key, min(CASE iteration WHEN 5 THEN started END) AS fifth,"
                            " min(CASE iteration WHEN 8 THEN started END) AS eighth FROM hopper.run_timeline('entered')"
                            " GROUP BY mst_key) leg JOIN (SELECT mst_key, min(started) AS first FROM"
                            " hopper.run_timeline('entered') GROUP BY mst_key) entry"
                            " ON first > fifth AND first < eighth") > 0


def test_a_search_whose_segments_lose_their_data(searched):
    """They load them again, and the search is the same."""
    greenplum, postgres = searched
    expected = search(postgres, "search_0", "search_lost", "asha")
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SELECT hopper.version()")
    query(connection, "SET hopper.debug_drop_cache = 2")
    assert search(connection, "search_3", "search_lost", "asha") == expected
    connection.close()
    assert working_tables(greenplum) == []


def test_trials_that_do_not_fit_beside_the_data_enter_when_these_are_loaded_anew(searched):
    """Small networks stay below the limit with some 1.5 MB of data a segment; a wide one takes them in turns."""
    greenplum, postgres = searched
    found = []
    for connection in searched:
        query(connection, "CREATE TABLE search_rows AS SELECT id * 12 + i AS id, label, (SELECT array_agg((p + i / 16.0)::real)"
                          " FROM unnest(pixels) p) AS pixels FROM digits, generate_series(0, 11) i")
    pack(greenplum, "search_many", 96, "search_rows")
    first = ",".join(map(str, starts(greenplum, "search_many")))
    pack(postgres, "search_many", 96, "search_rows", f", starts := '{{{first}}}'")
    for connection in searched:
        for hidden in (8, 2400):
            query(connection, "SELECT hopper.mlp(model_arch_table := 'small_and_wide', packed_table := 'search_many',"
                              f" hidden := ARRAY[{hidden}])")

    def grow(connection):
        query(connection, "SELECT hopper.automl('search_many', 'search_grown', 'small_and_wide', 'search_grown_best', ARRAY[1, 2], %s,"
                          " '{''batch_size'': [32], ''restore_best'': [False]}', 'grid', 'num_iterations=2', 7, parallel := 2,"
                          " validation_table := 'search_many_validation')",
              GRID.replace("[0.0003, 0.1, 'log']", "[0.01, 0.02]").replace("'Adam', 'SGD'", "'Adam'"))
        found.append((query(connection, "SELECT mst_key, t.model_id, t.status, value, i.error FROM search_grown_trials t"
                                        " JOIN search_grown_info i USING (mst_key) ORDER BY 1"),
                      digests(connection, "search_grown")))
    query(greenplum, "SET hopper.memory_limit = '6MB'")
    loads = count_passes(greenplum, "hopper_segment_load", lambda: grow(greenplum))
    query(greenplum, "RESET hopper.memory_limit")
    grow(postgres)
    assert found[0] == found[1]
    assert [status for _, _, status, *_ in found[0][0]] == ["done"] * 4
    assert loads == [2 * n for n in buffers(greenplum, "search_many")]


def test_a_stopped_trial_leaves_its_weights_alone(searched):
    """Its state goes when it is stopped; on segments as on one server."""
    for connection, table in zip(searched, ("search_3", "search_0")):
        search(connection, table, "search_stopped", "hyperband")
        states = {key for key, in query(connection, "SELECT DISTINCT mst_key FROM search_stopped_state")}
        gone = {key for key, in query(connection, "SELECT mst_key FROM search_stopped_decisions WHERE decision = 'stopped'")}
        assert gone and not gone & states
        assert gone <= {key for key, in query(connection, "SELECT mst_key FROM search_stopped")}


def test_more_models_than_a_segment_has_connections_for(searched):
    """Each part of one query over all of their tables would have a connection of its own."""
    greenplum, _ = searched
    before = value(greenplum, "SELECT count(*) FROM hopper.models()")
    query(greenplum, """DO $$ BEGIN
        FOR i IN 1..80 LOOP
            EXECUTE 'CREATE TABLE many_' || i || ' (mst_key int, model_weights bytea, model_arch json)'
                ' DISTRIBUTED BY (mst_key)';
            EXECUTE 'CREATE TABLE many_' || i || '_summary (LIKE bounded_summary) DISTRIBUTED RANDOMLY';
            EXECUTE 'INSERT INTO many_' || i || '_summary SELECT * FROM bounded_summary';
        END LOOP; END $$""")
    assert value(greenplum, "SELECT count(*) FROM hopper.models()") == before + 80
    query(greenplum, """DO $$ BEGIN
        FOR i IN 1..80 LOOP EXECUTE 'DROP TABLE many_' || i || ', many_' || i || '_summary'; END LOOP; END $$""")
