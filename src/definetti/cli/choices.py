"""Options with a fixed choice: the shell completes them, and a wrong one is told the right ones."""

from __future__ import annotations

from enum import StrEnum


class Guarantee(StrEnum):
    """What a set may promise."""

    all = "all"
    steps = "steps"
    errors = "errors"


class SimulatedWorld(StrEnum):
    """What may be simulated."""

    weather = "weather"
    sensors = "sensors"


class OnAlarm(StrEnum):
    """What a monitor does after an alarm."""

    warn = "warn"
    restart = "restart"
    adapt = "adapt"
