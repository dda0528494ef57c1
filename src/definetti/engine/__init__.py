"""Algorithm 1: tasks, references, ranks, p-values and thresholds."""

from definetti.engine.pvalues import Rank as Rank
from definetti.engine.pvalues import miscoverage as miscoverage
from definetti.engine.thresholds import blocks_needed as blocks_needed
from definetti.engine.thresholds import limit as limit
from definetti.engine.thresholds import risk_limit as risk_limit
