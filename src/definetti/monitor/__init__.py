"""Follow a stream: sets for the present, late labels, alarms."""

from definetti.monitor.monitor import Monitor as Monitor
from definetti.monitor.past import cut_set as cut_set
from definetti.monitor.past import last_states as last_states
from definetti.monitor.steps import COVERAGE as COVERAGE
from definetti.monitor.steps import Alert as Alert
from definetti.monitor.steps import Coverage as Coverage
from definetti.monitor.steps import Share as Share
from definetti.monitor.steps import Step as Step
from definetti.monitor.steps import each_row as each_row
