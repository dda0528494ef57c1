"""Parse CSV and JSON text into tables; errors name the row."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from definetti._system.files import measure_depth
from definetti.cli.column_types import parse_dates
from definetti.cli.errors import BadTable, take_first_line
from definetti.cli.lazy import pl

SEPARATORS = ",;\t"
ROW_NAME = "(row name)"  # name of a column of row names that the header lacks
# Fields that a spreadsheet reads as formulas, escaped formulas, and numbers (not formulas).
FORMULA, ESCAPED = r"^[=+\-@\t\r\n]", r"^'+[=+\-@\t\r\n]"
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
NUMBERS = rf"^{NUMBER}(\|{NUMBER})*$"
BLANK = re.compile(r"\n[ \t]*\n")
LIST = re.compile(r"\s*\[\s*[{\]]")  # a CSV header may begin with a bracket, too
# Longer marks first: the mark of UTF-32 begins with that of UTF-16.
MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
         codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip
DEEPEST = 64  # depth of nesting in a row; the JSON reader recurses, and crashes at a few hundred
# Cells that any JSON table may have, and cells allowed per field in its rows.
CELLS, SPARSEST = 2 * 10**7, 20
EXAMPLE = 'an object, such as {"state": "sun", "seen": 1}'


def decode_text(content: bytes, name: str) -> str:
    """Decode a file according to its byte order mark, or as UTF-8."""
    coding = next((MARKS[mark] for mark in MARKS if content.startswith(mark)), "utf-8-sig")
    try:
        text = content.decode(coding)
    except UnicodeDecodeError as error:
        byte = f"a byte, 0x{content[min(error.start, len(content) - 1)]:02x}"
        where = _name_row(content[: error.start].count(b"\n"))
        wanted = "UTF-8" if coding == "utf-8-sig" else coding.upper()
        raise BadTable(
            f"{name}: {where} has {byte}, that is not {wanted} text; save the file as UTF-8"
        ) from None
    if "\0" in text:
        where = _name_row(text[: text.index("\0")].count("\n"))
        raise BadTable(f"{name}: {where} has a zero byte, so it is no text; save the file as UTF-8")
    return text


def parse_table(
    text: str,
    name: str,
    state: str | None = None,
    group: str | None = None,
    symbols: Sequence[str] = (),
) -> pl.DataFrame:
    """Parse JSON lines, a JSON list, or CSV; see `reading.read_table`."""
    labels = [column for column in (state, group) if column is not None]
    text = text.removeprefix("\ufeff")
    if text.lstrip()[:1] == "{":
        return _read_json_lines([line for line in text.split("\n") if line.strip()], name, labels)
    if LIST.match(text):  # the format of `--output`
        _check_depth(text, DEEPEST + 1, name)
        try:
            rows = json.loads(text)
        except ValueError as error:
            raise BadTable(f"{name} is not JSON ({error}); correct the file") from None
        if not any(rows):
            raise BadTable(f"{name} has no rows; give at least one object")
        return _read_json_lines([json.dumps(row) for row in rows], name, labels)
    table = _read_csv(text, name, [*labels, *symbols])
    if group in table.columns:  # convert names of series to numbers, unless two coincide: 7 and 007
        numbers = table[group].cast(pl.Int64, strict=False)
        if (numbers.cast(pl.String) == table[group]).all(ignore_nulls=False):
            return table.with_columns(numbers)
    return table


def check_names(columns: list[str], name: str) -> None:
    """Refuse repeated names of columns, and names that polars reads as patterns."""
    if repeated := find_repeated(columns):
        raise BadTable(f"{name}: the header has {repeated[0]!r} twice; rename one")
    for column in columns:
        if column == "*" or (column.startswith("^") and column.endswith("$")):
            raise BadTable(
                f"{name}: the name of column {column!r} is a pattern, which stands for several "
                "columns; rename it"
            )


def find_repeated(names: list[str]) -> list[str]:
    """Return the names that occur more than once."""
    return [name for name, number in Counter(names).items() if number > 1]


def _name_row(row: int) -> str:
    return f"row {row}" if row else "the header"


# --- CSV


def _read_csv(text: str, name: str, labels: list[str]) -> pl.DataFrame:
    """Parse CSV; the columns in `labels` stay text."""
    columns, body, separator = _split_header(text, name)
    check_names(columns, name)
    # Number the columns, since the CSV reader leaves quotes in names doubled.
    text = f"{separator.join(map(str, range(len(columns))))}\n{body}"
    if len(columns) > 1 and BLANK.search(text):  # with a single column, a blank line is a value
        text = _drop_blank_rows(text, name, separator)
    places = [str(place) for place, column in enumerate(columns) if column in labels]
    text_columns = dict.fromkeys(places, pl.String)
    try:
        table = pl.read_csv(
            io.BytesIO(text.encode()),
            separator=separator,
            infer_schema_length=None,
            schema_overrides=text_columns,
        )
    except Exception as error:  # the reader does not name the row
        _check_rows(text, name, separator, quotes=True)
        raise BadTable(f"{name}: {take_first_line(error)}") from None
    table.columns = columns
    if len(table) and table.width > 1 and table[:, -1].null_count():
        _check_rows(text, name, separator)  # short rows have been filled up
    return parse_dates(unescape_formulas(table), labels)


def _split_header(text: str, name: str) -> tuple[list[str], str, str]:
    """Return the names of the columns, the lines below the header, and the separator."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"
    separator = max(SEPARATORS, key=text.split("\n", 1)[0].count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        columns = next(rows)
    except csv.Error as error:
        raise BadTable(f"{name}: the header: {error}; is a quote left open?") from None
    body = text.split("\n", rows.line_num)[-1]
    named = _has_row_names(columns, body, separator, name)
    return ([ROW_NAME, *columns] if named else columns), body, separator


def name_first_field(text: str, name: str) -> str:
    """Return the missing first field of a header if rows begin with a row name; else ``""``."""
    columns, _, separator = _split_header(text, name)
    lacks = columns[0] == ROW_NAME and not text.startswith(ROW_NAME)
    return ROW_NAME + separator if lacks else ""


def _has_row_names(columns: list[str], body: str, separator: str, name: str) -> bool:
    """Return whether most rows begin with a row name that the header lacks, as R writes them."""
    width = len(columns) + 1
    rows = filter(None, csv.reader(io.StringIO(body, newline=""), delimiter=separator))
    try:
        first = next(rows, [])
        every = [first, *rows] if len(first) == width else []
    except csv.Error:
        return False  # `_check_rows` raises the error
    wide = [row for row in every if len(row) == width]
    if len(wide) < 2 or 2 * len(wide) <= len(every):
        return False  # `_check_rows` refuses the long rows
    problem = f"{name}: rows have {width} fields and the header has {len(columns)}"
    if not any(row[-1].strip() for row in wide):
        raise BadTable(f"{problem}, since they end with {separator!r}; take that out")
    if repeated := find_repeated([row[0] for row in wide]):
        raise BadTable(
            f"{problem}, and the first is no name of its row, being {repeated[0]!r} twice; name "
            "all columns in the header, or quote fields with a separator in them"
        )
    return True


def _drop_blank_rows(text: str, name: str, separator: str) -> str:
    kept = io.StringIO()
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        filled = (row for row in rows if row[1:] or "".join(row).strip())
        csv.writer(kept, delimiter=separator, lineterminator="\n").writerows(filled)
    except csv.Error as error:
        raise BadTable(f"{name}: line {rows.line_num}: {error}; is a quote left open?") from None
    return kept.getvalue()


def _check_rows(text: str, name: str, separator: str, *, quotes: bool = False) -> None:
    """Refuse rows longer or shorter than the header, and misplaced quotes."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=quotes)
    width, number, quoted = len(next(rows)), 0, 0
    try:
        for number, row in enumerate(rows, 1):
            if row and len(row) != width:
                fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
                raise BadTable(
                    f"{name}: row {number} has {fields} and the header has {width}; correct the "
                    "row, or quote fields with a separator in them"
                )
            if not quoted and any('"' in field for field in row):
                quoted = number
    except csv.Error:
        raise BadTable(
            f'{name}: {_name_row(number + 1)} has a quote (") that opens a field and does not '
            "close it; close it at the end of the field, or leave it out"
        ) from None
    if quotes and quoted:
        raise BadTable(
            f'{name}: {_name_row(quoted)} has a quote (") within a field; put the whole field into '
            'quotes and write "" for the one within, or leave it out'
        )


# --- JSON


def _read_json_lines(lines: list[str], name: str, labels: Sequence[str]) -> pl.DataFrame:
    """Parse one object per row; the values of a label column must be of one type."""
    for number, line in enumerate(lines, 1):
        if line.count("[") + line.count("{") > DEEPEST:
            _check_depth(line, DEEPEST, f"{name}: row {number}")
    text = "\n".join(lines)
    fields = text.count(":")
    most = max(CELLS, SPARSEST * fields)
    # The full check is slow, and seldom needed.
    if len(lines) * fields > most or any(_are_mixed(text, label) for label in labels):
        _check_objects(lines, name, labels, most)
    try:
        # Infer types from all rows: a key may first occur late, and integers may turn into floats.
        table = pl.read_ndjson(io.BytesIO(text.encode()), infer_schema_length=None)
    except Exception as error:  # the reader does not name the row
        _check_objects(lines, name, labels, most)
        raise BadTable(f"{name}: {take_first_line(error)}") from None
    check_names(table.columns, name)
    return table


def _check_depth(text: str, most: int, name: str) -> None:
    """Refuse deeply nested values, which would crash a recursive reader."""
    if measure_depth(text) > most:
        raise BadTable(
            f"{name} has nested values, more than {DEEPEST} deep; give text and numbers alone"
        )


def _are_mixed(text: str, label: str) -> bool:
    """Return whether a label column seems to mix text, numbers and booleans."""
    key = re.escape(json.dumps(label))
    kinds = [re.search(f"{key}\\s*:\\s*{begin}", text) for begin in ('"', "[-0-9]", "[tf]")]
    return sum(map(bool, kinds)) > 1


def _check_objects(lines: list[str], name: str, labels: Sequence[str], most: int) -> None:
    """Refuse rows that are not objects, labels of several types, and tables with too many keys."""
    names: set[str] = set()
    first: dict[str, tuple[int, Any, type]] = {}

    def note_names(fields: dict[str, Any]) -> dict[str, Any]:
        names.update(fields)
        return fields

    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line, object_hook=note_names)
        except ValueError as error:
            raise BadTable(
                f"{name}: row {number} is not JSON ({error}); each line must be {EXAMPLE}"
            ) from None
        if not isinstance(row, dict):
            raise BadTable(
                f"{name}: row {number} is a {type(row).__name__}, {row!r}; each must be {EXAMPLE}"
            )
        if len(lines) * len(names) > most:
            raise BadTable(
                f"{name}: {len(lines):,} rows have more than {len(names) - 1:,} names of columns, "
                "most of them in few rows; give all rows the same names"
            )
        for label in labels:
            kind = float if type(row.get(label)) is int else type(row.get(label))
            if kind not in (str, float, bool):
                continue
            early, other, known = first.setdefault(label, (number, row[label], kind))
            if kind is not known:
                raise BadTable(
                    f"{name}: row {number}, column {label!r} is {json.dumps(row[label])} and row "
                    f"{early} is {json.dumps(other)}; write them alike, all as text or all as "
                    "numbers"
                )


# --- Formulas


def escape_formulas(table: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """Put an apostrophe before formulas in text; return the table and whether there were any.

    Numbers, and sets of numbers, stay as they are. An escaped formula gets another apostrophe, so
    that different fields stay different.
    """
    text = pl.selectors.string()
    odd = text.str.contains(FORMULA) | text.str.contains(ESCAPED)
    odd &= ~text.str.contains(NUMBERS)
    escaped = table.with_columns(pl.when(~odd).then(text).otherwise("'" + text))
    return escaped, bool(table.select(pl.any_horizontal(odd.any())).item())


def unescape_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """Remove the apostrophes of `escape_formulas`.

    A column with an unescaped formula was not written by `escape_formulas`, and stays as it is.
    """
    text = pl.selectors.string()
    bare = text.str.contains(FORMULA) & ~text.str.contains(NUMBERS)
    escaped = text.str.contains(ESCAPED) & ~bare.any()
    return table.with_columns(pl.when(escaped).then(text.str.slice(1)).otherwise(text))
