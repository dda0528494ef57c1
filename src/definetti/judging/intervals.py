"""How sure one can be of a share that was counted."""

from __future__ import annotations

from definetti._system.checks import checked_limit, checked_number


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
