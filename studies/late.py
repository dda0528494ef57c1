"""How soon a change is found that comes late: after hundreds of quiet steps, or after many more.

`python -m studies.streams late` prints the share of streams in which it is found, and the median
delay, by how many steps were quiet before, with and without patience of the capital that sleeps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from definetti.martingales import Martingale, SimpleJumper, SleeperStayer
from studies.streams import ALPHA, World, draw, sticky, tell_delays, together

QUIET = {
    300: 1,
    3_000: 1,
    10_000: 1,
    100_000: 4,
    1_000_000: 20,
}  # steps, and how many fewer streams
AFTER = 8_000  # steps in which the change may be found
BETS: dict[str, Callable[[], Martingale]] = {
    "SleeperStayer": SleeperStayer,
    "SleeperStayer, patience 0": lambda: SleeperStayer(patience=0),
    "SimpleJumper": SimpleJumper,
}


def make_late(quiet: int) -> dict[str, World]:
    """Return two states whose transitions, or whose sensor, change late."""
    late = (np.arange(quiet + AFTER) >= quiet)[:, None, None]
    move, see = sticky(2, 0.95), sticky(2, 0.8)
    return {
        "transitions .95 to .7": World(np.where(late, sticky(2, 0.7), move), see),
        "sensor .8 to .5": World(move, np.where(late, sticky(2, 0.5), see)),
    }


def study_late(streams: int, console: Console) -> None:
    """Print how soon a change is found, by when it comes."""
    table = Table("change", "quiet steps", "streams", *BETS)
    for quiet, fewer in QUIET.items():
        number = max(1, streams // fewer)
        for which, (name, world) in enumerate(make_late(quiet).items()):
            found: dict[str, list[float]] = {one: [] for one in BETS}
            told = f"{name}, {quiet:,}"
            for k in track(range(number), description=told, console=console, transient=True):
                p_values = draw(world, quiet + AFTER, (300 + which, quiet, k))[2]
                for one, make in BETS.items():
                    parts = [make().update_many(part) for part in p_values.T]
                    found[one].append(together(np.column_stack(parts)))
            delays = [tell_delays(np.array(one), quiet) for one in found.values()]
            table.add_row(name, f"{quiet:,}", str(number), *delays)
    console.print(table)
    console.print(
        f"Share found within {AFTER:,} steps after the change, median delay, and share that "
        f"alarmed before it; any of three parts at 3/{ALPHA:g}."
    )
