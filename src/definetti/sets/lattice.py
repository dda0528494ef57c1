"""A set of too many state sequences to list, as a lattice."""

from __future__ import annotations

from collections import abc
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import islice
from numbers import Real
from typing import Any, overload

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_number
from definetti.engine.past import past_by_state
from definetti.engine.pvalues import ranks
from definetti.engine.task import PredictionTask, powered
from definetti.engine.thresholds import limit
from definetti.levels import ConfidenceLevel, Levels
from definetti.scores.nonconformity import round_scores
from definetti.sets.base import SHOWN, BaseStepwiseSet, BoolArray, coded
from definetti.sets.wording import (
    InsufficientCalibration,
    Size,
    join_notes,
    note_recent,
    promise,
    short,
)
from definetti.symmetry.base import LAST
from definetti.trellis import (
    arrivals,
    completions,
    count,
    edges,
    members,
    nodes,
    size_bounds,
)
from definetti.trellis.members import finite_terms
from definetti.trellis.trellis import Trellis

Sequence = tuple[Hashable, ...]
WORK = 2**31  # edges times bins of a count that is made unasked
MOST_BINS = 2**20
QUICK = 5_000  # edges of a trellis that a repr may count


class TooManyMembers(OverflowError, AttributeError):
    """The set has too many members to list; an AttributeError for `hasattr`."""


class Members(abc.Sequence[Sequence]):
    """The members of a set, most plausible first, computed on demand.

    ``[0]``, ``[:10]`` and loops take time only for what they look at; ``len`` and what needs it,
    ``[-1]`` and ``list(…)``, refuse where there are more than ``max_listed``.

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> observations, states = weather(2_000, random_state=1)
    >>> cp = ConformalHMM(train_size=0.5).fit(observations[:1960], states[:1960])
    >>> s = cp.predict_set(observations[1960:])
    >>> len(s.sequences[:3]), s.sequences[0] == s.best
    (3, True)
    """

    def __init__(self, of: LatticeSet) -> None:
        self._of, self._rest = of, iter(of)
        self._found: list[Sequence] = []

    def __len__(self) -> int:
        return len(self._of)

    @overload
    def __getitem__(self, place: int) -> Sequence: ...

    @overload
    def __getitem__(self, place: slice) -> list[Sequence]: ...

    def __getitem__(self, place: int | slice) -> Sequence | list[Sequence]:
        parts = (place.start, place.stop, place.step) if isinstance(place, slice) else (place,)
        if any(part is not None and part < 0 for part in parts):
            self._find(len(self))  # counted from the end
        else:
            last = place.stop if isinstance(place, slice) else place + 1
            self._find(len(self) if last is None else last)
        return self._found[place]

    def __contains__(self, sequence: Any) -> bool:
        return sequence in self._of

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, abc.Sequence):
            return NotImplemented
        return self[: len(other) + 1] == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        first = ", ".join(map(short, self[:SHOWN]))
        return f"[{first}{', …' if len(self[: SHOWN + 1]) > SHOWN else ''}]"

    def _find(self, number: int) -> None:
        self._found += islice(self._rest, max(number - len(self._found), 0))


