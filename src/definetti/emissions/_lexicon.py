"""Words and their shapes: the table of a text."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.saved import Saved
from definetti.data.labels import Alphabet, is_missing, listed

MATERIALS = ("lower", "capital", "upper", "number", "sign")
LETTERS = 3  # of a word's end


@dataclass(frozen=True, eq=False)
class Lexicon(Saved):
    """The distinct words of a text and their shapes; adding words makes a new lexicon.

    Attributes
    ----------
    words, shapes : the words, and the shapes that they have
    shape_of : (number of words,) the code of each word's shape
    material_of : (number of shapes,) what each shape is made of, as a place in `MATERIALS`

    Examples
    --------
    >>> lexicon, codes = Lexicon().encoded(["Walking", "and", "running", "and"], "observations")
    >>> codes
    array([0, 1, 2, 1])
    >>> lexicon.shapes.labels
    (('capital', 'ing'), ('lower', 'and'), ('lower', 'ing'))
    """

    words: Alphabet = field(default_factory=Alphabet)
    shapes: Alphabet = field(default_factory=Alphabet)
    shape_of: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    material_of: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.shape_of)

    def _saved(self) -> dict[str, Any]:
        return {"words": self.words}  # of which all else follows

    @classmethod
    def _restored(cls, kept: dict[str, Any]) -> Lexicon:
        return EMPTY._grown(kept["words"])

    @property
    def labels(self) -> tuple[Hashable, ...]:
        return self.words.labels

    def encoded(self, observations: Any, name: str) -> tuple[Lexicon, IntArray]:
        """Return a lexicon that also holds a text, and the codes of its words."""
        found = listed(observations, name)
        for row, word in enumerate(found):
            if not isinstance(word, str) and not is_missing(word):
                raise TypeError(
                    f"{name}[{row}] is {word!r}, which is not a word; use Categorical() for "
                    "symbols that are not text"
                )
        words = self.words.extended(found)
        lexicon = self if words is self.words else self._grown(words)
        return lexicon, lexicon.words.encode_missing(found)

    def _grown(self, words: Alphabet) -> Lexicon:
        """Take in an alphabet that goes on where this one ends; only new words are looked at."""
        new = [shape(str(word)) for word in islice(words.codes, len(self), None)]
        shapes = self.shapes.extended(new)
        shape_of = np.concatenate([self.shape_of, shapes.encode(new, "shapes")])
        material_of = np.zeros(len(shapes), dtype=np.int64)
        material_of[: len(self.shapes)] = self.material_of
        for material, end in set(new):
            material_of[shapes.codes[material, end]] = MATERIALS.index(material)
        return Lexicon(words, shapes, shape_of, material_of)


EMPTY = Lexicon()


def shape(word: str) -> tuple[str, str]:
    """Return what a word is made of and, where that is letters, its end.

    >>> shape("Running"), shape("1984")
    (('capital', 'ing'), ('number', ''))
    """
    material = made_of(word)
    return material, "" if material in ("number", "sign") else word[-LETTERS:].lower()


def made_of(word: str) -> str:
    """Tell what a word is made of.

    >>> [made_of(word) for word in ("cat", "Rome", "UN", "1,000", "…")]
    ['lower', 'capital', 'upper', 'number', 'sign']
    """
    if any(letter.isdigit() for letter in word):
        return "number"
    if not any(letter.isalpha() for letter in word):
        return "sign"
    if len(word) > 1 and word.isupper():
        return "upper"
    return "capital" if word[0].isupper() else "lower"
