"""Summarise observations by state and column."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti.data.labels import is_missing, listed
from definetti.emissions.choice import kinds_of
from definetti.emissions.mixed import kind, read_columns
from definetti.evaluation.results import names_of

MOST_SYMBOLS = 20  # maximal number of symbols in a table
MOST_COLUMNS = 12
MOST_WORDS = 4  # maximal number of columns in the text of an observation
AMOUNTS = ("numbers", "integers", "counts", "switches", "flags")


def emission_tables(
    observations: Any, codes: IntArray, n_states: int
) -> tuple[list[dict[str, Any]], int]:
    """Summarise observations by state for heat maps; return the number of columns left out.

    Columns of numbers share one table of their means in each state; each column of symbols has a
    table of the shares of symbols in each state.
    """
    if observations is None:
        return [], 0
    # As in the models: single whole numbers are symbols, rows of whole numbers are amounts.
    is_single = kinds_of(observations).shape in ("single", "nothing")
    amounts = ("numbers",) if is_single else AMOUNTS
    numbers: dict[str, npt.NDArray[np.float64]] = {}
    tables = []
    columns = _columns(observations)
    for name, values in islice(columns.items(), MOST_COLUMNS):
        column_kind = kind(values)
        if column_kind in amounts:
            numbers[str(name)] = _floats(values)
        elif column_kind not in ("nothing", "dates"):
            tables.append(_shares(str(name), values, codes, n_states))
    if numbers:
        tables.insert(0, _means(numbers, codes, n_states))
    return tables, max(len(columns) - MOST_COLUMNS, 0)


def length_of(observations: Any) -> int:
    """Return the number of steps in observations."""
    return max(map(len, _columns(observations).values()), default=0)


def seen_text(observations: Any, steps: int) -> list[str]:
    """Return the observations of each step as text."""
    if observations is None:
        return [""] * steps
    columns = _columns(observations)
    named = [(f"{name} " if len(columns) > 1 else "", values) for name, values in columns.items()]
    more = f" and {len(named) - MOST_WORDS} more" if len(named) > MOST_WORDS else ""
    rows = [
        ", ".join(f"{name}{_word(values[k])}" for name, values in named[:MOST_WORDS]) + more
        for k in range(length_of(observations))
    ]
    return (rows + ["not observed yet"] * steps)[:steps]


def _columns(observations: Any) -> Mapping[Hashable, Any]:
    """Return observations by column; a single column may have an empty name."""
    native = nw.from_native(observations, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return {column.name: _values(column) for column in native.iter_columns()}
    if isinstance(native, nw.Series):
        return {native.name or "": _values(native)}
    with suppress(TypeError):  # single values, or rows of several lengths
        given = read_columns(observations, "observations")
        if given.named and given.values:
            return dict(given.values)
        if given.values:
            return {f"column {k}": column for k, column in enumerate(given.values.values(), 1)}
    return {"": listed(observations, "observations")}


def _values(series: nw.Series[Any]) -> Any:
    """Return a series of numbers as an array, which is quick, others as a list."""
    return series.to_numpy() if series.dtype.is_numeric() else series.to_list()


def _floats(values: Any) -> npt.NDArray[np.float64]:
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return np.array([np.nan if is_missing(value) else float(value) for value in values])


def _means(columns: Mapping[str, Any], codes: IntArray, n_states: int) -> dict[str, Any]:
    values = np.full((n_states, len(columns)), np.nan)
    scaled = values.copy()
    for place, column in enumerate(columns.values()):
        for state in range(n_states):
            here = column[(codes == state) & np.isfinite(column)]
            if len(here):
                values[state, place] = here.mean()
        finite = column[np.isfinite(column)]
        spread, middle = (finite.std(), finite.mean()) if len(finite) else (0.0, 0.0)
        scaled[:, place] = (values[:, place] - middle) / (spread or 1.0)
    return {
        "title": "Mean of each measurement in each state",
        "kind": "means",
        "columns": [name or "observation" for name in columns],
        "values": values.tolist(),
        "shades": scaled.tolist(),
    }


def _shares(name: str, values: Any, codes: IntArray, n_states: int) -> dict[str, Any]:
    known = [(value, code) for value, code in zip(values, codes, strict=True)
             if not is_missing(value)]  # fmt: skip
    places = {value: k for k, value in enumerate(dict.fromkeys(value for value, _ in known))}
    counts = np.zeros((n_states, len(places)))
    for value, code in known:
        counts[code, places[value]] += 1
    order = np.argsort(-counts.sum(axis=0), kind="stable")
    kept, rest = np.sort(order[:MOST_SYMBOLS]), order[MOST_SYMBOLS:]
    names = names_of(tuple(places))
    columns, table = [names[k] for k in kept], counts[:, kept]
    if len(rest):
        columns.append(f"{len(rest):,} others")
        table = np.column_stack([table, counts[:, rest].sum(axis=1)])
    totals = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, totals, out=np.full(table.shape, np.nan), where=totals > 0)
    return {
        "title": f"Share of each {name or 'observation'} in each state",
        "kind": "shares",
        "columns": columns,
        "values": shares.tolist(),
        "shades": shares.tolist(),
    }


def _word(value: Any) -> str:
    if is_missing(value):
        return "missing"
    return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)
