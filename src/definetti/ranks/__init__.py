"""Step 5: ranks in whole numbers, and the thresholds that they come to."""

from definetti.ranks.pvalue import Rank, miscoverage

__all__ = ["Rank", "miscoverage"]
