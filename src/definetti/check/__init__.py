"""Is the assumption true? Exact tests of a labelled history, by rearranging it.

Given what its likelihood depends on, a hidden Markov model is uniform on the rearrangements of its
history; so the rank of any statistic among those of rearrangements is an exact p-value.
"""

from definetti.check.bands import Curve as Curve
from definetti.check.base import CannotTest as CannotTest
from definetti.check.base import Effect as Effect
from definetti.check.base import Statistic as Statistic
from definetti.check.checking import check as check
from definetti.check.diagnosis import Diagnosis as Diagnosis
from definetti.check.diagnosis import Finding as Finding
from definetti.check.drift import Drift as Drift
from definetti.check.durations import Durations as Durations
from definetti.check.lingering import Lingering as Lingering
from definetti.check.one_law import OneChain as OneChain
from definetti.check.one_law import OneEmission as OneEmission
from definetti.check.order import Order as Order
from definetti.check.own import Own as Own
from definetti.check.quick import check_quickly as check_quickly
from definetti.check.residuals import Residuals as Residuals
from definetti.check.sample import Draws as Draws
from definetti.check.sample import Sample as Sample
from definetti.check.transitions import Transitions as Transitions
