"""Long horizons on simulated chains: what is promised, what is kept, and how wide the sets are.

`python -m studies.long_horizons --repetitions 200 --jobs 2` prints the table.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil, floor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from rich.table import Table

from definetti import HMM, ConformalHMM
from definetti._system.arrays import FloatArray, IntArray
from definetti.data.history import windows_at
from definetti.emissions import Categorical, Gaussian
from definetti.engine.pvalues import miscoverage
from definetti.engine.thresholds import blocks_needed
from definetti.evaluation.intervals import exact_interval
from definetti.exceptions import FewBlocksWarning
from definetti.scores import Band

STATES = (3, 5)
LENGTHS = (1_000, 5_000, 20_000)
HORIZONS = (5, 20, 50, 200)
LEVEL, TRAINED = 0.9, 0.5
SEED = 2023
STAYS = 0.8  # of the probability of each state's next one, so much is for itself
SYMBOLS = 6
CHUNK = 2_000  # windows scored at once
METHODS: dict[str, dict[str, Any]] = {
    "path": {"conformity_score": "path"},
    "band": {"conformity_score": "band"},
    "steps": {"guarantee": "steps"},
}
BONFERRONI = "Bonferroni"


class HorizonOutcome(NamedTuple):
    """What one set was like.

    Attributes
    ----------
    all_right : whether the true sequence is in the set
    right : the share of steps whose true state is possible at that step
    width : how many states are possible at a step, on average
    short : whether some last state had too few blocks to leave anything out
    """

    states: int
    length: int
    horizon: int
    method: str
    all_right: bool
    right: float
    width: float
    short: bool


class HorizonRow(NamedTuple):
    """A line of the table.

    Attributes
    ----------
    promise : what is to be 0.9, the probability that "all" steps are right or the "share" that is
    kept, low, high : what it was, and its interval
    right : the share of steps that were right, on average
    width : how many states a step had, on average
    short : the share of repetitions in which some last state had too few blocks
    """

    states: int
    length: int
    horizon: int
    method: str
    promise: str
    repetitions: int
    kept: float
    low: float
    high: float
    right: float
    width: float
    short: float


def simulate_chain(
    n: int, length: int, rng: np.random.Generator
) -> tuple[npt.NDArray[Any], IntArray, HMM]:
    """Draw a chain that likes to stay: symbols with three states, numbers with more."""
    transition = STAYS * np.eye(n) + (1 - STAYS) * rng.dirichlet(np.ones(n), n)
    heights, uniform = transition.cumsum(axis=1), rng.random(length)
    states = np.zeros(length, dtype=np.int64)
    for t in range(1, length):
        states[t] = min(heights[states[t - 1]].searchsorted(uniform[t]), n - 1)
    if n > 3:
        means = 1.0 * rng.permutation(n)
        observed = means[states] + rng.normal(size=length)
        return observed[:, None], states, HMM(emission=Gaussian())
    emitted = rng.dirichlet(np.ones(SYMBOLS), n).cumsum(axis=1)
    above = emitted[states] <= rng.random((length, 1))
    return np.minimum(above.sum(axis=1), SYMBOLS - 1), states, HMM(emission=Categorical())


def possible(length: int, horizon: int) -> bool:
    """Tell whether a calibration segment has room for as many blocks as the level takes."""
    calibration = length - floor(TRAINED * length)
    return (calibration - 1) // horizon >= blocks_needed(miscoverage(LEVEL))


def repetition(n: int, length: int, number: int) -> list[HorizonOutcome]:
    """Draw one chain and judge all methods at all horizons by what follows."""
    rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(n, length, number)))
    y, x, model = simulate_chain(n, length + max(HORIZONS), rng)
    found = []
    for name, parameters in METHODS.items():
        cp = ConformalHMM(
            model,
            train_size=TRAINED,
            states=range(n),
            confidence_level=LEVEL,
            max_candidates=1,  # a lattice always
            allow_empty=True,  # no best guesses: the limits alone are studied
            random_state=0,
            **parameters,
        ).fit(y[:length], x[:length])
        for horizon in HORIZONS:
            if not possible(length, horizon):
                continue
            new, truth = y[length : length + horizon], x[length : length + horizon]
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", FewBlocksWarning)
                s = cp.predict_set(new)
            key = n, length, horizon
            at_truth = s.nodes[np.arange(horizon), truth]
            inside = bool(at_truth.all()) if name == "steps" else truth.tolist() in s
            width = float(s.widths.mean())
            found.append(HorizonOutcome(*key, name, inside, at_truth.mean(), width, bool(caught)))
            if name == "band":  # the same model, and the same scores of each step
                nodes, few = bonferroni(cp, new)
                at_truth = nodes[np.arange(horizon), truth]
                width = float(nodes.sum(axis=1).mean())
                right = bool(at_truth.all()), float(at_truth.mean())
                found.append(HorizonOutcome(*key, BONFERRONI, *right, width, few))
    return found


def bonferroni(cp: ConformalHMM, new: npt.NDArray[Any]) -> tuple[npt.NDArray[np.bool_], bool]:
    """Return a set of states for each step, the usual way: **not valid** for a Markov chain.

    Classical split conformal prediction of each step by itself at the level 1 − α / h, calibrated
    on all windows, overlapping ones too, as if they were exchangeable with the new one; also
    whether these are too few to leave anything out.
    """
    task = cp._task(new, None)
    estimate = task.estimate(task.complete_with(0))
    history, horizon = task.history, len(new)
    ends = np.arange(horizon, len(history))
    past = np.concatenate(
        [
            Band().steps(
                estimate,
                windows_at(part, history.states, history.observations, horizon),
            )
            for part in np.split(ends, range(CHUNK, len(ends), CHUNK))
        ]
    )
    alpha = miscoverage(LEVEL) / horizon
    place = ceil((1 - alpha) * (len(past) + 1))
    limits: FloatArray = np.full(horizon, np.inf)
    if place <= len(past):
        limits = np.partition(past, place - 1, axis=0)[place - 1]
    window = task.windows(np.zeros((1, horizon), dtype=np.int64))
    return 1.0 - estimate.smoothing(window)[0] <= limits[:, None], place > len(past)


def outcomes(repetitions: int, jobs: int) -> Iterator[HorizonOutcome]:
    """Run all repetitions; each has a seed of its own, so that it matters not who runs it."""
    tasks = [(n, length, k) for length, n, k in product(LENGTHS[::-1], STATES, range(repetitions))]
    work = Parallel(n_jobs=jobs, return_as="generator")(delayed(repetition)(*t) for t in tasks)
    bar = track(work, "simulating", len(tasks), console=Console(stderr=True))
    for found in bar:
        yield from found


def measure_promise(own: Sequence[HorizonOutcome]) -> tuple[float, float, float]:
    """Return how well one method kept its promise, and the interval."""
    shares = [one.right if one.method == "steps" else one.all_right for one in own]
    # Shares between 0 and 1 vary no more than yes and no do: the interval is wide enough.
    total = round(float(np.sum(shares)), 9)
    low, _ = exact_interval(floor(total), len(own))
    _, high = exact_interval(ceil(total), len(own))
    return total / len(own), low, high


def rows(found: Sequence[HorizonOutcome]) -> list[HorizonRow]:
    """Sum up, a row for each chain, length, horizon and method."""
    table = []
    for n, length, horizon, method in product(STATES, LENGTHS, HORIZONS, (*METHODS, BONFERRONI)):
        key = n, length, horizon, method
        own = [one for one in found if one[:4] == key]
        if not own:
            continue
        table.append(
            HorizonRow(
                *key,
                "share" if method == "steps" else "all",
                len(own),
                *measure_promise(own),
                float(np.mean([one.right for one in own])),
                float(np.mean([one.width for one in own])),
                float(np.mean([one.short for one in own])),
            )
        )
    return table


def print_table(console: Console, table: Sequence[HorizonRow]) -> None:
    """Print the table, and say what it leaves out."""
    made = Table(title=f"Long horizons at level {LEVEL}", title_justify="left", title_style="bold")
    columns = ("states", "T", "h", "method", "promised", "runs", "kept", "95 % interval",
               "steps right", "states per step", "few blocks")  # fmt: skip
    for column in columns:
        text = column in ("method", "promised")
        made.add_column(column, justify="left" if text else "right")
    before = table[0][:3]
    for row in table:
        if row[:3] != before:
            made.add_section()
        before = row[:3]
        made.add_row(
            str(row.states), f"{row.length:,}", str(row.horizon), row.method, row.promise,
            str(row.repetitions), f"{row.kept:.3f}{' ✗' if row.high < LEVEL else ''}",
            f"{row.low:.3f} to {row.high:.3f}", f"{row.right:.3f}", f"{row.width:.2f}",
            f"{row.short:.0%}",
        )  # fmt: skip
    console.print(made)
    left_out = [
        f"T = {length:,}, h = {horizon}"
        for length, horizon in product(LENGTHS, HORIZONS)
        if not possible(length, horizon)
    ]
    needed = blocks_needed(miscoverage(LEVEL))
    console.print(
        "  Three states: symbols; five: numbers with standard deviation 1 around means 1 apart. "
        "Every run has a chain of its own;\n  the model is fitted to the first half. Promised: "
        "that all steps are right together, or the share of steps that is.\n  "
        f"{BONFERRONI} takes all windows for exchangeable, which they are not. Few blocks: the "
        "share of runs in which some last\n  state had too few to leave anything out. ✗: the "
        f"interval lies below the level. Left out, because no state can have\n  the {needed} "
        f"blocks that it takes: {'; '.join(left_out) or 'none'}.\n",
        style="dim",
        highlight=False,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiment and print its table."""
    parser = argparse.ArgumentParser(prog="python -m studies.long_horizons", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200, help="of each cell; default 200")
    parser.add_argument("--jobs", type=int, default=2, help="processes; default 2")
    parser.add_argument("--output", type=Path, help="write the table to this CSV file, too")
    given = parser.parse_args(arguments)
    table = rows(list(outcomes(given.repetitions, given.jobs)))
    console = Console()
    if not console.is_terminal:  # nothing to fit into: tables stay whole
        console = Console(width=140)
    print_table(console, table)
    if given.output:
        with given.output.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([HorizonRow._fields, *table])
    return 0


if __name__ == "__main__":
    sys.exit(main())
