"""How much memory a task takes at most, beyond what the process held before it."""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def measure_peak(prepare: Callable[..., Callable[[], object]], *arguments: Any) -> int | None:
    """Return the peak of resident memory in bytes; None where the system does not tell.

    That is what compiled functions hold as well, of which tracemalloc knows nothing. In a process
    of its own `prepare` makes the task, has it compiled, and is not counted.
    """
    if not RESET.exists():
        return None
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measure, (prepare, *arguments))


def _measure(prepare: Callable[..., Callable[[], object]], *arguments: Any) -> int:
    task = prepare(*arguments)
    gc.collect()
    RESET.write_text("5")  # forgets the peak so far
    before = _read("VmRSS")
    task()
    return _read("VmHWM") - before


def _read(name: str) -> int:
    line = next(one for one in STATUS.read_text().splitlines() if one.startswith(name))
    return int(line.split()[1]) * 1024
