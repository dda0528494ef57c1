"""The methods of the paper and ours, and how far their coverage falls short."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from definetti._system.cells import Settings

if TYPE_CHECKING:
    from definetti.engine import Rank


PROMISED = 0.8  # the coverage that the paper promises throughout


@dataclass(frozen=True)
class Method:
    """A way to make sets.

    Attributes
    ----------
    name : what it is called in tables
    symmetry, score, prior : as for `ConformalHMM` and `HMM`
    smoothed : whether its sets are made with ties broken at random, too
    level : the confidence level that it is run with
    observed : whether it sees observations, or the chain of states alone
    """

    name: str
    symmetry: str
    score: str
    prior: float
    smoothed: bool = True
    level: float = PROMISED
    observed: bool = True

    @property
    def settings(self) -> Settings:
        """All that its sets depend on."""
        return tuple((key, value) for key, value in asdict(self).items() if key != "name")

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of its kinds of sets, in the order in which `make_sets` gives them."""
        return (self.name, f"{self.name}, smoothed") if self.smoothed else (self.name,)


# The authors' public program breaks no ties, and estimates without a prior: docs/reproduction.md
# has what else it does.
PUBLISHED = Method("as published", "published", "filter", 0.0, smoothed=False)
PAIRS = Method("Algorithm 1", "pairs", "filter", 0.0)
OURS = Method("ours", "full", "path", 0.5)
METHODS = (PUBLISHED, PAIRS, OURS)


class Task(NamedTuple):
    """A labelled history and what follows it.

    Attributes
    ----------
    observations, states : (T,) codes
    new : (h,) the observations that follow
    n_states : how many states there are
    """

    observations: Any
    states: Any
    new: Any
    n_states: int


def make_sets(
    method: Method, task: Task, rng: np.random.Generator
) -> list[list[tuple[Hashable, ...]]]:
    """Return the sets of a method, one for each of its variants."""
    from definetti import HMM, ConformalHMM
    from definetti.exceptions import NotExactWarning

    cp = ConformalHMM(
        HMM(prior=method.prior),
        conformity_score=method.score,
        symmetry=method.symmetry,
        confidence_level=method.level,
        states=list(range(task.n_states)),
        random_state=rng,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotExactWarning)  # it is what the experiment shows
        cp.fit(task.observations if method.observed else None, task.states)
    if method.observed:
        ranks = cp.predict_ranks(task.new)
    else:
        ranks = cp.predict_ranks(horizon=len(task.new))
    sequences = list(ranks)
    chosen = choose_members(method, list(ranks.values()), float(rng.random()))
    return [[sequences[k] for k in members] for members in chosen]


def choose_members(method: Method, ranks: Sequence[Rank], uniform: float) -> list[list[int]]:
    """Return which of the candidates are in the sets of a method, for each of its variants.

    Both kinds of sets come from one ranking, which is what takes the time. They may be empty, as
    those of the paper are.
    """
    from definetti.engine.pvalues import miscoverage

    alpha = miscoverage(method.level)
    found = [
        [k for k, r in enumerate(ranks) if r.exceeds(alpha, uniform if r.randomised else None)]
    ]
    if method.smoothed:
        found.append([k for k, r in enumerate(ranks) if r.exceeds(alpha, uniform)])
    return found


CHANCE = 0.05  # that a method which keeps its promise is found short anywhere in a table


def mark_short(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to each row whether its coverage is short of the promise beyond Monte Carlo error.

    Notes
    -----
    By the exact binomial test, with the level shared out among the cells of a method: one that
    keeps its promise in all of them is found short in any with probability 1/20 at most.
    """
    from scipy.stats import binom

    numbers = {name: len(own) for name, own in group_by_method(rows).items()}
    for row in rows:
        chance = float(binom.cdf(row["covered"], row["repetitions"], PROMISED))
        row["short"] = chance < CHANCE / numbers[row["method"]]
    return rows


def group_by_method(rows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each method, in the order in which methods come up."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["method"], []).append(row)
    return found


def summarise_methods(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sum up a table, one line a method."""
    lines = []
    for name, own in group_by_method(rows).items():
        ratios = [row["size_over_oracle"] for row in own if "size_over_oracle" in row]
        lines.append({
            "method": name,
            "cells": len(own),
            "short": sum(row["short"] for row in own),
            "mean_coverage": average(row["coverage"] for row in own),
            "least_coverage": min(row["coverage"] for row in own),
            "mean_scaled_size": average(row["scaled_size"] for row in own),
            **({"mean_size_over_oracle": average(ratios)} if ratios else {}),
        })  # fmt: skip
    return lines


def average(values: Iterable[float]) -> float:
    """Return the mean of some numbers."""
    listed = list(values)
    return sum(listed) / len(listed)
