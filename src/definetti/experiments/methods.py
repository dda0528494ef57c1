"""The methods of the paper and ours, and how far their coverage falls short."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

from definetti._system.cells import Settings
from definetti.conformal import ConformalHMM
from definetti.engine.pvalues import miscoverage
from definetti.exceptions import NotExactWarning
from definetti.models import HMM

Rows = list[dict[str, Any]]
PROMISED = 0.8  # the coverage that the paper promises throughout
CHANCE = 0.05  # that a method which keeps its promise is found short anywhere in a table


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


def make_sets(
    method: Method, observations: Any, states: Any, new: Any, n_states: int, rng: Any
) -> list[list[tuple[Hashable, ...]]]:
    """Return the sets of a method for the steps after a labelled history, one for each variant.

    All come from one ranking, which is what takes the time. They may be empty, as the paper's are.
    """
    cp = ConformalHMM(
        HMM(prior=method.prior),
        conformity_score=method.score,
        symmetry=method.symmetry,
        confidence_level=method.level,
        states=list(range(n_states)),
        random_state=rng,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotExactWarning)  # it is what the experiment shows
        cp.fit(observations if method.observed else None, states)
    seen = new if method.observed else None
    ranks = cp.predict_ranks(seen, horizon=None if method.observed else len(new))
    alpha, uniform = miscoverage(method.level), float(rng.random())
    kept = [s for s, r in ranks.items() if r.exceeds(alpha, uniform if r.randomised else None)]
    if not method.smoothed:
        return [kept]
    return [kept, [s for s, r in ranks.items() if r.exceeds(alpha, uniform)]]


def count_covered(covered: int, repetitions: int) -> dict[str, Any]:
    """Return the columns of a table that tell the coverage, with its standard error."""
    share = covered / repetitions
    return {
        "repetitions": repetitions,
        "covered": covered,
        "coverage": share,
        "coverage_error": sqrt(share * (1 - share) / repetitions),
    }


def mark_short(rows: Rows) -> Rows:
    """Add to each row whether its coverage is short of the promise beyond Monte Carlo error.

    By the exact binomial test, with the level shared out among the cells of a method: one that
    keeps its promise in all of them is found short in any with probability 1/20 at most.
    """
    from scipy.stats import binom  # slow to import

    numbers = {name: len(own) for name, own in group_by_method(rows).items()}
    for row in rows:
        chance = float(binom.cdf(row["covered"], row["repetitions"], PROMISED))
        row["short"] = chance < CHANCE / numbers[row["method"]]
    return rows


def group_by_method(rows: Rows) -> dict[str, Rows]:
    """Return the rows of each method, in the order in which methods come up."""
    found: dict[str, Rows] = {}
    for row in rows:
        found.setdefault(row["method"], []).append(row)
    return found


def summarise_methods(rows: Rows) -> Rows:
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
