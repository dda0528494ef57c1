"""Living with a stream: sets for the present, labels that come later, alarms."""

from definetti.monitor.coverage import Coverage as Coverage
from definetti.monitor.coverage import Share as Share
from definetti.monitor.monitor import Monitor as Monitor
from definetti.monitor.steps import Alert as Alert
from definetti.monitor.steps import Step as Step
