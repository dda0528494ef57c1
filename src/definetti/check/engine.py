"""The check: every test on one set of draws, and one verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import ceil
from typing import Any

import narwhals as nw
import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import (
    checked_choice,
    checked_flag,
    checked_fraction,
    checked_limit,
    checked_number,
    checked_resamples,
    entropy_of,
)
from definetti._system.terminal import show_progress
from definetti.check.coverage_loss import NotMeasured, measure_coverage
from definetti.check.diagnosis import Diagnosis, Finding
from definetti.check.messages import describe_assumption, find_explained, stand_out, write_verdict
from definetti.check.p_values import (
    Tested,
    are_alike,
    combine_tests,
    combine_tests_early,
    stop_early,
)
from definetti.check.rearrangements import draws_per_piece, measure_draws
from definetti.check.residuals import find_residuals
from definetti.check.sample import Origin, Sample, read_sample
from definetti.check.statistic import CannotTest, Own, Statistic
from definetti.data.labels import is_missing, listed, piece, readable
from definetti.data.series import take_labelled
from definetti.data.timing import read_rows
from definetti.emissions.choice import kinds_of
from definetti.memory import Memory

Tests = Iterable[str | Statistic | Callable[..., float]] | Mapping[str, Any] | str | None

# The quick check.
DRAWN = 199  # draws, with which the smallest p-value is 0.005
CLEAR = 0.01  # the level of its verdict
COLUMNS = 20  # the most columns that are tested
WORK = 2 * 10**7  # the most steps of all draws and columns together: a second or so


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
    horizon: int | None = 1,
    verbose: bool = False,
) -> Diagnosis:
    """Test exactly whether a labelled history is that of a hidden Markov model.

    All rearrangements of a history that keep its first state, its transition counts and, state by
    state, its observations are equally probable under every hidden Markov model. So the rank of any
    statistic among those of rearrangements drawn at random is an exact p-value: at every length,
    with rare states and empty cells, whatever the parameters (Besag & Mondal 2013).

    Parameters
    ----------
    observations : (T,) values of any kind, rows or a frame; None for a plain Markov chain
    states : (T,) labels, any hashable values
    lengths : list of int, optional
        The lengths of the sequences, if there are several. Each is rearranged separately, except in
        the tests whether all have the same distribution.
    groups : (T,) labels, optional
        The series that each row belongs to, with rows in any order; each series is a sequence.
        A row whose state is None is a gap, and the rows after the gap are a new sequence.
    order : (T,) numbers or dates, optional
        Values that sort the rows of a series; rows keep their order if left out. Messages name a
        row by its place in the table, from 1, and its series.
    rows_before : int or (T,) ints, default 0
        Number of rows before the first, or before each, where the data are a part of a longer
        table: messages count them, too.
    n_resamples : int, default 999
        Number of rearrangements to draw, at most a million.
    memory : int, {"age", "observation"} or Memory, default 1
        The memory that the tested assumption allows, as in `definetti.ConformalHMM`. With 2, a
        chain of order 2, and "order" tests it against order 3.
    tests : list of names, statistics or functions, or dict from names to these, optional
        All that the data allow if left out: "order", "transitions", "durations", "autocorrelation",
        "drift", and for several sequences "one_chain" and "one_emission". A function of your
        own, ``function(states, observations)``, is large where the assumption fails.
    smoothing : bool, default False
        Break ties at random, which makes p-values exactly uniform.
    stop_after : int, optional
        Stop drawing once every test has so many rearrangements that are as extreme, such as 10:
        p-values remain exact (Besag & Clifford 1991), and are adjusted by Bonferroni and Holm.
    alpha : float, default 0.05
        The significance level of the verdict.
    random_state : int, numpy Generator or None
        The source of random numbers.
    n_jobs : int, optional
        Number of threads, −1 for one per core; the result is the same.
    pictures : bool, default True
        Compute the residuals for `Diagnosis.plot`, in a second pass over up to 199 of the draws.
    horizon : int, optional, default 1
        Measure also what departures cost: the coverage of default sets so many steps ahead over
        the second half of the history. None leaves it out, which saves up to a few seconds.
    verbose : bool, default False
        Show a progress bar when the check takes more than two seconds.

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
    if horizon is not None:
        checked_number(horizon, "horizon")
    if stop_after is not None:
        checked_number(stop_after, "stop_after")
        if smoothing:
            raise ValueError("smoothing=True needs all draws; leave out stop_after, or smoothing")
    checked_fraction(alpha, "alpha", "try 0.05")
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
    families: list[dict[str, FloatArray]] = []  # of tests on the same draws
    for across in (False, True):
        names = [name for name in parts if chosen[name].across == across]
        if names:
            statistics = [chosen[name] for name in names]
            pieces = measure_draws(sample, statistics, across, n_resamples, entropy, n_jobs)
            number = ceil(n_resamples / draws_per_piece(sample))
            pieces = show_progress(pieces, number, "drawing rearrangements", verbose)
            own = [statistic.measure(sample, sample.itself) for statistic in statistics]
            families.append(dict(zip(names, _gather(own, pieces, stop_after), strict=True)))
    values = {name: array for family in families for name, array in family.items()}
    if stop_after is None:
        uniform = np.random.default_rng([entropy, 2]).random() if smoothing else None
        p_value, tested = combine_tests(families, uniform)
        counted = 0 if smoothing else len(families)
    else:
        p_value, tested = combine_tests_early(values, stop_after)
        counted = len(parts) * min(map(len, parts.values()))
    findings = {
        name: _find(sample, chosen[name], parts[name], values[name], tested[name], alpha)
        for name in parts
    }
    failing = {name: chosen[name] for name, f in findings.items() if f.adjusted_p_value <= alpha}
    for name, first in find_explained(sample, failing).items():
        findings[name] = replace(findings[name], follows=first)
    coverage = None
    if horizon is not None and groups is not None:
        untested["coverage"] = "measured for one history alone; backtest the series"
    elif horizon is not None:
        try:
            coverage = measure_coverage(
                observations, states, sample.begins, sample.memory, horizon, entropy
            )
        except NotMeasured as reason:
            untested["coverage"] = str(reason)
    return Diagnosis(
        p_value, findings, untested, describe_assumption(sample), alpha, len(sample),
        n_resamples, find_residuals(sample, n_resamples, entropy) if pictures else {},
        counted / (n_resamples + 1), coverage,
    )  # fmt: skip


