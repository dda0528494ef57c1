"""Exact tests beside chi-square tests: how often they reject what is true, and what is false.

`python -m studies.checking` draws chains of several sizes and lengths, and prints the share of
histories that each test rejects at 0.05. What is false is planted, one thing at a time. Chi-square
tests are those of Anderson & Goodman (1957): order two, and other transitions in the second half.
Where PyDTMC is installed, its own tests stand beside: `assess_markov_property`, and
`assess_homogeneity` of both halves. It asks for an old matplotlib and does without:
``pip install --no-deps PyDTMC networkx``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import binom, chi2

from definetti._system.arrays import FloatArray, IntArray
from definetti.check import check

ALPHA = 0.05
DRAWS, MORE = 199, 999  # of tests by themselves; of all together, whose ranks need more
LENGTHS, STATES = (50, 200, 1_000), (2, 5, 10)
POWER_LENGTHS = (50, 100, 200, 500, 1_000)
TRUE, SURE = 1_000, 0.99  # chains that tell whether a level is held, and how surely
FAILURES = ("order", "durations", "transitions", "drift", "autocorrelation")
CHI_SQUARE = {"order": 0, "transitions": 1}  # which of the chi-square tests is for a failure
OTHERS = ("chi-square", "PyDTMC")
NAMED = [f"{test}, {what}" for test in OTHERS for what in ("order", "change")]
KINDS = ("sticky", "rare")


def make_chain(kind: str, states: int) -> FloatArray:
    """Return transition probabilities: states that stay, or states of which most are rare."""
    if kind == "sticky":
        return np.full((states, states), 0.1 / (states - 1)) + np.eye(states) * (
            0.9 - 0.1 / (states - 1)
        )
    shares = 0.3 ** np.arange(states)
    return np.tile(shares / shares.sum(), (states, 1)) * 0.7 + np.eye(states) * 0.3


def walk(steps: Callable[[int], FloatArray], length: int, rng: np.random.Generator) -> IntArray:
    """Draw a chain whose transition probabilities may depend on the time."""
    uniform, path = rng.random(length), np.zeros(length, dtype=np.int64)
    for t in range(1, length):
        path[t] = min(int((steps(t)[path[t - 1]].cumsum() < uniform[t]).sum()), len(steps(t)) - 1)
    return path


def judge_by_chi_square(path: IntArray) -> tuple[float, float]:
    """Return the p-values of order one against two, and of one law against one for each half."""
    codes = np.unique(path, return_inverse=True)[1]
    n = int(codes.max()) + 1
    if n < 2:
        return 1.0, 1.0
    triples = np.zeros((n, n, n))
    np.add.at(triples, (codes[:-2], codes[1:-1], codes[2:]), 1)
    halves = np.zeros((2, n, n))
    late = (2 * np.arange(1, len(codes)) >= len(codes)).astype(np.int64)
    np.add.at(halves, (late, codes[:-1], codes[1:]), 1)
    order = _ratio(triples.transpose(1, 0, 2))
    change = _ratio(halves.transpose(1, 0, 2))
    return float(chi2.sf(order, n * (n - 1) ** 2)), float(chi2.sf(change, n * (n - 1)))


def judge_by_pydtmc(path: IntArray) -> tuple[float, float] | None:
    """Return the p-values of PyDTMC, Markov property and homogeneity; None if it is not there.

    What it does not answer counts as not rejected.
    """
    if find_spec("pydtmc") is None:
        return None
    import pydtmc  # type: ignore[import-not-found,import-untyped,unused-ignore]

    labels = [str(state + 1) for state in path.tolist()]
    known, half = sorted(set(labels)), len(labels) // 2
    if len(known) < 2:
        return 1.0, 1.0

    def ask(test: Any, *what: Any) -> float:
        try:
            with np.errstate(all="ignore"):
                p_value = float(test(known, *what)[1])
        except ValueError:
            return 1.0
        return 1.0 if np.isnan(p_value) else p_value

    halves = [labels[:half], labels[half:]]
    return (
        ask(pydtmc.assess_markov_property, labels),
        ask(pydtmc.assess_homogeneity, halves),
    )


def _ratio(counts: FloatArray) -> float:
    """Return twice the log-likelihood ratio of dependence in each of several tables."""

    def added(values: FloatArray) -> float:
        return float((values * np.log(np.maximum(values, 1))).sum())

    return 2 * (
        added(counts)
        - added(counts.sum(axis=1))
        - added(counts.sum(axis=2))
        + added(counts.sum(axis=(1, 2)))
    )


def plant(name: str, length: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Return numbers and states of two states in which one thing is wrong."""
    noise = rng.normal(size=length)
    uniform = rng.random(length)
    path = np.zeros(length, dtype=np.int64)
    run = 1
    for t in range(1, length):
        stays = 0.9
        if name == "order":
            stays = 0.9 if t > 1 and path[t - 1] == path[t - 2] else 0.6
        elif name == "durations":
            stays = 0.97 if run < 6 else 0.7
        elif name == "transitions":
            stays = 0.95 if 2 * t < length else 0.7
        path[t] = path[t - 1] if uniform[t] < stays else 1 - path[t - 1]
        run = run + 1 if path[t] == path[t - 1] else 1
        if name == "autocorrelation":
            noise[t] += 0.3 * noise[t - 1]
    if name == "drift":
        noise += 0.5 * (2 * np.arange(length) >= length)
    return noise + path, path


