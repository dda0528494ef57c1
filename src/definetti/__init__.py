"""Sets of hidden-state sequences that hold the truth with the probability promised, exactly."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from definetti.compare import compare_predictors
    from definetti.conformal import ConformalHMM
    from definetti.hmm.foreign import FromHmmlearn
    from definetti.hmm.given import given_hmm
    from definetti.hmm.model import HMM
    from definetti.sequences import ConformalSequences
    from definetti.sets import Evaluation, LatticeSet, PredictionSet, StepSets

# Loaded on first use: `import definetti` itself costs nothing.
_HOMES = {
    "ConformalHMM": "definetti.conformal",
    "compare_predictors": "definetti.compare",
    "FromHmmlearn": "definetti.hmm.foreign",
    "given_hmm": "definetti.hmm.given",
    "HMM": "definetti.hmm.model",
    "ConformalSequences": "definetti.sequences",
    "Evaluation": "definetti.sets",
    "LatticeSet": "definetti.sets",
    "PredictionSet": "definetti.sets",
    "StepSets": "definetti.sets",
    "baselines": "",
    "experiments": "",
    "hmm": "",
    "lattice": "",
    "plots": "",
    "scores": "",
    "sets": "",
    "simulate": "",
    "symmetry": "",
    "verify": "",
}

__all__ = [
    "HMM",
    "ConformalHMM",
    "ConformalSequences",
    "Evaluation",
    "FromHmmlearn",
    "LatticeSet",
    "PredictionSet",
    "StepSets",
    "compare_predictors",
    "given_hmm",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'definetti' has no attribute {name!r}")
    home = _HOMES[name]
    return getattr(import_module(home), name) if home else import_module(f"definetti.{name}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
