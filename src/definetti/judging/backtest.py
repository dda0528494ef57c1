"""The backtest: windows of a labelled history predicted, each from all rows before it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from definetti._system.arrays import IntArray
from definetti.data.candidates import PER_WINDOW, is_long, powered
from definetti.data.labels import piece
from definetti.judging import START, WINDOWS
from definetti.judging.rolling import JudgedLevels, count_windows, roll_stretches
from definetti.levels import ConfidenceLevel, read_levels
from definetti.sets import Evaluation

if TYPE_CHECKING:
    from definetti.conformal import ConformalHMM

OURS, THEIRS = "definetti", "classical"
FEWEST = 1  # rows before the first window


class Backtest(NamedTuple):
    """What came of a backtest.

    Attributes
    ----------
    begin : how many rows there are before the first window
    horizon, observed : the steps of a window, and how many of them were observed when predicted
    lag : how many of its first steps were not asked about
    guarantee : what was promised
    methods : how each method fared, "definetti" and, where it can be had, "classical"
    asked : the place of the estimator's own level among all levels
    notes : what is to be said of it
    predictor : the copy of the estimator that was fitted and judged
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

    @property
    def windows(self) -> int:
        """The number of windows."""
        return len(self.methods[OURS].covers)

    def evaluations(self, level: ConfidenceLevel | None = None) -> dict[str, Evaluation]:
        """Return how the sets of each method fared at one of the levels: the predictor's own."""
        place = self.asked
        if level is not None and len(self.methods[OURS].levels) > 1:
            place = self.methods[OURS].levels.index(level)
        return {name: one.evaluation(place) for name, one in self.methods.items()}


def find_begin(length: int, horizon: int, start: float = START) -> int | None:
    """Return how many rows come before the first window; None where there is room for none.

    >>> find_begin(100, 3), find_begin(100, 3, start=0.2), find_begin(100, 60)
    (50, 20, None)
    """
    begin = max(int(start * length), FEWEST)
    return begin if begin + horizon <= length else None


