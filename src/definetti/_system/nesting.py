"""How deep values lie inside of each other, told before a reader goes down into them."""

from __future__ import annotations

import re
from itertools import accumulate

TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+"')  # possessive: text of any length takes no memory
BRACKET = re.compile(r"[][{}]")


def measure_depth(text: str) -> int:
    """Return how many brackets of a piece of JSON are open at most, those in text not counted.

    >>> measure_depth('{"seen": [1, [2]], "note": "[[[["}')
    3
    """
    steps = (1 if found[0] in "[{" else -1 for found in BRACKET.finditer(TEXT.sub("", text)))
    return max(accumulate(steps), default=0)
