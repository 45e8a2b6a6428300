#!/usr/bin/env python3
"""Optuna's searches replayed on a table of search_quality, as replay.cpp replays ours.

  bench/search_quality/reference.py TABLE ALGORITHM BUDGET[,BUDGET...] FIRST-LAST [SEATS] > CSV

ALGORITHM: random sobol grid tpe gp (gp_torch: without quick_gp.py) hyperband asha (asha3: from 3 iterations on) median bohb.
gp needs torch for some seeds, gp_torch and more SEATS than one for all. Prints a line a seed and budget: budget,
seed, iterations spent, regret in points. A study goes on until the budget is spent; its choice is
its best trial that was completed, or while there is none the best by its last value. SEATS (1) trials
are under way at once and take their iterations in turn.
"""

import csv
import sys
import warnings

import optuna
import quick_gp

TEXTS = ("activation", "optimizer")
# Where halving pruners look: what is reported between makes no difference to them, but takes time.
HALVING = ("hyperband", "bohb", "asha", "asha3")
RUNGS = (1, 3, 9, 27)
NAMES = ("width", "activation", "dropout", "optimizer", "batch", "lr")


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    values = {}
    for name in NAMES:
        found = list(dict.fromkeys(row[name] for row in rows))
        values[name] = found if name in TEXTS else sorted(found, key=float)
    steps = [name for name in rows[0] if name[0] == "a" and name[1:].isdigit()]
    curves = {
        tuple(values[name].index(row[name]) for name in NAMES): [int(row[step]) / 100 for step in steps]
        for row in rows
    }
    return values, curves


def tools(algorithm, seed, values, steps, at_once):
    samplers, pruners = optuna.samplers, optuna.pruners
    sampler = {
        "tpe": lambda: samplers.TPESampler(seed=seed, constant_liar=at_once),
        "bohb": lambda: samplers.TPESampler(seed=seed, constant_liar=at_once),
        "gp": lambda: samplers.GPSampler(seed=seed),
        "gp_torch": lambda: samplers.GPSampler(seed=seed),
        "sobol": lambda: samplers.QMCSampler(seed=seed, scramble=True),
        "grid": lambda: samplers.GridSampler({n: list(range(len(values[n]))) for n in NAMES}, seed=seed),
    }.get(algorithm, lambda: samplers.RandomSampler(seed=seed))()
    hyperband = lambda: pruners.HyperbandPruner(min_resource=1, max_resource=steps, reduction_factor=3)
    pruner = {
        "hyperband": hyperband,
        "bohb": hyperband,
        "asha": lambda: pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3),
        "asha3": lambda: pruners.SuccessiveHalvingPruner(min_resource=3, reduction_factor=3),
        "median": lambda: pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=3),
    }.get(algorithm, pruners.NopPruner)()
    return sampler, pruner


def replay(algorithm, seed, values, curves, budgets, seats=1):
    steps = len(next(iter(curves.values())))
    sampler, pruner = tools(algorithm, seed, values, steps, seats > 1)
    # HyperbandPruner draws brackets by the name of the study, which by itself is another each time.
    study = optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner, study_name=str(seed))
    spent, chosen = 0, {}
    completed = any_of = (-1.0, None)
    live = []
    while True:
        while len(live) < seats:
            trial = study.ask()
            point = tuple(
                trial.suggest_categorical(name, list(range(len(values[name]))))
                if name in TEXTS
                else trial.suggest_int(name, 0, len(values[name]) - 1)
                for name in NAMES
            )
            live.append((trial, point, 1))
        trial, point, step = live.pop(0)
        value = curves[point][step - 1]
        spent += 1
        for budget in budgets:
            if spent > budget and budget not in chosen:
                chosen[budget] = (completed if completed[1] else any_of)[1]
        if len(chosen) == len(budgets):
            return chosen
        any_of = max(any_of, (value, point))
        pruned = False
        if algorithm == "median" or (algorithm in HALVING and step in RUNGS):
            trial.report(value, step)
            pruned = step < steps and trial.should_prune()
        if pruned:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        elif step == steps:
            completed = max(completed, (value, point))
            study.tell(trial, value)
        else:
            live.append((trial, point, step + 1))


def replay_quickly(algorithm, seed, values, curves, budgets, seats=1):
    if algorithm == "gp" and seats == 1:
        try:
            with quick_gp.instead_of_torch():
                return replay(algorithm, seed, values, curves, budgets)
        except quick_gp.Level:
            print(f"{seed}: with torch", file=sys.stderr, flush=True)
    return replay(algorithm, seed, values, curves, budgets, seats)


def main():
    path, algorithm, budgets, seeds, *seats = sys.argv[1:]
    budgets = [int(budget) for budget in budgets.split(",")]
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore")
    values, curves = read(path)
    best = max(curve[-1] for curve in curves.values())
    first, last = (int(seed) for seed in seeds.split("-"))
    for seed in range(first, last + 1):
        chosen = replay_quickly(algorithm, seed, values, curves, budgets, *map(int, seats))
        for budget in budgets:
            print(f"{budget},{seed},{budget},{best - curves[chosen[budget]][-1]:.2f}", flush=True)


if __name__ == "__main__":
    main()
