"""What tests of the training stretch choose, and what of it a question can use."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from definetti._system.caller import warn_caller
from definetti.data.candidates import is_long
from definetti.data.labelled import Labelled, New
from definetti.data.labels import MISSING
from definetti.exceptions import SpareMemoryWarning
from definetti.sets._wording import LAST
from definetti.symmetry import Symmetry, find_symmetry

if TYPE_CHECKING:
    from definetti.choosing import Choice
    from definetti.conformal.estimator import ConformalHMM

CHOOSING = 1  # names the draws by which something is chosen; no prediction's name is so short
FEW = 100  # candidates, up to which "full" may be taken in the place of "spaced"


class Used(NamedTuple):
    """What a question is answered by.

    Attributes
    ----------
    symmetry : what candidates are compared with
    chosen : whether tests chose it
    unused : what the future depends on by the tests, where the question cannot use it
    """

    symmetry: Symmetry
    chosen: bool = False
    unused: str = ""


def choose_for(cp: ConformalHMM, data: Labelled, entropy: int) -> Choice:
    """Choose what is left to be chosen, by the training stretch and draws of its own."""
    from definetti.choosing import choose

    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(CHOOSING,)))
    limited = f"guarantee={cp.guarantee!r}" if cp.guarantee != "all" else ""
    if find_symmetry(cp.symmetry).given != LAST:
        limited = ""  # whatever the future depends on, the present is known
    return choose(data, cp.memory, cp.symmetry, rng, limited)


def use_choice(
    cp: ConformalHMM,
    choice: Choice,
    spare: Symmetry | None,
    new: New,
    *,
    lag: int,
    n_states: int,
    gaps: bool,
) -> Used:
    """Find what of a choice can answer a question, by what is known beforehand.

    Parameters
    ----------
    spare : the symmetry of states that stands in for one of tokens, where these were chosen
    n_states : how many the completed sequence has, which all its rearrangements share
    gaps : whether any observation of the history is missing
    """
    symmetry, tested = cp._remembering, choice.diagnosis is not None
    small = choice.symmetry is not None and _is_small(cp, n_states, new, lag)
    if small and cp._over_few is not None:
        symmetry = cp._over_few
    lacking = symmetry.lacks(gaps or bool((new.codes[~new.unseen] == MISSING).any()))
    limits = is_long(n_states, len(new.codes), cp.max_candidates) or _needs_limits(cp, new, lag)
    if spare is not None and (lacking or _needs_spare(symmetry, spare, new, limits)):
        unused = symmetry.recalls
        warn_caller(
            f"the tests chose a future that depends on {unused}, which cannot be used for "
            "this question; the set is exact where it depends on the present state alone",
            SpareMemoryWarning,
        )
        return Used(spare, unused=unused)
    remembers = choice.memory is not None and bool(symmetry.recalls)
    return Used(symmetry, chosen=tested and (small or remembers))


def _is_small(cp: ConformalHMM, n_states: int, new: New, lag: int) -> bool:
    """Tell whether a question can do without limits for last states, at little cost."""
    long = is_long(n_states, len(new.codes), min(FEW, cp.max_candidates))
    return not (long or _needs_limits(cp, new, lag))


def _needs_spare(symmetry: Symmetry, spare: Symmetry, new: New, limits: bool) -> bool:
    """Tell whether a question is one that tokens cannot answer."""
    if bool(new.unseen.any()) and symmetry.needs_observations:
        return True
    return limits and spare.by_last_state and not symmetry.by_last_state


def _needs_limits(cp: ConformalHMM, new: New, lag: int) -> bool:
    """Tell whether a question can be answered by limits for last states alone."""
    partly = bool(new.unseen.any()) and not bool(new.unseen.all())
    return bool(lag) or partly or cp.guarantee != "all"
