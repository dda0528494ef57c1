"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from definetti.stopping import writing


def replace(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file beside its place and move it there: no one ever sees half of it.

    Parameters
    ----------
    path : Path
        Where the file is to be; its folder is made if need be.
    write : callable
        Writes the file at the path it is given.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with writing():
        try:
            write(part)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
