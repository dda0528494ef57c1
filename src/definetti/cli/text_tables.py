"""CSV and JSON text into tables, and what is wrong with a row."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from definetti._system.files import measure_depth
from definetti.cli.errors import BadTable, take_first_line

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = ",;\t"
ROW_NAME = "(row name)"  # the column of names of rows, for which a header has no name
# What a spreadsheet takes for a formula; the same escaped by apostrophes; and numbers with bars
# between, which are no formulas.
FORMULA, ESCAPED = r"^[=+\-@\t\r\n]", r"^'+[=+\-@\t\r\n]"
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
NUMBERS = rf"^{NUMBER}(\|{NUMBER})*$"
BLANK = re.compile(r"\n[ \t]*\n")
# The longer marks first: UTF-32 begins as UTF-16 does.
MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
         codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip
# Depth of nested values in a row. Readers recurse into them; some crash at a few hundred.
DEEPEST = 64
# Cells that a JSON table may have in any case, and for each field in its rows.
CELLS, SPARSEST = 2 * 10**7, 20
STRING = re.compile(r'"([^"]*)"(\s*:)?')
TOO_DEEP = f"values inside of each other, more than {DEEPEST} deep; a row takes plain ones"


def decode_text(content: bytes, name: str) -> str:
    """Return the text of a file: UTF-8, or what its first bytes say."""
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


def _name_row(row: int) -> str:
    return f"row {row}" if row else "the header"


def clean_lines(text: str, name: str) -> tuple[str, str, list[str]]:
    r"""Return CSV text with uniform line ends and no blank lines, its separator, and its columns.

    In the text the columns are numbered, since the reader of CSV leaves quotes in names doubled.

    >>> clean_lines('"a ""raw"" x";b\r\n\r\n1;2\r\n\r\n', "x.csv")
    ('0;1\n1;2\n', ';', ['a "raw" x', 'b'])
    """
    columns, body, separator = _split_header(text, name)
    if _has_row_names(columns, body, separator, name):
        columns = [ROW_NAME, *columns]
    if twice := find_repeated(columns):
        raise BadTable(f"{name}: the header has {twice[0]!r} twice; rename one")
    text = f"{separator.join(map(str, range(len(columns))))}\n{body}"
    if len(columns) > 1 and BLANK.search(text):  # else it is a value that is missing
        kept = io.StringIO()
        filled = (
            row for row in _read_rows(text, name, separator) if "".join(row).strip() or row[1:]
        )
        csv.writer(kept, delimiter=separator, lineterminator="\n").writerows(filled)
        text = kept.getvalue()
    return text, separator, columns


def _split_header(text: str, name: str) -> tuple[list[str], str, str]:
    """Return the names in the header, the lines below it, and the separator."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"
    header = text.split("\n", 1)[0]
    separator = max(SEPARATORS, key=header.count)  # the first of those that are as frequent
    rows = csv.reader(_iterate_lines(text), delimiter=separator)
    try:
        columns = next(rows)
    except csv.Error as error:
        raise BadTable(f"{name}: the header: {error}; is a quote left open?") from None
    return columns, text.split("\n", rows.line_num)[-1], separator


