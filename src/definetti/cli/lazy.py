"""Import polars on first use: `--help` and most errors do not need it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from definetti.cli.errors import BadTable

if TYPE_CHECKING:
    import polars as pl
else:

    class _Polars:
        def __getattr__(self, name: str) -> Any:
            try:
                import polars
            except ImportError:
                message = "reading files needs polars; pip install 'definetti-hmm[cli]'"
                raise BadTable(message) from None
            return getattr(polars, name)

    pl = _Polars()

__all__ = ["pl"]
