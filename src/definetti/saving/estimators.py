"""Scikit-learn models, by skops and a list of the classes that may be in them.

skops takes a model apart into a tree of nodes that name classes, and arrays. Both become parts of
our own: the tree is renumbered, for a model to have the same bytes whenever it is saved, and the
arrays are read within our limits. Before skops makes anything of it, every class that the tree
names is looked up in a list that is shorter than the one that skops trusts by itself.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from sklearn.base import BaseEstimator

from definetti.exceptions import LoadError, SaveError
from definetti.saving.archive import read_json
from definetti.saving.arrays import from_bytes
from definetti.saving.forms import Form
from definetti.saving.trusted import NODES, check_sound, trusted_names

SCHEMA = "schema.json"
MARKS = ("__loader__", "__module__", "__class__")
INSTALL = "pip install 'definetti[save]'"


class Estimator(Form):
    """A scikit-learn model, fitted or not."""

    tag = "estimator"

    def takes(self, value: Any) -> bool:
        return isinstance(value, BaseEstimator) and type(value).__module__.startswith("sklearn.")

    def write(self, value: Any, writer: Any, where: str) -> list[Any]:
        name = type(value).__name__
        try:
            from skops.io import dumps
        except ImportError:
            raise SaveError(f"{where} is a {name}, which takes skops to save; {INSTALL}") from None
        try:
            packed = dumps(value)
        except Exception as error:  # whatever it is that skops does not know
            raise SaveError(f"{where} is a {name}, of which skops says: {error}") from None
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            schema = json.loads(archive.read(SCHEMA))
            strange = find_strange(schema)
            if strange:
                own = strange[0].rpartition(".")[2] == name
                raise SaveError(
                    f"{where} is a {name}{'' if own else f' with {strange[0]} in it'}, which is "
                    "not among the classes that a file may hold, since their code is safe with "
                    "any numbers; use one that is, such as LogisticRegression (docs/saving.md "
                    "lists them), or keep the labelled data and fit again"
                )
            try:
                check_sound(value)
            except ValueError as error:
                raise SaveError(f"{where} is a {name}, and {error}") from None
            files: dict[str, str] = {}
            tidy = _renumbered(schema, {}, files)
            # In the order in which the tree names them, whatever skops calls them.
            parts = [writer.part(archive.read(file), "npy") for file in files]
        text = json.dumps(tidy, allow_nan=False).encode("ascii")
        return [writer.part(text, "json"), parts]

    def read(self, node: Any, reader: Any) -> Any:
        tree, parts = node
        schema = read_json(reader.archive.part(tree))
        strange = find_strange(schema)
        if strange:
            raise LoadError(f"holds a scikit-learn model with {strange[0]} in it, which is refused")
        contents = [reader.archive.part(name) for name in parts]
        for name, content in zip(parts, contents, strict=True):
            from_bytes(content, name)  # which refuses what is no array
        try:
            from skops.io import loads
        except ImportError:
            raise LoadError(
                f"holds a scikit-learn model, which takes skops to load; {INSTALL}"
            ) from None
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(SCHEMA, json.dumps(schema))
            for number, content in enumerate(contents):
                archive.writestr(f"{number}.npy", bytes(content))
        made = loads(packed.getvalue(), trusted=sorted(trusted_names()))
        if not self.takes(made):
            raise LoadError("holds no scikit-learn model where there should be one")
        check_sound(made)
        return made


def find_strange(schema: Any) -> list[str]:
    """Return the classes and nodes of a tree that are not in the list, by name."""
    known, strange = trusted_names(), []
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            if any(mark in node for mark in MARKS):
                loader, module, name = (node.get(mark) for mark in MARKS)
                full = f"{module}.{name}"
                if loader not in NODES or full not in known:
                    strange.append(full if loader in NODES else f"{full} ({loader})")
            stack.extend(node.values())
    return strange


def _renumbered(node: Any, numbers: dict[int, int], files: dict[str, str]) -> Any:
    """Return a tree with objects and files numbered in the order in which they are met."""
    if isinstance(node, list):
        return [_renumbered(one, numbers, files) for one in node]
    if not isinstance(node, dict):
        return node
    tidy: dict[str, Any] = {}
    for key, value in node.items():
        if key == "__id__" and isinstance(value, int):
            tidy[key] = numbers.setdefault(value, len(numbers) + 1)
        elif key == "file" and isinstance(value, str):
            tidy[key] = files.setdefault(value, f"{len(files)}.npy")
        else:
            tidy[key] = _renumbered(value, numbers, files)
    return tidy
