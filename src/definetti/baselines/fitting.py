"""A labelled history taken in by a baseline, with a model that is fixed before calibration."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

from definetti._system.checks import checked_number
from definetti.baselines.past import Past
from definetti.data.candidates import is_long, powered
from definetti.data.labelled import Labelled
from definetti.front_door import FrontDoor
from definetti.models.base import Model
from definetti.question import Question
from definetti.ranks.pvalue import miscoverage
from definetti.symmetry.base import Symmetry


class Fitting(FrontDoor):
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

    def _check_parameters(self) -> None:
        """Check what is read at every prediction, and may have been changed since `fit`."""
        miscoverage(self.confidence_level)
        checked_number(self.max_candidates, "max_candidates")
        self._check()

    def _check(self) -> None:
        """Refuse what a method of its own cannot use."""

    def _take_in(
        self, model: Model, observations: Any, states: Any, lengths: Any
    ) -> dict[str, Any]:
        share = self._training_share(model)
        return {"_data": Labelled(model, observations, states, self.states, share, lengths)}

    def _training_share(self, model: Model) -> float | None:
        """Return the share to train on; None for a model that is fixed, and knows its states."""
        if model.knows_states:
            return None
        if self.train_size is None:
            raise ValueError(
                "train_size is None, but the model is not trained; set train_size=0.5, or give a "
                "model that is"
            )
        return self.train_size

    def _compare_with(self, question: Question) -> Symmetry:
        """Return what candidates are compared with; the question has no symmetry of its own yet."""
        return Past()

    def _question(
        self,
        new_observations: Any,
        horizon: int | None,
        lag: int = 0,
        *,
        listing: bool = True,
        ranking: bool = False,
    ) -> Question:
        self._check_fitted()
        self._check_parameters()
        data = self._data
        if horizon is not None and listing:  # before any memory is taken
            self._check_budget(len(data.alphabet), checked_number(horizon, "horizon"))
        new = data.read_new(new_observations, horizon)
        question = Question(
            history=data.history,
            table=new.table,
            statistics=data.statistics,
            observations=new.codes,
            unseen=new.unseen,
            labels=data.alphabet.labels,
            model=self.model_,
            score=self.score_,
            symmetry=Past(),
            n_resamples=1,
            entropy=self._entropy,
        )
        return replace(question, symmetry=self._compare_with(question))

    def _check_budget(self, n_states: int, horizon: int) -> None:
        if is_long(n_states, horizon, self.max_candidates):
            raise ValueError(
                f"{n_states} states over a horizon of {horizon} steps make "
                f"{powered(n_states, horizon)} candidate sequences, more than max_candidates="
                f"{self.max_candidates:,}; shorten the horizon, ask p_value for single sequences, "
                "raise max_candidates, or use ConformalHMM, which needs no list"
            )
