"""A labelled segment that follows a fitted history, in codes: what all its windows share."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.random import tie_uniforms
from definetti.data.digest import digest
from definetti.data.encoded import EncodedHistory
from definetti.data.history import Completion
from definetti.data.labels import MISSING, check_encoded, piece
from definetti.engine.task import PredictionTask
from definetti.models.base import Estimate

if TYPE_CHECKING:
    from definetti.conformal.base import BaseHistoryConformal


@dataclass(frozen=True, eq=False)
class Segment:
    """All windows of a segment, each predicted from all that comes before it.

    Attributes
    ----------
    predictor : fitted on what comes before the segment
    data : what is labelled, as the task has it
    task : that of the first window
    observations, labels : the segment as it came
    known : how many steps the history has; the segment follows them
    states, codes : (known + L,) of the history and the segment
    table : the observations known in the end
    names : the labels of the states known in the end
    begins : (W,) where windows begin in the segment
    sizes : (W,) how many states are known when each is predicted
    """

    predictor: BaseHistoryConformal
    data: EncodedHistory
    task: PredictionTask
    observations: Any
    labels: Sequence[Any]
    known: int
    states: IntArray
    codes: IntArray
    table: Any
    names: tuple[Hashable, ...]
    begins: IntArray
    sizes: IntArray

    @classmethod
    def of(
        cls,
        predictor: BaseHistoryConformal,
        task: PredictionTask,
        observations: Any,
        labels: Sequence[Any],
    ) -> Segment | None:
        """Take a segment in at once; None where that must be done window by window."""
        data, horizon = predictor._data_of(task), len(task.observations)
        if data.choose_again(observations) is not data or not data.settled(observations):
            return None  # another law may be chosen on the way
        labels = list(labels)
        length = len(labels)
        alphabet, history = data.alphabet, data.history
        try:
            if not data.closed:
                there = list(dict.fromkeys(labels))
                alphabet.check_kind(labels, "states", there)
                alphabet = alphabet.extended(there)
            states = alphabet.encode(labels, "states")
            came = [None] * length if observations is None else observations
            table, codes = data.emission.encode(came, data.table, "observations")
            check_encoded(data.emission, table, codes)
            task.symmetry.check_more(codes, data.emission.symbols)
        except (TypeError, ValueError):
            return None  # whoever goes window by window says where it is
        if len(codes) != length:
            return None
        begins = np.arange(0, length - horizon + 1, horizon)
        met = np.maximum.accumulate(np.append(len(data.alphabet) - 1, states))
        return cls(
            predictor,
            data,
            task,
            observations,
            labels,
            len(history),
            np.concatenate([history.states, states]),
            np.concatenate([history.observations, codes]),
            table,
            alphabet.labels,
            begins,
            met[begins] + 1,
        )

    @property
    def horizon(self) -> int:
        return len(self.task.observations)

    @cached_property
    def lengths(self) -> IntArray:
        """How long the history is when each window is predicted: (W,)."""
        return np.asarray(self.known + self.begins)

    def epochs(self) -> Iterator[tuple[int, int, int]]:
        """Yield the windows between two new states: first, after the last, number of states."""
        cuts = np.flatnonzero(np.diff(self.sizes)) + 1
        edges = [0, *cuts.tolist(), len(self.begins)]
        for first, last in pairwise(edges):
            yield first, last, int(self.sizes[first])

    def estimate(self, size: int) -> Estimate:
        """Return what a fixed model estimates, where so many states are known."""
        task, steps = self.task, np.zeros(self.horizon, dtype=np.int64)
        completion = Completion(task.history, steps, steps + MISSING, size)
        statistics, labels = np.zeros((size, 0)), self.names[:size]
        return task.model.estimate(completion, self.table, statistics, labels)

    @cached_property
    def times(self) -> IntArray:
        """The times of the steps of each window: (W, h)."""
        return np.asarray(self.lengths[:, None] + np.arange(self.horizon))

    @cached_property
    def new(self) -> IntArray:
        """What is observed when each window is predicted: (W, h)."""
        return np.where(self.task.unseen, MISSING, self.codes[self.times])

    @cached_property
    def truth(self) -> IntArray:
        """The true states that are asked about, −1 for one unknown until then: (W, steps)."""
        found = self.states[self.times[:, self.task.lag :]]
        return np.where(found < self.sizes[:, None], found, -1)

    @cached_property
    def uniforms(self) -> FloatArray | None:
        """The uniform that breaks the ties of each window, as `PredictionTask.uniform` has it."""
        task = self.task
        if not task.smoothing:
            return None
        pool = task.history.pool
        before, emission = len(pool) - len(task.history), task.model.emission_
        states = np.concatenate([pool.states[:before], self.states])
        codes = np.concatenate([pool.observations[:before], self.codes])
        rows, (done, key) = before + self.lengths, task.digest
        found = np.empty(len(rows))
        blocks = np.frexp(rows)[1]  # rows of one block are below the same power of two
        for block in np.unique(blocks).tolist():
            reached = 1 << (block - 1)
            if reached > len(pool):
                new = slice(done, reached)
                key = digest(emission, self.table, codes[new], states[new], key)
                done = reached
            own = blocks == block
            found[own] = tie_uniforms(task.entropy, key, rows[own])
        return found

    def learner_at(self, window: int) -> Any:
        """Return a copy of the predictor that has learned all labels before a window."""
        learner = copy.deepcopy(self.predictor)
        end = int(self.begins[window])
        if end:
            seen = None if self.observations is None else piece(self.observations, 0, end)
            learner.partial_fit(seen, self.labels[:end])
        return learner

    def seen_in(self, window: int) -> Any:
        """Return the observations of a window that are there when it is predicted."""
        begin, number = int(self.begins[window]), int((~self.task.unseen).sum())
        if self.observations is None or not number:
            return None
        return piece(self.observations, begin, begin + number)

    def p_value_at(self, window: int) -> float:
        """Return the p-value of the truth of a window, by itself: it may have unknown states."""
        begin, lag = int(self.begins[window]), self.task.lag
        asked = self.labels[begin + lag : begin + self.horizon]
        how = {"horizon": self.horizon, **({"lag": lag} if lag else {})}  # not all know of it
        return float(self.learner_at(window).p_value(self.seen_in(window), asked, **how))
