"""Verdicts: whether a promised coverage was kept, with exact intervals and tests."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.evaluation.intervals import p_of_hits

if TYPE_CHECKING:
    from definetti.evaluation.results import Evaluation

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
    """Some of the windows judged: which, what they promise, and how likely so few hits are then."""

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
    unseen = np.zeros(len(found.covered), dtype=bool) if found.unseen is None else found.unseen
    judged = np.flatnonzero(~unseen & ~np.isnan(levels))
    hits, promised, empty = found.kept_shares[judged], levels[judged], found.empty_shares
    n, more = found.nodes.shape[1], _count_apart(int(unseen.sum()))
    verdict = partial(
        Verdict, p_value=None, rows=None, state=None, unseen=int(unseen.sum()),
        width=float(found.width), states=n,
    )  # fmt: skip
    if not len(judged):
        words = f"cannot tell: no window has states that had come up before{more}"
        return verdict(None, words, np.nan, None, 0, empty=float(empty.mean()))
    share, level, by_steps = float(hits.mean()), float(promised[0]), found.guarantee == "steps"
    by_state, emptied = isinstance(found.confidence_level, Mapping), float(empty[judged].mean())
    say_emptied = partial(
        say_empty, emptied, 1 - float(promised.mean()), what="steps" if by_steps else "sets"
    )
    parts = [SomeWindows("", np.arange(len(hits)), level, np.inf)]
    if found.calibration_noise is not None:
        allowed = max(level - found.calibration_noise, 0.0)
        parts = [parts[0]._replace(p_value=2 * p_of_hits(hits, allowed))]
    elif found.shared_calibration:
        level = float(promised.mean()) if by_state else level
        words = f"no verdict: {share:.3f} of {_count(len(hits), by_steps)}, promised {level:.3g}; "
        words += f"{SHARED_CALIBRATION.format('all windows')}{say_full(found.width, n)}"
        words += say_emptied(None) + more
        return verdict(None, words, share, level, len(hits), empty=emptied)
    elif by_state:
        parts = _by_state(found, judged, hits, promised)
    else:
        parts = _along(found, judged, hits, level)
    whole, worst = parts[0], min(parts, key=lambda part: part.p_value)
    kept: bool | None = worst.p_value > ERROR_RATE
    told = whole if kept else worst
    share, rows = float(hits[told.windows].mean()), None
    said = f"{share:.3f} of {_count(len(told.windows), by_steps)}, promised {told.promised:.3g}"
    if not kept:
        words = f"short by {told.promised - share:.2g}{worst.where}: {said}"
        rest = np.setdiff1d(whole.windows, worst.windows)
        if len(rest) and not by_state:
            words += f"; elsewhere {hits[rest].mean():.3f} of {len(rest):,}"
        if worst is not whole and worst.state is None:
            rows = span_of(found, judged[worst.windows])
    elif p_of_hits(np.zeros_like(hits), float(promised.max())) > ERROR_RATE / 2:
        kept, words = None, f"cannot tell, so few windows: {said}; more rows would tell"
    elif n > 1 and found.width >= FULL * n:
        words = f"kept, but the sets say nothing: {found.width:.3g} of {n:,} states a step; {said}"
    else:
        words = f"kept{' within chance' * (share < told.promised)}: {said}"
    return verdict(
        kept, words + say_emptied(kept) + more, share, told.promised, len(told.windows),
        p_value=min(worst.p_value, 1.0), rows=rows, state=worst.state if kept is False else None,
        empty=emptied,
    )  # fmt: skip


def _along(found: Evaluation, judged: IntArray, hits: Any, level: float) -> list[SomeWindows]:
    """Return all windows, and those before and after each edge; p-values allow for their number."""
    number = len(hits)
    every = np.arange(number)
    edges = np.unique(np.linspace(0, number, min(PARTS, number) + 1).astype(int))[1:-1].tolist()
    first, unit = judged, "windows"
    if found.begins is not None:
        first, unit = found.begins[judged], "rows"
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


def span_of(found: Evaluation, windows: IntArray) -> tuple[int, int]:
    """Return the first and last row of some windows, or window where they are no rows, from 1."""
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


def _count(number: int, by_steps: bool) -> str:
    return f"{number:,} window{'s' * (number != 1)}{', by steps' * by_steps}"


def _count_apart(number: int) -> str:
    """Say how many windows no set could hold."""
    if not number:
        return ""
    windows = "1 more window has" if number == 1 else f"{number:,} more windows have"
    return (
        f"; {windows} a state that had not come up before, which no set can hold, and "
        f"{'is' if number == 1 else 'are'} counted apart"
    )
