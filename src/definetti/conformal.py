"""The estimator: labels in, sets of labels out."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Hashable, Iterable
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from definetti.arrays import IntArray
from definetti.checks import NotExactWarning, checked_flag, checked_number, entropy_of
from definetti.history import History, padded
from definetti.hmm.model import HMM
from definetti.pvalue import Rank, miscoverage
from definetti.ranking import Question, rank
from definetti.scores import Score
from definetti.scores import resolve as resolve_score
from definetti.sequence import MISSING, Alphabet, checked_states
from definetti.sets import Evaluation, PredictionSet
from definetti.symmetry import Symmetry
from definetti.symmetry import resolve as resolve_symmetry


class ConformalHMM(BaseEstimator):
    """Sets of hidden-state sequences that hold the truth with the probability promised.

    From one labelled sequence of a hidden Markov model with unknown parameters and the observations
    that follow it, gives the set of state sequences that holds the true one with probability at
    least the confidence level: for every model, every length, and given each last state.

    Parameters
    ----------
    model : HMM, optional
        The estimate behind the score, refitted for every candidate; `HMM()` if left out.
    score : {"path", "filter", "smoother", "joint", "band"} or callable, default "path"
        How strange a window is. Any score is valid; a good one gives small sets.
    symmetry : {"auto", "full", "returns", "pairs", "spaced", "shifts", "published"} or object
        What a candidate is compared with; ``symmetry_`` tells what "auto" chose. "shifts" is
        valid only approximately, "published" is not valid; both warn.
    confidence_level : float, default 0.9
        The probability with which the set is to hold the truth.
    smoothing : bool, default False
        Break ties at random: the coverage is then exactly the level, and the sets are smaller.
    n_resamples : int, default 999
        How many rearrangements are drawn where they are too many to be counted.
    states : list of labels, optional
        The state space, if it is larger than what the history shows.
    max_candidates : int, default 100000
        The most candidate sequences, ``n_states ** horizon``, that a prediction may list.
    random_state : int, numpy Generator or None
        Where random numbers come from; None takes fresh ones at every `fit`.
    verbose : bool, default False
        Show a progress bar when a prediction takes more than two seconds.

    Attributes
    ----------
    states_, symbols_ : the labels of the states and of the observations, in the order of codes
    symmetry_, score_, model_ : what is used
    n_steps_ : the length of the labelled history

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> observations, states = weather(300, random_state=0)
    >>> cp = ConformalHMM(confidence_level=0.9, random_state=0)
    >>> cp = cp.fit(observations[:298], states[:298])
    >>> s = cp.predict_set(observations[298:])
    >>> tuple(states[298:]) in s
    True
    """

    def __init__(
        self,
        model: HMM | None = None,
        score: str | Score | Callable[..., Any] = "path",
        symmetry: str | Symmetry = "auto",
        confidence_level: float = 0.9,
        smoothing: bool = False,
        n_resamples: int = 999,
        states: Iterable[Hashable] | None = None,
        max_candidates: int = 100_000,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.model = model
        self.score = score
        self.symmetry = symmetry
        self.confidence_level = confidence_level
        self.smoothing = smoothing
        self.n_resamples = n_resamples
        self.states = states
        self.max_candidates = max_candidates
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, observations: Any, states: Any) -> ConformalHMM:
        """Take in a labelled sequence.

        Parameters
        ----------
        observations : (T,) symbols, None or NaN where missing; None for a plain Markov chain
        states : (T,) labels, any hashable values
        """
        fitted = self._checked()
        labels = checked_states(states)
        if not labels:
            raise ValueError("states is empty; a labelled history needs at least one step")
        if self.states is None:
            alphabet = Alphabet().extended(labels)
        else:
            alphabet = Alphabet(checked_states(self.states, "states"))
        codes = alphabet.encode(labels, "states")
        table, observed = self._encoded(fitted["model_"], observations, None, len(labels))
        history = History(len(alphabet), fitted["model_"].emission_.symbols)
        history.append(codes, observed)
        # Only now, with nothing left that could fail, does the new fit replace an old one.
        self.__dict__.update(fitted)
        self._plain = observations is None
        self._alphabet, self._table, self._history = alphabet, table, history
        self._statistics = self.model_.statistics(history, table)
        if not self.symmetry_.exact:
            warnings.warn(
                f"symmetry={self.symmetry!r} does not guarantee the confidence level; use "
                "'full', 'returns' or 'spaced' for sets that do",
                NotExactWarning,
                stacklevel=2,
            )
        return self

    def partial_fit(self, observations: Any, states: Any) -> ConformalHMM:
        """Let the labelled sequence go on with labels that came in later."""
        if not hasattr(self, "_history"):
            return self.fit(observations, states)
        self._check_kind_of(observations)
        labels = checked_states(states)
        alphabet = self._alphabet
        if self.states is None:
            alphabet.check_kind(labels, "states")
            alphabet = alphabet.extended(labels)
        codes = alphabet.encode(labels, "states")
        table, observed = self._encoded(self.model_, observations, self._table, len(labels))
        added = self.model_.emission_.statistics(table, observed, codes, len(alphabet))
        self._statistics = padded(self._statistics, *added.shape) + added
        self._history.append(codes, observed, len(alphabet))
        self._alphabet, self._table = alphabet, table
        return self

    def predict_set(
        self,
        new_observations: Any = None,
        confidence_level: float | None = None,
        *,
        horizon: int | None = None,
    ) -> PredictionSet:
        """Return the set of state sequences for new observations.

        Parameters
        ----------
        new_observations : (h,) the observations that follow the labelled ones
        confidence_level : float, optional
            Another level than the estimator's.
        horizon : int, optional
            How many steps to forecast where there are no observations.
        """
        level = self.confidence_level if confidence_level is None else confidence_level
        alpha = miscoverage(level)
        question = self._question(new_observations, horizon)
        return self._listed(question, *self._rank_all(question), level, alpha)

    def predict_p(
        self, new_observations: Any = None, *, horizon: int | None = None
    ) -> PredictionSet:
        """Return every candidate sequence with its p-value."""
        question = self._question(new_observations, horizon)
        return self._listed(question, *self._rank_all(question), None, None)

    def predict_ranks(
        self, new_observations: Any = None, *, horizon: int | None = None
    ) -> dict[tuple[Hashable, ...], Rank]:
        """Return every candidate with the whole numbers that its p-value is made of."""
        question = self._question(new_observations, horizon)
        candidates, found, _ = self._rank_all(question)
        labels = map(self._alphabet.decode, candidates)
        return dict(zip(labels, found, strict=True))

    def p_value(self, new_observations: Any, states: Any) -> float:
        """Return the p-value of one state sequence: the membership oracle of the set.

        Any label will do, also one never seen.
        """
        labels = checked_states(states)
        if not labels:
            raise ValueError("states is empty; give one label per new observation")
        check_is_fitted(self, "_history")
        horizon = len(labels) if new_observations is None else None
        alphabet = self._alphabet.extended(labels)
        question = self._question(new_observations, horizon)._replace(labels=alphabet.labels)
        if len(labels) != len(question.observations):
            raise ValueError(
                f"states has {len(labels)} labels for {len(question.observations)} "
                "new_observations; give one label per observation"
            )
        found, _ = rank(question, alphabet.encode(labels, "states")[None])
        return found[0].p_value(self._uniform(question, found[0]))

    def evaluate(
        self,
        new_observations: Any,
        states: Any,
        confidence_level: float | None = None,
        *,
        horizon: int | None = None,
    ) -> Evaluation:
        """Judge prediction sets by the truth.

        Parameters
        ----------
        new_observations, states : (L,) what follows the labelled sequence, and its true states
        horizon : int, optional
            Cut the stretch into windows of so many steps and predict each from all before it; the
            whole stretch is one window if left out. The estimator itself learns nothing.
        """
        check_is_fitted(self, "_history")
        truth = checked_states(states)
        observed = None if new_observations is None else list(new_observations)
        if observed is not None and len(observed) != len(truth):
            raise ValueError(
                f"states has {len(truth)} labels for {len(observed)} new_observations; "
                "give one label per observation"
            )
        step = len(truth) if horizon is None else checked_number(horizon, "horizon")
        if not truth or len(truth) < step:
            raise ValueError(
                f"states has {len(truth)} labels, fewer than one window of {max(step, 1)}; "
                "give more, or shorten the horizon"
            )
        learner = copy.deepcopy(self)
        rows = []
        for begin in range(0, len(truth) - step + 1, step):
            part = slice(begin, begin + step)
            seen = None if observed is None else observed[part]
            ahead = {"horizon": step} if observed is None else {}
            s = learner.predict_set(seen, confidence_level, **ahead)
            window = tuple(truth[part])
            p = learner.p_value(seen, window)
            rows.append((window in s, len(s), s.scaled_size, p))
            learner.partial_fit(seen, window)
        covered, sizes, scaled, p_values = map(np.array, zip(*rows, strict=True))
        return Evaluation(covered, sizes, scaled, p_values)

    @property
    def states_(self) -> tuple[Hashable, ...]:
        return self._alphabet.labels

    @property
    def symbols_(self) -> tuple[Hashable, ...]:
        labels: tuple[Hashable, ...] = self._table.labels
        return labels

    @property
    def n_steps_(self) -> int:
        return len(self._history)

    def _checked(self) -> dict[str, Any]:
        """Check the parameters and return what they stand for."""
        miscoverage(self.confidence_level)
        checked_flag(self.smoothing, "smoothing")
        checked_flag(self.verbose, "verbose")
        checked_number(self.n_resamples, "n_resamples")
        checked_number(self.max_candidates, "max_candidates")
        model = HMM() if self.model is None else self.model
        if not isinstance(model, HMM):
            raise TypeError(f"model must be a definetti.HMM, got {type(model).__name__}")
        model.check()
        return {
            "model_": model,
            "score_": resolve_score(self.score),
            "symmetry_": resolve_symmetry(self.symmetry),
            "_entropy": entropy_of(self.random_state),
        }

    def _encoded(
        self, model: HMM, observations: Any, table: Any, length: int
    ) -> tuple[Any, IntArray]:
        """Code observations; a plain chain has none, and all are missing."""
        if observations is None:
            observations = [None] * length
        table, codes = model.emission_.encode(observations, table, "observations")
        if len(codes) != length:
            raise ValueError(
                f"observations has {len(codes)} elements and states has {length}; "
                "they must be of equal length, one pair per step"
            )
        return table, codes

    def _check_kind_of(self, observations: Any) -> None:
        if self._plain and observations is not None:
            raise ValueError(
                "observations were given, but the history was fitted with observations=None; "
                "fit again with observations, or give none"
            )
        if not self._plain and observations is None:
            raise ValueError(
                "observations is None, but the history was fitted with observations; give one "
                "per step (None inside the list where one is missing)"
            )

    def _question(self, new_observations: Any, horizon: int | None) -> Question:
        check_is_fitted(self, "_history")
        if new_observations is None:
            if horizon is None:
                raise ValueError(
                    "new_observations is None and horizon is None; give the new observations, or "
                    "horizon=3 to forecast three steps without any"
                )
            table, codes = self._table, np.full(checked_number(horizon, "horizon"), MISSING)
            unseen = codes == MISSING
        else:
            self._check_kind_of(new_observations)
            table, codes = self.model_.emission_.encode(
                new_observations, self._table, "new_observations"
            )
            if not len(codes):
                raise ValueError("new_observations is empty; give at least one, or use horizon=")
            if horizon is not None and horizon != len(codes):
                raise ValueError(
                    f"horizon={horizon} but new_observations has {len(codes)} elements; leave "
                    "horizon out"
                )
            # What is missing now but never was in the past is not there yet, and is left out of
            # all windows. Where the past has gaps too, a gap is an observation like any other.
            unseen = (codes == MISSING) & (not self._history.emissions[:, 0].any())
        return Question(
            self._history,
            table,
            self._statistics,
            codes,
            unseen,
            self._alphabet.labels,
            self.model_,
            self.score_,
            self.symmetry_,
            self.n_resamples,
            self._entropy,
        )

    def _rank_all(self, question: Question) -> tuple[IntArray, list[Rank], Any]:
        n, horizon = len(question.labels), len(question.observations)
        if n**horizon > self.max_candidates:
            raise ValueError(
                f"{n} states over {horizon} steps make {n**horizon:,} candidate sequences, more "
                f"than max_candidates={self.max_candidates:,}; shorten the horizon, ask p_value "
                "for single sequences, or raise max_candidates"
            )
        candidates = np.array(list(product(range(n), repeat=horizon)), dtype=np.int64)
        return candidates, *rank(question, candidates, self.verbose)

    def _uniform(self, question: Question, found: Rank) -> float | None:
        return question.uniform() if self.smoothing or found.randomised else None

    def _listed(
        self,
        question: Question,
        candidates: IntArray,
        found: list[Rank],
        scores: Any,
        level: float | None,
        alpha: Any,
    ) -> PredictionSet:
        """Decode the candidates whose p-value exceeds alpha, most plausible first."""
        broken = [self._uniform(question, one) for one in found]
        p_values = np.array([one.p_value(u) for one, u in zip(found, broken, strict=True)])
        order = np.lexsort((scores, -p_values)).tolist()
        kept = [k for k in order if alpha is None or found[k].exceeds(alpha, broken[k])]
        name = type(self.symmetry_).__name__.lower()
        score = type(self.score_).__name__.lower()
        return PredictionSet(
            [self._alphabet.decode(candidates[k]) for k in kept],
            p_values[kept],
            self.states_,
            candidates.shape[1],
            level,
            f"{score} score, {name} symmetry{', smoothed' if self.smoothing else ''}",
            self.symmetry_.exact,
        )
