"""Verdicts: whether a promised coverage was kept, with exact intervals and tests."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from definetti.evaluation.results import Evaluation


TAIL = 0.025  # the p-value that bets aim at
PRIOR = 0.25  # the variance that is assumed before the first variable
TRUNCATION = 0.75  # of the largest bet that cannot lose everything
HALVINGS = 30  # of an interval that holds a bound


def _bets(values: FloatArray, tail: float) -> FloatArray:
    """Return a bet for each variable, from those before it."""
    counts = np.arange(2, len(values) + 2)
    means = (0.5 + values.cumsum()) / counts
    variances = (PRIOR + ((values - means) ** 2).cumsum()) / counts
    before = np.append(PRIOR, variances[:-1])
    return np.asarray(np.sqrt(-2 * log(tail) / (before * len(values))))


def _log_capital(values: FloatArray, bets: FloatArray, mean: float) -> float:
    """Return the log capital of bets against a mean; it falls as the mean rises."""
    return float(np.log1p(np.minimum(bets, TRUNCATION / mean) * (values - mean)).sum())


def p_value_of_mean(values: npt.ArrayLike, mean: float, tail: float = TAIL) -> float:
    """Return a p-value of the hypothesis that variables in [0, 1] have means of at least `mean`.

    They come in the order in which they were observed; the test has most power at a p-value `tail`.

    >>> values = np.tile([1.0, 0.8], 50)
    >>> p_value_of_mean(values, 0.95) < 0.001, p_value_of_mean(values, 0.9)
    (True, 1.0)
    """
    misses = 1.0 - np.asarray(values, dtype=np.float64)
    if misses.mean() <= 1.0 - mean:
        return 1.0
    if mean >= 1:
        return 0.0
    capital = _log_capital(misses, _bets(misses, tail), 1.0 - mean)
    return float(np.exp(-max(capital, 0.0)))


def mean_interval(values: npt.ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """Return a confidence interval for the mean of variables in [0, 1], in the order observed.

    >>> low, high = mean_interval(np.tile([1.0, 0.8], 50))
    >>> round(low, 3), round(high, 3)
    (0.853, 0.928)
    """
    hits, tail = np.asarray(values, dtype=np.float64), (1 - confidence) / 2
    return lower_bound(hits, tail), 1.0 - lower_bound(1.0 - hits, tail)


def lower_bound(values: FloatArray, tail: float = TAIL) -> float:
    """Return a bound below the mean of variables, but for a probability of at most `tail`."""
    bets, low, high = _bets(values, tail), 0.0, float(values.mean())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle > 0 and _log_capital(values, bets, middle) >= -log(tail):
            low = middle
        else:
            high = middle
    return low


ERROR_RATE = 0.05  # of the whole verdict, half of it for all windows and half for parts of them
PARTS = 20  # of the windows, at whose edges a shortfall may begin or end
FULL = 0.95  # of the states, from which on a set says nothing
SHARED_CALIBRATION = (
    "{} are compared with the same calibration windows, so their errors are not independent and a "
    "single table cannot show whether the promise was kept: it holds on average over many tables"
)


class Verdict(NamedTuple):
    """Whether sets held the truth as often as was promised, before empty ones were filled.

    A binomial test of all windows, and of what comes before and after each twentieth of them, the
    latter corrected for their number; with levels by state, of each state's windows. Of shares of
    steps, a test of the mean of bounded variables by betting (Waudby-Smith & Ramdas 2024). If every
    window is covered with the probability promised, independently of the others, "short" has a
    probability of at most 0.05. Windows are independent with ``symmetry="full"``, a refitted model
    and windows that do not overlap; otherwise nearly so.

    Where all windows are compared with the same calibration windows, no verdict is given, unless
    it is known how far the coverage may fall with them. An empty set misses whatever the truth is:
    more empty sets than may miss are a failure of calibration by themselves.

    Attributes
    ----------
    kept : whether the promise was kept, as far as can be told; None where windows are too few, or
        all share their calibration windows
    words : the same in words
    coverage, promised, windows : the share that was covered, of steps where these are promised, the
        level, and the number of windows; in the part named
    p_value : of the promise: short if it is at most 0.05; None where there is no verdict
    rows : the first and last row of the part that is short, counted from 1; None if it is no part
    state : the label whose windows are short, where states have levels of their own
    unseen : windows with a state that had not come up before, which are counted apart
    width, states : how many states were possible at a step, on average, and of how many
    empty : the share of sets, or of steps where these are promised, that were empty before filling

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> y, x = weather(600, random_state=0)
    >>> cp = ConformalHMM(random_state=0).fit(y[:200], x[:200])
    >>> print(cp.evaluate(y[200:], x[200:], horizon=1).verdict)
    kept: 0.950 of 400 windows, promised 0.9
    """

    kept: bool | None
    words: str
    coverage: float
    promised: float | None
    windows: int
    p_value: float | None
    rows: tuple[int, int] | None
    state: Hashable | None
    unseen: int
    width: float
    states: int
    empty: float = 0.0

    def __str__(self) -> str:
        return self.words

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, for JSON, which has no number for what is unknown."""
        return {**self._asdict(), "coverage": None if np.isnan(self.coverage) else self.coverage}


