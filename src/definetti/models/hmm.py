"""Hidden Markov models estimated from labelled counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_choice, checked_prior
from definetti._system.mixins import Parametrized
from definetti.data.history import Completion, History, Windows, padded
from definetti.data.labels import MISSING, NONE
from definetti.emissions.base import Emission, Labels
from definetti.emissions.choice import Kinds, kinds_of_rows
from definetti.emissions.symbols import Categorical, log_frequencies
from definetti.models.base import Model
from definetti.models.forward_backward import Chain, ChainWindows

# From so many observations on, evaluating all symbols is faster than finding the distinct ones.
MANY = 2**12


@dataclass(frozen=True, eq=False)
class Parameters(Chain):
    """An estimated hidden Markov model: its transition matrix and its emission."""

    transition: FloatArray  # (n, n), row-stochastic
    emission: Emission
    table: Any
    statistics: FloatArray
    labels: Labels

    def log_likelihood(self, observations: IntArray) -> FloatArray:
        """Log-likelihood of coded observations in each state: ``observations.shape + (n,)``."""
        return self.emission.log_likelihood(self.table, self.statistics, observations)

    def decode(self, codes: IntArray) -> npt.NDArray[Any]:
        return self.emission.decode(self.table, codes)

    def seen(self, windows: Windows) -> ChainWindows:
        # Each distinct observation is evaluated once.
        size = windows.observations.size
        if size > MANY and self.emission.symbols and len(self.table) < size:
            distinct, places = np.arange(len(self.table) + 1), windows.observations
            distinct[-1] = MISSING  # −1, which finds the last row
        else:
            distinct, places = np.unique(windows.observations, return_inverse=True)
        logs = self.log_likelihood(distinct)
        places = places.reshape(windows.observations.shape)
        models = np.zeros(len(windows.start), dtype=np.int64)
        return ChainWindows(self.transition[None], models, logs, places, windows.start)


class HMM(Parametrized, Model):
    """A hidden Markov model estimated by counting, Step 2 of Algorithm 1.

    Parameters
    ----------
    prior : float, default 1/2
        Added to every count before normalising. The estimate stays a function of the counts, so
        no prior costs validity; 1/2 shrinks sets when data are few, 0 is the paper's estimator.
    emission : Emission or its name, optional
        The law of the observations, such as ``Poisson()``, or ``"poisson"`` with its defaults. If
        left out, `Categorical` with the same prior for single symbols, and the choice of
        ``model="auto"`` for rows of numbers or of several kinds.

    Examples
    --------
    >>> HMM(prior=0)
    HMM(prior=0)
    >>> HMM().choose(HMM().infer_types([[0.5, 1.0], [0.7, 1.2]]))
    HMM(emission=Gaussian(covariance='full', prior=0.1, shrinkage=None))
    """

    def __init__(self, prior: float = 0.5, emission: Emission | str | None = None) -> None:
        self.prior = prior
        self.emission = emission

    def check(self) -> None:
        checked_prior(self.prior)
        if isinstance(self.emission, type):
            name = self.emission.__name__
            raise TypeError(f"emission is the class {name}; pass an instance: emission={name}()")
        if not isinstance(self.emission_, Emission):
            raise TypeError(
                f"emission must be a definetti.emissions.Emission, such as Categorical(), "
                f"derive from it, or be a name of one, got {self.emission!r}"
            )

    @property
    def emission_(self) -> Emission:
        if isinstance(self.emission, str):
            return _named_emission(self.emission)
        return Categorical(float(self.prior)) if self.emission is None else self.emission

    def infer_types(self, observations: Any) -> Kinds | None:
        return None if self.emission is not None else kinds_of_rows(observations)

    def choose(self, kinds: Kinds | None) -> HMM:
        if self.emission is not None or kinds is None:
            return self
        return HMM(self.prior, kinds.emission())

    def trained(self, history: History, table: Any, labels: Labels) -> TrainedHMM:
        emission = self.emission_.fix(table, history.observations, history.states, labels)
        statistics = emission.statistics(
            table, history.observations, history.states, history.n_states
        )
        counts, prior = history.transitions.astype(np.float64), float(self.prior)
        if history.known is not None:
            counts, prior = spread(counts, prior, history.met), 0.0
        return TrainedHMM(counts, statistics, prior, emission, labels, table)

    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Parameters:
        n, emission = completion.n_states, self.emission_
        transition = refitted(completion, float(self.prior))
        added = emission.statistics(table, completion.observations, completion.states, n)
        statistics = padded(statistics, *added.shape) + added
        return Parameters(transition, emission, table, statistics, labels)


def _named_emission(name: str) -> Emission:
    try:
        emission: Emission = checked_choice(name, Emission, "emission")
    except TypeError:  # it has parameters that must be given
        class_name = Emission.named[name].__name__
        raise TypeError(
            f"emission={name!r} has parameters without a default; pass an instance: "
            f"emission={class_name}(…)"
        ) from None
    return emission


@dataclass(frozen=True, eq=False, repr=False)
class TrainedHMM(Model):
    """A fixed hidden Markov model: the paper's "pre-trained predictor".

    Its alphabet is fixed, too: symbols that were not in the training data share one cell.

    Attributes
    ----------
    transitions, prior : (n, n) counts or probabilities, and the prior added to each
    statistics : statistics of the observations in each state
    """

    transitions: FloatArray
    statistics: FloatArray
    prior: float
    emission: Emission
    states: Labels
    table: Any

    fixed = True

    def __repr__(self) -> str:
        return f"TrainedHMM(emission={self.emission!r}, states={self.states!r})"

    @property
    def emission_(self) -> Emission:
        return self.emission

    def limited(self, number: int) -> TrainedHMM:
        """Return the model restricted to the first states."""
        counts, sums = self.transitions[:number, :number], self.statistics[:number]
        return replace(self, transitions=counts, statistics=sums, states=self.states[:number])

    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Parameters:
        n, known = completion.n_states, len(self.transitions)
        counts = padded(self.transitions, n, n)
        if n > known and not self.prior:  # an unknown state leads to known ones
            counts[known:, :known] = self.transitions.any(axis=0)
        transition = probabilities(counts, self.prior)
        width = self.emission.statistics(table, NONE, NONE, n).shape
        statistics = padded(self.statistics, *width)
        return Parameters(transition, self.emission, table, statistics, labels)


def refitted(completion: Completion, prior: float) -> FloatArray:
    """Return the transition matrix of a completed sequence."""
    states, left = completion.left
    transition = pooled_matrix(completion.history.pool, completion.n_states, prior).copy()
    transition[states] = probabilities(left, prior)
    return transition


def pooled_matrix(pool: History, n: int, prior: float) -> FloatArray:
    """Return a history's matrix; candidates share the rows of states that they do not leave."""
    known = pool.estimate  # read once: another thread may replace it
    if known is None or known[:2] != (n, prior):
        counts = padded(pool.transitions, n, n).astype(np.float64)
        known = pool.estimate = n, prior, probabilities(counts, prior)
    return known[2]


