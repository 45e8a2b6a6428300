"""Greenplum's processes are sent signals all the time; none of them may land on our threads."""

import itertools
import os
import random
import signal
import threading
import time

import psycopg2
import pytest

from cluster import segment_processes
from conftest import connect
from digits import outputs, query, value, wait_until
from kernels import has_12
from runs import digests, fit

ITERATIONS = 60


def handled_signals(connection):
    """That a process of a segment has a handler for; one for SIGVTALRM is in kernel 9.4 alone."""
    return [signal.SIGALRM, signal.SIGUSR1] + ([] if has_12(connection) else [signal.SIGVTALRM])


@pytest.fixture(scope="module")
def undisturbed(on_segments):
    fit(on_segments, "packed_7", "undisturbed", "configs_8", ITERATIONS)
    return digests(on_segments, "undisturbed")


def catches_all(pid, signals):
    """False while the process starts and has no handlers yet: there a signal ends it by default."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        caught = int(next(line for line in file if line.startswith("SigCgt:")).split()[1], 16)
    return all(caught >> (number - 1) & 1 for number in signals)


def shower(process, ended, sent):
    """Thousands of signals to all segments' processes and threads of a session."""
    for number in itertools.cycle(sent):
        if ended.is_set():
            return
        try:
            for processes in segment_processes(process).values():
                for pid in (pid for pid in processes if catches_all(pid, sent)):
                    for _ in range(50):
                        os.kill(pid, number)
                        sent[number] += 1
        except (ProcessLookupError, FileNotFoundError, AttributeError):
            pass
        time.sleep(0.001)


def test_signals_during_training(on_segments, undisturbed):
    connection = connect("HOPPER_GREENPLUM")
    process = value(connection, "SELECT pg_backend_pid()")
    query(connection, "SELECT count(*) FROM gp_dist_random('gp_id')")
    ended = threading.Event()
    sent = dict.fromkeys(handled_signals(connection), 0)
    thread = threading.Thread(target=shower, args=(process, ended, sent))
    thread.start()
    try:
        fit(connection, "packed_7", "showered", "configs_8", ITERATIONS, ", threads := 2")
    finally:
        ended.set()
        thread.join()
    assert min(sent.values()) > 1000
    assert digests(connection, "showered") == undisturbed
    connection.close()


def test_training_threads_block_all_signals(on_segments):
    """Whatever is sent to a segment's process, its handlers run on its main thread alone."""
    connection = connect("HOPPER_GREENPLUM")
    process = value(connection, "SELECT pg_backend_pid()")
    query(connection, "SELECT count(*) FROM gp_dist_random('gp_id')")
    # The server has threads of its own in each process, for its interconnect.
    writers = {segment: processes[0] for segment, processes in segment_processes(process).items()}
    before = {segment: set(os.listdir(f"/proc/{pid}/task")) for segment, pid in writers.items()}
    assert set(writers) == {0, 1, 2}
    looked = {}

    def all_train():
        """Reads the masks of the threads that came since; True once each segment has some."""
        looked.clear()
        try:
            for segment, pid in writers.items():
                for task in set(os.listdir(f"/proc/{pid}/task")) - before[segment]:
                    with open(f"/proc/{pid}/task/{task}/status", encoding="ascii") as file:
                        blocked = next(line for line in file if line.startswith("SigBlk:")).split()[1]
                    looked[segment, task] = int(blocked, 16)
        except (FileNotFoundError, ProcessLookupError):  # one that has just ended
            return False
        return {segment for segment, _ in looked} == set(writers)

    def look():
        try:
            wait_until(all_train)
        finally:
            query(on_segments, "SELECT pg_cancel_backend(%s)", process)

    thread = threading.Thread(target=look)
    thread.start()
    with pytest.raises(psycopg2.Error):
        fit(connection, "packed_7", "watched", "configs_8", 100000, ", threads := 2")
    thread.join()
    connection.close()
    assert {segment for segment, _ in looked} == set(writers)
    handled = sum(1 << (number - 1) for number in (
        signal.SIGVTALRM, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM,
        signal.SIGINT, signal.SIGHUP))
    for key, mask in looked.items():
        assert mask & handled == handled, (key, hex(mask))


def test_a_low_priority_of_a_resource_queue(on_segments, undisturbed):
    """gp_resqueue_priority slows statements down at every check for interrupts."""
    assert value(on_segments, "SHOW gp_resqueue_priority") == "on"
    query(on_segments, "CREATE RESOURCE QUEUE hopper_slow WITH (ACTIVE_STATEMENTS=5, PRIORITY=MIN)")
    query(on_segments, "CREATE ROLE hopper_slow LOGIN PASSWORD 'slow' RESOURCE QUEUE hopper_slow")
    query(on_segments, "GRANT ALL ON SCHEMA public TO hopper_slow")
    query(on_segments, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO hopper_slow")
    connection = connect("HOPPER_GREENPLUM", user="hopper_slow", password="slow")
    rival = connect("HOPPER_GREENPLUM")
    stop = threading.Event()

    def load():
        while not stop.is_set():
            query(rival, "SELECT sum(sqrt(i)) FROM generate_series(1, 200000) i, gp_dist_random('gp_id')")

    thread = threading.Thread(target=load)
    thread.start()
    try:
        fit(connection, "packed_7", "slow", "configs_8", ITERATIONS)
    finally:
        stop.set()
        thread.join()
    assert digests(connection, "slow") == undisturbed
    connection.close()
    rival.close()
    for statement in ("DROP OWNED BY hopper_slow", "DROP ROLE hopper_slow",
                      "DROP RESOURCE QUEUE hopper_slow"):
        query(on_segments, statement)


def test_timeouts_and_cancels_under_load(on_segments, undisturbed):
    """Runs that end at any moment, in one session; then the session trains as ever."""
    connection = connect("HOPPER_GREENPLUM")
    process = value(connection, "SELECT pg_backend_pid()")
    draw = random.Random(7)
    for turn in range(12):
        after = draw.uniform(0.05, 1.5)
        timer = None
        if turn % 2:
            query(connection, f"SET statement_timeout = {int(after * 1000)}")
        else:
            timer = threading.Timer(after, query, (on_segments, "SELECT pg_cancel_backend(%s)", process))
            timer.start()
        with pytest.raises(psycopg2.Error) as error:
            fit(connection, "packed_7", "often", "configs_8", 100000, ", threads := 2")
        if timer:
            timer.join()
        assert error.value.pgcode == "57014"
        query(connection, "SET statement_timeout = 0")
    assert outputs(connection, "often%") == []
    fit(connection, "packed_7", "often", "configs_8", ITERATIONS)
    assert digests(connection, "often") == undisturbed
    connection.close()
