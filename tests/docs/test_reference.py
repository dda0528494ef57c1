"""The reference lists what is public, all of it, and nothing else.

What is public is told by docs/architecture.md: the rooms with a public face, and of these what the
`__init__.py` exports, or, where a room is a single file, what it defines.
"""

from __future__ import annotations

import re
from importlib import import_module
from inspect import isclass, isfunction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
MAP = (DOCS / "architecture.md").read_text(encoding="utf-8").split("\n## The doors\n")[0]
PUBLIC = re.findall(r"^\| `(\w+)` \| public \|", MAP, re.MULTILINE)
LISTED = re.findall(
    r"^::: definetti\.(\S+)$", (DOCS / "reference.md").read_text(encoding="utf-8"), re.MULTILINE
)


def face(room: ModuleType) -> dict[str, Any]:
    """Return the classes and functions that a room offers, by name."""
    named = getattr(room, "__all__", None)
    if named is None and hasattr(room, "__path__"):  # imported under their own names
        text = Path(str(room.__file__)).read_text(encoding="utf-8")
        named = re.findall(r"^from [\w.]+ import (\w+) as \1$", text, re.MULTILINE)
    if named is None:
        named = [
            name
            for name, one in vars(room).items()
            if not name.startswith("_") and getattr(one, "__module__", "") == room.__name__
        ]
    found = {name: getattr(room, name) for name in named}
    return {name: one for name, one in found.items() if isclass(one) or isfunction(one)}


@pytest.mark.parametrize("room", PUBLIC)
def test_all_that_is_public_is_listed(room):
    offered = face(import_module(f"definetti.{room}"))
    assert offered, f"definetti.{room} offers nothing: a private room?"
    # A room names all, but for what is called as the module that it is in, which hides it there.
    hidden = {name for name, one in offered.items() if one.__module__.endswith(f".{room}.{name}")}
    alone = {path.rpartition(".")[2] for path in LISTED if path.startswith(f"{room}.")}
    assert hidden == alone - {""}
    if set(offered) - hidden:
        main = {name for name in offered if name in LISTED}  # in the package itself
        assert room in LISTED or main == set(offered), f"`::: definetti.{room}` is not there"


def test_nothing_else_is_listed():
    assert len(LISTED) == len(set(LISTED))
    package = import_module("definetti")
    for path in LISTED:
        room, _, name = path.partition(".")
        if room in package.__all__:
            assert not name
            continue
        assert room in PUBLIC, f"definetti.{path} is in the reference and not public"
        if name:
            module, _, last = path.rpartition(".")
            offered = face(import_module(f"definetti.{room}"))
            assert offered.get(last) is getattr(import_module(f"definetti.{module}"), last)


@pytest.mark.parametrize("room", PUBLIC)
def test_what_is_public_says_what_it_is(room):
    """The reference leaves out what has no docstring."""
    silent = [
        name for name, one in face(import_module(f"definetti.{room}")).items() if not one.__doc__
    ]
    assert not silent
