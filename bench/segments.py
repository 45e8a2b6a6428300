#!/usr/bin/env python3
"""Training on a Greenplum cluster against training on PostgreSQL, on the same machine.

    bench/segments.py BUILD [--server greenplum postgres] [--workload NAME...] [--rounds 3]

The servers are those of scripts/greenplum and scripts/server, started with the files of BUILD. As
many threads in all: one on each of three segments, and three on PostgreSQL. Prints a line of JSON for
each run: seconds of the call, and what share of all threads' time went into training and evaluating.

  iris digits cifar        the workloads that MADlib 2.1 was measured with: 12 MLPs x 10 iterations,
                           8 CNNs x 5, 6 CNNs x 2 (`bench/compare_pytorch BUILD --workload m --side
                           processes` has PyTorch's time for cifar, a process a core)
  equal_digits             9 equal CNNs
  unequal_digits, unequal_cifar
                           9 configurations whose visits differ 8:1 in cost, on digits and on 3,000
                           images
  hops                     milliseconds of a hop statement beyond its training, by the states' size
"""

import argparse
import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
SEGMENTS = 3
RATES = [1e-3 + 1e-5 * i for i in range(9)]  # of nine configurations
COSTS = (1, 2, 8)  # of a visit, three configurations each


def use_server(build, server):
    """Makes libpq find it; before compare.ours is imported, which asks for the kind of server."""
    command = "greenplum" if server == "greenplum" else "server"
    text = subprocess.run([SOURCE / "scripts" / command, "env", build], check=True,
                          capture_output=True, text=True).stdout
    for word in shlex.split(text):
        name, equals, value = word.partition("=")
        if equals and name.startswith("PG"):
            os.environ[name] = value
    if server == "greenplum":
        os.environ["HOPPER_SERVER"] = "greenplum"


def digits(workloads, configs, architectures, iterations):
    return dataclasses.replace(workloads.workload_b(False), name="digits", iterations=iterations,
                               configs=configs, architectures=architectures)


def small_cnn(filters):
    return [("conv", filters, "same"), ("conv", 2 * filters, "same"), ("pool",), ("flatten",),
            ("dense", 64, "relu"), ("dense", 10, None)]


def make_workload(name):
    from compare import workloads
    from compare.workloads import Config

    if name == "iris":
        return workloads.workload_c(False)
    if name == "digits":
        return digits(workloads, [Config("cnn", "adam", rate, batch) for rate in (1e-3, 3e-3)
                                  for batch in (16, 32, 64, 128)], {"cnn": small_cnn(16)}, 5)
    if name == "cifar":
        return workloads.workload_m(False)
    if name == "equal_digits":
        return digits(workloads, [Config("cnn", "adam", rate, 32) for rate in RATES],
                      {"cnn": small_cnn(32)}, 4)
    if name == "unequal_digits":
        filters = {1: 16, 2: 25, 8: 54}  # a convolution's work grows with their square
        nets = {f"cost_{cost}": small_cnn(filters[cost]) for cost in COSTS}
        return digits(workloads, [Config(f"cost_{COSTS[i // 3]}", "adam", rate, 32)
                                  for i, rate in enumerate(RATES)], nets, 4)
    nets = {}
    for cost, (first, second) in zip(COSTS, ((8, 16), (13, 26), (32, 64))):
        nets[f"cost_{cost}"] = [("conv", first, "same"), ("conv", first, "valid"), ("pool",),
                                ("conv", second, "same"), ("conv", second, "valid"), ("pool",),
                                ("flatten",), ("dense", 8 * second, "relu"), ("dense", 10, None)]
    base = workloads.workload_m(False)
    return dataclasses.replace(base, name="unequal", train=tuple(part[:3000] for part in base.train),
                               configs=[Config(f"cost_{COSTS[i // 3]}", "adam", rate, 64)
                                        for i, rate in enumerate(RATES)],
                               architectures=nets, iterations=1)


def measure(server, name, rounds):
    from compare.ours import Ours
    from digits import query

    side = Ours(make_workload(name), "fp32", partitions=SEGMENTS)
    threads = 1 if server == "greenplum" else SEGMENTS
    query(side.connection, f"SET hopper.threads = {threads}")
    for _ in range(rounds):
        seconds, metrics = side.run()
        training, evaluating, longest, least = query(
            side.connection, "SELECT sum(seconds_training), sum(seconds_evaluating),"
            " max(seconds_training), min(seconds_training) FROM out_info")[0]
        print(json.dumps({
            "server": server, "workload": name, "seconds": round(seconds, 2),
            "training_share": round(training / (seconds * SEGMENTS), 3),
            "evaluating_share": round(evaluating / (seconds * SEGMENTS), 3),
            "slowest_to_fastest": round(longest / least, 1),
            "best_metric": round(max(metrics), 3)}), flush=True)
    side.close()


def measure_hops(server, rounds):
    """SGD without momentum: the state is the weights. A batch a partition: little training."""
    from compare.ours import Ours
    from compare.workloads import Config
    from digits import query

    base = make_workload("iris")
    for width, iterations in ((10, 30), (1100, 10), (5000, 3)):
        net = [("dense", width, "relu"), ("dense", width, "relu"), ("dense", 3, None)]
        side = Ours(dataclasses.replace(base, name="hops", architectures={"mlp": net},
                                        configs=[Config("mlp", "sgd", 0.001, 64)]), "fp32", SEGMENTS)
        for _ in range(rounds):
            side.drop_output()
            start = time.perf_counter()
            query(side.connection, "SELECT hopper.fit_multiple_model('packed', 'out', 'configs',"
                  f" {iterations}, training_metrics => 'running')")
            seconds = time.perf_counter() - start
            training, size = query(side.connection, "SELECT i.seconds_training, (SELECT"
                                   " sum(octet_length(state)) FROM out_state) FROM out_info i")[0]
            hops = SEGMENTS * iterations + 1
            print(json.dumps({"server": server, "state_bytes": int(size), "hops": hops,
                              "ms_a_hop": round((seconds - training) / hops * 1000, 1)}), flush=True)
        side.close()


def main():
    names = ("iris", "digits", "cifar", "equal_digits", "unequal_digits", "unequal_cifar", "hops")
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--server", nargs="+", default=["greenplum", "postgres"],
                        choices=["greenplum", "postgres"])
    parser.add_argument("--workload", nargs="+", default=names, choices=names)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if len(arguments.server) > 1:  # the tests' SQL asks for the kind of server once a process
        for server in arguments.server:
            subprocess.run([sys.executable, __file__, arguments.build, "--server", server,
                            "--workload", *arguments.workload, "--rounds", str(arguments.rounds)],
                           check=True)
        return
    server = arguments.server[0]
    use_server(arguments.build, server)
    for name in arguments.workload:
        if name != "hops":
            measure(server, name, arguments.rounds)
        elif server == "greenplum":
            measure_hops(server, arguments.rounds)


if __name__ == "__main__":
    main()
