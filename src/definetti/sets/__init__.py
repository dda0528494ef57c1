"""What a person gets: sets of state sequences."""

from definetti.sets.evaluation import Evaluation, StateCoverage
from definetti.sets.lattice import LatticeSet, Members
from definetti.sets.listed import PredictionSet
from definetti.sets.many import PredictionSets
from definetti.sets.steps import StepSets
from definetti.sets.verdict import Verdict

__all__ = [
    "Evaluation",
    "LatticeSet",
    "Members",
    "PredictionSet",
    "PredictionSets",
    "StateCoverage",
    "StepSets",
    "Verdict",
]
