"""Workload e: predictions of 100,000 rows of a table, into a table, with a trained network.

Ours is one call of hopper.predict(). The peers read the same table through libpq and write a table
of id, class and probability: that is what predicting in Python costs whoever has rows in the
database. "resident" is the network alone on rows that are in memory already: no peer, a yardstick.

usual            a server-side cursor in batches of 1,000, default threads, execute_values
copy             COPY in binary form both ways, decoded by numpy; channels-last, default threads
copy_processes   the same in a process a core with one thread each, over ranges of ids
copy_compiled    "copy" with torch.compile
"""

import io
import multiprocessing
import os
import time

import numpy
import psycopg2
import psycopg2.extras
import torch

from compare import ours, torch_models
from compare.workloads import WORKLOADS

PEERS = ("usual", "copy", "copy_processes", "copy_compiled")
BATCH = 1000


def load_weights(model, layers, shape, flat):
    """Our weights (Keras' order) into the peer's module, so that both predict the same."""
    parameters = iter(model.parameters())
    height, width, channels = shape if len(shape) == 3 else (1, 1, shape[0])
    at = 0
    image = (height, width)
    pending = None  # (height, width, channels) of a flattened image

    def take(*sizes):
        nonlocal at
        n = int(numpy.prod(sizes))
        at += n
        return torch.from_numpy(flat[at - n:at].copy()).reshape(sizes)

    with torch.no_grad():
        for layer in layers:
            if layer[0] == "conv":
                next(parameters).copy_(take(3, 3, channels, layer[1]).permute(3, 2, 0, 1))
                next(parameters).copy_(take(layer[1]))
                channels = layer[1]
                if layer[2] == "valid":
                    image = (image[0] - 2, image[1] - 2)
            elif layer[0] == "pool":
                image = (image[0] // 2, image[1] // 2)
            elif layer[0] == "flatten":
                pending = (*image, channels)
                channels = image[0] * image[1] * channels
            elif layer[0] == "dense":
                kernel = take(channels, layer[1])
                if pending is not None:
                    kernel = kernel.reshape(*pending, layer[1]).permute(2, 0, 1, 3)
                    kernel = kernel.reshape(channels, layer[1])
                    pending = None
                next(parameters).copy_(kernel.t())
                next(parameters).copy_(take(layer[1]))
                channels = layer[1]


class Network:
    """The peer's network with our weights, and the form of its rows."""

    def __init__(self, name, flat, how):
        workload = WORKLOADS[name](True)
        self.shape, self.classes, self.scale = workload.shape, workload.classes, workload.scale
        self.bytes = workload.train[0].dtype == numpy.uint8
        layers = workload.architectures[workload.configs[0].architecture]
        model = torch_models.module(layers, workload.shape).eval()
        load_weights(model, layers, workload.shape, flat)
        if how != "usual":
            model = model.to(memory_format=torch.channels_last)
        self.model = torch.compile(model, dynamic=False) if how == "copy_compiled" else model
        self.channels_last = how != "usual"

    @torch.inference_mode()
    def predict(self, x):
        """Classes and their probabilities of rows [n, features] of any number type."""
        x = torch.from_numpy(x).to(torch.float32)
        if self.scale != 1:
            x = x.div_(self.scale)
        if len(self.shape) == 3:
            x = x.view(-1, *self.shape).permute(0, 3, 1, 2)
            if not self.channels_last:
                x = x.contiguous()
        logits = self.model(x)
        if self.classes:
            probability, best = logits.softmax(1).max(1)
        else:
            positive = logits.squeeze(1).sigmoid()
            best = (positive > 0.5).to(torch.int64)
            probability = torch.where(best > 0, positive, 1 - positive)
        return best.numpy(), probability.numpy()

    def row_type(self):
        """One row of COPY BINARY: id integer and the features."""
        n = int(numpy.prod(self.shape))
        fields = [("fields", ">i2"), ("id_size", ">i4"), ("id", ">i4"), ("x_size", ">i4")]
        if self.bytes:
            return numpy.dtype(fields + [("x", numpy.uint8, (n,))])
        array = [("dimensions", ">i4"), ("nulls", ">i4"), ("type", ">i4"), ("length", ">i4"),
                 ("lower", ">i4")]
        cell = numpy.dtype([("size", ">i4"), ("value", ">f4")])
        return numpy.dtype(fields + array + [("cells", cell, (n,))])

    def decode(self, rows):
        if self.bytes:
            return numpy.ascontiguousarray(rows["x"])
        return rows["cells"]["value"].astype(numpy.float32)


OUT_ROW = numpy.dtype([("fields", ">i2"), ("s0", ">i4"), ("id", ">i4"), ("s1", ">i4"), ("class", ">i4"),
                       ("s2", ">i4"), ("prob", ">f8")])
COPY_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)


