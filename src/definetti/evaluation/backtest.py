"""The backtest: predict windows of a labelled history, each from all rows before it.

The estimator is compared with other methods that use the same predictor, on the same windows,
with the same training rows, calibration rows and filling of empty sets:

- *without observations*: the estimator with the chain of states alone, with the same guarantee.
- *classical*: split conformal prediction of rows as if they were exchangeable.
- *classical with previous state*: the same, with the previous state as a feature.
- *repeat last state*: the last known state alone.

The last three have no guarantee for a Markov chain. `definetti.evaluation.advice` suggests a
simpler method that does as well, or a remedy where coverage was short.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.checks import START, WINDOWS, checked_limit, checked_number, checked_share
from definetti.data.labels import check_pairs, count_rows, piece
from definetti.data.timing import read_rows
from definetti.engine.task import PER_WINDOW, is_long, powered
from definetti.evaluation.advice import (
    CLASSICAL,
    OURS,
    PREVIOUS,
    REPEAT,
    WITHOUT,
    remedy,
    simpler_method,
)
from definetti.evaluation.judged import JudgedLevels, places_of
from definetti.evaluation.results import Evaluation
from definetti.evaluation.window_loop import count_windows, rising_levels, roll_segments
from definetti.levels import ConfidenceLevel, read_levels
from definetti.models.hmm import HMM
from definetti.sets import read_guarantee

if TYPE_CHECKING:
    from definetti.conformal import ConformalHMM


HALF = 0.5  # of the rows train rivals where the estimator has no training rows


def fit_rivals(
    ours: ConformalHMM, observations: Any, states: Sequence[Any], lengths: Sequence[int] | None
) -> tuple[dict[str, Any], list[str]]:
    """Fit classical methods with a fitted predictor; return them by name, and notes."""
    from definetti.emissions.classifier import TrainedClassifier
    from definetti.experiments.classical import Classical, Memoryless, PreviousState

    def classical(model: Any, **more: Any) -> Any:
        rival = Classical(model, states=ours.states, random_state=0, **more)
        rival.fills = not ours.allow_empty
        return rival

    notes, trained = [], ours
    try:
        if not ours.model_.fixed:
            trained = classical(ours.model, train_size=HALF).fit(observations, states, lengths)
        data = trained._data
        training, model = data.training, data.model
        cut = 0 if training is None else len(training.states)
        models = {CLASSICAL: model, PREVIOUS: model}
        try:
            models[CLASSICAL] = Memoryless.of(model, training)
        except TypeError:
            del models[PREVIOUS]
            notes.append(
                f"{PREVIOUS} is left out: the predictor itself says what follows a state, and "
                f"{CLASSICAL} takes it as it is"
            )
        emission = model.emission_
        if PREVIOUS in models and isinstance(emission, TrainedClassifier) and training is not None:
            try:
                table, labels = data.table, tuple(model.states or ())
                models[PREVIOUS] = PreviousState.trained_on(emission, training, table, labels)
            except (TypeError, ValueError) as error:
                del models[PREVIOUS]
                notes.append(f"{PREVIOUS} is left out: {error}")
        seen = piece(observations, cut, len(states))
        after = None if lengths is None else _split_lengths(cut, lengths)[1]
        fitted = {
            name: classical(rival_model).fit(seen, list(states[cut:]), after)
            for name, rival_model in models.items()
        }
    except ValueError as error:
        return {}, [f"{CLASSICAL} prediction is left out: {error}"]
    return fitted, notes


def _split_lengths(begin: int, lengths: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the lengths of segments before row `begin` and after it."""
    ends = np.cumsum(lengths)
    parts = np.minimum(ends, begin), np.maximum(ends - begin, 0)
    before, after = (
        [length for length in np.diff(part, prepend=0).tolist() if length] for part in parts
    )
    return before, after


def repeat_last(
    judged: JudgedLevels, states: Sequence[Any], lag: int, max_errors: int
) -> JudgedLevels:
    """Judge the set of the last known state, repeated, on windows already judged."""
    windows, horizon, n = len(judged.covers), judged.horizon, len(judged.states)
    never = len(judged.levels)
    last = places_of([states[row - lag - 1] for row in judged.begins], judged.states)
    first = np.full((windows * horizon, n), never)
    first[np.arange(windows * horizon), last.repeat(horizon)] = 0
    wrong = (judged.truth.reshape(windows, horizon) != last[:, None]).sum(axis=1)
    return judged._replace(
        first=first,
        covers=np.where(wrong <= max_errors, 0, never),
        p_values=np.full(windows, np.nan),
        sizes=np.ones((windows, never)),
        scaled_sizes=np.full((windows, never), float(n) ** -horizon),
        step_p_values=None,
        filled=np.zeros((windows, never), dtype=np.bool_),
        filled_steps=None,
    )


FEWEST = 1  # rows before the first window


