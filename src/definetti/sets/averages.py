"""Tests and intervals for the mean of variables between 0 and 1, by betting.

If the mean of each variable ``x >= 0`` given those before it is at most ``m``, then the capital of
a gambler who begins with 1 and multiplies it by ``1 + bet (x - m)`` has a mean of at most 1, for
bets between 0 and ``1 / m`` that depend on earlier variables alone. By Markov's inequality
``1 / capital`` is a p-value. The bets are about ``sqrt(2 log(1 / tail) / (n variance))``, with the
variance estimated from earlier variables, so that a small variance makes the test powerful, as it
does with a normal approximation, while the p-value holds for every number of variables. This is
section 4 of Waudby-Smith & Ramdas (2024), *Estimating means of bounded random variables by
betting*, Journal of the Royal Statistical Society B 86(1).
"""

from __future__ import annotations

from math import log

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray

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

    Parameters
    ----------
    values : (n,) the variables, in the order in which they were observed
    mean : between 0 and 1
    tail : the p-value at which the test is most powerful

    Examples
    --------
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
    """Return a confidence interval for the mean of variables in [0, 1].

    Parameters
    ----------
    values : (n,) the variables, in the order in which they were observed
    confidence : the least probability that the interval contains the mean

    Examples
    --------
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
