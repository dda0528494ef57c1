"""From the values of all tests to their p-values, and to one for all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from definetti._system.arrays import FloatArray
from definetti.check.ranking import find_part, judge_rows, stop_early, strangest


class Judged(NamedTuple):
    """P-values of a test, by itself and among all; and its strangest part."""

    p_value: float
    adjusted: float
    part: int


def judge_all(
    families: list[dict[str, FloatArray]], uniform: float | None
) -> tuple[float, dict[str, Judged]]:
    """Return the p-value of all tests together, and those of each.

    Tests on the same draws are a family, and the smallest p-value of a family is ranked among
    those of its draws. Of several families the smallest counts as often as there are families.

    Parameters
    ----------
    families : for each test ``(1 + M, parts)`` values, the sample's own first
    uniform : what breaks ties, if they are to be broken

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[3.0], [1.0], [2.0], [0.0]])
    >>> judge_all([{"one": values, "other": -values}], None)
    (0.5, {'one': Judged(p_value=0.25, adjusted=0.5, part=0), \
'other': Judged(p_value=1.0, adjusted=1.0, part=0)})
    """
    judged, verdicts = {}, []
    for family in families:
        each = {name: judge_rows(values) for name, values in family.items()}
        together = strangest(list(each.values()))
        for name, one in each.items():
            own = int(one.counts[0]), float(one.off[0])
            adjusted = min(1.0, len(families) * together.rank(*own).p_value(uniform))
            part = find_part(family[name])
            judged[name] = Judged(one.rank(*own).p_value(uniform), adjusted, part)
        first = int(together.counts[0]), float(together.off[0])
        verdicts.append(together.rank(*first).p_value(uniform))
    return min(1.0, len(families) * min(verdicts)), judged


def judge_early(values: Mapping[str, FloatArray], enough: int) -> tuple[float, dict[str, Judged]]:
    """Do as `judge_all` does where draws were stopped early, without ranks among draws.

    Of a test's parts, and of all tests, the smallest p-value counts as often as there are any
    (Bonferroni); the others are adjusted step by step (Holm).
    """
    alone = {}
    for name, each in values.items():
        parts = [stop_early(part, enough)[0] for part in each.T]
        alone[name] = min(1.0, len(parts) * min(parts))
    judged, so_far = {}, 0.0
    for k, name in enumerate(sorted(alone, key=lambda name: alone[name])):
        so_far = max(so_far, min(1.0, (len(alone) - k) * alone[name]))
        judged[name] = Judged(alone[name], so_far, find_part(values[name]))
    return min(one.adjusted for one in judged.values()), judged
