"""The part of `definetti verify` that counts by visits."""

from __future__ import annotations

from typing import Any

# Which departure is predicted, by the horizon: the windows before it are so many to list.
WHICH = {1: 10, 2: 4, 3: 2}


def verify_departures(
    models: dict[str, Any], score: str, *, length: int, horizon: int, confidence: Any
) -> list[dict[str, Any]]:
    """Return a row a model and present state: coverage by visits, and by the clock beside it."""
    import numpy as np

    from definetti import ConformalHMM, given_hmm
    from definetti.cli.levels import list_levels
    from definetti.verify import enumerate_departures, enumerate_ranks

    # A fixed model, which need not be the one that the sequences come from.
    model = given_hmm([[0.7, 0.3], [0.4, 0.6]], [[0.8, 0.2], [0.3, 0.7]])
    predictor = ConformalHMM(model, conformity_score=score, symmetry="departures", allow_empty=True)
    which = WHICH[horizon]
    plain = enumerate_departures(predictor, 2, 2, which, horizon, verbose=True)
    clock = enumerate_ranks(predictor, 2, 2, length, horizon, verbose=True)
    smoothed, ticking = plain._replace(smoothing=True), clock._replace(smoothing=True)
    rows, own = [], list_levels(confidence, (0, 1))
    for name, parts in models.items():
        initial, steps, emitted = (np.array(part) for part in parts)
        law = steps, emitted, confidence
        by_clock = ticking.coverage_given_present(initial, *law, horizon)
        figures = zip(
            1 - plain.missed(*law), smoothed.coverage(*law), by_clock.tolist(), strict=True
        )
        for state, (kept, exactly, timed) in enumerate(figures):
            valid = kept >= own[state] - 1e-12 and abs(exactly - own[state]) < 1e-9
            rows.append({"model": name, "state": state, "departure": which, "coverage": kept,
                         "smoothed": exactly, "by_the_clock": timed if timed == timed else None,
                         "valid": bool(valid)})  # fmt: skip
    return rows


def show_departures(rows: list[dict[str, Any]], title: str) -> None:
    """Print the rows as a table that eighty columns will do for."""
    from rich.console import Console
    from rich.table import Table

    which = rows[0]["departure"]
    table = Table(title=f"Departures: {title}", pad_edge=False)
    for column in ("model", "state", "coverage", "smoothed", "by the clock", "valid"):
        table.add_column(column, justify="left" if column == "model" else "right")
    table.caption = (
        f"a fixed model, asked at departure {which} from the state; coverage: one minus the "
        "probability that it comes and is missed; smoothed: with ties broken at random; by the "
        "clock: smoothed, at the end of the labelled steps given that the state is the present one"
    )
    for row in rows:
        timed = "never" if row["by_the_clock"] is None else f"{row['by_the_clock']:.8f}"
        numbers = f"{row['coverage']:.8f}", f"{row['smoothed']:.8f}", timed
        verdict = "yes" if row["valid"] else "[bold]NO[/bold]"
        table.add_row(row["model"], str(row["state"]), *numbers, verdict)
    Console().print(table)
