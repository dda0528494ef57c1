"""`definetti verify`: the guarantees, to the last digit."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.departures import show_departures, verify_departures
from definetti.cli.levels import list_levels, name_levels, read_confidence
from definetti.cli.memories import show_memories, verify_memories
from definetti.cli.mistakes import report_mistakes
from definetti.cli.printing import print_json

# The paper's two-state model with its parameters p and b, and two that no mixing argument covers.
MODELS: dict[str, tuple[list[float], list[list[float]], list[list[float]]]] = {
    "p=0.1 b=0.5": ([0.5, 0.5], [[0.1, 0.9], [0.9, 0.1]], [[0.5, 0.5], [0.5, 0.5]]),
    "p=0.9 b=0.75": ([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.75, 0.25], [0.25, 0.75]]),
    "iid b=0.9": ([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]]),
    "reducible": ([0.5, 0.5], [[0.8, 0.2], [0.0, 1.0]], [[0.7, 0.3], [0.2, 0.8]]),
    "alternating": ([1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]], [[0.7, 0.3], [0.4, 0.6]]),
}
# A fixed model that knows one of the two symbols, asked beyond what is observed.
FORECAST, BEYOND = "forecast", 2
STATES = (0, 1)


def verify(
    length: Annotated[int, typer.Option(min=1, max=7, help="labelled steps")] = 5,
    horizon: Annotated[int, typer.Option(min=1, max=3, help="new steps")] = 1,
    confidence: options.Level = "0.9",
    score: options.Score = "filter",
    prior: Annotated[float, typer.Option(help="added to every count; 0 is the paper's")] = 0.0,
    json: options.Json = False,
) -> None:
    """Add up the probability of every sequence that is covered: coverage, not an estimate of it.

    The states are 0 and 1, and may have levels of their own: --confidence 1=0.9,0.6.

    Example: definetti verify --length 6 --horizon 1 --confidence 0.9
    """
    with report_mistakes():
        from definetti import HMM
        from definetti.levels import read_levels

        level = read_confidence(confidence, STATES)
        read_levels(level).check(STATES)
        model = HMM(prior=prior)
        model.check()
        asked: dict[str, Any] = {"length": length, "horizon": horizon, "confidence": level}
        rows = [
            row
            for symmetry in (*_name_symmetries(), FORECAST)
            for row in _verify_symmetry(symmetry, model, score, **asked)
        ]
        departures = verify_departures(MODELS, score, **asked)
        memories = verify_memories(score, **asked)
        if json:
            print_json({"confidence_level": name_levels(level, STATES),
                        "length": length, "horizon": horizon, "score": score, "prior": prior,
                        "rows": rows, "departures": departures, "memories": memories})  # fmt: skip
        else:
            title = f"{length} labelled steps, horizon {horizon}, {score} score, prior {prior:g}"
            _show(rows, f"Exact coverage at level {confidence}: {title}")
            asked_of = f"{horizon} step{'s' * (horizon > 1)} after a state, {score} score"
            show_departures(departures, f"{asked_of}, level {confidence}")
            show_memories(memories, f"{score} score, level {confidence}")


def _name_symmetries() -> list[str]:
    """Return the symmetries that hold at a time of the clock, those with a proof first."""
    from definetti.symmetry import Symmetry

    clocked = [name for name, one in Symmetry.named.items() if one.given == "last state"]
    return sorted(clocked, key=lambda name: not Symmetry.named[name]().exact)


def _verify_symmetry(
    symmetry: str, model: Any, score: str, *, length: int, horizon: int, confidence: Any
) -> list[dict[str, Any]]:
    """Return a row a model: three kinds of coverage, whether all reach the level, and must."""
    import warnings

    import numpy as np

    from definetti import ConformalHMM
    from definetti.exceptions import NotExactWarning
    from definetti.symmetry import Symmetry
    from definetti.verify import enumerate_ranks

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotExactWarning)  # the table says it
        ahead = BEYOND if symmetry == FORECAST else 0
        predictor = ConformalHMM(
            model=_fit_to_one_symbol() if ahead else model,
            conformity_score=score,
            symmetry="spaced" if ahead else symmetry,
            allow_empty=True,
        )
        everything = enumerate_ranks(
            predictor, 2, 2, length, horizon + ahead, verbose=True, observed=horizon
        )
    broken = everything._replace(smoothing=True)
    proved = bool(Symmetry.named[str(predictor.symmetry)]().exact)
    rows, own = [], np.array(list_levels(confidence, STATES))
    for name, parts in MODELS.items():
        initial, steps, emitted = (np.array(part) for part in parts)
        coverage = everything.coverage(initial, steps, emitted, confidence)
        given = everything.coverage_given_last(initial, steps, emitted, confidence)
        worst = int(np.nanargmin(given - own))
        exactly = broken.coverage_given_last(initial, steps, emitted, confidence)
        smoothed = broken.coverage(initial, steps, emitted, confidence)
        valid = bool(np.nanmin([given - own, exactly - own]) >= -1e-12)
        rows.append({"symmetry": symmetry, "model": name, "coverage": coverage,
                     "worst_state": float(given[worst]), "smoothed": smoothed,
                     "valid": valid, "proved": proved})  # fmt: skip
    return rows


def _fit_to_one_symbol() -> Any:
    """Return a fixed model to which one symbol is new, and what a state shows unknown."""
    from definetti import ConformalHMM

    states = [0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0]
    symbols = [0 if state == 0 else None for state in states]
    fitted = ConformalHMM(states=[0, 1]).fit(symbols, states)
    return ConformalHMM(fitted, states=[0, 1]).fit([0], [0]).model_


def _show(rows: list[dict[str, Any]], title: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, pad_edge=False)  # eighty columns will do
    for column in ("symmetry", "model", "coverage", "worst state", "smoothed", "valid"):
        table.add_column(column, justify="left" if column in ("symmetry", "model") else "right")
    table.caption = (
        "coverage: of the conservative set; worst state: given the last state, the least; "
        "smoothed: with ties broken at random, integrated over the uniform; "
        f"{FORECAST}: a fixed model that meets a new symbol, asked {BEYOND} steps beyond what is "
        "observed; yes: declared exact, and it reaches the level here; not proved: here it "
        "reaches the level, under another model it may not"
    )
    for row in rows:
        numbers = (f"{row[name]:.8f}" for name in ("coverage", "worst_state", "smoothed"))
        reached = "yes" if row["proved"] else "not proved"
        verdict = reached if row["valid"] else "[bold]NO[/bold]"
        last = row["model"] == list(MODELS)[-1]
        table.add_row(row["symmetry"], row["model"], *numbers, verdict, end_section=last)
    Console().print(table)
