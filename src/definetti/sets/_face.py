"""Sets seen step by step: what lattices and step sets have in common."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.sets._wording import SHOWN
from definetti.sets.listed import Backend, installed, one_type

BoolArray = npt.NDArray[np.bool_]


class StepFace(ABC):
    """A set that is shown as the states that are possible at each step.

    Attributes
    ----------
    states : all labels there are
    marginals : (horizon, number of states) probability of each state at each step by the model
    method : how the set was made
    note : what it does not say, if there is anything to be said of that
    """

    states: tuple[Hashable, ...]
    marginals: FloatArray
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
    def _headline(self) -> str: ...

    @abstractmethod
    def _on_filling(self) -> str:
        """Say what was let in where nothing is plausible."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StepFace) or type(self) is not type(other):
            return NotImplemented
        same = (self.states, self.method, self._headline()) == (
            other.states, other.method, other._headline()
        )  # fmt: skip
        return same and all(
            np.array_equal(*pair)
            for pair in ((self.nodes, other.nodes), (self.marginals, other.marginals))
        )

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

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a data frame, one row a step and state: whether it is in, and how probable.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame; the first of these that is installed if left out.
        """
        backend = backend or installed()
        horizon, n = self.nodes.shape
        labels = list(self.states)
        if backend != "pandas" and not one_type(self.states):
            labels = [repr(label) for label in labels]
        columns = {
            "step": np.repeat(np.arange(1, horizon + 1), n),
            "state": labels * horizon,
            "in_set": self.nodes.ravel(),
            "probability": self.marginals.ravel(),
        }
        return nw.from_dict(columns, backend=backend).to_native()

    def __repr__(self) -> str:
        rows = [
            f"  step {k + 1}: {' | '.join(map(str, found)) or 'none'}"
            for k, found in enumerate(self.steps[:SHOWN])
        ]
        if len(self.nodes) > SHOWN:
            rows.append(f"  … {len(self.nodes) - SHOWN:,} more steps")
        if self.filled:
            rows.append(f"  {self._on_filling()}")
        name = type(self).__name__
        noted = [f"  {self.note}"] if self.note else []
        return "\n".join([f"{name}: {self._headline()}", *noted, *rows, f"  ({self.method})"])

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><td>{k + 1}</td><td>{html.escape(' | '.join(map(str, found)))}</td></tr>"
            for k, found in enumerate(self.steps[:SHOWN])
        )
        more = len(self.nodes) - SHOWN
        noted = f"<p>{html.escape(self.note)}</p>" if self.note else ""
        return (
            f"<p>{html.escape(self._headline())}</p>{noted}<table><thead><tr><th>step</th><th>states</th>"
            f"</tr></thead><tbody>{body}</tbody></table>"
            + (f"<p>… {more:,} more steps</p>" if more > 0 else "")
            + (f"<p>{html.escape(self._on_filling())}</p>" if self.filled else "")
            + f"<p>{html.escape(self.method)}</p>"
        )
