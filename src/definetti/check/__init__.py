"""Exact tests of the assumption that a labelled history comes from a hidden Markov model.

All rearrangements of a history with the same sufficient statistics are equally probable under every
hidden Markov model; so the rank of any statistic among those of rearrangements is an exact p-value.
"""

from definetti.check.autocorrelation import Autocorrelation as Autocorrelation
from definetti.check.chain import Durations as Durations
from definetti.check.chain import Order as Order
from definetti.check.chain import Transitions as Transitions
from definetti.check.coverage_loss import MeasuredCoverage as MeasuredCoverage
from definetti.check.diagnosis import Diagnosis as Diagnosis
from definetti.check.diagnosis import Finding as Finding
from definetti.check.drift import Drift as Drift
from definetti.check.engine import check as check
from definetti.check.engine import check_quickly as check_quickly
from definetti.check.one_law import OneChain as OneChain
from definetti.check.one_law import OneEmission as OneEmission
from definetti.check.residuals import Curve as Curve
from definetti.check.residuals import Residuals as Residuals
from definetti.check.sample import Draws as Draws
from definetti.check.sample import Sample as Sample
from definetti.check.statistic import CannotTest as CannotTest
from definetti.check.statistic import Effect as Effect
from definetti.check.statistic import Own as Own
from definetti.check.statistic import Statistic as Statistic
