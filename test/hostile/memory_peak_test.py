"""hopper.memory_limit holds for a server process from its first second to its last, results and
warm starts included; models that do not fit together wait, and the answer is always the same."""

import pathlib
import re
import threading
import time

import psycopg2
import pytest

from digits import (connect, create_database, dense, drop_database, pid, query, select, sequential,
                    layer, value)

DATABASE = "hopper_memory_peak"
LIMIT = 150
MEGABYTE = 1024 * 1024
# 1.3 million parameters: 16 MB of state with Adam.
WIDE = sequential(layer("Flatten", "flatten"), dense("hidden", 18000, "relu"),
                  dense("output", 10, "softmax"))


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    # Two batches of each model: what is in memory does not depend on how many there are.
    query(connection, "CREATE TABLE few AS SELECT * FROM digits WHERE id <= 256")
    query(connection, "SELECT hopper.training_preprocessor('few', 'few_packed', 'label', 'pixels', normalizing_const => 16)")
    query(connection, "SELECT hopper.load_model('architectures', %s)", WIDE)
    model = value(connection, "SELECT max(model_id) FROM architectures")
    for n in (1, 10):
        select(connection, f"wide_{n}", [
            (key, model, f"loss='categorical_crossentropy', optimizer='Adam(lr={key}e-4)'",
             "batch_size=128") for key in range(1, n + 1)])
    yield connection
    connection.close()
    drop_database(DATABASE)


def status(process, name):
    text = pathlib.Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE).group(1)) * 1024


class Watch:
    """The most private memory of a process: what it shares with others, buffers and pages of
    libraries, is not the run's. The kernel notes the peak of all of it together only (VmHWM), from which
    that cannot be told apart afterwards: so the number is looked at all the time."""

    def __init__(self, process):
        self.process = process
        self.most = 0
        self.looks = 0
        self.longest_gap = 0.0
        self.stop = False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        last = time.monotonic()
        while not self.stop:
            self.most = max(self.most, status(self.process, "RssAnon"))
            self.looks += 1
            self.longest_gap = max(self.longest_gap, time.monotonic() - last)
            last = time.monotonic()
            time.sleep(0.002)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exception):
        self.stop = True
        self.thread.join()


def session():
    """A session that has libtorch and its buffers, with the limit set."""
    connection = connect(DATABASE)
    query(connection, "SET client_min_messages = warning")
    query(connection, "SELECT * FROM hopper.fit_multiple_model('few_packed', 'warm_up', 'wide_1', 1,"
          " threads => 2)")
    query(connection, "DROP TABLE warm_up, warm_up_state, warm_up_info, warm_up_summary")
    query(connection, "RESET client_min_messages")
    query(connection, f"SET hopper.memory_limit = '{LIMIT}MB'")
    return connection


def fit(connection, output, more=""):
    """The peak of the session's private memory above what it had when it was idle."""
    process = pid(connection)
    base = status(process, "RssAnon")
    with Watch(process) as watch:
        query(connection, f"SELECT * FROM hopper.fit_multiple_model('few_packed', '{output}', 'wide_10',"
              f" 1, threads => 2{more})")
    print(f"{output}{more}: {(watch.most - base) / MEGABYTE:.1f} MB of {LIMIT}; {watch.looks} looks,"
          f" {watch.longest_gap * 1000:.0f} ms apart at most")
    # Ten results of 21 MB each are written one after another: none is missed.
    assert watch.looks > 20
    return watch.most - base


def digests(connection, output):
    return query(connection, "SELECT mst_key, status, state_digest, error"
                 f" FROM {output}_info ORDER BY 1")


