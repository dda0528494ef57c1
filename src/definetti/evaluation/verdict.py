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

ERROR_RATE = 0.05  # probability of a false "short": half for all windows, half for parts of them
PARTS = 20  # parts of the windows, at whose edges a shortfall may begin or end
FULL = 0.95  # share of the states from which on a set is uninformative
SHARED_CALIBRATION = (
    "{} are compared with the same calibration windows, so their errors are not independent and a "
    "single table cannot show whether the promise was kept: it holds on average over many tables"
)


class Verdict(NamedTuple):
    """Whether coverage, before empty sets were filled, reached the level.

    Binomial tests are made of all windows, and of the windows before and after each twentieth of
    them, corrected for their number; with levels by state, of each state's windows. Shares of steps
    are tested as means of bounded variables by betting (Waudby-Smith & Ramdas 2024). If every
    window is covered with the promised probability, independently of the others, "short" has a
    probability of at most 0.05. Windows are independent with ``symmetry="full"``, a refitted model
    and windows that do not overlap; otherwise nearly so.

    If all windows are compared with the same calibration windows, there is no verdict, unless the
    calibration noise is known. An empty set always misses, so more empty sets than allowed misses
    are a failure of calibration.

    Attributes
    ----------
    kept : whether coverage reached the level, as far as tests show; None if windows are too few, or
        all share their calibration windows
    words : the verdict in words
    coverage, promised, windows : the share covered (of steps with guarantee "steps"), the level,
        and the number of windows; in the reported part
    p_value : the p-value of the level: short if it is at most 0.05; None without a verdict
    rows : the first and last row of a part that is short, counted from 1; None if it is no part
    state : the label whose windows are short, if states have levels of their own
    unseen : the number of windows with a state not seen before, which are counted apart
    width, states : the mean number of states possible at a step, and the number of states
    empty : the share of sets (of steps with guarantee "steps") that were empty before filling

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
        """Return the fields as plain values for JSON, with None for NaN."""
        return {**self._asdict(), "coverage": None if np.isnan(self.coverage) else self.coverage}


class SomeWindows(NamedTuple):
    """Some of the judged windows, their level, and the p-value of their hits."""

    where: str
    windows: IntArray
    promised: float
    p_value: float
    state: Hashable | None = None


def judge_promise(evaluation: Evaluation) -> Verdict | None:
    """Return the verdict on an evaluation; None if its level or states are not recorded."""
    levels = evaluation.levels
    if levels is None or evaluation.nodes is None:
        return None
    unseen = (
        np.zeros(len(evaluation.covered), dtype=bool)
        if evaluation.unseen is None
        else evaluation.unseen
    )
    judged = np.flatnonzero(~unseen & ~np.isnan(levels))
    hits, promised, empty = evaluation.kept_shares[judged], levels[judged], evaluation.empty_shares
    n, more = evaluation.nodes.shape[1], _count_apart(int(unseen.sum()))
    verdict = partial(
        Verdict, p_value=None, rows=None, state=None, unseen=int(unseen.sum()),
        width=float(evaluation.width), states=n,
    )  # fmt: skip
    if not len(judged):
        words = f"cannot tell: no window has states that had come up before{more}"
        return verdict(None, words, np.nan, None, 0, empty=float(empty.mean()))
    share, level, by_steps = float(hits.mean()), float(promised[0]), evaluation.guarantee == "steps"
    by_state = isinstance(evaluation.confidence_level, Mapping)
    emptied = float(empty[judged].mean())
    say_emptied = partial(
        say_empty, emptied, 1 - float(promised.mean()), what="steps" if by_steps else "sets"
    )
    parts = [SomeWindows("", np.arange(len(hits)), level, np.inf)]
    if evaluation.calibration_noise is not None:
        allowed = max(level - evaluation.calibration_noise, 0.0)
        parts = [parts[0]._replace(p_value=2 * p_of_hits(hits, allowed))]
    elif evaluation.shared_calibration:
        level = float(promised.mean()) if by_state else level
        words = f"no verdict: {share:.3f} of {_count(len(hits), by_steps)}, promised {level:.3g}; "
        words += f"{SHARED_CALIBRATION.format('all windows')}{say_full(evaluation.width, n)}"
        words += say_emptied(None) + more
        return verdict(None, words, share, level, len(hits), empty=emptied)
    elif by_state:
        parts = _by_state(evaluation, judged, hits, promised)
    else:
        parts = _along(evaluation, judged, hits, level)
    whole, worst = parts[0], min(parts, key=lambda part: part.p_value)
    kept: bool | None = worst.p_value > ERROR_RATE
    part = whole if kept else worst
    share, rows = float(hits[part.windows].mean()), None
    said = f"{share:.3f} of {_count(len(part.windows), by_steps)}, promised {part.promised:.3g}"
    if not kept:
        words = f"short by {part.promised - share:.2g}{worst.where}: {said}"
        rest = np.setdiff1d(whole.windows, worst.windows)
        if len(rest) and not by_state:
            words += f"; elsewhere {hits[rest].mean():.3f} of {len(rest):,}"
        if worst is not whole and worst.state is None:
            rows = span_of(evaluation, judged[worst.windows])
    elif p_of_hits(np.zeros_like(hits), float(promised.max())) > ERROR_RATE / 2:
        kept, words = None, f"cannot tell, so few windows: {said}; more rows would tell"
    elif n > 1 and evaluation.width >= FULL * n:
        words = (
            f"kept, but the sets say nothing: {evaluation.width:.3g} of {n:,} states a step; {said}"
        )
    else:
        words = f"kept{' within chance' * (share < part.promised)}: {said}"
    return verdict(
        kept, words + say_emptied(kept) + more, share, part.promised, len(part.windows),
        p_value=min(worst.p_value, 1.0), rows=rows, state=worst.state if kept is False else None,
        empty=emptied,
    )  # fmt: skip


def _along(evaluation: Evaluation, judged: IntArray, hits: Any, level: float) -> list[SomeWindows]:
    """Return all windows, and those before and after each edge, with corrected p-values."""
    number = len(hits)
    every = np.arange(number)
    edges = np.unique(np.linspace(0, number, min(PARTS, number) + 1).astype(int))[1:-1].tolist()
    first, unit = judged, "windows"
    if evaluation.begins is not None:
        first, unit = evaluation.begins[judged], "rows"
    parts = [SomeWindows("", every, level, 2 * p_of_hits(hits, level))]
    for edge in edges:
        at = f"about {int(first[edge]):,}"
        for where, windows in [
            (f" in {unit} up to {at}", every[:edge]),
            (f" in {unit} after {at}", every[edge:]),
        ]:
            p_value = p_of_hits(hits[windows], level)
            parts.append(SomeWindows(where, windows, level, 2 * 2 * len(edges) * p_value))
    return parts


def _by_state(
    evaluation: Evaluation, judged: IntArray, hits: Any, promised: FloatArray
) -> list[SomeWindows]:
    """Return all windows, with their mean level, and the windows of each state with its level."""
    given = evaluation.given[judged]
    codes = np.unique(given).tolist()
    parts = [SomeWindows("", np.arange(len(hits)), float(promised.mean()), np.inf)]
    for code in codes:
        windows = np.flatnonzero(given == code)
        level = float(promised[windows[0]])
        p_value = p_of_hits(hits[windows], level)
        where = f" for the state {evaluation.states[code]}"
        parts.append(
            SomeWindows(where, windows, level, len(codes) * p_value, evaluation.states[code])
        )
    return parts


def span_of(evaluation: Evaluation, windows: IntArray) -> tuple[int, int]:
    """Return the first and last row of some windows, or window if they are no rows, from 1."""
    if evaluation.begins is None:
        return int(windows[0]) + 1, int(windows[-1]) + 1
    steps = len(evaluation.truth) // len(evaluation.covered)
    return int(evaluation.begins[windows[0]]) + 1, int(evaluation.begins[windows[-1]]) + steps


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
    """Return how many windows had an unknown state, in words."""
    if not number:
        return ""
    windows = "1 more window has" if number == 1 else f"{number:,} more windows have"
    return (
        f"; {windows} a state that had not come up before, which no set can hold, and "
        f"{'is' if number == 1 else 'are'} counted apart"
    )
