"""Objects of definetti, by their names in the closed table."""

from __future__ import annotations

from typing import Any

from definetti.exceptions import LoadError
from definetti.saving.forms import Form
from definetti.saving.kinds import find_by_name, find_by_type


class Thing(Form):
    """An object of a class that the table has: its name there, and what it is made of."""

    tag = "thing"

    def takes(self, value: Any) -> bool:
        return find_by_type(type(value)) is not None

    def write(self, value: Any, writer: Any, where: str) -> list[Any]:
        kind = find_by_type(type(value))
        assert kind is not None
        own = kind.take(value).items()
        return [kind.name, {name: writer.write(one, kind.place(where, name)) for name, one in own}]

    def read(self, node: Any, reader: Any) -> Any:
        name, own = node
        kind = find_by_name(name)
        if kind is None:
            raise LoadError(
                f"has a {str(name)[:80]!r}, which this version of definetti does not know; install "
                "the version that wrote it"
            )
        return kind.make({key: reader.read(one) for key, one in own.items()})
