"""How often sets held the truth so far, with intervals that hold whenever one looks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from definetti.martingales import ConfidenceSequence


class Share(NamedTuple):
    """How often, of how many sets, and between what bounds.

    Attributes
    ----------
    held, judged : sets that held the truth, and all that were judged
    low, high : the interval of a confidence sequence, which holds at all times together
    """

    held: int
    judged: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share of sets that held the truth; NaN before the first."""
        return self.held / self.judged if self.judged else float("nan")


class Coverage:
    """Sets judged by the truth, all together and by the true state.

    Parameters
    ----------
    sequence : what makes the intervals

    Examples
    --------
    >>> from definetti.martingales import NormalMixture
    >>> coverage = Coverage(NormalMixture())
    >>> for held in [True, True, False, True]:
    ...     coverage.add("rain", held)
    >>> coverage.overall.share, coverage.by_state["rain"].judged
    (0.75, 4)
    >>> coverage
    Coverage: 0.750 of 4 sets held the truth, [0.000, 1.000] at all times
    """

    def __init__(self, sequence: ConfidenceSequence) -> None:
        self.sequence = sequence
        self.counts: dict[Hashable, list[int]] = {}  # held and judged, by state

    def add(self, state: Hashable, held: bool) -> None:
        """Judge one more set."""
        counts = self.counts.setdefault(state, [0, 0])
        counts[0] += held
        counts[1] += 1

    @property
    def overall(self) -> Share:
        held = sum(counts[0] for counts in self.counts.values())
        return self._share(held, sum(counts[1] for counts in self.counts.values()))

    @property
    def by_state(self) -> Mapping[Hashable, Share]:
        return {state: self._share(*counts) for state, counts in self.counts.items()}

    def _share(self, held: int, judged: int) -> Share:
        low, high = self.sequence.interval(held, judged)
        return Share(held, judged, float(low), float(high))

    def __repr__(self) -> str:
        found = self.overall
        return (
            f"Coverage: {found.share:.3f} of {found.judged} sets held the truth, "
            f"[{found.low:.3f}, {found.high:.3f}] at all times"
        )
