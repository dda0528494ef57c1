"""The promise, in a sentence for people who do not read formulas."""

from __future__ import annotations

from definetti.pvalue import miscoverage

ASSUMED = (
    "This holds for every transition and emission probability there may be, known or not, as long "
    "as the states follow one Markov chain, the same in the past and now, and each observation "
    "depends on the state of its own time alone."
)


def percent(level: float) -> str:
    """Write a level as people do.

    >>> percent(0.9), percent(0.995)
    ('90 %', '99.5 %')
    """
    return f"{float(100 * (1 - miscoverage(level))):g} %"


def promise(level: float, steps: int, guarantee: str, max_errors: int, exact: bool) -> str:
    """Say what is promised.

    >>> promise(0.9, 3, "all", 0, True)
    'Of 100 such predictions, at least 90, on average, name the true states of all 3 steps among \
the sequences that they leave possible.'
    """
    often = f"{float(100 * (1 - miscoverage(level))):g}"
    number = "1,000" if "." in often else "100"
    if "." in often:
        often = f"{float(1000 * (1 - miscoverage(level))):g}"
    if not exact:
        return (
            f"Nothing is guaranteed: these settings aim at {percent(level)} and come with no proof."
        )
    if guarantee == "steps":
        return (
            f"Of {number} steps predicted, at least {often} have their true state among those that "
            "are left possible, on average."
        )
    if guarantee == "errors" and max_errors:
        return (
            f"In at least {often} of {number} such predictions, on average, at most {max_errors} "
            f"of the {steps} steps {'has its' if max_errors == 1 else 'have their'} true state "
            "outside of what is left possible."
        )
    if steps == 1:
        return (
            f"Of {number} such predictions, at least {often}, on average, name the true state "
            "among those that they leave possible."
        )
    whole = "sequences" if guarantee == "all" else "states"
    return (
        f"Of {number} such predictions, at least {often}, on average, name the true states of all "
        f"{steps} steps among the {whole} that they leave possible."
    )
