"""What a thing has to offer to be written to a file and read again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from definetti._system.locking import holding

Self = TypeVar("Self", bound="Saved")


class Saved(ABC):
    """Something that a file can hold and that is more than the arguments it is made of.

    It says itself what of it is kept, all in one place, and makes itself again of that. The files
    hold what `definetti.saving.table` lists, so that a class also has a line there. Classes that
    are made anew by their arguments, as dataclasses are, need nothing but that line, and those
    with a name in a registry not even that.
    """

    @abstractmethod
    def _saved(self) -> dict[str, Any]:
        """Return all that is kept, by name: values that a file can hold.

        These are labels, numbers, text, lists, tuples, dictionaries, arrays, data frames, random
        generators, and whatever `definetti.saving.table` lists.
        """

    @classmethod
    @abstractmethod
    def _restored(cls: type[Self], kept: dict[str, Any]) -> Self:
        """Make it again of what was kept; raise an error where no such thing can have been saved.

        Files come from anywhere: what is used as an index, a size or a class is looked at here.
        """

    @classmethod
    def _memory(cls, kept: dict[str, Any]) -> int:
        """Return how many bytes `_restored` allocates, at most, beside what was kept.

        Called before `_restored` with what a file says, and with what `_saved` returned.
        """
        return 0

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file that `definetti.load` reads, on another machine.

        The file is there whole or not at all, replaces one of that name, and holds no code:
        functions, networks and classes of your own are refused. Saved twice, it has the same bytes.

        Parameters
        ----------
        path : str or path
            By custom it ends in ``.definetti``.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import definetti
        >>> from definetti.simulate import weather
        >>> cp = definetti.ConformalHMM(random_state=0).fit(*weather(100, random_state=0))
        >>> with TemporaryDirectory() as folder:
        ...     cp.save(f"{folder}/model.definetti")
        ...     again = definetti.load(f"{folder}/model.definetti")
        >>> again.predict_set(["hat"]).sequences == cp.predict_set(["hat"]).sequences
        True
        """
        from definetti.saving import save

        with holding(self):
            save(self, Path(path))
