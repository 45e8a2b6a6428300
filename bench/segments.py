#!/usr/bin/env python3
"""Training on a Greenplum cluster against training on PostgreSQL, on the same machine.

    $(bench/environment) bench/segments.py BUILD [--server greenplum moving postgres peer]
        [--workload NAME...] [--rounds 3] [--quick] [--json FILE] [--report]

The servers are those of scripts/greenplum and scripts/server, started with the files of BUILD. As
many threads in all: one on each of three segments, and three on PostgreSQL. "moving" is the cluster
with data that stay where they lie, whatever their size, so that models move. Prints tables at the end:
seconds of the call, where the workers' time went beside the 2021 study of MADlib's hopper, what the
barrier cost beside the forecast of explain_fit(), and what a hop statement costs beyond its training.

  iris digits cifar        the workloads that MADlib 2.1 was measured with: 12 MLPs x 10 iterations,
                           8 CNNs x 5, 6 CNNs x 2 of 6,000 images
  cifar_3000               the same 6 CNNs on 3,000 images, 1 iteration
  equal_digits             9 equal CNNs
  unequal_digits, unequal_cifar
                           9 configurations whose visits differ 8:1 in cost, on digits and on 3,000
                           images, in the worst order: models of one cost travel together, and the
                           segments wait for those that have the expensive ones
  grid_digits              the same on digits in the order of a grid, some of each cost everywhere
  hops                     milliseconds of a hop statement beyond its training, for states of 1 KB,
                           5 MB and 100 MB

"peer" trains cifar with PyTorch, one process a core (bench/compare_pytorch, which see).

--quick      a round each, fewer iterations and images, no peer
--json FILE  appends each measurement to FILE and prints the tables of all of FILE, so that a long
             comparison can be made in pieces
--report     only prints the tables of FILE
"""

import argparse
import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
SEGMENTS = 3
SERVERS = ("greenplum", "moving", "postgres", "peer")
ON_SEGMENTS = SERVERS[:2]
WORKLOADS = ("iris", "digits", "cifar_3000", "cifar", "equal_digits", "grid_digits",
             "unequal_digits", "unequal_cifar", "hops")
RATES = [1e-3 + 1e-5 * i for i in range(9)]  # of nine configurations
COSTS = (1, 2, 8)  # of a visit, three configurations each


def use_server(build, server):
    """Makes libpq find it; before compare.ours is imported, which asks for the kind of server."""
    command = "greenplum" if server in ON_SEGMENTS else "server"
    text = subprocess.run([SOURCE / "scripts" / command, "env", build], check=True,
                          capture_output=True, text=True).stdout
    for word in shlex.split(text):
        name, equals, value = word.partition("=")
        if equals and name.startswith("PG"):
            os.environ[name] = value
    if server in ON_SEGMENTS:
        os.environ["HOPPER_SERVER"] = "greenplum"


def digits(workloads, configs, architectures, iterations):
    return dataclasses.replace(workloads.workload_b(False), name="digits", iterations=iterations,
                               configs=configs, architectures=architectures)


def small_cnn(filters):
    return [("conv", filters, "same"), ("conv", 2 * filters, "same"), ("pool",), ("flatten",),
            ("dense", 64, "relu"), ("dense", 10, None)]


def images(workload, n, **more):
    return dataclasses.replace(workload, train=tuple(part[:n] for part in workload.train), **more)


def make_workload(name, quick=False):
    from compare import workloads
    from compare.workloads import Config

    if name == "iris":
        return workloads.workload_c(quick)
    if name == "digits":
        return digits(workloads, [Config("cnn", "adam", rate, batch) for rate in (1e-3, 3e-3)
                                  for batch in (16, 32, 64, 128)], {"cnn": small_cnn(16)},
                      2 if quick else 5)
    if name == "cifar":
        return workloads.workload_m(quick)
    if name == "cifar_3000":
        return images(workloads.workload_m(False), 600 if quick else 3000, name=name, iterations=1)
    if name == "equal_digits":
        return digits(workloads, [Config("cnn", "adam", rate, 32) for rate in RATES],
                      {"cnn": small_cnn(32)}, 1 if quick else 4)
    if name in ("grid_digits", "unequal_digits"):
        filters = {1: 16, 2: 25, 8: 54}  # a convolution's work grows with their square
        nets = {f"cost_{cost}": small_cnn(filters[cost]) for cost in COSTS}
        # Model m starts on segment m mod 3.
        return digits(workloads, [Config(f"cost_{COSTS[i // 3 if name[0] == 'g' else i % 3]}", "adam",
                                         rate, 32) for i, rate in enumerate(RATES)], nets,
                      1 if quick else 4)
    nets = {}
    for cost, (first, second) in zip(COSTS, ((8, 16), (13, 26), (32, 64))):
        nets[f"cost_{cost}"] = [("conv", first, "same"), ("conv", first, "valid"), ("pool",),
                                ("conv", second, "same"), ("conv", second, "valid"), ("pool",),
                                ("flatten",), ("dense", 8 * second, "relu"), ("dense", 10, None)]
    return images(workloads.workload_m(False), 600 if quick else 3000, name="unequal",
                  configs=[Config(f"cost_{COSTS[i % 3]}", "adam", rate, 64)
                           for i, rate in enumerate(RATES)], architectures=nets, iterations=1)


def tell(out, **fields):
    line = json.dumps(fields)
    print(line, file=sys.stderr, flush=True)
    with open(out, "a", encoding="ascii") as file:
        file.write(line + "\n")


