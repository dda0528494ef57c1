"""The backtest: windows of a labelled history predicted, each from all rows before it."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from definetti.data.candidates import PER_WINDOW, is_long, powered
from definetti.data.labels import piece
from definetti.judging import START, WINDOWS
from definetti.judging.rolling import JudgedLevels, roll_levels
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


def find_begin(
    length: int, horizon: int, start: float = START, windows: int = WINDOWS
) -> int | None:
    """Return how many rows come before the first window; None where there is room for none.

    Windows are as long as was asked for, and as many as fit, the last ones where they are more
    than `windows`.

    >>> find_begin(100, 3), find_begin(100, 3, windows=10), find_begin(100, 60)
    (50, 70, None)
    """
    begin = max(int(start * length), length - windows * horizon, FEWEST)
    return begin if begin + horizon <= length else None


def run_backtest(
    predictor: ConformalHMM,
    observations: Any,
    states: Sequence[Any],
    horizon: int = 1,
    *,
    lag: int = 0,
    observed: int | None = None,
    levels: Sequence[ConfidenceLevel] | None = None,
    labels: Iterable[Hashable] | None = None,
    start: float = START,
    windows: int = WINDOWS,
) -> Backtest:
    """Predict the last windows of a labelled history, each from all rows before it, and judge.

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
    labels : list of labels, optional
        The state space; what the predictor declares and the rows have if left out. It is known from
        the first window on, so that a state that comes up late can be predicted.
    start : float, default 0.5
        The share of the rows before the first window.
    windows : int, default 500
        The most windows, the last ones.

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> y, x = weather(120, random_state=0)
    >>> found = run_backtest(ConformalHMM(random_state=0), y, x, horizon=2, windows=20)
    >>> found.begin, found.windows
    (80, 20)
    >>> {name: one.coverage for name, one in found.evaluations().items()}
    {'definetti': 0.85, 'classical': 0.85}
    """
    begin = find_begin(len(states), horizon, start, windows)
    if begin is None:
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
    if labels is None:
        labels = [*([] if ours.states is None else ours.states), *states]
    ours.states = list(dict.fromkeys(labels))
    ways: dict[str, Any] = {OURS: ours}
    # The decimal that was written: a level in single precision is no other level.
    level = read_levels(predictor.confidence_level).written
    levels = [level] if levels is None else list(levels)
    asked, notes = levels.index(level), []
    if (
        predictor.guarantee == "all" and not lag
    ):  # what the classical way promises, or would like to
        if isinstance(level, dict):
            notes.append(f"{THEIRS} prediction is left out: it has one level for all states")
        elif is_long(len(ours.states), horizon, PER_WINDOW):
            notes.append(
                f"{THEIRS} prediction is left out: it lists {powered(len(ours.states), horizon)} "
                f"sequences for each window of {horizon:,}; shorten the horizon to see it"
            )
        else:
            ways[THEIRS] = _classical(ours, level)
    known = horizon if observed is None else min(observed, horizon)
    past, rest = _split(observations, begin, len(states))
    found = {}
    for name, way in ways.items():
        try:
            found[name] = roll_levels(
                way.fit(past, states[:begin]), rest, states[begin:], levels, horizon,
                lag=lag, observed=known, asked=asked, verbose=bool(predictor.verbose),
                by_p_values=len(levels) > 1 and predictor.guarantee == "all",
                filling=name == OURS and not ours.allow_empty,
            )  # fmt: skip
        except ValueError as error:
            if name == OURS:
                raise
            notes.append(f"{name} prediction is left out: {error}")
    return Backtest(begin, horizon, known, lag, predictor.guarantee, found, asked, notes, ours)


def _classical(ours: ConformalHMM, level: float) -> Any:
    """Return conformal prediction that ignores time, at the same level for the same states."""
    from definetti.baselines import Classical

    return Classical(confidence_level=level, states=ours.states, random_state=0)


def _split(observations: Any, begin: int, end: int) -> tuple[Any, Any]:
    if observations is None:
        return None, None
    return piece(observations, 0, begin), piece(observations, begin, end)
