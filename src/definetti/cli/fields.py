"""From bytes to lines of text with fields, and what is wrong with them, by row."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator

SEPARATORS = ",;\t"
# What a spreadsheet takes for a formula; the same after apostrophes that keep it from that; and
# numbers, with bars between, which are none.
FORMULA, ESCAPED = r"^[=+\-@\t\r\n]", r"^'+[=+\-@\t\r\n]"
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
NUMBERS = rf"^{NUMBER}(\|{NUMBER})*$"
BLANK = re.compile(r"\n[ \t]*\n")
# The longer marks first: UTF-32 begins as UTF-16 does.
MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
         codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip


class BadTable(ValueError):
    """A file that cannot be read, with what is wrong and where."""


def take_first_line(error: Exception | str) -> str:
    """Return what an error says, without advice that is for those who program."""
    return str(error).strip().split("\n", 1)[0]


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


def clean_lines(text: str, name: str) -> tuple[str, str]:
    r"""Return text with one line end and without blank lines, and what separates its fields.

    >>> clean_lines("a;b\r\n\r\n1;2\r\n\r\n", "x.csv")
    ('a;b\n1;2\n', ';')
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"
    header = text.split("\n", 1)[0]
    separator = max(SEPARATORS, key=header.count)  # the first of those that are as frequent
    columns = next(_read_rows(text, name, separator))
    if twice := find_repeated(columns):
        raise BadTable(f"{name}: the header has {twice[0]!r} twice; rename one")
    if len(columns) > 1 and BLANK.search(text):  # else it is a value that is missing
        kept = io.StringIO()
        filled = (
            row for row in _read_rows(text, name, separator) if "".join(row).strip() or row[1:]
        )
        csv.writer(kept, delimiter=separator, lineterminator="\n").writerows(filled)
        text = kept.getvalue()
    return text, separator


def find_repeated(names: list[str]) -> list[str]:
    """Return the names that come more than once, in the order of the first.

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


def _read_rows(text: str, name: str, separator: str) -> Iterator[list[str]]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    number = 0
    try:
        for row in rows:
            yield row
            number += 1
    except csv.Error as error:
        raise BadTable(f"{name}: {_name_row(number)}: {error}; is a quote left open?") from None
