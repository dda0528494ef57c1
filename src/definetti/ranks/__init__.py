"""Step 5: ranks in whole numbers, and the thresholds that they come to."""

from definetti.ranks.limits import blocks_needed as blocks_needed
from definetti.ranks.limits import limit as limit
from definetti.ranks.limits import risk_limit as risk_limit
from definetti.ranks.pvalue import Rank as Rank
from definetti.ranks.pvalue import miscoverage as miscoverage
