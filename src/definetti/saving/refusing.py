"""What has no form is refused by name, with what to do instead."""

from __future__ import annotations

from typing import Any

from definetti.exceptions import SaveError

MOST = 60  # signs of a value that a person is shown


def refused(value: Any, where: str) -> SaveError:
    """Return the error for a value that a file does not hold."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, type) or callable(value) or not _is_known(kind.__module__):
        what = getattr(value, "__qualname__", shortened(value))
        return SaveError(
            f"{where} is {what} ({name}), which is code of its own, and a file holds none; take "
            "what definetti has under a name, or keep the labelled data and fit again where the "
            "code is"
        )
    return SaveError(
        f"{where} is {shortened(value)} ({name}), which a file does not hold; labels are text, "
        "numbers, True, False, None, or tuples of them: turn it into one of these"
    )


def _is_known(module: str) -> bool:
    """Tell whether a class is of Python or a library of data, and so holds no code."""
    return module.partition(".")[0] in (
        "builtins", "collections", "datetime", "decimal", "fractions", "numpy",
        "pandas", "polars", "uuid",
    )  # fmt: skip


def shortened(value: Any) -> str:
    """Return what a value looks like, in a few signs."""
    text = repr(value)
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"
