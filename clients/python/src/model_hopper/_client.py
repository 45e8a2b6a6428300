"""The client: schema hopper's functions as methods."""

from __future__ import annotations

import ast
import functools
import itertools
import json
import pathlib
import re
import warnings
from collections import namedtuple
from contextlib import ExitStack, contextmanager
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union

from ._drivers import Notice, NoticeHandler, Result, Session, make_session
from ._functions import CATALOGUE, Functions, suggestion
from ._progress import Progress, outside
from ._runs import Run, submission
from ._values import as_json, as_text, by_names, feature, identifier, is_array, plain

# A data frame where pandas is there, else a list of named tuples.
Rows = Any
# True: a bar and lines of text; False: silent; a function: it gets each Notice.
ProgressLike = Union[bool, NoticeHandler]

T = TypeVar("T")

_NAME = re.compile(r'(?:"(?:[^"\0]|"")+"|[^\W\d][\w$]*)(?:\.(?:"(?:[^"\0]|"")+"|[^\W\d][\w$]*)){0,2}')
_NUMBERS = itertools.count(1)


class TransactionWarning(UserWarning):
    """Something was written within a transaction that is not ours to commit."""


class Written(NamedTuple):
    """What was written: the table, its rows, SQL types of columns, shapes of examples in array columns."""

    table: str
    rows: int
    types: Dict[str, str]
    shapes: Dict[str, Tuple[int, ...]]


