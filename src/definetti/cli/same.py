"""Options that a state was made by, which a call that goes on must have as well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from definetti.cli.errors import BadTable


def check_same(path: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse an option that is not what it was: the state cannot follow it any more.

    Parameters
    ----------
    path : the file with the state
    before, now : options by name; one that the file does not tell of may be anything

    Examples
    --------
    >>> check_same(Path("on.definetti"), {"lag": 1, "seed": 0}, {"lag": 2, "seed": 0})
    Traceback (most recent call last):
    definetti.cli.errors.BadTable: on.definetti was begun with --lag 1, and this call has --lag 2; \
give --lag 1, or another file with --save
    """
    for name, value in now.items():
        was = before.get(name, value)
        if was != value:
            remedy = f"leave {_flag(name)} out" if _is_out(was) else f"give {_write(name, was)}"
            raise BadTable(
                f"{path} was begun with {_write(name, was)}, and this call has "
                f"{_write(name, value)}; {remedy}, or another file with --save"
            )


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _is_out(value: Any) -> bool:
    return value is None or value is False


def _write(name: str, value: Any) -> str:
    """Write an option as it is given; one that is not there, or only is, has no value.

    >>> _write("confidence", ["0.9"]), _write("allow_empty", True), _write("states", None)
    ('--confidence 0.9', '--allow-empty', 'no --states')
    """
    if _is_out(value):
        return f"no {_flag(name)}"
    if value is True:
        return _flag(name)
    written = ",".join(map(str, value)) if isinstance(value, list) else value
    return f"{_flag(name)} {written}"
