r"""Sets of labels as text, such that no label can be taken for two.

Where a file has lists, a set is a list. Where it has text alone, there is a bar between labels,
and a bar within a label is written ``\|``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?"
NUMBERS = re.compile(rf"{NUMBER}(\|{NUMBER})*", re.ASCII | re.IGNORECASE)
NOTHING = "none"  # what a person reads where no state is possible


def join_labels(labels: Iterable[Any]) -> str:
    r"""Write labels in one field.

    >>> print(join_labels(["sun", "a|b", 2]))
    sun|a\|b|2
    """
    words = (str(label).replace("\\", r"\\").replace("|", r"\|") for label in labels)
    return "|".join(words)


def escape_formula(text: str) -> str:
    """Write a field of a CSV such that no spreadsheet takes it for a formula: after an apostrophe.

    Numbers, and sets of numbers, stay as they are. An apostrophe that was there before such a
    formula is followed by another, so that no two fields become one.

    >>> [escape_formula(text) for text in ("sun", "=1+1", "'=1+1", "-1", "-1|+2.5", "-1|x")]
    ['sun', "'=1+1", "''=1+1", '-1', '-1|+2.5', "'-1|x"]
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBERS.fullmatch(text) else text


def escape_controls(text: str) -> str:
    r"""Write signs that a terminal would act upon, the end of a line among them, as codes.

    >>> print(escape_controls("a\x1b[31m\nb"))
    a\x1b[31m\nb
    """
    if text.isprintable():
        return text
    codes = (sign.encode("unicode_escape").decode("ascii") for sign in text)
    return "".join(
        sign if sign.isprintable() else code for sign, code in zip(text, codes, strict=True)
    )


def format_label(label: Any) -> str:
    """Write a label for a person; in quotes where it could be taken for something else.

    >>> [format_label(label) for label in ("sun", "a|b", "a ", 2)]
    ['sun', "'a|b'", "'a '", '2']
    """
    word = str(label)
    odd = "|" in word or word != word.strip() or not word.isprintable() or word in ("", NOTHING)
    return repr(word) if odd else word


def format_set(labels: Iterable[Any]) -> str:
    """Write a set of labels for a person.

    >>> format_set(["sun", "a|b"]), format_set([])
    ("sun | 'a|b'", 'none')
    """
    return " | ".join(map(format_label, labels)) or NOTHING
