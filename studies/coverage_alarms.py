"""How often the test of coverage alarms without a change, and how soon after one.

`python -m studies.coverage_alarms` draws streams of the ten hidden Markov models of
`studies.streams`, predicts them step by step, bets on the misses with `Misses`, and prints the
share of streams in which the capital ever reaches 20. That is proved to happen in at most 0.05 of
them with some symmetries, and measured with others. Then it plants changes, and prints the share of
streams in which each is found, and after how many steps, beside the tests of the law.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from definetti import HMM, ConformalHMM
from definetti._system.arrays import FloatArray
from definetti.evaluation.intervals import exact_interval
from definetti.martingales import Misses
from studies.streams import ALPHA, World, at_each_step, bet, draw, make_changes, make_worlds, walk

LEVEL, FIRST, STEPS, BEFORE = 0.9, 100, 2_000, 300
LIMIT = np.log(1 / ALPHA)


class Way(NamedTuple):
    """A row of the table: settings of `ConformalHMM`, and streams and steps where these are few."""

    name: str
    settings: dict[str, Any]
    share: float = 1.0
    steps: int = STEPS


WAYS = (
    Way("full, smoothed", {"symmetry": "full", "smoothing": True}),
    Way("full", {"symmetry": "full"}),
    Way("full, smoothed, levels by state", {"symmetry": "full", "smoothing": True, "levels": True}),
    Way("spaced, smoothed", {"symmetry": "spaced", "smoothing": True}),
    Way("spaced", {"symmetry": "spaced"}),
    Way("spaced, smoothed, fixed", {"symmetry": "spaced", "smoothing": True, "train_size": 50}),
    Way("spaced, fixed", {"symmetry": "spaced", "train_size": 50}),
    Way("spaced, smoothed, levels by state",
        {"symmetry": "spaced", "smoothing": True, "levels": True}),
    Way("departures, smoothed, fixed",
        {"symmetry": "departures", "smoothing": True, "train_size": 50}),
    Way("departures, fixed", {"symmetry": "departures", "train_size": 50}),
    Way("departures, smoothed", {"symmetry": "departures", "smoothing": True}, 0.1, 300),
)  # fmt: skip


def log_capitals(world: World, settings: dict[str, Any], length: int, seed: int) -> FloatArray:
    """Return the log of the capital after each judged step of a stream."""
    rng, n = np.random.default_rng([seed, 0]), world.steps.shape[-1]
    states, codes = walk(*at_each_step(world, length), rng.random((length, 2)))
    settings = dict(settings)
    named = {0: 0.8, None: 0.95} if settings.pop("levels", False) else None
    cp = ConformalHMM(HMM(), states=range(n), random_state=seed, **settings)
    x, y = states.tolist(), codes.tolist()
    found = cp.fit(y[:FIRST], x[:FIRST]).evaluate(y[FIRST:], x[FIRST:], named or LEVEL, horizon=1)
    martingale = Misses(alpha=1 - LEVEL)
    if named is None:
        return martingale.update_many(np.where(found.covered, 1.0, 0.0))
    alphas = np.where(found.given == 0, 0.2, 0.05)
    pairs = zip(found.covered.tolist(), alphas.tolist(), strict=True)
    return np.array([martingale.judge(not held, alpha) for held, alpha in pairs])


def study_false_alarms(streams: int, console: Console) -> None:
    """Print the share of streams without a change that alarm."""
    table = Table(title=f"{STEPS:,} steps after {FIRST} labels, level {LEVEL}, capital 20")
    for column in ("sets", "streams", "steps", "alarmed", "95 % interval", "most of one model"):
        table.add_column(column)
    worlds = make_worlds()
    for way in track(WAYS, console=console, transient=True):
        number = max(int(streams * way.share) // len(worlds), 1)
        shares = [
            np.mean([
                log_capitals(world, way.settings, FIRST + way.steps, 1000 * k + seed).max() >= LIMIT
                for seed in range(number)
            ])
            for k, world in enumerate(worlds.values())
        ]  # fmt: skip
        total = number * len(worlds)
        low, high = exact_interval(round(float(np.mean(shares)) * total), total)
        table.add_row(way.name, str(total), f"{way.steps:,}", f"{np.mean(shares):.3f}",
                      f"[{low:.3f}, {high:.3f}]", f"{max(shares):.3f}")  # fmt: skip
    console.print(table)


def study_power(streams: int, console: Console) -> None:
    """Print how soon changes are found by misses and by the tests of the law."""
    table = Table(title=f"a change after {BEFORE} steps, {BEFORE} more: share found / median delay")
    for column in ("change", "coverage falls to", "coverage test", "tests of the law"):
        table.add_column(column)
    settings = {"symmetry": "full", "smoothing": True}
    for name, world in make_changes(BEFORE).items():
        delays: dict[str, list[float]] = {"misses": [], "law": []}
        after = []
        for seed in range(streams):
            logs = log_capitals(world, settings, 2 * BEFORE, seed)
            misses = np.diff(logs, prepend=0.0) > 0
            after.append(1 - misses[BEFORE - FIRST :].mean())
            delays["misses"].append(find_delay(logs >= LIMIT, BEFORE - FIRST))
            _, _, p_values = draw(world, 2 * BEFORE, (7, seed))
            law = bet("sleeper_stayer", p_values) >= np.log(3 / ALPHA)
            delays["law"].append(find_delay(law.any(axis=1), BEFORE - 1))
        shown = []
        for one in delays.values():
            found = np.isfinite(one)
            delay = f" / {np.median(np.array(one)[found]):.0f}" if found.any() else ""
            shown.append(f"{found.mean():.2f}{delay}")
        table.add_row(name, f"{np.mean(after):.2f}", *shown)
    console.print(table)


def find_delay(raised: Any, change: int) -> float:
    """Return the steps from the change to the first alarm; infinite if it never or too early."""
    times = np.flatnonzero(raised)
    return float(times[0] - change + 1) if len(times) and times[0] >= change else np.inf


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=400)
    given, console = parser.parse_args(), Console(width=120)
    warnings.simplefilter("ignore")
    study_false_alarms(given.streams, console)
    study_power(max(given.streams // 10, 1), console)


if __name__ == "__main__":
    main()
