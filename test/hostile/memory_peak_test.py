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
    query(connection, "SELECT * FROM hopper.fit_multiple_model('packed', 'warm_up', 'wide_1', 1,"
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
        query(connection, f"SELECT * FROM hopper.fit_multiple_model('packed', '{output}', 'wide_10',"
              f" 1, threads => 2{more})")
    print(f"{output}{more}: {(watch.most - base) / MEGABYTE:.1f} MB of {LIMIT}; {watch.looks} looks,"
          f" {watch.longest_gap * 1000:.0f} ms apart at most")
    # Ten results of 21 MB each are written one after another: none is missed.
    assert watch.looks > 50
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

    # The same for a warm start, whose states come from the tables.
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
        query(roomy, "SELECT * FROM hopper.fit_multiple_model('packed', 'roomy', 'wide_10', 1,"
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
            query(connection, "SELECT hopper.predict('wide', 'many', 'id', 'pixels', 'predicted')")
    except psycopg2.Error as error:
        assert "hopper.memory_limit" in str(error), error
        return error.pgcode
    digest = value(connection, "SELECT md5(string_agg(p::text, E'\n' ORDER BY p::text)) FROM predicted p")
    query(connection, "DROP TABLE predicted")
    return digest, (watch.most - base) / MEGABYTE


def test_predictions_keep_to_the_limit(database):
    query(database, "SELECT hopper.fit_multiple_model('packed', 'wide', 'wide_1', 1)")
    query(database, "CREATE TABLE many AS SELECT id + n AS id, pixels FROM digits, generate_series(0, 3) n")
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