def test_the_peak_stays_below_the_limit(database):
    connection = session()
    allowed = LIMIT * MEGABYTE * 1.05
    peak = fit(connection, "limited")
    waits = [notice for notice in connection.notices if "configurations wait" in notice]
    assert len(waits) == 1, connection.notices
    assert peak <= allowed, peak / MEGABYTE
    # The limit is used, or the memory that is looked at is not the run's.
    assert peak > allowed / 2, peak / MEGABYTE
    # More than the limit has passed through it.
    first = digests(connection, "limited")
    assert [row[1] for row in first] == ["done"] * 10, first
    assert value(connection, "SELECT sum(octet_length(state)) FROM limited_state") > LIMIT * MEGABYTE

    # A warm start keeps to it too; its states come from the tables.
    peak = fit(connection, "limited", ", warm_start => true")
    assert peak <= allowed, peak / MEGABYTE
    # The limit is used, or the memory that is looked at is not the run's.
    assert peak > allowed / 2, peak / MEGABYTE
    second = digests(connection, "limited")
    assert [row[1] for row in second] == ["done"] * 10, second
    connection.close()

    # With all memory that it wants it computes the same.
    roomy = connect(DATABASE)
    for more in ("", ", warm_start => true"):
        query(roomy, "SELECT * FROM hopper.fit_multiple_model('few_packed', 'roomy', 'wide_10', 1,"
              f" threads => 2{more})")
        assert digests(roomy, "roomy") == (first if more == "" else second)
    assert not [notice for notice in roomy.notices if "wait" in notice]
    roomy.close()


def predict(connection, limit):
    """The predictions' digest with so many MB and the peak, or the error's code."""
    query(connection, f"SET hopper.memory_limit = '{limit}MB'; SET hopper.threads = 4")
    process = pid(connection)
    base = status(process, "RssAnon")
    try:
        with Watch(process) as watch:
            query(connection, "SELECT hopper.predict('wide', 'digits', 'id', 'pixels', 'predicted')")
    except psycopg2.Error as error:
        assert "hopper.memory_limit" in str(error), error
        return error.pgcode
    digest = value(connection, "SELECT md5(string_agg(p::text, E'\n' ORDER BY p::text)) FROM predicted p")
    query(connection, "DROP TABLE predicted")
    return digest, (watch.most - base) / MEGABYTE


def test_predictions_keep_to_the_limit(database):
    query(database, "SELECT hopper.fit_multiple_model('few_packed', 'wide', 'wide_1', 1)")
    connection = connect(DATABASE)
    query(connection, "SET client_min_messages = warning")
    # The session has libtorch and what its threads keep.
    roomy, _ = predict(connection, 1000)
    # The weights are 5.5 MB, a thread's pass with all its rows some 20: fewer rows, one thread, four.
    for limit in (9, 16, 40, 120):
        for _ in range(3):
            answer = predict(connection, limit)
            assert answer[0] == roomy, (limit, answer)
            # Buffers of the server's own beside it.
            assert answer[1] <= limit * 1.05 + 4, (limit, answer)
    for _ in range(3):
        assert predict(connection, 4) == "53200"
    connection.close()


# --- other ways to use memory ---

@pytest.fixture(scope="module")
def broad(database):
    """64 MB of data, three times as much as any of the limits, and eight small models."""
    query(database, "CREATE TABLE broad AS SELECT i AS id, i % 2 AS label, x FROM generate_series(1, 16000) i"
          " JOIN (SELECT m, array_agg((m * n % 89)::real) AS x FROM generate_series(0, 96) m, generate_series(1, 1000) n"
          " GROUP BY m) rows ON m = i % 97")
    query(database, "CREATE TABLE broader AS SELECT i * 16000 + id AS id, x FROM broad, generate_series(0, 3) i")
    query(database, "SELECT hopper.training_preprocessor('broad', 'broad_packed', 'label', 'x', partitions => 32,"
          " normalizing_const => 100)")
    query(database, "SELECT hopper.load_model('architectures', %s)",
          sequential(dense("hidden", 64, "relu"), dense("output", 2, "softmax"), shape=(1000,)))
    model = value(database, "SELECT max(model_id) FROM architectures")
    select(database, "flat", [
        (key, model, f"loss='categorical_crossentropy', optimizer='Adam(lr={key}e-4)', metrics=['accuracy']",
         "batch_size=64") for key in range(1, 9)])
    query(database, "SELECT hopper.fit_multiple_model('broad_packed', 'flat_models', 'flat', 1)")
    return database


