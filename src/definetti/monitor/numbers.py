"""Rows of numbers one step ahead, under a Gaussian model refitted at every step.

The statistics of the estimator are kept as sums, so that a step costs the scores of the rows that
it is compared with, however long the stream is. Sets compare with the latest steps to each state,
as "spaced" blocks do. Bets use ranks among the members of the class: the previous state has the
weights of Whittle's formula, and the row is uniform over the rows of the state, independently. If a
state has many rows, some are drawn: given all rows drawn, including the row of the step, each is
equally likely to be the row of the step.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import pairwise
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.conformal import ConformalHMM
from definetti.data.history import padded
from definetti.data.labels import MISSING, Alphabet
from definetti.emissions import Gaussian
from definetti.emissions.gaussian import Centred
from definetti.engine.pvalues import Rank, Ranked
from definetti.engine.step_counts import ALONE, Stream, find_step_score
from definetti.memory import Order
from definetti.models import HMM
from definetti.monitor.sources import ChainSource, CountsInsufficient, Parts
from definetti.scores.nonconformity import round_scores
from definetti.symmetry import Returns, Spaced

if TYPE_CHECKING:
    from definetti.monitor.past import Past

LARGEST = 1e150  # its square fits into a float
DRAWS = 499  # most rows that a step is compared with; ranks are exact with any number


def numbers_tell(cp: ConformalHMM) -> bool:
    """Return whether sums of rows determine the model of an estimator."""
    data, model = cp._data, cp.model_
    emission, kinds = data.emission, data.kinds
    if (
        cp.memory_ != Order(1)
        or not find_step_score(cp.conformity_score_)
        or not (type(model) is HMM and model.prior > 0)
        or type(emission) is not Gaussian
        or (kinds is not None and kinds.shape not in ("rows", "single", "columns"))
        or cp._plan(data, 1, 0) is not data
    ):
        return False
    codes = data.history.pool.observations
    return bool((codes != MISSING).all() and np.isfinite(data.table.take(codes)).all())


@dataclass(frozen=True, eq=False)
class StreamRows(Centred):
    """Rows of a stream relative to a point, by their codes."""

    seen: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    def take(self, codes: IntArray) -> FloatArray:
        return np.asarray(self.seen[codes])


class NumbersSource(ChainSource):
    """Ranks of rows of numbers by a Gaussian hidden Markov model refitted on their sums."""

    def __init__(self, past: Past, generator: np.random.Generator, parts: Parts) -> None:
        cp = past.cp
        data, model, symmetry, emission = cp._data, cp.model_, cp.symmetry_, cp._data.emission
        assert isinstance(model, HMM)
        assert isinstance(emission, Gaussian)
        n, pool, history = len(data.alphabet), data.history.pool, data.history
        super().__init__(cp, parts, Stream(n, 0))
        self._past, self._generator, self._draws = past, generator, DRAWS
        recent = symmetry.recent if type(symmetry) in (Spaced, Returns) else None
        self.sets = "past" if recent is not None and cp.guarantee == "all" else ""
        self._recent = recent or 1
        self._emission, self._prior = emission, float(model.prior)
        self._surprise = find_step_score(cp.conformity_score_) == "surprise"
        self._fast = data.kinds is None or data.kinds.shape != "columns"
        self._fast = self._fast and emission.columns_of(data.table) is None
        self._point = data.table.point
        self.stream.transitions[:] = padded(history.transitions, n, n)
        self.stream.pooled[:] = padded(pool.transitions, n, n)
        self._rows = data.table.take(pool.observations)  # by code, including rows without a label
        self._size = len(self._rows)
        self._sums = np.zeros((n, len(self._added(self._point))))
        self._shelves = np.zeros((n, 16), dtype=np.int64)  # the codes of each state
        self._kept: IntArray = np.zeros(n, dtype=np.int64)
        self._latest = np.zeros((n, self._recent, 2), dtype=np.int64)  # previous state and code
        self._entered: IntArray = np.zeros(n, dtype=np.int64)
        for code in range(int(pool.omits_first), len(pool)):
            self._add(int(pool.states[code]), code)
        if len(history):
            self.stream.first, self.stream.last = history.first, history.last
            met, first = {history.first}, len(pool) - len(history) + 1
            for code, (before, state) in enumerate(pairwise(history.states.tolist()), first):
                if state in met:
                    self._enter(before, state, code)
                met.add(state)

    def _enter(self, before: int, state: int, code: int) -> None:
        """Add a step to the latest steps to its state."""
        self._latest[state, self._entered[state] % self._recent] = before, code
        self._entered[state] += 1

    def _added(self, row: FloatArray) -> FloatArray:
        """Return the contribution of a row to the statistics of its state."""
        if self._emission.covariance == "diagonal":
            return np.concatenate([np.ones(len(row)), row, row**2])
        return np.concatenate([[1.0], row, (row[:, None] * row).ravel()])

    def _add(self, state: int, code: int) -> None:
        """Add a row to the sums and to the shelf of its state."""
        self._sums[state] += self._added(self._rows[code])
        place = self._kept[state]
        if place == self._shelves.shape[1]:
            self._shelves = padded(self._shelves, len(self._shelves), 2 * place)
        self._shelves[state, place] = code
        self._kept[state] += 1

    def code(self, observation: Any) -> int:
        row = self._read(observation)
        if self._size == len(self._rows):
            self._rows = padded(self._rows, 2 * self._size, self._rows.shape[1])
        self._rows[self._size] = row
        self._size += 1
        return self._size - 1

    def _read(self, observation: Any) -> FloatArray:
        """Return a row of numbers relative to the point, by `encode` if it is no plain array."""
        width = len(self._point)
        if self._fast and isinstance(observation, (float, list, np.ndarray)):
            value = np.asarray(observation)
            shape = (width,) if value.ndim else ()
            plain = value.dtype.kind == "f" and value.shape == shape and (value.ndim or width == 1)
            if plain and (np.abs(value) <= LARGEST).all():
                return np.asarray(value - self._point, dtype=np.float64)
        data, new = self._past.known._data, self._past.stacked([observation])
        if data.choose_again(new, "observation") is not data:
            raise CountsInsufficient
        table, codes = data.emission.encode(new, data.table, "observation")
        row = None if codes[0] == MISSING else table.take(codes)[0]
        if row is None or not np.isfinite(row).all():
            raise CountsInsufficient
        return np.asarray(row)

    def _grow(self, alphabet: Alphabet) -> None:
        self.alphabet, n = alphabet, len(alphabet)
        self.stream.grow(n, 0)
        for name in ("_sums", "_shelves", "_kept", "_latest", "_entered"):
            setattr(self, name, padded(getattr(self, name), n))

    def _log_likelihoods(self, code: int, candidates: IntArray, codes: IntArray) -> FloatArray:
        """Score rows, ``(G, m)``, in each state, after a step to each candidate: ``(G, n, m)``."""
        places = np.arange(len(candidates))
        sums = np.repeat(self._sums[None], len(candidates), axis=0)
        sums[places, candidates] += self._added(self._rows[code])
        table = StreamRows(point=self._point, seen=self._rows)
        logs = self._emission.log_likelihoods(table, sums, codes, places)
        return np.ascontiguousarray(logs.transpose(0, 2, 1))

    def _moves_to(self, states: IntArray) -> FloatArray:
        """Return transition probabilities refitted with a step to each state: ``(G, n, n)``."""
        counts = np.repeat(self.stream.pooled[None] + self._prior, len(states), axis=0)
        counts[np.arange(len(states)), self.stream.last, states] += 1.0
        return np.asarray(counts / counts.sum(axis=2, keepdims=True))

    def _scores(self, move: FloatArray, whole: FloatArray, log_ratio: FloatArray) -> FloatArray:
        """Score steps by the probability of the move and the densities relative to the largest."""
        log_posterior = np.log(move / whole) + log_ratio
        return round_scores(-log_posterior if self._surprise else 1.0 - np.exp(log_posterior))

    def step_ranks(self, code: int) -> Ranked:
        number = min(int(self._entered.max()), self._recent)
        states = np.arange(len(self._entered))
        before = np.full((len(states), 1 + number), self.stream.last)
        codes = np.full((len(states), 1 + number), code)
        before[:, 1:], codes[:, 1:] = self._latest[:, :number].transpose(2, 0, 1)
        logs = self._log_likelihoods(code, states, codes)
        top = logs.max(axis=1)
        moves = self._moves_to(states)[states[:, None], before]  # (n, 1 + r, n)
        whole = np.einsum("grs,gsr->gr", moves, np.exp(logs - top[:, None]))
        own = logs[states, states] - top
        scores = self._scores(moves[states, :, states], whole, own)
        there = np.arange(1 + number) <= self._entered[:, None]
        greater = (there & (scores > scores[:, :1])).sum(axis=1)
        equal = (there & (scores == scores[:, :1])).sum(axis=1)
        return Ranked(greater[None], equal[None], there.sum(axis=1)[None], scores[None, :, 0])

    def part_ranks(self, state: int, code: int) -> tuple[Rank, Rank, Rank]:
        if not self.stream.trees.met[state]:
            return ALONE, ALONE, ALONE
        shelf = self._shelves[state, : self._kept[state]]
        if len(shelf) > self._draws:
            drawn = self._generator.integers(len(shelf) + 1, size=self._draws)
            own = drawn == len(shelf)
            shelf = np.where(own, code, shelf[np.where(own, 0, drawn)])
        candidate = np.array([state])
        [logs] = self._log_likelihoods(code, candidate, np.concatenate([[code], shelf])[None])
        [moves] = self._moves_to(candidate)
        top, last = logs.max(axis=0), self.stream.last
        move, row = round_scores(-np.log(moves[:, state])), round_scores(-logs[state])
        step = self._scores(moves[:, state, None], moves @ np.exp(logs - top), logs[state] - top)
        weights, total = self.stream.ends(state), 1 + len(shelf)
        members = sum(weights)

        def weigh(counts: npt.NDArray[Any]) -> int:
            return sum(map(mul, weights, counts.tolist()))

        return (
            Rank(weigh(move > move[last]), weigh(move == move[last]), members),
            Rank(int((row > row[0]).sum()), int((row == row[0]).sum()), total),
            Rank(
                weigh((step > step[last, 0]).sum(axis=1)),
                weigh((step == step[last, 0]).sum(axis=1)),
                members * total,
            ),
        )

    def learn(self, label: Hashable, code: int) -> None:
        state, chain = self.alphabet.codes[label], self.stream
        if chain.last >= 0 and chain.trees.met[state]:
            self._enter(chain.last, state, code)
        chain.learn(state, -1)
        self._add(state, code)

    def new_segment(self) -> None:
        super().new_segment()
        self._entered[:] = 0