def _checked_rows(rows: Any, length: int) -> IntArray:
    numbers = np.asarray(rows)
    if numbers.shape != (length,) or numbers.dtype.kind not in "iu" or (numbers < 0).any():
        raise ValueError(
            f"rows_before must be a whole number ≥ 0, or one for each of the {length} rows"
        )
    return numbers.astype(np.int64)


def _choose(tests: Tests) -> dict[str, Statistic]:
    """Return the statistics that `tests` lists, by name."""
    if tests is None:
        return {name: kind() for name, kind in Statistic.named.items()}
    if isinstance(tests, (str, Statistic)) or callable(tests):
        tests = [tests]
    given: Mapping[Any, Any] = tests if isinstance(tests, Mapping) else dict(enumerate(tests))
    chosen: dict[str, Statistic] = {}
    for key, test in given.items():
        own = callable(test) and not isinstance(test, (type, Statistic))
        statistic = Own(test) if own else checked_choice(test, Statistic, "tests", ", a function")
        name = key if isinstance(key, str) else getattr(test, "__name__", statistic.known_as)
        if name in chosen:
            raise ValueError(f"tests has {name!r} twice; give a dict with a name for each")
        chosen[name] = statistic
    if not chosen:
        raise ValueError("tests is empty; name some, or leave it out for all")
    return chosen


