"""replace => true on a cluster: nothing that others do with the old tables costs what was computed."""

import re
import threading
import time

import psycopg2
import pytest

from cluster import seconds, segment_processes, spent
from conftest import connect
from digits import query, select, value, wait_until
from runs import CONFIGS, digests, fit, pack

SEARCH = ("SELECT model_table FROM hopper.automl(packed_table := 'for_replacing', model_table := 's',"
          " model_arch_table := 'architectures', model_selection_table := 's_best', model_id_list := ARRAY[1],"
          " compile_params_grid := '{''loss'': [''categorical_crossentropy''],"
          " ''optimizer_params_list'': [{''optimizer'': [''Adam''], ''lr'': [0.001, 0.1, ''log'']}]}',"
          " fit_params_grid := '{''batch_size'': [32]}', automl_method := 'random',"
          " automl_params := 'num_configs=2, num_iterations=%d', seed := 1, replace := true)")
FIT = ("SELECT model_table FROM hopper.fit_multiple_model('for_replacing', 'f', 'two_configs', %d,"
       " seed := 7, replace := true)")
PACK = ("SELECT hopper.training_preprocessor('slow', 'p', 'label', 'pixels', seed := %d,"
        " validation_fraction := 0.2, replace := true)")
# what is called, the old tables, what the statement has read, what goes with the table, the first and another argument
KINDS = {
    "training": (FIT, "f", "for_replacing", ["", "_info", "_state", "_summary"], 1, 60),
    "search": (SEARCH, "s", "for_replacing",
               ["", "_decisions", "_info", "_rungs", "_state", "_summary", "_trials"], 1, 60),
    "packing": (PACK, "p", "digits", ["", "_summary", "_validation", "_validation_summary"], 1, 2),
}


class Replacing:
    """A session that makes tables in the place of others, and has begun."""

    def __init__(self, kind):
        self.call, self.table, self.read, self.ends, self.first, self.other = KINDS[kind]
        self.connection = connect("HOPPER_GREENPLUM")
        query(self.connection, "SET deadlock_timeout = '500ms'")
        query(self.connection, self.call % self.first)
        self.before = self.content(self.connection, self.table)
        self.rows = self.error = None
        self.process = value(self.connection, "SELECT pg_backend_pid()")
        self.thread = threading.Thread(target=self.run)

    def content(self, connection, table):
        if self.table == "p":
            return value(connection, f"SELECT seed FROM {table}_summary")
        return value(connection, "SELECT md5(string_agg(encode(model_weights, 'hex'), '' ORDER BY mst_key))"
                     f" FROM {table}")

    def begin(self, watcher):
        processes = segment_processes(self.process)
        before = seconds(processes)
        self.thread.start()
        if self.table == "p":
            # The rows are being read: each of them sleeps.
            wait_until(lambda: value(watcher, "SELECT count(*) FROM pg_locks WHERE pid = %s"
                                     " AND relation = 'slow'::regclass", self.process) > 0)
            time.sleep(0.5)
        else:
            wait_until(lambda: not self.thread.is_alive() or spent(before, seconds(processes)) > 0.5)
        assert self.thread.is_alive(), self.error or self.rows

    def run(self):
        try:
            self.rows = query(self.connection, self.call % self.other)
        except psycopg2.Error as error:
            self.error = error

    def end(self):
        self.thread.join(120)
        assert not self.thread.is_alive()
        assert self.error is None
        notices = "".join(self.connection.notices)
        self.connection.close()
        return notices

    def drop(self, connection, table):
        function = "drop_packed" if self.table == "p" else "drop_model"
        return value(connection, f"SELECT hopper.{function}('{table}')")


def left(connection, begin):
    """What follows `begin` and a number in names of tables."""
    names = [name for name, in query(connection, "SELECT relname::text FROM pg_class WHERE relkind = 'r'"
                                     " ORDER BY 1") if re.match(f"{begin}_[0-9]+", name)]
    return [re.sub(f"^{begin}_[0-9]+", "", name) for name in names]


