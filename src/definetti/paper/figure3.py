"""Figure 3 of the paper: the four real series, with the set of every step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from definetti.paper import _pictures
from definetti.paper.methods import Method
from definetti.paper.reproduction import Reproduction, check_experiment, write_reproduction
from definetti.paper.table1 import SERIES_METHODS, Outcomes, run_series, summarise_series


def figure3(
    output: Path | str,
    data: Path | str,
    *,
    seed: int = 2023,
    n_jobs: int | None = None,
    methods: Sequence[Method] = SERIES_METHODS,
    fresh: bool = False,
    verbose: bool = False,
) -> Reproduction:
    """The true states of the paper's four real series, and the sets that were to hold them.

    Parameters
    ----------
    output : folder for ``figure3.csv``, the pictures, and the finished cells
    data, seed, n_jobs, methods, fresh, verbose : as for `table1`, whose cells these are

    Examples
    --------
    >>> figure3("somewhere", data="nowhere")
    Traceback (most recent call last):
    FileNotFoundError: data folder 'nowhere' has no dataset_tk.csv; get it from ...
    """
    folder = check_experiment(output, 1, seed)
    how = {"n_jobs": n_jobs, "fresh": fresh, "verbose": verbose}
    found = run_series(data, folder, seed, methods, **how)
    return write_reproduction(
        "figure3", summarise_series(found), folder, _pictures.draw_figure3, list_steps(found)
    )


def list_steps(found: Outcomes) -> list[dict[str, Any]]:
    """Return one row a predicted step: its true state and its set."""
    return [
        {
            "method": variant,
            "series": series.name,
            "states": series.n_states,
            "step": series.length + t,
            "truth": record[0],
            "set": " ".join(map(str, sorted(record[k]))),
            "covered": record[0] in record[k],
        }
        for series, method, records in found
        for k, variant in enumerate(method.variants, start=1)
        for t, record in enumerate(records)
    ]
