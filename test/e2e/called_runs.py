"""What tests of runs share: configurations, calls that train, and statements of other sessions."""

import threading

import psycopg2
from digits import ADAM, create_database, drop_database, query, select, value, wait_until

WATCHED = ("{}, callbacks=[EarlyStopping(monitor='val_loss', patience=2, min_delta=0.01, restore_best_weights=True),"
           " ReduceLROnPlateau(monitor='val_loss', patience=1)]")
# So many that no session trains all of them in its first moment, however late it looks.
ITERATIONS = 40
CONFIGS = [(1, 1, ADAM, "batch_size=32"), (2, 2, ADAM, "batch_size=50"),
           (3, 1, ADAM, WATCHED.format("batch_size=16")), (4, 2, ADAM, WATCHED.format("batch_size=64"))]
FIT = ("SELECT hopper.fit_multiple_model('packed', '{}', '{}', {}, validation_table => 'packed_validation',"
       " seed => 5, metrics_compute_frequency => 2)")

SEARCH = ("SELECT hopper.automl('packed', '{0}', 'architectures', '{0}_configs', ARRAY[1], $g${{'loss':"
          " ['categorical_crossentropy'], 'metrics': [['accuracy']], 'optimizer_params_list': [{{'optimizer':"
          " ['Adam'], 'lr': [0.001, 0.1, 'log']}}]}}$g$, $g${{'batch_size': [32]}}$g$, 'random',"
          " 'num_configs=3, num_iterations={1}', seed => 1)")


def runs_database(name):
    """A fixture's: a database with the configurations."""
    connection = create_database(name)
    select(connection, "configs", CONFIGS)
    select(connection, "endless", CONFIGS[:2])
    yield connection
    connection.close()
    drop_database(name)


def create(connection, table, configs="configs", iterations=ITERATIONS, function="create_run"):
    return value(connection, f"SELECT hopper.{function}(%s)", FIT.format(table, configs, iterations))


def state(connection, run):
    return value(connection, "SELECT state FROM hopper.runs WHERE run = %s", run)


def in_thread(connection, text, *arguments):
    """Begins a statement; what it returned, or the error, is in the list once the thread has ended."""
    found = []

    def ask():
        try:
            found.append(query(connection, text, *arguments))
        except psycopg2.Error as error:
            found.append(error)
    thread = threading.Thread(target=ask)
    thread.start()
    return thread, found


def wait_for_lock(watcher, connection):
    wait_until(lambda: value(watcher, "SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s",
                             connection.info.backend_pid) == "Lock")
