"""Write results to files: whole or not at all, and never over an input."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from definetti._system.files import find_destination, replace_file
from definetti.cli.errors import BadTable
from definetti.cli.printing import make_plain
from definetti.cli.reading import import_polars, name_source
from definetti.cli.text_tables import ESCAPED, FORMULA, NUMBERS

if TYPE_CHECKING:
    import polars as pl

BEGINNING = 1 << 20  # characters in which the first row, or the mark, must be
FIRST_OBJECT = re.compile(r"\s*\[?\s*(?=\{)")


def check_replaced(
    output: Path, inputs: Iterable[str | Path | None], force: bool, ours: Callable[[Path], bool]
) -> None:
    """Refuse to replace an input, and what is not ours if nobody said so.

    Parameters
    ----------
    inputs : what the command reads; ``-`` is standard input
    ours : tells whether this command wrote a file, some time before
    """
    if not output.exists():
        return
    for source in inputs:
        if source is not None and _is_same_file(output, source):
            raise BadTable(
                f"output {output} is the file that the command reads ({name_source(str(source))}), "
                "and would be lost; name another file to write with --output"
            )
    if not force and output.stat().st_size and not ours(output):
        raise BadTable(
            f"output {output} is there already, and this command did not write it; name another "
            "file, or replace it with --force"
        )


def check_folder(
    folder: Path, patterns: Iterable[str], inputs: Iterable[Path], force: bool
) -> None:
    """Refuse the same for the files that an experiment writes to a folder.

    Whatever folder it wrote to before has its cells.
    """
    ours = (folder / "cells").is_dir()
    known = list(inputs)
    for output in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        check_replaced(output, known, force, lambda _: ours)


def _is_same_file(output: Path, source: str | Path) -> bool:
    """Tell whether two names, however they are spelt and linked, are of one file."""
    with suppress(OSError, ValueError):  # a source that is not there, closed, or has no such name
        there = os.fstat(0) if source == "-" else Path(source).stat()
        return os.path.samestat(output.stat(), there)
    return False


def read_columns(path: Path) -> list[str]:
    """Return the columns of a file such as `write_rows` writes; none if it is no such file."""
    name = path.name.lower().removesuffix(".gz")
    try:
        if name.endswith(".parquet"):
            import polars as pl

            return list(pl.read_parquet_schema(path))
        text = read_beginning(path)
        if name.endswith((".csv", ".tsv")):
            separator = "\t" if name.endswith(".tsv") else ","
            return next(csv.reader(text.splitlines(), delimiter=separator))
        begin = FIRST_OBJECT.match(text)
        return list(json.JSONDecoder().raw_decode(text, begin.end())[0]) if begin else []
    except Exception:  # whatever a foreign file is, it is not ours
        return []


def read_beginning(path: Path) -> str:
    """Return the first part of a text; nothing if it cannot be read as one."""
    opened: Any = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            found: str = file.read(BEGINNING)
            return found
    except (OSError, ValueError, EOFError):
        return ""


ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".json", ".csv.gz", ".tsv.gz", ".jsonl.gz")


def check_output(
    output: Path,
    inputs: Iterable[str | None],
    force: bool,
    ours: Callable[[Path], bool],
    endings: tuple[str, ...] = ENDINGS,
) -> None:
    """Refuse a file that cannot or may not be written, before any work is done for it.

    Parameters
    ----------
    inputs, force, ours : as `overwriting.check_replaced` has them
    endings : what the file may end in
    """
    check_place(output, endings)
    check_replaced(output, inputs, force, ours)


def check_place(output: Path, endings: tuple[str, ...] = ENDINGS) -> None:
    """Refuse a file that cannot be written."""
    if output.is_dir():
        raise BadTable(f"output {output} is a folder; name a file")
    ending = find_ending(output)
    if ending not in endings:
        raise BadTable(
            f"output {output}: files end in {', '.join(endings)}, and "
            f"{repr(ending) if ending else 'no ending'} is none of these"
        )
    try:
        place = find_destination(output)
    except OSError as error:
        raise BadTable(
            f"output {output} cannot be written: {error.strerror}; name another file"
        ) from None
    folder = place.parent if output.is_symlink() else output.parent
    if not folder.is_dir():
        raise BadTable(f"output {output}: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK):
        raise BadTable(f"output {output}: the folder {folder} cannot be written to; name another")


def write_rows(rows: list[dict[str, Any]], output: Path) -> None:
    """Write rows as CSV, TSV, JSON, JSON lines or Parquet, by the ending of the file.

    A list in a row stays one, but for CSV and TSV, which have text alone: see `join_labels`, and
    `escape_formula` for what spreadsheets make of it.
    """
    check_place(output)
    pl = import_polars()
    ending = find_ending(output)
    if ending.startswith((".csv", ".tsv")):
        rows = [
            {escape_formula(key): _write_field(one) for key, one in row.items()} for row in rows
        ]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    empty = [name for name, dtype in frame.schema.items() if dtype == pl.List(pl.Null)]
    frame = frame.cast(dict.fromkeys(empty, pl.List(pl.String)))
    packed = {"compression": "gzip", "check_extension": False} if ending.endswith(".gz") else {}
    writers: dict[str, Callable[[Path], Any]] = {
        ".csv": lambda path: frame.write_csv(path, **packed),
        ".tsv": lambda path: frame.write_csv(path, separator="\t", **packed),
        ".parquet": frame.write_parquet,
        ".jsonl": lambda path: frame.write_ndjson(path, **packed),
        ".json": lambda path: path.write_text(
            json.dumps(make_plain(rows), indent=1, default=str, allow_nan=False), encoding="utf-8"
        ),
    }
    write_whole(output, writers[ending.removesuffix(".gz")])


def find_ending(path: Path) -> str:
    """Return what a file ends in, with what is packed.

    >>> find_ending(Path("sets.CSV.gz")), find_ending(Path("sets.parquet")), find_ending(Path("a"))
    ('.csv.gz', '.parquet', '')
    """
    return "".join(
        path.suffixes[-2:] if path.suffix.lower() == ".gz" else path.suffixes[-1:]
    ).lower()


def add_keys(rows: list[dict[str, Any]], keys: pl.DataFrame | None, places: list[int]) -> None:
    """Put the columns of a file that say which row it is before what was found of these rows.

    Parameters
    ----------
    rows : what was found, to which they are added
    keys : the columns; one that is called as ours is has "file_" before its name
    places : which row of the file each is about; beyond its end there is nothing to say
    """
    if keys is None or not keys.width or not rows:
        return
    ours = set(rows[0])
    names = [f"file_{name}" if name in ours else name for name in keys.columns]
    values = keys.rows()
    nothing = (None,) * keys.width
    for row, place in zip(rows, places, strict=True):
        found = dict(zip(names, values[place] if place < len(values) else nothing, strict=True))
        own = dict(row)
        row.clear()
        row.update(found, **own)


def note_formulas(rows: list[dict[str, Any]], output: Path) -> list[str]:
    """Say what became of labels that a spreadsheet would take for formulas, if there are any."""
    if not find_ending(output).startswith((".csv", ".tsv")):
        return []
    texts = (_write_field(one) for row in rows for key, one in row.items())
    if not any(isinstance(text, str) and re.search(ESCAPED, text) for text in texts):
        return []
    return [say_escaped(output)]


def say_escaped(output: Path) -> str:
    """Say what became of labels that a spreadsheet would take for formulas."""
    return (
        f"{output}: what begins with =, +, - or @ and is no number has an apostrophe before it, so "
        "that no spreadsheet takes it for a formula; definetti reads it without"
    )


def _write_field(value: Any) -> Any:
    """Return what stands for a value where a file has text alone."""
    text = join_labels(value) if isinstance(value, list) else value
    return escape_formula(text) if isinstance(text, str) else text


def join_labels(labels: Iterable[Any]) -> str:
    r"""Write labels in one field, with bars between, such that no label can be taken for two.

    >>> print(join_labels(["sun", "a|b", 2]))
    sun|a\|b|2
    """
    words = (str(label).replace("\\", r"\\").replace("|", r"\|") for label in labels)
    return "|".join(words)


def escape_formula(text: str) -> str:
    """Write a field of a CSV such that no spreadsheet takes it for a formula: after an apostrophe.

    Numbers, and sets of numbers, stay as they are. An apostrophe that was there before such a
    formula is followed by another, so that no two fields become one.

    >>> [escape_formula(text) for text in ("sun", "=1+1", "'=1+1", "-1", "-1|+2.5", "-1|x")]
    ['sun', "'=1+1", "''=1+1", '-1', '-1|+2.5', "'-1|x"]
    """
    odd = re.search(FORMULA, text) or re.search(ESCAPED, text)
    return f"'{text}" if odd and not re.search(NUMBERS, text) else text


def write_whole(output: Path, write: Callable[[Path], Any]) -> None:
    """Write a file, whole or not at all, or say why it could not be written."""
    try:
        replace_file(output, write)
    except Exception as error:
        if not isinstance(error, OSError) and not type(error).__module__.startswith("polars"):
            raise  # not the disk's fault, nor the table's
        reason = error.strerror if isinstance(error, OSError) else None
        reason = reason or str(error).split("\n", 1)[0]
        raise BadTable(f"output {output} could not be written: {reason}") from None


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