def table_name(name: str) -> str:
    """A table's name as SQL reads it, such as 'digits', 'my_schema.digits' or '"My table"'; ValueError if it is none."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a table's name: put names with blanks or special characters in double quotes")
    return name


def companion(table: str, suffix: str) -> str:
    """The name of a table that goes with another, such as digits_summary."""
    return table[:-1] + suffix + '"' if table.endswith('"') else table + suffix


def hyperparameters(text: Optional[str]) -> Dict[str, Any]:
    """compile_params or fit_params taken apart: {'loss': 'mse', 'optimizer': 'Adam', 'learning_rate': 0.1}.

    The arguments of the optimizer are named beside the rest; lr is learning_rate. What is not plain
    (a schedule, an expression) stays text.
    """
    found: Dict[str, Any] = {}
    if not text:
        return found
    try:
        text = text.strip()
        if text.startswith("{"):
            try:
                found = dict(json.loads(text))
            except json.JSONDecodeError:
                found = dict(ast.literal_eval(text))
        else:
            call = ast.parse(f"f({text})", mode="eval").body
            assert isinstance(call, ast.Call)
            found = {keyword.arg: _value(keyword.value) for keyword in call.keywords if keyword.arg}
    except (SyntaxError, ValueError, AssertionError):
        return {}
    optimizer = found.pop("optimizer", None)
    if isinstance(optimizer, str):
        found = {**_optimizer(optimizer), **found}
    elif isinstance(optimizer, Mapping):
        found = {"optimizer": optimizer.get("class_name"), **dict(optimizer.get("config") or {}), **found}
    if "lr" in found and "learning_rate" not in found:
        found = {("learning_rate" if key == "lr" else key): value for key, value in found.items()}
    return found


def _value(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


def _optimizer(text: str) -> Dict[str, Any]:
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return {"optimizer": text}
    if not isinstance(node, ast.Call):
        return {"optimizer": ast.unparse(node)}
    found = {"optimizer": ast.unparse(node.func)}
    if node.args:
        found["learning_rate"] = _value(node.args[0])
    found.update({keyword.arg: _value(keyword.value) for keyword in node.keywords if keyword.arg})
    return found


class Hopper:
    """A database with model_hopper. Each method is a function of schema hopper, with its arguments by name.

    ``connection`` is one of psycopg (3) or psycopg2, or an engine or connection of SQLAlchemy 2 on one
    of them. What a method writes is committed when it returns, whatever the connection's autocommit,
    unless a transaction was open before: then it is yours to commit (``with hopper.transaction():``).

    ``progress``: True shows a bar (tqdm's, where it is installed) and what the server says; False is
    silent; a function gets each Notice. Warnings of the server become Python's (HopperWarning) unless
    a function takes them. Errors are the driver's own, with the server's DETAIL and HINT.

    Interrupting (Ctrl-C, a notebook's stop button) cancels the statement in the server and raises
    KeyboardInterrupt; the connection can be used at once.
    """

    def __init__(self, connection: Any, *, progress: ProgressLike = True) -> None:
        self._session: Session = make_session(connection)
        self._functions: Optional[Functions] = None
        self._in_block = 0
        self._warned = False
        self.progress = progress

    # ------------------------------------------------------------ the connection

    @property
    def connection(self) -> Any:
        """The driver's connection."""
        return self._session.connection

    def close(self) -> None:
        """Closes a connection that model_hopper.connect() has made, or hands back an engine's."""
        if self._session.owned:
            self._session.close()

    def __enter__(self) -> "Hopper":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        info = self.connection.info
        where = "closed" if self._session.closed else f"{info.dbname} on {info.host or 'this machine'}"
        return f"<Hopper: {where}, {type(self.connection).__module__.partition('.')[0]}>"

    @contextmanager
    def transaction(self) -> Iterator["Hopper"]:
        """A block whose statements are committed together at its end, or rolled back if it fails.

        Within another transaction it is a savepoint.
        """
        nested = self._in_block > 0 or self._session.open
        begin, commit, rollback = (
            ("SAVEPOINT hopper_client", "RELEASE SAVEPOINT hopper_client", "ROLLBACK TO SAVEPOINT hopper_client")
            if nested else ("BEGIN", "COMMIT", "ROLLBACK"))
        by_driver = not nested and not self._session.autocommit
        if not by_driver:
            self._session.execute(begin)
        self._in_block += 1
        try:
            yield self
        except BaseException:
            if self._session.closed:
                raise
            if by_driver:
                self._session.rollback()
            else:
                self._session.execute(rollback)
            raise
        else:
            if by_driver:
                self._session.commit()
            else:
                self._session.execute(commit)
        finally:
            self._in_block -= 1

    def _execute(self, statement: str, parameters: Optional[Sequence[Any]] = None,
                 on_notice: Optional[NoticeHandler] = None) -> Result:
        return self._kept(lambda: self._session.execute(statement, parameters, on_notice))

    def _kept(self, work: Callable[[], T]) -> T:
        """Does it, and commits unless a transaction was open before."""
        ours = not self._in_block and not self._session.open
        try:
            result = work()
        except BaseException:
            if ours and not self._session.closed:
                self._session.rollback()
            raise
        if ours:
            self._session.commit()
        elif not self._in_block and not self._session.autocommit:
            self._warn_of_transaction()
        return result

    def __getattr__(self, name: str) -> Any:
        """What has no method of its own but is a function of SQL is called as that."""
        known = [method for method in dir(type(self)) if not method.startswith("_")]
        if not name.startswith("_"):
            functions = self._look_up(name)
            if name in functions:
                return functools.partial(self.call, name)
            known += functions.names
        raise AttributeError(f'Hopper has no method "{name}".{suggestion(name, known)}')

    def _warn_of_transaction(self) -> None:
        """A statement that only read may have begun the transaction, without its author knowing."""
        if self._warned:
            return
        if self.connection.info.server_version >= 100000:
            if self._session.execute("SELECT pg_catalog.txid_current_if_assigned()").rows == [(None,)]:
                return  # nothing has been written
        self._warned = True
        warnings.warn("a transaction was open on this connection, so that what was written is kept only if you commit:"
                      " connection.commit(). Use a connection with autocommit, or \"with hopper.transaction():\"",
                      TransactionWarning, stacklevel=outside())

    # ------------------------------------------------------------ statements and functions

    @contextmanager
    def _hearing(self, progress: Optional[ProgressLike]) -> Iterator[NoticeHandler]:
        progress = self.progress if progress is None else progress
        if callable(progress):
            yield progress
            return
        with Progress(bool(progress)) as shown:
            yield shown

    def _run(self, statement: str, parameters: Optional[Sequence[Any]] = None,
             progress: Optional[ProgressLike] = None) -> Result:
        with self._hearing(progress) as on_notice:
            return self._execute(statement, parameters, on_notice)

    def sql(self, statement: str, parameters: Optional[Sequence[Any]] = None, *,
            progress: Optional[ProgressLike] = None) -> Rows:
        """Runs any SQL and returns its rows, None where it has none. Unlike with pandas.read_sql, a model is kept."""
        result = self._run(statement, parameters, progress)
        return self._rows(result) if result.columns else None

    def call(self, function: str, /, *positional: Any, progress: Optional[ProgressLike] = None,
             **arguments: Any) -> Any:
        """Calls any function of schema hopper with named arguments; None stands for an argument's default.

        Data in the place of a source_table or background_table (a DataFrame, a dictionary of arrays) is written into a
        temporary table first; it may have columns that cannot be written, as long as they are not needed. Returns a table (a data frame where pandas is there) for functions that return one, a
        named tuple for a single row, else the value.
        """
        chosen, given = self._choose(function, positional, arguments)
        with self._as_tables(chosen.names, given), self._often("threads" in chosen.names):
            statement, parameters = chosen.statement(given)
            result = self._run(statement, parameters, progress)
        if chosen.returns_set:
            return self._rows(result, function)
        if chosen.returns_row:
            return _named(function, result.columns)(*result.rows[0])
        return None if chosen.returns == "void" else result.rows[0][0]

    # ------------------------------------------------------------ runs in the background

    def submit(self, function: str, /, *positional: Any, **arguments: Any) -> Run:
        """Trains in the background: submit("fit_multiple_model", "packed", "models", "configs", 10).

        Returns a Run, which goes on when this session ends; attach(run.id) finds it again.
        """
        chosen, given = self._choose(function, positional, arguments)
        statement, parameters = submission(chosen, given)
        return Run(self, int(self._execute(statement, parameters).rows[0][0]))

    def attach(self, run: int) -> Run:
        """The run of this number, whichever session has made it; LookupError where there is none."""
        return Run(self, run)

    def runs(self) -> Rows:
        """The runs that the role may see, the newest first."""
        return self.sql("SELECT * FROM hopper.runs ORDER BY run DESC")

    @contextmanager
    def _as_tables(self, names: Sequence[str], given: Dict[str, Any]) -> Iterator[None]:
        """Puts data that is given in the place of a table to read into a temporary table."""
        with ExitStack() as stack:
            for argument in ("source_table", "background_table"):
                if given.get(argument) is not None and not isinstance(given[argument], str):
                    stack.enter_context(self._as_table(argument, names, given))
            yield

    @contextmanager
    def _as_table(self, argument: str, names: Sequence[str], given: Dict[str, Any]) -> Iterator[None]:
        from ._copy import untyped

        data = given[argument]
        left_out: Dict[str, Exception] = {}
        with self._temporary() as table:
            written = self._write(table, data, "id", False, left_out)
            given[argument] = table
            if "id_col" in names:
                given.setdefault("id_col", "id")
            features = given.get("independent_varname")
            if isinstance(features, (list, tuple)) and len(features) == 1:
                features = features[0]
            if "image_shape" in names and given.get("image_shape") is None and written.types.get(str(features)) == "bytea":
                given["image_shape"] = written.shapes.get(str(features))
            try:
                yield
            except Exception as error:
                for name, reason in left_out.items():  # The server misses it: here is why it is not there.
                    if f'"{name}"' in str(error):
                        raise reason from error
                for name in untyped(data):
                    if f'"{name}"' in str(error):
                        raise TypeError(f'column "{name}" holds nothing but None, and so has no type: give it one, such as'
                                        f' frame["{name}"].astype("float64"); others are "Int64", "boolean" and'
                                        ' "datetime64[us]"') from error
                raise

    def _look_up(self, function: str) -> Functions:
        # A function that is not there may have come with an update of the extension.
        if self._functions is None or function not in self._functions:
            self._functions = Functions(self._execute(CATALOGUE))
        return self._functions

    def _choose(self, function: str, positional: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
        return self._look_up(function).choose(function, positional, arguments)

    @contextmanager
    def _often(self, trains: bool) -> Iterator[None]:
        """Progress each second, unless the session has said how often it wants it."""
        if not trains:
            yield
            return
        setting = "hopper.notice_interval"
        before = self._execute("SELECT pg_catalog.current_setting(%s) FROM pg_catalog.pg_settings"
                               " WHERE name = %s", [setting, setting]).rows
        if before and before[0][0] != "10s":
            yield
            return
        self._set(setting, "1s")
        try:
            yield
        finally:
            # A transaction that has failed takes the setting back by itself.
            if not self._session.closed and self.connection.info.transaction_status != 3:
                self._set(setting, "10s")

    def _set(self, setting: str, value: str) -> None:
        self._execute("SELECT pg_catalog.set_config(%s, %s, false)", [setting, value])

    def set(self, **settings: Any) -> None:
        """Sets hopper's settings for this session: set(threads=4, memory_limit='8GB')."""
        for name, value in settings.items():
            self._set(f"hopper.{name}", str(plain(value)))

    def help(self, function: Optional[str] = None) -> Rows:
        """The functions by task; with the name of one, prints what it does, its arguments and an example."""
        if function is None:
            return self.call("help")
        for row in self._execute("SELECT hopper.help(%s)", [function]).rows:
            print(row[0])
        return None

    def _rows(self, result: Result, name: str = "row") -> Rows:
        rows = [tuple(bytes(cell) if isinstance(cell, memoryview) else cell for cell in row) for row in result.rows]
        try:
            import pandas
        except ImportError:
            return [_named(name, result.columns)(*row) for row in rows]
        return pandas.DataFrame.from_records(rows, columns=result.columns, coerce_float=True)

    # ------------------------------------------------------------ packing

    def training_preprocessor(self, source_table: Any, output_table: str, dependent_varname: str,
                              independent_varname: Union[str, Sequence[str]], **options: Any) -> int:
        """Packs a table or view, a DataFrame or a dictionary of arrays for training; returns the number of rows.

        options: validation_fraction, normalizing_const, image_shape, seed and the others of the SQL function.
        """
        return int(self.call("training_preprocessor", source_table, output_table, dependent_varname,
                             independent_varname, **options))

    def validation_preprocessor(self, source_table: Any, output_table: str, dependent_varname: Optional[str] = None,
                                independent_varname: Union[None, str, Sequence[str]] = None,
                                packed_table: Optional[str] = None, **options: Any) -> int:
        """Packs a table, view or data with the classes, types and constant of packed_table, a packed training table."""
        return int(self.call("validation_preprocessor", source_table, output_table, dependent_varname,
                             independent_varname, packed_table, **options))

    # ------------------------------------------------------------ architectures and configurations

    def load_model(self, model_arch_table: str, model_arch: Any, model_weights: Any = None,
                   name: Optional[str] = None, description: Optional[str] = None, *, replace: bool = False) -> int:
        """Checks and stores an architecture: a model of Keras, a dictionary or JSON; returns its model_id.

        model_weights: what model.get_weights() returns, or its bytes. replace: in the place of the model of that name.
        """
        more = {"replace": True} if replace else {}  # servers of earlier versions do not know it
        return int(self.call("load_model", model_arch_table, model_arch, model_weights, name=name,
                             description=description, **more))

    def mlp(self, model_arch_table: str, packed_table: str, hidden: Any = None, **options: Any) -> int:
        """Stores a network of dense layers that fits a packed table; hidden: units, such as [64, 32]. Returns its model_id.

        options: activation, dropout, batch_norm, name, replace.
        """
        return int(self.call("mlp", model_arch_table, packed_table, hidden, **options))

    def cnn(self, model_arch_table: str, packed_table: str, filters: Any = None, **options: Any) -> int:
        """Stores a network for pictures that fits a packed table; filters: such as [32, 64]. Returns its model_id.

        options: kernel_size, pooling, hidden, activation, dropout, batch_norm, name, replace.
        """
        return int(self.call("cnn", model_arch_table, packed_table, filters, **options))

    def model_id(self, model_arch_table: str, name: str) -> int:
        """The model_id of an architecture by its name."""
        return int(self.call("model_id", model_arch_table, name))

    def model_ids(self, model_arch_table: str, names: Sequence[str]) -> List[int]:
        """The model_ids of architectures by their names."""
        return list(self.call("model_ids", model_arch_table, names))

    def describe_model(self, model_arch_table: str, model_id: Any, **options: Any) -> Rows:
        """The layers of a stored architecture, with their shapes and numbers of parameters."""
        return self.call("describe_model", model_arch_table, model_id, **options)

    def delete_model(self, model_arch_table: str, model_id: Any, **options: Any) -> Any:
        """Deletes an architecture."""
        return self.call("delete_model", model_arch_table, model_id, **options)

    def layers(self) -> Rows:
        """The layers that can be trained."""
        return self.call("layers")

    def generate_model_configs(self, model_arch_table: str, model_selection_table: str, model_id_list: Any,
                               compile_params_grid: Any, fit_params_grid: Any, **options: Any) -> int:
        """Adds configurations by grid or random search; returns how many.

        The grids are dictionaries: {'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['Adam'],
        'lr': numpy.logspace(-4, -1, 4)}]} and {'batch_size': [16, 64]}.
        options: search_type, num_configs, seed.
        """
        return int(self.call("generate_model_configs", model_arch_table, model_selection_table, model_id_list,
                             compile_params_grid, fit_params_grid, **options))

    def load_model_selection_table(self, model_arch_table: str, model_selection_table: str, model_id_list: Any,
                                   compile_params_list: Sequence[Any], fit_params_list: Sequence[Any],
                                   **options: Any) -> Any:
        """Adds all combinations of lists of compile_params and fit_params, each a text or a dictionary."""
        return self.call("load_model_selection_table", model_arch_table, model_selection_table, model_id_list,
                         [as_text(entry, "compile_params") for entry in compile_params_list],
                         [as_text(entry, "fit_params") for entry in fit_params_list], **options)

    def check_configs(self, *positional: Any, **arguments: Any) -> Rows:
        """What is wrong with configurations."""
        return self.call("check_configs", *positional, **arguments)

    # ------------------------------------------------------------ training

    def fit_multiple_model(self, packed_table: str, model_table: str, model_selection_table: str,
                           num_iterations: int, validation_table: Optional[str] = None, *,
                           progress: Optional[ProgressLike] = None, **options: Any) -> Any:
        """Trains all configurations together; returns the best one, and how many were trained.

        options: metrics_compute_frequency, warm_start, seed, threads and the others of the SQL function.
        """
        return self.call("fit_multiple_model", packed_table, model_table, model_selection_table, num_iterations,
                         validation_table=validation_table, progress=progress, **options)

    def fit(self, packed_table: str, model_table: str, model_arch_table: str, model_id: Any, compile_params: Any,
            fit_params: Any, num_iterations: int, validation_table: Optional[str] = None, *,
            progress: Optional[ProgressLike] = None, **options: Any) -> Any:
        """Trains one model; compile_params and fit_params are texts or dictionaries."""
        return self.call("fit", packed_table, model_table, model_arch_table, model_id, compile_params, fit_params,
                         num_iterations, validation_table=validation_table, progress=progress, **options)

    def automl(self, packed_table: str, model_table: str, model_arch_table: str, model_selection_table: str,
               model_id_list: Any, compile_params_grid: Any = None, fit_params_grid: Any = None,
               automl_method: Optional[str] = None, automl_params: Any = None, *,
               validation_table: Optional[str] = None, progress: Optional[ProgressLike] = None, **options: Any) -> Any:
        """Searches: by Hyperband or another of search_algorithms(), whose arguments are automl_params: {'R': 27, 'eta': 3}.

        options: space (a dictionary, in the place of the grids), max_seconds, max_configs, objective, seed and the
        others of the SQL function.
        """
        return self.call("automl", packed_table, model_table, model_arch_table, model_selection_table, model_id_list,
                         compile_params_grid, fit_params_grid, automl_method, automl_params,
                         validation_table=validation_table, progress=progress, **options)

    def search_algorithms(self) -> Rows:
        """The ways to search, and their arguments."""
        return self.call("search_algorithms")

    def explain_automl(self, *positional: Any, **arguments: Any) -> Rows:
        """What a search would take, without training."""
        return self.call("explain_automl", *positional, **arguments)

    def describe_space(self, *positional: Any, **arguments: Any) -> Rows:
        """What a search may choose: a row for each parameter."""
        return self.call("describe_space", *positional, **arguments)

    def best_config(self, model_table: str) -> Rows:
        """The best configuration of a search."""
        return self.call("best_config", model_table)

    def param_importance(self, model_table: str) -> Rows:
        """Which parameters made a search's good results good."""
        return self.call("param_importance", model_table)

    def explain_fit(self, *positional: Any, **arguments: Any) -> Rows:
        """What a run would take, without training: seconds, memory, idle time."""
        return self.call("explain_fit", *positional, **arguments)

    def run_timeline(self, model_table: str, **options: Any) -> Rows:
        """Each visit of each model to a partition, with where its time went."""
        return self.call("run_timeline", model_table, **options)

    # ------------------------------------------------------------ comparing

    def leaderboard(self, model_table: str, n: Optional[int] = None, **options: Any) -> Rows:
        """The models of a run, best first, with their hyperparameters as columns."""
        board = self.call("leaderboard", model_table, n, **options)
        return _widened(board)

    def learning_curves(self, model_table: str) -> Rows:
        """Loss and metrics of every model and iteration; a row for each value."""
        return self.call("learning_curves", model_table)

    def evaluate(self, model_table: str, packed_table: str, mst_key: Optional[int] = None, *,
                 output_table: Optional[str] = None, confusion_table: Optional[str] = None, **options: Any) -> Any:
        """Loss and metrics of a model on a packed table."""
        return self.call("evaluate", model_table, packed_table, mst_key=mst_key, output_table=output_table,
                         confusion_table=confusion_table, **options)

    def plot_curves(self, model_table: str, metric: Optional[str] = None, *, n: Optional[int] = 10,
                    splits: Sequence[str] = ("validation", "training")) -> Any:
        """The learning curves of the n best models as a figure of matplotlib.

        metric: 'loss' or one of the metrics, the first one by default. Training is dashed.
        """
        from ._figures import curves_figure

        curves = _records(self.learning_curves(model_table))
        found = {row["split"] for row in curves}
        return curves_figure(_records(self.leaderboard(model_table, n)), curves, metric,
                             [split for split in splits if split in found])

    def plot_parallel(self, model_table: str, value: Optional[str] = None, *, n: Optional[int] = None) -> Any:
        """Parallel coordinates as a figure of matplotlib: each model a line through its hyperparameters.

        value: the column of the leaderboard at the end of the lines; by itself validation_metric, or
        training_metric where the run had no validation table. The best is drawn thick.
        """
        from ._figures import parallel_figure

        board = _records(self.leaderboard(model_table, n))
        if value is None:
            validated = any(row["validation_metric"] is not None for row in board)
            value = "validation_metric" if validated else "training_metric"
        return parallel_figure(board, value)

    def plot_overfit(self, model_table: str, *, n: Optional[int] = None) -> Any:
        """Overfitting as a figure of matplotlib: each model's validation metric, and how much better it is on the training data."""
        from ._charts import overfit_figure

        return overfit_figure(_records(self.leaderboard(model_table, n)))

    def plot_cost(self, model_table: str, *, n: Optional[int] = None) -> Any:
        """Cost as a figure of matplotlib: each model's metric, and the seconds of computing that it took."""
        from ._charts import cost_figure

        return cost_figure(_records(self.leaderboard(model_table, n)))

    def plot_importance(self, model_table: str) -> Any:
        """Which parameters made a search's good results good, as a figure of matplotlib."""
        from ._charts import importance_figure

        return importance_figure(_records(self.param_importance(model_table)))

    def plot_gantt(self, model_table: str) -> Any:
        """Which worker trained which model when, as a figure of matplotlib: a colour for each model, evaluations half as high."""
        from ._charts import gantt_figure

        return gantt_figure(_records(self.run_timeline(model_table)))

    def write_tensorboard(self, model_table: str, folder: Any) -> List[str]:
        """Event files of each model for TensorBoard and its HParams page; returns their paths. Files of these names are replaced."""
        paths = []
        for row in _records(self.call("tensorboard_files", model_table)):
            path = pathlib.Path(folder) / row["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(bytes(row["content"]))
            paths.append(str(path))
        return paths

    # ------------------------------------------------------------ models as things

    def models(self) -> Rows:
        """The tables of models that you may see: when they were trained, on what, how good the best one is."""
        return self.call("models")

    def drop_packed(self, packed_table: str) -> int:
        """Drops a packed table, its summary and what its split put aside; returns the number of tables."""
        return int(self.call("drop_packed", packed_table))

    def drop_model(self, model_table: str) -> int:
        """Drops a table of models and its companions; returns the number of tables."""
        return int(self.call("drop_model", model_table))

    def rename_model(self, model_table: str, new_name: str, **options: Any) -> None:
        """Gives a table of models and its companions another name."""
        self.call("rename_model", model_table, new_name, **options)

    def copy_model(self, model_table: str, new_name: str, mst_keys: Any = None, **options: Any) -> int:
        """Copies a table of models, or some of its models; returns their number."""
        return int(self.call("copy_model", model_table, new_name, mst_keys, **options))

    def keep_best(self, model_table: str, n: Optional[int] = None) -> int:
        """Deletes all models but the n best (1); returns the number deleted."""
        return int(self.call("keep_best", model_table, n))

    def grant_model(self, model_table: str, role: str, privilege: Optional[str] = None) -> None:
        """Lets a role predict with a table of models ('predict'), or also go on training it ('train')."""
        self.call("grant_model", model_table, role, privilege)

    def revoke_model(self, model_table: str, role: str, privilege: Optional[str] = None) -> None:
        """Takes back what grant_model() gave."""
        self.call("revoke_model", model_table, role, privilege)

    # ------------------------------------------------------------ predicting

    def predict(self, model_table: str, source_table: Any, id_col: Optional[str] = None,
                independent_varname: Union[None, str, Sequence[str]] = None, output_table: Optional[str] = None,
                pred_type: Union[str, int, float] = "prob", mst_key: Optional[int] = None, **options: Any) -> Rows:
        """Predicts the rows of a table, DataFrame or dictionary of arrays.

        They go into output_table, or, without one, are returned. A DataFrame's rows have as id its column id
        where there is one, else its index if that is of whole numbers of which none comes twice, else their
        places, 0, 1, 2, ...
        """
        if id_col is None:
            if isinstance(source_table, str):
                raise TypeError("predict needs id_col, the column that tells the rows apart")
            id_col = "id"
        if output_table is not None:
            return self.call("predict", model_table, source_table, id_col, independent_varname, output_table,
                             pred_type, mst_key=mst_key, **options)
        with self._temporary() as table:
            self.call("predict", model_table, source_table, id_col, independent_varname, table, pred_type,
                      mst_key=mst_key, **options)
            return self._rows(self._execute(f"SELECT * FROM {table}"))

    def predict_row(self, model_table: str, features: Any, mst_key: Optional[int] = None,
                    on_null: Optional[str] = None) -> Rows:
        """Predicts one example: an array of numbers, bytes, or what has the features by their names.

        That is a dictionary, a row of pandas (frame.iloc[0]) or a named tuple. Its values are what the columns hold:
        numbers, text, dates and times, lists or arrays of numbers, bytes, or None; of its other columns there may be any. on_null: where a feature is None or NaN,
        'error' (so it is by itself) or 'null', which answers with a row without a prediction.
        """
        named = by_names(features)
        if named is not None:
            values = [("jsonb", as_json(named))]
            row = "%s::jsonb"
            if values[0][1] is None:
                values = [feature(value) for value in named.values()]
                columns = ", ".join(f"%s::{sql_type} AS {identifier(str(name)).replace('%', '%%')}"
                                    for (sql_type, _), name in zip(values, named))
                row = f"(SELECT r FROM (SELECT {columns}) AS r)"
            return self._rows(self._execute(
                f"SELECT * FROM hopper.predict_row(%s::text, %s::bigint, {row}, %s::text)",
                [model_table, mst_key, *(value for _, value in values), on_null or "error"]), "predict_row")
        if is_array(features) and features.dtype == "uint8" and features.ndim > 1:
            features = features.tobytes()  # an image, as write_table() stores it
        if mst_key is None:
            return self.call("predict_row", model_table, features=features, on_null=on_null)
        return self.call("predict_row", model_table, mst_key=mst_key, features=features, on_null=on_null)

    @contextmanager
    def _temporary(self) -> Iterator[str]:
        table = f"pg_temp.hopper_client_{next(_NUMBERS)}"
        try:
            yield table
        finally:
            if not self._session.closed and self.connection.info.transaction_status != 3:
                self._execute(f"DROP TABLE IF EXISTS {table} CASCADE")  # with the views that auto_fit() makes

    # ------------------------------------------------------------ models of Keras and PyTorch

    def push_model(self, model: Any, model_arch_table: str, name: Optional[str] = None,
                   description: Optional[str] = None, *, weights: bool = True,
                   input_shape: Optional[Sequence[int]] = None, model_arch: Any = None, replace: bool = False) -> int:
        """Stores a model and its weights; returns its model_id. replace: in the place of the model of that name.

        model: of Keras, a torch.nn.Sequential, or the path of a file: .keras, .h5, .weights.h5 or .safetensors.
        input_shape: for PyTorch, of one example: (channels, height, width) for pictures, which in the
        database have their channels last. A first layer Linear says it by itself. For files, where the
        architecture does not state it.
        model_arch: the architecture, as JSON or a dictionary, of a file that has weights only.
        """
        if isinstance(model, (str, pathlib.PurePath)):
            architecture, values = self._read_file(model, weights, input_shape, model_arch)
        elif callable(getattr(model, "to_json", None)):
            from ._keras import architecture_of

            architecture, values = architecture_of(model), model.get_weights()
        elif type(model).__module__.partition(".")[0] == "torch":
            from ._torch import from_torch

            architecture, values = from_torch(model, input_shape)
        else:
            raise TypeError(f"{type(model).__module__}.{type(model).__name__} is not a model: give one of Keras, a"
                            " torch.nn.Sequential, or the path of a file")
        return self.load_model(model_arch_table, architecture, values if weights else None, name, description,
                               replace=replace)

    def _read_file(self, path: Any, weights: bool, input_shape: Optional[Sequence[int]],
                   model_arch: Any) -> Tuple[Any, Any]:
        """Architecture and, where they are wanted, weights."""
        from ._files import read_model

        given = model_arch if model_arch is None or isinstance(model_arch, str) else json.dumps(model_arch)
        architecture, content = read_model(path, given)
        if not weights:
            return architecture, None
        # The server says what does not fit, by the weight's name and shape.
        shape = None if input_shape is None else [int(size) for size in input_shape]
        values = self._execute("SELECT hopper.from_safetensors(%s::json, %s::bytea, %s::integer[])",
                               [architecture, content, shape]).rows[0][0]
        return architecture, bytes(values)

    def pull_model(self, model_table: str, mst_key: Optional[int] = None, *, to: str = "keras",
                   input_shape: Optional[Sequence[int]] = None) -> Any:
        """A trained model, the best one without mst_key, with its weights, as a model of Keras or as a torch.nn.Sequential.

        The model takes features divided by the normalizing constant of the training data. PyTorch's
        takes pictures with their channels first, and is in evaluation mode.
        """
        if to not in ("keras", "torch"):
            raise ValueError(f"to must be 'keras' or 'torch', not {to!r}")
        architecture, weights, stated = self._trained(model_table, mst_key)
        shape = input_shape if input_shape is not None else stated
        if to == "torch":
            from ._torch import to_torch

            return to_torch(architecture, weights, shape)
        from ._keras import keras_model

        return keras_model(architecture, weights, shape)

    def save_model(self, model_table: str, path: Any, mst_key: Optional[int] = None) -> None:
        """Writes a trained model, the best one without mst_key, into a file, by the end of its name.

        .onnx, .py (source for PyTorch) take examples as they stand in the table; .keras, .h5 and .weights.h5 (which
        need Keras), .safetensors and .json (the architecture) are of the model as it was trained.
        """
        file = pathlib.Path(path)
        key = None if mst_key is None else int(mst_key)
        if file.suffix == ".onnx":
            content = self._run("SELECT hopper.to_onnx(%s::text, %s::bigint)", [model_table, key]).rows[0][0]
            file.write_bytes(bytes(content))
        elif file.suffix == ".py":
            source = self._run("SELECT hopper.to_pytorch(%s::text, %s::bigint)", [model_table, key]).rows[0][0]
            file.write_text(source, encoding="utf-8")
        elif file.suffix in (".keras", ".h5"):
            model = self.pull_model(model_table, key)
            (model.save_weights if file.name.endswith(".weights.h5") else model.save)(str(file))
        elif file.suffix in (".safetensors", ".json"):
            architecture, weights, shape = self._trained(model_table, key)
            if file.suffix == ".json":
                file.write_text(architecture, encoding="utf-8")
                return
            content = self._execute("SELECT hopper.to_safetensors(%s::json, %s::bytea, %s::integer[])",
                                    [architecture, weights, shape]).rows[0][0]
            file.write_bytes(bytes(content))
        else:
            raise ValueError(f"{file.name}: a model's file ends in .onnx, .py, .keras, .h5, .weights.h5, .safetensors"
                             " or .json")

    def _trained(self, model_table: str, mst_key: Optional[int]) -> Tuple[str, bytes, Any]:
        """Architecture, weights and the shape of an example, which the architecture itself has where it has several."""
        summary = self._execute("SELECT best_mst_key, independent_shape, pg_catalog.row_to_json(s)->>'inputs' FROM"
                                f" {table_name(companion(model_table, '_summary'))} AS s").rows[0]
        key = self._best(model_table, summary[0]) if mst_key is None else int(mst_key)
        found = self._execute(f"SELECT model_arch::text, model_weights FROM {table_name(model_table)}"
                              " WHERE mst_key = %s", [key]).rows
        if not found:
            raise LookupError(f'"{model_table}" has no model {key}')
        return found[0][0], bytes(found[0][1]), None if summary[2] else summary[1]

    def _best(self, model_table: str, best_of_run: Optional[int]) -> int:
        """The key of the best model that is there, as SQL's functions choose it: models may have been deleted."""
        keys = [row[0] for row in self._execute(f"SELECT mst_key FROM {table_name(model_table)} LIMIT 2").rows]
        if len(keys) < 2:
            if not keys:
                raise LookupError(f'"{model_table}" holds no model')
            return int(keys[0])
        if best_of_run is None:
            raise LookupError(f'the models of "{model_table}" have nothing in common to be ranked by: give mst_key')
        ranked = self._execute("SELECT mst_key FROM hopper.leaderboard(%s::text) WHERE has_weights LIMIT 1",
                               [model_table]).rows
        return int(ranked[0][0]) if ranked else best_of_run

    # ------------------------------------------------------------ data

    def read_table(self, table: str) -> Rows:
        """All rows of a table."""
        return self._rows(self._execute(f"SELECT * FROM {table_name(table)}"))

    def write_table(self, table: str, data: Any, *, id_column: Optional[str] = "id", replace: bool = False) -> Written:
        """Makes a table of a DataFrame, a dictionary of arrays, or a structured array, through COPY in binary.

        Arrays of numbers with more than one axis become one array for each row; those of bytes (uint8),
        such as images, become bytea, which is packed with image_shape. Arrays and lists may differ in the length of
        their first axis, and are packed with pad_to. NaN of a DataFrame becomes NULL.
        id_column: a primary key that is added where data has no column of this name: a DataFrame's
        index if it is of whole numbers of which none comes twice, else the rows' places, 0, 1, 2, ...; None: no such
        column.
        """
        return self._write(table, data, id_column, replace)

    def _write(self, table: str, data: Any, id_column: Optional[str], replace: bool,
               left_out: Optional[Dict[str, Exception]] = None) -> Written:
        """write_table(); with left_out, columns that cannot be written are put there, with the reason."""
        from ._copy import columns_of, encode

        import numpy

        columns = columns_of(data, left_out)
        if left_out and id_column in left_out:
            raise left_out[id_column]
        key = ""
        if id_column is not None and id_column not in [column.name for column in columns]:
            index: Any = getattr(data, "index", None)
            ids = numpy.arange(columns[0].n_rows)
            if getattr(index, "is_unique", False) and index.dtype.kind in "iu":
                ids = index.to_numpy()
            columns = columns_of({id_column: ids}) + columns
            key = f"ALTER TABLE {table_name(table)} ADD PRIMARY KEY ({identifier(id_column)})"
        definitions = ", ".join(f'{identifier(column.name)} {column.sql_type}' for column in columns)

        def write() -> None:
            if replace:
                self._session.execute(f"DROP TABLE IF EXISTS {table_name(table)}")
            self._session.execute(f"CREATE TABLE {table_name(table)} ({definitions})")
            self._session.copy_in(f"COPY {table_name(table)} FROM STDIN (FORMAT binary)", encode(columns))
            if key:
                self._session.execute(key)

        self._together(write)
        return Written(table, columns[0].n_rows, {column.name: column.sql_type for column in columns},
                       {column.name: column.shape for column in columns if column.shape})

    def write_images(self, table: str, folder: Any, size: Optional[Tuple[int, int]] = None, mode: str = "RGB", *,
                     replace: bool = False) -> Written:
        """Makes a table of the images below a folder: id, path, label and image, a bytea of height x width x channels.

        label is the folder that an image lies in, as Keras' image_dataset_from_directory has it. size:
        (height, width), to which all are brought; mode: Pillow's, 'RGB' or 'L' (gray). Pack with
        image_shape=written.shapes['image'].
        """
        from ._copy import images_of

        return self.write_table(table, images_of(folder, size, mode), replace=replace)

    def _together(self, work: Callable[[], None]) -> None:
        """Several statements that are kept together, or not at all."""
        if self._in_block or self._session.open:
            self._kept(work)
            return
        with self.transaction():
            work()


def _named(name: str, columns: Sequence[str]) -> Any:
    return namedtuple(name, columns, rename=True)


def _records(rows: Rows) -> List[Dict[str, Any]]:
    """Rows as dictionaries, with None where pandas has NaN."""
    if isinstance(rows, list):
        return [dict(row._asdict()) for row in rows]
    return [{key: None if value != value else value for key, value in row.items()} for row in rows.to_dict("records")]


def _widened(board: Rows) -> Rows:
    """A leaderboard with the hyperparameters as columns, before the texts that hold them."""
    records = _records(board)
    wide = []
    keys: Dict[str, None] = {}
    for record in records:
        found = {**hyperparameters(record.get("compile_params")), **hyperparameters(record.get("fit_params"))}
        wide.append({(f"param_{key}" if key in record else key): value for key, value in found.items()})
        keys.update(dict.fromkeys(wide[-1]))
    if isinstance(board, list):
        names = list(board[0]._fields) + list(keys) if board else []
        return [_named("leaderboard", names)(*row, *(found.get(key) for key in keys)) for row, found in zip(board, wide)]
    place = list(board.columns).index("compile_params") if "compile_params" in board.columns else board.shape[1]
    board = board.copy()
    for key in reversed(list(keys)):
        board.insert(place, key, [found.get(key) for found in wide])
    return board


def connect(conninfo: str = "", *, driver: Optional[str] = None, progress: ProgressLike = True,
            **arguments: Any) -> Hopper:
    """Connects, with psycopg (3) or else psycopg2, so that each statement is committed.

    conninfo and arguments are the driver's: connect("dbname=sales host=db1") or connect(dbname="sales").
    driver: 'psycopg' or 'psycopg2', to choose one.
    """
    if driver not in (None, "psycopg", "psycopg2"):
        raise ValueError(f'driver must be "psycopg" or "psycopg2", not {driver!r}')
    connection: Any = None
    for library in ([driver] if driver else ["psycopg", "psycopg2"]):
        try:
            module = __import__(library)
        except ImportError:
            continue
        connection = module.connect(conninfo, **arguments)
        break
    if connection is None:
        raise ImportError(f"{driver or 'psycopg'} is not installed: pip install 'psycopg[binary]', or psycopg2-binary")
    connection.autocommit = True
    hopper = Hopper(connection, progress=progress)
    hopper._session.owned = True
    return hopper
