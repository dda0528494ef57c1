"""Base classes of prediction sets: labels, steps, text, tables and pictures."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from datetime import date, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.labels import hashable, listed
from definetti.levels.by_state import ConfidenceLevel
from definetti.sets.wording import FILLED, short

Backend = Literal["pandas", "polars", "pyarrow"]
BoolArray = npt.NDArray[np.bool_]
SHOWN = 10  # rows in a repr
PLAIN = (
    str,
    bytes,
    bool,
    int,
    float,
    date,
    datetime,
)  # for typed columns


def coded(sequence: Any, states: tuple[Hashable, ...], horizon: int) -> IntArray | None:
    """Read a sequence of labels (a label at horizon 1) as codes; None if it is no candidate."""
    codes = {label: code for code, label in enumerate(states)}
    try:
        path = [codes[label] for label in listed(sequence, "sequence")]
    except (KeyError, TypeError, ValueError):  # not a sequence of known labels
        path = []
    if len(path) == horizon:
        return np.array(path, dtype=np.int64)
    if horizon == 1 and hashable(sequence) and sequence in codes:
        return np.array([codes[sequence]])
    return None


def make_frame(columns: dict[str, Any], backend: Backend | None) -> Any:
    """Return a data frame of a library, the first that is installed if none is named."""
    return nw.from_dict(columns, backend=backend or installed()).to_native()


def column_labels(labels: tuple[Hashable, ...], backend: Backend | None) -> list[Any]:
    """Return labels for a data frame, as text where a typed column cannot hold them."""
    kinds = {type(label) for label in labels}
    typed = len(kinds) <= 1 and all(kind in PLAIN for kind in kinds)
    if typed or (backend or installed()) == "pandas":
        return list(labels)
    return [repr(label) for label in labels]


def installed() -> Backend:
    """Return the data frame library to use where none is named."""
    names: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")
    for name in names:
        if find_spec(name):
            return name
    raise ImportError("to_frame needs a data frame library; install pandas, polars or pyarrow")


class BasePredictionSet(ABC):
    """Base of what `predict_set` returns: `PredictionSet`, `LatticeSet` or `StepSets`.

    Sets with a guarantee about steps have no sequences and no p-values, and raise an
    AttributeError where these are asked for.

    Attributes
    ----------
    states : all labels there are
    horizon : the number of steps
    confidence_level : the level asked for, a dict where last states have levels of their own; None
        where every candidate is a member
    method : how the set was made
    exact : whether the level is guaranteed in finite samples for every hidden Markov model
    given : given which state that holds: the "last state", the "present state", averaged over its
        visits, or the "present state, at any time"; "with its memory" where it has one
    note : what the set does not say, where too few windows of the past leave nothing out
    filled : whether something was let in that is not plausible, where there was nothing else
    best : the most plausible sequence; None where no sequence is possible
    sequences : its members, the most plausible first
    p_values : their p-values
    """

    states: tuple[Hashable, ...]
    confidence_level: ConfidenceLevel | None
    method: str
    exact: bool
    given: str
    note: str

    if TYPE_CHECKING:  # fields in some classes, properties in others

        @property
        def horizon(self) -> int: ...
        @property
        def filled(self) -> bool: ...
        @property
        def best(self) -> tuple[Hashable, ...] | None: ...
        @property
        def sequences(self) -> Sequence[tuple[Hashable, ...]]: ...
        @property
        def p_values(self) -> FloatArray: ...

    @property
    @abstractmethod
    def nodes(self) -> BoolArray:
        """Which states are possible at each step: ``(horizon, number of states)``."""

    @abstractmethod
    def p_value(self, sequence: Any) -> float:
        """Return the p-value of a sequence, member or not."""

    @abstractmethod
    def __contains__(self, sequence: Any) -> bool: ...

    @abstractmethod
    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a data frame of the library that is named, or the first that is installed."""

    @abstractmethod
    def _headline(self) -> str: ...

    @abstractmethod
    def _rows(self) -> list[str]:
        """Write the first members, a line each."""

    @abstractmethod
    def _table(self) -> tuple[list[str], list[list[str]]]:
        """Return the head and the rows of a table of the first members."""

    @abstractmethod
    def _more(self) -> str:
        """Say how many members are not shown; empty where all are."""

    def _on_filling(self) -> str:
        """Say how an empty set was filled."""
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
        """Which steps were empty before the set was filled: (horizon,)."""
        return np.full(len(self.nodes), self.filled)

    def covers_unfilled(self, truth: tuple[Hashable, ...]) -> bool:
        """Tell whether the set has a sequence, filling left out."""
        return not self.filled and truth in self

    def plot(self, truth: Any = None, ax: Any = None) -> Any:
        """Draw the set over its horizon; see `definetti.plots.plot_set`."""
        from definetti.plots import plot_set

        return plot_set(self, truth, ax)

    def _read(self, sequence: Any, remedy: str = "") -> IntArray:
        """Return a sequence of labels as codes; refuse other values."""
        path = coded(sequence, self.states, self.horizon)
        if path is None:
            raise KeyError(
                f"{short(sequence)} is not a sequence of {self.horizon} known states{remedy}"
            )
        return path

    def _labels(self, path: IntArray) -> tuple[Hashable, ...]:
        return tuple(self.states[code] for code in path.tolist())

    def _write_steps(self) -> str:
        return f"{self.horizon:,} step{'s' * (self.horizon > 1)}"

    def _closing(self) -> list[str]:
        """Say what is not shown, and what was filled in."""
        more = [f"… {self._more()}"] if self._more() else []
        return [*more, *([self._on_filling()] if self.filled else [])]

    def __repr__(self) -> str:
        note = [self.note] if self.note else []
        lines = [*note, *self._rows(), *self._closing(), f"({self.method})"]
        return "\n  ".join([f"{type(self).__name__}: {self._headline()}", *lines])

    def _repr_html_(self) -> str:
        head, rows = self._table()
        title = "".join(f"<th>{html.escape(text)}</th>" for text in head)
        cells = ("".join(f"<td>{html.escape(text)}</td>" for text in row) for row in rows)
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        above = [self._headline(), *([self.note] if self.note else [])]
        before, after = (
            "".join(f"<p>{html.escape(text)}</p>" for text in part)
            for part in (above, [*self._closing(), self.method])
        )
        return f"{before}<table><thead><tr>{title}</tr></thead><tbody>{body}</tbody></table>{after}"