def where_time_went(connection):
    """Worker seconds of the last run by cause, and what explain_fit() says of it."""
    from digits import query

    items = {item: (predicted, measured) for item, predicted, measured in query(
        connection, "SELECT item, predicted, measured FROM hopper.explain_fit("
        "model_table => 'out', measure => true) WHERE mst_key IS NULL")}
    on_training = query(connection, "SELECT coalesce(sum(seconds_evaluate), 0) FROM"
                        " hopper.run_timeline('out') WHERE split = 'training'")[0][0]
    causes = {name: items[name][1] for name in ("read", "wait", "hop", "train", "evaluate", "other")}
    causes["evaluate training data"] = float(on_training)
    causes["evaluate"] -= float(on_training)
    return causes, items


def measure(server, name, rounds, quick, out):
    from compare.ours import Ours
    from digits import query

    workload = make_workload(name, quick)
    side = Ours(workload, "fp32", partitions=SEGMENTS)
    threads = 1 if server in ON_SEGMENTS else SEGMENTS
    query(side.connection, f"SET hopper.threads = {threads}")
    if server == "moving":
        query(side.connection, "SET hopper.broadcast_limit = 0")
    side.warm()
    for _ in range(rounds):
        seconds, metrics = side.run()
        longest, least = query(side.connection, "SELECT max(seconds_training), min(seconds_training)"
                               " FROM out_info")[0]
        causes, items = where_time_went(side.connection)
        tell(out, part="run", server=server, workload=name, size=workload.size, quick=quick,
             seconds=round(seconds, 3), best_metric=round(max(metrics), 3),
             slowest_to_fastest=round(longest / least, 1),
             workers=SEGMENTS, causes={cause: round(value, 4) for cause, value in causes.items()},
             duration=items["duration"], idle=items["idle share"])
    side.close()


def measure_hops(server, rounds, quick, out):
    """SGD without momentum: the state is the weights. A batch a partition: little training."""
    from compare.ours import Ours
    from compare.workloads import Config
    from digits import query

    base = make_workload("iris")
    for width, iterations in ((10, 30), (1100, 10), (5000, 3)):
        net = [("dense", width, "relu"), ("dense", width, "relu"), ("dense", 3, None)]
        side = Ours(dataclasses.replace(base, name="hops", architectures={"mlp": net},
                                        configs=[Config("mlp", "sgd", 0.001, 64)]), "fp32", SEGMENTS)
        query(side.connection, "SET hopper.broadcast_limit = 0")
        for turn in range(rounds + 1):  # the first one loads libtorch
            side.drop_output()
            start = time.perf_counter()
            query(side.connection, "SELECT hopper.fit_multiple_model('packed', 'out', 'configs',"
                  f" {1 if quick else iterations}, training_metrics => 'running')")
            seconds = time.perf_counter() - start
            seconds -= query(side.connection, "SELECT seconds_training FROM out_info")[0][0]
            hop, hops = query(side.connection, "SELECT sum(seconds_hop), count(*)"
                              " FROM hopper.run_timeline('out')")[0]
            size = query(side.connection, "SELECT sum(octet_length(state)) FROM out_state")[0][0]
            written = query(side.connection, "SELECT max(bytes_written) FROM"
                            " hopper.run_timeline('out')")[0][0]
            if turn > 0:
                tell(out, part="hop", server=server, quick=quick, state_bytes=int(size),
                     hops=int(hops), ms=round(float(hop) / hops * 1000, 2),
                     ms_of_call=round(seconds / hops * 1000, 2), written=int(written))
        side.close()


def measure_peer(build, rounds, out):
    """One PyTorch process a core; the program starts itself in the Python that has torch."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([SOURCE / "bench" / "compare_pytorch", build, "--workload", "m", "--side",
                        "processes", "--rounds", str(rounds), "--json", file.name], check=True,
                       stdout=subprocess.DEVNULL)
        with open(file.name, encoding="ascii") as lines:
            for line in lines:
                told = json.loads(line)
                tell(out, part="run", server="peer", workload="cifar", size=told["size"],
                     quick=False, seconds=told["seconds"], best_metric=max(told["accuracies"]))


def measure_all(arguments, out):
    """Each server in a process of its own: the tests' SQL asks for its kind once a process."""
    if len(arguments.server) > 1:
        for server in arguments.server:
            subprocess.run([sys.executable, __file__, arguments.build, "--server", server, "--json", out,
                            "--no-report", "--workload", *arguments.workload, "--rounds",
                            str(arguments.rounds), *(["--quick"] if arguments.quick else [])],
                           check=True)
        return
    server = arguments.server[0]
    if server == "peer":
        if "cifar" in arguments.workload and not arguments.quick:
            measure_peer(arguments.build, arguments.rounds, out)
        return
    use_server(arguments.build, server)
    for name in arguments.workload:
        if name != "hops":
            measure(server, name, arguments.rounds, arguments.quick, out)
        elif server == "moving":
            measure_hops(server, arguments.rounds, arguments.quick, out)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--server", nargs="+", default=SERVERS, choices=SERVERS)
    parser.add_argument("--workload", nargs="+", default=WORKLOADS, choices=WORKLOADS)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--no-report", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (1 if arguments.quick else 3)
    from compare.segment_tables import print_tables

    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        out = arguments.json or file.name
        if not arguments.report:
            measure_all(arguments, out)
        if not arguments.no_report:
            with open(out, encoding="ascii") as lines:
                print_tables([json.loads(line) for line in lines])


if __name__ == "__main__":
    main()