def probabilities(counts: FloatArray, prior: float) -> FloatArray:
    """Normalise rows of counts; a row of zeros becomes uniform."""
    return np.exp(log_frequencies(counts, prior))


def spread(counts: FloatArray, prior: float, met: npt.NDArray[np.bool_]) -> FloatArray:
    """Add a prior to transition counts into states that occurred; set all others to zero."""
    weights = np.where(met, counts + prior, 0.0)
    weights[~weights.any(axis=1)] = met  # a row of zeros becomes uniform
    return weights


def estimated(model: Model, table: Any, labels: Labels) -> Parameters:
    """Return the parameters of a fixed model; refuse a model without a transition matrix."""
    n = len(labels)
    nothing = Completion(History(n), NONE, NONE, n)
    estimate = model.estimate(nothing, table, np.zeros((n, 0)), labels)
    if not isinstance(estimate, Parameters):
        raise TypeError(
            f"model is {model!r}, which has no transition matrix; use 'auto', an HMM, given_hmm "
            "or a fitted hmmlearn model"
        )
    return estimate


def stationary(transition: FloatArray) -> FloatArray:
    """Return the stationary law of a chain; the uniform one if there are several."""
    n = len(transition)
    change = transition.T - np.eye(n)
    if np.linalg.matrix_rank(change) < n - 1:
        return np.full(n, 1.0 / n)
    system = np.vstack([change, np.ones(n)])
    law = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0].clip(0.0)
    return np.asarray(law / law.sum())
