"""What all prediction sets share: their text, steps, and coverage before filling."""

from __future__ import annotations

import html
import math
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from datetime import date, datetime
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, Protocol

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.labels import hashable, listed
from definetti.engine.promise import write_condition
from definetti.levels.by_state import ConfidenceLevel, write_at_least
from definetti.symmetry.base import LAST

Backend = Literal["pandas", "polars", "pyarrow"]
BoolArray = npt.NDArray[np.bool_]
SHOWN = 10  # rows in a repr
# Said of a set that would be empty, and has its most plausible sequence instead.
FILLED = "nothing is plausible at this level; the most plausible is shown"


def coded(sequence: Any, states: tuple[Hashable, ...], horizon: int) -> IntArray | None:
    """Read a sequence of labels as codes; None for what is not one of a set's candidates.

    At horizon 1 the bare label will do.

    >>> coded(["sun", "rain"], ("sun", "rain"), 2), coded(["sun", "snow"], ("sun", "rain"), 2)
    (array([0, 1]), None)
    """
    codes = {label: code for code, label in enumerate(states)}
    try:
        found = [codes[label] for label in listed(sequence, "sequence")]
    except (KeyError, TypeError, ValueError):  # nothing that could be one
        found = []
    if len(found) == horizon:
        return np.array(found, dtype=np.int64)
    if horizon == 1 and hashable(sequence) and sequence in codes:
        return np.array([codes[sequence]])
    return None


def one_type(labels: tuple[Hashable, ...]) -> bool:
    """Tell whether a typed column has room for all labels."""
    plain = (str, bytes, bool, int, float, date, datetime)
    return len({type(x) for x in labels}) <= 1 and all(type(x) in plain for x in labels)


def column_labels(labels: tuple[Hashable, ...], backend: Backend) -> list[Any]:
    """Return labels for a data frame: their text, where a typed column has no room for them."""
    if backend == "pandas" or one_type(labels):
        return list(labels)
    return [repr(label) for label in labels]


def installed() -> Backend:
    """Return the data frame library to use where none is asked for."""
    names: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")
    for name in names:
        if find_spec(name):
            return name
    raise ImportError("to_frame needs a data frame library; install pandas, polars or pyarrow")


class Size(NamedTuple):
    """Two numbers between which the number of members lies; equal where it is known.

    >>> Size(3, 3), Size(10**20, 2 * 10**20)
    (3, 1.0e+20 to 2.0e+20)
    """

    low: int
    high: int

    def __repr__(self) -> str:
        low, high = map(_short, self)
        return low if self.low == self.high else f"{low} to {high}"


def promise(confidence_level: ConfidenceLevel | None, exact: bool, given: str = LAST) -> str:
    """Say what a set of sequences promises.

    >>> promise(0.9, True)
    'holding the truth with probability ≥ 0.9'
    >>> promise(0.9, True, "present state")
    'holding the truth with probability ≥ 0.9 given the present state, averaged over its visits'
    >>> promise(0.9, True, "present state, at any time")
    'holding the truth with probability ≥ 0.9 given the present state, at any time'
    >>> promise({"N1": 0.99, None: 0.8}, True)
    'holding the truth with probability ≥ 0.99 where the last state is N1, ≥ 0.8 otherwise'
    """
    if confidence_level is None:
        return f"all candidates{'' if exact else ', p-values NOT valid'}"
    if exact:
        level = write_at_least(confidence_level)
        return f"holding the truth with probability {level}{write_condition(given)}"
    return f"level {write_at_least(confidence_level, '')} NOT guaranteed"


def short(value: object) -> str:
    """Write a value in a few words, however long it is.

    >>> short(list(range(1000)))
    '[0, 1, 2, 3, 4, 5, ...]'
    """
    return reprlib.repr(value)


def _short(number: int) -> str:
    """Write a whole number of any size in a few digits.

    >>> _short(1234), _short(3 * 10**400)
    ('1,234', '3.0e+400')
    """
    if number < 10**7:
        return f"{number:,}"
    power = int((number.bit_length() - 1) * math.log10(2))  # or one less than it is
    power += number >= 10 ** (power + 1)
    return f"{number // 10 ** (power - 1) / 10:.1f}e+{power}"


class BasePredictionSet(Protocol):
    """What `predict_set` returns: a `PredictionSet`, a `LatticeSet`, or `StepSets`.

    Sets with a guarantee about steps have no sequences and no p-values, and raise an
    AttributeError where these are asked for.

    Attributes
    ----------
    states : all labels there are
    horizon : how many steps it is about
    confidence_level : the level asked for
    method : how the set was made
    exact : whether the promise holds in finite samples
    given : given which state it holds
    filled : whether something was let in that is not plausible, where there was nothing else
    best : the most plausible sequence; None where no sequence is possible
    steps : for each step, the states that are possible there
    nodes : (horizon, number of states) which states are possible at each step
    widths : (horizon,) how many these are
    sequences : its members, the most plausible first
    p_values : their p-values
    """

    @property
    def states(self) -> tuple[Hashable, ...]: ...
    @property
    def horizon(self) -> int: ...
    @property
    def confidence_level(self) -> ConfidenceLevel | None: ...
    @property
    def method(self) -> str: ...
    @property
    def exact(self) -> bool: ...
    @property
    def given(self) -> str: ...
    @property
    def filled(self) -> bool: ...
    @property
    def best(self) -> tuple[Hashable, ...] | None: ...
    @property
    def steps(self) -> list[tuple[Hashable, ...]]: ...
    @property
    def nodes(self) -> BoolArray: ...
    @property
    def widths(self) -> IntArray: ...
    @property
    def sequences(self) -> Sequence[tuple[Hashable, ...]]: ...
    @property
    def p_values(self) -> FloatArray: ...
    def p_value(self, sequence: Any) -> float: ...
    def __contains__(self, sequence: Any) -> bool: ...
    def to_frame(self, backend: Backend | None = None) -> Any: ...
    def plot(self, truth: Any = None, ax: Any = None) -> Any: ...


