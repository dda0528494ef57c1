"""A labelled history taken in by a baseline, with a model that is fixed before calibration."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal, TypeVar

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from definetti._system.arrays import IntArray
from definetti._system.checks import checked_number, entropy_of
from definetti.algorithm import Question
from definetti.baselines.past import Past
from definetti.data.candidates import is_long
from definetti.data.labelled import Labelled
from definetti.data.labels import checked_states
from definetti.models.function import Predictor
from definetti.models.hmm import Model
from definetti.models.named import resolve as resolve_model
from definetti.ranks.pvalue import miscoverage
from definetti.scores import Score
from definetti.scores import resolve as resolve_score
from definetti.sets._wording import powered
from definetti.symmetry.base import Symmetry

Self = TypeVar("Self", bound="Fitting")
ModelOrAuto = Model | Literal["auto"]


class Fitting(BaseEstimator):
    """What a baseline is fitted with, and the questions that it can then be asked."""

    def __init__(
        self,
        model: Any = "auto",
        score: Any = "path",
        confidence_level: float = 0.9,
        train_size: float | None = 0.5,
        states: Iterable[Hashable] | None = None,
        max_candidates: int = 100_000,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.score = score
        self.confidence_level = confidence_level
        self.train_size = train_size
        self.states = states
        self.max_candidates = max_candidates
        self.random_state = random_state

    def fit(self: Self, observations: Any, states: Any, lengths: Any = None) -> Self:
        """Take in a labelled sequence, or several one after the other.

        Parameters
        ----------
        observations : (T,) symbols, None or NaN where missing; None for a plain Markov chain
        states : (T,) labels, any hashable values
        lengths : list of int, optional
            The lengths of the sequences, if there are several. What is to be predicted follows
            the last; those before it train the model, unless the method says otherwise.
        """
        if isinstance(observations, Iterator):
            observations = list(observations)
        self._check_parameters()
        score = self._resolved()
        model = resolve_model(self.model, observations)
        if not isinstance(model, str):  # "auto", to be chosen when the data are read
            model.check()
        entropy = entropy_of(self.random_state)
        fitted = self._taken(model, observations, states, lengths, entropy)
        # Only now, with nothing left that could fail, does the new fit replace an old one.
        chosen = fitted["_data"].model
        self.__dict__.update(fitted, score_=score, model_=chosen, _entropy=entropy)
        return self

    def partial_fit(self: Self, observations: Any, states: Any) -> Self:
        """Let the labelled sequence go on with labels that came in later."""
        if not hasattr(self, "_data"):
            return self.fit(observations, states)
        self._data.append(observations, states)
        return self

    @property
    def states_(self) -> tuple[Hashable, ...]:
        self._check_fitted()
        labels: tuple[Hashable, ...] = self._data.alphabet.labels
        return labels

    def _check_parameters(self) -> None:
        """Check what is read at every prediction, and may have been changed since `fit`."""
        miscoverage(self.confidence_level)
        checked_number(self.max_candidates, "max_candidates")
        self._check()

    def _check(self) -> None:
        """Refuse what a method of its own cannot use."""

    def _resolved(self) -> Score:
        return resolve_score(self.score)

    def _taken(
        self, model: ModelOrAuto, observations: Any, states: Any, lengths: Any, entropy: int
    ) -> dict[str, Any]:
        """Take labelled data in; return what is to be remembered of them."""
        share = self._share(model)
        return {"_data": Labelled(model, observations, states, self.states, share, lengths)}

    def _share(self, model: ModelOrAuto) -> float | None:
        """Return the share to train on; None for a model that is fixed, and knows its states."""
        if knows_states(model):
            return None
        if self.train_size is None:
            raise ValueError(
                "train_size is None, but the model is not trained; set train_size=0.5, or give a "
                "model that is"
            )
        return self.train_size

    def _compared(self, question: Question) -> Symmetry:
        """Return what candidates are compared with; the question has no symmetry of its own yet."""
        return Past()

    def _asked(
        self, new_observations: Any, states: Any, horizon: int | None = None
    ) -> tuple[Question, IntArray]:
        """Read one state sequence, with the question that it answers."""
        self._check_fitted()
        labels = checked_states(states)
        if not labels:
            raise ValueError("states is empty; give one label per new observation")
        alphabet = self._data.alphabet.extended(labels)
        if new_observations is None and horizon is None:
            horizon = len(labels)
        if horizon is not None:  # before anything so long is made
            self._check_length(labels, checked_number(horizon, "horizon"))
        question = self._question(new_observations, horizon, listing=False)
        self._check_length(labels, question.asked)
        return replace(question, labels=alphabet.labels), alphabet.encode(labels, "states")

    def _question(
        self, new_observations: Any, horizon: int | None, listing: bool = True
    ) -> Question:
        """Gather all that a prediction depends on."""
        self._check_fitted()
        self._check_parameters()
        data = self._data
        if horizon is not None and listing:  # before any memory is taken
            self._check_budget(len(data.alphabet), checked_number(horizon, "horizon"))
        new = data.new(new_observations, horizon)
        question = Question(
            data.history,
            new.table,
            data.statistics,
            new.codes,
            new.unseen,
            data.alphabet.labels,
            self.model_,
            self.score_,
            Past(),
            1,
            self._entropy,
        )
        return replace(question, symmetry=self._compared(question))

    def _check_budget(self, n_states: int, horizon: int) -> None:
        if is_long(n_states, horizon, self.max_candidates):
            raise ValueError(
                f"{n_states} states over a horizon of {horizon} steps make "
                f"{powered(n_states, horizon)} candidate sequences, more than max_candidates="
                f"{self.max_candidates:,}; shorten the horizon, ask p_value for single sequences, "
                "raise max_candidates, or use ConformalHMM, which needs no list"
            )

    def _check_length(self, labels: list[Any], length: int) -> None:
        if len(labels) != length:
            raise ValueError(
                f"states has {len(labels)} labels for {length} new_observations; give one label "
                "per observation"
            )

    def _check_fitted(self) -> None:
        if not hasattr(self, "_data"):
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet; call fit(observations, states)"
            )


def knows_states(model: ModelOrAuto) -> bool:
    """Tell whether a model is fixed already, and knows which of its states is which."""
    if isinstance(model, str) or not model.fixed:
        return False
    return model.states is not None or isinstance(model, Predictor)