TURNS = ("SELECT * FROM hopper.fit_multiple_model('broad_packed', 'turns', 'flat', 2, threads => 2,"
         " validation_table => 'broad_packed', {})")
SEARCH = ("SELECT * FROM hopper.automl('few_packed', 'found', 'architectures', 'found_best', (SELECT model_id FROM wide_1),"
          " '{{''loss'': [''categorical_crossentropy''], ''optimizer_params_list'': [{{''optimizer'': [''Adam''],"
          " ''lr'': [1e-4, 1e-2, ''log'']}}]}}', '{{''batch_size'': [128]}}', {}, seed => 1, parallel => 4, threads => 2,"
          " replace => true)")
# Each takes 37 MB alone.
BESIDE = "SELECT hopper.fit_together(ARRAY[{}])".format(", ".join(
    f"$$SELECT hopper.fit_multiple_model('few_packed', 'beside{n}', 'wide_1', 4, threads => 2, replace => true)$$" for n in range(2)))
# name: (MB, the least that is used of them, settings, statement)
SHAPES = {
    "fits at the same time": (150, 0.4, "", BESIDE),
    "data in turns": (24, 0.4, "", TURNS.format("replace => true")),
    "warm start with data in turns": (24, 0.4, "", TURNS.format("warm_start => true")),
    "search": (150, 0.4, "", SEARCH.format("'random', 'num_configs=8, num_iterations=1'")),
    "search whose trials rest": (150, 0.4, "", SEARCH.format("'hyperband', 'R=3'")),
    "evaluation in turns": (
        20, 0.2, "", "SELECT * FROM hopper.evaluate('flat_models', 'broad_packed', mst_key => 1)"),
    "packing": (
        40, 0.5, "SET maintenance_work_mem = '1GB'",
        "SELECT hopper.training_preprocessor('broad', 'again', 'label', 'x', validation_fraction => 0.2,"
        " replace => true)"),
    "predictions": (
        40, 0.1, "", "SELECT hopper.predict('flat_models', 'broader', 'id', 'x', 'of_broader', mst_key => 1,"
        " replace => true)"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_peak_of(broad, name):
    limit, least, settings, statement = SHAPES[name]
    connection = session()
    query(connection, "SET client_min_messages = warning")
    query(connection, f"SET hopper.memory_limit = '{limit}MB'; {settings}")
    process = pid(connection)
    base = status(process, "RssAnon")
    with Watch(process) as watch:
        query(connection, statement)
    peak = (watch.most - base) / MEGABYTE
    print(f"{name}: {peak:.1f} MB of {limit}; {watch.looks} looks, {watch.longest_gap * 1000:.0f} ms apart at most")
    connection.close()
    assert peak <= limit * 1.05
    # It is used, or the memory that is looked at is not the statement's.
    assert peak > limit * least
    assert watch.looks > 20


# --- stored weights are read once, into their place ---

@pytest.fixture(scope="module")
def heavy(database):
    """A model of 65 MB and three rows for it; the size of its weights in MB."""
    query(database, "SELECT hopper.load_model('architectures', %s)",
          sequential(layer("Flatten", "flatten"), dense("first", 4000, "relu"), dense("second", 4000, "relu"),
                     dense("output", 10, "softmax")))
    model = value(database, "SELECT max(model_id) FROM architectures")
    query(database, "CREATE TABLE three AS SELECT * FROM digits WHERE id <= 40")
    query(database, "SELECT hopper.training_preprocessor('three', 'three_packed', 'label', 'pixels')")
    select(database, "heavy", [(1, model, "loss='categorical_crossentropy', optimizer='SGD(lr=1e-3)'", "")])
    query(database, "SELECT hopper.fit_multiple_model('three_packed', 'heavy_models', 'heavy', 1)")
    # Loaded as another tool's, too.
    query(database, "SELECT hopper.load_model('brought', model_arch::text, model_weights) FROM heavy_models")
    return value(database, "SELECT octet_length(model_weights) FROM heavy_models") / MEGABYTE


READERS = {
    "predict_row": "SELECT * FROM hopper.predict_row('heavy_models', 1, (SELECT pixels FROM digits WHERE id = 1))",
    "predict_rows": "SELECT count(*) FROM hopper.predict_rows('heavy_models', NULL::three)",
    "predict": "SELECT hopper.predict('heavy_models', 'three', 'id', 'pixels', 'heavy_predicted', replace => true)",
    "predict_byom": "SELECT hopper.predict_byom('brought', 1, 'three', 'id', 'pixels', 'heavy_byom', replace => true)",
    "evaluate": "SELECT * FROM hopper.evaluate('heavy_models', 'three_packed')",
    "to_onnx": "SELECT length(hopper.to_onnx('heavy_models', 1))",
    "to_onnx of weights": "SELECT length(hopper.to_onnx(model_arch::text, model_weights, ARRAY[8, 8])) FROM heavy_models",
    "to_pytorch": "SELECT length(hopper.to_pytorch('heavy_models', 1))",
    "to_safetensors": "SELECT length(hopper.to_safetensors(model_arch::text, model_weights, ARRAY[8, 8]))"
                      " FROM heavy_models",
    "copy_model": "SELECT hopper.copy_model('heavy_models', 'heavy_copy', replace => true)",
}


def peak_of(statement, settings=""):
    """In MB, above what a session has that has libtorch and its buffers."""
    connection = session()
    query(connection, f"SET client_min_messages = warning; {settings}")
    process = pid(connection)
    base = status(process, "RssAnon")
    with Watch(process) as watch:
        query(connection, statement)
    connection.close()
    return (watch.most - base) / MEGABYTE


@pytest.mark.parametrize("name", READERS)
def test_a_stored_model_is_read_into_its_place(heavy, name):
    # What a prediction computes with beside the weights keeps to this.
    peak = peak_of(READERS[name], f"SET hopper.memory_limit = '{int(heavy * 1.2)}MB'")
    print(f"{name}: {peak:.1f} MB of a model of {heavy:.1f}")
    assert peak <= heavy * 1.3


def test_a_file_of_weights_is_counted_before_it_is_read(heavy):
    """It lies in memory beside the weights that it becomes."""
    connection = session()
    query(connection, "CREATE TABLE heavy_file AS SELECT model_arch, hopper.to_safetensors(model_arch::text, model_weights,"
                      " ARRAY[8, 8]) AS file FROM heavy_models")
    read = "SELECT octet_length(hopper.from_safetensors(model_arch::text, file, ARRAY[8, 8])) FROM heavy_file"
    query(connection, f"SET hopper.max_memory = '{int(heavy * 1.6)}MB'")
    with pytest.raises(psycopg2.Error) as refused:
        query(connection, read)
    assert refused.value.pgcode == "53200" and "hopper.max_memory" in str(refused.value)
    query(connection, f"SET hopper.max_memory = '{int(heavy * 2.2)}MB'")
    assert value(connection, read) == heavy * MEGABYTE
    connection.close()


def test_a_warm_start_takes_no_more_than_a_first_one(heavy):
    run = "SELECT hopper.fit_multiple_model('three_packed', 'heavy_run', 'heavy', 1, threads => 1{})"
    first = peak_of(run.format(""), "RESET hopper.memory_limit")
    again = peak_of(run.format(", warm_start => true"), "RESET hopper.memory_limit")
    print(f"first {first:.1f} MB, again {again:.1f}, of a model of {heavy:.1f}")
    assert again <= first + heavy * 0.3
