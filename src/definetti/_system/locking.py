"""Objects that several threads may use: their public calls are taken one after the other."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from functools import wraps
from inspect import isgeneratorfunction
from threading import Lock, RLock
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

# Kept apart from the objects, so that copies, pickles and files hold none.
_locks: WeakKeyDictionary[Locked, Any] = WeakKeyDictionary()
_making = Lock()


class Locked:
    """Base of objects whose public methods and properties hold a lock, each object its own.

    A call sees the object as it was after some other call, never in the middle of one. Calls may
    be nested. Generators hold no lock between two items. Derived classes, too, have their public
    methods and properties locked.

    Examples
    --------
    >>> class Counter(Locked):
    ...     number = 0
    ...
    ...     def count(self):
    ...         self.number += 1
    >>> counter = Counter()
    >>> with holding(counter):  # other threads that count wait until here is done
    ...     counter.count()
    >>> counter.number, vars(counter)
    (1, {'number': 1})
    """

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        for name, member in list(vars(cls).items()):
            if name.startswith("_"):
                continue
            if isinstance(member, FunctionType) and not isgeneratorfunction(member):
                setattr(cls, name, _lock_calls(member))
            elif isinstance(member, property) and member.fget is not None:
                setattr(cls, name, member.getter(_lock_calls(member.fget)))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Copy all of it as it was between two calls."""
        made = memo[id(self)] = type(self).__new__(type(self))
        with holding(self):
            made.__dict__.update(deepcopy(self.__dict__, memo))
        return made

    def __copy__(self) -> Any:
        """Copy it without its parts, and not by the way of a pickle."""
        made = type(self).__new__(type(self))
        with holding(self):
            made.__dict__.update(self.__dict__)
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle a copy, since the parts are pickled when the lock is no longer held."""
        return super(Locked, deepcopy(self)).__reduce_ex__(protocol)


def holding(thing: object) -> AbstractContextManager[Any]:
    """Return a context in which no other thread uses an object, if it is one with a lock."""
    if not isinstance(thing, Locked):
        return nullcontext()
    found: Any = _locks.get(thing)
    if found is None:
        with _making:
            found = _locks.setdefault(thing, RLock())
    return found  # type: ignore[no-any-return]


def _lock_calls(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        with holding(self):
            return function(self, *arguments, **named)

    return call
