"""The check: every test on one set of draws, and one verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import ceil
from numbers import Real
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import (
    checked_choice,
    checked_flag,
    checked_limit,
    checked_number,
    checked_resamples,
    entropy_of,
)
from definetti._system.progress import show_progress
from definetti.check.base import CannotTest, Statistic
from definetti.check.diagnosis import Diagnosis, Finding
from definetti.check.drawing import MOST, STEPS, measure_draws
from definetti.check.judging import Judged, judge_all, judge_early
from definetti.check.leading import find_explained, stand_out
from definetti.check.own import Own
from definetti.check.ranking import are_alike, stop_early
from definetti.check.residuals import find_residuals
from definetti.check.sample import Origin, Sample, read_sample
from definetti.data.labels import listed, readable
from definetti.data.series import take_labelled
from definetti.data.timing import read_rows
from definetti.memory import Memory

NOT_SIGNIFICANT = "not significant"

Tests = Iterable[str | Statistic | Callable[..., float]] | Mapping[str, Any] | str | None


def check(
    observations: Any,
    states: Any,
    *,
    lengths: Any = None,
    groups: Any = None,
    order: Any = None,
    rows_before: Any = 0,
    n_resamples: int = 999,
    memory: int | str | Memory = 1,
    tests: Tests = None,
    smoothing: bool = False,
    stop_after: int | None = None,
    alpha: float = 0.05,
    random_state: Any = None,
    n_jobs: int | None = None,
    pictures: bool = True,
    verbose: bool = False,
) -> Diagnosis:
    """Test whether a labelled history is a hidden Markov model, exactly.

    All rearrangements of a history that keep its first state, its transition counts and, state by
    state, its observations are equally probable under every hidden Markov model. So the rank of any
    statistic among those of rearrangements drawn at random is an exact p-value: at every length,
    with rare states and empty cells, whatever the parameters (Besag & Mondal 2013).

    Parameters
    ----------
    observations : (T,) values of any kind, rows or a frame; None for a plain Markov chain
    states : (T,) labels, any hashable values
    lengths : list of int, optional
        The lengths of the sequences, if there are several. Each is rearranged by itself, but for
        the tests whether all have one law.
    groups : (T,) labels, optional
        The series that each row belongs to, in whatever order rows come; each is a sequence then.
        A row whose state is None is a gap, and what comes after it a sequence of its own.
    order : (T,) numbers or dates, optional
        What the rows of a series are sorted by; as they come if left out. What is said of a row
        names its place in the table, from 1, and its series.
    rows_before : int or (T,) ints, default 0
        How many rows came before the first, or before each, where these are some rows of more:
        what is said of a row counts them, too.
    n_resamples : int, default 999
        How many rearrangements are drawn, at most a million.
    memory : int, {"age", "observation"} or Memory, default 1
        What the future is taken to depend on, as in `definetti.ConformalHMM`; this is what is
        tested. With 2, a chain of order 2, and "order" tests it against order 3.
    tests : list of names, statistics or functions, or dict from names to these, optional
        All that the data allow if left out: "order", "transitions", "durations", "lingering",
        "drift", and for several sequences "one_chain" and "one_emission". A function of one's
        own, ``function(states, observations)``, is large where something is wrong.
    smoothing : bool, default False
        Break ties at random, which makes p-values exactly uniform.
    stop_after : int, optional
        Draw no more once every test has met so many rearrangements as strange, 10 say: the answer
        is clear, and p-values remain exact (Besag & Clifford 1991). They are adjusted by Bonferroni
        and Holm then.
    alpha : float, default 0.05
        The level at which the verdict says that something fails.
    random_state : int, numpy Generator or None
        Where random numbers come from.
    n_jobs : int, optional
        How many threads to use, −1 for one a core; the result is the same.
    pictures : bool, default True
        Keep what `Diagnosis.plot` draws of residuals; that looks at up to 199 of the draws again.
    verbose : bool, default False
        Show a progress bar when it takes more than two seconds.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> observations, states = weather(300, random_state=0)
    >>> found = check(observations, states, random_state=0)
    >>> found.rejected
    False
    >>> found = check(None, list("aabb" * 20), random_state=0)
    >>> found.tests["order"].p_value, found.failures
    (0.001, ('order', 'durations'))
    """
    checked_resamples(n_resamples)
    checked_flag(smoothing, "smoothing")
    checked_flag(pictures, "pictures")
    checked_flag(verbose, "verbose")
    if stop_after is not None:
        checked_number(stop_after, "stop_after")
        if smoothing:
            raise ValueError("smoothing=True needs all draws; leave out stop_after, or smoothing")
    if not isinstance(alpha, Real) or isinstance(alpha, bool) or not 0 < alpha < 1:
        raise ValueError(f"alpha must be a number between 0 and 1, got {alpha!r}; try 0.05")
    chosen = _choose(tests)
    states, origin = readable(states, "states"), None
    if groups is not None:
        groups = readable(groups, "groups")  # not listed yet: its index is compared
        observations, states, lengths, rows = take_labelled(
            observations, states, groups, order, lengths
        )
        origin = Origin(rows, listed(groups, "groups"))
    elif order is not None:
        raise ValueError("order sorts the rows of series, and groups is None; name the series")
    else:
        rows_read = read_rows(observations, states, lengths)
        observations, states = rows_read.observations, rows_read.labels
        lengths = rows_read.lengths if len(rows_read.lengths) > 1 else lengths
    if np.ndim(rows_before):
        if groups is not None:
            raise ValueError("rows_before has a number for each row, and groups names them already")
        origin, rows_before = Origin(_checked_rows(rows_before, len(states)), None), 0
    checked_limit(rows_before, "rows_before")
    sample = read_sample(observations, states, lengths, memory, int(rows_before), origin)
    entropy = entropy_of(random_state)
    parts, untested = _sort_out(sample, chosen, tests is None)
    found: dict[str, FloatArray] = {}
    for across in (False, True):
        names = [name for name in parts if chosen[name].across == across]
        if names:
            statistics = [chosen[name] for name in names]
            pieces = measure_draws(sample, statistics, across, n_resamples, entropy, n_jobs)
            each = ceil(n_resamples / min(MOST, max(1, STEPS // len(sample))))
            pieces = show_progress(pieces, each, "drawing rearrangements", verbose)
            own = [one.measure(sample, sample.itself) for one in statistics]
            found |= dict(zip(names, _gather(own, pieces, stop_after), strict=True))
    if stop_after is None:
        uniform = np.random.default_rng([entropy, 2]).random() if smoothing else None
        families = [
            {name: found[name] for name in found if chosen[name].across == across}
            for across in (False, True)
        ]
        families = [one for one in families if one]
        p_value, judged = judge_all(families, uniform)
        counted = 0 if smoothing else len(families)
    else:
        p_value, judged = judge_early(found, stop_after)
        counted = len(parts) * min(map(len, parts.values()))
    results = {
        name: _describe(sample, chosen[name], parts[name], found[name], judged[name], alpha)
        for name in parts
    }
    failing = {name: chosen[name] for name, one in results.items() if one.adjusted_p_value <= alpha}
    for name, first in find_explained(sample, failing).items():
        results[name] = replace(results[name], follows=first)
    return Diagnosis(
        p_value, results, untested, _say(sample), alpha, len(sample),
        n_resamples, find_residuals(sample, n_resamples, entropy) if pictures else {},
        counted / (n_resamples + 1),
    )  # fmt: skip


def _checked_rows(rows: Any, length: int) -> IntArray:
    found = np.asarray(rows)
    if found.shape != (length,) or found.dtype.kind not in "iu" or (found < 0).any():
        raise ValueError(
            f"rows_before must be a whole number ≥ 0, or one for each of the {length} rows"
        )
    return found.astype(np.int64)


def _choose(tests: Tests) -> dict[str, Statistic]:
    """Return the statistics that are meant, by their names."""
    if tests is None:
        return {name: one() for name, one in Statistic.named.items()}
    if isinstance(tests, (str, Statistic)) or callable(tests):
        tests = [tests]
    given: Mapping[Any, Any] = tests if isinstance(tests, Mapping) else dict(enumerate(tests))
    found: dict[str, Statistic] = {}
    for key, one in given.items():
        own = callable(one) and not isinstance(one, (type, Statistic))
        statistic = Own(one) if own else checked_choice(one, Statistic, "tests", ", a function")
        name = key if isinstance(key, str) else getattr(one, "__name__", statistic.known_as)
        if name in found:
            raise ValueError(f"tests has {name!r} twice; give a dict with a name for each")
        found[name] = statistic
    if not found:
        raise ValueError("tests is empty; name some, or leave it out for all")
    return found


def _sort_out(
    sample: Sample, chosen: dict[str, Statistic], every: bool
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the parts of the tests that can be made, and of the others why they cannot."""
    parts: dict[str, tuple[str, ...]] = {}
    untested = dict(sample.others) if sample.columns else {}
    for name, one in chosen.items():
        try:
            parts[name] = one.parts(sample)
        except CannotTest as reason:
            # That there is no second sequence needs no saying to who gave one.
            if not (every and one.across and sample.stretches == 1):
                untested[name] = str(reason)
    if not parts:
        reasons = "; ".join(f"{name}: {why}" for name, why in untested.items())
        raise CannotTest(
            f"states has {len(sample)} step{'s' * (len(sample) > 1)} of which nothing can be "
            f"tested ({reasons}); give a longer history, or observations"
        )
    return parts, untested


