"""What goes on beside a test: statements in sessions of their own, and tables small enough to train on often."""

import threading

import psycopg2

from digits import connect, pid, query, threads, value, wait_until

SMALL = """{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"}},
  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}"""
SMALL_COMPILE = "loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']"


def make_small_tables(connection):
    """points, packed, models, and configs with two configurations."""
    query(connection, "CREATE TABLE points AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x,"
          " i % 2 AS y FROM generate_series(1, 40) i")
    query(connection, "SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x')")
    query(connection, "SELECT hopper.load_model('models', %s)", SMALL)
    query(connection, "SELECT hopper.load_model_selection_table('models', 'configs', '{1}',"
          " ARRAY[%s], ARRAY['batch_size=8', 'batch_size=16'])", SMALL_COMPILE)


class Statement:
    """A session in which a statement runs that ends by itself."""

    def __init__(self, database, statement, settings=""):
        self.connection = connect(database)
        if settings:
            query(self.connection, settings)
        self.error = self.rows = None
        self.process = pid(self.connection)
        self.thread = threading.Thread(target=self.run, args=(statement,))
        self.thread.start()

    def run(self, statement):
        try:
            self.rows = query(self.connection, statement)
        except psycopg2.Error as error:
            self.error = error

    def until(self, condition):
        """Before it has ended, that is."""
        wait_until(lambda: not self.thread.is_alive() or condition())
        assert self.thread.is_alive(), self.error or self.rows

    def trains(self):
        self.until(lambda: threads(self.process) > 1)

    def waits(self, watcher):
        """For somebody else's lock, that is: it has computed."""
        self.until(lambda: value(watcher, "SELECT count(*) FROM pg_locks WHERE pid = %s AND NOT granted",
                                 self.process) > 0)

    def end(self):
        """Its notices."""
        self.thread.join(120)
        assert not self.thread.is_alive()
        notices = "".join(self.connection.notices)
        self.connection.close()
        return notices