class Backtest(NamedTuple):
    """The results of a backtest.

    Attributes
    ----------
    begin : the number of rows before the first window
    horizon, observed : the steps of a window, and how many were observed when it was predicted
    lag : the label delay in steps: how many first steps of a window are left out
    guarantee : the guarantee of the sets
    methods : the results of each method: "definetti" first, then the other methods with the same
        predictor
    asked : the place of the estimator's own level among all levels
    notes : remarks on the comparison, such as methods left out
    predictor : the copy of the estimator that was fitted and judged
    guaranteed : by method, whether its level is guaranteed for every hidden Markov model
    advice : simpler methods that do as well, or remedies where the promise was not kept
    """

    begin: int
    horizon: int
    observed: int
    lag: int
    guarantee: str
    methods: dict[str, JudgedLevels]
    asked: int
    notes: list[str]
    predictor: ConformalHMM
    guaranteed: dict[str, bool]
    advice: list[str]

    @property
    def windows(self) -> int:
        """The number of windows evaluated."""
        return len(self.methods[OURS].covers)

    def evaluations(self, level: ConfidenceLevel | None = None) -> dict[str, Evaluation]:
        """Return the evaluation of each method at a level; the predictor's own if left out."""
        place, levels = self.asked, self.methods[OURS].levels
        if level is not None:
            written = read_levels(level).written
            if written not in levels:
                raise ValueError(
                    f"level {level!r} was not judged, only {', '.join(map(str, levels))}; give it "
                    "to run_backtest(levels=[…])"
                )
            place = levels.index(written)
        return {name: judged.evaluation(place) for name, judged in self.methods.items()}


def find_begin(length: int, horizon: int, start: float = START) -> int | None:
    """Return the number of rows before the first window; None if no window fits."""
    begin = max(int(start * length), FEWEST)
    return begin if begin + horizon <= length else None


def spread_windows(number: int, most: int) -> IntArray:
    """Return the places of at most `most` windows, spread evenly from first to last."""
    if most == 1:
        return np.array([number - 1])
    return np.unique(np.linspace(0, number - 1, min(number, most)).astype(np.int64))


class Plan(NamedTuple):
    """Which windows a backtest predicts.

    `begin` rows precede the first window; `ahead` has the lengths of later segments, with room for
    `number` windows. Windows at `places` are judged; with `every`, all that one pass can rank.
    """

    begin: int
    ahead: list[int]
    number: int
    places: IntArray
    every: bool


def plan_windows(
    lengths: Sequence[int], horizon: int, start: float, windows: int | None
) -> Plan | None:
    """Choose windows in segments of given lengths; None if no window fits."""
    begin = find_begin(sum(lengths), horizon, start)
    ahead = [] if begin is None else segments_after(begin, lengths)
    number = count_windows(ahead, horizon)
    if begin is None or not number:
        return None
    return Plan(begin, ahead, number, spread_windows(number, windows or WINDOWS), windows is None)


def check_plan(horizon: int, start: float, windows: int | None, lag: int) -> None:
    """Raise for arguments by which no windows can be chosen."""
    checked_number(horizon, "horizon")
    checked_share(start, "start")
    checked_limit(lag, "lag")
    if windows is not None:
        checked_number(windows, "windows")


