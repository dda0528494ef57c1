"""Single values: those that JSON has, and what NumPy calls by other names."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from definetti.exceptions import SaveError
from definetti.saving.forms import Form

PLAIN = (bool, int, float, str, type(None))
DIGITS = 1_000  # that a whole number may have


def is_scalar(value: Any) -> bool:
    """Tell whether something is a single value that a file holds."""
    return type(value) in PLAIN or isinstance(value, np.generic)


def plain_scalar(value: Any, where: str) -> Any:
    """Return a value as Python has it: a number of NumPy's becomes the one that it equals.

    >>> plain_scalar(np.float32(0.5), "label"), plain_scalar(np.str_("sun"), "label")
    (0.5, 'sun')
    """
    if isinstance(value, np.generic):
        found = value.item()
        if type(found) not in PLAIN or not (found == value or found != found):
            raise SaveError(
                f"{where} is {value!r}, which a file does not hold; turn it into text or a number"
            )
        return found
    if type(value) is int and abs(value) >= 10**DIGITS:
        raise SaveError(f"{where} is a whole number of more than {DIGITS} digits; use text")
    return value


class NotFinite(Form):
    """The numbers that JSON does not have."""

    tag = "number"

    def takes(self, value: Any) -> bool:
        return type(value) is float and not isfinite(value)

    def write(self, value: Any, writer: Any, where: str) -> str:
        return repr(value)

    def read(self, node: Any, reader: Any) -> float:
        return {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}[node]


class Exact(Form):
    """Fractions and decimals, in which a confidence level may be given."""

    tag = "exact"
    kinds = (Fraction, Decimal)

    def takes(self, value: Any) -> bool:
        return type(value) in self.kinds

    def write(self, value: Any, writer: Any, where: str) -> list[str]:
        return [type(value).__name__, str(value)]

    def read(self, node: Any, reader: Any) -> Fraction | Decimal:
        name, text = node
        if not isinstance(text, str) or len(text) > 2 * DIGITS or "e" in text.lower():
            raise ValueError("a number is written in another way")
        kinds = {kind.__name__: kind for kind in self.kinds}
        return kinds[name](text)
