"""How objects of a class are taken apart and made again, and under what name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any

from definetti._system.budget import claim_memory
from definetti._system.registry import Named
from definetti._system.saved import Saved

HERE = __name__.partition(".")[0]


@dataclass(frozen=True)
class Kind:
    """A class that files hold.

    Attributes
    ----------
    name : what it is called in files, for good
    made : the class
    names : the arguments that make an object, which it keeps under the same names
    check : what refuses arguments that no object of ours was made of, before they are used
    memory : how many bytes an object takes beside these arguments
    """

    name: str
    made: type[Any]
    names: tuple[str, ...] = ()
    check: Callable[..., None] | None = None
    memory: Callable[[dict[str, Any]], int] | None = None

    def take(self, thing: Any) -> dict[str, Any]:
        """Return what an object is made of."""
        if issubclass(self.made, Saved):
            kept = dict(thing._saved())
        else:
            kept = {name: getattr(thing, name) for name in self.names}
        self._claim(kept)
        return kept

    def make(self, kept: dict[str, Any]) -> Any:
        """Make an object again; any error will do where none can have been saved."""
        self._claim(kept)
        if issubclass(self.made, Saved):
            return self.made._restored(kept)
        if set(kept) != set(self.names):
            raise ValueError(f"a {self.name} is made of {', '.join(kept)[:80]}")
        if self.check is not None:
            self.check(**kept)
        return self.made(**kept)

    def _claim(self, kept: dict[str, Any]) -> None:
        """Claim the memory that making an object takes, when it is saved as when it is loaded."""
        if issubclass(self.made, Saved):
            claim_memory(self.made._memory(kept))
        elif self.memory is not None:
            claim_memory(self.memory(kept))

    def place(self, where: str, name: str) -> str:
        """Return what a person calls a part of an object."""
        if name == "params":
            return ""  # which are known by their own names
        return f"{where}: {name}" if where else name


def kind_of(name: str, made: type[Any], check: Callable[..., None] | None = None) -> Kind:
    """Return the kind of a class that says itself what it is made of.

    It is a dataclass, a named tuple, or a `Saved`.
    """
    if is_dataclass(made):
        return Kind(name, made, tuple(one.name for one in fields(made) if one.init), check)
    return Kind(name, made, tuple(getattr(made, "_fields", ())), check)


def registered(contract: type[Named]) -> list[Kind]:
    """Return the kinds of all that fulfils a contract under a name, and is definetti's own.

    What others have named is not known to whoever reads the file.
    """
    return [
        kind_of(f"{contract.__name__.lower()} {name}", made)
        for name, made in contract.named.items()
        if made.__module__.partition(".")[0] == HERE and is_dataclass(made)
    ]


@cache
def _table() -> tuple[dict[str, Kind], dict[type[Any], Kind]]:
    from definetti.saving.table import CONTRACTS, KINDS

    every = [*KINDS, *(kind for contract in CONTRACTS for kind in registered(contract))]
    return {kind.name: kind for kind in every}, {kind.made: kind for kind in every}


def find_by_name(name: Any) -> Kind | None:
    """Return what is known under a name, if anything is."""
    return _table()[0].get(name) if isinstance(name, str) else None


def find_by_type(made: type[Any]) -> Kind | None:
    """Return the kind of objects of this very class, if files hold them."""
    return _table()[1].get(made)
