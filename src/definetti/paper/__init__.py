"""The paper's experiments, with its method as published, as proved, and ours."""

from definetti.paper.figure1 import figure1
from definetti.paper.figure2 import figure2
from definetti.paper.figure3 import figure3
from definetti.paper.methods import METHODS, OURS, PAIRS, PUBLISHED, Method
from definetti.paper.reproduction import Reproduction
from definetti.paper.table1 import table1

__all__ = [
    "METHODS",
    "OURS",
    "PAIRS",
    "PUBLISHED",
    "Method",
    "Reproduction",
    "figure1",
    "figure2",
    "figure3",
    "table1",
]
