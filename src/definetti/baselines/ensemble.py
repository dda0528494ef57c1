"""An ensemble of bootstrap models, and residuals that slide along."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_number
from definetti.baselines.base import Baseline
from definetti.baselines.past import all_scores
from definetti.baselines.standing import Standing
from definetti.data.encoded import EncodedHistory
from definetti.data.history import History, Windows
from definetti.data.splitting import training_length
from definetti.engine.pvalues import ranks
from definetti.engine.task import PredictionTask
from definetti.models.base import Model
from definetti.scores.rounding import round_scores


class EnsembleSliding(Baseline, name="ensemblesliding"):
    """Bootstrap ensemble with a sliding window of residuals (EnbPI, Xu & Xie 2021).

    In the form for classification (ERAPS, Xu & Xie 2022): residuals are scores of windows.

    Parameters
    ----------
    train_size : float or int, optional
        The first segment that models are fitted on; all of the history if left out, the default.
    n_models : int, default 25
        How many models there are, each fitted on a bootstrap sample of pieces of the segment.
    piece : int, optional
        The length of the pieces that are drawn, with replacement; about the square root of the
        segment if left out.

    Notes
    -----
    The other parameters are those of `definetti.baselines.base.Baseline`.

    The score of the ensemble is the mean of its models' scores. A window of the segment is judged
    by those models alone that no step of it was drawn for; one that is in all samples is left
    out. A new window is judged by all; the authors put the left-out ensembles together, which comes
    to nearly the same. With `partial_fit` new residuals come in, as many old ones go, and no model
    is fitted again. A model that is fixed already is its own ensemble.

    Guaranteed: coverage that tends to the level as the history grows, if the errors of the true
    model are stationary and strongly mixing and the ensemble tends to it. For no finite length is
    anything guaranteed.

    Over ``h`` steps whole windows are ranked, so that all steps are right together.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> cp = EnsembleSliding(random_state=0).fit(y[:250], x[:250])
    >>> cp.partial_fit(y[250:298], x[250:298]).predict_set(y[298:]).sequences
    [('rain', 'rain')]
    """

    title = "bootstrap ensemble with sliding residuals"
    splits = False  # left-out models split for it

    def __init__(
        self,
        model: Any = "auto",
        score: Any = "path",
        confidence_level: float = 0.9,
        train_size: float | None = None,
        states: Iterable[Hashable] | None = None,
        max_candidates: int = 100_000,
        random_state: Any = None,
        n_models: int = 25,
        piece: int | None = None,
    ) -> None:
        super().__init__(
            model, score, confidence_level, train_size, states, max_candidates, random_state
        )
        self.n_models = n_models
        self.piece = piece

    def _check(self) -> None:
        checked_number(self.n_models, "n_models")
        if self.piece is not None:
            checked_number(self.piece, "piece")

    def _take_in(
        self, model: Model, observations: Any, states: Any, lengths: Any, entropy: int
    ) -> dict[str, Any]:
        if lengths is not None:
            raise ValueError(
                "lengths is given, and an ensemble with sliding residuals takes one sequence; "
                "leave it out, or use another baseline"
            )
        # Once and for all: the models of the ensemble are not fitted again.
        model = model.choose(model.infer_types(observations))
        if model.fixed:
            share = None if model.knows_states else self.train_size
            data = EncodedHistory(model, observations, states, self.states, share)
        else:
            data = EncodedHistory(model, observations, states, self.states)
        models, drawn = [data.model], np.zeros((1, 0), dtype=np.bool_)
        if not data.model.fixed:
            models, drawn = self._ensemble(data, np.random.default_rng(entropy))
        return {"_data": data, "_kept": len(data.history), "models_": models, "_drawn": drawn}

    def _ensemble(
        self, data: EncodedHistory, rng: np.random.Generator
    ) -> tuple[list[Model], npt.NDArray[np.bool_]]:
        """Fit models on bootstrap samples; tell which steps each was fitted on."""
        length = len(data.history)
        if self.train_size is not None:
            length = training_length(self.train_size, length)
        size = isqrt(length) if self.piece is None else int(self.piece)
        begins = np.arange(0, length, size)
        states, observed = data.history.states[:length], data.history.observations[:length]
        models, drawn = [], np.zeros((self.n_models, length), dtype=np.bool_)
        for k in range(self.n_models):
            sample = History(len(data.alphabet), data.model.emission_.symbols)
            for begin in rng.choice(begins, len(begins)).tolist():
                sample.append(
                    states[begin : begin + size], observed[begin : begin + size], gap=True
                )
                drawn[k, begin : begin + size] = True
            models.append(data.model.trained(sample, data.table, data.alphabet.labels))
        return models, drawn

    def _judge(
        self, task: PredictionTask, candidates: IntArray
    ) -> tuple[Sequence[Standing], FloatArray]:
        task = replace(task, model=self.models_[0])  # fixed, and all scored alike
        scores = round_scores(self._scored(task, task.windows(candidates)).mean(axis=0))
        past = all_scores(task, "ensemble", lambda ends: self._residuals(task, ends))
        past = past[-max(self._kept - len(task.observations), 1) :]
        past = round_scores(past[~np.isnan(past)])
        return ranks(past, np.ones(len(past), dtype=np.int64), scores, joins=True), scores

    def _scored(self, task: PredictionTask, windows: Windows) -> FloatArray:
        """Return the score of each window by each model, ``(models, B)``."""
        asked = [replace(task, model=model) for model in self.models_]
        return np.stack(
            [one.score_windows(one.estimate(one.complete_with(0)), windows) for one in asked]
        )

    def _residuals(self, task: PredictionTask, ends: IntArray) -> FloatArray:
        """Return the mean score by models that know nothing of a window; NaN if all know it."""
        scores = self._scored(task, task.windows_ending(ends))
        begins = ends - len(task.observations)  # the state before a window is part of it
        width = self._drawn.shape[1]
        before = np.pad(np.cumsum(self._drawn, axis=1), [(0, 0), (1, 0)])
        steps = before[:, np.minimum(ends + 1, width)] - before[:, np.minimum(begins, width)]
        free = steps == 0
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(free, scores, 0.0).sum(axis=0) / free.sum(axis=0))
