r"""Sets of labels as text, such that no label can be taken for two.

Where a file has lists, a set is a list. Where it has text alone, there is a bar between labels,
and a bar within a label is written ``\|``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

NOTHING = "none"  # what a person reads where no state is possible


def joined(labels: Iterable[Any]) -> str:
    r"""Write labels in one field.

    >>> print(joined(["sun", "a|b", 2]))
    sun|a\|b|2
    """
    words = (str(label).replace("\\", r"\\").replace("|", r"\|") for label in labels)
    return "|".join(words)


def shown(label: Any) -> str:
    """Write a label for a person; in quotes where it could be taken for something else.

    >>> [shown(label) for label in ("sun", "a|b", "a ", 2)]
    ['sun', "'a|b'", "'a '", '2']
    """
    word = str(label)
    odd = "|" in word or word != word.strip() or not word.isprintable() or word in ("", NOTHING)
    return repr(word) if odd else word


def shown_set(labels: Iterable[Any]) -> str:
    """Write a set of labels for a person.

    >>> shown_set(["sun", "a|b"]), shown_set([])
    ("sun | 'a|b'", 'none')
    """
    return " | ".join(map(shown, labels)) or NOTHING
