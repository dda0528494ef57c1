"""How sure one can be of a share that was counted."""

from __future__ import annotations

from definetti._system.checks import checked_limit, checked_number


def exact_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact binomial interval of Clopper and Pearson.

    >>> low, high = exact_interval(9, 10)
    >>> round(low, 4), round(high, 4)
    (0.555, 0.9975)
    """
    from scipy.stats import beta

    checked_limit(successes, "successes")
    checked_number(trials, "trials")
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, successes, trials - successes + 1)) if successes else 0.0
    failures = trials - successes
    high = float(beta.ppf(1 - tail, successes + 1, failures)) if failures else 1.0
    return low, high