@dataclass(frozen=True, eq=False, repr=False)
class LatticeSet(BaseStepwiseSet):
    """State sequences whose score is within the limit of their last state, not listed.

    It is to be used as a `PredictionSet` is: ``in``, ``steps``, ``p_value``, and iteration, most
    plausible first, which takes time only for what is asked for.

    Attributes
    ----------
    states, horizon, confidence_level, method, exact, given, note : as in `BasePredictionSet`
    marginals : (horizon, number of states) probability of each state at each step by the model
    limits : (number of states,) the largest score of a sequence with each last state
    max_listed : how many members may be listed or counted one by one
    let_in : (horizon,) codes of the one member of a set in which no sequence keeps the limits, if
        it is not to be empty; see `fill`

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> observations, states = weather(2_000, random_state=1)
    >>> cp = ConformalHMM(train_size=0.5).fit(observations[:1960], states[:1960])
    >>> s = cp.predict_set(observations[1960:])
    >>> tuple(states[1960:]) in s
    True
    >>> s.steps[0]
    ('sun', 'rain')
    >>> s.size().high <= 2 * s.size().low
    True
    >>> next(iter(s)) == s.best
    True
    """

    trellis: Trellis
    past: list[FloatArray]
    limits: FloatArray
    uniform: float | None
    states: tuple[Hashable, ...]
    confidence_level: ConfidenceLevel | None
    method: str
    exact: bool
    marginals: FloatArray
    max_listed: int = 100_000
    given: str = LAST
    note: str = ""
    let_in: IntArray | None = None

    @property
    def horizon(self) -> int:
        return self.trellis.horizon

    @property
    def filled(self) -> bool:
        """Whether the set was empty and got its most plausible sequence."""
        return self.let_in is not None

    def fill(self) -> LatticeSet:
        """Return the set; if it is empty, with its most plausible sequence.

        The sequence is named, not a limit raised to its score: others may have the same score,
        and sums that are added up from two ends may differ in their last digit.
        """
        if self:
            return self
        whole = replace(self, limits=np.full(len(self.states), np.inf))
        _, _, path = next(whole._ordered())
        return replace(self, let_in=path)

    @cached_property
    def nodes(self) -> BoolArray:
        """Which states some member has at each step: ``(horizon, number of states)``."""
        if self.let_in is not None:
            return np.asarray(self.let_in[:, None] == np.arange(len(self.states)))
        return nodes(self.trellis, self.limits)

    @cached_property
    def edges(self) -> BoolArray:
        """Which two states some member has in succession: ``(horizon − 1, states, states)``."""
        if self.let_in is not None:
            return np.asarray(self.nodes[:-1, :, None] & self.nodes[1:, None, :])
        return edges(self.trellis, self.limits)

    @cached_property
    def step_p_values(self) -> FloatArray:
        """The largest p-value of a sequence with each state at each step, member or not.

        Where it exceeds alpha, the state is possible at that step at the level ``1 − alpha``.
        """
        best = np.zeros((self.horizon, len(self.states)))
        least = arrivals(self.trellis)
        join = np.maximum if self.trellis.worst else np.add
        for last in range(len(self.past)):
            end = np.where(np.arange(len(self.states)) == last, 0.0, np.inf)
            through = join(least, completions(self.trellis, end)).ravel()
            # Paths of zero probability count, but only those to this last state.
            reached = np.ones((self.horizon, len(self.states)), dtype=bool)
            reached[-1] = end == 0.0
            p_values = self._p_values(last, through).reshape(best.shape)
            np.maximum(best, p_values, out=best, where=reached)
        return best

    def __contains__(self, sequence: Any) -> bool:
        path = coded(sequence, self.states, self.horizon)
        if path is None:
            return False
        if self.let_in is not None:
            return np.array_equal(path, self.let_in)
        return bool(self.trellis.cost(path[None])[0] <= self.limits[path[-1]])

    def p_value(self, sequence: Any) -> float:
        """Return the p-value of any sequence, member or not."""
        path = self._read(sequence)
        return self._p(int(path[-1]), float(self.trellis.cost(path[None])[0]))

    def __iter__(self) -> Iterator[Sequence]:
        for _, _, path in self._ordered():
            yield self._labels(path)

    def __bool__(self) -> bool:
        return bool(self.nodes[-1].any())

    @cached_property
    def best(self) -> Sequence | None:
        """The most plausible member, the decoded path; None where the set is empty."""
        return next(iter(self), None)

    def size(self, ratio: float = 2.0, max_bins: int | None = None) -> Size:
        """Return the number of members, or proved bounds on it.

        Up to `max_listed` members are counted exactly.

        Parameters
        ----------
        ratio : float, default 2
            How many times the lower bound the upper one may be, above 1; closer takes longer.
        max_bins : int, optional
            The finest grid of scores to count on; where the horizon is so long that it does not
            bring the bounds within the ratio, they are as close as it can. If left out, one that
            takes a few seconds at most.
        """
        if not isinstance(ratio, Real) or not 1 < ratio < np.inf:
            raise ValueError(f"ratio must be above 1, got {ratio!r}; 1.1 for bounds within 10 %")
        if max_bins is not None:
            checked_number(max_bins, "max_bins")
        if self._exact is not None:
            return Size(self._exact, self._exact)
        if max_bins is None:
            work = WORK // (self.horizon * len(self.states) ** 2)
            max_bins = min(max(256, work), MOST_BINS)
        return Size(*size_bounds(self.trellis, self.limits, float(ratio), max_bins))

    def __len__(self) -> int:
        if self._exact is None:
            raise OverflowError(
                f"the set has more than max_listed={self.max_listed:,} members; size() gives "
                "bounds on their number, and iteration gives them best first"
            )
        return self._exact

    @property
    def scaled_size(self) -> float:
        """The share of all sequences in the set, or its upper bound."""
        return float(Fraction(self.size().high, len(self.states) ** self.horizon))

    @property
    def sequences(self) -> Members:
        """All members, most plausible first, as a sequence; see `Members`."""
        return Members(self)

    @property
    def p_values(self) -> FloatArray:
        """The p-values of `sequences`, unless these are too many to list."""
        try:
            number = len(self)
        except OverflowError as error:
            raise TooManyMembers(str(error)) from None
        return -np.array([cost for cost, _, _ in islice(self._ordered(), number)])

    @cached_property
    def _exact(self) -> int | None:
        if self.let_in is not None:
            return 1
        return count(self.trellis, self.limits, self.max_listed)

    def _ordered(self) -> Iterator[tuple[float, float, IntArray]]:
        """Yield minus the p-value, the score and the path of each member, best first."""
        if self.let_in is not None:
            cost = float(self.trellis.cost(self.let_in[None])[0])
            yield -self._p(int(self.let_in[-1]), cost), cost, self.let_in
            return
        finite = finite_terms(self.trellis)
        best = arrivals(self.trellis)[-1]
        # Among members with one last state p-values fall as scores rise, so streams are merged by
        # their best members and opened only when needed.
        heap: list[tuple[float, float, int, Any, Any]] = [
            (-self._p(last, best[last]), float(best[last]), last, None, None)
            for last in np.flatnonzero(self.nodes[-1]).tolist()
        ]
        heapify(heap)
        while heap:
            key, cost, last, path, stream = heappop(heap)
            if path is not None:
                yield key, cost, path
            stream = stream or members(self.trellis, last, finite)
            following = next(stream, None)
            if following is not None and following[0] <= self.limits[last]:
                cost, path = following
                heappush(heap, (-self._p(last, cost), cost, last, path, stream))

    def _p(self, last: int, score: float) -> float:
        return float(self._p_values(last, np.array([score]))[0])

    def _p_values(self, last: int, scores: FloatArray) -> FloatArray:
        """Return the p-values of scores of sequences with a last state."""
        past, own = self.past[last], round_scores(scores)
        ranked = ranks(past, np.ones(len(past), dtype=np.int64), own, joins=True)
        return np.array([rank.p_value(self.uniform) for rank in ranked])

    def _headline(self) -> str:
        number = powered(len(self.states), self.horizon)
        line = f"{number} sequences of {self._write_steps()}"
        if self.horizon * len(self.states) ** 2 <= QUICK:
            line = f"{self.size()!r} of {line}"
        else:
            line = f"some of {line}, {self.widths.mean():.2f} states per step"
        return f"{line}, {promise(self.confidence_level, self.exact, self.given)}"