def encode(ids, classes, probabilities):
    rows = numpy.empty(len(ids), OUT_ROW)
    rows["fields"], rows["s0"], rows["s1"], rows["s2"] = 3, 4, 4, 8
    rows["id"], rows["class"], rows["prob"] = ids, classes, probabilities
    return rows.tobytes()


class RowSink(io.RawIOBase):
    """What COPY TO writes, predicted as it arrives."""

    def __init__(self, network):
        super().__init__()
        self.network = network
        self.type = network.row_type()
        self.pending = bytearray()
        self.head = len(COPY_HEAD)
        self.out = [COPY_HEAD]

    def writable(self):
        return True

    def write(self, data):
        self.pending += data
        if len(self.pending) - self.head >= BATCH * self.type.itemsize:
            self.flush_rows(BATCH)
        return len(data)

    def flush_rows(self, most):
        n = min(most, (len(self.pending) - self.head) // self.type.itemsize)
        if n == 0:
            return
        end = self.head + n * self.type.itemsize
        rows = numpy.frombuffer(bytes(self.pending[self.head:end]), self.type)
        self.out.append(encode(rows["id"], *self.network.predict(self.network.decode(rows))))
        del self.pending[:end]
        self.head = 0


def predict_copy(database, network, table, where):
    """Reads, predicts and writes rows; the table `table` exists."""
    connection = psycopg2.connect(dbname=database)
    sink = RowSink(network)
    with connection.cursor() as cursor:
        cursor.copy_expert(f"COPY (SELECT id, x FROM to_predict {where}) TO STDOUT BINARY", sink)
        sink.flush_rows(BATCH)
        cursor.copy_expert(f"COPY {table} FROM STDIN BINARY", io.BytesIO(b"".join(sink.out) + b"\xff\xff"))
    connection.commit()
    connection.close()


def predict_usual(database, network, table):
    reader = psycopg2.connect(dbname=database)
    writer = psycopg2.connect(dbname=database)
    cursor = reader.cursor("rows")
    cursor.itersize = BATCH
    cursor.execute("SELECT id, x FROM to_predict")
    while batch := cursor.fetchmany(BATCH):
        ids = [row[0] for row in batch]
        if network.bytes:
            x = numpy.frombuffer(b"".join(row[1] for row in batch), numpy.uint8)
            x = x.reshape(len(ids), -1).copy()
        else:
            x = numpy.array([row[1] for row in batch], numpy.float32)
        classes, probabilities = network.predict(x)
        with writer.cursor() as insert:
            psycopg2.extras.execute_values(insert, f"INSERT INTO {table} VALUES %s",
                                           list(zip(ids, classes.tolist(), probabilities.tolist())),
                                           page_size=BATCH)
    writer.commit()
    reader.close()
    writer.close()


def serve(pipe, database, name, flat):
    torch.set_num_threads(1)
    network = Network(name, flat, "copy")
    network.predict(numpy.zeros((BATCH, int(numpy.prod(network.shape))),
                                numpy.uint8 if network.bytes else numpy.float32))
    pipe.send("ready")
    while (job := pipe.recv()) is not None:
        predict_copy(database, network, *job)
        pipe.send("done")


class Predictions:
    """A database with rows to predict and a network that was trained for a moment."""

    def __init__(self, name, rows):
        self.name = name
        self.rows = rows
        self.workload = WORKLOADS[name](True)
        self.workload.configs = [c for c in self.workload.configs if c.batch >= 128][:1]
        self.side = ours.Ours(self.workload, "fp32", purpose="predict")
        self.side.run()
        connection = self.side.connection
        x = self.workload.train[0]
        take = numpy.resize(numpy.arange(len(x)), rows)
        ours.copy_rows(connection, "pool", x, numpy.zeros(len(x), int), {})
        # Rows in their own order, not repeated blocks of text.
        ours.query(connection, f"CREATE TABLE to_predict AS SELECT i AS id, x FROM generate_series(0, {rows - 1})"
                   f" i JOIN pool ON pool.id = i % {len(x)} ORDER BY i")
        ours.query(connection, "VACUUM ANALYZE to_predict")
        flat = ours.query(connection, "SELECT model_weights FROM out")[0][0]
        self.flat = numpy.frombuffer(bytes(flat), numpy.float32)
        self.memory = x[take]
        self.networks = {}
        self.pipes = []

    def network(self, how):
        if how not in self.networks:
            self.networks[how] = Network(self.name, self.flat, how)
            zeros = numpy.zeros_like(self.memory[:BATCH].reshape(BATCH, -1))
            self.networks[how].predict(zeros)
            if self.rows % BATCH:
                self.networks[how].predict(zeros[:self.rows % BATCH])
        return self.networks[how]

    def start_processes(self):
        context = multiprocessing.get_context("spawn")
        for _ in range(os.cpu_count()):
            here, there = context.Pipe()
            context.Process(target=serve, args=(there, self.side.database, self.name, self.flat),
                            daemon=True).start()
            self.pipes.append(here)
        for pipe in self.pipes:
            pipe.recv()

    def warm(self, who):
        start = time.perf_counter()
        if who == "copy_processes" and not self.pipes:
            self.start_processes()
        elif who != "copy_processes":
            self.network(who if who != "resident" else "copy")
        return time.perf_counter() - start

    def run(self, who):
        """(seconds, share of rows predicted as we do or None)"""
        connection, database = self.side.connection, self.side.database
        if who == "ours":
            ours.query(connection, "DROP TABLE IF EXISTS predicted")
            start = time.perf_counter()
            ours.query(connection, "SELECT hopper.predict('out', 'to_predict', 'id', 'x', 'predicted',"
                       " 'response')")
            return time.perf_counter() - start, None
        self.warm(who)
        if who == "resident":
            start = time.perf_counter()
            x = self.memory.reshape(self.rows, -1)
            for i in range(0, self.rows, BATCH):
                self.network("copy").predict(x[i:i + BATCH])
            return time.perf_counter() - start, None
        ours.query(connection, "DROP TABLE IF EXISTS peer")
        start = time.perf_counter()
        ours.query(connection, "CREATE TABLE peer (id integer, class integer, prob float8)")
        if who == "usual":
            predict_usual(database, self.network(who), "peer")
        elif who == "copy_processes":
            n = len(self.pipes)
            for i, pipe in enumerate(self.pipes):
                pipe.send(("peer", f"WHERE id >= {self.rows * i // n} AND id < {self.rows * (i + 1) // n}"))
            for pipe in self.pipes:
                pipe.recv()
        else:
            predict_copy(database, self.network(who), "peer", "")
        seconds = time.perf_counter() - start
        return seconds, self.agreement()

    def agreement(self):
        rows = ours.query(self.side.connection, "SELECT count(*), sum((p.class = o.class_value::integer)"
                          "::integer) FROM peer p JOIN predicted o USING (id)")
        if rows[0][0] != self.rows:
            raise RuntimeError(f"{rows[0][0]} of {self.rows} rows were predicted by both sides")
        return float(rows[0][1]) / self.rows

    def close(self):
        for pipe in self.pipes:
            pipe.send(None)
        self.side.close()
