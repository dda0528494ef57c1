"""Run long work in cells that are saved when done: resumable, on one machine or many."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from definetti import __version__
from definetti._system.checks import checked_jobs
from definetti._system.files import replace_file
from definetti._system.interrupts import block_interrupts, end_with_parent
from definetti._system.terminal import show_progress

Settings = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Cell:
    """One method at one point of a grid, repeated; its fields determine all its numbers.

    The data depend on `point`, and `method` describes their analysis: names and plain values.
    """

    experiment: str
    point: Settings
    method: Settings
    repetitions: int
    seed: int
    version: str = __version__

    @cached_property
    def text(self) -> str:
        """All fields as text, the same on every machine."""
        return json.dumps(asdict(self), sort_keys=True)

    @cached_property
    def key(self) -> str:
        """A file name, different for every cell."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]

    @cached_property
    def _entropy(self) -> int:
        # Without the method: all methods get the same data. Without the number of repetitions:
        # a run of 500 begins with the same 100 as a run of 100.
        place = json.dumps([self.experiment, self.point])
        return int.from_bytes(hashlib.sha256(place.encode()).digest()[:16], "big")

    def generator(self, repetition: int) -> np.random.Generator:
        """Return the generator of one repetition, the same in every process."""
        return np.random.default_rng([self.seed, self._entropy, repetition])


LEFT_OVER = 60.0  # seconds; a file is half-written for milliseconds, unless its writer was killed


class Store:
    """A folder of finished cells, made when the first is saved."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, cell: Cell) -> list[Any] | None:
        """Return the records of a cell; None if its file is missing or incomplete."""
        try:
            kept = json.loads(self._path(cell).read_text(encoding="utf-8"))
            records: list[Any] = kept["records"]
            whole = json.dumps(kept["cell"], sort_keys=True) == cell.text
            return records if whole and len(records) == cell.repetitions else None
        except (OSError, ValueError, KeyError, TypeError):  # missing, truncated or edited
            return None

    def keep(self, cell: Cell, records: list[Any]) -> None:
        """Write the records of a cell atomically."""
        text = json.dumps({"cell": json.loads(cell.text), "records": records})
        replace_file(self._path(cell), lambda path: path.write_text(text, encoding="utf-8"))

    def forget(self, cells: Iterable[Cell]) -> None:
        """Remove cells, so that they are computed again."""
        for cell in cells:
            self._path(cell).unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove half-written files of killed runs."""
        for path in self.folder.glob("*.part"):
            with suppress(OSError):  # another run may remove it first
                if time.time() - path.stat().st_mtime > LEFT_OVER:
                    path.unlink()

    def _path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key}.json"


Work = Callable[[Cell, range], list[Any]]


def run_cells(cells: Sequence[Cell], work: Work, folder: Path, **options: Any) -> list[list[Any]]:
    """Compute cells as `iterate_cells` does, and return the records of all."""
    return list(iterate_cells(cells, work, folder, **options))


def iterate_cells(
    cells: Sequence[Cell],
    work: Work,
    folder: Path,
    *,
    n_jobs: int | None = None,
    chunk: int = 100,
    fresh: bool = False,
    verbose: bool = False,
    what: str = "cells",
) -> Iterator[list[Any]]:
    """Compute cells that are not in the folder yet, then yield the records of each cell from it.

    `work` returns one record of plain values per repetition, from `Cell.generator` alone, so that
    no number depends on the worker or the order; it must be importable, since it is sent to other
    processes. Only the calling process writes files. Workers may be on other machines:
    ``joblib.parallel_config("dask")`` sends the same chunks to a cluster.
    """
    store = Store(folder)
    store.sweep()
    if fresh:
        store.forget(cells)
    todo = {cell.key: cell for cell in cells if store.find(cell) is None}
    tasks = [
        (cell, range(begin, min(begin + chunk, cell.repetitions)))
        for cell in todo.values()
        for begin in range(0, cell.repetitions, chunk)
    ]
    pieces: dict[str, dict[int, list[Any]]] = {key: {} for key in todo}
    with closing(_run_parts(tasks, work, n_jobs)) as results:
        for key, begin, records in show_progress(results, len(tasks), what, verbose):
            pieces[key][begin] = records
            if sum(map(len, pieces[key].values())) == todo[key].repetitions:
                done = pieces.pop(key)
                store.keep(todo[key], [record for part in sorted(done) for record in done[part]])
    return _read_cells(store, cells)


def _read_cells(store: Store, cells: Sequence[Cell]) -> Iterator[list[Any]]:
    for cell in cells:
        records = store.find(cell)
        if records is None:
            raise OSError(
                f"{store.folder}: a finished cell has gone; run it again, and leave it there"
            )
        yield records


def _run_parts(
    tasks: list[tuple[Cell, range]], work: Work, n_jobs: int | None
) -> Generator[tuple[str, int, list[Any]]]:
    if not tasks:
        return
    from joblib import Parallel, delayed  # type: ignore[import-untyped,unused-ignore]

    parallel = Parallel(
        n_jobs=checked_jobs(n_jobs, len(tasks)), prefer="processes",
        return_as="generator_unordered", initializer=end_with_parent, initargs=(os.getpid(),),
    )  # fmt: skip
    with block_interrupts() if parallel.n_jobs != 1 else nullcontext():  # while workers start
        results = parallel(delayed(_run_part)(work, cell, part) for cell, part in tasks)
    yield from results


def _run_part(work: Work, cell: Cell, part: range) -> tuple[str, int, list[Any]]:
    """Compute a part; return the key and first repetition with it, since results are unordered."""
    records = work(cell, part)
    if len(records) != len(part):
        raise ValueError(f"work returned {len(records)} records for {len(part)} repetitions")
    return cell.key, part.start, records
