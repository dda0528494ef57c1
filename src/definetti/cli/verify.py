"""`definetti verify`: the guarantees, to the last digit."""

from __future__ import annotations

from typing import Annotated

import typer

# The paper's two-state model with its parameters p and b, and two that no mixing argument covers.
MODELS: dict[str, tuple[list[float], list[list[float]], list[list[float]]]] = {
    "p=0.1 b=0.5": ([0.5, 0.5], [[0.1, 0.9], [0.9, 0.1]], [[0.5, 0.5], [0.5, 0.5]]),
    "p=0.9 b=0.75": ([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.75, 0.25], [0.25, 0.75]]),
    "iid b=0.9": ([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]]),
    "reducible": ([0.5, 0.5], [[0.8, 0.2], [0.0, 1.0]], [[0.7, 0.3], [0.2, 0.8]]),
    "alternating": ([1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]], [[0.7, 0.3], [0.4, 0.6]]),
}
SYMMETRIES = ["full", "returns", "pairs", "spaced", "shifts", "published"]


def verify(
    length: Annotated[int, typer.Option(min=1, max=7, help="labelled steps")] = 5,
    horizon: Annotated[int, typer.Option(min=1, max=3, help="new steps")] = 1,
    confidence: Annotated[float, typer.Option(help="confidence level")] = 0.9,
    score: Annotated[str, typer.Option(help="path, filter, smoother, joint or band")] = "filter",
    prior: Annotated[float, typer.Option(help="added to every count; 0 is the paper's")] = 0.0,
) -> None:
    """Add up the probability of every sequence that is covered: coverage, not an estimate of it.

    Example: definetti verify --length 6 --horizon 1 --confidence 0.9
    """
    import warnings

    import numpy as np
    from rich.console import Console
    from rich.table import Table

    from definetti import HMM, ConformalHMM
    from definetti.checks import NotExactWarning
    from definetti.pvalue import miscoverage
    from definetti.verify import enumerate_ranks

    try:
        miscoverage(confidence)
        model = HMM(prior=prior)
        model.check()
        ConformalHMM(score=score).fit([0], [0])
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    table = Table(
        title=f"Exact coverage at level {confidence}: {length} labelled steps, horizon {horizon}, "
        f"{score} score, prior {prior:g}"
    )
    for column in ("symmetry", "model", "coverage", "worst state", "smoothed", "valid"):
        table.add_column(column, justify="left" if column in ("symmetry", "model") else "right")
    table.caption = (
        "coverage: of the conservative set; worst state: given the last state, the least; "
        "smoothed: with ties broken at random, integrated over the uniform"
    )
    for symmetry in SYMMETRIES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotExactWarning)  # the table says it
            predictor = ConformalHMM(model=model, score=score, symmetry=symmetry)
            everything = enumerate_ranks(predictor, 2, 2, length, horizon, verbose=True)
        for name, parts in MODELS.items():
            initial, steps, emitted = (np.array(part) for part in parts)
            coverage = everything.coverage(initial, steps, emitted, confidence)
            given = everything.coverage_given_last(initial, steps, emitted, confidence)
            worst = float(np.nanmin(given))
            broken = everything._replace(smoothing=True)
            smoothed = broken.coverage(initial, steps, emitted, confidence)
            valid = min(coverage, worst, smoothed) >= confidence - 1e-12
            table.add_row(
                symmetry,
                name,
                f"{coverage:.8f}",
                f"{worst:.8f}",
                f"{smoothed:.8f}",
                "yes" if valid else "[bold]NO[/bold]",
            )
        table.add_section()
    Console().print(table)