def lattice_set(
    task: PredictionTask, levels: Levels | None, max_listed: int, allow_empty: bool = True
) -> LatticeSet | None:
    """Return the set as thresholds on a trellis; None where the score has no trellis."""
    estimate = task.estimate(task.complete_with(0))
    window = task.hide_unseen(task.windows(np.zeros((1, task.steps), dtype=np.int64)))
    trellis = task.score.trellis(estimate, window)
    if trellis is None:
        return None
    promised = task.promise()
    past = past_by_state(task, estimate)
    uniform = task.uniform() if task.smoothing else None
    note = ""
    if levels is None:
        limits = np.full(len(past), np.inf)
    else:
        alphas = levels.alphas(task.labels)
        few = InsufficientCalibration.of(task, list(map(len, past)), alphas)
        few.warn()
        pairs = zip(past, alphas, strict=True)
        limits = np.array([limit(scores, alpha, uniform) for scores, alpha in pairs])
        everything = bool((limits == np.inf).all())
        if everything or not task.smoothing:  # smoothing may exclude these at random
            note = few.note(everything)
        most = max(map(len, past))
        note = join_notes(note, note_recent(task.symmetry, alphas, most))
        # Any finite limit above the largest possible score admits all possible paths.
        limits = np.where(np.isinf(limits), limits, np.minimum(limits, trellis.most + 1.0))
    lattice = LatticeSet(
        trellis,
        past,
        limits,
        uniform,
        task.labels,
        None if levels is None else levels.written,
        task.describe(),
        promised.exact,
        estimate.smoothing(window)[0, task.lag :],
        max_listed,
        promised.holds_given,
        note,
    )
    return lattice if allow_empty else lattice.fill()
