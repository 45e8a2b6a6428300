"""What a run says while it trains."""

import os
import re

import pytest

from digits import (ADAM, connect, create_database, dense, drop_database, layer, query, seconds_of,
                    select, sequential, value)

DATABASE = "hopper_notices"
START = (r'NOTICE:  fit "{}": 4 configurations on 2 threads, {} iterations over 1,438 rows in'
         r' 4 partitions, validation on 359 rows\n')
PROGRESS = (r'NOTICE:  fit "{}": [0-9,]+ of [0-9,]+ iterations, 4 live(, best configuration [1-4]'
            r' validation accuracy [01]\.\d{{4}})?, (\d+ min )?\d+(\.\d)? s elapsed(, about .* left)?\n')
END = (r'NOTICE:  fit "{0}" finished: best configuration [1-4], validation accuracy [01]\.\d{{4}},'
       r' {1} iterations, (\d+ min )?\d+(\.\d)? s\nHINT:  Compare the configurations with:'
       r" SELECT \* FROM hopper\.leaderboard\('{0}'\);\n")


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    select(connection, "configs", [(key, 1 + key % 2, ADAM, "batch_size=8") for key in range(1, 5)])
    yield connection
    connection.close()
    drop_database(DATABASE)


def notices(interval, table, iterations):
    connection = connect(DATABASE)
    query(connection, f"SET hopper.notice_interval = {interval}")
    del connection.notices[:]
    query(connection, f"SELECT * FROM hopper.fit_multiple_model('packed', '{table}', 'configs',"
          f" {iterations}, validation_table => 'packed_validation', threads => 2)")
    found = list(connection.notices)
    seconds = value(connection, f"SELECT seconds FROM {table}_summary")
    connection.close()
    return found, seconds


def test_a_short_run_says_two_lines(database):
    found, _ = notices(60, "brief", 2)
    assert len(found) == 2
    assert re.fullmatch(START.format("brief", 2), found[0])
    assert re.fullmatch(END.format("brief", 2), found[1])


def test_progress_at_most_once_an_interval(database):
    found, seconds = notices(1, "longer", 900)
    assert re.fullmatch(START.format("longer", 900), found[0])
    assert re.fullmatch(END.format("longer", 900), found[-1])
    for line in found[1:-1]:
        assert re.fullmatch(PROGRESS.format("longer"), line), line
    assert 1 <= len(found) - 2 <= seconds
    done = [int(re.search(r": ([0-9,]+) of 3,600 iterations", line)[1].replace(",", ""))
            for line in found[1:-1]]
    assert done == sorted(done)


LARGE = sequential(layer("Flatten", "flatten"), dense("hidden", 1500, "relu"),
                   dense("more", 1500, "relu"), dense("output", 10, "softmax"))
SMALL = sequential(layer("Flatten", "flatten"), dense("output", 10, "softmax"))


def load(connection, model):
    query(connection, "SELECT hopper.load_model('architectures', %s)", model)
    return value(connection, "SELECT max(model_id) FROM architectures")


# One thread trains the large model first, which has work for most of the time that the first eight of
# 210 iterations stand for.
def assert_time_left_counts_operations(connection, table, configs):
    select(connection, table, configs)
    query(connection, "SET hopper.notice_interval = 1")
    del connection.notices[:]
    query(connection, f"SELECT * FROM hopper.fit_multiple_model('packed', '{table}_out', '{table}', 10,"
          " threads => 1)")
    found = [re.search(r"([0-9]+) of 210 iterations, .*, (.*) elapsed, about (.*) left", line)
             for line in connection.notices]
    early = [line for line in found if line and int(line[1]) <= 8]
    assert early, connection.notices
    for line in early:
        by_count = seconds_of(line[2]) * (210 / int(line[1]) - 1)
        assert 0 < seconds_of(line[3]) < by_count / 4, line[0]


def test_time_left_counts_operations_not_iterations(database):
    connection = connect(DATABASE)
    large, small = load(connection, LARGE), load(connection, SMALL)
    assert_time_left_counts_operations(connection, "one_large", [(1, large, ADAM, "batch_size=32")] + [
        (key, small, ADAM, "batch_size=64") for key in range(2, 22)])
    connection.close()


def test_time_left_counts_epochs(database):
    connection = connect(DATABASE)
    model = load(connection, sequential(layer("Flatten", "flatten"), dense("hidden", 300, "relu"),
                                        dense("more", 300, "relu"), dense("output", 10, "softmax")))
    assert_time_left_counts_operations(connection, "one_often", [
        (1, model, ADAM, "batch_size=32, epochs=16")] + [
        (key, model, ADAM, "batch_size=32, epochs=1") for key in range(2, 22)])
    connection.close()


def test_no_progress_where_it_is_turned_off(database):
    found, _ = notices(0, "quiet", 20)
    assert len(found) == 2


def test_more_threads_than_cores(database):
    connection = connect(DATABASE)
    del connection.notices[:]
    many = os.cpu_count() + 1
    query(connection, "SELECT * FROM hopper.fit_multiple_model('packed', 'crowded', 'configs', 1,"
          f" threads => {many})")
    assert connection.notices[0].startswith(f"NOTICE:  {many} threads were asked for, but the"
                                            " server has ")
    connection.close()


def test_a_line_for_each_model_that_stops_and_their_number(database):
    connection = connect(DATABASE)
    # The loss falls, so that none is larger than the first.
    select(connection, "stopping", [(key, 1, ADAM, "batch_size=8, patience=2, monitor='loss', mode='max'")
                                    for key in range(1, 11)])
    del connection.notices[:]
    query(connection, "SELECT * FROM hopper.fit_multiple_model('packed', 'stopped', 'stopping', 9)")
    assert connection.notices[0].startswith('NOTICE:  "packed_validation" is not used: ')
    lines = connection.notices[2:-1]
    assert len(lines) == 8
    for line in lines:
        assert re.fullmatch(r'NOTICE:  fit "stopped": configuration \d+ stopped after 3 iterations,'
                            r" loss has not improved on \d+\.\d{4} of iteration 1\n", line), line
    assert ", 10 of 10 stopped early\nHINT" in connection.notices[-1]
    connection.close()
