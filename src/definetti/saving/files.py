"""Saving and loading: a file for an object, and an object for a file."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import definetti
from definetti._system.budget import count_memory
from definetti._system.saved import Saved
from definetti.exceptions import LoadError
from definetti.saving.archive import Archive, open_archive, write_archive
from definetti.saving.reading import Reader
from definetti.saving.writing import Writer

FORMAT, VERSION = "definetti", 4


def save(thing: Saved, path: Path, notes: dict[str, Any] | None = None) -> None:
    """Write an object to a file.

    Parameters
    ----------
    notes : what else is to be read with the manifest, as JSON
    """
    with count_memory() as budget:
        writer = Writer()
        written = writer.write(thing, "")
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "made_by": {
                "definetti": definetti.__version__,
                "numpy": np.__version__,
                "scikit-learn": sklearn.__version__,
            },
            "notes": notes or {},
            "object": written,
        }
        write_archive(path, manifest, writer.parts, budget)


def load(path: str | PathLike[str]) -> Any:
    """Read what `save` wrote: from then on it answers as the original does, to the last bit.

    A file is read within limits: no part of it is believed before it is checked, none of it is
    code, and it takes at most 64 bytes of memory for each byte of the file, and 64 MB more.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    `ConformalHMM`, `ConformalSequences`, or whatever else was saved

    Raises
    ------
    definetti.exceptions.LoadError
        For a file that is no model, is cut off, was altered, or is of another format version.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> cp = ConformalHMM(random_state=0).fit(*weather(100, random_state=0))
    >>> with TemporaryDirectory() as folder:
    ...     cp.save(f"{folder}/model.definetti")
    ...     again = load(f"{folder}/model.definetti")
    >>> again.p_value(["hat"], ["sun"]) == cp.p_value(["hat"], ["sun"])
    True
    """
    return load_with_notes(path)[0]


def load_with_notes(path: str | PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Return what a file holds, and the notes that it was saved with."""
    with open_archive(Path(path)) as archive:
        _check_version(archive)
        found = Reader(archive).read(archive.manifest.get("object"))
        notes = archive.manifest.get("notes")
        if not isinstance(found, Saved) or not isinstance(notes, dict):
            raise LoadError("was altered or is damaged: it holds no model")
        return found, notes


def read_manifest(path: str | PathLike[str]) -> dict[str, Any]:
    """Return what a file says of itself; nothing that it describes is made.

    The checksums of all parts are compared, none of which is kept in memory.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    definetti.exceptions.LoadError
        As `load` does.
    """
    with open_archive(Path(path)) as archive:
        _check_version(archive)
        for name in archive.manifest["parts"]:
            archive.verify(name)
        found: dict[str, Any] = archive.manifest
        return found


def _check_version(archive: Archive) -> None:
    told = archive.manifest
    version = told.get("version")
    if told.get("format") != FORMAT or type(version) is not int:
        raise LoadError("is no file that definetti wrote")
    if version != VERSION:
        by = told.get("made_by")
        maker = str(by.get("definetti"))[:40] if isinstance(by, dict) else "another version"
        raise LoadError(
            f"is of format {version}, written by definetti {maker}, and definetti "
            f"{definetti.__version__} reads format {VERSION} only; fit and save the model again"
        )
    archive.check()
