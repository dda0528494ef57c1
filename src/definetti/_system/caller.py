"""Warnings that point to the user's own line, however deep in the package they come up."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

PACKAGE = str(Path(__file__).parent.parent)


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn of what was asked for, naming the first line outside of the package that led here.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     warn_caller("blocks are few", UserWarning)
    >>> str(heard[0].message)
    'blocks are few'
    """
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth + 1)
