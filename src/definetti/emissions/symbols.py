"""Emissions of symbols: labels, or words, many of them never seen before."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_prior
from definetti._system.compiled import kernel
from definetti._system.mixins import Saved
from definetti.data.labels import MISSING, Alphabet, each_once, hashable, is_missing, listed
from definetti.emissions.base import ByState, Emission, Labels

BoolArray = npt.NDArray[np.bool_]
MATERIALS = ("lower", "capital", "upper", "number", "sign")
LETTERS = 3  # of a word's end


class Counted(ByState):
    """A law of symbols determined by their counts in each state."""

    symbols = True

    @abstractmethod
    def fix_counts(self, table: Any, counts: FloatArray) -> Counted:
        """Return the law fixed on the counts of each symbol of a table, ``(n_states, m)``."""

    @property
    def fixed_by_counts(self) -> bool:
        """Whether `fix_counts` is defined in this class itself, not inherited."""
        return "fix_counts" in vars(type(self))

    def fix(self, table: Any, codes: IntArray, states: IntArray, labels: Labels) -> Emission:
        if not self.fixed_by_counts:  # a derived class may have another law
            return super().fix(table, codes, states, labels)
        return self.fix_counts(table, count_symbols(codes, len(table), states, len(labels)))

    def gathered(self, table: Any, counts: FloatArray) -> FloatArray:
        """Return the statistics that follow from the counts of each symbol of a table."""
        width, cells = self.cells(table, np.arange(counts.shape[1]))
        gathered = np.zeros((width, len(counts)))
        np.add.at(gathered, cells, counts.T)
        return gathered.T

    def statistics(
        self, table: Any, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        """Return the counts of symbols in each state, ``(n_states, number of cells)``."""
        width, symbols = self.cells(table, codes)
        return count_symbols(symbols, width, states, n_states)

    def cells(self, table: Any, codes: IntArray) -> tuple[int, IntArray]:
        """Return the number of cells that symbols are counted in, and the cell of each."""
        return len(table.labels), codes


@dataclass(frozen=True)
class Categorical(Counted, name="categorical"):
    """Relative frequencies of symbols in each state, with ``prior`` added to every count.

    The symbols are those of the completed sequence, so a symbol never seen in a state has a
    small probability there, and a state never seen has the uniform law.

    Examples
    --------
    >>> emission = Categorical(prior=0.5)
    >>> table, codes = emission.encode(["wet", "dry", "wet", None], None, "observations")
    >>> states = np.array([0, 1, 0, 1])
    >>> statistics = emission.statistics(table, codes, states, n_states=2)
    >>> np.exp(emission.log_likelihood(table, statistics, codes)).round(3)
    array([[0.833, 0.25 ],
           [0.167, 0.75 ],
           [0.833, 0.25 ],
           [1.   , 1.   ]])
    """

    prior: float = 0.5

    law = "frequencies"
    example = ("a", "b", None)

    def __post_init__(self) -> None:
        checked_prior(self.prior)

    def encode(
        self, observations: Any, table: Alphabet | None, name: str
    ) -> tuple[Alphabet, IntArray]:
        symbols = listed(observations, name)
        met = each_once(symbols)
        for row, symbol in enumerate(symbols if met is None else []):
            if not hashable(symbol):
                raise TypeError(
                    f"{name}[{row}] is a {type(symbol).__name__}, {symbol!r}, which cannot serve "
                    "as a symbol; use text, numbers or tuples"
                )
        table = Alphabet() if table is None else table
        assert met is not None  # all can be hashed
        table.check_kind(symbols, name, met)
        table = table.extended(met)
        return table, table.encode_missing(symbols, met)

    def decode(self, table: Alphabet, codes: IntArray) -> npt.NDArray[Any]:
        return decode_symbols(table, codes)

    def judge_rows(
        self, table: Alphabet, rows: FloatArray, total: FloatArray, codes: IntArray
    ) -> FloatArray:
        _, symbols = self.cells(table, codes)
        return judge_symbols(rows, float(self.prior), symbols)

    def fix_counts(self, table: Any, counts: FloatArray) -> FixedCategorical:
        """Fix the alphabet on the symbols that occur."""
        return FixedCategorical(self.prior, tuple(np.flatnonzero(counts.any(axis=0)).tolist()))


@dataclass(frozen=True)
class FixedCategorical(Categorical):
    """Frequencies in a fixed alphabet: the symbols known, and one cell for all others.

    A law that spreads over all symbols met so far would depend on the order of the blocks.
    """

    known: tuple[int, ...] = ()  # the codes of the symbols in the training data

    def cells(self, table: Alphabet, codes: IntArray) -> tuple[int, IntArray]:
        number = len(self.known)
        place = np.full(len(table) + 1, number)  # the cell of all others
        place[list(self.known)] = np.arange(number)
        place[MISSING] = MISSING
        return number + 1, place[codes]


def decode_symbols(table: Alphabet, codes: IntArray) -> npt.NDArray[Any]:
    """Return symbols by their codes, None where missing."""
    # The code MISSING, −1, finds the last.
    symbols = np.fromiter([*table.labels, None], dtype=object, count=len(table) + 1)
    return symbols[codes]


def count_symbols(codes: IntArray, width: int, states: IntArray, n_states: int) -> FloatArray:
    """Count the occurrences of `width` symbols in each state, ``(n_states, width)``."""
    seen = codes != MISSING
    counts = np.bincount(states[seen] * width + codes[seen], minlength=n_states * width)
    return counts.reshape(n_states, width).astype(np.float64)


def judge_symbols(counts: FloatArray, prior: float, codes: IntArray) -> FloatArray:
    """Return log-likelihoods of symbols from counts: ``codes.shape + (n_states,)``."""
    # One row more than symbols: the code MISSING, −1, finds the last row, whose logs are 0.
    logs = np.zeros((counts.shape[1] + 1, len(counts)))
    logs[:-1] = log_frequencies(counts, prior).T
    return logs.take(codes, axis=0)


@kernel
def log_frequencies(counts: FloatArray, prior: float) -> FloatArray:
    """Return log-frequencies of rows of counts plus a prior; a row of zeros becomes uniform."""
    rows, columns = counts.shape
    logs = np.empty((rows, columns))
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            total += counts[i, j] + prior
        for j in range(columns):
            share = (counts[i, j] + prior) / total if total > 0.0 else 1.0 / columns
            logs[i, j] = math.log(share) if share > 0.0 else -np.inf
    return logs


@dataclass(frozen=True, eq=False)
class Lexicon(Saved):
    """The distinct words of a text and their shapes; adding words makes a new lexicon."""

    words: Alphabet = field(default_factory=Alphabet)
    shapes: Alphabet = field(default_factory=Alphabet)
    # (words,) the code of each word's shape, and (shapes,) its place in `MATERIALS`
    shape_of: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    material_of: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    labels: Labels = ()

    def __len__(self) -> int:
        return len(self.shape_of)

    def _saved(self) -> dict[str, Any]:
        return {"words": self.words}  # from which all else follows

    @classmethod
    def _restored(cls, kept: dict[str, Any]) -> Lexicon:
        return EMPTY._grown(kept["words"])

    @classmethod
    def _memory(cls, kept: dict[str, Any]) -> int:
        return 512 * len(kept["words"])

    def encoded(self, observations: Any, name: str) -> tuple[Lexicon, IntArray]:
        """Return a lexicon that also holds a text, and the codes of its words."""
        text = listed(observations, name)
        for row, word in enumerate(text):
            if not isinstance(word, str) and not is_missing(word):
                raise TypeError(
                    f"{name}[{row}] is {word!r}, which is not a word; use Categorical() for "
                    "symbols that are not text"
                )
        words = self.words.extended(text)
        lexicon = self if words is self.words else self._grown(words)
        return lexicon, lexicon.words.encode_missing(text)

    def _grown(self, words: Alphabet) -> Lexicon:
        """Return the lexicon of an alphabet that extends this one; only new words are inspected."""
        new = [shape(str(word)) for word in islice(words.codes, len(self), None)]
        shapes = self.shapes.extended(new)
        shape_of = np.concatenate([self.shape_of, shapes.encode(new, "shapes")])
        material_of = np.zeros(len(shapes), dtype=np.int64)
        material_of[: len(self.shapes)] = self.material_of
        for material, end in set(new):
            material_of[shapes.codes[material, end]] = MATERIALS.index(material)
        return Lexicon(words, shapes, shape_of, material_of, words.labels)


EMPTY = Lexicon()


def shape(word: str) -> tuple[str, str]:
    """Return the material of a word and, where that is letters, its ending."""
    material = made_of(word)
    return material, "" if material in ("number", "sign") else word[-LETTERS:].lower()


def made_of(word: str) -> str:
    """Return the material of a word, one of `MATERIALS`."""
    if any(letter.isdigit() for letter in word):
        return "number"
    if not any(letter.isalpha() for letter in word):
        return "sign"
    if len(word) > 1 and word.isupper():
        return "upper"
    return "capital" if word[0].isupper() else "lower"


@dataclass(frozen=True)
class Words(Counted, name="words"):
    """Relative frequencies of words in each state, with a rule for words that are rare.

    A word that occurs once in a state carries no more information than its shape: its last three
    letters, and whether it has a capital, all capitals, digits, or no letters at all. With ``c``
    its count in a state that has ``N`` words, ``D`` of them distinct, and ``K`` known words of its
    shape, its probability is

        P(word)  =  (max(c - 1, 0) + (D + w) q(shape) / K) / (N + w)

    where ``q`` is estimated in the same way from the shapes of the ``D`` distinct words, and backs
    off to their materials. This is absolute discounting (Ney, Essen and Kneser 1994). The
    discount is one since a candidate puts the new word into the state that it proposes.

    Parameters
    ----------
    prior : float, default 1/2
        Added to the number of distinct words in a state that are lower case, capitalised, and so
        on.
    weight : float, default 1
        ``w``, the weight of the shape even where every word is frequent, in words.

    Examples
    --------
    >>> emission = Words()
    >>> observations = ["running", "the", "walking", "a", "singing", "the", "the"]
    >>> table, codes = emission.encode(observations, None, "observations")
    >>> states = np.array([0, 1, 0, 1, 0, 1, 1])
    >>> statistics = emission.statistics(table, codes, states, n_states=2)
    >>> table, new = emission.encode(["dancing"], table, "new_observations")
    >>> statistics = np.pad(statistics, [(0, 0), (0, 1)])
    >>> np.exp(emission.log_likelihood(table, statistics, new)).round(3)
    array([[0.19 , 0.037]])
    """

    prior: float = 0.5
    weight: float = 1.0

    law = "frequencies of words"
    example = ("walking", "the", None)

    def __post_init__(self) -> None:
        checked_prior(self.prior)
        checked_prior(self.weight, "weight")
        if self.weight == 0:
            raise ValueError("weight must be above 0, for a state without words to have a law")

    def encode(
        self, observations: Any, table: Lexicon | None, name: str
    ) -> tuple[Lexicon, IntArray]:
        return (EMPTY if table is None else table).encoded(observations, name)

    def decode(self, table: Lexicon, codes: IntArray) -> npt.NDArray[Any]:
        return decode_symbols(table.words, codes)

    def fix_counts(self, table: Lexicon, counts: FloatArray) -> Counted:
        return self  # only words that occurred count, and no later one is added

    def judge_rows(
        self, table: Lexicon, rows: FloatArray, total: FloatArray, codes: IntArray
    ) -> FloatArray:
        shapes = _distinct(rows, table.shape_of, len(table.shapes))
        materials = _distinct(shapes, table.material_of, len(MATERIALS))
        shown = total > 0
        shown_shapes = np.bincount(table.shape_of, shown, len(table.shapes)) > 0
        law = np.exp(log_frequencies(materials, self.prior))
        law = self._backed_off(shapes, shown_shapes, law, table.material_of)
        law = self._backed_off(rows, shown, law, table.shape_of)
        # One row more than words: the code MISSING, −1, finds the last row, whose logs are 0.
        logs = np.zeros((len(table) + 1, len(rows)))
        with np.errstate(divide="ignore"):
            logs[:-1] = np.log(law).T
        return logs[codes]

    def _backed_off(
        self, counts: FloatArray, shown: BoolArray, law: FloatArray, parent: IntArray
    ) -> FloatArray:
        """Discount each count by one and redistribute the discounts by the law of the parents."""
        # Words are counted if they occur, not if they are listed, so that only counts matter.
        known = np.bincount(parent[shown], minlength=law.shape[1])
        per_child = (law / np.maximum(known, 1))[:, parent]
        total = counts.sum(axis=1, keepdims=True)
        spare = self.weight + (counts > 0).sum(axis=1, keepdims=True)
        discounted = np.maximum(counts - 1.0, 0.0)
        return np.asarray((discounted + spare * per_child) / (total + self.weight))


@dataclass(frozen=True)
class Text(Words, name="text"):
    """Relative frequencies; the rule of `Words` where many words of a text are rare.

    The choice depends only on the counts of words in the completed sequence, which no
    rearrangement changes.

    Parameters
    ----------
    prior, weight : as in `Words`; the prior is that of `Categorical`, too
    rare : float, default 0.05
        The rule of `Words` applies if the share of words that occur once is above this. The share
        is about the chance that the next word is new (Good 1953).
    few : int, default 50
        So many distinct words, or fewer, are treated as labels, however short the sequence.

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
        """Return whether counts, ``(n_states, number of words)``, are of words, not labels."""
        counts = statistics.sum(axis=0)
        once = np.count_nonzero(counts == 1)
        return bool(np.count_nonzero(counts) > self.few and once > self.rare * counts.sum())

    def judge_rows(
        self, table: Lexicon, rows: FloatArray, total: FloatArray, codes: IntArray
    ) -> FloatArray:
        if self.is_words(total[None]):
            return super().judge_rows(table, rows, total, codes)
        return judge_symbols(rows, float(self.prior), codes)

    def fix_counts(self, table: Lexicon, counts: FloatArray) -> Words | FixedLabels:
        """Return the law of words or that of labels, chosen by counts."""
        if self.is_words(counts):
            return Words(self.prior, self.weight)
        fixed = Categorical(self.prior).fix_counts(table, counts)
        return FixedLabels(fixed.prior, fixed.known)


@dataclass(frozen=True)
class FixedLabels(FixedCategorical):
    """Text treated as labels, in a fixed alphabet."""

    def encode(self, observations: Any, table: Any, name: str) -> tuple[Any, IntArray]:
        return Text().encode(observations, table, name)


def _distinct(counts: FloatArray, parent: IntArray, size: int) -> FloatArray:
    """Count the distinct children of each parent, state by state: ``(n, size)``."""
    return np.stack([np.bincount(parent, row, size) for row in (counts > 0).astype(float)])
