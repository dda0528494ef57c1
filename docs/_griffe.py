"""Two Griffe extensions for the conventions of this project.

`PublicImports`: names that a subpackage imports as ``from x import Y as Y`` are public.

`OneLine`: docstrings say ``name : description`` on one line, and Griffe takes the description for a
type. A "type" with spaces that no description follows, or one that goes on in lower case, is a
description, and the type is that of the signature. It runs after the extension `dataclasses`.
"""

from __future__ import annotations

import ast
from typing import Any

from griffe import (
    Alias,
    Class,
    DocstringAttribute,
    DocstringParameter,
    DocstringReturn,
    Extension,
    Function,
    Module,
    Object,
)


class PublicImports(Extension):
    """Take an import under its own name for public, as type checkers do."""

    def on_alias_instance(self, *, node: Any, alias: Alias, **_: Any) -> None:
        if isinstance(node, ast.ImportFrom):
            alias.public = any(one.name == one.asname == alias.name for one in node.names) or None


class OneLine(Extension):
    """Move a type of several words to the description, if that is empty or goes on from it."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        self._mend(pkg)

    def _mend(self, owner: Object) -> None:
        for section in owner.docstring.parsed if owner.docstring else ():
            for each in section.value if isinstance(section.value, list) else ():
                words = str(getattr(each, "annotation", None) or "")
                if " " in words and (not each.description or each.description[0].islower()):
                    each.description = f"{words} {each.description}".strip()
                    each.annotation = _annotation(owner, each)
        for member in owner.members.values():
            if not member.is_alias:
                self._mend(member)


def _annotation(owner: Object, each: Any) -> Any:
    """Return the type that the signature has, if there is one."""
    if isinstance(each, DocstringParameter):
        init = owner.members.get("__init__", owner) if isinstance(owner, Class) else owner
        parameters = getattr(init, "parameters", ())
        return parameters[each.name].annotation if each.name in parameters else None
    if isinstance(each, DocstringAttribute) and each.name in owner.members:
        return getattr(owner.members[each.name], "annotation", None)
    if isinstance(each, DocstringReturn) and isinstance(owner, Function):
        return owner.returns
    return None
