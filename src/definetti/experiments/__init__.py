"""The paper's experiments, with its method as published, as proved, and ours."""

from definetti.experiments.compare import compare
from definetti.experiments.figure1 import figure1
from definetti.experiments.figure2 import figure2
from definetti.experiments.figure3 import figure3
from definetti.experiments.methods import METHODS, OURS, PAIRS, PUBLISHED, Method
from definetti.experiments.reproduction import Reproduction
from definetti.experiments.table1 import table1

__all__ = [
    "METHODS",
    "OURS",
    "PAIRS",
    "PUBLISHED",
    "Method",
    "Reproduction",
    "compare",
    "figure1",
    "figure2",
    "figure3",
    "table1",
]
