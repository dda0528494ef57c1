"""A cell: one piece of an experiment, named by all that its numbers depend on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from definetti import __version__

Settings = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Cell:
    """One method at one point of a grid, repeated.

    Attributes
    ----------
    experiment : what it is a part of
    point : names and plain values that say where in the grid it is: what the data depend on
    method : names and plain values that say what is done with the data
    repetitions, seed : how often, and from where the random numbers come
    version : the library's, for numbers of another version are not these

    Examples
    --------
    >>> cell = Cell("figure1", (("T", 50), ("p", 0.1)), (("symmetry", "full"),), 500, seed=1)
    >>> other = Cell("figure1", (("T", 50), ("p", 0.1)), (("symmetry", "pairs"),), 500, seed=1)
    >>> cell.key == other.key
    False
    >>> bool(cell.generator(7).random() == other.generator(7).random())
    True
    """

    experiment: str
    point: Settings
    method: Settings
    repetitions: int
    seed: int
    version: str = __version__

    @cached_property
    def text(self) -> str:
        """All of it as text, the same on every machine."""
        return json.dumps(asdict(self), sort_keys=True)

    @cached_property
    def key(self) -> str:
        """A name for a file, different for every cell."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]

    @cached_property
    def _entropy(self) -> int:
        # Not the method: all methods are to see the same data. Not the number of repetitions:
        # the first hundred of five hundred are a hundred.
        place = json.dumps([self.experiment, self.point])
        return int.from_bytes(hashlib.sha256(place.encode()).digest()[:16], "big")

    def generator(self, repetition: int) -> np.random.Generator:
        """Return the random numbers of one repetition, whoever asks for them and when."""
        return np.random.default_rng([self.seed, self._entropy, repetition])
