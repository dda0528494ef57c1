"""Class-conditional conformal prediction: windows of the same class alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from definetti._system.arrays import IntArray
from definetti.baselines.base import Baseline
from definetti.data.history import Completion
from definetti.engine.task import PredictionTask
from definetti.symmetry.base import Generator, Reference, Symmetry


class ClassConditional(Baseline, name="classconditional"):
    """Mondrian conformal prediction (Vovk, Gammerman & Shafer 2005): a rank within each class.

    Parameters
    ----------
    classes : {"sequence", "last"}, default "sequence"
        What the class of a window is: all its states, or its last state.

    Notes
    -----
    The other parameters are those of `definetti.baselines.base.Baseline`.

    Guaranteed: coverage of at least the level given each class, if the windows of that class and
    the new one are exchangeable. At one step those of a Markov chain nearly are: the windows that
    end in one state are exchangeable but for the first visit to it, which comes from a start of
    its own. Over several steps nothing is guaranteed for a chain. A class that the past does not
    have is always in the set.

    Over ``h`` steps whole windows are ranked, so that all steps are right together.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> ClassConditional().fit(y[:298], x[:298]).predict_set(y[298:]).sequences
    [('rain', 'rain'), ('sun', 'rain')]
    """

    title = "class-conditional conformal prediction"

    def __init__(
        self,
        model: Any = "auto",
        score: Any = "path",
        confidence_level: float = 0.9,
        train_size: float | None = 0.5,
        states: Iterable[Hashable] | None = None,
        max_candidates: int = 100_000,
        random_state: Any = None,
        classes: str = "sequence",
    ) -> None:
        super().__init__(
            model, score, confidence_level, train_size, states, max_candidates, random_state
        )
        self.classes = classes

    def _check(self) -> None:
        if self.classes not in ("sequence", "last"):
            raise ValueError(f"classes must be 'sequence' or 'last', got {self.classes!r}")

    def _compare_with(self, task: PredictionTask) -> Symmetry:
        return OfClass(self.classes == "last")


@dataclass(frozen=True)
class OfClass(Symmetry):
    """Compare with all windows of the past that have the candidate's states, or its last one."""

    last: bool

    exact = False
    reads_observations = False

    def orbit(self, completion: Completion) -> tuple[int, ...]:
        return (completion.last,) if self.last else tuple(completion.states.tolist())

    def reference(
        self, completion: Completion, n_resamples: int, generator: Generator
    ) -> Reference:
        return Reference.past(self._ends(completion)[::-1])

    def _ends(self, completion: Completion) -> IntArray:
        horizon = completion.horizon
        ends = completion.history.visits(completion.last)
        ends = ends[ends >= horizon]
        if self.last:
            return ends
        times = ends[:, None] + np.arange(1 - horizon, 1)
        same = (completion.history.states[times] == completion.states).all(axis=1)
        return np.asarray(ends[same], dtype=np.int64)
