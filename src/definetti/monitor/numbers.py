"""Rows of numbers one step ahead, under a Gaussian model refitted at every step.

What the estimator would work out anew at every step is kept as sums, so that a step costs the
scores of the rows that it is compared with, however long the stream is. Sets compare with the
latest steps to each state, as "spaced" blocks do. The ranks that are bet on are those among the
members of the class: the state before the step has the weights of Whittle's formula, and the row is
any of the state's own, independently. Where a state has many rows, some are drawn: given all that
were drawn, the step's own row among them, each is as likely to be the step's own.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from operator import mul
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.conformal import ConformalHMM
from definetti.data.history import padded
from definetti.data.labels import MISSING, checked_states
from definetti.emissions import Gaussian
from definetti.emissions.gaussian import Centred
from definetti.engine.pvalues import Rank, Ranked
from definetti.engine.step_kernels import share_row
from definetti.engine.stream import ALONE, PARTS, Stream, find_step_score
from definetti.memory import Order
from definetti.models import HMM
from definetti.monitor.follower import Follower
from definetti.monitor.sources import CountsInsufficient, Parts, Source
from definetti.scores.nonconformity import rounded
from definetti.symmetry import Returns, Spaced

LARGEST = 1e150  # whose square a machine number holds
DRAWS = 499  # rows that a step is compared with, where its state has more: exact with any number


def numbers_tell(cp: ConformalHMM) -> bool:
    """Tell whether the sums of rows of numbers are all that the model of an estimator learns."""
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
    """Rows of a stream as seen from a point, by their codes."""

    seen: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    def take(self, codes: IntArray) -> FloatArray:
        return np.asarray(self.seen[codes])


class NumbersSource(Source):
    """Rows of numbers, and a Gaussian hidden Markov model refitted on their sums.

    Attributes
    ----------
    alphabet : the states
    chain : the counts of their steps
    """

    def __init__(self, follower: Follower, generator: np.random.Generator, parts: Parts) -> None:
        cp = follower.cp
        super().__init__(cp, parts)
        self._follower, self._generator = follower, generator
        data, model, symmetry, emission = cp._data, cp.model_, cp.symmetry_, cp._data.emission
        assert isinstance(model, HMM)
        assert isinstance(emission, Gaussian)
        self.alphabet, self.closed = data.alphabet, data.closed
        recent = symmetry.recent if type(symmetry) in (Spaced, Returns) else None
        self.sets = "past" if recent is not None and cp.guarantee == "all" else ""
        self._recent = recent or 1
        self._emission, self._prior = emission, float(model.prior)
        self._surprise = find_step_score(cp.conformity_score_) == "surprise"
        self._draws = DRAWS
        self._fast = data.kinds is None or data.kinds.shape != "columns"
        self._fast = self._fast and emission.columns_of(data.table) is None
        n, pool, history = len(self.alphabet), data.history.pool, data.history
        self._point = data.table.point
        self.chain = Stream(n, 0)
        self.chain.transitions[:] = padded(history.transitions, n, n)
        self.chain.pooled[:] = padded(pool.transitions, n, n)
        self._rows = data.table.take(pool.observations)  # by code, those without a label included
        self._size = len(self._rows)
        self._sums = np.zeros((n, len(self._added(self._point))))
        self._shelves = np.zeros((n, 16), dtype=np.int64)  # the codes of each state
        self._kept: IntArray = np.zeros(n, dtype=np.int64)
        self._latest = np.zeros((n, self._recent, 2), dtype=np.int64)  # the state before, the code
        self._entered: IntArray = np.zeros(n, dtype=np.int64)
        for code in range(int(pool.omits_first), len(pool)):
            self._add(int(pool.states[code]), code)
        if len(history):
            self.chain.first, self.chain.last = history.first, history.last
            self._enter_all(history.states, len(pool) - len(history))

    def _enter_all(self, states: IntArray, begin: int) -> None:
        """Take in the steps of the present segment, whose rows begin with a code."""
        met, before = set(states[:1].tolist()), states.tolist()
        for k, state in enumerate(before[1:], 1):
            if state in met:
                self._enter(before[k - 1], state, begin + k)
            met.add(state)

    def _enter(self, before: int, state: int, code: int) -> None:
        """Put a step among the latest to its state."""
        self._latest[state, self._entered[state] % self._recent] = before, code
        self._entered[state] += 1

    def _added(self, row: FloatArray) -> FloatArray:
        """Return what a row adds to the statistics of its state."""
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
        """Return a row of numbers as seen from the point; others than plain ones the slow way."""
        width = len(self._point)
        if self._fast and isinstance(observation, (float, list, np.ndarray)):
            found = np.asarray(observation)
            shape = (width,) if found.ndim else ()
            plain = found.dtype.kind == "f" and found.shape == shape and (found.ndim or width == 1)
            if plain and (np.abs(found) <= LARGEST).all():
                return np.asarray(found - self._point, dtype=np.float64)
        data, new = self._follower.known._data, self._follower.stacked([observation])
        if data.choose_again(new, "observation") is not data:
            raise CountsInsufficient
        table, codes = data.emission.encode(new, data.table, "observation")
        row = None if codes[0] == MISSING else table.take(codes)[0]
        if row is None or not np.isfinite(row).all():
            raise CountsInsufficient
        return np.asarray(row)

    def check_label(self, label: Hashable) -> None:
        if label in self.alphabet.codes:
            return
        checked_states([label], "state")
        if self.closed:
            self.alphabet.encode([label], "state")
        self.alphabet.check_kind([label], "state")
        self.alphabet = self.alphabet.joined([label])
        n = len(self.alphabet)
        self.chain.grow(n, 0)
        for name in ("_sums", "_shelves", "_kept", "_latest", "_entered"):
            setattr(self, name, padded(getattr(self, name), n))

    @property
    def labels(self) -> tuple[Hashable, ...]:
        return self.alphabet.labels

    @property
    def present(self) -> Hashable:
        return self.labels[self.chain.last]

    def _log_likelihoods(self, code: int, candidates: IntArray, codes: IntArray) -> FloatArray:
        """Judge rows, ``(G, m)``, in each state, with a step to each candidate: ``(G, n, m)``."""
        each = np.arange(len(candidates))
        sums = np.repeat(self._sums[None], len(candidates), axis=0)
        sums[each, candidates] += self._added(self._rows[code])
        table = StreamRows(point=self._point, seen=self._rows)
        logs = self._emission.log_likelihoods(table, sums, codes, each)
        return logs.reshape(*sums.shape[:2], -1)

    def step_ranks(self, code: int) -> Ranked:
        number = min(int(self._entered.max()), self._recent)
        codes = np.full((len(self._entered), 1 + number), code)
        codes[:, 1:] = self._latest[:, :number, 1]
        logs = self._log_likelihoods(code, np.arange(len(codes)), codes)
        placed, scores = _rank_past(
            logs, self.chain.pooled, self.chain.last, self._latest[:, :number, 0], self._entered,
            self._prior, self._surprise,
        )  # fmt: skip
        greater, equal, total = placed.T[:, None]
        return Ranked(greater, equal, total, scores[None])

    def ranks(self, observation: Any, code: int, label: Hashable) -> tuple[Rank, ...]:
        state = self.alphabet.codes[label]
        if not self.chain.trees.met[state]:
            return (ALONE,) * len(self.parts.names)
        shelf = self._shelves[state, : self._kept[state]]
        if len(shelf) > self._draws:
            drawn = self._generator.integers(len(shelf) + 1, size=self._draws)
            own = drawn == len(shelf)
            shelf = np.where(own, code, shelf[np.where(own, 0, drawn)])
        codes = np.concatenate([[code], shelf])[None]
        [logs] = self._log_likelihoods(code, np.array([state]), codes)
        above, tied, seen = _rank_class(
            logs, self.chain.pooled, self.chain.last, state, self._prior, self._surprise
        )
        weights, total = self.chain.ends(state), 1 + len(shelf)
        members = sum(weights)
        moved, stepped = (sum(map(mul, weights, row)) for row in above.tolist())
        as_moved, as_stepped = (sum(map(mul, weights, row)) for row in tied.tolist())
        every = {
            PARTS[0]: Rank(moved, as_moved, members),
            PARTS[1]: Rank(int(seen[0]), int(seen[1]), total),
            PARTS[2]: Rank(stepped, as_stepped, members * total),
        }
        judged = tuple([every[name] for name in self.parts.judged])
        if self.parts.visited:
            visits = self.chain.visits(state)
            judged += tuple([visits[self.alphabet.codes[one]] for one in self.parts.visited])
        return judged

    def learn(self, label: Hashable, code: int) -> None:
        state, chain = self.alphabet.codes[label], self.chain
        if chain.last >= 0 and chain.trees.met[state]:
            self._enter(chain.last, state, code)
        chain.learn(state, -1)
        self._add(state, code)

    def new_segment(self) -> None:
        self.chain.new_segment()
        self._entered[:] = 0


@kernel
def _moves_with(pooled: IntArray, last: int, state: int, prior: float) -> FloatArray:
    """Return the chances of all moves, learned with a new step."""
    counts = pooled.copy()
    counts[last, state] += 1
    moves = np.empty(counts.shape)
    for u in range(len(moves)):
        share_row(counts[u], prior, moves[u])
    return moves


@kernel
def _densities(logs: FloatArray, k: int, found: FloatArray) -> float:
    """Write the densities of a row in each state, by the largest; return the log of that."""
    top = -np.inf
    for j in range(len(found)):
        top = max(top, logs[j, k])
    for j in range(len(found)):
        found[j] = np.exp(logs[j, k] - top)
    return top


@kernel
def _judge(
    moves: FloatArray, densities: FloatArray, log_ratio: float, state: int, surprise: bool
) -> float:
    """Score a step by where its state before leads to, and by its row.

    Parameters
    ----------
    moves, densities : (n,) chances of each state, and densities by the largest
    log_ratio : the log of the density in the state, by the largest
    """
    whole = 0.0
    for j in range(len(densities)):
        whole += moves[j] * densities[j]
    log_posterior = np.log(moves[state] / whole) + log_ratio
    return rounded(-log_posterior if surprise else 1.0 - np.exp(log_posterior))


@kernel
def _rank_past(
    logs: FloatArray,
    pooled: IntArray,
    last: int,
    before: IntArray,
    entered: IntArray,
    prior: float,
    surprise: bool,
) -> tuple[IntArray, FloatArray]:
    """Rank a step to each state among the latest to it: greater, equal, total, and its score.

    Parameters
    ----------
    logs : (n, n, 1 + r) by candidate and state, of the step's own row and of the latest ones
    before : (n, r) the states before these
    """
    n, room = before.shape
    placed, scores, seen = np.zeros((n, 3), dtype=np.int64), np.empty(n), np.empty(n)
    for state in range(n):
        moves, own = _moves_with(pooled, last, state, prior), logs[state]
        number = min(entered[state], room)
        placed[state, 2] = 1 + number
        for k in range(1 + number):
            top = _densities(own, k, seen)
            move = moves[last if k == 0 else before[state, k - 1]]
            score = _judge(move, seen, own[state, k] - top, state, surprise)
            if k == 0:
                scores[state] = score
            placed[state, 0] += score > scores[state]
            placed[state, 1] += score == scores[state]
    return placed, scores


@kernel
def _rank_class(
    logs: FloatArray, pooled: IntArray, last: int, state: int, prior: float, surprise: bool
) -> tuple[IntArray, IntArray, IntArray]:
    """Compare a step with steps from any state, each with its own row and with others.

    Parameters
    ----------
    logs : (n, 1 + m) by state, of the step's own row and of the others

    Returns
    -------
    by state before, (2, n), how many moves and whole steps are greater, and how many equal; of the
    rows alone, (2,), how many are greater and equal
    """
    n, number = logs.shape
    moves = _moves_with(pooled, last, state, prior)
    above, tied = np.zeros((2, n), dtype=np.int64), np.zeros((2, n), dtype=np.int64)
    rows, densities = np.zeros(2, dtype=np.int64), np.empty(n)
    top = _densities(logs, 0, densities)
    step = _judge(moves[last], densities, logs[state, 0] - top, state, surprise)
    move, row = rounded(-np.log(moves[last, state])), rounded(-logs[state, 0])
    for u in range(n):
        score = rounded(-np.log(moves[u, state]))
        above[0, u], tied[0, u] = score > move, score == move
    for k in range(number):
        score = rounded(-logs[state, k])
        rows[0] += score > row
        rows[1] += score == row
        top = _densities(logs, k, densities)
        for u in range(n):
            score = _judge(moves[u], densities, logs[state, k] - top, state, surprise)
            above[1, u] += score > step
            tied[1, u] += score == step
    return above, tied, rows