def spread_windows(number: int, most: int) -> IntArray:
    """Return the places of windows, at most so many, spread evenly from the first to the last.

    >>> spread_windows(5, 3), spread_windows(2, 3), spread_windows(5, 1)
    (array([0, 2, 4]), array([0, 1]), array([4]))
    """
    if most == 1:
        return np.array([number - 1])
    return np.unique(np.linspace(0, number - 1, min(number, most)).astype(np.int64))


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
) -> Backtest:
    """Predict windows of a labelled history, each from all rows before it, and judge.

    Parameters
    ----------
    predictor : ConformalHMM
        Its settings; a copy of it is fitted, and classical prediction beside it.
    observations, states : the labelled rows
    horizon : int, default 1
        The steps of a window.
    lag : int, default 0
        How many of its first steps not to ask about.
    observed : int, optional
        How many of them are observed when a window is predicted; all if left out.
    levels : list of float, optional
        Several levels in rising order, the predictor's own among them; that alone if left out, and
        where it is a dict of levels by state.
    start : float, default 0.5
        The share of the rows before the first window.
    windows : int, optional
        The most windows, spread evenly over the rows after that share. If left out, all there are
        where they can be predicted in one pass, and else 500.
    lengths : list of int, optional
        The lengths of stretches of the rows, where there are gaps between them; no window crosses
        one.

    Notes
    -----
    No window is told of states that come up later, unless the predictor declares them, or has
    levels that name them.

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
    begin = find_begin(len(states), horizon, start)
    stretches = [len(states)] if lengths is None else list(lengths)
    ahead = [] if begin is None else stretches_after(begin, stretches)
    number = count_windows(ahead, horizon)
    if begin is None or not number:
        raise ValueError(
            f"{len(states):,} labelled rows are too few for a window of {horizon:,} after a share "
            f"of {start:g}; give more rows, or lower start or horizon"
        )
    if predictor.guarantee == "errors" and horizon <= predictor.max_errors:
        raise ValueError(
            f"max_errors={predictor.max_errors} promises nothing of windows of {horizon:,}; lower "
            "it, or raise horizon"
        )
    ours = copy.deepcopy(predictor)
    # The decimal that was written: a level in single precision is no other level.
    level = read_levels(predictor.confidence_level).written
    levels = [level] if levels is None else list(levels)
    asked, notes = levels.index(level), []
    late = set(level) - {None, *states[:begin]} if isinstance(level, dict) else set()
    if ours.states is None and late:
        ours.states = list(dict.fromkeys([*states, *late]))
        notes.append(
            "all states are known from the first window on: a level names one that is late"
        )
    n_states = len({*states, *(ours.states or ())})
    ways: dict[str, Any] = {OURS: ours}
    if (
        predictor.guarantee == "all" and not lag
    ):  # what the classical way promises, or would like to
        if isinstance(level, dict):
            notes.append(f"{THEIRS} prediction is left out: it has one level for all states")
        elif is_long(n_states, horizon, PER_WINDOW):
            notes.append(
                f"{THEIRS} prediction is left out: it lists {powered(n_states, horizon)} "
                f"sequences for each window of {horizon:,}; shorten the horizon to see it"
            )
        else:
            ways[THEIRS] = _classical(ours, level)
    known = horizon if observed is None else min(observed, horizon)
    past, rest = _split(observations, begin, len(states))
    before = None if lengths is None else _stretches_before(begin, stretches)
    places, every, found = spread_windows(number, windows or WINDOWS), windows is None, {}
    for name, way in ways.items():
        try:
            way.fit(past, states[:begin], before)
            judged = roll_stretches(
                way, rest, states[begin:], ahead, horizon, places, every, levels=levels,
                lag=lag, observed=known, asked=asked, verbose=bool(predictor.verbose),
                by_p_values=len(levels) > 1 and predictor.guarantee == "all",
                filling=name == OURS and not ours.allow_empty,
            )  # fmt: skip
            found[name] = judged._replace(begins=judged.begins + begin)
            every = every and len(judged.covers) == number  # all are judged by the same windows
        except ValueError as error:
            if name == OURS:
                raise
            notes.append(f"{name} prediction is left out: {error}")
    if THEIRS in found and len(found[THEIRS].covers) < len(found[OURS].covers):
        notes.append(f"{THEIRS} prediction is judged by {len(found[THEIRS].covers)} of the windows")
    return Backtest(begin, horizon, known, lag, predictor.guarantee, found, asked, notes, ours)


def _stretches_before(begin: int, lengths: Sequence[int]) -> list[int]:
    """Return the lengths of stretches, or of their parts, in the first rows.

    >>> _stretches_before(5, [3, 4, 2]), stretches_after(5, [3, 4, 2])
    ([3, 2], [2, 2])
    """
    ends = np.minimum(np.cumsum(lengths), begin)
    return [one for one in np.diff(ends, prepend=0).tolist() if one]


def stretches_after(begin: int, lengths: Sequence[int]) -> list[int]:
    """Return the lengths of stretches after the first rows, the first going on with what was.

    Where a stretch ends with the first rows, that is one of no rows.
    """
    ends = np.maximum(np.cumsum(lengths) - begin, 0)
    found = [one for one in np.diff(ends, prepend=0).tolist() if one]
    return [0, *found] if begin in np.cumsum(lengths) and begin < sum(lengths) else found


def _classical(ours: ConformalHMM, level: float) -> Any:
    """Return conformal prediction that ignores time, at the same level for the same states."""
    from definetti.baselines import Classical

    return Classical(confidence_level=level, states=ours.states, random_state=0)


def _split(observations: Any, begin: int, end: int) -> tuple[Any, Any]:
    if observations is None:
        return None, None
    return piece(observations, 0, begin), piece(observations, begin, end)
