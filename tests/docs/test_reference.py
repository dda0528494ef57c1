"""The reference lists what is public, all of it, and nothing else.

docs/architecture.md lists the subpackages and says which are private. Public are the names that the
`__init__.py` of the others exports or, where a subpackage is a single file, that it defines.
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
MAP = (DOCS / "architecture.md").read_text(encoding="utf-8").split("\n## Deferred imports\n")[0]
PRIVATE = re.findall(r"`(\w+)`", re.findall(r"^All but (.+) are public", MAP, re.MULTILINE)[0])
PUBLIC = [name for name in re.findall(r"^\| `(\w+)` \|", MAP, re.MULTILINE) if name not in PRIVATE]
LISTED = re.findall(
    r"^::: definetti\.(\S+)$", (DOCS / "reference.md").read_text(encoding="utf-8"), re.MULTILINE
)


def public_names(subpackage: ModuleType) -> dict[str, Any]:
    """Return the classes and functions that a subpackage exports, by name."""
    named = getattr(subpackage, "__all__", None)
    if named is None and hasattr(subpackage, "__path__"):  # imported under their own names
        text = Path(str(subpackage.__file__)).read_text(encoding="utf-8")
        named = re.findall(r"^from [\w.]+ import (\w+) as \1$", text, re.MULTILINE)
    if named is None:
        named = [
            name
            for name, one in vars(subpackage).items()
            if not name.startswith("_") and getattr(one, "__module__", "") == subpackage.__name__
        ]
    found = {name: getattr(subpackage, name) for name in named}
    return {name: one for name, one in found.items() if isclass(one) or isfunction(one)}


@pytest.mark.parametrize("subpackage", PUBLIC)
def test_all_that_is_public_is_listed(subpackage):
    offered = public_names(import_module(f"definetti.{subpackage}"))
    assert offered, f"definetti.{subpackage} offers nothing: a private subpackage?"
    # A function called as its module is hidden by it, and is listed by itself.
    hidden = {
        name for name, one in offered.items() if one.__module__.endswith(f".{subpackage}.{name}")
    }
    alone = {path.rpartition(".")[2] for path in LISTED if path.startswith(f"{subpackage}.")}
    assert hidden == alone - {""}
    if set(offered) - hidden:
        main = {name for name in offered if name in LISTED}  # in the package itself
        assert subpackage in LISTED or main == set(offered), (
            f"`::: definetti.{subpackage}` is not there"
        )


def test_nothing_else_is_listed():
    assert len(LISTED) == len(set(LISTED))
    package = import_module("definetti")
    for path in LISTED:
        subpackage, _, name = path.partition(".")
        if subpackage in package.__all__:
            assert not name
            continue
        assert subpackage in PUBLIC, f"definetti.{path} is in the reference and not public"
        if name:
            module, _, last = path.rpartition(".")
            offered = public_names(import_module(f"definetti.{subpackage}"))
            assert offered.get(last) is getattr(import_module(f"definetti.{module}"), last)


@pytest.mark.parametrize("subpackage", PUBLIC)
def test_what_is_public_says_what_it_is(subpackage):
    """The reference leaves out what has no docstring."""
    silent = [
        name
        for name, one in public_names(import_module(f"definetti.{subpackage}")).items()
        if not one.__doc__
    ]
    assert not silent
