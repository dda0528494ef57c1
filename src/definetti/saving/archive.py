"""The file format: a ZIP archive of a manifest and parts, read within limits.

Nothing in it is compressed, and no two parts share bytes. The manifest names each part with its
size and checksum, and the archive's comment is the checksum of the manifest.

The memory that loading takes is at most `FACTOR` bytes for each byte of the file, and `FLOOR` bytes
more. `claim_memory` counts it before it is allocated, and likewise while a file is written, so that
a file that could not be loaded is never written.
"""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import accumulate
from math import isfinite
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any

import numpy as np

from definetti._system.files import (
    Budget,
    claim_memory,
    count_memory,
    measure_depth,
    replace_file,
    structure,
)
from definetti.exceptions import LoadError, SaveError
from definetti.saving.values import DIGITS, first_line

MANIFEST = "manifest.json"
MOST_PARTS = 10_000
LARGEST = 2**32 - 2**24  # bytes; a larger archive has another format
LARGEST_TEXT = 2**25  # bytes of JSON
DEEPEST = 200  # levels of nested values
FACTOR, FLOOR = 64, 2**26  # bytes of memory for a byte of a file, and for any file
TEXT_FACTOR = 16  # bytes of memory for a byte of JSON, beyond the floor
# Bytes of memory that a character of JSON outside strings stands for: a container, an entry of a
# dictionary, an element of a list with a number or text.
COSTS = {"[": 64, "{": 64, ":": 120, ",": 72}
BEGINNING = b"PK\x03\x04"
ENDING = struct.Struct("<4s4H2LH")  # of an archive without its comment
CHECKSUM = 64  # hexadecimal digits
PIECE = 2**20
REMEDY = "give observations as an array or a data frame"


def write_archive(
    path: Path, manifest: dict[str, Any], parts: dict[str, bytes], budget: Budget
) -> None:
    """Write an archive, whole or not at all; the same bytes for the same contents.

    `budget` has counted the memory that reading the contents takes.
    """
    listed = {
        name: {"bytes": len(content), "sha256": sha256(content).hexdigest()}
        for name, content in parts.items()
    }
    text = json.dumps({**manifest, "parts": listed}, allow_nan=False).encode("ascii")
    if len(text) > LARGEST_TEXT or len(parts) > MOST_PARTS:
        raise SaveError(
            f"what is to be saved takes {len(text):,} bytes of description in {len(parts):,} "
            f"parts, more than a file holds; {REMEDY}"
        )
    if len(text) + sum(map(len, parts.values())) > LARGEST:
        raise SaveError("what is to be saved takes more than 4 GB, more than a file holds")
    try:
        claim_text(text.decode("ascii"))
    except LoadError as error:
        raise SaveError(f"what is to be saved {error}; {REMEDY}") from None
    limit = memory_limit(len(text) + sum(map(len, parts.values())))
    if budget.claimed > limit:
        raise SaveError(
            f"what is to be saved would take {budget.claimed:,} bytes of memory when loaded, and a "
            f"file of its size may take {limit:,}; {REMEDY}"
        )

    def write(place: Path) -> None:
        with zipfile.ZipFile(place, "w", zipfile.ZIP_STORED) as archive:
            for name, content in {MANIFEST: text, **parts}.items():
                # The same at all times: the default date of a ZipInfo is in 1980.
                entry = zipfile.ZipInfo(name)
                entry.external_attr = 0o644 << 16
                entry.create_system = 3  # the same on all systems
                archive.writestr(entry, content)
            archive.comment = sha256(text).hexdigest().encode("ascii")

    replace_file(path, write)


