"""Finished cells on disk, one small file each."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from definetti._system.files import replace_file
from definetti.cells.cell import Cell

LEFT_OVER = 60.0  # seconds; a file is half-written for milliseconds, unless its writer was killed


class Store:
    """A folder of finished cells.

    Parameters
    ----------
    folder : Path
        Made when the first cell is kept.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> cell = Cell("figure1", (("T", 50),), (("symmetry", "full"),), 2, seed=1)
    >>> with TemporaryDirectory() as name:
    ...     store = Store(Path(name) / "cells")
    ...     before = store.find(cell)
    ...     store.keep(cell, [[1, 2], [0, 1]])
    ...     before, store.find(cell)
    (None, [[1, 2], [0, 1]])
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, cell: Cell) -> list[Any] | None:
        """Return the records of a cell; None if it is not there, or not whole."""
        try:
            kept = json.loads(self._path(cell).read_text(encoding="utf-8"))
            records: list[Any] = kept["records"]
            whole = json.dumps(kept["cell"], sort_keys=True) == cell.text
            return records if whole and len(records) == cell.repetitions else None
        except (OSError, ValueError, KeyError, TypeError):  # absent, cut short, or edited
            return None

    def keep(self, cell: Cell, records: list[Any]) -> None:
        """Write the records of a cell, wholly or not at all."""
        text = json.dumps({"cell": json.loads(cell.text), "records": records})
        replace_file(self._path(cell), lambda path: path.write_text(text, encoding="utf-8"))

    def forget(self, cells: Iterable[Cell]) -> None:
        """Remove cells, so that they are worked out anew."""
        for cell in cells:
            self._path(cell).unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove what a killed run has left half-written."""
        for path in self.folder.glob("*.part"):
            with suppress(OSError):  # another run may sweep as well
                if time.time() - path.stat().st_mtime > LEFT_OVER:
                    path.unlink()

    def _path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key}.json"
