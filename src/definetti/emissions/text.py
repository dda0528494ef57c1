"""Observations that are text: labels or words, as their counts tell."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.emissions._lexicon import Lexicon
from definetti.emissions._pooled import checked_prior
from definetti.emissions.categorical import Categorical, FixedCategorical
from definetti.emissions.words import Words


@dataclass(frozen=True)
class Text(Words, name="text"):
    """Relative frequencies; the rule of `Words` for rare ones where much of the text is rare.

    Which of the two it is depends on how often each word comes in the completed sequence, and on
    nothing else: a rearrangement does not change it, so that the choice costs no validity.

    Parameters
    ----------
    prior, weight : as in `Words`; the prior is that of `Categorical`, too
    rare : float, default 0.05
        The share of words met once only above which words are taken for such. It is about the
        chance that the next word is new (Good 1953).
    few : int, default 50
        So many distinct words, or fewer, are labels, however short the sequence.

    Examples
    --------
    >>> emission = Text()
    >>> table, codes = emission.encode(["wet", "dry", "wet"], None, "observations")
    >>> emission.is_words(emission.statistics(table, codes, np.array([0, 1, 0]), 2))
    False
    """

    rare: float = 0.05
    few: int = 50

    law = "frequencies"

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_prior(self.rare, "rare")
        checked_prior(self.few, "few")

    def is_words(self, statistics: FloatArray) -> bool:
        """Tell whether counts, ``(n_states, number of words)``, are those of words."""
        counts = statistics.sum(axis=0)
        once = np.count_nonzero(counts == 1)
        return bool(np.count_nonzero(counts) > self.few and once > self.rare * counts.sum())

    def log_likelihood(self, table: Lexicon, statistics: FloatArray, codes: IntArray) -> FloatArray:
        if self.is_words(statistics):
            return super().log_likelihood(table, statistics, codes)
        return Categorical(self.prior).log_likelihood(table.words, statistics, codes)

    def fix(
        self, table: Lexicon, codes: IntArray, states: IntArray, labels: tuple[Hashable, ...]
    ) -> Words | FixedLabels:
        """Settle on a labelled stretch which of the two it is."""
        if self.is_words(self.statistics(table, codes, states, len(labels))):
            return Words(self.prior, self.weight)
        fixed = Categorical(self.prior).fix(table.words, codes, states, labels)
        return FixedLabels(fixed.prior, fixed.known)


@dataclass(frozen=True)
class FixedLabels(FixedCategorical):
    """Text that was found to be labels, in a fixed alphabet."""

    def encode(self, observations: Any, table: Any, name: str) -> tuple[Any, IntArray]:
        return Text().encode(observations, table, name)
