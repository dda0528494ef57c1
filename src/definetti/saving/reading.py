"""A manifest and its parts to values."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from definetti.exceptions import LoadError
from definetti.saving.all_forms import FORMS
from definetti.saving.archive import Archive
from definetti.saving.arrays import from_bytes

BY_TAG = {form.tag: form for form in FORMS}


class Reader:
    """Reads the values of an archive."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive

    def read(self, node: Any) -> Any:
        """Return the value that JSON stands for."""
        if isinstance(node, list):
            return [self.read(one) for one in node]
        if not isinstance(node, dict):
            return node
        if len(node) != 1 or (tag := next(iter(node))) not in BY_TAG:
            raise LoadError(f"has values that definetti does not know: {', '.join(node)[:80]}")
        return BY_TAG[tag].read(node[tag], self)

    def array(self, name: Any) -> npt.NDArray[Any]:
        """Return the array in a part, one of its own however often the part is used."""
        return from_bytes(self.archive.part(name), name)
