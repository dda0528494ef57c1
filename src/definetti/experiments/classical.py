"""Split conformal prediction as if rows were exchangeable, and row-wise predictors for it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_number
from definetti.data.encoded import Trained
from definetti.data.history import Completion, Windows
from definetti.data.labels import MISSING
from definetti.emissions.base import Emission
from definetti.emissions.classifier import TrainedClassifier
from definetti.engine.task import PredictionTask
from definetti.experiments.baseline import Baseline
from definetti.models.base import Estimate, Model
from definetti.models.hmm import Parameters, estimated, stationary
from definetti.symmetry.base import Symmetry
from definetti.symmetry.blocks import Past


@dataclass(eq=False, repr=False)
class Classical(Baseline, name="classical"):
    """Split conformal prediction (Vovk, Gammerman & Shafer 2005), which ignores time.

    Guaranteed: coverage of at least the level, if the calibration windows and the new one are
    exchangeable. That is so for independent and identically distributed steps if no two windows
    share a step, the state before a window included: with ``stride=h + 1``, or, with a score that
    does not look at the state before, ``stride=h``. For the windows of a Markov chain nothing is
    guaranteed.

    Parameters
    ----------
    stride : int, default 1
        How many steps lie between the ends of two windows that calibrate; 1 takes all.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> Classical().fit(y[:298], x[:298]).predict_set(y[298:])
    PredictionSet: 1 of 4 sequences of 2 steps, level 0.9 NOT guaranteed
      p = 0.5000  rain  rain
      (classical conformal prediction, path score)
    """

    title = "classical conformal prediction"

    stride: int = 1

    def _check(self) -> None:
        checked_number(self.stride, "stride")

    def _compare_with(self, task: PredictionTask) -> Symmetry:
        return Past(self.stride)

    @property
    def _ranks_windows(self) -> bool:
        return type(self) is Classical and self.stride == 1


LEAST = 1e-6  # the least probability of a state, as that of a classifier


@dataclass(frozen=True, eq=False)
class Memoryless(Model):
    """A fixed hidden Markov model that forgets the previous state.

    The state of a row depends on its observation and the state frequencies alone: with a
    classifier, its probabilities are not changed.
    """

    model: Model
    law: FloatArray  # (n,) state frequencies of the training rows

    fixed = True

    @classmethod
    def of(cls, model: Model, training: Trained | None) -> Memoryless:
        """Drop the chain of a fixed model; TypeError where it has no transition matrix.

        State frequencies are those of the training rows or, without any, the stationary ones.
        """
        labels = model.states or ()
        transition = estimated(model, model.table, labels).transition
        if training is None:
            return cls(model, stationary(transition))
        counts = np.bincount(training.states, minlength=len(labels))
        return cls(model, counts / counts.sum())

    @property
    def states(self) -> tuple[Hashable, ...] | None:  # type: ignore[override]
        return self.model.states

    @property
    def table(self) -> Any:
        return self.model.table

    @property
    def emission_(self) -> Emission:
        return self.model.emission_

    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Estimate:
        parameters = self.model.estimate(completion, table, statistics, labels)
        assert isinstance(parameters, Parameters)
        law = np.full(completion.n_states, LEAST)  # of states that came up later
        law[: len(self.law)] = np.maximum(self.law, LEAST)
        return replace(parameters, transition=np.tile(law / law.sum(), (len(law), 1)))


@dataclass(frozen=True, eq=False)
class PreviousState(Model):
    """A classifier of rows that was trained with the previous state as a further feature."""

    emission: TrainedClassifier  # without that feature; it reads observations
    features: Any  # the steps of a pipeline before the last, if there are any
    last: Any
    steps: FloatArray  # (n, n) transition counts, for rows without observation
    states: tuple[Hashable, ...]
    table: Any

    fixed = True

    @classmethod
    def trained_on(
        cls, emission: TrainedClassifier, training: Trained, table: Any, labels: tuple[Any, ...]
    ) -> PreviousState:
        """Train a copy of a classifier on the same rows, with the previous state as a feature."""
        from sklearn.base import clone
        from sklearn.pipeline import Pipeline

        n, states, codes = len(labels), training.states, training.observations
        after = np.setdiff1d(np.arange(1, len(states)), training.begins)
        steps = np.zeros((n, n))
        np.add.at(steps, (states[after - 1], states[after]), 1.0)
        seen = after[codes[after] != MISSING]
        features, last = None, clone(emission.estimator)
        rows = table.take(codes[seen])
        if isinstance(last, Pipeline) and len(last) > 1:
            features, last = last[:-1], last[-1]
            rows = features.fit_transform(rows, states[seen])
        last.fit(_joined(rows, np.eye(n)[states[seen - 1]]), states[seen])
        return cls(emission, features, last, steps, labels, table)

    @property
    def emission_(self) -> Emission:
        return self.emission

    def probabilities(self, table: Any, codes: IntArray, n_states: int) -> FloatArray:
        """Return the probability of each state given each previous one: ``(codes, n, n)``.

        A state that is new since the training has the least probability, and sets no feature as a
        previous state.
        """
        known = len(self.states)
        probabilities = np.full((len(codes), n_states, n_states), LEAST)
        seen = codes != MISSING
        if seen.any():
            rows = table.take(codes[seen])
            if self.features is not None:
                rows = self.features.transform(rows)
            for state in range(n_states):
                previous = np.zeros((int(seen.sum()), known))
                if state < known:
                    previous[:, state] = 1.0
                given = self.last.predict_proba(_joined(rows, previous))
                probabilities[np.flatnonzero(seen)[:, None], state, self.last.classes_] = given
        steps = np.full((n_states, n_states), 0.5)
        steps[:known, :known] += self.steps
        probabilities[~seen] = steps / steps.sum(axis=1, keepdims=True)
        probabilities = np.maximum(probabilities, LEAST)
        return np.asarray(probabilities / probabilities.sum(axis=2, keepdims=True))

    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Any:
        return _Paths(self, table, tuple(labels))


@dataclass(frozen=True, eq=False)
class _Paths:
    """Probabilities of paths: products over steps, each given the previous state."""

    model: PreviousState
    table: Any
    labels: tuple[Hashable, ...]

    def log_posterior(self, windows: Windows) -> FloatArray:
        codes, places = np.unique(windows.observations, return_inverse=True)
        probabilities = self.model.probabilities(self.table, codes, len(self.labels))
        before = np.column_stack([windows.start, windows.states[:, :-1]])
        places = places.reshape(windows.observations.shape)
        return np.asarray(np.log(probabilities[places, before, windows.states]).sum(axis=1))

    def decode(self, codes: IntArray) -> npt.NDArray[Any]:
        return self.model.emission.decode(self.table, codes)


def _joined(rows: Any, more: FloatArray) -> Any:
    """Append columns to rows of features, which may be sparse."""
    if hasattr(rows, "tocsr"):
        from scipy.sparse import hstack

        return hstack([rows, more]).tocsr()
    return np.column_stack([np.asarray(rows), more])
