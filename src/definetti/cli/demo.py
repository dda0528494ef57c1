"""`definetti demo`: the main job, on data it makes itself."""

from __future__ import annotations


def demo() -> None:
    """Make a labelled history, predict what is hidden next, and check the promise.

    Example: definetti demo
    """
    import numpy as np
    from rich.console import Console

    from definetti import ConformalHMM
    from definetti.simulate import weather

    console = Console()
    steps, horizon, rolling = 365, 3, 400
    observations, states = weather(steps + rolling, random_state=7)
    console.rule("definetti")
    console.print(
        f"A year of days: each is 'sun' or 'rain', and we saw what a neighbour carried.\n"
        f"Labelled days: {steps}. The last five: "
        + ", ".join(f"{x} ({y})" for y, x in zip(observations[360:365], states[360:], strict=False))
    )
    cp = ConformalHMM(confidence_level=0.9, random_state=0)
    cp.fit(observations[:steps], states[:steps])
    new = observations[steps : steps + horizon]
    truth = tuple(states[steps : steps + horizon])
    console.print(
        f"\nThen we see {', '.join(new)}. What was the weather on these {horizon} days?\n"
    )
    s = cp.predict_set(new)
    console.print(str(s), markup=False, highlight=False)
    console.print(f"\nIt was {', '.join(truth)}: {'in' if truth in s else 'not in'} the set.")
    console.print(f"The states that some member has on each day: {s.steps}")
    console.rule(f"Is the promise kept? {rolling} more days, one at a time")
    for smoothing in (False, True):
        found = ConformalHMM(confidence_level=0.9, smoothing=smoothing, random_state=0)
        found.fit(observations[:steps], states[:steps])
        judged = found.evaluate(observations[steps:], states[steps:], horizon=1)
        margin = 2 * np.sqrt(0.9 * 0.1 / len(judged.covered))
        console.print(
            f"{'smoothed' if smoothing else 'conservative':>12}: the truth was in the set "
            f"{judged.coverage:.3f} of the time (promised 0.9, ± {margin:.3f} by chance), "
            f"{judged.size:.2f} of 2 states on average"
        )
    console.print("\nNext: `definetti verify` adds up the coverage exactly, sequence by sequence.")
