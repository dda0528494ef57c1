"""Tables of many series that need not fit into memory: read in parts, each of whole series."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from definetti.cli.columns import check_columns
from definetti.cli.errors import BadTable, check_room, is_out_of_memory, take_first_line
from definetti.cli.reading import PARQUET, import_polars, name_source, read_table
from definetti.cli.text_tables import check_names

if TYPE_CHECKING:
    import polars as pl

ROWS = 100_000  # of a part, about: what one worker holds at a time


@dataclass(frozen=True)
class Part:
    """Series that are worked out together: the first and the last by name, and how many."""

    first: Any
    last: Any
    series: int
    rows: int


@dataclass(frozen=True)
class PartedTable:
    """A table in Parquet files, of which any part can be read.

    Attributes
    ----------
    name : what to call it in messages
    paths : the files
    group : the column that tells series apart
    """

    name: str
    paths: tuple[str, ...]
    group: str

    def scan(self) -> pl.LazyFrame:
        """Return the table as a query, the series named by text where they are dates."""
        import polars as pl

        table = pl.scan_parquet(list(self.paths))
        kind = table.collect_schema()[self.group]
        plain = kind.is_integer() or kind == pl.String
        return table if plain else table.with_columns(pl.col(self.group).cast(pl.String))

    def columns(self) -> list[str]:
        return list(self.scan().collect_schema())

    def parts(self, rows: int = ROWS) -> list[Part]:
        """Cut the table into parts of whole series, in the order of their names."""
        pl = import_polars()
        group = pl.col(self.group)
        sizes = self.collect(self.scan().group_by(group).agg(pl.len().alias("len"))).sort(
            self.group
        )
        text = group.cast(pl.String).str.strip_chars()
        empty = sizes.filter(text.is_null() | text.is_in(["", "NaN"]))["len"].sum()
        if empty:
            rows_of = "1 row" if empty == 1 else f"{empty:,} rows"
            raise BadTable(
                f"{self.name}: column {self.group!r} is empty in {rows_of}; name the series of "
                "each row"
            )
        names, numbers = sizes[self.group].to_list(), sizes["len"].to_list()
        found: list[Part] = []
        begin, held = 0, 0
        for place, number in enumerate(numbers):
            held += number
            if held >= rows or place == len(names) - 1:
                found.append(Part(names[begin], names[place], place + 1 - begin, held))
                begin, held = place + 1, 0
        return found

    def read(self, part: Part, columns: list[str]) -> pl.DataFrame:
        """Read the rows of some series; files sorted by these are read where they are."""
        pl = import_polars()
        there = pl.col(self.group).is_between(pl.lit(part.first), pl.lit(part.last))
        return self.collect(self.scan().filter(there).select(columns))

    def collect(self, query: pl.LazyFrame) -> pl.DataFrame:
        """Run a query, with no more in memory than need be."""
        pl = import_polars()
        try:
            return query.collect(engine="streaming")
        except (pl.exceptions.PolarsError, OSError) as error:
            if is_out_of_memory(error):
                raise MemoryError(f"{self.name}: {take_first_line(error)}") from None
            raise BadTable(f"{self.name}: {take_first_line(error)}") from None

    def digest(self) -> str:
        """Return a name for the files as they are: other sizes or times, another name."""
        found = [(path, Path(path).stat()) for path in self.paths]
        text = json.dumps([[path, one.st_size, one.st_mtime_ns] for path, one in found])
        return hashlib.sha256(text.encode()).hexdigest()


@contextmanager
def open_parts(source: str, group: str, state: str) -> Iterator[PartedTable]:
    """Open a table in parts: Parquet as it lies there, anything else by way of a file of its own.

    Parameters
    ----------
    source : a file, a folder of Parquet files, or - for standard input
    """
    name, path = name_source(source), Path(source)
    if source != "-" and path.is_file():
        check_room(name, [path])
    if source != "-" and path.is_dir():
        files = sorted(str(one) for one in path.rglob("*.parquet"))
        if not files:
            raise BadTable(f"{source} is a folder without Parquet files; name a file, or another")
        check_room(name, map(Path, files))
        yield _checked(PartedTable(name, tuple(files), group), state)
        return
    if source != "-" and path.is_file() and _is_parquet(path):
        yield _checked(PartedTable(name, (str(path),), group), state)
        return
    table = read_table(source, state, group)
    check_columns(table, name, [group], "--group-column")
    with TemporaryDirectory(prefix="definetti-") as folder:
        copy = Path(folder) / "table.parquet"
        table.write_parquet(copy)
        yield _checked(PartedTable(name, (str(copy),), group), state)


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == PARQUET


def _checked(table: PartedTable, state: str) -> PartedTable:
    """Refuse a table that lacks the columns that it is about."""
    pl = import_polars()
    try:
        schema = pl.scan_parquet(list(table.paths)).collect_schema()
    except Exception as error:  # whatever the reader calls it, it is the file's fault
        if is_out_of_memory(error):
            raise MemoryError(f"{table.name}: {take_first_line(error)}") from None
        raise BadTable(
            f"{table.name}: broken Parquet file ({take_first_line(error)}); write it again"
        ) from None
    check_names(list(schema), table.name)
    head = pl.DataFrame(schema=schema)
    check_columns(head, table.name, [table.group], "--group-column")
    check_columns(head, table.name, [state], "--state-column")
    if schema[table.group].is_nested() or schema[table.group] == pl.Binary:
        raise BadTable(
            f"{table.name}: column {table.group!r} has {schema[table.group]}, which names no "
            "series; name them by text or whole numbers"
        )
    if table.group == state:
        raise BadTable(f"column {state!r} is the state and cannot tell series apart as well")
    return table
