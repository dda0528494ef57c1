"""Sets as they were before something was let in because nothing was plausible."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from definetti.sets.lattice import LatticeSet
from definetti.sets.listed import PredictionSet
from definetti.sets.steps import StepSets

AnySet = PredictionSet | LatticeSet | StepSets


def covers_unfilled(s: AnySet, truth: tuple[Hashable, ...]) -> bool:
    """Tell whether a sequence is in a set without what was let in because nothing was plausible."""
    if not s.filled:
        return truth in s
    return isinstance(s, StepSets) and truth in replace(s, allow_empty=True)


def steps_filled(s: AnySet) -> npt.NDArray[np.bool_]:
    """Return at which steps of a set nothing was plausible, and something was let in."""
    return s.filled_steps if isinstance(s, StepSets) else np.full(s.horizon, s.filled)
