"""Timing that is fair to both sides: same process, same input, turn by turn, the best of many.

Times are those of the processor. Every side works on one thread, so this is what a clock on the
wall would show on a machine with nothing else to do.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

Task = Callable[[], object]


def time_once(task: Task) -> float:
    begin = time.process_time()
    task()
    return time.process_time() - begin


def race(*sides: Task, rounds: int) -> list[float]:
    """Return the best time of each side, in seconds.

    All sides run once beforehand, so that nothing is compiled or loaded on the clock. Then they
    take turns, and the best of many rounds is the one that was disturbed least.
    """
    for side in sides:
        side()
    gc.collect()
    gc.disable()
    try:
        times = [[time_once(side) for side in sides] for _ in range(rounds)]
    finally:
        gc.enable()
    return [min(column) for column in zip(*times, strict=True)]


def time_best(task: Task, rounds: int, before: Task | None = None) -> float:
    """Return the best time of a task, with something done, off the clock, before each round."""
    times = []
    for _ in range(rounds):
        if before is not None:
            before()
        times.append(time_once(task))
    return min(times)
