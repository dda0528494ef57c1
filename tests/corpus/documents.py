"""Documents of plain values: made, kept in one file, and compared."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

RECORD = Path(__file__).with_name("record.json.gz")
# Other machines have other libraries of mathematics: their last digits may differ, and no more.
CLOSE = 1e-12
LONG_NUMBER = re.compile(r"-?\d+\.\d{9,}(?:e[-+]?\d+)?|-?\d\.\d+e[-+]?\d+")


class Difference(NamedTuple):
    """A place in the document of a setting, with what was recorded and what is found now."""

    setting: str
    place: str
    old: Any
    new: Any

    def __str__(self) -> str:
        values = f"    old  {_short(self.old)}\n    new  {_short(self.new)}"
        return f"{self.setting}: {self.place}\n{values}"


def plain(value: Any) -> Any:
    """Return a document as JSON has it; numbers that are whole stay whole."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a document has no room for {value!r}")


def differences(setting: str, old: Any, new: Any, place: str = "") -> Iterator[Difference]:
    """Give the places at which two documents differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() | new.keys():
            inside = f"{place}.{key}" if place else key
            yield from differences(setting, old.get(key, "—"), new.get(key, "—"), inside)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for k, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(setting, one, other, f"{place}[{k}]")
    elif not _same(old, new):
        yield Difference(setting, place, old, new)


def _same(old: Any, new: Any) -> bool:
    """Tell whether two values are one: floats to the last digits, all else exactly.

    >>> _same(0.1 + 0.2, 0.3), _same(1, 1.0), _same("p 0.30000000000000004", "p 0.3000000000000001")
    (True, False, True)
    """
    if type(old) is not type(new):
        return False
    if isinstance(old, float):
        return old == new or (math.isnan(old) and math.isnan(new)) or _close(old, new)
    if isinstance(old, str) and old != new:
        numbers = [LONG_NUMBER.findall(text) for text in (old, new)]
        return (
            LONG_NUMBER.sub("#", old) == LONG_NUMBER.sub("#", new)
            and len(numbers[0]) == len(numbers[1])
            and all(_close(float(a), float(b)) for a, b in zip(*numbers, strict=True))
        )
    return bool(old == new)


def _close(old: float, new: float) -> bool:
    return math.isclose(old, new, rel_tol=CLOSE, abs_tol=CLOSE)


def _short(value: Any, most: int = 300) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]} … ({len(text):,} characters)"


def read_record() -> dict[str, Any]:
    """Return the documents by the names of their settings; none before there is a record."""
    if not RECORD.exists():
        return {}
    return dict(json.loads(gzip.decompress(RECORD.read_bytes())))


def write_record(documents: dict[str, Any]) -> None:
    """Write all documents, the same bytes for the same answers."""
    text = json.dumps(documents, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    RECORD.write_bytes(gzip.compress(text.encode(), mtime=0))
