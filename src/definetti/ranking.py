"""Algorithm 1 for a batch of candidates: sequence → model → score → symmetry → rank."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti.arrays import FloatArray, IntArray
from definetti.history import Completion, History
from definetti.hmm.model import HMM, Parameters
from definetti.progress import watched
from definetti.pvalue import Rank, ranks
from definetti.scores.contract import Score, evaluate
from definetti.sequence import MISSING
from definetti.symmetry.contract import Symmetry
from definetti.windows import Windows


class Question(NamedTuple):
    """All that a prediction depends on but the candidates.

    Attributes
    ----------
    history, table, statistics : the labelled sequence, its distinct observations and their sums
    observations : (h,) codes of the new observations
    unseen : (h,) which of them are not there yet, and are to be left out of every window
    labels : the labels of the states, those of the candidates included
    n_resamples, entropy : how many rearrangements to draw where they are drawn, and from what seed
    """

    history: History
    table: Any
    statistics: FloatArray
    observations: IntArray
    unseen: npt.NDArray[np.bool_]
    labels: tuple[Hashable, ...]
    model: HMM
    score: Score
    symmetry: Symmetry
    n_resamples: int
    entropy: int

    def generator(self, *key: int) -> np.random.Generator:
        """Return a stream of its own for each key: draws do not depend on who else draws."""
        place = (len(self.history), len(self.observations), *key)
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=place))

    def uniform(self) -> float:
        """Return the one uniform number that breaks the ties of this prediction."""
        return float(self.generator().random())

    def seen(self, windows: Windows) -> Windows:
        """Leave out of all windows what the new ones do not have."""
        return windows._replace(observations=np.where(self.unseen, MISSING, windows.observations))


def rank(
    question: Question, candidates: IntArray, verbose: bool = False
) -> tuple[list[Rank], FloatArray]:
    """Rank candidate state sequences, ``(C, h)``; return their ranks and their scores."""
    completions = [  # Step 1
        Completion(question.history, states, question.observations, len(question.labels))
        for states in candidates
    ]
    orbits: dict[tuple[int, ...], list[int]] = {}
    for index, completion in enumerate(completions):
        orbits.setdefault(question.symmetry.orbit(completion), []).append(index)
    estimates: dict[tuple[int, ...], Parameters] = {}
    found: list[Rank] = [Rank(0, 0, 1)] * len(completions)
    scores = np.empty(len(completions))
    todo = watched(orbits.items(), len(orbits), "ranking candidates", verbose)
    for orbit, members in todo:
        completion = completions[members[0]]
        key = completion.counts_key
        if key not in estimates:
            estimates[key] = question.model.parameters(  # Step 2
                completion, question.table, question.statistics, question.labels
            )
        reference = question.symmetry.reference(  # Steps 3 and 4
            completion, question.n_resamples, partial(question.generator, *orbit)
        )
        own = Windows(
            np.full(len(members), question.history.last),
            candidates[members],
            np.broadcast_to(question.observations, (len(members), completion.horizon)),
        )
        values = evaluate(question.score, estimates[key], question.seen(own + reference.windows))
        scores[members] = values[: len(members)]
        placed = ranks(  # Step 5
            values[len(members) :], reference.weights, scores[members], reference.sampled
        )
        for index, place in zip(members, placed, strict=True):
            found[index] = place._replace(randomised=reference.randomised)
    return found, scores
