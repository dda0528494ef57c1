"""The model that goes by what is observed."""

from __future__ import annotations

from typing import Any

from definetti._system.arrays import FloatArray
from definetti.data.history import Completion
from definetti.emissions._choice import Kinds, kinds_of
from definetti.emissions.base import Emission
from definetti.emissions.categorical import Categorical
from definetti.models.base import Model
from definetti.models.estimate import Estimate
from definetti.models.hmm import HMM


class Auto(Model):
    """An `HMM` whose emission is chosen by what is observed, new observations included.

    A choice by the history alone might be another for another rearrangement of it.

    Examples
    --------
    >>> auto = Auto()
    >>> auto.choose(auto.look([0.5, 1.25, None]))
    HMM(emission=Gaussian(covariance='full', prior=0.1, shrinkage=None))
    """

    @property
    def emission_(self) -> Emission:
        return Categorical()

    def look(self, observations: Any) -> Kinds:
        return kinds_of(observations)

    def choose(self, kinds: Kinds | None) -> HMM:
        return HMM(emission=None if kinds is None else kinds.emission())

    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Estimate:
        return HMM().estimate(completion, table, statistics, labels)
