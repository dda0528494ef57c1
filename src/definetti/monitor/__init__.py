"""Follow a stream: sets for the present, late labels, alarms."""

from definetti.monitor.monitor import Monitor as Monitor
from definetti.monitor.records import COVERAGE as COVERAGE
from definetti.monitor.records import Alert as Alert
from definetti.monitor.records import Coverage as Coverage
from definetti.monitor.records import Share as Share
from definetti.monitor.records import Step as Step
from definetti.monitor.sets import cut_set as cut_set
from definetti.monitor.sets import last_states as last_states
from definetti.monitor.waiting import each_row as each_row
