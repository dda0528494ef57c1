"""A progress bar for work that turns out to be long."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
PATIENCE = 2.0  # seconds before the bar appears


def show_progress(items: Iterable[Item], total: int, what: str, verbose: bool) -> Iterator[Item]:
    """Yield items; if `verbose`, show a bar once two seconds have passed, to who can see it."""
    if not verbose:
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    # A file or a pipe keeps what was said, colours forced upon it or not.
    if not (console.is_jupyter or (console.is_terminal and console.file.isatty())):
        yield from items
        return
    began = time.monotonic()
    bar = Progress(console=console)
    task = bar.add_task(what, total=total)
    try:
        for done, item in enumerate(items):
            if not bar.live.is_started and time.monotonic() - began > PATIENCE:
                bar.start()
            bar.update(task, completed=done)
            yield item
        bar.update(task, completed=total)
    finally:
        if bar.live.is_started:
            bar.stop()
