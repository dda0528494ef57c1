"""Whether the promise applies: a diagnosis as the page shows it."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from definetti.check import Curve, Diagnosis, Finding
from definetti.report.levels import round_for_page
from definetti.symmetry import Spaced, Symmetry

SHOWN = 3  # kinds of residuals that are drawn
BINS = 30
PICTURES = ("quantiles", "histogram", "autocorrelation")


def describe_check(found: Diagnosis, symmetry: Symmetry) -> dict[str, Any]:
    """Return a diagnosis with what its pictures need, and no more of it.

    Parameters
    ----------
    symmetry : that of the sets, which is no remedy
    """
    if isinstance(symmetry, Spaced):
        found = found.beyond_spaced()
    kinds = list(found.residuals.items())[:SHOWN]
    told = found.to_dict()
    told["tests"] = {
        name: {key: None if _is_beyond(value) else value for key, value in one.items()}
        for name, one in told["tests"].items()
    }
    return {
        **told,
        "assumption": found.assumption,
        "told": found.told and found.least_p_value <= found.alpha,
        "drawn": {name: _bins(one) for name, one in found.tests.items()},
        "residuals": {
            name: {
                "size": one.size,
                "draws": one.n_draws,
                **{picture: _curve(getattr(one, picture)) for picture in PICTURES},
            }
            for name, one in kinds
        },
    }


def note_broken(found: Diagnosis | None) -> list[str]:
    """Return a note for the top of the page, where the assumption is broken."""
    if found is None or not found.rejected:
        return []
    return [
        "the labelled rows are not what the promise assumes "
        f"(p = {found.p_value:.3g}): see “May you trust this?”"
    ]


def _is_beyond(value: Any) -> bool:
    """Tell a number that JSON does not have: that of one draw, say, by how little draws vary."""
    return isinstance(value, float) and not isfinite(value)


def _bins(one: Finding) -> dict[str, Any]:
    """Return a histogram of a statistic over the draws."""
    finite = one.drawn[np.isfinite(one.drawn)]
    distinct = len(np.unique(np.round(finite, 9)))
    counts, edges = np.histogram(finite, min(BINS, max(distinct, 1))) if len(finite) else ([], [])
    return {"counts": np.asarray(counts).tolist(), "edges": np.asarray(edges).tolist()}


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "at": round_for_page(curve.at),
        "observed": round_for_page(curve.observed),
        "pointwise": round_for_page(curve.pointwise),
        "simultaneous": round_for_page(curve.simultaneous),
        "outside": curve.outside.tolist(),
    }
