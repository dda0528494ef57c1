"""scikit-learn's `BaseEstimator`, without scikit-learn until somebody asks for it.

To import it takes most of a second, and a prediction needs nothing of it. So estimators are born
with a stand-in for their base, and get the real one as soon as scikit-learn is imported, by
whomever: there is no moment at which somebody who has `BaseEstimator` sees the stand-in.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

HOME = "sklearn.base"
_waiting: list[type] = []


def _real(name: str) -> Callable[..., Any]:
    """Return a method that first has the real base put in place, and then calls its own."""

    def method(self: Any, *arguments: Any, **others: Any) -> Any:
        _settle()
        return getattr(self, name)(*arguments, **others)

    method.__name__ = name
    return method


class StandIn:
    """What an estimator derives from while scikit-learn is not there.

    Examples
    --------
    >>> class Mean(StandIn):
    ...     def __init__(self, prior=0.5):
    ...         self.prior = prior
    >>> Mean(prior=2)
    Mean(prior=2)
    >>> Mean.__bases__[0].__name__
    'BaseEstimator'
    """

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        if StandIn in cls.__bases__:
            _waiting.append(cls)
            if HOME in sys.modules:
                _settle()

    get_params = _real("get_params")
    set_params = _real("set_params")
    __repr__ = _real("__repr__")
    _repr_mimebundle_ = _real("_repr_mimebundle_")

    @property
    def _repr_html_(self) -> Any:
        _settle()
        return self._repr_html_


if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    Estimator = BaseEstimator
else:
    Estimator = StandIn


def _settle() -> None:
    """Put the real base in place of the stand-in."""
    from sklearn.base import BaseEstimator

    while _waiting:
        waiting = _waiting.pop()
        given = waiting.__bases__
        waiting.__bases__ = tuple(BaseEstimator if one is StandIn else one for one in given)
        _route(waiting, BaseEstimator)


def _route(cls: type, base: type) -> None:
    """Give a class, and those derived from it, what scikit-learn gives a class when it is made.

    These are the methods by which metadata are routed to `fit` and others.
    """
    own = {name: one for name, one in vars(cls).items() if callable(one) and name[:1] != "_"}
    for name, one in vars(type(cls.__name__, (base,), own)).items():
        if name.startswith("set_") and name.endswith("_request"):
            setattr(cls, name, one)
    derived: type
    for derived in cls.__subclasses__():
        _route(derived, base)


class _Watch(MetaPathFinder, Loader):
    """Hears of the import of scikit-learn, and lets it go on as it would."""

    loader: Any = None

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != HOME:
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                self.loader, spec.loader = spec.loader, self
                return spec
        return None

    def create_module(self, spec: ModuleSpec) -> Any:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        _settle()


if HOME not in sys.modules:
    sys.meta_path.insert(0, _Watch())