def _iterate_lines(text: str) -> Iterator[str]:
    """Yield line after line, without a copy of all."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin) + 1 or len(text)
        yield text[begin:end]
        begin = end


def name_first_field(text: str, name: str) -> str:
    r"""Return the beginning that a header lacks if the first field of each row is its name.

    >>> name_first_field('"x","state"\n"1",5,"a"\n"2",7,"b"\n', "x.csv")
    '(row name),'
    >>> name_first_field('"x","state"\n5,"a"\n7,"b"\n', "x.csv")
    ''
    """
    columns, body, separator = _split_header(text, name)
    return ROW_NAME + separator if _has_row_names(columns, body, separator, name) else ""


def _has_row_names(columns: list[str], body: str, separator: str, name: str) -> bool:
    """Tell whether the first field of each row is its name, without a name in the header, as in R.

    The names of rows differ. Rows that end with a separator have one more field, too.
    """
    width = len(columns) + 1
    try:
        first = next(
            (row for row in csv.reader(_iterate_lines(body), delimiter=separator) if row), []
        )
    except csv.Error:
        return False  # the reader of the whole text says why
    if len(first) != width:
        return False
    rows = (row for row in _read_rows(body, name, separator, 1) if row)
    next(rows)
    names, number, ended = [first[0]], 1, first[-1].strip() == ""
    for row in rows:
        number += 1
        if len(row) == width:
            names.append(row[0])
            ended = ended and not row[-1].strip()
    if len(names) < 2 or 2 * len(names) <= number:
        return False  # `check_widths` refuses the long rows
    wide = f"{name}: rows have {width} fields and the header has {len(columns)}"
    if ended:
        raise BadTable(f"{wide}, since they end with {separator!r}; take that out")
    if twice := find_repeated(names):
        raise BadTable(
            f"{wide}, and the first is no name of its row, being {twice[0]!r} twice; name all "
            "columns in the header, or quote fields with a separator in them"
        )
    return True


def check_names(columns: list[str], name: str) -> None:
    """Refuse names that polars takes for patterns."""
    for column in columns:
        if column == "*" or (column.startswith("^") and column.endswith("$")):
            raise BadTable(
                f"{name}: the name of column {column!r} is a pattern, which stands for several "
                "columns; rename it"
            )


def find_repeated(names: list[str]) -> list[str]:
    """Return the names that occur more than once.

    >>> find_repeated(["a", "b", "c", "b"])
    ['b']
    """
    return [name for name, number in Counter(names).items() if number > 1]


def check_widths(text: str, name: str, separator: str) -> None:
    """Refuse rows that are longer or shorter than the header."""
    rows = _read_rows(text, name, separator)
    width = len(next(rows))
    for number, row in enumerate(rows, 1):
        if row and len(row) != width:
            fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
            raise BadTable(
                f"{name}: row {number} has {fields} and the header has {width}; mend the row, or "
                "quote fields with a separator in them"
            )


def check_open_quotes(text: str, name: str, separator: str) -> None:
    """Refuse a quote that opens a field and does not close it."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    number = 0
    try:
        for _ in rows:
            number += 1
    except csv.Error:
        raise BadTable(
            f'{name}: {_name_row(number)} has a quote (") that opens a field and does not close '
            "it; close it at the end of the field, or leave it out"
        ) from None


def check_inner_quotes(text: str, name: str, separator: str) -> None:
    """Refuse a quote in the middle of a field."""
    for number, row in enumerate(_read_rows(text, name, separator)):
        if any('"' in field for field in row):
            raise BadTable(
                f'{name}: {_name_row(number)} has a quote (") within a field; put the whole field '
                'into quotes and write "" for the one within, or leave it out'
            )


def _read_rows(text: str, name: str, separator: str, number: int = 0) -> Iterator[list[str]]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for row in rows:
            yield row
            number += 1
    except csv.Error as error:
        raise BadTable(f"{name}: {_name_row(number)}: {error}; is a quote left open?") from None


def read_lines(text: str, name: str, labels: Sequence[str]) -> pl.DataFrame:
    """Read JSON lines: one object per row; the values of a label column must be of one type."""
    import polars as pl

    _check_depth(text, name)
    _check_cells(text, name)
    for label in labels:
        _check_alike(text, name, label)
    try:
        # All rows determine the types: a key may come late, and whole numbers may end.
        found = pl.read_ndjson(io.BytesIO(text.encode()), infer_schema_length=None)
    except Exception as error:  # the reader does not name the row
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
    """Refuse deeply nested values before a reader recurses into them."""
    for number, line in enumerate(filter(str.strip, text.split("\n")), 1):
        if line.count("[") + line.count("{") > DEEPEST and measure_depth(line) > DEEPEST:
            raise BadTable(f"{name}: row {number} has {TOO_DEEP}")


def _check_cells(text: str, name: str) -> None:
    """Refuse rows with different names each: the table would be huge and empty."""
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
    """Refuse labels of several types: the reader would not tell 1 from "1"."""
    begins = ('"', "[-0-9]", "[tf]")
    found = [re.search(f"{re.escape(json.dumps(label))}\\s*:\\s*{one}", text) for one in begins]
    if sum(map(bool, found)) < 2:  # the usual case; the closer look below is slow
        return
    first: dict[type, tuple[int, Any]] = {}
    for number, line in enumerate(filter(str.strip, text.split("\n")), 1):
        try:
            value = json.loads(line).get(label)
        except (ValueError, AttributeError):
            return  # the reader of the whole file says why
        kind = float if type(value) is int else type(value)
        first.setdefault(kind, (number, value))
        others = [one for one in first if one is not kind and one in (str, float, bool)]
        if kind in (str, float, bool) and others:
            row, other = first[others[0]]
            raise BadTable(
                f"{name}: row {number}, column {label!r} is {json.dumps(value)} and row {row} is "
                f"{json.dumps(other)}; write them alike, all as text or all as numbers"
            )