class SomeWindows(NamedTuple):
    """Some of the windows: which, what they promise, and how likely so few hits are at that."""

    where: str
    windows: IntArray
    promised: float
    p_value: float
    state: Hashable | None = None


def judge_promise(found: Evaluation) -> Verdict | None:
    """Judge an evaluation; None where it has no record of its level or its states."""
    levels = found.levels
    if levels is None or found.nodes is None:
        return None
    apart = np.zeros(len(found.covered), dtype=bool) if found.unseen is None else found.unseen
    judged = np.flatnonzero(~apart & ~np.isnan(levels))
    hits = found.kept_shares[judged]
    about = {
        "unseen": int(apart.sum()), "width": float(found.width), "states": found.nodes.shape[1],
        "empty": float(found.empty_shares.mean()),
    }  # fmt: skip
    more = _count_apart(int(apart.sum()))
    if not len(judged):
        words = f"cannot tell: no window has states that had come up before{more}"
        return Verdict(None, words, np.nan, None, 0, None, None, None, **about)
    promised, empty = levels[judged], float(found.empty_shares[judged].mean())
    about["empty"], what = empty, "steps" if found.guarantee == "steps" else "sets"
    by_state = isinstance(found.confidence_level, Mapping)
    whole, *parts = (
        _by_state(found, judged, hits, promised)
        if by_state
        else _along(found, hits, float(promised[0]))
    )
    if found.calibration_noise is not None:
        every, level = np.arange(len(hits)), float(promised[0])
        allowed = max(level - found.calibration_noise, 0.0)
        whole, parts = SomeWindows("", every, level, 2 * p_of_hits(hits, allowed)), []
    elif found.shared_calibration:
        share, level = float(hits.mean()), whole.promised
        words = f"no verdict: {share:.3f} of {len(hits):,} {_unit(found, whole)}"
        words += f", promised {level:.3g}; {SHARED_CALIBRATION.format('all windows')}"
        words += say_full(found.width, found.nodes.shape[1])
        words += say_empty(empty, 1 - float(promised.mean()), None, what)
        return Verdict(
            None, words + more, share, level, len(hits), None, None, None, **about
        )  # fmt: skip
    worst = min([whole, *parts], key=lambda part: part.p_value)
    kept: bool | None = worst.p_value > ERROR_RATE
    about_worst = whole if kept else worst
    share = float(hits[about_worst.windows].mean())
    of = f"{share:.3f} of {len(about_worst.windows):,} {_unit(found, about_worst)}"
    said = f"{of}, promised {about_worst.promised:.3g}"
    rows = None
    if not kept:
        words = f"short by {about_worst.promised - share:.2g}{worst.where}: {said}"
        rest = np.setdiff1d(whole.windows, worst.windows)
        if len(rest) and not by_state:
            words += f"; elsewhere {hits[rest].mean():.3f} of {len(rest):,}"
        if worst is not whole and worst.state is None:
            rows = _rows(found, judged[worst.windows])
    elif p_of_hits(np.zeros_like(hits), float(promised.max())) > ERROR_RATE / 2:
        kept, words = None, f"cannot tell, so few windows: {said}; more rows would tell"
    elif found.nodes.shape[1] > 1 and found.width >= FULL * found.nodes.shape[1]:
        width = f"{found.width:.3g} of {found.nodes.shape[1]:,} states a step"
        words = f"kept, but the sets say nothing: {width}; {said}"
    else:
        words = f"kept{' within chance' * (share < about_worst.promised)}: {said}"
    words += say_empty(empty, 1 - float(promised.mean()), kept, what)
    return Verdict(
        kept, words + more, share, about_worst.promised, len(about_worst.windows),
        min(worst.p_value, 1.0), rows, worst.state if kept is False else None, **about,
    )  # fmt: skip


