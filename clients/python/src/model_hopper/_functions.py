"""The functions of schema hopper as the server knows them: names, arguments, what they return."""

from __future__ import annotations

import difflib
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Sequence, Tuple

from ._drivers import Result
from ._values import array_type, as_row, convert, fitness

CATALOGUE = """
SELECT p.proname::text, p.pronargs::integer, p.pronargdefaults::integer, p.proretset,
       t.typtype = 'c' OR coalesce(p.proargmodes && ARRAY['o', 'b', 't']::"char"[], false),
       pg_catalog.format_type(p.prorettype, NULL),
       p.provariadic <> 0, p.proargnames::text[],
       ARRAY(SELECT pg_catalog.format_type(a.type, NULL)
             FROM pg_catalog.unnest(p.proargtypes) WITH ORDINALITY AS a (type, place)
             ORDER BY a.place)::text[]
FROM pg_catalog.pg_proc AS p
     JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
     JOIN pg_catalog.pg_type AS t ON t.oid = p.prorettype
WHERE n.nspname = 'hopper'
ORDER BY p.proname, p.pronargs, p.oid
"""


class Function(NamedTuple):
    """One function, of perhaps several of its name."""

    name: str
    arguments: List[Tuple[str, str]]  # name and SQL type
    n_required: int
    returns_set: bool
    returns_row: bool
    returns: str
    is_variadic: bool = False  # in its last argument

    @property
    def names(self) -> List[str]:
        """Of the arguments, in order."""
        return [name for name, _ in self.arguments]

    def statement(self, given: Mapping[str, Any]) -> Tuple[str, List[Any]]:
        """The SQL of a call, and its parameters. None stands for an argument's default."""
        parts, parameters = [], []
        for place, (name, sql_type) in enumerate(self.arguments):
            if name not in given or (given[name] is None and place >= self.n_required):
                continue
            value = given[name]
            if sql_type == "record":
                row, cells = as_row(value, name)
                parts.append(f'"{name}" := {row}')
                parameters.extend(cells)
                continue
            cast = array_type(value) if sql_type == "anyarray" else sql_type
            variadic = "VARIADIC " if self.is_variadic and place == len(self.arguments) - 1 else ""
            parts.append(f'{variadic}"{name}" := CAST(%s AS {cast})')
            parameters.append(convert(value, sql_type, name))
        return f'SELECT * FROM hopper."{self.name}"({", ".join(parts)})', parameters


def suggestion(name: str, known: Iterable[str]) -> str:
    """' Perhaps you meant "...".' where a name is nearly right."""
    near = difflib.get_close_matches(name, list(known), 1, 0.6)
    return f' Perhaps you meant "{near[0]}".' if near else ""


class Functions:
    """All functions of a database, from what CATALOGUE has found."""

    def __init__(self, result: Result) -> None:
        self._by_name: Dict[str, List[Function]] = {}
        for name, n_arguments, n_defaults, is_set, is_row, returns, is_variadic, names, types in result.rows:
            names = (names or [])[:n_arguments]
            function = Function(name, list(zip(names, types)), n_arguments - n_defaults, is_set, is_row, returns,
                                is_variadic)
            self._by_name.setdefault(name, []).append(function)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    @property
    def names(self) -> List[str]:
        """Of all functions."""
        return list(self._by_name)

    def overloads(self, name: str) -> List[Function]:
        """The functions of a name; LookupError where there is none."""
        if name in self._by_name:
            return self._by_name[name]
        if not self._by_name:
            raise LookupError("this database has no functions of model_hopper: run CREATE EXTENSION model_hopper"
                              " in it, or connect to the one that has it")
        raise LookupError(f'there is no function hopper.{name}.{suggestion(name, self._by_name)}')

    def choose(self, name: str, positional: Sequence[Any], named: Mapping[str, Any]
               ) -> Tuple[Function, Dict[str, Any]]:
        """The function that these arguments are for, and them by name; TypeError where there is none."""
        found: List[Tuple[int, Function, Dict[str, Any]]] = []
        problems: List[str] = []
        for function in self.overloads(name):
            given, problem = _bind(function, positional, named)
            if problem:
                problems.append(problem)
                continue
            types = dict(function.arguments)
            fits = [fitness(value, types[key]) for key, value in given.items()]
            found.append((sum(fits) if all(fits) else -1, function, given))
        if not found:
            raise TypeError(min(problems, key=len))
        _, function, given = max(found, key=lambda entry: entry[0])
        return function, given


def _bind(function: Function, positional: Sequence[Any], named: Mapping[str, Any]) -> Tuple[Dict[str, Any], str]:
    """The arguments by name, and what is wrong with them."""
    names = function.names
    if len(positional) > len(names):
        return {}, f"hopper.{function.name} takes at most {len(names)} arguments, {len(positional)} were given"
    given = dict(zip(names, positional))
    for key in named:
        if key in given:
            return {}, f'hopper.{function.name} was given the argument "{key}" twice'
        if key not in names:
            return {}, (f'hopper.{function.name} has no argument "{key}".{suggestion(key, names)}'
                        f' Its arguments are {", ".join(names)}.')
    given.update(named)
    missing = [key for key in names[:function.n_required] if key not in given]
    if missing:
        return {}, f'hopper.{function.name} needs the argument{"s" if missing[1:] else ""} {", ".join(missing)}'
    return given, ""
