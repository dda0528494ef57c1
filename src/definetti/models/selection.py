"""Choose a model: as given, by what is observed, or by forward validation on training rows."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.history import Completion, History, Windows, windows_at
from definetti.data.labels import MISSING
from definetti.emissions.base import Emission, Labels
from definetti.emissions.choice import Kinds, choose, kinds_of
from definetti.emissions.classifier import Classifier
from definetti.emissions.gaussian import Gaussian
from definetti.emissions.rates import Bernoulli, Poisson
from definetti.emissions.symbols import Categorical
from definetti.emissions.tempered import Boosted, Linear, Tempered, TrainedClasses, is_tabular
from definetti.models.base import Estimate, GivesModel, Model
from definetti.models.hmm import HMM, Parameters, TrainedHMM, estimated
from definetti.models.hmmlearn import FromHmmlearn, is_hmmlearn
from definetti.models.predictors import Predictor

CHAIN, FITTED, LOGISTIC, BOOSTING = "chain", "HMM", "logistic regression", "gradient boosting"
ROWS = 500  # training rows from which on there is a choice; fewer keep the HMM
CLASSIFIER_ROWS = 20_000  # the latest training rows, which a classifier learns from
POWERS = (1.0, 0.5, 0.25)  # that a likelihood is raised to
TIES = 1e-6  # that of the chain: observations order only windows that are equally probable
HORIZONS = (1, 2, 3, 5, 10, 20, 30)  # another one goes by the largest that is not longer
FEWEST, MOST = 30, 400  # validation windows of a horizon
BATCHES = 20  # of successive windows, whose means give a standard error
WORST = -10.0  # the least log-probability of a step that counts: one surprise decides nothing


@dataclass(frozen=True, eq=False)
class ModelSelection:
    """What candidates scored on the validation windows, and which of them was chosen."""

    candidates: tuple[str, ...]  # the models tried, the simplest first
    rows: int  # that they were trained on
    horizons: tuple[int, ...]  # another one goes by the largest that is not longer
    log_probabilities: FloatArray  # (horizons, candidates) mean of the states of a step
    powers: FloatArray  # (horizons, candidates) the power of the likelihood that has it
    errors: FloatArray  # (horizons,) standard error of the first one's distance to the best

    def choice(self, horizon: int) -> tuple[int, float]:
        """Return the place of the candidate for a horizon, and the power of its likelihood.

        It is the first, the chain, if that is within one standard error of the best; else the best.
        """
        row = self._row(horizon)
        scores = self.log_probabilities[row]
        place = 0 if scores.max() - scores[0] <= self.errors[row] else int(scores.argmax())
        return place, float(self.powers[row, place])

    def _row(self, horizon: int) -> int:
        return max(int(np.searchsorted(self.horizons, horizon, side="right")) - 1, 0)

    def describe(self, horizon: int) -> str:
        """Say what was chosen for a horizon, and what the others scored."""
        scores = self.log_probabilities[self._row(horizon)]
        place, power = self.choice(horizon)
        others = [f"{name} {scores[k]:.3f}" for k, name in enumerate(self.candidates) if k != place]
        tempered = f" with likelihoods to the power {power:g}" if TIES < power < 1 else ""
        told = f"log-probability a step {scores[place]:.3f}; {', '.join(others)}"
        return f"{self.candidates[place]}{tempered} ({told})"

    def __repr__(self) -> str:
        width = max(map(len, self.candidates))
        lines = [f"ModelSelection on {self.rows:,} training rows, log-probability a step:"]
        lines.append(" " * width + "".join(f"{f'h={h}':>8} " for h in self.horizons))
        for k, name in enumerate(self.candidates):
            stars = ["*" if self.choice(h)[0] == k else " " for h in self.horizons]
            cells = zip(self.log_probabilities[:, k], stars, strict=True)
            lines.append(f"{name:<{width}}" + "".join(f"{one:8.3f}{star}" for one, star in cells))
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class SelectedHMM(TrainedHMM):
    """A fixed chain whose observations are judged by the law that a horizon chose."""

    laws: tuple[Tempered | None, ...] = field(kw_only=True)  # None if no horizon chose it
    selection: ModelSelection = field(kw_only=True)

    def __repr__(self) -> str:
        selection = self.selection
        chosen = {h: selection.candidates[selection.choice(h)[0]] for h in selection.horizons}
        told = chosen[1] if len({*chosen.values()}) == 1 else chosen
        return f"SelectedHMM({told!r}, states={self.states!r})"

    def law(self, horizon: int) -> Tempered:
        """Return the law that windows of so many steps are judged by."""
        place, power = self.selection.choice(horizon)
        found = self.laws[place]
        assert found is not None
        return Tempered(found.coding, power, found.classifier)

    def describe(self, columns: Sequence[str]) -> list[str]:
        chosen = self.selection.candidates[self.selection.choice(1)[0]]
        if chosen == FITTED:
            return self.emission.describe(columns)
        if chosen == CHAIN:
            told = ", ".join(columns) or "the observations"
            return [f"a Markov chain; {told} only break ties"]
        return [f"{chosen} for {', '.join(columns)}"] if columns else [chosen]

    def describe_choice(self, horizon: int) -> str:
        return self.selection.describe(horizon)

    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Parameters:
        found = super().estimate(completion, table, statistics, labels)
        return replace(found, emission=self.law(completion.horizon))


def select(
    model: HMM,
    history: History,
    table: Any,
    labels: Labels,
    lengths: Sequence[int] = (),
) -> TrainedHMM:
    """Fix the chain, its HMM or a classifier with the chain on top on rows that do not calibrate.

    Each is trained on the first two thirds and scored on windows of the last third. The best for a
    horizon is trained on all rows; the chain, where it is within one standard error of the best.
    """
    fitted = model.trained(history, table, labels)
    if len(history) < ROWS or (history.observations == MISSING).all():
        return fitted
    ends = np.cumsum(lengths or [len(history)])
    cut = 2 * len(history) // 3
    if len(ends) > 2:  # the end of a series
        cut = int(ends[max(int(np.searchsorted(ends, cut, side="right")) - 1, 0)])
    begins = np.concatenate([[0], ends[:-1]])
    first = _part(history, cut, begins)
    tried = model.trained(first, table, labels)
    names = [CHAIN, FITTED, *([LOGISTIC, BOOSTING] if is_tabular(model.emission_) else [])]
    laws = {name: _law(name, tried.emission, table, first) for name in names}
    there = {name: law for name, law in laws.items() if law is not None}
    selection = _validate(tried, there, history, table, labels, cut, begins)
    if selection is None:
        return fitted
    chosen = {selection.choice(horizon)[0] for horizon in selection.horizons}
    parts = {name: getattr(fitted, name) for name in TrainedHMM.__dataclass_fields__}
    final = [
        _law(name, fitted.emission, table, history) if place in chosen else None
        for place, name in enumerate(there)
    ]
    return SelectedHMM(**parts, laws=tuple(final), selection=selection)


def _law(name: str, emission: Emission, table: Any, history: History) -> Tempered | None:
    """Return the law of a candidate trained on labelled rows; None where it cannot be."""
    if name == CHAIN:
        return Tempered(emission, TIES)
    if name == FITTED:
        return Tempered(emission)
    latest = slice(-CLASSIFIER_ROWS, None)
    classifier = TrainedClasses.trained(
        Linear if name == LOGISTIC else Boosted, emission, table,
        history.observations[latest], history.states[latest],
    )  # fmt: skip
    return None if classifier is None else Tempered(emission, 1.0, classifier)


def _part(history: History, end: int, begins: IntArray) -> History:
    """Return the first rows as a history of their own, cut where segments begin."""
    part = History(history.n_states, history.symbols)
    part.known = history.known
    marks = [*begins[begins < end].tolist(), end]
    for one, other in pairwise(marks):
        part.append(history.states[one:other], history.observations[one:other], gap=True)
    return part


def _validate(
    tried: TrainedHMM,
    laws: dict[str, Tempered],
    history: History,
    table: Any,
    labels: Labels,
    cut: int,
    begins: IntArray,
) -> ModelSelection | None:
    """Score the candidates on the rows from a cut on; None where these are too few."""
    estimate = estimated(tried, table, labels)
    horizons, best, powers, errors = [], [], [], []
    for horizon in HORIZONS:
        windows = _windows(history, cut, begins, horizon)
        if windows is None:
            break
        scores = np.full((len(laws), len(POWERS), len(windows.start)), -np.inf)
        for row, law in enumerate(laws.values()):
            for column, power in enumerate(POWERS if law.power == 1 else POWERS[:1]):
                tempered = Tempered(law.coding, power * law.power, law.classifier)
                found = replace(estimate, emission=tempered).log_posterior(windows) / horizon
                scores[row, column] = np.nan_to_num(found, nan=WORST).clip(WORST)
        means, flat = scores.mean(axis=2), scores.reshape(-1, scores.shape[2])
        own = zip(means.argmax(axis=1).tolist(), laws.values(), strict=True)
        horizons.append(horizon)
        best.append(means.max(axis=1))
        powers.append([POWERS[k] * law.power for k, law in own])
        errors.append(_standard_error(flat[means.argmax()] - scores[0, 0]))
    if not horizons:
        return None
    return ModelSelection(
        tuple(laws), len(history), tuple(horizons), np.array(best), np.array(powers),
        np.array(errors),
    )  # fmt: skip


def _standard_error(values: FloatArray) -> float:
    """Return the standard error of a mean, by batches of successive values."""
    number = min(BATCHES, len(values))
    means = [part.mean() for part in np.array_split(values, number)]
    return float(np.std(means, ddof=1) / np.sqrt(number)) if number > 1 else 0.0


def _windows(history: History, cut: int, begins: IntArray, horizon: int) -> Windows | None:
    """Return windows from a cut on that do not overlap or cross segments; None for too few."""
    marks = [cut, *begins[begins > cut].tolist(), len(history)]
    ends = [
        # The state before the first window is the segment's own first, or the one before the cut.
        np.arange((begin if begin in begins else begin - 1) + horizon, end, horizon)
        for begin, end in pairwise(marks)
    ]
    every = np.concatenate(ends)
    if len(every) < FEWEST:
        return None
    some = np.linspace(0, len(every) - 1, min(len(every), MOST)).astype(np.int64)
    return windows_at(every[some], history.states, history.observations, horizon)


class Auto(Model):
    """An `HMM` whose emission is chosen by what is observed, new observations included.

    A choice by the history alone might be another for another rearrangement of it. Where it is
    fixed on rows that do not calibrate, these choose among several models, as `select` says.

    Examples
    --------
    >>> auto = Auto()
    >>> auto.choose(auto.infer_types([0.5, 1.25, None]))
    HMM(emission=Gaussian(covariance='full', prior=0.1, shrinkage=None))
    """

    @property
    def emission_(self) -> Emission:
        return Categorical()

    def infer_types(self, observations: Any) -> Kinds:
        return kinds_of(observations)

    def choose(self, kinds: Kinds | None) -> HMM:
        return HMM(emission=None if kinds is None else kinds.emission())

    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Estimate:
        return HMM().estimate(completion, table, statistics, labels)

    def fixed_on(
        self,
        chosen: Model,
        history: History,
        table: Any,
        labels: Labels,
        lengths: Sequence[int] = (),
    ) -> Model:
        assert isinstance(chosen, HMM)
        return select(chosen, history, table, labels, lengths)


def choose_coding(observations: Any) -> Emission:
    """Choose how a function's observations are read: rows of numbers as numbers, even 0 and 1.

    No law is fitted to them, so that 0 and 1 in labelled rows do not rule out 0.5 in new ones.
    """
    found = choose(observations)
    return Gaussian() if isinstance(found, (Bernoulli, Poisson)) else found


def resolve_model(model: Any, observations: Any) -> Model:
    """Find the model that a user means."""
    if isinstance(model, type):
        raise TypeError(
            f"model is the class {model.__name__}; pass an instance: model={model.__name__}()"
        )
    if isinstance(model, str) and model == "auto":
        return Auto()
    if isinstance(model, GivesModel):
        return model.fixed_model()
    if isinstance(model, Model):
        # A copy: what becomes of the user's own later is of no concern to the fit.
        found = copy.deepcopy(model)
        found.check()
        return found
    if is_hmmlearn(model):
        fitted = FromHmmlearn(copy.deepcopy(model))
        fitted.check()
        return fitted
    if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return HMM(emission=Classifier(copy.deepcopy(model)))
    if callable(model):
        return Predictor(model, choose_coding(observations))
    raise TypeError(
        "model must be 'auto', a definetti.HMM, a scikit-learn classifier, a fitted hmmlearn "
        "model, a definetti.models.Model or a function from start states and observations to "
        f"probabilities, got {model!r}"
    )