def run_backtest(
    predictor: ConformalHMM,
    observations: Any,
    states: Sequence[Any],
    horizon: int = 1,
    *,
    lag: int = 0,
    observed: int | None = None,
    levels: Sequence[ConfidenceLevel] | None = None,
    start: float = START,
    windows: int | None = None,
    lengths: Sequence[int] | None = None,
    verbose: bool = False,
) -> Backtest:
    """Predict windows of a labelled history, each from all rows before it, and evaluate.

    Parameters
    ----------
    predictor : ConformalHMM
        The settings; a copy is fitted, and other methods with the same predictor.
    observations, states : the labelled rows
    horizon : int, default 1
        The steps of a window.
    lag : int, default 0
        The label delay: how many first steps of a window are left out.
    observed : int, optional
        How many steps are observed when a window is predicted; all if left out.
    levels : list of float, optional
        Levels to evaluate besides the predictor's own; results are in rising order of level. A
        dict of levels by state is evaluated alone.
    start : float, default 0.5
        The share of the rows before the first window.
    windows : int, optional
        The most windows, spread evenly over the rows after that share. If left out, all windows
        if they can be predicted in one pass, else 500.
    lengths : list of int, optional
        The lengths of segments with gaps between them, which no window crosses.
    verbose : bool, default False
        Show a progress bar when it takes more than two seconds, on a terminal or in a notebook.

    Notes
    -----
    States that occur later are unknown before, unless the predictor declares them or has levels
    that name them.

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> y, x = weather(240, random_state=0)
    >>> found = run_backtest(ConformalHMM(random_state=0), y, x)
    >>> found.begin, found.windows
    (120, 120)
    >>> print(found.evaluations()["definetti"].verdict)
    kept: 0.933 of 120 windows, promised 0.9
    """
    check_plan(horizon, start, windows, lag)
    if observed is not None:
        checked_limit(observed, "observed")
    rows = read_rows(observations, states, lengths)
    observations, states, segments = rows.observations, rows.labels, rows.lengths.tolist()
    if observations is not None:
        check_pairs(count_rows(observations, "observations"), len(states))
    plan = plan_windows(segments, horizon, start, windows)
    if plan is None:
        raise ValueError(
            f"{len(states):,} labelled rows are too few for a window of {horizon:,} after a share "
            f"of {start:g}; give more rows, or lower start or horizon"
        )
    guarantee, max_errors = read_guarantee(predictor.guarantee)
    if guarantee == "errors" and horizon <= max_errors:
        raise ValueError(
            f"max_errors={max_errors} promises nothing of windows of {horizon:,}; lower "
            "it, or raise horizon"
        )
    begin, ahead, number, places, every = plan
    ours = copy.deepcopy(predictor)
    # Compare levels as decimals, so that single precision makes no other level.
    level = read_levels(predictor.confidence_level).written
    several = [] if levels is None else list(levels)
    given = [read_levels(other).written for other in several if other != level]
    levels = rising_levels([level, *given]) if given else [level]
    asked, notes = levels.index(level), [rows.note] if rows.note else []
    late = set(level) - {None, *states[:begin]} if isinstance(level, dict) else set()
    if ours.states is None and late:
        ours.states = list(dict.fromkeys([*states, *late]))
        notes.append(
            "all states are known from the first window on: a level names one that is late"
        )
    n_states = len({*states, *(ours.states or ())})
    known = horizon if observed is None else min(observed, horizon)
    past, rest = piece(observations, 0, begin), piece(observations, begin, len(states))
    before = None if len(segments) == 1 else _split_lengths(begin, segments)[0]
    by_method: dict[str, JudgedLevels] = {}

    def judge(way: Any, seen: Any) -> JudgedLevels:
        judged = roll_segments(
            way, seen, states[begin:], ahead, horizon, places, every, levels=levels, lag=lag,
            observed=known, asked=asked, verbose=verbose,
            by_p_values=len(levels) > 1 and guarantee == "all",
        )  # fmt: skip
        return judged._replace(begins=judged.begins + begin)

    by_method[OURS] = judge(ours.fit(past, states[:begin], before), rest)
    every = (
        every and len(by_method[OURS].covers) == number
    )  # methods are compared on the same windows
    if observations is not None:
        plain = copy.deepcopy(ours).set_params(model=HMM(), states=ours.states)
        try:
            by_method[WITHOUT] = judge(plain.fit(None, states[:begin], before), None)
        except ValueError as error:
            notes.append(f"{WITHOUT} there is no prediction: {error}")
    rivals: dict[str, Any] = {}
    if guarantee == "all" and not lag:  # the guarantee that classical prediction aims at
        if isinstance(level, dict):
            notes.append(f"{CLASSICAL} prediction is left out: it has one level for all states")
        elif is_long(n_states, horizon, PER_WINDOW):
            notes.append(
                f"{CLASSICAL} prediction is left out: it lists {powered(n_states, horizon)} "
                f"sequences for each window of {horizon:,}; shorten the horizon to see it"
            )
        else:
            rivals, more = fit_rivals(ours, past, states[:begin], before)
            notes += more
    for name, way in rivals.items():
        way.confidence_level = level
        try:
            by_method[name] = judge(way, rest)
        except ValueError as error:
            notes.append(f"{name} prediction is left out: {error}")
            continue
        if len(by_method[name].covers) < len(by_method[OURS].covers):
            notes.append(
                f"{name} prediction is judged by {len(by_method[name].covers)} of the windows"
            )
    by_method[REPEAT] = repeat_last(by_method[OURS], states, lag, max_errors)
    exact = bool(ours.symmetry_.exact)
    guaranteed = {name: exact and name in (OURS, WITHOUT) for name in by_method}
    every_method = {name: judged.evaluation(asked) for name, judged in by_method.items()}
    verdict, advice = every_method[OURS].verdict, []

    def judge_other(other: ConformalHMM, observing: bool = True) -> JudgedLevels:
        seen, ahead = (past, rest) if observing else (None, None)
        return judge(other.fit(seen, states[:begin], before), ahead)

    if verdict is not None and verdict.kept is False and not isinstance(level, dict):
        advice = remedy(predictor, by_method, asked, observations is not None, judge_other)
    elif verdict is not None:
        advice = simpler_method(predictor, every_method, asked, judge_other)
    return Backtest(
        begin, horizon, known, lag, guarantee, by_method, asked, notes, ours, guaranteed, advice
    )


def segments_after(begin: int, lengths: Sequence[int]) -> list[int]:
    """Return the lengths of segments after row `begin`; the first, maybe empty, continues."""
    segments = _split_lengths(begin, lengths)[1]
    return [0, *segments] if begin in np.cumsum(lengths) and begin < sum(lengths) else segments
