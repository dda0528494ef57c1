"""Prediction sets: listed, as a lattice, step by step, and in batches."""

from definetti.engine.promise import Errors as Errors
from definetti.engine.promise import read_guarantee as read_guarantee
from definetti.sets.base import BasePredictionSet as BasePredictionSet
from definetti.sets.batch import PredictionSets as PredictionSets
from definetti.sets.lattice import LatticeSet as LatticeSet
from definetti.sets.lattice import Members as Members
from definetti.sets.listed import PredictionSet as PredictionSet
from definetti.sets.steps import StepSets as StepSets
