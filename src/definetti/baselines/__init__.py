"""Classical conformal prediction, which a backtest shows beside ours, and the base of all rivals.

The other methods that the paper names are in `definetti.experiments`.
"""

from definetti.baselines.base import Baseline as Baseline
from definetti.baselines.classical import Classical as Classical
