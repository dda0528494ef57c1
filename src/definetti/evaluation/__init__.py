"""Rolling evaluation: window loops, the backtest, comparisons and verdicts."""

from definetti._system.checks import START as START
from definetti._system.checks import WINDOWS as WINDOWS
from definetti.evaluation.backtest import Backtest as Backtest
from definetti.evaluation.backtest import run_backtest as run_backtest
from definetti.evaluation.compare import Comparison as Comparison
from definetti.evaluation.compare import compare_predictors as compare_predictors
from definetti.evaluation.intervals import exact_interval as exact_interval
from definetti.evaluation.results import Evaluation as Evaluation
from definetti.evaluation.results import StateCoverage as StateCoverage
from definetti.evaluation.results import summary as summary
from definetti.evaluation.series import SeriesEvaluation as SeriesEvaluation
from definetti.evaluation.series import SeriesRecord as SeriesRecord
from definetti.evaluation.series_backtest import SeriesWork as SeriesWork
from definetti.evaluation.series_backtest import backtest_series as backtest_series
from definetti.evaluation.verdict import Verdict as Verdict