class Archive:
    """An archive opened for reading: its manifest, and its parts on request."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        _check_ending(file, size)
        self._archive = zipfile.ZipFile(file)
        entries = self._archive.infolist()
        names = [entry.filename for entry in entries]
        plain = all(
            entry.compress_type == zipfile.ZIP_STORED
            and entry.file_size == entry.compress_size
            and not entry.flag_bits & ~0x800
            for entry in entries
        )
        taken = accumulate(entry.file_size for entry in entries)
        if not plain or len(set(names)) < len(names) or max(taken, default=0) > size:
            raise LoadError("is no file that definetti wrote: it is packed in another way")
        if names[:1] != [MANIFEST] or entries[0].file_size > LARGEST_TEXT:
            raise LoadError("is no file that definetti wrote: it does not begin with a manifest")
        text = self._archive.read(MANIFEST)
        if sha256(text).hexdigest().encode("ascii") != self._archive.comment:
            raise LoadError("was altered or is damaged: its manifest has another checksum")
        self.manifest = read_json(text)
        if not isinstance(self.manifest, dict):
            raise LoadError("is no file that definetti wrote: its manifest is no table")

    def check(self) -> None:
        """Refuse parts other than those that the manifest, of a known version, lists."""
        listed = self.manifest.get("parts")
        if not isinstance(listed, dict) or not all(isinstance(p, dict) for p in listed.values()):
            raise LoadError("was altered or is damaged: its manifest lists no parts")
        there = {entry.filename: entry.file_size for entry in self._archive.infolist()[1:]}
        if there != {name: part.get("bytes") for name, part in listed.items()}:
            raise LoadError("was altered or is damaged: it has other parts than its manifest says")

    def part(self, name: str) -> bytearray:
        """Return a part whose checksum is right; its memory is claimed before it is read."""
        entry = self.manifest["parts"].get(name) if isinstance(name, str) else None
        if entry is None:
            raise LoadError(f"was altered or is damaged: it has no part {name!r}")
        claim_memory(entry["bytes"])
        content, begin = bytearray(entry["bytes"]), 0
        for piece in self.pieces(name):
            content[begin : begin + len(piece)] = piece
            begin += len(piece)
        return content

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield a part in small pieces, and refuse it at its end if its checksum is wrong."""
        checksum = sha256()
        with self._archive.open(name) as part:
            while piece := part.read(PIECE):
                checksum.update(piece)
                yield piece
        if checksum.hexdigest() != self.manifest["parts"][name].get("sha256"):
            raise LoadError(f"was altered or is damaged: its part {name} has another checksum")


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open a file; raise `LoadError`, beginning with its name, for anything wrong with it.

    A missing or unreadable file is an `OSError`.
    """
    if not S_ISREG(path.stat().st_mode):
        raise LoadError(f"{path} is no file, but a folder, a pipe or a device")
    with path.open("rb") as file:
        size = path.stat().st_size
        try:
            with count_memory(memory_limit(size)):
                yield Archive(file, size)
        except LoadError as error:
            raise LoadError(f"{path} {error}") from None
        except MemoryError:
            raise
        except Exception as error:  # a broken archive may raise anything
            raise LoadError(f"{path} was altered or is damaged: {first_line(error)}") from None


def read_json(text: bytes | bytearray) -> Any:
    """Read JSON within limits of size and depth."""
    if len(text) > LARGEST_TEXT:
        raise LoadError(f"has {len(text):,} bytes of text, more than a file of ours has")
    plain = bytes(text).decode("ascii")
    if measure_depth(plain) > DEEPEST:
        raise LoadError(f"has values inside of each other, more than {DEEPEST} deep")
    claim_text(plain)
    return json.loads(
        plain, parse_constant=_no_constant, parse_float=_read_float, parse_int=_read_int
    )


def memory_limit(size: int) -> int:
    """Return the most bytes of memory that loading a file of a size may take."""
    return FACTOR * size + FLOOR


def claim_text(text: str) -> None:
    """Claim the memory of parsing JSON, and of the values in it."""
    counts = np.zeros(256, dtype=np.int64)
    for signs in structure(text):
        counts += np.bincount(signs, minlength=256)
    size = len(text) * (7 if "\\u" in text else 1)
    size += sum(int(counts[ord(sign)]) * cost for sign, cost in COSTS.items())
    if size > TEXT_FACTOR * len(text) + FLOOR:
        raise LoadError(f"has {len(text):,} bytes of text that take {size:,} bytes of memory")
    claim_memory(2 * size + 4 * len(text))


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _read_float(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:20]} is beyond what a number holds")
    return number


def _read_int(text: str) -> int:
    if len(text) > DIGITS + 1:
        raise ValueError(f"a whole number has {len(text):,} digits")
    return int(text)


def _check_ending(file: IO[bytes], size: int) -> None:
    """Refuse a file that is no archive of ours, by its first and last bytes alone."""
    tail = ENDING.size + CHECKSUM
    begins = file.read(len(BEGINNING))
    if begins != BEGINNING or size < tail:
        raise LoadError("is no file that definetti wrote" + " (it is empty)" * (not size))
    file.seek(size - tail)
    ends = ENDING.unpack(file.read(ENDING.size))
    if ends[0] != b"PK\x05\x06" or ends[-1] != CHECKSUM or size > LARGEST + 2**24:
        raise LoadError("is cut off, or is no file that definetti wrote")
    number, index = ends[4], ends[5]
    if number > MOST_PARTS + 1 or index > 2**10 * (number + 1):
        raise LoadError(f"has {number:,} parts, more than a file of ours has")
