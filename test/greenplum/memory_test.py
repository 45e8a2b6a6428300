"""Data above the memory of the segments, and memory that is given back."""

import pathlib
import threading
import time

import psycopg2
import pytest

from conftest import connect
from digits import dense, query, select, sequential, value
from runs import CONFIGS, LOSS, curves, digests, fit, pack, starts, working_tables
from cluster import count_passes, segment_processes

TABLE = "packed_48"
TURNS = "data and models of a segment exceed hopper.memory_limit, each partition is read up to"


@pytest.fixture(scope="module")
def above(packed):
    """Some 5 MB of digits, as real numbers, in many partitions on both servers."""
    greenplum, postgres = packed
    for connection in packed:
        query(connection, "CREATE TABLE many_digits AS SELECT id * 12 + i AS id, label,"
              " (SELECT array_agg((p + i / 16.0)::real) FROM unnest(pixels) p) AS pixels"
              " FROM digits, generate_series(0, 11) i")
    pack(greenplum, TABLE, 48, "many_digits")
    first = ",".join(map(str, starts(greenplum, TABLE)))
    pack(postgres, TABLE, 48, "many_digits", f", starts := '{{{first}}}'")
    flat = sequential(dense("hidden", 24, "relu"), dense("output", 10, "softmax"), shape=(64,))
    for connection in packed:
        query(connection, "SELECT hopper.load_model('architectures', %s)", flat)
        model = value(connection, "SELECT max(model_id) FROM architectures")
        for n in (1, 3, 8):
            select(connection, f"flat_{n}", [(key, model, text, fit_params)
                                             for key, _, text, fit_params in CONFIGS[:n]])
    return packed


def in_turns(output, configs, more="", setting=None, iterations=2):
    """A run with 1 MB a segment; its notices."""
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SELECT hopper.version()")
    query(connection, "SET hopper.memory_limit = 1")
    if setting:
        query(connection, setting)
    fit(connection, TABLE, output, configs, iterations, ", threads := 1" + more)
    notices = list(connection.notices)
    connection.close()
    return notices


@pytest.mark.parametrize("metrics", ["running", "final", "every"])
@pytest.mark.parametrize("n", [1, 3, 8])
def test_the_same_bits_from_data_above_memory(above, n, metrics):
    greenplum, postgres = above
    output = f"turns_{n}_{metrics}"
    more = f", training_metrics := '{metrics}'"
    notices = in_turns(output, f"flat_{n}", more)
    assert len([notice for notice in notices if TURNS in notice]) == 1
    fit(postgres, TABLE, output, f"flat_{n}", 2, more)
    assert digests(greenplum, output) == digests(postgres, output)
    assert curves(greenplum, output) == curves(postgres, output)
    assert working_tables(greenplum) == []


def test_lost_data_are_read_in_turns_again(above):
    greenplum, postgres = above
    in_turns("turns_dropped", "flat_3", setting="SET hopper.debug_drop_cache = 2")
    fit(postgres, TABLE, "turns_dropped", "flat_3", 2)
    assert digests(greenplum, "turns_dropped") == digests(postgres, "turns_dropped")


def test_a_warm_start_with_data_above_memory(above):
    greenplum, postgres = above
    in_turns("turns_warm", "flat_3", iterations=1)
    in_turns("turns_warm", "flat_3", ", warm_start := true", iterations=1)
    fit(postgres, TABLE, "turns_warm", "flat_3", 2)
    assert digests(greenplum, "turns_warm") == digests(postgres, "turns_warm")


def test_a_cancelled_run_leaves_a_session_that_works(above):
    greenplum, _ = above
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SELECT hopper.version()")
    query(connection, "SET hopper.memory_limit = 1")
    timer = threading.Timer(3, query, (greenplum, "SELECT pg_cancel_backend(%s)",
                                       value(connection, "SELECT pg_backend_pid()")))
    timer.start()
    started = time.monotonic()
    with pytest.raises(psycopg2.Error) as error:
        fit(connection, TABLE, "turns_cancelled", "flat_8", 100000)
    timer.join()
    assert error.value.pgcode == "57014"
    assert time.monotonic() - started < 30
    fit(connection, TABLE, "turns_after", "flat_3", 2, ", threads := 1")
    connection.close()
    fit(greenplum, TABLE, "turns_plenty", "flat_3", 2)
    assert digests(greenplum, "turns_after") == digests(greenplum, "turns_plenty")


