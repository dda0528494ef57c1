"""What sets say of themselves."""

from __future__ import annotations

import numpy as np

SHOWN = 10  # rows in a repr


def powered(base: int, exponent: int) -> str:
    """Write a power in full where a person could read it.

    >>> powered(3, 4), powered(20, 1000)
    ('81', '20^1000')
    """
    readable = exponent * np.log10(max(base, 1)) < 15
    return f"{base**exponent:,}" if readable else f"{base}^{exponent}"


def promise(confidence_level: float | None, exact: bool) -> str:
    """Say what a set of sequences promises.

    >>> promise(0.9, True)
    'holding the truth with probability ≥ 0.9'
    """
    if confidence_level is None:
        return f"all candidates{'' if exact else ', p-values NOT valid'}"
    if exact:
        return f"holding the truth with probability ≥ {confidence_level}"
    return f"level {confidence_level} NOT guaranteed"