def _gather(
    own: list[FloatArray], pieces: Iterable[list[FloatArray]], stop_after: int | None
) -> list[FloatArray]:
    """Put the sample's own values before those of the draws, as far as these are needed."""
    found = [[one] for one in own]
    for piece in pieces:
        for values, new in zip(found, piece, strict=True):
            values.append(new)
        if stop_after is not None and all(
            stop_early(part, stop_after)[1] for values in found for part in np.concatenate(values).T
        ):
            break
    return [np.concatenate(values) for values in found]


def _describe(
    sample: Sample,
    statistic: Statistic,
    parts: tuple[str, ...],
    values: FloatArray,
    judged: Judged,
    alpha: float,
) -> Finding:
    effect = statistic.effect(sample, values, judged.part)
    told, drawn = not are_alike(values), values[:, judged.part]
    material = told and judged.adjusted <= alpha and not effect.short_of
    sentence = f"{effect.words[:1].upper()}{effect.words[1:]}"
    if not told:
        effect = effect._replace(words="not testable: the same for every rearrangement")
        verdict = "Not testable: it is the same for every rearrangement."
    elif judged.adjusted > alpha:  # what was measured is chance, and no number of it is shown
        effect = effect._replace(words=NOT_SIGNIFICANT)
        verdict = f"{NOT_SIGNIFICANT.capitalize()}."
    elif effect.short_of:
        verdict = (
            f"{sentence}: significant, but less than {effect.short_of}, so no advice is given."
        )
    else:
        remedy = statistic.remedy(sample, effect)
        verdict = f"{sentence}: {remedy}." if remedy else f"{sentence}."
    return Finding(
        float(drawn[0]), judged.p_value, judged.adjusted, effect.words, effect.size,
        None if effect.row is None else sample.find_row(effect.row),
        parts[judged.part], statistic.asks, verdict, told, stand_out(drawn),
        material=material, drawn=drawn[1:].copy(),
    )  # fmt: skip


def _say(sample: Sample) -> str:
    """Say what is tested, in words that follow "that"."""
    shown = " and observations" if sample.columns else ""
    return f"states{shown} depend on the past through {sample.memory.assumption} alone"
