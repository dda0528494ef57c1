"""Levels of confidence: one for all states, one for each, or one that adapts to misses."""

from definetti.levels.adaptive import ACI as ACI
from definetti.levels.adaptive import AdaptiveLevel as AdaptiveLevel
from definetti.levels.adaptive import DtACI as DtACI
from definetti.levels.adaptive import QuantilePID as QuantilePID
from definetti.levels.budgeting import budget as budget
from definetti.levels.by_state import ConfidenceLevel as ConfidenceLevel
from definetti.levels.by_state import Levels as Levels
from definetti.levels.by_state import read_levels as read_levels
