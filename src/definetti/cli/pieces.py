"""Tables that are too long for memory, written piece by piece, whole or not at all."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from definetti.cli.fields import ESCAPED
from definetti.cli.printing import make_plain
from definetti.cli.reading import import_polars
from definetti.cli.writing import check_place, escape_formula, find_ending, join_labels, write_whole

if TYPE_CHECKING:
    import polars as pl


def write_pieces(pieces: Iterator[pl.DataFrame], output: Path) -> bool:
    """Write the rows of one frame after the other, as `writing.write_rows` writes its rows.

    Returns
    -------
    whether there were fields that a spreadsheet would take for formulas
    """
    check_place(output)
    ending, escaped = find_ending(output), False

    def write(path: Path) -> None:
        nonlocal escaped
        if ending == ".parquet":
            _write_parquet(pieces, path)
            return
        with gzip.open(path, "wb") if ending.endswith(".gz") else path.open("wb") as file:
            first = True
            for piece in pieces:
                escaped |= _write_piece(piece, file, ending.removesuffix(".gz"), first)
                first = first and (ending == ".json" and not len(piece))
            if ending == ".json":
                file.write(b"[]" if first else b"\n]")

    write_whole(output, write)
    return escaped


def _write_piece(piece: pl.DataFrame, file: Any, ending: str, first: bool) -> bool:
    """Write the rows of a piece; say whether any field had to be escaped."""
    if ending == ".jsonl":
        piece.write_ndjson(file)
    elif ending == ".json":
        rows = [
            json.dumps(make_plain(row), default=str, allow_nan=False) for row in piece.to_dicts()
        ]
        if rows:
            file.write((("[\n" if first else ",\n") + ",\n".join(rows)).encode())
    else:
        piece, escaped = write_as_text(piece)
        separator = "\t" if ending == ".tsv" else ","
        piece.write_csv(file, include_header=first, separator=separator)
        return escaped
    return False


def write_as_text(frame: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """Return a frame for CSV: sets with bars between, no formulas; and whether there were any.

    Few fields are different, and each is written once.

    >>> import polars as pl
    >>> frame, escaped = write_as_text(pl.DataFrame({"set": [["=1", "b"], ["b"], None]}))
    >>> frame["set"].to_list(), escaped
    (["'=1|b", 'b', None], True)
    """
    pl = import_polars()
    escaped = False
    for name, kind in frame.schema.items():
        if kind == pl.String or isinstance(kind, pl.List):
            distinct = frame[name].unique().drop_nulls()
            texts = [
                escape_formula(one if isinstance(one, str) else join_labels(one))
                for one in distinct.to_list()
            ]
            escaped |= any(re.search(ESCAPED, text) for text in texts)
            table = pl.DataFrame({name: distinct, "_text": pl.Series(texts, dtype=pl.String)})
            joined = frame.select(name).join(table, on=name, how="left", maintain_order="left")
            frame = frame.with_columns(joined["_text"].alias(name))
    return frame.rename({name: escape_formula(name) for name in frame.columns}), escaped


def _write_parquet(pieces: Iterator[pl.DataFrame], path: Path) -> None:
    """Write each piece to a file of its own, and these into one."""
    pl = import_polars()
    with TemporaryDirectory(dir=path.parent, prefix=".definetti-") as folder:
        files = []
        for number, piece in enumerate(pieces):
            files.append(Path(folder) / f"{number}.parquet")
            piece.write_parquet(files[-1])
        whole = pl.concat([pl.scan_parquet(file) for file in files], how="vertical_relaxed")
        whole.sink_parquet(path, row_group_size=100_000, maintain_order=True)
