"""Sets of hidden-state sequences that hold the truth with the probability promised, exactly."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from definetti.conformal import ConformalHMM, ConformalSequences, GroupedConformalHMM
    from definetti.evaluation import compare_predictors
    from definetti.evaluation.results import Evaluation
    from definetti.models import HMM, FromHmmlearn, given_hmm
    from definetti.monitor import Monitor
    from definetti.saving import load
    from definetti.sets import Errors, LatticeSet, PredictionSet, StepSets

# Loaded on first use: `import definetti` itself costs nothing.
_HOMES = {
    "ConformalHMM": "conformal",
    "ConformalSequences": "conformal",
    "Errors": "sets",
    "Evaluation": "evaluation.results",
    "FromHmmlearn": "models",
    "GroupedConformalHMM": "conformal",
    "HMM": "models",
    "LatticeSet": "sets",
    "Monitor": "monitor",
    "PredictionSet": "sets",
    "StepSets": "sets",
    "compare_predictors": "evaluation",
    "given_hmm": "models",
    "load": "saving",
}

__all__ = [
    "HMM",
    "ConformalHMM",
    "ConformalSequences",
    "Errors",
    "Evaluation",
    "FromHmmlearn",
    "GroupedConformalHMM",
    "LatticeSet",
    "Monitor",
    "PredictionSet",
    "StepSets",
    "compare_predictors",
    "given_hmm",
    "load",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"definetti.{_HOMES[name]}"), name)
    if name in _rooms():
        return import_module(f"definetti.{name}")
    raise AttributeError(f"module 'definetti' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_rooms()})


def _rooms() -> set[str]:
    """The modules of the package, as they lie in its folder: none can be forgotten here."""
    return {one.name for one in iter_modules(__path__) if not one.name.startswith("_")}