@pytest.fixture(scope="module")
def cluster(greenplum):
    pack(greenplum, "for_replacing", 3)
    select(greenplum, "two_configs", CONFIGS[:2])
    return greenplum


@pytest.fixture(params=list(KINDS))
def replacing(cluster, request):
    query(cluster, "CREATE VIEW slow AS SELECT label, pixels FROM digits"
          " WHERE id <= 300 AND pg_sleep(0.01) IS NOT NULL")
    replacing = Replacing(request.param)
    yield replacing
    replacing.drop(cluster, replacing.table)
    if replacing.table == "s":
        query(cluster, "DROP TABLE s_best, s_best_summary")
    query(cluster, "DROP VIEW slow")
    assert left(cluster, "hopper_new") == left(cluster, "hopper_old") == []


@pytest.fixture
def reader(replacing):
    connection = connect("HOPPER_GREENPLUM")
    yield connection
    connection.close()


def test_others_read_what_is_replaced(cluster, replacing, reader):
    query(replacing.connection, "SET lock_timeout = '200ms'")
    replacing.begin(cluster)
    query(reader, "SET statement_timeout = '20s'")
    query(reader, "BEGIN")
    assert replacing.content(reader, replacing.table) == replacing.before
    wait_until(lambda: not replacing.thread.is_alive() or value(
        cluster, "SELECT count(*) FROM pg_locks WHERE pid = %s AND NOT granted", replacing.process) > 0)
    time.sleep(0.6)
    query(reader, "COMMIT")
    replacing.end()
    assert replacing.content(cluster, replacing.table) != replacing.before


def test_a_deadlock_costs_nothing(cluster, replacing, reader):
    query(reader, "SET deadlock_timeout = '10ms'")
    replacing.begin(cluster)
    query(reader, "BEGIN")
    query(reader, f"SELECT count(*) FROM {replacing.table}")
    locker = threading.Thread(target=query, args=(reader, f"LOCK TABLE {replacing.read}"))
    locker.start()
    notices = replacing.end()
    locker.join()
    query(reader, "COMMIT")
    made = re.search(f'"{replacing.table}" could not be replaced, what was computed is in "(hopper_new_[0-9]+)"',
                     notices).group(1)
    assert "deadlock detected" in notices
    assert left(cluster, "hopper_new") == replacing.ends
    assert replacing.content(cluster, replacing.table) == replacing.before
    assert replacing.content(cluster, made) != replacing.before
    assert replacing.drop(cluster, made) == len(replacing.ends)


def test_a_view_keeps_the_old_tables(cluster, replacing):
    replacing.begin(cluster)
    query(cluster, f"CREATE VIEW on_it AS SELECT count(*) FROM {replacing.table}")
    notices = replacing.end()
    kept = re.search(f'the old "{replacing.table}" could not be dropped, it is named "(hopper_old_[0-9]+)" now',
                     notices).group(1)
    assert left(cluster, "hopper_old") == replacing.ends
    assert replacing.content(cluster, kept) == replacing.before
    assert replacing.content(cluster, replacing.table) != replacing.before
    query(cluster, "DROP VIEW on_it")
    for end in replacing.ends:
        query(cluster, f"DROP TABLE {kept}{end}")


def test_what_was_packed_elsewhere_trains(cluster):
    """A table under its other name, with the partitions where they belong."""
    pack(cluster, "p", 3)
    pack(cluster, "p", 3, extra=", replace := true")
    fit(cluster, "p", "on_p", "two_configs", 1)
    fit(cluster, "for_replacing", "on_packed", "two_configs", 1)
    assert digests(cluster, "on_p") == digests(cluster, "on_packed")
    assert value(cluster, "SELECT output_table FROM p_summary") == "public.p"
    assert value(cluster, "SELECT training_table FROM p_validation_summary") == "public.p"
    query(cluster, "SELECT hopper.drop_model('on_p'), hopper.drop_model('on_packed'), hopper.drop_packed('p')")