def _sort_out(
    sample: Sample, chosen: dict[str, Statistic], every: bool
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the parts of the tests that the sample allows, and why the others are left out."""
    parts: dict[str, tuple[str, ...]] = {}
    untested = dict(sample.others) if sample.columns else {}
    for name, statistic in chosen.items():
        try:
            parts[name] = statistic.parts(sample)
        except CannotTest as reason:
            # A user of a single sequence did not expect tests of several.
            if not (every and statistic.across and sample.segments == 1):
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
    """Concatenate the values of the sample and of as many draws as needed."""
    gathered = [[array] for array in own]
    for new in pieces:
        for values, array in zip(gathered, new, strict=True):
            values.append(array)
        if stop_after is not None and all(
            stop_early(part, stop_after)[1]
            for values in gathered
            for part in np.concatenate(values).T
        ):
            break
    return [np.concatenate(values) for values in gathered]


def _find(
    sample: Sample,
    statistic: Statistic,
    parts: tuple[str, ...],
    values: FloatArray,
    tested: Tested,
    alpha: float,
) -> Finding:
    """Return the result of one test."""
    effect = statistic.effect(sample, values, tested.part)
    testable, drawn = not are_alike(values), values[:, tested.part]
    significant = testable and tested.adjusted <= alpha
    material = significant and not effect.short_of
    remedy = statistic.remedy(sample, effect) if material else ""
    words, verdict = write_verdict(effect, testable, significant, remedy)
    return Finding(
        float(drawn[0]), tested.p_value, tested.adjusted, words, effect.size,
        None if effect.row is None else sample.find_row(effect.row),
        parts[tested.part], statistic.question, verdict, testable, stand_out(drawn),
        material=material, drawn=drawn[1:].copy(),
    )  # fmt: skip


def check_quickly(
    observations: Any,
    states: Any,
    *,
    memory: int | str | Memory = 1,
    rows_before: Any = 0,
    random_state: Any = None,
    pictures: bool = False,
) -> Diagnosis:
    """Test the last rows of a labelled history with few draws, in about a second at any length.

    P-values are exact, as in `check`, from 199 rearrangements; the level is 0.01. Of long histories
    only the last rows are tested, which are a history, too: 50,000 of one column, fewer of more
    columns, and of wide tables the first 20 columns. `Diagnosis.untested` lists what is left out.

    Parameters
    ----------
    observations, states, memory, rows_before, random_state, pictures : as for `check`

    Examples
    --------
    >>> found = check_quickly(None, list("aabb" * 50_000), random_state=0)
    >>> found.p_value, found.n_steps, found.untested["rows"]
    (0.005, 100502, 'a quick check takes the last 100,502 of 200,000')
    """
    states, observations = readable(states, "states"), readable(observations)
    length, before = len(states), np.asarray(rows_before)
    columns, wide, rows = 0, 0, min(length, WORK // DRAWN)
    if observations is not None and len(observations) != length:
        rows = length  # which `check` refuses
    elif observations is not None:
        observations = piece(observations, length - rows, length)
        columns, observations, wide = _cut_columns(observations)
        if rows * (1 + columns) * DRAWN > WORK:
            last, rows = rows, WORK // (DRAWN * (1 + columns))
            observations = piece(observations, last - rows, last)
    states = piece(states, length - rows, length)
    diagnosis = check(
        observations, states, memory=memory, n_resamples=DRAWN, alpha=CLEAR,
        rows_before=before[length - rows :] if before.ndim else rows_before + length - rows,
        random_state=random_state, pictures=pictures, horizon=None,
    )  # fmt: skip
    cut = {}
    if rows < length:
        cut["rows"] = f"a quick check takes the last {rows:,} of {length:,}"
    if wide > columns:
        cut["columns"] = f"a quick check takes the first {columns} of {wide}"
    return replace(diagnosis, untested={**diagnosis.untested, **cut})


def _cut_columns(observations: Any) -> tuple[int, Any, int]:
    """Return the number of columns tested, the observations, and the number of all columns."""
    native = nw.from_native(observations, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        wide = len(native.columns)
        return min(wide, COLUMNS), native[:, :COLUMNS].to_native(), wide
    if isinstance(observations, np.ndarray) and observations.ndim == 2:
        wide = observations.shape[1]
        return min(wide, COLUMNS), observations[:, :COLUMNS], wide
    if (kinds := kinds_of(observations)).shape not in ("rows", "tuples", "mappings"):
        return 1, observations, 1
    wide, first = len(kinds.kinds), list(kinds.kinds)[:COLUMNS]
    if wide > COLUMNS and kinds.shape != "tuples":  # a tuple may be one symbol
        observations = [_cut_row(row, first) for row in observations]
    return min(wide, COLUMNS), observations, wide


def _cut_row(row: Any, names: list[Any]) -> Any:
    """Return some columns of a row: by their names, or the first where they have none."""
    if is_missing(row):
        return None
    if isinstance(row, Mapping):
        return {name: row.get(name) for name in names}
    return row[: len(names)]
