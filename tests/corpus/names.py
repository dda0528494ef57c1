"""Names that are not at the top of the package: should one move, this is the place to follow."""

from __future__ import annotations

from importlib import import_module
from typing import Any

HOMES = {
    "app": "definetti.cli",
    "emissions": "definetti.emissions",
    "oracle_size": "definetti.verify",
    "stationary": "definetti.verify",
}


def named(name: str) -> Any:
    """Return a thing by its name."""
    return getattr(import_module(HOMES[name]), name)


def emission(kind: str, *arguments: Any, **options: Any) -> Any:
    """Return the emission of a kind."""
    return getattr(import_module(HOMES["emissions"]), kind)(*arguments, **options)


def baseline(name: str) -> Any:
    """Return a method of others by the name of its class when answers were recorded."""
    name = {"AdaptiveLevel": "AdaptiveInference"}.get(name, name)
    return getattr(import_module("definetti.experiments"), name)
