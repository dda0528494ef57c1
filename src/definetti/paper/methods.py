"""The methods that are compared, with the settings of each."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from definetti.cells.cell import Settings

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
    """Return the sets of a method, one for each of its variants.

    Examples
    --------
    >>> task = Task([0, 1] * 10, [0, 1] * 10, [0], 2)
    >>> make_sets(OURS, task, np.random.default_rng(0))
    [[(0,)], [(0,)]]
    """
    from definetti import HMM, ConformalHMM
    from definetti.exceptions import NotExactWarning

    cp = ConformalHMM(
        HMM(prior=method.prior),
        score=method.score,
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
