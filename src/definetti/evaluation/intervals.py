"""Intervals and tests for shares of windows: exact, and for bounded means by betting."""

from __future__ import annotations

from functools import lru_cache
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray
from definetti._system.checks import checked_limit, checked_number

TAIL = 0.025  # the p-value for which bets are tuned
PRIOR = 0.25  # the variance assumed before the first variable
TRUNCATION = 0.75  # share of the largest bet that cannot lose everything
HALVINGS = 30  # halvings of an interval that holds a bound


def exact_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact binomial interval of Clopper and Pearson.

    >>> low, high = exact_interval(9, 10)
    >>> round(low, 4), round(high, 4)
    (0.555, 0.9975)
    """
    from scipy.special import betaincinv  # quantiles of the beta law; scipy.stats is slow to load

    checked_limit(successes, "successes")
    checked_number(trials, "trials")
    tail = (1 - confidence) / 2
    low = float(betaincinv(successes, trials - successes + 1, tail)) if successes else 0.0
    failures = trials - successes
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    return low, high


_exact = lru_cache(maxsize=100_000)(exact_interval)


def interval_of(hits: npt.NDArray[Any]) -> tuple[float, float]:
    """Return the 95 % interval of a share: exact for booleans, else that of a bounded mean."""
    if hits.dtype == np.bool_:
        return _exact(int(hits.sum()), len(hits))
    return mean_interval(hits)


def share(covered: npt.NDArray[Any]) -> dict[str, Any]:
    """Return the mean coverage of windows, or of their steps, with its 95 % interval."""
    low, high = interval_of(covered)
    return {"coverage": float(covered.mean()), "low": low, "high": high, "windows": len(covered)}


def p_of_hits(hits: npt.NDArray[Any], level: float) -> float:
    """Return a p-value of the promised coverage: binomial for booleans, by betting for shares."""
    if hits.dtype == np.bool_:
        from scipy.special import bdtr

        return float(bdtr(int(hits.sum()), len(hits), level))
    return p_value_of_mean(hits, level)


def _bets(values: FloatArray, tail: float) -> FloatArray:
    """Return a bet for each variable, computed from earlier variables."""
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

    Variables are in the order observed; the test has most power at a p-value of `tail`.

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
    """Return a lower bound of the mean, which fails with a probability of at most `tail`."""
    bets, low, high = _bets(values, tail), 0.0, float(values.mean())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle > 0 and _log_capital(values, bets, middle) >= -log(tail):
            low = middle
        else:
            high = middle
    return low


def effective_number(hits: npt.NDArray[Any]) -> float:
    """Return the effective number of independent windows, by the autocorrelation of misses."""
    number, centred = len(hits), hits - hits.mean()
    variance = float(centred @ centred)
    if variance <= 0:
        return float(number)
    total = 0.0
    for lag in range(1, number // 4):
        correlation = float(centred[lag:] @ centred[:-lag]) / variance
        if correlation <= 2 / np.sqrt(number):  # two standard errors
            break
        total += correlation
    return number / (1 + 2 * total)
