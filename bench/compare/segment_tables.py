"""What bench/segments.py has measured, as tables in Markdown."""

import statistics

# Seconds with MADlib 2.1 and Keras 2.10 on a cluster of the same kind.
MADLIB = {"iris": 78, "digits": 63, "cifar": 98}
# MADlib's hopper in the study of 2021 (ImageNet, 16 configurations), percent of an epoch.
STUDY = {"train": 44, "read": 22, "evaluate training data": 16, "wait": 14, "hop": 3}
CAUSES = (("train", "training and one evaluation on validation data"), ("read", "reading data"),
          ("evaluate training data", "evaluating on the training data as well"),
          ("wait", "waiting (barrier, schedule)"), ("hop", "the hop itself"), ("other", "other"))


def table(title, header, rows):
    if not rows:
        return
    print(f"\n{title}\n")
    print("| " + " | ".join(header) + " |")
    print("| " + " | ".join("---" for _ in header) + " |")
    for row in rows:
        print("| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |")


def groups(lines, *keys):
    """Lines that agree in these keys, in the order in which they came."""
    found = {}
    for line in lines:
        found.setdefault(tuple(line[key] for key in keys), []).append(line)
    return found


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2g}"


def spread(values, text=number):
    values = list(values)
    middle = text(statistics.median(values))
    if len(values) == 1:
        return middle
    return f"{middle} ({text(min(values))} to {text(max(values))})"


def percent(value):
    return f"{max(value, 0):.1f}"


def wall_times(lines):
    rows = []
    for (workload, size), same in groups(lines, "workload", "size").items():
        seconds = {server: [line["seconds"] for line in same if line["server"] == server]
                   for server in ("greenplum", "moving", "postgres", "peer")}
        cells = [spread(values) if values else None for values in seconds.values()]
        ratios = [f"{statistics.median(seconds[server]) / statistics.median(seconds['postgres']):.2f}"
                  if seconds[server] and seconds["postgres"] else None for server in ("greenplum", "moving")]
        madlib = None if any(line["quick"] for line in same) else MADLIB.get(workload)
        rows.append([f"{workload}: {size}", *cells[:3], *ratios, cells[3], madlib])
    table("Seconds of the call, the median (and the range):",
          ("workload: rows x configurations x iterations", "segments", "models that move", "PostgreSQL",
           "ratio", "ratio, moving", "PyTorch, a process a core", "MADlib 2.1"), rows)


def shares(lines):
    """Percent of the time that the workers had, reading included."""
    columns = []
    for (workload, server), same in groups([line for line in lines if line["server"] in ("greenplum", "moving")],
                                           "workload", "server").items():
        sums = {}
        for line in same:
            causes = dict(line["causes"])
            causes["train"] += causes.pop("evaluate")
            causes["read"] *= line["workers"]  # all segments wait for the slowest
            for cause, value in causes.items():
                sums[cause] = sums.get(cause, 0.0) + value
        total = sum(sums.values())
        name = workload if server == "greenplum" else f"{workload}, moving"
        columns.append((name, {cause: 100 * value / total for cause, value in sums.items()}))
    if not columns:
        return
    rows = [[text, *(f"{values.get(cause, 0):.1f}" for _, values in columns), STUDY.get(cause)]
            for cause, text in CAUSES]
    table("Where the segments' time went, percent:",
          ("", *(workload for workload, _ in columns), "MADlib's hopper, 2021"), rows)


def barriers(lines):
    rows = []
    for (workload, server), same in groups(lines, "workload", "server").items():
        if server == "peer":
            continue
        predicted, measured = ([line["idle"][i] * 100 for line in same] for i in (0, 1))
        forecast, duration = ([line["duration"][i] for line in same] for i in (0, 1))
        rows.append([workload, server, f"{max(line['slowest_to_fastest'] for line in same):.1f}",
                     spread(predicted, percent), spread(measured, percent), spread(forecast), spread(duration)])
    table("What workers without work cost (on segments: the barrier), beside explain_fit():",
          ("workload", "server", "slowest to fastest configuration", "idle, predicted %",
           "idle, measured %", "seconds, predicted", "seconds, measured"), rows)


def hops(lines):
    rows = [[f"{size:,}", spread(line["ms"] for line in same),
             spread(line["ms_of_call"] for line in same), same[0]["hops"],
             f"{max(line['written'] for line in same) / size:.2f}"]
            for (size,), same in groups(lines, "state_bytes").items()]
    table("A hop statement beyond its training, and all of the call beyond its training by hops:",
          ("bytes of the state", "ms of a statement", "ms of the call", "hops of a run",
           "bytes written / bytes of the state"), rows)


def print_tables(lines):
    runs = [line for line in lines if line["part"] == "run"]
    wall_times(runs)
    shares(runs)
    barriers(runs)
    hops([line for line in lines if line["part"] == "hop"])
