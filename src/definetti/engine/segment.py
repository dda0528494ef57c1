"""An encoded labelled segment that follows a fitted history, to be predicted window by window."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.random import tie_uniforms
from definetti.data.digest import digest
from definetti.data.encoded import EncodedHistory
from definetti.data.history import Completion
from definetti.data.labels import MISSING, check_encoded
from definetti.engine.task import PredictionTask
from definetti.models.base import Estimate


@dataclass(frozen=True, eq=False)
class Segment:
    """The windows of a segment, each predicted from all rows before it.

    Attributes
    ----------
    data, task : the data before the segment, and the task of its first window
    known : the length of the history, which the segment follows
    states, codes : (known + L,) of the history and the segment
    table, names : observations by code and labels of states, at the end of the segment
    begins : (W,) where windows begin in the segment
    sizes : (W,) the number of states known when each window is predicted
    """

    data: EncodedHistory
    task: PredictionTask
    known: int
    states: IntArray
    codes: IntArray
    table: Any
    names: tuple[Hashable, ...]
    begins: IntArray
    sizes: IntArray

    @classmethod
    def of(
        cls, data: EncodedHistory, task: PredictionTask, observations: Any, labels: Sequence[Any]
    ) -> Segment | None:
        """Encode a segment; None where its windows must be predicted one by one."""
        if data.choose_again(observations) is not data or not data.settled(observations):
            return None  # another model may be chosen on the way
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
            return None  # refused, with its row, when windows are predicted one by one
        if len(codes) != length:
            return None
        horizon = len(task.observations)
        begins = np.arange(0, length - horizon + 1, horizon)
        met = np.maximum.accumulate(np.append(len(data.alphabet) - 1, states))
        return cls(
            data, task, len(history), np.concatenate([history.states, states]),
            np.concatenate([history.observations, codes]), table, alphabet.labels, begins,
            met[begins] + 1,
        )  # fmt: skip

    @property
    def horizon(self) -> int:
        return len(self.task.observations)

    @cached_property
    def lengths(self) -> IntArray:
        """The length of the history when each window is predicted: (W,)."""
        return np.asarray(self.known + self.begins)

    def epochs(self) -> Iterator[tuple[int, int, int]]:
        """Yield runs of windows with equal numbers of states: first, end, number of states."""
        cuts = np.flatnonzero(np.diff(self.sizes)) + 1
        edges = [0, *cuts.tolist(), len(self.begins)]
        for first, last in pairwise(edges):
            yield first, last, int(self.sizes[first])

    def estimate(self, size: int) -> Estimate:
        """Return the estimate of a fixed model for the first `size` states."""
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
        """The observations of each window, unseen ones missing: (W, h)."""
        return np.where(self.task.unseen, MISSING, self.codes[self.times])

    @cached_property
    def truth(self) -> IntArray:
        """The true states of the predicted steps, −1 if not known before: (W, steps)."""
        codes = self.states[self.times[:, self.task.lag :]]
        return np.where(codes < self.sizes[:, None], codes, -1)

    @cached_property
    def uniforms(self) -> FloatArray | None:
        """The uniforms that break the ties of each window, as in `PredictionTask.uniform`."""
        task = self.task
        if not task.smoothing:
            return None
        pool = task.history.pool
        before, emission = len(pool) - len(task.history), task.model.emission_
        states = np.concatenate([pool.states[:before], self.states])
        codes = np.concatenate([pool.observations[:before], self.codes])
        rows, (done, key) = before + self.lengths, task.digest
        uniforms = np.empty(len(rows))
        blocks = np.frexp(rows)[1]  # rows of one block are below the same power of two
        for block in np.unique(blocks).tolist():
            reached = 1 << (block - 1)
            if reached > len(pool):
                new = slice(done, reached)
                key = digest(emission, self.table, codes[new], states[new], key)
                done = reached
            own = blocks == block
            uniforms[own] = tie_uniforms(task.entropy, key, rows[own])
        return uniforms
