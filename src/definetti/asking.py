"""What may be asked of a fit, and what would not be exact."""

from __future__ import annotations

from typing import Any

from definetti._system.checks import checked_limit, checked_number
from definetti.data.candidates import check_budget
from definetti.data.labelled import Labelled, New
from definetti.data.labels import MISSING
from definetti.symmetry import Symmetry

# Cells of a trellis, a square of states for each step: 4 GB at eight bytes each. A sequence asked
# about by itself has a row of them.
MOST_CELLS = 2**29


def check_size(
    n_states: int, horizon: Any, lag: Any, fixed: bool, max_candidates: Any, listing: bool
) -> None:
    """Refuse steps that there is no room for, before any memory is taken.

    Parameters
    ----------
    fixed : whether the model is fixed and candidates are compared by their last state alone
    listing : whether all candidates are asked about, not one of them
    """
    checked_limit(lag, "lag")
    if lag and not fixed:
        raise ValueError(
            f"lag={lag} is exact with a fixed model and symmetry='spaced' only; set "
            "train_size=0.5, or ask about all new steps"
        )
    if horizon is None:
        return
    checked_number(horizon, "horizon")
    if not fixed and listing:
        check_budget(n_states, horizon, max_candidates)
    cells = n_states ** (2 if listing else 1)
    if fixed and horizon * cells > MOST_CELLS:
        raise ValueError(
            f"horizon={horizon:,} with {n_states} states takes more memory than there is; ask for "
            f"at most {MOST_CELLS // cells:,} steps at once"
        )


def check_listing(
    n_states: int, steps: int, model_fixed: bool, by_last_state: bool, max_candidates: Any
) -> None:
    """Refuse to rank more candidates than may be listed, with what to do instead."""
    remedy = None
    if model_fixed:
        remedy = "use symmetry='spaced', which needs no list"
    if by_last_state:
        remedy = "ask predict_set with a score that goes step by step, such as 'path'"
    check_budget(n_states, steps, max_candidates, remedy)


def check_exact(
    new: New, horizon: int | None, lag: int, data: Labelled, symmetry: Symmetry, fixed: bool
) -> None:
    """Refuse a question to which the answer would not be exact.

    Parameters
    ----------
    fixed : whether the model is fixed and candidates are compared by their last state alone
    """
    if lag >= len(new.codes):
        raise ValueError(
            f"lag={lag} leaves none of the {len(new.codes)} new steps to ask about; give "
            "observations up to the present"
        )
    if not new.unseen.any():
        return
    if not new.unseen.all() and not fixed:
        # What is not seen yet would be dealt out to times that must have an observation.
        raise ValueError(
            f"horizon={horizon} reaches beyond the {int((~new.unseen).sum())} "
            "new_observations, which is exact with a fixed model and symmetry='spaced' only; "
            "set train_size=0.5, or leave horizon out"
        )
    gappy = data.history.gaps and bool((data.history.observations != MISSING).any())
    if gappy and getattr(symmetry, "at_pairs", False):
        raise ValueError(
            f"symmetry={type(symmetry).__name__.lower()!r} takes a step that is not observed yet "
            "for a gap, and the history has gaps; use symmetry='returns' or 'full' with horizon="
        )
