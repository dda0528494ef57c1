"""Algorithm 1 for a batch of candidates: sequence → model → score → symmetry → rank."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti.arrays import FloatArray, IntArray
from definetti.history import Completion, History
from definetti.hmm.estimate import Estimate
from definetti.hmm.model import Model
from definetti.progress import watched
from definetti.pvalue import Rank, ranks
from definetti.scores.contract import Score, evaluate
from definetti.sequence import MISSING
from definetti.symmetry.contract import Reference, Symmetry
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
    model: Model
    score: Score
    symmetry: Symmetry
    n_resamples: int
    entropy: int

    def generator(self, use: int = 0) -> np.random.Generator:
        """Return the stream of this prediction, from its beginning.

        All candidates draw the same stream, so a p-value does not depend on who else is asked
        about; each by itself compares with independent draws, which is all that validity needs.
        """
        place = (len(self.history), len(self.observations), use)
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=place))

    def uniform(self) -> float:
        """Return the one uniform number that breaks the ties of this prediction."""
        return float(self.generator(use=1).random())

    def seen(self, windows: Windows) -> Windows:
        """Leave out of all windows what the new ones do not have."""
        if not self.unseen.any():
            return windows
        return windows._replace(observations=np.where(self.unseen, MISSING, windows.observations))


def rank(
    question: Question, candidates: IntArray, verbose: bool = False
) -> tuple[list[Rank], FloatArray]:
    """Rank candidate state sequences, ``(C, h)``; return their ranks and their scores."""
    completions = [  # Step 1
        Completion(question.history, states, question.observations, len(question.labels))
        for states in candidates
    ]
    # Candidates that share the estimate and the rearrangements share their work.
    groups: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for index, completion in enumerate(completions):
        counts = () if question.model.fixed else completion.counts_key
        groups.setdefault((counts, question.symmetry.orbit(completion)), []).append(index)
    estimates: dict[tuple[int, ...], Estimate] = {}
    found: list[Rank] = [Rank(0, 0, 1)] * len(completions)
    scores = np.empty(len(completions))
    todo = watched(groups.items(), len(groups), "ranking candidates", verbose)
    for (key, _), members in todo:
        completion = completions[members[0]]
        if key not in estimates:
            estimates[key] = question.model.estimate(  # Step 2
                completion, question.table, question.statistics, question.labels
            )
        reference = question.symmetry.reference(  # Steps 3 and 4
            completion, question.n_resamples, question.generator
        )
        own = Windows(
            np.full(len(members), question.history.last),
            candidates[members],
            question.observations[None].repeat(len(members), axis=0),
        )
        scores[members], others = _scored(question, estimates[key], own, reference)
        placed = ranks(others, reference.weights, scores[members], reference.joins)  # Step 5
        for index, place in zip(members, placed, strict=True):
            found[index] = place._replace(randomised=reference.randomised)
    return found, scores


def _scored(
    question: Question, estimate: Estimate, own: Windows, reference: Reference
) -> tuple[FloatArray, FloatArray]:
    """Score the candidates and what they are compared with."""
    grows = getattr(question.model.emission_, "grows", False)
    if not question.model.fixed or reference.ends is None or grows:
        values = evaluate(question.score, estimate, question.seen(own + reference.windows))
        return values[: len(own.start)], values[len(own.start) :]
    # A fixed model scores a stretch of the history once and for all, but for two events: a state
    # or a symbol that comes up for the first time changes what it knows of them.
    symbols = len(question.table) if question.model.emission_.symbols else 0
    ledger = question.history.ledger(
        own.states.shape[1], len(question.labels), symbols, *question.unseen.tolist()
    )
    todo = reference.ends[np.isnan(ledger[reference.ends])]
    if len(todo):
        past = Windows(*(part[np.isnan(ledger[reference.ends])] for part in reference.windows))
        ledger[todo] = evaluate(question.score, estimate, question.seen(past))
    return evaluate(question.score, estimate, question.seen(own)), ledger[reference.ends]