class BaseSet(ABC):
    """What all prediction sets share.

    Attributes
    ----------
    states : all labels there are
    method : how the set was made
    note : what it does not say, if there is anything to be said of that
    """

    states: tuple[Hashable, ...]
    method: str
    note: str

    @property
    @abstractmethod
    def nodes(self) -> BoolArray:
        """Which states are possible at each step: ``(horizon, number of states)``."""

    @property
    @abstractmethod
    def filled(self) -> bool:
        """Whether something was let in that is not plausible, where there was nothing else."""

    @abstractmethod
    def __contains__(self, sequence: Any) -> bool: ...

    @abstractmethod
    def _headline(self) -> str: ...

    @abstractmethod
    def _rows(self) -> list[str]:
        """Write what is shown first, a line each."""

    @abstractmethod
    def _table(self) -> tuple[list[str], list[list[str]]]:
        """Return the same as the head and the rows of a table."""

    @abstractmethod
    def _more(self) -> str:
        """Say how much is not shown; nothing where all is."""

    def _on_filling(self) -> str:
        """Say what was let in where nothing is plausible."""
        return FILLED

    __hash__ = None  # type: ignore[assignment]

    @property
    def steps(self) -> list[tuple[Hashable, ...]]:
        """For each step, the states that are possible there."""
        return [
            tuple(label for label, there in zip(self.states, row, strict=True) if there)
            for row in self.nodes.tolist()
        ]

    @property
    def widths(self) -> IntArray:
        """The number of states that are possible at each step."""
        return np.asarray(self.nodes.sum(axis=1), dtype=np.int64)

    @property
    def filled_steps(self) -> BoolArray:
        """At which steps nothing was plausible before the set was filled: (horizon,)."""
        return np.full(len(self.nodes), self.filled)

    def covers_unfilled(self, truth: tuple[Hashable, ...]) -> bool:
        """Tell whether the set has a sequence without what was filled in."""
        return not self.filled and truth in self

    def __repr__(self) -> str:
        more = [f"… {self._more()}"] if self._more() else []
        lines = [*self._rows(), *more, *([self._on_filling()] if self.filled else [])]
        lines = [*([self.note] if self.note else []), *lines, f"({self.method})"]
        return "\n  ".join([f"{type(self).__name__}: {self._headline()}", *lines])

    def _repr_html_(self) -> str:
        head, rows = self._table()
        title = "".join(f"<th>{html.escape(one)}</th>" for one in head)
        cells = ("".join(f"<td>{html.escape(one)}</td>" for one in row) for row in rows)
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        above = [self._headline(), *([self.note] if self.note else [])]
        below = [*([f"… {self._more()}"] if self._more() else [])]
        below += [*([self._on_filling()] if self.filled else []), self.method]
        before, after = (
            "".join(f"<p>{html.escape(one)}</p>" for one in part) for part in (above, below)
        )
        return f"{before}<table><thead><tr>{title}</tr></thead><tbody>{body}</tbody></table>{after}"


class BaseStepwiseSet(BaseSet):
    """A set that is shown as the states that are possible at each step.

    Attributes
    ----------
    marginals : (horizon, number of states) probability of each state at each step by the model
    """

    marginals: FloatArray

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BaseStepwiseSet) or type(self) is not type(other):
            return NotImplemented
        same = (self.states, self.method, self._headline()) == (
            other.states, other.method, other._headline()
        )  # fmt: skip
        return same and all(
            np.array_equal(*pair)
            for pair in ((self.nodes, other.nodes), (self.marginals, other.marginals))
        )

    __hash__ = None

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a data frame, one row a step and state: whether it is in, and how probable.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame; the first of these that is installed if left out.
        """
        backend = backend or installed()
        horizon, n = self.nodes.shape
        columns = {
            "step": np.repeat(np.arange(1, horizon + 1), n),
            "state": column_labels(self.states, backend) * horizon,
            "in_set": self.nodes.ravel(),
            "probability": self.marginals.ravel(),
        }
        return nw.from_dict(columns, backend=backend).to_native()

    def _rows(self) -> list[str]:
        return [f"step {step}: {states or 'none'}" for step, states in self._table()[1]]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        shown = (" | ".join(map(str, found)) for found in self.steps[:SHOWN])
        return ["step", "states"], [[str(k), states] for k, states in enumerate(shown, start=1)]

    def _more(self) -> str:
        more = len(self.nodes) - SHOWN
        return f"{more:,} more steps" if more > 0 else ""
