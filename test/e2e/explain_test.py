"""explain_fit() beside runs: what it predicts, what it leaves alone, and that it can be cancelled."""

import threading

import psycopg2
import pytest

from digits import (ADAM, connect, cpu_seconds, create_database, dense, drop_database, layer, query, select, sequential,
                    threads, value, wait_until)

DATABASE = "hopper_explain"
CNN = sequential(layer("Reshape", "image", target_shape=[8, 8, 1]), layer("Conv2D", "conv", filters=32, kernel_size=[3, 3], activation="relu"),
                 layer("MaxPooling2D", "pool", pool_size=[2, 2]), layer("Flatten", "flatten"),
                 dense("hidden", 64, "relu"), dense("output", 10, "softmax"))
WIDE = sequential(layer("Flatten", "flatten"), *(dense(f"wide{i}", 3000, "relu") for i in range(13)),
                  dense("output", 10, "softmax"))


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    for model in (CNN, WIDE):
        query(connection, "SELECT hopper.load_model('architectures', %s)", model)
    select(connection, "configs", [(key, 3, ADAM, f"batch_size={16 * key}") for key in range(1, 5)])
    select(connection, "heavy", [(1, 4, ADAM, "batch_size=128")])
    yield connection
    connection.close()
    drop_database(DATABASE)


def test_the_duration_is_predicted(database):
    """Nothing else than the order of magnitude can be relied on while other processes run. They make a prediction
    longer, and a run by the clock, but not what it computes, with its one thread."""
    process = value(database, "SELECT pg_backend_pid()")
    predicted = computed = float("inf")
    measured = 0
    for attempt in range(10):
        predicted = min(predicted, value(
            database, "SELECT predicted FROM hopper.explain_fit('packed', NULL, 'configs', 4,"
            " validation_table => 'packed_validation', threads => 1) WHERE item = 'duration'"))
        before = cpu_seconds(process)
        query(database, f"SELECT * FROM hopper.fit_multiple_model('packed', 'out_{attempt}', 'configs', 4,"
              " validation_table => 'packed_validation', threads => 1)")
        computed = min(computed, cpu_seconds(process) - before)
        measured = max(measured, value(
            database, "SELECT measured FROM hopper.explain_fit(model_table =>"
            f" 'out_{attempt}', measure => true) WHERE item = 'duration'"))
        assert measured > computed / 2
        if computed / 3 < predicted < measured * 3:
            return
    pytest.fail(f"predicted {predicted} s, measured {measured} s, computed for {computed} s")


def test_two_workers_on_one_model_are_half_idle(database):
    select(database, "single", [(1, 3, ADAM, "batch_size=16")])
    share = value(database, "SELECT predicted FROM hopper.explain_fit('packed', NULL, 'single', 4,"
                  " training_metrics => 'running', threads => 2) WHERE item = 'idle share'")
    assert share == pytest.approx(0.5, abs=0.05)


def test_any_number_of_iterations(database):
    """Far more than could be counted one by one."""
    query(database, "SET statement_timeout = '60s'")
    rows = dict(query(database, "SELECT item, predicted FROM hopper.explain_fit('packed', NULL, 'configs',"
                      " 2147483647) WHERE mst_key IS NULL"))
    query(database, "RESET statement_timeout")
    assert rows["iterations"] == 2147483647
    assert 1e5 < rows["duration"] < float("inf")


def test_nothing_is_left_behind(database):
    before = query(database, "SELECT oid FROM pg_class ORDER BY 1")
    runs = value(database, "SELECT count(*) FROM hopper.journal_runs")
    query(database, "SELECT * FROM hopper.explain_fit('packed', NULL, 'configs', 4)")
    assert query(database, "SELECT oid FROM pg_class ORDER BY 1") == before
    assert value(database, "SELECT count(*) FROM hopper.journal_runs") == runs
    process = value(database, "SELECT pg_backend_pid()")
    assert threads(process) == 1


@pytest.mark.parametrize("seconds", [0.5, 3, 4.5])
def test_it_can_be_cancelled(database, seconds):
    """One step of the heavy model takes seconds, but the call does not wait for its end, nor for that of the first
    weights or of the optimizer."""
    connection = connect(DATABASE)
    query(connection, "SELECT * FROM hopper.build_info()")  # loads libtorch
    process = value(connection, "SELECT pg_backend_pid()")
    admin = connect(DATABASE)
    before = cpu_seconds(process)
    asked = []

    def cancel():
        wait_until(lambda: cpu_seconds(process) > before + seconds)
        query(admin, "SELECT pg_cancel_backend(%s)", process)
        asked.append(cpu_seconds(process))

    canceller = threading.Thread(target=cancel)
    canceller.start()
    with pytest.raises(psycopg2.errors.QueryCanceled):
        query(connection, "SELECT * FROM hopper.explain_fit('packed', NULL, 'heavy', 1)")
    canceller.join()
    ended = cpu_seconds(process)
    print(f"{ended - asked[0]:.2f} s after the cancel")
    assert ended - asked[0] < 1
    assert value(connection, "SELECT 1") == 1
    connection.close()
    admin.close()
