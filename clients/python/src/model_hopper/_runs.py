"""Runs in the background: what hopper.submit() returns, and hopper.attach() finds again."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

from ._functions import Function
from ._values import convert
from ._watch import GOING_ON, watch

if TYPE_CHECKING:
    from ._client import Hopper

# A worker that died is started again by the server within this time.
RESTART_SECONDS = 20.0


def submission(function: Function, given: Dict[str, Any]) -> Tuple[str, Sequence[Any]]:
    """The SQL that submits a call, and its parameters: the server writes the values into the call's text."""
    parts, values, parameters = [], [], []
    for place, (name, sql_type) in enumerate(function.arguments):
        if name not in given or (given[name] is None and place >= function.n_required):
            continue
        parts.append(f'"{name}" := CAST(%%L AS {sql_type})')
        values.append(f"CAST(CAST(%s AS {sql_type}) AS text)")
        parameters.append(convert(given[name], sql_type, name))
    call = f'SELECT hopper."{function.name}"({", ".join(parts)})'
    return f"SELECT hopper.submit(pg_catalog.format($call${call}$call$, {', '.join(values)}))", parameters


class Run:
    """A run of the server's, which goes on whether this session lives or not. ``id`` finds it again."""

    def __init__(self, hopper: "Hopper", run: int) -> None:
        self._hopper = hopper
        self.id = run
        self._row()  # LookupError where there is none

    def __repr__(self) -> str:
        row = self._row()
        return f"<Run {self.id}: {row['model_table']}, {row['state']}>"

    def _row(self) -> Dict[str, Any]:
        result = self._hopper._execute(  # pylint: disable=protected-access
            "SELECT * FROM hopper.runs WHERE run = %s", [self.id])
        if not result.rows:
            raise LookupError(f"there is no run {self.id}, or it is another role's: see hopper.runs()")
        return dict(zip(result.columns, result.rows[0]))

    @property
    def state(self) -> str:
        """'waiting', 'running', 'paused', 'interrupted', 'done', 'failed' or 'cancelled'; on a standby 'unknown'."""
        return str(self._row()["state"])

    @property
    def info(self) -> Dict[str, Any]:
        """The run's row of the view hopper.runs."""
        return self._row()

    def progress(self) -> Optional[Dict[str, Any]]:
        """How far it is: its row of the view hopper.progress; None where nobody trains it now."""
        result = self._hopper._execute(  # pylint: disable=protected-access
            "SELECT * FROM hopper.progress WHERE run = %s", [self.id])
        return dict(zip(result.columns, result.rows[0])) if result.rows else None

    def wait(self, seconds: Optional[float] = None) -> str:
        """Waits until it ends, pauses or is interrupted, and returns its state. Interrupting ends the waiting alone."""
        end = None if seconds is None else time.monotonic() + seconds
        interrupted = 0.0
        while True:
            state = self.state
            interrupted = (interrupted or time.monotonic()) if state == "interrupted" else 0.0
            if state not in GOING_ON and not (interrupted and time.monotonic() < interrupted + RESTART_SECONDS):
                return state
            if end is not None and time.monotonic() >= end:
                return state
            time.sleep(0.2)

    def metrics(self) -> Any:
        """What its trials have reached by their last checkpoints: the view hopper.trial_metrics."""
        return self._hopper.sql("SELECT trial, iteration, split, metric, value FROM hopper.trial_metrics"
                                " WHERE run = %s ORDER BY trial, iteration, split, metric", [self.id])

    def curves(self) -> List[Dict[str, Any]]:
        """Losses and metrics as learning_curves() has them, as far as checkpoints go."""
        result = self._hopper._execute(  # pylint: disable=protected-access
            "SELECT trial AS mst_key, iteration, split, metric, value FROM hopper.trial_metrics WHERE run = %s", [self.id])
        return [dict(zip(result.columns, row)) for row in result.rows]

    def board(self, n: int) -> List[Dict[str, Any]]:
        """The n best trials as of the last checkpoint, with their parameters, best first."""
        result = self._hopper._execute(  # pylint: disable=protected-access
            "SELECT t.trial, t.parameters::text FROM hopper.trials t JOIN hopper.runs r ON r.run = t.run"
            " WHERE t.run = %s ORDER BY t.value IS NULL OR t.value = 'NaN', CASE WHEN hopper.metric_ascends("
            "pg_catalog.substring(r.best_metric, ' (.*)')) THEN - t.value ELSE t.value END, t.trial LIMIT %s", [self.id, n])
        return [{**{name: value for name, value in json.loads(parameters or "{}").items() if not isinstance(value, (list, dict))},
                 "mst_key": trial} for trial, parameters in result.rows]

    def watch(self, metric: Optional[str] = None, *, n: int = 10, every: float = 1.0, seconds: Optional[float] = None,
              interrupt: str = "leave") -> str:
        """Shows its learning curves until it ends, and returns its state. In a notebook it is one figure that is drawn anew.

        The notebook's stop button (Ctrl-C elsewhere) ends the watching; with interrupt="pause" or "cancel" it also
        pauses or cancels the run. metric, n: as in plot_curves(). every: seconds between two drawings.
        """
        return watch(self, metric, n, every, seconds, interrupt)

    def pause(self) -> None:
        """It stops when each trial has ended its iteration."""
        self._hopper.call("pause", self.id)

    def resume(self) -> None:
        """It goes on in the background."""
        self._hopper.call("resume", self.id)

    def cancel(self) -> None:
        """It ends, and its models are dropped."""
        self._hopper.call("cancel", self.id)
