"""Sets judged by the truth."""

from definetti.judging.compare import Comparison, compare_predictors
from definetti.judging.intervals import exact_interval
from definetti.judging.summary import summary

__all__ = ["Comparison", "compare_predictors", "exact_interval", "summary"]
