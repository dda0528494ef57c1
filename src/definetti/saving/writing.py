"""Values to a manifest and its parts."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy.typing as npt

from definetti.exceptions import SaveError
from definetti.saving.all_forms import FORMS
from definetti.saving.archive import DEEPEST
from definetti.saving.arrays import to_bytes
from definetti.saving.containers import LONG
from definetti.saving.refusing import refused
from definetti.saving.scalars import is_scalar, plain_scalar

ROOM = DEEPEST // 4  # a value takes a few brackets


class Writer:
    """Writes values as JSON, and what is large as parts, equal ones once.

    Attributes
    ----------
    parts : the bytes of each part, by its name
    """

    def __init__(self) -> None:
        self.parts: dict[str, bytes] = {}
        self._names: dict[bytes, str] = {}
        self._depth = 0

    def write(self, value: Any, where: str) -> Any:
        """Return a value as JSON; `where` is what a person calls it, for errors."""
        if is_scalar(value):
            value = plain_scalar(value, where)
        self._depth += 1
        if self._depth > ROOM:
            raise SaveError(f"{where} has values inside of each other, more than {ROOM} deep")
        try:
            return self._written(value, where)
        finally:
            self._depth -= 1

    def _written(self, value: Any, where: str) -> Any:
        for form in FORMS:
            if form.takes(value):
                return {form.tag: form.write(value, self, where)}
        if is_scalar(value):
            return value
        if type(value) is list and len(value) < LONG:
            return [self.write(one, where) for one in value]
        raise refused(value, where)

    def array(self, array: npt.NDArray[Any], where: str) -> str:
        """Write an array as a part and return its name."""
        return self.part(to_bytes(array, where), "npy")

    def part(self, content: bytes, ending: str) -> str:
        """Keep a part and return its name."""
        key = sha256(content).digest()
        if key not in self._names:
            self._names[key] = f"{len(self.parts) + 1}.{ending}"
            self.parts[self._names[key]] = content
        return self._names[key]
