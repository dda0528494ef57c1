"""Statistics of draws, piece by piece: as many at once as memory is worth, on several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
from joblib import effective_n_jobs  # type: ignore[import-untyped,unused-ignore]

from definetti._system.arrays import CodeArray, FloatArray
from definetti._system.checks import checked_jobs
from definetti.check._engine import draw_members, graph_of
from definetti.check._tails import draw_tails, tails_of
from definetti.check.sample import Draws, Sample

STEPS, MOST = 2**19, 50  # steps and draws of a piece, which has random numbers of its own
AT_ONCE = 2**16  # steps that are held in memory at once, if a draw has no more

Drawer = Callable[[np.random.Generator, int], tuple[CodeArray, CodeArray, CodeArray]]


class Measure(Protocol):
    """What is measured of draws, a row each: a statistic, or curves for a picture."""

    def measure(self, sample: Sample, draws: Draws) -> FloatArray: ...


def drawer_of(sample: Sample, across: bool) -> Drawer:
    """Return what draws rearrangements, within each sequence or across all.

    >>> from definetti.check.sample import read_sample
    >>> draw = drawer_of(read_sample(None, list("aab"), None, 1), across=False)
    >>> draw(np.random.default_rng(0), 1)[0]
    array([[0, 0, 1]], dtype=int32)
    """
    if across:
        tails = tails_of(sample.tokens, sample.edges, sample.begins)
        return lambda rng, size: draw_tails(rng, tails, size)
    graph = graph_of(sample.tokens, sample.edges, sample.begins)
    return lambda rng, size: draw_members(rng, graph, size)


def measure_draws(
    sample: Sample,
    statistics: Sequence[Measure],
    across: bool,
    n_resamples: int,
    entropy: int,
    n_jobs: int | None,
) -> Iterator[list[FloatArray]]:
    """Yield, for one piece of the draws after the other, what each statistic has of it.

    Every piece has a stream of its own, so that all comes out the same on any number of threads.
    """
    draw = drawer_of(sample, across)
    each = min(MOST, max(1, STEPS // len(sample)))

    def measure(begin: int) -> list[FloatArray]:
        rng = np.random.default_rng([entropy, int(across), begin])
        size, few = min(each, n_resamples - begin), max(1, AT_ONCE // len(sample))
        found = []
        for k in range(0, size, few):
            draws = Draws(*draw(rng, min(few, size - k)))
            found.append([one.measure(sample, draws) for one in statistics])
            del draws  # before there are others
        return [np.concatenate(values) for values in zip(*found, strict=True)]

    begins = range(0, n_resamples, each)
    jobs = int(effective_n_jobs(checked_jobs(n_jobs, n_resamples)))
    if jobs == 1:
        yield from map(measure, begins)
        return
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(measure, begin) for begin in begins]
        try:
            for one in waiting:
                yield one.result()
        finally:
            for one in waiting:
                one.cancel()
