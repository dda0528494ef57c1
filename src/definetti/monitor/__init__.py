"""Follow a stream: sets for the present, late labels, alarms."""

from definetti.monitor.monitor import Monitor as Monitor
from definetti.monitor.records import Alert as Alert
from definetti.monitor.records import Coverage as Coverage
from definetti.monitor.records import Share as Share
from definetti.monitor.records import Step as Step