def test_a_damaged_partition_is_found_while_models_train(above):
    greenplum, _ = above
    pack(greenplum, "turns_holed", 48, "many_digits")
    query(greenplum, "DELETE FROM turns_holed WHERE buffer_id ="
          " (SELECT max(buffer_id) FROM turns_holed WHERE partition_id = 5)")
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SELECT hopper.version()")
    query(connection, "SET hopper.memory_limit = 1")
    with pytest.raises(psycopg2.Error) as error:
        fit(connection, "turns_holed", "turns_holed_out", "flat_3", 2, ", threads := 1")
    assert error.value.pgcode == "XX001"
    assert "partition 5 of" in str(error.value)
    assert "on segment" in error.value.diag.context
    connection.close()


def evaluated(connection, model, table):
    return query(connection, "SELECT loss, metrics_type, metrics FROM hopper.evaluate"
                 f"('{model}', '{table}', mst_key := 3)")


def test_evaluation_of_data_above_memory(above):
    """Some 1.4 MB on each segment, with 1 MB for them and the model."""
    for connection in above:
        fit(connection, TABLE, "turns_evaluated", "flat_3", 1)
    greenplum, postgres = above
    expected = evaluated(postgres, "turns_evaluated", TABLE)
    assert len(expected[0][2]) == 1
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SELECT hopper.version()")
    query(connection, "SET hopper.memory_limit = 1")
    for threads in (1, 3):
        query(connection, f"SET hopper.threads = {threads}")
        assert evaluated(connection, "turns_evaluated", TABLE) == expected
    connection.close()
    assert evaluated(greenplum, "turns_evaluated", TABLE) == expected


def test_a_partition_that_lacks_rows_is_found_in_turns(above):
    greenplum, _ = above
    pack(greenplum, "turns_lacking", 48, "many_digits")
    fit(greenplum, TABLE, "turns_lacking_model", "flat_3", 1)
    for partition in (20, 47):
        query(greenplum, f"DELETE FROM turns_lacking WHERE partition_id = {partition}")
        connection = connect("HOPPER_GREENPLUM")
        query(connection, "SELECT hopper.version()")
        query(connection, "SET hopper.memory_limit = 1")
        with pytest.raises(psycopg2.Error) as error:
            evaluated(connection, "turns_lacking_model", "turns_lacking")
        assert error.value.pgcode in ("XX001", "55000")
        assert "20" in str(error.value) or "47" in str(error.value)
        connection.close()


def test_temporary_files_are_counted_before(above):
    """Eight models of 4.8 MB and more, which a hop sorts in 4 MB."""
    greenplum, _ = above
    wide = sequential(dense("hidden", 16000, "relu"), dense("output", 10, "softmax"), shape=(64,))
    query(greenplum, "SELECT hopper.load_model('architectures', %s)", wide)
    model = value(greenplum, "SELECT max(model_id) FROM architectures")
    select(greenplum, "wide_8", [(key, model, text, fit_params) for key, _, text, fit_params in CONFIGS[:8]])
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SET statement_mem = '4MB'; SET temp_file_limit = '1MB'")
    with pytest.raises(psycopg2.Error) as error:
        fit(connection, TABLE, "wide_out", "wide_8", 2)
    assert str(error.value).startswith("moving models between segments needs more temporary files"), error.value
    assert error.value.pgcode == "53400"
    assert "before its first iteration" in error.value.diag.context
    connection.close()


@pytest.fixture(scope="module")
def bulky(above):
    """Eight models of 1.2 MB to 3.6 MB, and a ninth that is too large by itself."""
    for connection in above:
        models = []
        for units in (4000, 400000):
            query(connection, "SELECT hopper.load_model('architectures', %s)", sequential(
                dense("hidden", units, "relu"), dense("output", 10, "softmax"), shape=(64,)))
            models.append(value(connection, "SELECT max(model_id) FROM architectures"))
        rows = [(key, models[0], text, fit_params) for key, _, text, fit_params in CONFIGS]
        select(connection, "bulky_8", rows)
        select(connection, "bulky_9", rows + [(9, models[1], CONFIGS[0][2], CONFIGS[0][3])])
    return above


def within(limit, configs, output, setting=""):
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SELECT hopper.version()")
    query(connection, f"SET hopper.memory_limit = {limit}; SET statement_mem = '120MB'; {setting}")
    try:
        fit(connection, TABLE, output, configs, 2, ", threads := 2")
        return "".join(connection.notices)
    finally:
        connection.close()


