"""Levels that adapt: nothing is assumed, and the share of misses is kept in the long run.

They take p-values, of a state or of a whole sequence of states, from whatever method gives them.
What they promise holds for every sequence of p-values, and is an inequality: `AdaptiveLevel.bound`.
"""

from definetti.adaptive.base import AdaptiveLevel as AdaptiveLevel
from definetti.adaptive.rules import ACI as ACI
from definetti.adaptive.rules import DtACI as DtACI
from definetti.adaptive.rules import QuantilePID as QuantilePID