def _along(found: Evaluation, hits: Any, level: float) -> list[SomeWindows]:
    """Return all windows, and those before and after each edge; p-values allow for their number."""
    number = len(hits)
    every = np.arange(number)
    edges = np.unique(np.linspace(0, number, min(PARTS, number) + 1).astype(int))[1:-1].tolist()
    apart = np.zeros(len(found.covered), dtype=bool) if found.unseen is None else found.unseen
    first = (every if found.begins is None else found.begins)[np.flatnonzero(~apart)]
    unit = "windows" if found.begins is None else "rows"
    found_parts = [SomeWindows("", every, level, 2 * p_of_hits(hits, level))]
    for edge in edges:
        at = f"about {int(first[edge]):,}"
        for where, windows in [
            (f" in {unit} up to {at}", every[:edge]),
            (f" in {unit} after {at}", every[edge:]),
        ]:
            p_value = p_of_hits(hits[windows], level)
            found_parts.append(SomeWindows(where, windows, level, 2 * 2 * len(edges) * p_value))
    return found_parts


def _by_state(
    found: Evaluation, judged: IntArray, hits: Any, promised: FloatArray
) -> list[SomeWindows]:
    """Return all windows, which promise an average, and those of each state with its own level."""
    given = found.given[judged]
    codes = np.unique(given).tolist()
    parts = [SomeWindows("", np.arange(len(hits)), float(promised.mean()), np.inf)]
    for code in codes:
        windows = np.flatnonzero(given == code)
        level = float(promised[windows[0]])
        p_value = p_of_hits(hits[windows], level)
        where = f" for the state {found.states[code]}"
        parts.append(SomeWindows(where, windows, level, len(codes) * p_value, found.states[code]))
    return parts


def p_of_hits(hits: npt.NDArray[Any], level: float) -> float:
    """Return a p-value of the hypothesis that windows are covered as promised on average.

    A binomial test of whether each was covered; of shares of steps, that of `p_value_of_mean`.
    """
    if hits.dtype == np.bool_:
        from scipy.special import bdtr

        return float(bdtr(int(hits.sum()), len(hits), level))
    return p_value_of_mean(hits, level)


def _rows(found: Evaluation, windows: IntArray) -> tuple[int, int]:
    """Return the first and the last row of some windows, counted from 1."""
    if found.begins is None:
        return int(windows[0]) + 1, int(windows[-1]) + 1
    steps = len(found.truth) // len(found.covered)
    return int(found.begins[windows[0]]) + 1, int(found.begins[windows[-1]]) + steps


def say_empty(empty: float, most: float, kept: bool | None, what: str = "sets") -> str:
    """Report the share of sets that were empty before filling, and whether it is too large."""
    if not empty:
        return ""
    said = f"{empty:.3f} of the {what} were empty before filling"
    if empty <= most + 1e-12:
        return f"; {said}"
    if kept is False:
        return f"; not calibrated: {said}, and at most {most:.3g} may be"
    return f"; {said}, more than {most:.3g}, which may be chance"


def say_full(width: float, states: float) -> str:
    """Report that sets hold nearly all states, where they do."""
    if states > 1 and width >= FULL * states:
        return f"; the sets say nothing: {width:.3g} of {states:,.3g} states a step"
    return ""


def _unit(found: Evaluation, part: SomeWindows) -> str:
    word = "window" if len(part.windows) == 1 else "windows"
    return f"{word}, by steps" if found.guarantee == "steps" else word


def _count_apart(number: int) -> str:
    """Say how many windows no set could hold."""
    if not number:
        return ""
    windows = "1 more window has" if number == 1 else f"{number:,} more windows have"
    return (
        f"; {windows} a state that had not come up before, which no set can hold, and "
        f"{'is' if number == 1 else 'are'} counted apart"
    )
