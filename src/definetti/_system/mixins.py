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

# Kept apart from the objects, so that copies, pickles and files hold none.
_locks: WeakKeyDictionary[Locked, Any] = WeakKeyDictionary()
_making = Lock()
Self = TypeVar("Self", bound="Saved")
Owner = TypeVar("Owner", bound="Parametrized")


class Named:
    """The first base of a contract whose fulfilments are looked up by name.

    ``class Full(Symmetry, name="full")`` enters `Symmetry.named`, which estimators, the command
    line and the tests read; `known_as` is what a class is called in a result.
    """

    named: ClassVar[dict[str, type[Any]]]
    known_as: ClassVar[str]

    def __init_subclass__(cls, *, name: str = "", **others: Any) -> None:
        super().__init_subclass__(**others)
        if Named in cls.__bases__:
            cls.named = {}
        cls.known_as = name or cls.__name__.lower()
        taken = cls.named.get(name)
        # A module that is run again defines its classes again.
        if taken is not None and taken.__qualname__ != cls.__qualname__:
            raise ValueError(f"name={name!r} is taken by {taken.__name__}; choose another")
        if name:
            known = {**cls.named, name: cls}
            cls.named.clear()
            cls.named.update(sorted(known.items()))


class Parametrized:
    """Get, set and show the arguments of a constructor, as scikit-learn does.

    Scikit-learn, which is slow to import, is imported only where one of its own functions calls. A
    frozen dataclass has parameters, too: whoever holds it replaces it by one with others.
    """

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """Return the defaults of the parameters, in the order of the constructor."""
        return {name: parameter.default for name, parameter in signature(cls).parameters.items()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, with ``deep`` also those of the parameters, ``a__b``."""
        params = {name: getattr(self, name) for name in self._defaults()}
        for name, value in list(params.items()) if deep else ():
            if hasattr(value, "get_params") and not isinstance(value, type):
                nested = value.get_params()
                params.update(
                    (f"{name}__{inner}", inner_value) for inner, inner_value in nested.items()
                )
        return params

    def set_params(self: Owner, **params: Any) -> Owner:
        """Set parameters, those of parameters as ``a__b``; return the object itself."""
        if _is_frozen(self):
            raise TypeError(
                f"{type(self).__name__} cannot change; make another, with dataclasses.replace"
            )
        for name, value in self._changed(params).items():
            setattr(self, name, value)
        return self

    def _changed(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return what is to be set: the parameters given, and those in which others change."""
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
        """Show the parameters that are not the default."""
        defaults = self._defaults()
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if value is not defaults[name]  # whatever its type makes of ``==``
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
    """Base of objects whose public methods and properties hold a lock, each object its own.

    A call sees the object as it was after some other call, never in the middle of one. Calls may
    be nested. Generators hold no lock between two items. Derived classes, too, have their public
    methods and properties locked.
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
        copied = memo[id(self)] = type(self).__new__(type(self))
        with holding(self):
            copied.__dict__.update(deepcopy(self.__dict__, memo))
        return copied

    def __copy__(self) -> Any:
        """Copy it without its parts, and not by the way of a pickle."""
        copied = type(self).__new__(type(self))
        with holding(self):
            copied.__dict__.update(self.__dict__)
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle a copy, since the parts are pickled when the lock is no longer held."""
        return super(Locked, deepcopy(self)).__reduce_ex__(protocol)


def holding(thing: object) -> AbstractContextManager[Any]:
    """Return a context in which no other thread uses an object, if it is one with a lock."""
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
    """Something that a file can hold and that is more than the arguments it is made of.

    The files hold what `definetti.saving.allowed_classes` lists, so that a class also has a line
    there.
    """

    @abstractmethod
    def _saved(self) -> dict[str, Any]:
        """Return all that is kept, by name: values that a file can hold."""

    @classmethod
    @abstractmethod
    def _restored(cls: type[Self], kept: dict[str, Any]) -> Self:
        """Make it again of what was kept; raise an error where no such thing can have been saved.

        Files come from anywhere: what is used as an index, a size or a class is looked at here.
        """

    @classmethod
    def _memory(cls, kept: dict[str, Any]) -> int:
        """Return how many bytes `_restored` allocates, at most, beside what was kept."""
        return 0

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file that `definetti.load` reads, on another machine.

        The file is there whole or not at all, replaces one of that name, and holds no code:
        functions, networks and classes of your own are refused. Saved twice, it has the same bytes.

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
    """A dataclass that is saved as its parameters and its `state`, or what `restore` takes."""

    _resumed_from: ClassVar[tuple[str, ...]] = ("state",)

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters by their names: with what `restore` takes, all there is to save."""
        return {field.name: getattr(self, field.name) for field in fields(cast(Any, self))}

    def _saved(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("settings", *self._resumed_from)}

    @classmethod
    def _restored(cls: type[Self], kept: dict[str, Any]) -> Self:
        restored: Any = cls(**kept["settings"])
        restored.restore(*(kept[name] for name in cls._resumed_from))  # type: ignore[attr-defined]
        return cast(Self, restored)
