"""Levels of confidence: one for all states, or one for each."""

from definetti.levels.budgeting import budget as budget
from definetti.levels.by_state import ConfidenceLevel as ConfidenceLevel
from definetti.levels.by_state import Levels as Levels
from definetti.levels.by_state import read_levels as read_levels
