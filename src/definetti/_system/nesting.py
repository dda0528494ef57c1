"""The structure of JSON text, read in one pass before a parser descends into it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

PIECE = 2**16  # characters that are looked at together
QUOTE = ord('"')


def structure(text: str) -> Iterator[npt.NDArray[np.uint8]]:
    r"""Yield the UTF-8 bytes of JSON that lie outside strings, in pieces.

    Up to the first character that is not JSON, strings are those that a parser finds. The work and
    the memory are proportional to the length of the text, whatever it is.

    >>> [bytes(piece) for piece in structure(r'{"a[\"": ["é"]}')]
    [b'{: []}']
    """
    if "\\" in text:  # pairs of backslashes first: what is left escapes the next character
        text = text.replace("\\\\", "").replace('\\"', "")
    inside = False
    for begin in range(0, len(text), PIECE):
        piece = text[begin : begin + PIECE].encode("utf-8", "surrogatepass")
        signs = np.frombuffer(piece, dtype=np.uint8)
        quotes = signs == QUOTE
        in_string = np.logical_xor.accumulate(quotes) ^ inside  # the quote that opens included
        inside = bool(in_string[-1])
        yield signs[~(in_string | quotes)]


def measure_depth(text: str) -> int:
    """Return how many brackets of JSON text are open at most, those inside strings not counted.

    >>> measure_depth('{"seen": [1, [2]], "note": "[[[["}')
    3
    """
    depth = deepest = 0
    for signs in structure(text):
        opens = (signs == ord("[")) | (signs == ord("{"))
        closes = (signs == ord("]")) | (signs == ord("}"))
        depths = depth + np.cumsum(opens.astype(np.int64) - closes)
        if len(depths):
            depth, deepest = int(depths[-1]), max(deepest, int(depths.max()))
    return deepest
