"""Saving and loading: objects to a manifest and its parts, and back."""

from __future__ import annotations

from collections import deque
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn

import definetti
from definetti._system.files import count_memory
from definetti._system.mixins import Saved
from definetti.exceptions import LoadError, SaveError
from definetti.saving import foreign_models, values
from definetti.saving.allowed_classes import BY_NAME, BY_TYPE
from definetti.saving.archive import DEEPEST, Archive, open_archive, write_archive
from definetti.saving.frames import FRAME
from definetti.saving.values import Form, from_bytes, is_scalar, plain_scalar, to_bytes

FORMAT, VERSION = "definetti", 6
DEEPEST_VALUE = DEEPEST // 4  # a value takes a few brackets
SHOWN = 60  # the most characters of a value in an error message
# The packages whose objects are data. Objects of any other hold code.
DATA_PACKAGES = (
    "builtins", "collections", "datetime", "decimal", "fractions", "numpy",
    "pandas", "polars", "uuid",
)  # fmt: skip


def _write_object(value: Any, writer: Any, where: str) -> list[Any]:
    """Write an object of a class in the table: its name there, and its arguments."""
    kind = BY_TYPE[type(value)]
    arguments = {}
    for name, argument in kind.take(value).items():
        place = f"{where}: {name}" if where else name
        # Parameters are known by their own names.
        arguments[name] = writer.write(argument, "" if name == "params" else place)
    return [kind.name, arguments]


def _read_object(node: Any, reader: Any) -> Any:
    name, arguments = node
    if not isinstance(name, str) or name not in BY_NAME:
        raise LoadError(
            f"has a {str(name)[:80]!r}, which this version of definetti does not know; install "
            "the version that wrote it"
        )
    return BY_NAME[name].make({key: reader.read(value) for key, value in arguments.items()})


OBJECT = Form("thing", lambda value: type(value) in BY_TYPE, _write_object, _read_object)
FORMS = (*values.FORMS, OBJECT, *foreign_models.FORMS, FRAME)
BY_TAG = {form.tag: form for form in FORMS}


class Writer:
    """Writes values as JSON, and large ones as parts, of which equal ones are written once."""

    def __init__(self) -> None:
        self.parts: dict[str, bytes] = {}  # by their names
        self._names: dict[bytes, str] = {}
        self._depth = 0

    def write(self, value: Any, where: str) -> Any:
        """Return a value as JSON; `where` names it in errors."""
        if is_scalar(value):
            value = plain_scalar(value, where)
        self._depth += 1
        if self._depth > DEEPEST_VALUE:
            raise SaveError(f"{where} has more than {DEEPEST_VALUE} values inside of each other")
        try:
            for form in FORMS:
                if form.accepts(value):
                    return {form.tag: form.write(value, self, where)}
            if is_scalar(value):
                return value
            if type(value) is list:  # a short one
                return [self.write(element, where) for element in value]
            raise _refused(value, where)
        finally:
            self._depth -= 1

    def array(self, array: npt.NDArray[Any], where: str) -> str:
        """Write an array as a part and return its name."""
        return self.part(to_bytes(array, where), "npy")

    def part(self, content: bytes, ending: str) -> str:
        """Keep a part and return its name."""
        key = sha256(content).digest()
        if key not in self._names:
            self._names[key] = f"{len(self.parts) + 1}.{ending}"
            self.parts[self._names[key]] = content
        return self._names[key]


class Reader:
    """Reads the values of an archive."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive

    def read(self, node: Any) -> Any:
        """Return the value that JSON stands for."""
        if isinstance(node, list):
            return [self.read(element) for element in node]
        if not isinstance(node, dict):
            return node
        if len(node) != 1 or (tag := next(iter(node))) not in BY_TAG:
            raise LoadError(f"has values that definetti does not know: {', '.join(node)[:80]}")
        return BY_TAG[tag].read(node[tag], self)

    def array(self, name: Any) -> npt.NDArray[Any]:
        """Return the array in a part, a new one each time."""
        return from_bytes(self.archive.part(name), name)


def save(thing: Saved, path: Path, notes: dict[str, Any] | None = None) -> None:
    """Write an object to a file, with notes, as JSON, for `read_manifest`."""
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
    """Read an object that `save` wrote: it predicts as the original does, to the last bit.

    A file is read within limits: each part is checked before it is used, none of it is code, and
    it takes at most 64 bytes of memory for each byte of the file, and 64 MB more.

    Parameters
    ----------
    path : str or path

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
    """Return the object in a file, and the notes that it was saved with."""
    with open_archive(Path(path)) as archive:
        _check_version(archive)
        thing = Reader(archive).read(archive.manifest.get("object"))
        notes = archive.manifest.get("notes")
        if not isinstance(thing, Saved) or not isinstance(notes, dict):
            raise LoadError("was altered or is damaged: it holds no model")
        return thing, notes


def read_manifest(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the manifest of a file, without making any of the objects that it describes.

    The checksums of all parts are compared, without keeping the parts in memory; a `LoadError` is
    raised where `load` would raise it.
    """
    with open_archive(Path(path)) as archive:
        _check_version(archive)
        manifest: dict[str, Any] = archive.manifest
        for name in manifest["parts"]:
            deque(archive.pieces(name), maxlen=0)
        return manifest


def _check_version(archive: Archive) -> None:
    manifest = archive.manifest
    version = manifest.get("version")
    if manifest.get("format") != FORMAT or type(version) is not int:
        raise LoadError("is no file that definetti wrote")
    if version != VERSION:
        by = manifest.get("made_by")
        maker = str(by.get("definetti"))[:40] if isinstance(by, dict) else "another version"
        raise LoadError(
            f"is of format {version}, written by definetti {maker}, and definetti "
            f"{definetti.__version__} reads format {VERSION} only; fit and save the model again"
        )
    archive.check()


def _refused(value: Any, where: str) -> SaveError:
    """Return the error for a value that no form accepts."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    text = repr(value)
    text = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
    data = kind.__module__.partition(".")[0] in DATA_PACKAGES
    if isinstance(value, type) or callable(value) or not data:
        return SaveError(
            f"{where} is {getattr(value, '__qualname__', text)} ({name}), which is code of its "
            "own, and a file holds none; take what definetti has under a name, or keep the "
            "labelled data and fit again where the code is"
        )
    return SaveError(
        f"{where} is {text} ({name}), which a file does not hold; labels are text, numbers, True, "
        "False, None, or tuples of them: turn it into one of these"
    )
