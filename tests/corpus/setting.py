"""A setting: what is asked, and the document that the package's answers make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.corpus.answers import warned
from tests.corpus.documents import plain


class Setting(NamedTuple):
    """What is asked, by name; the wide ones are for the slow tests."""

    name: str
    ask: Callable[[], Any]
    wide: bool = False

    def document(self) -> Any:
        """Return the answers, with the kinds of warnings that came with them."""
        found: dict[str, Any] = {}
        with warned(found):
            found["found"] = self.ask()
        return plain(found)
