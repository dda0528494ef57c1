"""Tables from JSON: an object a line, or a list of objects."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from definetti._system.files import measure_depth
from definetti.cli.fields import BadTable, check_names, take_first_line

if TYPE_CHECKING:
    import polars as pl

# Values inside of each other in a row. Readers go down into them, and some have no way back: from
# a few hundred on, the process ends.
DEEPEST = 64
# Cells that a JSON table may have in any case, and for each field that its rows give: a name that
# few rows have is a column of all of them.
CELLS, SPARSEST = 2 * 10**7, 20
STRING = re.compile(r'"([^"]*)"(\s*:)?')
TOO_DEEP = f"values inside of each other, more than {DEEPEST} deep; a row takes plain ones"


def read_lines(text: str, name: str, labels: Sequence[str]) -> pl.DataFrame:
    """Read JSON lines: an object a row.

    Parameters
    ----------
    text, name : what was read, and where it is from
    labels : the columns with states, and with names of series, which are to be all of one kind
    """
    import polars as pl

    _check_depth(text, name)
    _check_cells(text, name)
    for label in labels:
        _check_alike(text, name, label)
    try:
        # All rows say what the columns hold: a key may come up late, and whole numbers end.
        found = pl.read_ndjson(io.BytesIO(text.encode()), infer_schema_length=None)
    except Exception as error:  # look for the row, which the reader does not tell
        for number, line in enumerate(filter(str.strip, text.split("\n")), 1):
            try:
                row = json.loads(line)
            except ValueError as wrong:
                raise BadTable(
                    f"{name}: row {number} is not JSON ({wrong}); each line must be an object, "
                    'such as {"state": "sun", "seen": 1}'
                ) from None
            _check_object(row, number, name)
        raise BadTable(f"{name}: {take_first_line(error)}") from None
    check_names(found.columns, name)
    return found


def read_list(text: str, name: str, labels: Sequence[str]) -> pl.DataFrame:
    """Read a list of objects, as `--output` writes it."""
    if measure_depth(text) > DEEPEST + 1:
        raise BadTable(f"{name} has {TOO_DEEP}")
    try:
        rows = json.loads(text)
    except ValueError as wrong:
        raise BadTable(f"{name} is not JSON ({wrong}); mend it there") from None
    for number, row in enumerate(rows, 1):
        _check_object(row, number, name)
    if not any(rows):
        raise BadTable(f"{name} has no rows; give at least one object")
    return read_lines("\n".join(map(json.dumps, rows)), name, labels)


def _check_object(row: Any, number: int, name: str) -> None:
    if not isinstance(row, dict):
        raise BadTable(
            f"{name}: row {number} is a {type(row).__name__}, {row!r}; each must be an object, "
            'such as {"state": "sun", "seen": 1}'
        )


def _check_depth(text: str, name: str) -> None:
    """Refuse values inside of each other without end, before a reader goes down into them."""
    for number, line in enumerate(filter(str.strip, text.split("\n")), 1):
        if line.count("[") + line.count("{") > DEEPEST and measure_depth(line) > DEEPEST:
            raise BadTable(f"{name}: row {number} has {TOO_DEEP}")


def _check_cells(text: str, name: str) -> None:
    """Refuse rows of which each has names of its own: the table would be a square of them."""
    rows, fields = text.count("\n") + 1, text.count(":")
    most = max(CELLS, SPARSEST * fields)
    if rows * fields <= most:
        return
    text = text.replace("\\\\", "").replace('\\"', "")  # strings then end with the next quote
    names = set()
    for one in STRING.finditer(text):
        if one[2]:
            names.add(one[1])
            if rows * len(names) > most:
                raise BadTable(
                    f"{name}: {rows:,} rows have more than {len(names) - 1:,} names of columns, "
                    "most of them in few rows; give all rows the same names"
                )


def _check_alike(text: str, name: str, label: str) -> None:
    """Refuse labels of several kinds: the reader would make 1 and "1" one of them."""
    begins = ('"', "[-0-9]", "[tf]")
    found = [re.search(f"{re.escape(json.dumps(label))}\\s*:\\s*{one}", text) for one in begins]
    if sum(map(bool, found)) < 2:  # as a rule; else look twice, at what is slow to look at
        return
    first: dict[type, tuple[int, Any]] = {}
    for number, line in enumerate(filter(str.strip, text.split("\n")), 1):
        try:
            value = json.loads(line).get(label)
        except (ValueError, AttributeError):
            return  # which the reader of the whole file will say more about
        kind = float if type(value) is int else type(value)
        first.setdefault(kind, (number, value))
        others = [one for one in first if one is not kind and one in (str, float, bool)]
        if kind in (str, float, bool) and others:
            row, other = first[others[0]]
            raise BadTable(
                f"{name}: row {number}, column {label!r} is {json.dumps(value)} and row {row} is "
                f"{json.dumps(other)}; write them alike, all as text or all as numbers"
            )
