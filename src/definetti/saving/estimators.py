"""Scikit-learn models, by skops and a list of the classes that may be in them.

skops takes a model apart into a tree of nodes that name classes, and arrays. Both become parts of
our own: arrays are numbered by their contents, for a model to have the same bytes whenever it is
saved, and are read within our limits. Before skops makes anything of it, every node of the tree is
looked up in a list that is shorter than the one that skops trusts by itself.

The numbers by which skops makes one object of several nodes are left out. A node could otherwise
stand for any number of others, and objects contain themselves.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

from sklearn.base import BaseEstimator

from definetti._system.budget import claim_memory
from definetti.exceptions import LoadError, SaveError
from definetti.saving.archive import claim_text, read_json
from definetti.saving.arrays import from_bytes
from definetti.saving.forms import Form
from definetti.saving.trusted import check_sound, trusted_nodes

SCHEMA = "schema.json"
MARKS = ("__loader__", "__module__", "__class__")
INSTALL = "pip install 'definetti[save]'"
NODE = 3_000  # bytes that skops takes for a node, beside the text and the arrays
COPIES = 5  # of an array, while it is read


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
            parts: dict[str, str] = {}  # by their names there, in the order of the tree
            sizes: dict[str, int] = {}
            for node in walk(schema):
                node.pop("__id__", None)
                if isinstance(file := node.get("file"), str):
                    content = archive.read(file)
                    part = writer.part(content, "npy")
                    node["file"] = parts.setdefault(part, f"{len(parts)}.npy")
                    sizes[node["file"]] = len(content)
        text = json.dumps(schema, allow_nan=False)
        claim_memory(len(text) + 2 * sum(sizes.values()))
        claim_text(text)
        _claim(schema, text, sizes)
        return [writer.part(text.encode("ascii"), "json"), list(parts)]

    def read(self, node: Any, reader: Any) -> Any:
        tree, parts = node
        schema = read_json(reader.archive.part(tree))
        strange = find_strange(schema)
        if strange:
            raise LoadError(f"holds a scikit-learn model with {strange[0]} in it, which is refused")
        try:
            from skops.io import load
        except ImportError:
            raise LoadError(
                f"holds a scikit-learn model, which takes skops to load; {INSTALL}"
            ) from None
        packed, sizes = io.BytesIO(), {}
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
            for number, name in enumerate(parts):
                content = reader.archive.part(name)
                from_bytes(content, name)  # which refuses what is no array
                claim_memory(len(content))
                sizes[f"{number}.npy"] = len(content)
                archive.writestr(f"{number}.npy", content)
            for one in walk(schema):
                one.pop("__id__", None)
            text = json.dumps(schema)
            _claim(schema, text, sizes)
            archive.writestr(SCHEMA, text)
        names = {f"{one['__module__']}.{one['__class__']}" for one in walk(schema)}
        made = load(packed, trusted=sorted(names))
        if not self.takes(made):
            raise LoadError("holds no scikit-learn model where there should be one")
        check_sound(made)
        return made


def walk(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a tree, in the order of its text."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(reversed(node))
        elif isinstance(node, dict):
            if any(mark in node for mark in MARKS):
                yield node
            stack.extend(reversed(node.values()))


def find_strange(schema: Any) -> list[str]:
    """Return the classes and nodes of a tree that are not in the list, by name."""
    known, strange = trusted_nodes(), []
    for node in walk(schema):
        loader, module, name = (node.get(mark) for mark in MARKS)
        full = f"{module}.{name}"
        if loader not in known:
            strange.append(f"{full} ({loader})")
        elif full not in known[loader]:
            strange.append(full)
        elif loader == "JsonNode" and str(node.get("content")).lstrip()[:1] in ("[", "{"):
            strange.append("JSON inside of JSON")
    return strange


def _claim(schema: Any, text: str, sizes: dict[str, int]) -> None:
    """Claim what skops takes to make a model of a tree and arrays of these sizes.

    An array is read anew for every node that names it.
    """
    claim_text(text)
    for node in walk(schema):
        claim_memory(NODE)
        if "file" in node:
            claim_memory(COPIES * sizes[node["file"]])
