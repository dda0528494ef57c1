"""Algorithm 1 for a batch of candidates: sequence → model → score → symmetry → rank."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.progress import show_progress
from definetti.data.digest import digest
from definetti.data.history import Completion, History
from definetti.data.labels import MISSING
from definetti.data.windows import Windows, windows_at
from definetti.models.estimate import Estimate
from definetti.models.hmm import Model
from definetti.ranks.past import past_scores
from definetti.ranks.pvalue import Rank, ranks, ranks_among
from definetti.scores.base import Score, evaluate
from definetti.symmetry.base import Reference, Symmetry


@dataclass(frozen=True, eq=False)
class Question:
    """All that a prediction depends on but the candidates.

    Attributes
    ----------
    history, table, statistics : the labelled sequence, its distinct observations and their sums
    observations : (h,) codes of the new observations
    unseen : (h,) which of them are not there yet, and are to be left out of every window
    labels : the labels of the states, those of the candidates included
    n_resamples, entropy : how many rearrangements to draw where they are drawn, and from what seed
    smoothing : whether ties are broken at random
    lag : how many of the new steps are not asked about, because their labels never come
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
    smoothing: bool = False
    lag: int = 0

    @property
    def asked(self) -> int:
        """How many steps, the last ones, are asked about."""
        return len(self.observations) - self.lag

    @property
    def method(self) -> str:
        """What to say of a set of how it was made."""
        name = type(self.symmetry).__name__.lower()
        within, number = "", self.history.stretches
        if number > 1:
            within = f" within the last of {number} stretches"
            if getattr(self.symmetry, "pools", False) and self.history.pool is not self.history:
                within += ", observations from all"
        return f"{self.score.name} score, {name} symmetry{within}{', smoothed' * self.smoothing}"

    @property
    def by_last_state(self) -> bool:
        """Whether a candidate is compared with the past through its last state alone."""
        return self.model.fixed and getattr(self.symmetry, "by_last_state", False)

    def generator(self, use: int = 0) -> np.random.Generator:
        """Return the stream of this prediction, from its beginning.

        All candidates draw the same stream, so a p-value does not depend on who else is asked
        about; each by itself compares with independent draws, which is all that validity needs.
        Other data have another stream: one seed serves many histories.
        """
        place = (len(self.history), len(self.observations), use, *self._digest)
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=place))

    @cached_property
    def _digest(self) -> tuple[int, int]:
        """Return a number for the history and one for the new observations."""
        past, emission = self.history.pool, self.model.emission_
        done, number = past.digest
        if done < len(past):
            new = past.observations[done:]
            number = digest(emission, self.table, new, past.states[done:], number)
            past.digest = len(past), number
        nothing = np.zeros(len(self.observations), dtype=np.int64)
        return number, digest(emission, self.table, self.observations, nothing)

    def uniform(self) -> float:
        """Return the one uniform number that breaks the ties of this prediction."""
        return float(self.generator(use=1).random())

    def broken(self, found: list[Rank]) -> list[float | None]:
        """Return the number that breaks the ties of each rank, if it is to: the same for all."""
        ties = [self.smoothing or one.randomised for one in found]
        uniform = self.uniform() if any(ties) else None
        return [uniform if one else None for one in ties]

    def seen(self, windows: Windows) -> Windows:
        """Leave out of all windows what the new ones do not have."""
        if not self.unseen.any():
            return windows
        return windows._replace(observations=np.where(self.unseen, MISSING, windows.observations))

    @property
    def settled(self) -> bool:
        """Whether a stretch of the history has one score, whatever comes after it."""
        return self.model.fixed

    @property
    def setting(self) -> tuple[Hashable, ...]:
        """Return all that the score of a stretch depends on under a fixed model, but the stretch.

        A state or symbol that comes up for the first time may change a fixed model.
        """
        symbols = len(self.table) if self.model.emission_.symbols else 0
        steps = len(self.unseen), int(np.count_nonzero(self.unseen)), self.lag
        return self.score, len(self.labels), symbols, *steps

    def completed(self, states: IntArray) -> Completion:
        return Completion(self.history, states, self.observations, len(self.labels))

    def ending(self, last: int) -> Completion:
        """Return some completion with a given last state."""
        return self.completed(np.full(len(self.observations), last))

    def past_ends(self, last: int) -> IntArray:
        """Return the times at which the stretches end that a last state is compared with."""
        reference = self.symmetry.reference(self.ending(last), self.n_resamples, self.generator)
        assert reference.ends is not None
        return reference.ends

    def estimated(self, completion: Completion) -> Estimate:
        return self.model.estimate(completion, self.table, self.statistics, self.labels)

    def windows(self, candidates: IntArray) -> Windows:
        """Return candidates as windows: what is being judged."""
        number = len(candidates)
        observations = self.observations[None].repeat(number, axis=0)
        # Steps that are not asked about have some state, which no score looks at.
        states = np.pad(candidates, [(0, 0), (self.lag, 0)]) if self.lag else candidates
        return Windows(np.full(number, self.history.last), states, observations)

    def compared(self, reference: Reference) -> Windows:
        """Return the windows of a reference, cut out of the history where they are named only."""
        if reference.windows is not None:
            return reference.windows
        assert reference.ends is not None
        return self.stretches(reference.ends)

    def stretches(self, ends: IntArray) -> Windows:
        """Return the windows of the history that end at given times."""
        past = self.history
        return windows_at(ends, past.states, past.observations, len(self.observations))

    def scored(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return evaluate(self.score, estimate, self.seen(windows))


def rank(
    question: Question, candidates: IntArray, verbose: bool = False
) -> tuple[list[Rank], FloatArray]:
    """Rank candidate state sequences, ``(C, h)``; return their ranks and their scores."""
    windows = question.windows(candidates)
    completions = [question.completed(states) for states in windows.states]  # Step 1
    # Candidates that share the estimate and the rearrangements share their work.
    fixed = question.model.fixed
    groups: dict[tuple[int, ...], dict[tuple[int, ...], list[int]]] = {}
    for index, completion in enumerate(completions):
        alike = groups.setdefault(() if fixed else completion.counts_key, {})
        alike.setdefault(question.symmetry.orbit(completion), []).append(index)
    # Those of one estimate after each other, so that one at a time is enough.
    todo = [(key, *group) for key, alike in groups.items() for group in alike.items()]
    estimates: dict[tuple[int, ...], Estimate] = {}
    found: list[Rank] = [Rank(0, 0, 1)] * len(completions)
    scores = np.empty(len(completions))
    if fixed:
        estimates[()] = question.estimated(completions[0])
        scores[:] = question.scored(estimates[()], windows)
    for key, orbit, members in show_progress(todo, len(todo), "ranking candidates", verbose):
        completion = completions[members[0]]
        if key not in estimates:
            estimates = {key: question.estimated(completion)}  # Step 2
        reference = question.symmetry.reference(  # Steps 3 and 4
            completion, question.n_resamples, question.generator
        )
        if fixed and reference.ends is not None:
            past = past_scores(question, estimates[key], reference.ends, orbit)
            placed = ranks_among(past, scores[members])  # Step 5
        else:
            compared = question.compared(reference)
            if fixed:
                others = question.scored(estimates[key], compared)
            else:  # in one go, which costs less than two
                values = question.scored(
                    estimates[key], question.windows(candidates[members]) + compared
                )
                scores[members], others = values[: len(members)], values[len(members) :]
            placed = ranks(others, reference.weights, scores[members], reference.joins)
        for index, place in zip(members, placed, strict=True):
            found[index] = place._replace(randomised=reference.randomised)
    return found, scores
