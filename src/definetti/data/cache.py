"""What was worked out of a history and may be wanted again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

Value = TypeVar("Value")
NOTHING: Any = object()
SETTINGS = 4  # a million steps under a fixed model are about 32 MB in each


class LRUCache:
    """The results of a few settings; of more, the one that was not asked for longest is forgotten.

    What it returns is what was found or made, never read again: another thread may have put
    something else in its place, or grown the memory over it. It is empty in a copy or a pickle,
    where all of it can be worked out again.

    Examples
    --------
    >>> notes = LRUCache(settings=2)
    >>> [notes.recall(horizon, "scores", lambda: horizon**2) for horizon in (3, 4, 5, 4)]
    [9, 16, 25, 16]
    >>> len(notes)
    2
    """

    def __init__(self, settings: int = SETTINGS) -> None:
        self.settings = settings
        self._lock = Lock()
        self._stores: dict[Hashable, dict[Hashable, Any]] = {}

    def __len__(self) -> int:
        return len(self._stores)

    def __reduce__(self) -> tuple[type[LRUCache], tuple[int]]:
        return LRUCache, (self.settings,)

    def recall(self, setting: Hashable, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return what is noted under a key of a setting; make and note it where nothing is."""
        store = self._store(setting)
        value: Value = store.get(key, NOTHING)
        if value is NOTHING:
            value = store[key] = make()
        return value

    def note(self, setting: Hashable, key: Hashable, value: object) -> None:
        """Note a value for `recall` to find."""
        self._store(setting)[key] = value

    def forget(self) -> None:
        """Forget everything."""
        with self._lock:
            self._stores = {}

    def _store(self, setting: Hashable) -> dict[Hashable, Any]:
        """Return the notes of a setting, which is now the latest."""
        with self._lock:
            store = self._stores.pop(setting, None)
            store = self._stores[setting] = {} if store is None else store
            while len(self._stores) > self.settings:
                del self._stores[next(iter(self._stores))]
        return store
