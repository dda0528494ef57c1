"""Baselines that choose or resample the calibration windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil, isqrt, log
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_number
from definetti.data.encoded import EncodedHistory
from definetti.data.history import Completion, History, Windows
from definetti.data.labels import training_length
from definetti.engine.pvalues import ranks
from definetti.engine.task import PredictionTask
from definetti.experiments.baseline import Baseline, Standing
from definetti.models.base import Model
from definetti.models.hmm import Parameters
from definetti.scores.nonconformity import round_scores
from definetti.symmetry.base import Generator, Reference, Symmetry
from definetti.symmetry.blocks import Past


@dataclass(eq=False, repr=False)
class ClassConditional(Baseline, name="classconditional"):
    """Mondrian conformal prediction (Vovk, Gammerman & Shafer 2005): a rank within each class.

    Guaranteed: coverage of at least the level given each class, if the windows of that class and
    the new one are exchangeable. At one step those of a Markov chain nearly are: the windows that
    end in one state are exchangeable but for the first visit to it, which comes from a start of
    its own. Over several steps nothing is guaranteed for a chain. A class that the past does not
    have is always in the set.

    Parameters
    ----------
    classes : {"sequence", "last"}, default "sequence"
        What the class of a window is: all its states, or its last state.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> ClassConditional().fit(y[:298], x[:298]).predict_set(y[298:]).sequences
    [('rain', 'rain'), ('sun', 'rain')]
    """

    title = "class-conditional conformal prediction"

    classes: str = "sequence"

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

    def reference(self, completion: Completion, generator: Generator) -> Reference:
        horizon = completion.horizon
        ends = completion.history.visits(completion.last)
        ends = ends[ends >= horizon]
        if not self.last:
            times = ends[:, None] + np.arange(1 - horizon, 1)
            ends = ends[(completion.history.states[times] == completion.states).all(axis=1)]
        return Reference.past(ends[::-1])


@dataclass(eq=False, repr=False)
class ShiftPermutations(Baseline, name="shiftpermutations"):
    """Shifts of the completed sequence (Chernozhukov, Wüthrich & Zhu 2018).

    The history and the candidate make a ring, whose every rotation, by a multiple of `block`, is
    compared with the sequence itself; the last ``h`` steps of a rotation are its window. The
    authors fit the model again with each candidate; here it is fixed, as for all baselines.

    Guaranteed: coverage of at least the level if rotations do not change the law of the sequence,
    as for independent and identically distributed steps. For a stationary sequence that mixes, and
    a good model, the coverage tends to the level as the sequence grows; for a Markov chain no
    length guarantees it.

    Parameters
    ----------
    block : int, default 1
        By how many steps to shift at a time: 1 for all shifts, ``h`` for blocks that do not
        overlap. The oldest steps are left out where it does not divide the length.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> ShiftPermutations(block=2).fit(y[:298], x[:298]).predict_set(y[298:]).sequences
    [('rain', 'rain')]
    """

    title = "shift permutations"
    each_candidate = True

    block: int = 1

    def _check(self) -> None:
        checked_number(self.block, "block")

    def _compare_with(self, task: PredictionTask) -> Symmetry:
        if task.unseen.any() and not task.unseen.all():
            raise ValueError(
                f"horizon={len(task.unseen)} reaches beyond the "
                f"{int((~task.unseen).sum())} new_observations, and a shift would move the gap "
                "to other steps; leave horizon out, or give no new_observations"
            )
        return Rotations(self.block)


@dataclass(frozen=True)
class Rotations(Symmetry):
    """Compare with the windows at the end of every rotation; **only approximately valid**."""

    block: int

    exact = False
    reads_observations = False

    def reference(self, completion: Completion, generator: Generator) -> Reference:
        past, horizon = completion.history, completion.horizon
        length = len(past) + horizon
        left_out = length % self.block
        if length - left_out <= horizon:
            return Reference.alone(completion)
        states = np.concatenate([past.states, completion.states])[left_out:]
        observations = np.concatenate([past.observations, completion.observations])[left_out:]
        ends = np.arange(len(states) - 1, -1, -self.block)
        times = (ends[:, None] + np.arange(-horizon, 1)) % len(states)
        windows = Windows(states[times[:, 0]], states[times[:, 1:]], observations[times[:, 1:]])
        return Reference(windows, np.ones(len(ends), dtype=np.int64), joins=False)


KEPT = 20  # the fewest windows that thinning="auto" leaves


@dataclass(eq=False, repr=False)
class Thinned(Baseline, name="thinned"):
    """Split conformal prediction on every ``K``-th window (Zheng & Proutière 2024).

    Guaranteed: for a stationary Markov chain whose dependence dies out geometrically, with the
    right ``K``, coverage of at least the level less a gap of the order of the mixing time over
    ``n log n``. The gap is not known, and no length makes it zero.

    Parameters
    ----------
    thinning : "auto" or int, default "auto"
        ``K``, the steps from the end of a window to the beginning of the next; 1 takes windows
        that follow one another. "auto" goes by the model's transition matrix: as many steps as
        it takes the second largest eigenvalue to fall below one over the number of steps that
        calibrate, but leaving 20 windows; a plain version of the authors' estimate from the data.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(600, random_state=0)
    >>> Thinned(thinning=5).fit(y[:598], x[:598]).predict_set(y[598:]).sequences
    [('rain', 'rain')]
    """

    title = "thinned split conformal prediction"

    thinning: int | str = "auto"

    def _check(self) -> None:
        if not isinstance(self.thinning, str):
            checked_number(self.thinning, "thinning")
        elif self.thinning != "auto":
            raise ValueError(
                f"thinning must be 'auto' or a whole number ≥ 1, got {self.thinning!r}"
            )

    def _compare_with(self, task: PredictionTask) -> Symmetry:
        if not isinstance(self.thinning, str):
            return Past(len(task.observations) - 1 + int(self.thinning))
        estimate = task.estimate(task.complete_with(0))
        if not isinstance(estimate, Parameters):
            raise ValueError(
                "thinning='auto' goes by a transition matrix, and the model has none; give a "
                "number, such as thinning=10"
            )
        horizon, length = len(task.observations), len(task.history)
        most = max(length // KEPT - horizon + 1, 1)
        return Past(horizon - 1 + mixing_steps(estimate.transition, length, most))


def mixing_steps(transition: FloatArray, length: int, most: int) -> int:
    """Return how many steps the second eigenvalue takes to fall below ``1 / length``."""
    sizes = np.sort(np.abs(np.linalg.eigvals(transition)))
    second = float(sizes[-2]) if len(sizes) > 1 else 0.0
    if second >= 1.0:
        return most
    if second <= 1.0 / max(length, 2):
        return 1
    return min(ceil(log(length) / -log(second)), most)


@dataclass(eq=False, repr=False)
class EnsembleSliding(Baseline, name="ensemblesliding"):
    """Bootstrap ensemble with a sliding window of residuals (EnbPI, Xu & Xie 2021).

    In the form for classification (ERAPS, Xu & Xie 2022): residuals are scores of windows, averaged
    over the models; for a window of the segment, over the models whose samples contain no step of
    it, if there are any. A new window is scored by all models; the authors aggregate the left-out
    ensembles, which is nearly the same. With `partial_fit` new residuals replace as many old ones,
    and no model is fitted again. A model that is fixed already is its own ensemble.

    Guaranteed: coverage that tends to the level as the history grows, if the errors of the true
    model are stationary and strongly mixing and the ensemble tends to it. For no finite length is
    anything guaranteed.

    Parameters
    ----------
    train_size : float or int, optional
        The first segment that models are fitted on; all of the history if left out, the default.
    n_models : int, default 25
        How many models there are, each fitted on a bootstrap sample of pieces of the segment.
    piece : int, optional
        The length of the pieces that are drawn, with replacement; about the square root of the
        segment if left out.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> cp = EnsembleSliding(random_state=0).fit(y[:250], x[:250])
    >>> cp.partial_fit(y[250:298], x[250:298]).predict_set(y[298:]).sequences
    [('rain', 'rain')]
    """

    title = "bootstrap ensemble with sliding residuals"
    splits = False  # left-out models take the place of a split

    train_size: float | None = None
    n_models: int = 25
    piece: int | None = None
    models_: list[Model] = field(init=False)
    _kept: int = field(init=False)
    _drawn: npt.NDArray[np.bool_] = field(init=False)

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
        # Chosen once, as the models of the ensemble are not fitted again.
        model = model.choose(model.infer_types(observations))
        share = self.train_size if model.fixed and not model.knows_states else None
        data = EncodedHistory(model, observations, states, self.states, share)
        models, drawn = [data.model], np.zeros((1, 0), dtype=np.bool_)
        if not data.model.fixed:
            models, drawn = self._ensemble(data, np.random.default_rng(entropy))
        return {"_data": data, "_kept": len(data.history), "models_": models, "_drawn": drawn}

    def _ensemble(
        self, data: EncodedHistory, rng: np.random.Generator
    ) -> tuple[list[Model], npt.NDArray[np.bool_]]:
        """Fit models on bootstrap samples; return them, and the steps that each was fitted on."""
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
                part = slice(begin, begin + size)
                sample.append(states[part], observed[part], gap=True)
                drawn[k, part] = True
            models.append(data.model.trained(sample, data.table, data.alphabet.labels))
        return models, drawn

    def _judge(
        self, task: PredictionTask, candidates: IntArray
    ) -> tuple[Sequence[Standing], FloatArray]:
        task = replace(task, model=self.models_[0])  # fixed, and all scored alike
        scores = round_scores(self._scored(task, task.windows(candidates)).mean(axis=0))
        past = self._residuals(task)
        past = past[-max(self._kept - len(task.observations), 1) :]
        past = round_scores(past[~np.isnan(past)])
        return ranks(past, np.ones(len(past), dtype=np.int64), scores, joins=True), scores

    def _scored(self, task: PredictionTask, windows: Windows) -> FloatArray:
        """Return the score of each window by each model, ``(models, B)``."""
        tasks = [replace(task, model=model) for model in self.models_]
        return np.stack(
            [own.score_windows(own.estimate(own.complete_with(0)), windows) for own in tasks]
        )

    def _residuals(self, task: PredictionTask) -> FloatArray:
        """Score the windows of the past, the oldest first; only new ones in rolling prediction."""
        recall, key = task.history.lasting.recall, "residuals"
        known: FloatArray = recall(task.setting, key, lambda: np.zeros(0))
        ends = np.arange(len(task.observations) + len(known), len(task.history))
        if len(ends):
            known = np.concatenate([known, self._left_out_scores(task, ends)])
            task.history.lasting.note(task.setting, key, known)
        return known

    def _left_out_scores(self, task: PredictionTask, ends: IntArray) -> FloatArray:
        """Return the mean score by models whose samples exclude a window; NaN if there are none."""
        scores = self._scored(task, task.windows_ending(ends))
        begins = ends - len(task.observations)  # the state before a window is part of it
        before = np.pad(np.cumsum(self._drawn, axis=1), [(0, 0), (1, 0)])
        first, last = np.minimum([begins, ends + 1], self._drawn.shape[1])
        free: npt.NDArray[np.bool_] = before[:, first] == before[:, last]
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(free, scores, 0.0).sum(axis=0) / free.sum(axis=0))