class BaseStepwiseSet(BasePredictionSet):
    """Base of sets that are shown as the possible states of each step.

    Attributes
    ----------
    marginals : (horizon, number of states) probability of each state at each step by the model
    """

    marginals: FloatArray

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BaseStepwiseSet) or type(self) is not type(other):
            return NotImplemented
        mine, theirs = ((s.states, s.method, s._headline()) for s in (self, other))
        return mine == theirs and all(
            np.array_equal(*pair)
            for pair in ((self.nodes, other.nodes), (self.marginals, other.marginals))
        )

    __hash__ = None

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a data frame with a row for each step and state, in the set or not."""
        horizon, n = self.nodes.shape
        columns = {
            "step": np.repeat(np.arange(1, horizon + 1), n),
            "state": column_labels(self.states, backend) * horizon,
            "in_set": self.nodes.ravel(),
            "probability": self.marginals.ravel(),
        }
        return make_frame(columns, backend)

    def _rows(self) -> list[str]:
        return [f"step {step}: {states or 'none'}" for step, states in self._table()[1]]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        shown = (" | ".join(map(str, labels)) for labels in self.steps[:SHOWN])
        return ["step", "states"], [[str(k), states] for k, states in enumerate(shown, start=1)]

    def _more(self) -> str:
        more = len(self.nodes) - SHOWN
        return f"{more:,} more steps" if more > 0 else ""
