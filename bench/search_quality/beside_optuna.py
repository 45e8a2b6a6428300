#!/usr/bin/env python3
"""ASHA over 64 small CNNs for handwritten digits: automl() beside Optuna's pruner and PyTorch.

  eval "$(scripts/server env BUILD)"; bench/search_quality/beside_optuna.py [--rounds 3]

Optuna's SuccessiveHalvingPruner drives the same training in PyTorch, a process a processor with one
thread each, over a journal file; processes have imported torch and read the data before the clock
starts. Both sides train 1,438 digits with R = 27, r = 1, eta = 3 and look at 359 others at 1, 3, 9
and 27 iterations. Prints seconds, iterations trained and the best accuracy of each round, then the
medians and their ratio. Needs torch and optuna; psql for ours.
"""

import argparse
import csv
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRIALS, R, ETA, RUNGS = 64, 27, 3, (1, 3, 9, 27)
SPACE = """{"parameters": {"filters": [4, 8, 16], "depth": {"type": "int", "low": 0, "high": 1},
    "lr": {"type": "float", "low": 0.0003, "high": 0.03, "scale": "log"}, "batch": [16, 64]},
  "compile_params": {"loss": "categorical_crossentropy", "metrics": ["accuracy"],
    "optimizer": {"class_name": "Adam", "config": {"learning_rate": {"hopper": "lr"}}}},
  "fit_params": {"batch_size": {"hopper": "batch"}}}"""
NETWORK = """{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Reshape", "config": {"target_shape": [8, 8, 1]}},
    {"class_name": "Conv2D", "config": {"filters": {"hopper": "filters"}, "kernel_size": 3, "activation": "relu"}},
    {"class_name": "MaxPooling2D", "config": {}},
    {"class_name": "Flatten", "config": {}},
    {"hopper": {"repeat": "depth", "layers": [{"class_name": "Dense", "config": {"units": 32, "activation": "relu"}}]}},
    {"class_name": "Dense", "config": {"units": 10, "activation": "softmax"}}]}}"""
PREPARE = """SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS model_hopper;
DROP SCHEMA IF EXISTS beside CASCADE; CREATE SCHEMA beside; SET search_path = beside;
CREATE TABLE digits (id integer PRIMARY KEY, label integer, pixels smallint[]);
\\copy digits FROM '{csv}' CSV HEADER
SELECT hopper.training_preprocessor('digits', 'packed', 'label', 'pixels', 16, validation_fraction := 0.2) \\g /dev/null
SELECT hopper.load_model('networks', $j${network}$j$) \\g /dev/null
"""
SEARCH = """SELECT round(seconds::numeric, 3), iterations, round(best_value::numeric, 4)
FROM hopper.automl('packed', 'models', 'networks', 'best', 1, NULL, NULL, 'asha', 'num_configs={trials}, R={r}, eta={eta}',
    {seed}, validation_table := 'packed_validation', objective := 'accuracy', space := $j${space}$j$, replace := true);
"""


def ours(rounds):
    text = PREPARE.format(csv=ROOT / "examples" / "digits.csv", network=NETWORK)
    for seed in range(rounds + 1):
        text += SEARCH.format(trials=TRIALS, r=R, eta=ETA, seed=seed, space=SPACE)
    out = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-F,"], input=text, text=True, check=True, stdout=subprocess.PIPE)
    rows = [[float(cell) for cell in line.split(",")] for line in out.stdout.split()]
    return rows[1:]  # the session has made a call before, as the processes have imported torch


def data():
    import torch

    with open(ROOT / "examples" / "digits.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    x = torch.tensor([[int(v) for v in row["pixels"].replace("{", "").replace("}", "").split(",")] for row in rows])
    y = torch.tensor([int(row["label"]) for row in rows])
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(1))
    x, y = x.float().reshape(-1, 1, 8, 8)[order] / 16, y[order]
    return x[:1438], y[:1438], x[1438:], y[1438:]


def worker(path, seed, ready, go, results):
    import optuna
    import torch
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    torch.set_num_threads(1)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    x, y, valid_x, valid_y = data()
    study = optuna.load_study(
        study_name="beside",
        storage=JournalStorage(JournalFileBackend(path)),
        sampler=optuna.samplers.RandomSampler(seed=seed),
        pruner=optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=ETA),
    )
    iterations = 0

    def objective(trial):
        nonlocal iterations
        filters = trial.suggest_categorical("filters", [4, 8, 16])
        depth = trial.suggest_int("depth", 0, 1)
        lr = trial.suggest_float("lr", 0.0003, 0.03, log=True)
        batch = trial.suggest_categorical("batch", [16, 64])
        nn = torch.nn
        dense = [nn.Linear(9 * filters, 32), nn.ReLU()] if depth else []
        model = nn.Sequential(nn.Conv2d(1, filters, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), *dense,
                              nn.Linear(32 if depth else 9 * filters, 10))
        optimizer = torch.optim.Adam(model.parameters(), lr=lr, eps=1e-7)
        loss_of = nn.CrossEntropyLoss()
        for iteration in range(1, R + 1):
            iterations += 1
            for rows in torch.randperm(len(y)).split(batch):
                optimizer.zero_grad()
                loss_of(model(x[rows]), y[rows]).backward()
                optimizer.step()
            if iteration in RUNGS:
                with torch.no_grad():
                    accuracy = (model(valid_x).argmax(1) == valid_y).float().mean().item()
                trial.report(accuracy, iteration)
                if iteration < R and trial.should_prune():
                    raise optuna.TrialPruned()
        return accuracy

    torch.nn.Conv2d(1, 4, 3)(x[:16])
    ready.wait()
    go.wait()
    stop = optuna.study.MaxTrialsCallback(TRIALS, states=None)
    study.optimize(objective, n_trials=TRIALS, callbacks=[stop])
    results.put(iterations)


def theirs(rounds):
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    context = multiprocessing.get_context("spawn")
    n = len(os.sched_getaffinity(0))
    rows = []
    for seed in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "journal")
            study = optuna.create_study(study_name="beside", storage=JournalStorage(JournalFileBackend(path)),
                                        direction="maximize")
            ready, go, results = context.Barrier(n + 1), context.Event(), context.Queue()
            processes = [context.Process(target=worker, args=(path, seed * 100 + i, ready, go, results)) for i in range(n)]
            for process in processes:
                process.start()
            ready.wait()
            begin = time.monotonic()
            go.set()
            iterations = sum(results.get() for _ in processes)
            seconds = time.monotonic() - begin
            for process in processes:
                process.join()
            rows.append([seconds, iterations, study.best_value])
    return rows


def show(name, rows):
    for seconds, iterations, accuracy in rows:
        print(f"{name}: {seconds:.2f} s, {iterations:.0f} iterations, accuracy {accuracy:.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    mine, other = ours(options.rounds), theirs(options.rounds)
    show("automl", mine)
    show("optuna", other)
    seconds = [statistics.median(row[0] for row in rows) for rows in (mine, other)]
    rate = [statistics.median(row[0] / row[1] for row in rows) for rows in (mine, other)]
    print(f"a search: {seconds[0]:.2f} s and {seconds[1]:.2f} s, {seconds[1] / seconds[0]:.1f} times as fast; an iteration:"
          f" {rate[0] * 1e3:.1f} ms and {rate[1] * 1e3:.1f} ms, {rate[1] / rate[0]:.1f} times")


if __name__ == "__main__":
    main()
