"""Sets along streams whose law changes: what is kept of the level, and at what size.

`python -m studies.streams changes` prints how often sets hold the truth, in all of a stream and
after the change, without a monitor, with one that begins anew, and with levels that adapt;
`python -m studies.streams real` prints the same of recorded histories, beside all other methods.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from definetti import HMM, ConformalHMM, Monitor
from definetti._system.arrays import FloatArray
from definetti.exceptions import ChangeWarning
from definetti.experiments.contestants import CONTESTANTS
from definetti.experiments.worlds import EASY, HARD, Recording
from definetti.levels import ACI, AdaptiveLevel, DtACI, QuantilePID
from definetti.monitor import Step
from definetti.sets import PredictionSet
from studies.choices import read
from studies.data import missing
from studies.streams import World, draw, make_changes

LEVEL = 0.8
HALF = 1_000  # steps before a change, and after it
LABELLED = 20  # steps that a monitor begins with
OTHERS = 1  # streams of each world for the other methods, some of which take a minute for one
OTHERS_LABELLED = 200  # and the steps that these begin with, a half of which their model is made of
REAL_LABELLED, REAL_STEPS = 200, 500
SERIES_LABELLED = 100  # of the paper's series, which are shorter
KINDS = {"sleep": "vectors", "words": "words"}  # what is observed, as contestants call it
AS_NO_MONITOR = "full+path+smoothed"
SETTINGS: dict[str, Any] = {"symmetry": "full", "confidence_level": LEVEL, "smoothing": True,
                            "allow_empty": True, "random_state": 0}  # fmt: skip
WAYS: dict[str, dict[str, str]] = {
    "no monitor": {"on_alarm": "warn"},
    "restart at the alarm": {"on_alarm": "restart"},
    "restart at the estimated change": {"on_alarm": "restart", "restart_from": "change"},
    "QuantilePID from the alarm on": {"on_alarm": "adapt"},
    "restart, QuantilePID all the time": {"on_alarm": "restart", "adapt_from": "beginning"},
}


class AfterChange(NamedTuple):
    """Steps of a stream: whether the set held the truth, its size, and how many alarms came."""

    held: FloatArray
    sizes: FloatArray
    alarms: int | None = None


def follow(cp: ConformalHMM, observations: Any, states: Any, seed: int) -> dict[str, AfterChange]:
    """Judge the sets of all ways along a stream.

    Levels that adapt from the beginning need no run of their own: they cut the p-values of all
    states, which do not depend on the level. Without an alarm all ways are the same, but for that.
    """
    found: dict[str, AfterChange] = {}
    told: list[Step] = []
    for way, settings in WAYS.items():
        if told and not found["no monitor"].alarms:
            adapts = "adapt_from" in settings
            found[way] = adapt(QuantilePID(LEVEL), told, 0) if adapts else found["no monitor"]
            continue
        monitor = Monitor(cp, **settings, listen_to="law", random_state=seed)  # type: ignore[arg-type]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ChangeWarning)
            steps = list(monitor.run(observations, states))
        held, sizes = monitor.history[:, 1:].T
        found[way] = AfterChange(held, sizes, len({alert.time for alert in monitor.alarms}))
        told = told or steps
    for kind in (ACI, DtACI, QuantilePID):
        found[f"{kind.__name__}, all the time"] = adapt(kind(LEVEL), told)
    return found


def adapt(level: AdaptiveLevel, steps: list[Step], alarms: int | None = None) -> AfterChange:
    """Judge sets that are cut by an adaptive level, out of the p-values that sets have noted."""
    held, sizes = [], []
    for step in steps:
        assert isinstance(step.set, PredictionSet)
        assert step.set.all_p_values is not None
        alpha = float(level.alpha)
        sizes.append(float(np.count_nonzero(step.set.all_p_values > alpha)))
        own = step.set.states.index(step.state)
        held.append(float(not level.update(float(step.set.all_p_values[own]))))
    return AfterChange(np.array(held), np.array(sizes), alarms)


def follow_others(
    kind: str, labels: list[Any], known: tuple[Any, Any], rest: tuple[Any, Any]
) -> dict[str, AfterChange]:
    """Judge the sets of all other methods of the contest along the same steps.

    Those that split fit their model on the first half of what is known.
    """
    found: dict[str, AfterChange] = {}
    for one in CONTESTANTS.values():
        if one.restart or one.name == AS_NO_MONITOR or one.cannot(kind, len(labels)):
            continue
        made = one.make(kind, labels, len(known[1]) // 2, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a method does not promise
            judged = made.fit(*known).evaluate(*rest, LEVEL, horizon=1)
        found[one.name] = AfterChange(judged.covered.astype(float), judged.sizes.astype(float))
    return found


def study_changes(streams: int, console: Console) -> None:
    """Print what is kept of the level where the law changes half-way."""
    worlds = make_changes(HALF)
    late = (np.arange(2 * HALF) >= HALF)[:, None, None]
    worlds["easy to hard, as in compare"] = World(
        *(np.where(late, hard, easy) for easy, hard in zip(EASY, HARD, strict=True))
    )
    table = Table("change", "sets", "all steps", "size", "after the change", "size", "alarms")
    for number, (name, world) in enumerate(worlds.items()):
        every: dict[str, list[AfterChange]] = {}
        for k in track(range(streams), description=name, console=console, transient=True):
            states, codes, _ = draw(world, 2 * HALF, (200 + number, k))
            labels = list(range(world.seen.shape[-2]))
            stream = Recording(codes.tolist(), states.tolist())
            cp = ConformalHMM(HMM(), states=labels, **SETTINGS).fit(*stream.piece(0, LABELLED))
            found = follow(cp, *stream.piece(LABELLED, 2 * HALF), k)
            if k < OTHERS:
                known = stream.piece(0, OTHERS_LABELLED)
                rest = stream.piece(OTHERS_LABELLED, 2 * HALF)
                found |= follow_others("symbols", labels, known, rest)
            for way, judged in found.items():
                every.setdefault(way, []).append(judged)
        for way, told in every.items():
            table.add_row(name, way, *summed_up(told), *summed_up(told, -HALF), alarms(told))
    console.print(table)
    console.print(
        f"{streams} streams of {2 * HALF:,} steps, the law changes after {HALF:,}. Full, smoothed, "
        f"refitted, one step ahead, level {LEVEL:g}. Coverage ± its standard error over streams; "
        f"mean number of states in a set; alarms in a stream on average. The other methods on "
        f"{OTHERS} stream each, after {OTHERS_LABELLED} labelled steps."
    )


def study_real(folder: Path, histories: int, console: Console) -> None:
    """Print the same of recorded histories, of which nobody knows whether they change."""
    if message := missing(folder):
        raise SystemExit(message)
    for data in read(folder):
        table = Table("data", "steps", "sets", "all steps", "size", "second half", "size", "alarms")
        labels = sorted({state for history in data.histories for state in history.states})
        every: dict[str, list[AfterChange]] = {}
        some, kind = data.histories[:histories], KINDS.get(data.name, "nothing")
        first = SERIES_LABELLED if kind == "nothing" else REAL_LABELLED
        for k, history in enumerate(
            track(some, description=data.name, console=console, transient=True)
        ):
            cp = ConformalHMM(data.model, states=labels, **SETTINGS)
            known, rest = history.piece(0, first), history.piece(first, first + REAL_STEPS)
            found = follow(cp.fit(*known), *rest, k)
            found |= follow_others(kind, labels, known, rest)
            for way, judged in found.items():
                every.setdefault(way, []).append(judged)
        for way, told in every.items():
            steps = len(told[0].held)
            sums = *summed_up(told), *summed_up(told, steps // 2)
            table.add_row(data.name, str(steps), way, *sums, alarms(told))
        console.print(table)
    console.print(
        f"{histories} histories at most, {REAL_LABELLED} steps labelled, {SERIES_LABELLED} of a "
        f"series, then {REAL_STEPS} at most. One step ahead, level {LEVEL:g}; full, smoothed, "
        "refitted, but for the methods of the contest."
    )


def summed_up(every: list[AfterChange], begin: int = 0) -> tuple[str, str]:
    """Return coverage with its standard error, and mean size, from a step on."""
    held = np.array([one.held[begin:].mean() for one in every])
    size = np.mean([one.sizes[begin:].mean() for one in every])
    spread = f" ± {held.std(ddof=1) / len(held) ** 0.5:.3f}" if len(held) > 1 else ""
    return f"{held.mean():.3f}{spread}", f"{size:.2f}"


def alarms(every: list[AfterChange]) -> str:
    """Return how many alarms there were on average; a dash of what listens to none."""
    told = [one.alarms for one in every if one.alarms is not None]
    return f"{np.mean(told):.1f}" if told else "-"
