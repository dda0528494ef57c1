"""Base classes: registries of names, parameters of estimators, locks, and saved objects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from inspect import isgeneratorfunction, signature
from os import PathLike
from pathlib import Path
from threading import Lock, RLock
from types import FunctionType
from typing import Any, ClassVar, TypeVar, cast
from weakref import WeakKeyDictionary

# Separate from the objects, so that copies, pickles and files contain no locks.
_locks: WeakKeyDictionary[Locked, Any] = WeakKeyDictionary()
_making = Lock()
Self = TypeVar("Self", bound="Saved")
Owner = TypeVar("Owner", bound="Parametrized")


class Named:
    """Registry of subclasses by name; must be the first base of an abstract base class.

    ``class Full(Symmetry, name="full")`` is added to `Symmetry.named`, which estimators, the
    command line and the tests read; `known_as` is the name of a class in results.
    """

    named: ClassVar[dict[str, type[Any]]]
    known_as: ClassVar[str]

    def __init_subclass__(cls, *, name: str = "", **others: Any) -> None:
        super().__init_subclass__(**others)
        if Named in cls.__bases__:
            cls.named = {}
        cls.known_as = name or cls.__name__.lower()
        taken = cls.named.get(name)
        # Running a module again redefines its classes.
        if taken is not None and taken.__qualname__ != cls.__qualname__:
            raise ValueError(f"name={name!r} is taken by {taken.__name__}; choose another")
        if name:
            known = {**cls.named, name: cls}
            cls.named.clear()
            cls.named.update(sorted(known.items()))


class Parametrized:
    """Get, set and show the arguments of a constructor, as scikit-learn does.

    Scikit-learn is slow to import, and is imported only when one of its functions calls. The
    parameters of a frozen dataclass are changed by replacing it in the object that holds it.
    """

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """Return the defaults of the parameters, in the order of the constructor."""
        return {name: parameter.default for name, parameter in signature(cls).parameters.items()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with ``deep`` also nested parameters, as ``a__b``."""
        params = {name: getattr(self, name) for name in self._defaults()}
        for name, value in list(params.items()) if deep else ():
            if hasattr(value, "get_params") and not isinstance(value, type):
                nested = value.get_params()
                params.update(
                    (f"{name}__{inner}", inner_value) for inner, inner_value in nested.items()
                )
        return params

    def set_params(self: Owner, **params: Any) -> Owner:
        """Set parameters, nested ones as ``a__b``; return the object itself."""
        if _is_frozen(self):
            raise TypeError(
                f"{type(self).__name__} cannot change; make another, with dataclasses.replace"
            )
        for name, value in self._changed(params).items():
            setattr(self, name, value)
        return self

    def _changed(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters to set: those given, and those with nested changes."""
        known, changes = self._defaults(), {}
        nested: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            first, _, rest = name.partition("__")
            if first not in known:
                raise ValueError(
                    f"{first!r} is no parameter of {type(self).__name__}; there are "
                    f"{', '.join(map(repr, known))}"
                )
            if rest:
                nested.setdefault(first, {})[rest] = value
            else:
                changes[first] = value
        for first, inner in nested.items():
            value = changes.get(first, getattr(self, first))
            if not hasattr(value, "get_params") or isinstance(value, type):
                raise ValueError(
                    f"{first}={value!r} has no parameters, and {first}__{next(iter(inner))} is to "
                    "be set; give an object first"
                )
            frozen = isinstance(value, Parametrized) and _is_frozen(value)
            changes[first] = (
                replace(value, **value._changed(inner)) if frozen else value.set_params(**inner)
            )
        return changes

    def __repr__(self) -> str:
        """Show the parameters that differ from their defaults."""
        defaults = self._defaults()
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if value is not defaults[name]  # not ``==``, which a type may redefine
            and (type(value) is not type(defaults[name]) or repr(value) != repr(defaults[name]))
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _repr_html_(self) -> str:
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        inputs = InputTags(string=True, categorical=True, allow_nan=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=True), input_tags=inputs)

    def __sklearn_clone__(self) -> Any:
        if _is_frozen(self):
            return self
        from sklearn.base import clone

        params = self.get_params(deep=False)
        return type(self)(**{name: clone(value, safe=False) for name, value in params.items()})


def _is_frozen(thing: Any) -> bool:
    kind: Any = type(thing)
    return is_dataclass(thing) and bool(kind.__dataclass_params__.frozen)


class Locked:
    """Base of objects whose public methods and properties hold a lock per object.

    No call sees an object in the middle of another call. Calls may be nested. Generators hold no
    lock between two items. Public methods and properties of subclasses are locked as well.
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
        """Return a deep copy of the state between two calls."""
        copied = memo[id(self)] = type(self).__new__(type(self))
        with holding(self):
            copied.__dict__.update(deepcopy(self.__dict__, memo))
        return copied

    def __copy__(self) -> Any:
        """Return a shallow copy, without pickling."""
        copied = type(self).__new__(type(self))
        with holding(self):
            copied.__dict__.update(self.__dict__)
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle a copy, since attributes are pickled after the lock is released."""
        return super(Locked, deepcopy(self)).__reduce_ex__(protocol)


def holding(thing: object) -> AbstractContextManager[Any]:
    """Return a context that holds the lock of an object, if it is `Locked`."""
    if not isinstance(thing, Locked):
        return nullcontext()
    lock: Any = _locks.get(thing)
    if lock is None:
        with _making:
            lock = _locks.setdefault(thing, RLock())
    return lock  # type: ignore[no-any-return]


def _lock_calls(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        with holding(self):
            return function(self, *arguments, **named)

    return call


class Saved(ABC):
    """Base of objects that are saved to files with more state than their constructor arguments.

    A subclass must also be listed in `definetti.saving.allowed_classes`.
    """

    @abstractmethod
    def _saved(self) -> dict[str, Any]:
        """Return the saved state by name: values that a file can hold."""

    @classmethod
    @abstractmethod
    def _restored(cls: type[Self], kept: dict[str, Any]) -> Self:
        """Restore an object from its saved state; raise an error if the state is impossible.

        Files are not trusted: everything used as an index, a size or a class is checked here.
        """

    @classmethod
    def _memory(cls, kept: dict[str, Any]) -> int:
        """Return the maximal number of bytes that `_restored` allocates beside the saved state."""
        return 0

    def save(self, path: str | PathLike[str]) -> None:
        """Write the object to a file that `definetti.load` reads, also on another machine.

        The file is written atomically, replaces an existing one, and holds no code: functions,
        networks and classes of your own are refused. Saving twice gives the same bytes.

        Parameters
        ----------
        path : str or path
            By custom it ends in ``.definetti``.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import definetti
        >>> from definetti.simulate import weather
        >>> cp = definetti.ConformalHMM(random_state=0).fit(*weather(100, random_state=0))
        >>> with TemporaryDirectory() as folder:
        ...     cp.save(f"{folder}/model.definetti")
        ...     again = definetti.load(f"{folder}/model.definetti")
        >>> again.predict_set(["hat"]).sequences == cp.predict_set(["hat"]).sequences
        True
        """
        from definetti.saving import save

        with holding(self):
            save(self, Path(path))


class Resumed(Saved):
    """A dataclass saved as its parameters and the arguments of `restore`, by default `state`."""

    _resumed_from: ClassVar[tuple[str, ...]] = ("state",)

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters by name, saved together with the arguments of `restore`."""
        return {field.name: getattr(self, field.name) for field in fields(cast(Any, self))}

    def _saved(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("settings", *self._resumed_from)}

    @classmethod
    def _restored(cls: type[Self], kept: dict[str, Any]) -> Self:
        restored: Any = cls(**kept["settings"])
        restored.restore(*(kept[name] for name in cls._resumed_from))  # type: ignore[attr-defined]
        return cast(Self, restored)
