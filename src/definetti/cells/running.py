"""The engine: cells in, records out; in parallel, and from where it was stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

from definetti._system.checks import checked_jobs
from definetti._system.interrupts import block_interrupts, end_with_parent
from definetti._system.terminal import show_progress
from definetti.cells.cell import Cell
from definetti.cells.store import Store

Work = Callable[[Cell, range], list[Any]]


def run_cells(cells: Sequence[Cell], work: Work, folder: Path, **how: Any) -> list[list[Any]]:
    """Work out cells that are not in a folder yet, and return the records of all.

    As `iterate_cells`, with all records in memory.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> def thrice(cell, part):
    ...     return [[3 * k] for k in part]
    >>> cell = Cell("tripling", (), (), repetitions=4, seed=0)
    >>> with TemporaryDirectory() as name:
    ...     run_cells([cell], thrice, Path(name), n_jobs=1, chunk=3)
    [[[0], [3], [6], [9]]]
    """
    return list(iterate_cells(cells, work, folder, **how))


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
    """Work out cells that are not in a folder yet, and then read one after the other from it.

    Parameters
    ----------
    cells : what to work out; each is kept in `folder` as soon as it is done
    work : function of a cell and a range of its repetitions
        Returns one record a repetition, of plain values, from `Cell.generator` alone: then no
        number depends on who worked out what, and when. It is sent to other processes, so it
        must be importable.
    n_jobs : int, optional
        As for joblib: how many processes, -1 for one a core; None for what
        `joblib.parallel_config` says, or one.
    chunk : the number of repetitions that are handed out at a time
    fresh : whether to forget what is in the folder of these cells
    verbose, what : whether to show a bar, and under which name

    Returns
    -------
    an iterator over records of all cells, in the order of `cells`; no more than one is in memory

    Notes
    -----
    Only the process that calls writes files. Workers may be on other machines:
    ``joblib.parallel_config("dask")`` sends the same chunks to a cluster.

    Processes, not threads, unless someone's configuration says otherwise. Kernels release the
    interpreter's lock, but what is around them holds it, and threads would wait for each other.
    """
    store = Store(folder)
    store.sweep()
    if fresh:
        store.forget(cells)
    todo = {cell.key: cell for cell in cells if store.find(cell) is None}
    tasks = [
        (cell, part)
        for cell in todo.values()
        for part in _split_repetitions(cell.repetitions, chunk)
    ]
    pieces: dict[str, dict[int, list[Any]]] = {key: {} for key in todo}
    with closing(_run_parts(tasks, work, n_jobs)) as results:
        for key, begin, records in show_progress(results, len(tasks), what, verbose):
            pieces[key][begin] = records
            if sum(map(len, pieces[key].values())) == todo[key].repetitions:
                store.keep(todo[key], _join_pieces(pieces.pop(key)))
    return _read_cells(store, cells)


def _read_cells(store: Store, cells: Sequence[Cell]) -> Iterator[list[Any]]:
    for cell in cells:
        found = store.find(cell)
        if found is None:
            raise OSError(
                f"{store.folder}: a finished cell has gone; run it again, and leave it there"
            )
        yield found


def _split_repetitions(repetitions: int, chunk: int) -> Iterator[range]:
    for begin in range(0, repetitions, chunk):
        yield range(begin, min(begin + chunk, repetitions))


def _join_pieces(pieces: dict[int, list[Any]]) -> list[Any]:
    return [record for begin in sorted(pieces) for record in pieces[begin]]


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
    with block_interrupts() if parallel.n_jobs != 1 else nullcontext():  # at their start
        results = parallel(delayed(_run_part)(work, cell, part) for cell, part in tasks)
    yield from results


def _run_part(work: Work, cell: Cell, part: range) -> tuple[str, int, list[Any]]:
    """Work out a part, and say of what: results come in any order."""
    records = work(cell, part)
    if len(records) != len(part):
        raise ValueError(f"work returned {len(records)} records for {len(part)} repetitions")
    return cell.key, part.start, records
