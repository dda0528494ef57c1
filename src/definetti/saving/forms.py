"""What values look like in a manifest: a form for each kind of them.

Text, whole numbers, True, False, None and lists of any of these are JSON as it is, and so are
numbers but for the three that JSON does not have. All else is an object with one key, the tag of
its form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from definetti.saving.reading import Reader
    from definetti.saving.writing import Writer


class Form(ABC):
    """How values of some kind are written, and read again.

    Attributes
    ----------
    tag : what they are known by in a manifest
    """

    tag: ClassVar[str]

    @abstractmethod
    def takes(self, value: Any) -> bool:
        """Tell whether a value is of this kind."""

    @abstractmethod
    def write(self, value: Any, writer: Writer, where: str) -> Any:
        """Return a value as JSON; `where` is what a person calls it, for errors."""

    @abstractmethod
    def read(self, node: Any, reader: Reader) -> Any:
        """Return the value that was written; any error will do where none can have been."""
