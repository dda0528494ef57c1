"""Sleep stages of whole unseen nights, with the subject or the night as the unit.

`python -m studies.nights --data ../shared/data --picture nights.png` prints the table and draws
one night.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from definetti.conformal.sequences import ConformalSequences
from definetti.emissions import Gaussian
from definetti.engine.pvalues import miscoverage
from definetti.engine.thresholds import blocks_needed
from definetti.evaluation.intervals import exact_interval
from definetti.evaluation.results import Evaluation
from definetti.exceptions import FewBlocksWarning
from definetti.experiments.worlds import read_nights
from definetti.models.hmm import HMM
from definetti.sets import Errors, StepSets
from studies.data import FOLDER, ORIGINS, SLEEP

STAGES = ["W", "REM", "N1", "N2", "N3"]
TRAINED = {"subject": 2, "night": 5}  # so few because it takes 9 units at level 0.9 to calibrate
LEVELS = (0.9, 0.8)
ALLOWED = 0.05  # share of a typical night that may be wrong, for the promise about errors
COLUMNS = ("unit", "level", "promise", "calibrate", "tests", "epochs right", "worst night",
           "nights as promised", "95 % interval", "stages per epoch")  # fmt: skip


class ScaledNight(NamedTuple):
    """One night: its subject, when each epoch was, what was measured, and the stages."""

    subject: str
    name: str
    hours: Any
    observations: Any
    stages: list[str]


class NightRow(NamedTuple):
    """A line of the table; what depends on nights is the mean over the nights of a unit."""

    unit: str
    level: float
    promise: str
    units: int
    tests: int
    right: float
    worst: float
    kept: float | None
    low: float
    high: float
    width: float


def read_scaled(path: Path) -> list[ScaledNight]:
    """Read nights one by one.

    Each band is centred and scaled by the night's own median and quartiles, which is a function of
    what is observed in it. Epochs that were not scored are left out.
    """
    nights = []
    for night in read_nights(path):
        low, middle, high = np.percentile(night.observations, [25, 50, 75], axis=0)
        hours = (night.epochs - night.epochs[0]) / 120
        scaled = (night.observations - middle) / (high - low)
        nights.append(ScaledNight(night.subject, night.name, hours, scaled, night.stages))
    return nights


def join_nights(nights: Sequence[ScaledNight]) -> tuple[Any, list[str], list[int]]:
    """Put nights one after the other, with their lengths."""
    stages = [stage for night in nights for stage in night.stages]
    return (
        np.concatenate([night.observations for night in nights]),
        stages,
        [len(night.stages) for night in nights],
    )


def splits(
    nights: Sequence[ScaledNight], unit: str, number: int
) -> Iterator[tuple[ConformalSequences, list[ScaledNight]]]:
    """Fit on all units but one, each in turn, so many times; which of them train is drawn."""
    names = [night.subject if unit == "subject" else night.name for night in nights]
    rng = np.random.default_rng(0)
    for _ in range(number):
        for name in sorted(set(names)):
            known = [k for k, other in enumerate(names) if other != name]
            cp = ConformalSequences(
                HMM(emission=Gaussian("full")),
                train_size=TRAINED[unit],
                allow_empty=True,  # no best guesses: the limits alone are studied
                states=STAGES,
                random_state=rng,
            )
            cp.fit(*join_nights([nights[k] for k in known]), groups=[names[k] for k in known])
            yield cp, [night for night, other in zip(nights, names, strict=True) if other == name]


def run(nights: Sequence[ScaledNight], number: int) -> list[NightRow]:
    """Test every unit so many times."""
    typical = float(np.median([len(night.stages) for night in nights]))
    promises = {"steps": 0, "all": 0, "errors": round(ALLOWED * typical)}
    table = []
    for unit in TRAINED:
        found: dict[tuple[float, str], list[Evaluation]] = {}
        units = 0
        for cp, unseen in splits(nights, unit, number):
            units = cp.n_units_
            for level in LEVELS:
                for promise, errors in promises.items():
                    cp.guarantee = Errors(errors) if promise == "errors" else promise
                    with warnings.catch_warnings():  # the table says it
                        warnings.simplefilter("ignore", FewBlocksWarning)
                        tested = cp.evaluate(*join_nights(unseen), confidence_level=level)
                    found.setdefault((level, promise), []).append(tested)
        for (level, promise), tests in found.items():
            named = f"at most {promises[promise]} wrong" if promise == "errors" else promise
            table.append(summed(unit, level, named, units, tests, len(tests) // number))
    return table


def summed(
    unit: str, level: float, promise: str, units: int, tests: list[Evaluation], trials: int
) -> NightRow:
    """Sum up tests; the interval takes each unit for one trial, however often it was tested."""
    kept = float(np.mean([e.coverage for e in tests]))
    return NightRow(
        unit,
        level,
        promise,
        units,
        len(tests),
        float(np.mean([1 - e.wrong_share for e in tests])),
        float(min(1 - e.wrong.max() for e in tests)),
        None if promise == "steps" else kept,
        *exact_interval(round(kept * trials), trials),
        float(np.mean([e.width for e in tests])),
    )


def print_table(console: Console, nights: Sequence[ScaledNight], table: Sequence[NightRow]) -> None:
    """Print the table, and what it rests on."""
    subjects = len({night.subject for night in nights})
    made = Table(title="Stages of whole unseen nights", title_justify="left", title_style="bold")
    for k, column in enumerate(COLUMNS):
        made.add_column(column, justify="left" if k in (0, 2) else "right")
    for k, row in enumerate(table):
        if k and (row.unit, row.level) != (table[k - 1].unit, table[k - 1].level):
            made.add_section()
        few = row.units < (needed := blocks_needed(miscoverage(row.level)))
        kept, interval = "", ""
        if row.kept is not None:
            kept = f"{row.kept:.3f}"
            interval = "" if few else f"{row.low:.2f} to {row.high:.2f}"
        made.add_row(
            row.unit, f"{row.level:.2f}", row.promise,
            f"{row.units} of {needed}" if few else str(row.units), str(row.tests),
            f"{row.right:.3f}", f"{row.worst:.3f}", kept, interval, f"{row.width:.2f}",
        )  # fmt: skip
    console.print(made)
    console.print(
        f"  {len(nights)} nights of {subjects} subjects; {TRAINED['subject']} subjects, or "
        f"{TRAINED['night']} nights, train and all others but the one tested calibrate.\n"
        "  'steps' promises the share of epochs right, on average; the others a share of nights. "
        "Where too few units\n  calibrate ('7 of 9'), every stage is in every set: that is all "
        f"that can be promised. At 0.9 it takes 9 subjects\n  beside those trained on, and there "
        f"are {subjects} in all. With the night as the unit there are more, but what is promised "
        "is a\n  new night like these, of subjects some of whom are known; for a new subject only "
        "the first rows speak.\n  Tests share their subjects: intervals count each unit once. "
        "'all' asks for a thousand epochs right together, and\n  the model is that sure of a wrong "
        "stage, somewhere in a night, that nothing can be left out.\n",
        style="dim",
        highlight=False,
    )


def draw_night(night: ScaledNight, s: StepSets, path: Path) -> None:
    """Draw a night: the stages in the set, the true one and the most probable one."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(11, 3.2), layout="constrained")
    for place, cells in enumerate(s.nodes.T):
        axes.broken_barh(
            [(hour, 1 / 120) for hour in night.hours[cells]],
            (place - 0.45, 0.9),
            facecolor="0.8",
            linewidth=0,
            antialiased=False,
            label="in the set" if place == 0 else None,
        )
    codes = {stage: place for place, stage in enumerate(STAGES)}
    truth = [codes[stage] for stage in night.stages]
    best = [codes[str(stage)] + 0.2 for stage in s.best]  # below, so that both can be seen
    axes.step(night.hours, truth, where="post", color="black", linewidth=1.6, label="true stage")
    axes.step(
        night.hours, best, where="post", color="0.35", linewidth=0.6, label="most probable stage"
    )
    axes.set(yticks=range(len(STAGES)), yticklabels=STAGES, ylim=(4.5, -0.5))
    axes.set(xlabel="hours", xlim=(0, night.hours[-1] + 1 / 120))
    right = 1 - s.wrong(night.stages) / s.horizon
    axes.set_title(
        f"{night.name}: {right:.1%} of epochs in the set, {s.widths.mean():.2f} of {len(STAGES)} "
        f"stages per epoch; promised {s.confidence_level:.0%} on average over subjects",
        fontsize="medium",
        loc="left",
    )
    figure.legend(loc="outside lower right", ncols=3, frameon=False, fontsize="small")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, and draw a night if asked to."""
    parser = argparse.ArgumentParser(prog="python -m studies.nights", description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--splits", type=int, default=10, help="tests per unit; default 10")
    parser.add_argument("--picture", type=Path, help="draw one night into this file")
    given = parser.parse_args(arguments)
    path = given.data / SLEEP
    if not path.is_file():
        print(
            f"Skipped: the data are not in {given.data}. Name their folder with --data. Missing:\n"
            f"  {path}\n    from {ORIGINS[SLEEP]}",
            file=sys.stderr,
        )
        return 2
    nights = read_scaled(path)
    console = Console()
    if not console.is_terminal:  # nothing to fit into: tables stay whole
        console = Console(width=140)
    print_table(console, nights, run(nights, given.splits))
    if given.picture:
        cp, unseen = next(splits(nights, "subject", 1))
        draw_night(
            unseen[0], cp.predict_set(unseen[0].observations, confidence_level=0.8), given.picture
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
