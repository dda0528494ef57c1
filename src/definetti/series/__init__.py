"""Many series: which history each is calibrated by, and what its model learns from."""

from definetti.series.base import Promise as Promise
from definetti.series.base import say_promise as say_promise
from definetti.series.each import EachSeries as EachSeries
from definetti.series.modes import AllTogether as AllTogether
from definetti.series.modes import FirstOfEach as FirstOfEach
from definetti.series.modes import OtherSeries as OtherSeries
from definetti.series.modes import OwnHistory as OwnHistory
from definetti.series.totals import SeriesTotals as SeriesTotals
from definetti.series.totals import count_series as count_series
