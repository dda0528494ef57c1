"""The estimators: for one labelled history, for many series, and for whole sequences."""

from definetti.conformal.estimator import ConformalHMM as ConformalHMM
from definetti.conformal.grouped import GroupedConformalHMM as GroupedConformalHMM
from definetti.conformal.sequences import ConformalSequences as ConformalSequences
from definetti.conformal.series_modes import SeriesMode as SeriesMode
from definetti.conformal.series_modes import say_promise as say_promise
from definetti.conformal.series_sums import SeriesTotals as SeriesTotals
from definetti.conformal.series_sums import count_series as count_series
