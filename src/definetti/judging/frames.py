"""Columns as a frame of whatever library is there."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import narwhals as nw

KNOWN = ("polars", "pandas", "pyarrow")


def make_frame(columns: dict[str, list[Any]], backend: Any = None) -> Any:
    """Return columns as a frame; of the first library that is installed where none is named.

    >>> make_frame({"series": ["Ann"], "coverage": [0.9]}, "pandas").shape
    (1, 2)
    """
    if backend is None:
        backend = next((name for name in KNOWN if find_spec(name) is not None), None)
        if backend is None:
            raise ImportError(f"a frame needs one of {', '.join(KNOWN)}; pip install polars")
    return nw.from_dict(columns, backend=backend).to_native()
