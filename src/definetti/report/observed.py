"""What was observed in each state, column by column."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti.arrays import IntArray
from definetti.hmm.emissions.choice import kinds_of
from definetti.hmm.emissions.kinds import kind
from definetti.sequence import is_missing, listed

MOST_SYMBOLS = 20  # columns of a table that a person can look at
MOST_COLUMNS = 12
AMOUNTS = ("numbers", "integers", "counts", "switches")


def emission_tables(observations: Any, codes: IntArray, n_states: int) -> list[dict[str, Any]]:
    """Summarise labelled observations for a heat map each.

    Numbers share one table, the mean of each column in each state; a column of symbols has one of
    its own, the share of each symbol in each state.

    Parameters
    ----------
    observations : as an estimator takes them
    codes : (T,) the states

    Examples
    --------
    >>> emission_tables(["wet", "dry", "wet"], np.array([0, 1, 1]), 2)[0]["values"]
    [[1.0, 0.0], [0.5, 0.5]]
    """
    if observations is None:
        return []
    # As the models take them: single whole numbers are symbols, a row of them has amounts.
    amounts = ("numbers",) if _is_single(observations) else AMOUNTS
    numbers: dict[str, npt.NDArray[np.float64]] = {}
    tables = []
    for name, values in list(_columns(observations).items())[:MOST_COLUMNS]:
        found = kind(values)
        if found in amounts:
            numbers[str(name)] = _floats(values)
        elif found not in ("nothing", "dates"):
            tables.append(_shares(str(name), values, codes, n_states))
    if numbers:
        tables.insert(0, _means(numbers, codes, n_states))
    return tables


def seen_text(observations: Any, steps: int) -> list[str]:
    """Return what was observed at each step, in words; nothing where nothing was."""
    if observations is None:
        return [""] * steps
    columns = _columns(observations)
    length = max(map(len, columns.values()), default=0)
    rows = [
        ", ".join(
            f"{name} {_word(values[k])}" if len(columns) > 1 else _word(values[k])
            for name, values in columns.items()
        )
        for k in range(length)
    ]
    return (rows + ["not observed yet"] * steps)[:steps]


def _columns(observations: Any) -> Mapping[Hashable, list[Any]]:
    """Return observations column by column; a single one has no name but that of its series."""
    native = nw.from_native(observations, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return {column.name: column.to_list() for column in native.iter_columns()}
    if isinstance(native, nw.Series):
        return {native.name or "": native.to_list()}
    array = observations if isinstance(observations, np.ndarray) else None
    if array is not None and array.ndim == 2:
        return {f"column {k + 1}": column.tolist() for k, column in enumerate(array.T)}
    values = listed(observations, "observations")
    known = [value for value in values if not is_missing(value)]
    if known and all(isinstance(value, Mapping) for value in known):
        names = dict.fromkeys(name for value in known for name in value)
        return {name: [_at(value, name) for value in values] for name in names}
    if known and all(isinstance(value, (list, tuple, np.ndarray)) for value in known):
        widths = {len(value) for value in known}
        if len(widths) == 1:
            places = range(widths.pop())
            return {f"column {k + 1}": [_at(value, k) for value in values] for k in places}
    return {"": values}


def _is_single(observations: Any) -> bool:
    return kinds_of(observations).shape in ("single", "nothing")


def _at(value: Any, key: Any) -> Any:
    if is_missing(value):
        return None
    return value.get(key) if isinstance(value, Mapping) else value[key]


def _floats(values: list[Any]) -> npt.NDArray[np.float64]:
    return np.array([np.nan if is_missing(value) else float(value) for value in values])


def _means(columns: Mapping[str, Any], codes: IntArray, n_states: int) -> dict[str, Any]:
    values = np.full((n_states, len(columns)), np.nan)
    scaled = values.copy()
    for place, column in enumerate(columns.values()):
        for state in range(n_states):
            here = column[(codes == state) & np.isfinite(column)]
            if len(here):
                values[state, place] = here.mean()
        spread = np.nanstd(column[np.isfinite(column)]) if np.isfinite(column).any() else 0.0
        middle = np.mean(column[np.isfinite(column)]) if np.isfinite(column).any() else 0.0
        scaled[:, place] = (values[:, place] - middle) / (spread or 1.0)
    return {
        "title": "Mean of each measurement in each state",
        "kind": "means",
        "columns": [name or "observation" for name in columns],
        "values": _plain(values),
        "shades": _plain(scaled),
    }


def _shares(name: str, values: list[Any], codes: IntArray, n_states: int) -> dict[str, Any]:
    words = [None if is_missing(value) else str(value) for value in values]
    places: dict[str, int] = {}
    for word in words:
        if word is not None:
            places.setdefault(word, len(places))
    counts = np.zeros((n_states, len(places)))
    for word, code in zip(words, codes.tolist(), strict=True):
        if word is not None:
            counts[code, places[word]] += 1
    order = np.argsort(-counts.sum(axis=0), kind="stable")
    kept, rest = order[:MOST_SYMBOLS], order[MOST_SYMBOLS:]
    names = list(places)
    columns = [names[k] for k in sorted(kept.tolist())]
    table = counts[:, sorted(kept.tolist())]
    if len(rest):
        columns.append(f"{len(rest):,} others")
        table = np.column_stack([table, counts[:, rest].sum(axis=1)])
    totals = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, totals, out=np.full(table.shape, np.nan), where=totals > 0)
    return {
        "title": f"How often each {name or 'observation'} was seen in each state",
        "kind": "shares",
        "columns": columns,
        "values": _plain(shares),
        "shades": _plain(shares),
    }


def _plain(values: npt.NDArray[np.float64]) -> list[list[float | None]]:
    return [[None if np.isnan(v) else float(v) for v in row] for row in values]


def _word(value: Any) -> str:
    if is_missing(value):
        return "missing"
    return f"{value:g}" if isinstance(value, float) else str(value)
