"""Options with a fixed choice: the shell completes them, and a wrong one is told the right ones."""

from __future__ import annotations

from enum import StrEnum


class Guarantee(StrEnum):
    """What a set may promise."""

    all = "all"
    steps = "steps"
    errors = "errors"


class ClassifierName(StrEnum):
    """Classifiers of scikit-learn that may stand for the law of the observations."""

    random_forest = "random-forest"
    logistic = "logistic"
    gradient_boosting = "gradient-boosting"


class SimulatedWorld(StrEnum):
    """What may be simulated."""

    weather = "weather"
    sensors = "sensors"


class AdaptFrom(StrEnum):
    """Since when the level of a monitor adapts."""

    alarm = "alarm"
    beginning = "beginning"


class OnAlarm(StrEnum):
    """What a monitor does after an alarm."""

    warn = "warn"
    restart = "restart"
    adapt = "adapt"


class Series(StrEnum):
    """What each of many series is predicted by."""

    own = "own"
    others = "others"
    all = "all"
    first = "first"
