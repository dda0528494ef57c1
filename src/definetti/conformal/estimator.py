"""The estimator: labels in, sets of labels out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy.typing as npt

from definetti._system.arrays import FloatArray
from definetti._system.checks import checked_flag
from definetti.conformal.base import CheckOptions, WindowOptions
from definetti.conformal.tasks import HistoryTasks, decode_observations
from definetti.data.labels import array_of, readable
from definetti.engine.algorithm import rank
from definetti.engine.pvalues import Rank, p_values_of
from definetti.evaluation.results import Evaluation
from definetti.evaluation.window_loop import share_right
from definetti.levels import ConfidenceLevel, read_levels
from definetti.levels.by_state import several_levels
from definetti.memory import Memory
from definetti.scores import Score
from definetti.sets import (
    BasePredictionSet,
    Errors,
    LatticeSet,
    PredictionSet,
    PredictionSets,
)
from definetti.sets.batch import all_ranked, sets_of
from definetti.symmetry import Symmetry

if TYPE_CHECKING:
    from definetti.check import Diagnosis


class ConformalHMM(HistoryTasks):
    """Predict sets of hidden-state sequences with exact coverage, from one labelled history.

    The set of state sequences for the observations after a labelled history contains the true one
    with probability at least the confidence level: for every hidden Markov model, every length,
    and given each last state. All states must occur in the history or be declared with `states`,
    and a model or score that is given must have been made without the labels that calibrate it.

    Parameters
    ----------
    confidence_level : float or dict, default 0.9
        The probability that the set contains the truth. A dict gives each last state (with
        "departures" each present state) its own level, ``{"N1": 0.99, None: 0.8}``; None stands
        for all states that are not named.
    model : "auto", HMM, or a predictor trained elsewhere
        The model behind the score. "auto" is an `HMM` chosen by the type of the observations, the
        new ones included, and refitted for every candidate; ``model_`` is what was chosen. Where
        500 rows or more train and do not calibrate, "auto" chooses on them among the chain alone,
        the `HMM`, logistic regression and gradient boosting with the chain on top, for each
        horizon (``model_selection_``). A function or a matrix of likelihoods has its columns in
        the order of `states`, which must be declared.
    train_size : float or int, optional
        Fit the model on a first segment, a share or a number of steps, and calibrate on the rest:
        for long horizons and expensive models. With "departures" it must be a number, fixed in
        advance, since the length of a history up to some visit depends on the windows that
        calibrate.
    guarantee : {"all", "steps", "errors"} or Errors, default "all"
        All steps are right together; at least the level's share of steps is right on average; or,
        with ``Errors(2)``, at most two steps are wrong with the level's probability ("errors" is
        ``Errors(0)``). The last two give `StepSets`, use the smoother's probabilities whatever the
        score, break no ties, and need a fixed model.
    random_state : int, numpy Generator or None
        The seed; None draws fresh numbers at every `fit`. The same data and seed give the same
        sets; other data draw other numbers from it.

    Other Parameters
    ----------------
    conformity_score : name in `definetti.scores.Score.named`, or callable, default "path"
        The nonconformity score of a window, large = nonconforming. Any score is valid; a good one
        gives small sets. A function must look at the window alone and keep nothing between calls.
    symmetry : {"auto", "full", "returns", "pairs", "spaced", "departures", "shifts", \
"published"} or object
        What a candidate is compared with. "auto" is "spaced", which suffers less than "full"
        where recorded data are not quite a hidden Markov model; "full" has smaller sets where
        they are. "departures" has coverage conditional on the *present* state, averaged over its
        visits; the others conditional on the last state of the window. "shifts" is approximately
        valid and "published" is not valid; both warn.
    smoothing : bool, default False
        Break ties at random: the sets are smaller, and with ``allow_empty=True`` the coverage is
        exactly the level.
    states : list of labels, optional
        The state space, if it is larger than what the history shows: a state that was never seen
        and is not declared is in no set. The labels of a model come first, in their order.
    memory : int, {"age", "observation"} or Memory, default 1
        What the next state depends on: so many last states, 1 for a hidden Markov model; the
        present state and how long it has lasted; or it and the present observation, a symbol. A
        larger memory assumes less and compares with fewer windows. With "departures", visits are
        those to the state with its memory. ``memory_`` is what is used.
    allow_empty : bool, default False
        Whether a set may be empty where no candidate is plausible at the level. If not, it gets
        the most plausible sequence, or at each step the most probable state, and ``filled`` is
        True. Sets only grow by it, and p-values do not change.
    max_candidates : int, default 100000
        The most candidate sequences, ``n_states ** horizon``, that a prediction may list. Beyond,
        a fixed model with "spaced" blocks or "departures" gives a `LatticeSet`.

    Attributes
    ----------
    states_ : the labels of the states, in order of declaration or first occurrence
    symbols_ : the distinct observations, if they are symbols
    present_ : the last label, from which predictions start
    symmetry_, conformity_score_, model_, memory_ : the objects in use
    model_selection_ : with "auto" fixed on rows that do not calibrate, what the candidates scored
        there, a `definetti.models.selection.ModelSelection`; else None
    n_steps_ : the length of the labelled history, training rows of a fixed model left out

    Notes
    -----
    Where refitting "auto" for all candidates would take more than about a second, and without
    `train_size`, the model is fixed on the first half of the history, as with ``train_size=0.5``;
    the set says so. This is decided by the number of states, steps and rows and by the type of the
    observations, never by a clock, so that the sets stay exact. It needs "spaced" blocks without a
    memory. A model that is named, ``HMM()``, is always refitted. With "departures", "auto" goes by
    the windows that are compared, the rows before the first of them and the new observations; rows
    that the emission cannot read then count as missing.

    Several threads may use one estimator: calls run one after the other. Take `copy.deepcopy` to
    predict twice from the same history while another thread learns.

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
        model: Any = "auto",
        conformity_score: str | Score | Callable[..., Any] = "path",
        symmetry: str | Symmetry = "auto",
        confidence_level: ConfidenceLevel = 0.9,
        smoothing: bool = False,
        train_size: float | None = None,
        states: Iterable[Hashable] | None = None,
        memory: int | str | Memory = 1,
        guarantee: str | Errors = "all",
        allow_empty: bool = False,
        max_candidates: int = 100_000,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.conformity_score = conformity_score
        self.symmetry = symmetry
        self.confidence_level = confidence_level
        self.smoothing = smoothing
        self.train_size = train_size
        self.states = states
        self.memory = memory
        self.guarantee = guarantee
        self.allow_empty = allow_empty
        self.max_candidates = max_candidates
        self.random_state = random_state

    def fit(
        self, observations: Any, states: Any, lengths: Any = None, groups: None = None
    ) -> ConformalHMM:
        """Fit to a labelled sequence.

        Parameters
        ----------
        observations : (T,) symbols, None or NaN where missing; None for a plain Markov chain
        states : (T,) labels, any hashable values
        lengths : list of int, optional
            The lengths of its segments, if gaps of unknown length separate them. Predictions
            continue the last segment.
        groups : refused; many series are fitted by `GroupedConformalHMM`

        Notes
        -----
        The model learns from all segments; with ``symmetry="full"`` their observations are
        rearranged, too. States are rearranged within the last segment alone, since moving them
        across gaps would change the lengths of segments. For new sequences that continue none of
        these see `definetti.ConformalSequences`.
        """
        if groups is not None:
            raise TypeError(
                "groups names many series, and ConformalHMM has one history; use "
                "GroupedConformalHMM(ConformalHMM(…)).fit(observations, states, groups)"
            )
        return self._fit_from(observations, states, lengths)

    @overload
    def predict_set(
        self, new_observations: Any = None, confidence_level: ConfidenceLevel | None = None,
        **options: Unpack[WindowOptions],
    ) -> BasePredictionSet: ...  # fmt: skip

    @overload
    def predict_set(
        self, new_observations: Any = None, *, confidence_level: Sequence[ConfidenceLevel],
        **options: Unpack[WindowOptions],
    ) -> list[BasePredictionSet]: ...  # fmt: skip

    def predict_set(
        self,
        new_observations: Any = None,
        confidence_level: Any = None,
        *,
        horizon: int | None = None,
        lag: int = 0,
        verbose: bool = False,
    ) -> Any:
        """Return the set of state sequences for new observations.

        Parameters
        ----------
        new_observations : (h,) the observations that follow the labelled ones
        confidence_level : float or dict, or a list of several, optional
            A level, or several, instead of the estimator's. Several give a list of sets, all
            from the same p-values.
        horizon : int, optional
            How many steps to forecast where there are no observations. With a fixed model and
            "spaced" blocks or "departures" it may also reach beyond the new observations.
        lag : int, default 0
            Label delay in steps: the first new steps, whose labels are late, get no sets. Needs a
            fixed model and "spaced" blocks or "departures".
        verbose : bool, default False
            Show a progress bar after two seconds, on a terminal or in a notebook.

        Returns
        -------
        `PredictionSet`, or where there are too many candidates to list `LatticeSet`, or `StepSets`
        where the guarantee is about steps

        Notes
        -----
        Whether an observation is missing, None or NaN, may depend only on the state at that step;
        for steps that are not observed *yet* use `horizon`.
        """
        checked_flag(verbose, "verbose")
        level = self.confidence_level if confidence_level is None else confidence_level
        several = several_levels(level)
        levels = list(map(read_levels, [level] if several is None else several))
        sets = self._answers(self._task(new_observations, horizon, lag), levels, verbose)
        return sets[0] if several is None else sets

    def predict(
        self, new_observations: Any = None, *, horizon: int | None = None, lag: int = 0
    ) -> npt.NDArray[Any]:
        """Return the most plausible state sequence, one label a step, without a guarantee.

        With a guarantee about steps, the most probable state of each.

        Parameters
        ----------
        new_observations, horizon, lag : as in `predict_set`

        Examples
        --------
        >>> from definetti.simulate import weather
        >>> cp = ConformalHMM(random_state=0).fit(*weather(300, random_state=0))
        >>> cp.predict(["hat", "hat"])
        array(['sun', 'sun'], dtype='<U3')
        """
        task = self._task(new_observations, horizon, lag)
        if self.guarantee != "all":
            sets = self._step_sets(task, read_levels(0.5))
            return array_of([self.states_[code] for code in sets.marginals.argmax(axis=1)])
        return array_of(self._set(task, None).best or ())

    @overload
    def predict_sets(
        self, windows: Any, confidence_level: ConfidenceLevel | None = None, *, lag: int = 0
    ) -> PredictionSets: ...

    @overload
    def predict_sets(
        self, windows: Any, confidence_level: Sequence[ConfidenceLevel], *, lag: int = 0
    ) -> list[PredictionSets]: ...

    def predict_sets(
        self, windows: Any, confidence_level: Any = None, *, lag: int = 0
    ) -> PredictionSets | list[PredictionSets]:
        """Return the sets for many windows, each of which might follow the labelled history.

        The sets equal those of `predict_set` and are returned as arrays. With a fixed model and
        "spaced" blocks or "departures" all windows are ranked in one pass; else one by one.

        Parameters
        ----------
        windows : (B, h) or (B, h, d) observations, or a list of windows of equal length
        confidence_level : float or dict, or a list of several, optional
            A level instead of the estimator's; several give a list of `PredictionSets`.
        lag : as in `predict_set`

        Examples
        --------
        >>> from definetti.simulate import weather
        >>> cp = ConformalHMM(train_size=0.5, random_state=0).fit(*weather(400, random_state=0))
        >>> low, high = cp.predict_sets([["hat"], ["umbrella"]], [0.6, 0.95])
        >>> low.sizes, high.sizes
        (array([1, 1]), array([1, 2]))
        """
        level = self.confidence_level if confidence_level is None else confidence_level
        several = several_levels(level)
        task, ranked, candidates = self._rank_windows(windows, None, lag)
        sets = []
        for asked in [level] if several is None else several:
            levels = read_levels(asked)
            if levels.named:
                levels.check(task.labels)
            sets.append(sets_of(task, *ranked, candidates, levels, bool(self.allow_empty)))
        return sets[0] if several is None else sets

    def p_values(self, windows: Any, candidates: Any = None, *, lag: int = 0) -> FloatArray:
        """Return the p-values of state sequences for many windows: ``(B, C)``.

        Parameters
        ----------
        windows : as in `predict_sets`
        candidates : (C, h) sequences of known states, optional
            All sequences if left out, in the order of `PredictionSets.candidates`: one step
            ahead a column for each of ``states_``.
        lag : as in `predict_set`

        Examples
        --------
        >>> from definetti.simulate import weather
        >>> cp = ConformalHMM(train_size=0.5, random_state=0).fit(*weather(400, random_state=0))
        >>> cp.p_values([["hat"], ["umbrella"]], [["sun"]]).round(3)
        array([[1.   ],
               [0.082]])
        """
        return p_values_of(*self._rank_windows(windows, candidates, lag)[1])

    def predict_p(
        self,
        new_observations: Any = None,
        *,
        horizon: int | None = None,
        lag: int = 0,
        verbose: bool = False,
    ) -> PredictionSet | LatticeSet:
        """Return every candidate sequence with its p-value.

        Parameters
        ----------
        new_observations, horizon, lag, verbose : as in `predict_set`
        """
        checked_flag(verbose, "verbose")
        return self._set(self._task(new_observations, horizon, lag), None, verbose)

    def predict_ranks(
        self, new_observations: Any = None, *, horizon: int | None = None, lag: int = 0
    ) -> dict[tuple[Hashable, ...], Rank]:
        """Return every candidate with its rank, the whole numbers behind the p-value.

        Parameters
        ----------
        new_observations, horizon, lag : as in `predict_set`
        """
        task = self._task(new_observations, horizon, lag, ranking=True)
        candidates, ranked = all_ranked(task, self.max_candidates)
        labels = map(self._data.alphabet.decode, candidates)
        return dict(zip(labels, ranked.ranks(), strict=True))

    def p_value(
        self, new_observations: Any, states: Any, *, horizon: int | None = None, lag: int = 0
    ) -> float:
        """Return the p-value of one state sequence.

        Parameters
        ----------
        new_observations, horizon, lag : as in `predict_set`
        states : (h,) the sequence, of any labels, unseen ones included; with a `lag`, only the
            states after it
        """
        task, codes = self._ask_about(new_observations, states, horizon, lag)
        ranked = rank(task, codes[None])
        return float(p_values_of(ranked, task.tie_breakers(ranked))[0, 0])

    @overload
    def evaluate(
        self, new_observations: Any, states: Any, confidence_level: ConfidenceLevel | None = None,
        **options: Unpack[WindowOptions],
    ) -> Evaluation: ...  # fmt: skip

    @overload
    def evaluate(
        self, new_observations: Any, states: Any, confidence_level: Sequence[float],
        **options: Unpack[WindowOptions],
    ) -> list[Evaluation]: ...  # fmt: skip

    def evaluate(
        self,
        new_observations: Any,
        states: Any,
        confidence_level: Any = None,
        *,
        horizon: int | None = None,
        lag: int = 0,
        verbose: bool = False,
    ) -> Any:
        """Evaluate prediction sets on true states.

        Parameters
        ----------
        new_observations, states : (L,) the rows that follow the history, and their true states
        confidence_level : float or dict, or a list of numbers, optional
            A level instead of the estimator's, or a level by state; several numbers give a list
            of evaluations, from one pass.
        horizon : int, optional
            Cut the rows into windows of this many steps and predict each from all rows before it;
            one window if left out. Steps left over at the end are not evaluated.
        lag, verbose : as in `predict_set`

        Notes
        -----
        The estimator does not learn from these rows. A true state that is neither seen before nor
        declared counts as not covered.
        """
        checked_flag(verbose, "verbose")
        return self._judge_windows(
            new_observations, states, confidence_level, horizon, lag, verbose
        )

    def score(self, new_observations: Any, states: Any) -> float:
        """Return the share of steps whose most plausible state is right.

        Each step is predicted from its observation and all labels before it.

        Parameters
        ----------
        new_observations, states : (L,) what follows the labelled sequence, and its true states

        Examples
        --------
        >>> from definetti.simulate import weather
        >>> y, x = weather(300, random_state=0)
        >>> cp = ConformalHMM(random_state=0).fit(y[:200], x[:200])
        >>> round(cp.score(y[200:], x[200:]), 2)
        0.93
        """
        self._check_fitted()
        return share_right(self, new_observations, self._check_truth(readable(states, "states")))

    def check(self, **options: Unpack[CheckOptions]) -> Diagnosis:
        """Test the assumption of `memory` on the labelled history.

        Parameters
        ----------
        options :
            n_resamples, tests, smoothing, stop_after, alpha, n_jobs, pictures, horizon and verbose,
            as in `definetti.check.check`.

        Notes
        -----
        Rows that trained a fixed model do not calibrate and are not tested; row numbers include
        them.

        Examples
        --------
        >>> from definetti.simulate import weather
        >>> cp = ConformalHMM(random_state=0).fit(*weather(300, random_state=0))
        >>> cp.check().rejected
        False
        """
        from definetti.check import check

        self._check_fitted()
        self._check_parameters()
        data = self._data
        history = data.history.pool
        return check(
            decode_observations(data, history.observations),
            data.alphabet.decode(history.states.tolist()),
            lengths=data.lengths,
            rows_before=0 if data.training is None else len(data.training.states),
            memory=self.memory_,
            random_state=self._entropy,
            **options,
        )

    @property
    def _ranks_windows(self) -> bool:
        return type(self) is ConformalHMM and self.guarantee == "all"
