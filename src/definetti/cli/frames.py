"""The data frame library, where it is there."""

from __future__ import annotations

from typing import Any

from definetti.cli.fields import BadTable


def import_polars() -> Any:
    """Import polars, or say how to get it."""
    try:
        import polars
    except ImportError:
        raise BadTable("reading files needs polars; pip install 'definetti[cli]'") from None
    return polars


def take_first_line(error: Exception) -> str:
    """Return what an error says, without advice that is for those who program."""
    return str(error).strip().split("\n", 1)[0]