def measure_sizes(repetitions: int) -> Iterator[list[str]]:
    """Yield a row a setting: the share of true chains that each test rejects."""
    for kind in KINDS:
        for states in STATES:
            chain = make_chain(kind, states)
            for length in LENGTHS:
                rng = np.random.default_rng([states, length, KINDS.index(kind)])
                rejected = np.zeros(6)
                for _ in range(repetitions):
                    path = walk(lambda t, chain=chain: chain, length, rng)  # type: ignore[misc]
                    ours = np.ones(2)
                    if len(set(path.tolist())) > 1:
                        asked = ["order", "transitions"]
                        found = check(None, path, tests=asked, n_resamples=DRAWS, random_state=rng)
                        ours = np.array([found.tests[name].p_value for name in asked])
                    others = _judge_by_others(path).reshape(len(OTHERS), 2)
                    rejected += np.stack([ours <= ALPHA, *others], axis=1).ravel()
                shares = rejected / repetitions
                written = ("—" if np.isnan(share) else f"{share:.3f}" for share in shares)
                yield [kind, str(states), f"{length:,}", *written]


def measure_power(repetitions: int) -> Iterator[list[str]]:
    """Yield a curve a row, over lengths: the share of histories in which a test finds a failure.

    First what all tests reject where nothing is wrong. A share of a chi-square test is in brackets
    where of `TRUE` such chains it rejects clearly more than its level.
    """
    most = binom.ppf(SURE, TRUE, ALPHA) / TRUE
    nothing = np.array([_reject_true(length) for length in POWER_LENGTHS]).T
    for k, name in enumerate(("nothing", *FAILURES)):
        hits = np.zeros((2, len(POWER_LENGTHS)))
        others = np.zeros((len(OTHERS), len(POWER_LENGTHS)))
        for at, length in enumerate(POWER_LENGTHS):
            rng = np.random.default_rng([k, length])
            for _ in range(repetitions):
                given = plant(name, length, rng)
                found = check(*given, n_resamples=MORE, random_state=rng, pictures=False)
                own = found.tests[name].p_value if name in found.tests else 1.0
                hits[:, at] += np.array([found.p_value, own]) <= ALPHA
                if name in CHI_SQUARE:
                    others[:, at] += _judge_by_others(given[1])[CHI_SQUARE[name] :: 2]
        yield [name, "the verdict", *(f"{share:.2f}" for share in hits[0] / repetitions)]
        if name == "nothing":
            for label, size in zip(NAMED, nothing, strict=True):
                yield ["", label, *("—" if np.isnan(one) else f"{one:.2f}" for one in size)]
            continue
        yield ["", f"{name} alone", *(f"{share:.2f}" for share in hits[1] / repetitions)]
        if name in CHI_SQUARE:
            size = nothing[CHI_SQUARE[name] :: 2]
            for label, shares, sizes in zip(OTHERS, others / repetitions, size, strict=True):
                written = (
                    "—" if np.isnan(one) else f"{one:.2f}" if true <= most else f"({one:.2f})"
                    for one, true in zip(shares, sizes, strict=True)
                )
                yield ["", label, *written]


def _judge_by_others(path: IntArray) -> FloatArray:
    """Return whether chi-square tests and PyDTMC reject, 1 or 0: order and change, by turns."""
    p_values = np.array([*judge_by_chi_square(path), *(judge_by_pydtmc(path) or (np.nan, np.nan))])
    return np.where(np.isnan(p_values), np.nan, p_values <= ALPHA)


def _reject_true(length: int) -> FloatArray:
    """Return the share of chains in which nothing is wrong that each of the others rejects."""
    rng = np.random.default_rng([len(FAILURES) + 1, length])
    found = [_judge_by_others(plant("nothing", length, rng)[1]) for _ in range(TRUE)]
    return np.asarray(np.mean(found, axis=0))


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m studies.checking", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200, help="histories of each kind")
    parser.add_argument("--only", choices=["sizes", "power"], help="one of the two tables")
    asked = parser.parse_args(arguments)
    repetitions = asked.repetitions
    console = Console(width=110)
    if asked.only != "power":
        title = f"True chains: share rejected at {ALPHA}, of {repetitions} histories"
        tests = ("order", "chi-square", "PyDTMC", "change", "chi-square", "PyDTMC")
        number = len(KINDS) * len(STATES) * len(LENGTHS)
        show(console, title, ("chain", "states", "T", *tests), measure_sizes(repetitions), number)
    if asked.only != "sizes":
        title = f"Planted failures: share found at {ALPHA}, of {repetitions} histories"
        columns = ("what is wrong", "found by", *(f"{length:,}" for length in POWER_LENGTHS))
        number = 3 * len(FAILURES) + len(OTHERS) * len(CHI_SQUARE)
        show(console, title, columns, measure_power(repetitions), number)
        console.print(f"In brackets: rejects clearly more than {ALPHA} where nothing is wrong.")


def show(
    console: Console, title: str, columns: tuple[str, ...], rows: Iterator[list[str]], number: int
) -> None:
    """Print a table of what comes row by row."""
    table = Table(title=title)
    for column in columns:
        table.add_column(column, justify="right")
    for row in track(rows, total=number, transient=True):
        table.add_row(*row)
    console.print(table)


if __name__ == "__main__":
    main()
