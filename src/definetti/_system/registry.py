"""Contracts that know their fulfilments by name."""

from __future__ import annotations

from typing import Any, ClassVar


class Named:
    """The first base of a contract whose fulfilments are looked up by name.

    A class that fulfils it names itself where it is defined, ``class Full(Symmetry, name="full")``,
    and is found from then on: by an estimator's parameter, the command line, the reference, and the
    tests that prove every fulfilment exact.

    Attributes
    ----------
    named : the classes that fulfil the contract, by their names
    known_as : what to call a class in a result: its name, or that of the class in small letters

    Examples
    --------
    >>> class Shape(Named): ...
    >>> class Round(Shape, name="round"): ...
    >>> class Oval(Round): ...
    >>> Shape.named["round"] is Round, Oval.known_as
    (True, 'oval')
    >>> class Ball(Shape, name="round"): ...
    Traceback (most recent call last):
    ValueError: name='round' is taken by Round; choose another
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
            cls.named[name] = cls
