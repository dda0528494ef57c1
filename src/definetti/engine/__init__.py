"""Algorithm 1: prediction tasks, ranks, p-values and thresholds."""

from definetti.engine.algorithm import rank_general as rank_general
from definetti.engine.pvalues import Rank as Rank
from definetti.engine.pvalues import Ranked as Ranked
from definetti.engine.pvalues import membership as membership
from definetti.engine.pvalues import miscoverage as miscoverage
from definetti.engine.task import PredictionTask as PredictionTask
from definetti.engine.thresholds import blocks_needed as blocks_needed
from definetti.engine.thresholds import limit as limit
from definetti.engine.thresholds import risk_limit as risk_limit