def test_models_that_do_not_fit_together_wait(bulky):
    """Some 10 MB of models meet on a segment."""
    greenplum, postgres = bulky
    fit(postgres, TABLE, "bulky_together", "bulky_8", 2)
    for limit in (40, 16):
        notices = within(limit, "bulky_8", "bulky_together")
        assert ("meet on a segment, some wait for others to go on" in notices) == (limit == 16), notices
        assert digests(greenplum, "bulky_together") == digests(postgres, "bulky_together")
        query(greenplum, "SELECT hopper.drop_model('bulky_together')")
    # in files of the statement
    with pytest.raises(psycopg2.Error) as error:
        within(16, "bulky_8", "bulky_filed", "SET temp_file_limit = '1MB'")
    assert "temp" in str(error.value), error.value
    within(40, "bulky_8", "bulky_filed", "SET temp_file_limit = '1MB'")
    assert working_tables(greenplum) == []


def test_no_room_for_temporary_files_at_all(on_segments):
    """The server itself writes some, as soon as segments take part."""
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SET temp_file_limit = 0")
    with pytest.raises(psycopg2.Error, match="needs more temporary files than temp_file_limit allows"):
        fit(connection, "packed_6", "without_files", "configs_3", 1)
    connection.close()


def test_the_same_answer_near_the_limit(bulky):
    """Which model fails does not depend on which meet: the one that is too large alone."""
    greenplum, _ = bulky
    answers = set()
    for _ in range(5):
        within(16, "bulky_9", "bulky_again")
        answers.add(str(query(greenplum, "SELECT mst_key, status, state_digest, error FROM bulky_again_info"
                              " ORDER BY 1")))
        query(greenplum, "SELECT hopper.drop_model('bulky_again')")
    assert len(answers) == 1, answers
    assert answers.pop().count("does not fit into memory") == 1


def test_what_threads_work_with_is_not_counted_as_files(above):
    """One model of 1.2 MB, and 30 MB beside it while it is trained."""
    greenplum, _ = above
    wide = sequential(dense("hidden", 4000, "relu"), dense("output", 10, "softmax"), shape=(64,))
    query(greenplum, "SELECT hopper.load_model('architectures', %s)", wide)
    model = value(greenplum, "SELECT max(model_id) FROM architectures")
    select(greenplum, "wide_1", [(1, model, LOSS + "'SGD(lr=0.01)'", "batch_size=2000")])
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SET statement_mem = '4MB'; SET temp_file_limit = '4MB'")
    fit(connection, TABLE, "wide_1_out", "wide_1", 2)
    assert value(connection, "SELECT count(*) FROM wide_1_out") == 1
    connection.close()


def test_memory_is_given_back_by_the_processes_that_have_it(on_segments):
    """At the end of the run, not of its transaction."""
    assert count_passes(on_segments, "hopper_segment_release", lambda: fit(
        on_segments, "packed_6", "released", "configs_3", 1)) == [1, 1, 1]


def private_memory(process):
    """In MB: nothing where the process ends, which has no such line any more, or has ended."""
    try:
        lines = pathlib.Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    said = dict(line.split(":", 1) for line in lines)
    return int(said.get("RssAnon", "0 kB").split()[0]) / 1024


def test_memory_is_given_back(on_segments):
    """Some 16 MB of data a segment, in runs that end well and in others that are cancelled."""
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "CREATE TABLE heavy AS SELECT i AS id, i % 2 AS label,"
          " array_fill(i::real, ARRAY[1000]) AS x FROM generate_series(1, 12000) i"
          " DISTRIBUTED BY (id)")
    query(connection, "SELECT hopper.training_preprocessor('heavy', 'heavy_packed', 'label', 'x')")
    query(connection, "SELECT hopper.load_model('heavy_models', %s)",
          sequential(dense("output", 2, "softmax"), shape=(1000,)))
    query(connection, "SELECT hopper.load_model_selection_table('heavy_models', 'heavy_configs',"
          " ARRAY[1], ARRAY[%s], ARRAY['batch_size=50'])", LOSS + "'SGD(lr=0.01)'")
    process = value(connection, "SELECT pg_backend_pid()")
    used = []
    for run in range(8):
        output = f"heavy_{run}"
        if run == 3:
            query(connection, "SET statement_timeout = 3000")
            with pytest.raises(psycopg2.Error):
                query(connection, f"SELECT hopper.fit_multiple_model('heavy_packed', '{output}',"
                      " 'heavy_configs', 1000000)")
            query(connection, "SET statement_timeout = 0")
        else:
            query(connection, f"SELECT hopper.fit_multiple_model('heavy_packed', '{output}',"
                  " 'heavy_configs', 2)")
        used.append([sum(private_memory(one) for one in processes)
                     for _, processes in sorted(segment_processes(process).items())])
    connection.close()
    # The first runs load the libraries. The allocator keeps one data set more or less (16 MB) on a
    # segment, now on this one, now on that one; data that stayed would come to 96 MB on each.
    for segment in zip(*used):
        assert max(segment[2:]) - segment[1] < 40, used
