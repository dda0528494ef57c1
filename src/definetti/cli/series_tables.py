"""Tables of many series, read in parts of whole series; a table may exceed memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from definetti.cli.column_types import tidy_columns
from definetti.cli.columns import (
    LabelledTable,
    check_columns,
    choose_observed,
    find_labelled,
    name_types,
    read_states,
    split_labelled_rows,
    take_columns,
)
from definetti.cli.errors import BadTable, check_address_space, is_out_of_memory, take_first_line
from definetti.cli.lazy import pl
from definetti.cli.table_files import PARQUET, name_source, read_table
from definetti.cli.text_tables import NUMBER, check_names

if TYPE_CHECKING:
    from definetti.cli.options import Columns, Grouping

ROWS = 100_000  # of a part, approximately: one worker holds one part
LABEL = "_state"  # column of the labels after parsing
DATE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}|$)"


@dataclass(frozen=True)
class Part:
    """Consecutive series of a table: the first and last name, and the number of rows."""

    first: Any
    last: Any
    rows: int = 0


@dataclass(frozen=True)
class GroupedTable:
    """A table of series in Parquet files that can be read in parts."""

    name: str  # used in messages
    paths: tuple[str, ...]
    group: str  # the column that names the series

    def scan(self) -> pl.LazyFrame:
        """Return a lazy frame in which names of series are integers or text."""
        table = pl.scan_parquet(list(self.paths))
        kind = table.collect_schema()[self.group]
        plain = kind.is_integer() or kind == pl.String
        return table if plain else table.with_columns(pl.col(self.group).cast(pl.String))

    def parts(self, rows: int = ROWS) -> list[Part]:
        """Split the table into parts of whole series, sorted by name."""
        group = pl.col(self.group)
        sizes = self.collect(self.scan().group_by(group).agg(pl.len()).sort(group))
        text = group.cast(pl.String).str.strip_chars()
        empty = sizes.filter(text.is_null() | text.is_in(["", "NaN"]))["len"].sum()
        if empty:
            rows_of = "1 row" if empty == 1 else f"{empty:,} rows"
            raise BadTable(
                f"{self.name}: column {self.group!r} is empty in {rows_of}; name the series of "
                "each row"
            )
        before = pl.col("len").cum_sum() - pl.col("len")
        parts = sizes.group_by(before // rows, maintain_order=True).agg(
            first=group.first(), last=group.last(), rows=pl.col("len").sum()
        )
        return [Part(*row) for row in parts.select("first", "last", "rows").rows()]

    def read(self, part: Part, columns: list[str]) -> pl.DataFrame:
        """Read the rows of the series in a part."""
        within = pl.col(self.group).is_between(pl.lit(part.first), pl.lit(part.last))
        return self.collect(self.scan().filter(within).select(columns))

    def read_labelled(
        self, part: Part, state: str, order: str | None, observed: list[str]
    ) -> pl.DataFrame:
        """Read the rows of the series in a part, with labels in the column `LABEL`."""
        columns = [self.group, state, *([order] if order else []), *observed]
        rows, _ = tidy_columns(self.read(part, columns), self.name, observed)
        labels, _ = read_states(rows, self.name, state)
        return rows.with_columns(pl.Series(LABEL, labels, strict=False))

    def collect(self, query: pl.LazyFrame) -> pl.DataFrame:
        """Run a query with the streaming engine, to limit memory."""
        try:
            return query.collect(engine="streaming")
        except (pl.exceptions.PolarsError, OSError) as error:
            if is_out_of_memory(error):
                raise MemoryError(f"{self.name}: {take_first_line(error)}") from None
            raise BadTable(f"{self.name}: {take_first_line(error)}") from None

    def digest(self) -> str:
        """Return a hash of the names, sizes and modification times of the files."""
        stats = [(path, Path(path).stat()) for path in self.paths]
        text = json.dumps([[path, stat.st_size, stat.st_mtime_ns] for path, stat in stats])
        return hashlib.sha256(text.encode()).hexdigest()


@contextmanager
def open_series(source: str, group: str, state: str) -> Iterator[GroupedTable]:
    """Open a table of series: Parquet files directly, others via a temporary Parquet file."""
    name, path = name_source(source), Path(source)
    files: list[str] = []
    if source != "-" and path.is_dir():
        files = sorted(str(file) for file in path.rglob("*.parquet"))
        if not files:
            raise BadTable(f"{source} is a folder without Parquet files; name a file, or another")
        check_address_space(name, map(Path, files))
    elif source != "-" and path.is_file():
        check_address_space(name, [path])
        with path.open("rb") as file:
            files = [str(path)] if file.read(4) == PARQUET else []
    with TemporaryDirectory(prefix="definetti-") as folder:
        if not files:
            files = [str(Path(folder) / "table.parquet")]
            read_table(source, state, group).write_parquet(files[0])
        try:
            schema = pl.scan_parquet(files).collect_schema()
        except Exception as error:  # any error means a broken file
            if is_out_of_memory(error):
                raise MemoryError(f"{name}: {take_first_line(error)}") from None
            raise BadTable(
                f"{name}: broken Parquet file ({take_first_line(error)}); write it again"
            ) from None
        check_names(list(schema), name)
        check_columns(list(schema), name, [group], "--group-column")
        check_columns(list(schema), name, [state], "--state-column")
        if schema[group].is_nested() or schema[group] == pl.Binary:
            raise BadTable(
                f"{name}: column {group!r} has {schema[group]}, which names no series; name them "
                "by text or whole numbers"
            )
        if group == state:
            raise BadTable(f"column {state!r} is the state and cannot name the series as well")
        yield GroupedTable(name, tuple(files), group)


def read_head(
    table: GroupedTable, part: Part, columns: Columns, grouping: Grouping
) -> tuple[LabelledTable, list[str]]:
    """Read the first part to choose the observed columns; return its first series, and notes."""
    names, notes = list(table.scan().collect_schema()), []
    state, group, order = columns.state_column, table.group, grouping.order_column
    if order is not None:
        check_columns(names, table.name, [order], "--order-column")
        if order in (state, group):
            raise BadTable(f"column {order!r} has another role already, and cannot be the order")
        notes += _check_order(table, order)
    rows = table.read(part, names)
    if order is not None:  # recognise counters in any order of the file
        rows = rows.sort(group, order, maintain_order=True)
    kept = [column for column in rows.columns if column not in (group, order)]
    first = rows[group] == rows[group][0]
    observed, observed_notes = choose_observed(
        rows.select(kept), rows.filter(first), table.name, state, columns.observation_columns
    )
    labels, label_notes = read_states(rows, table.name, state)
    every = table.collect(table.scan().select(pl.col(state).unique()))
    known, _ = read_states(every, table.name, state)
    labelled = {known[row] for row in find_labelled(known, table.name, state)}
    states = sorted(labelled, key=lambda label: (str(type(label)), label))
    own = [label for label, here in zip(labels, first, strict=True) if here and label is not None]
    tidy, type_notes = tidy_columns(rows.filter(first), table.name, observed)
    if order is None and len(rows[group].rle()) > rows[group].n_unique():
        notes.append(
            "the rows of series are interleaved, and each is taken in the order of the file; "
            "--order-column sorts them"
        )
    head = LabelledTable(
        observations=take_columns(tidy, observed), states=[*own, *states],
        columns=name_types(tidy, observed), notes=[*observed_notes, *type_notes],
    )  # fmt: skip
    return head, [*notes, *label_notes]


def _check_order(table: GroupedTable, order: str) -> list[str]:
    """Refuse an order column of numbers stored as text; return a note on other text."""
    if table.scan().collect_schema()[order] != pl.String:
        return []
    text = pl.col(order)
    number = text.str.contains(f"^\\s*{NUMBER}\\s*$")
    query = table.scan().select(
        number.any(), (number.all() | text.str.contains(DATE).all()).alias("sorted"),
        (text.str.len_chars().min() < text.str.len_chars().max()).alias("uneven"),
        text.min().alias("first"), text.max().alias("last"),
    )  # fmt: skip
    some_numbers, is_sorted, is_uneven, first, last = table.collect(query).row(0)
    if some_numbers and is_uneven:
        raise BadTable(
            f"{table.name}: column {order!r} has numbers in text, which sort as '10' before '9'; "
            "write numbers alone"
        )
    if is_sorted:
        return []
    return [
        f"rows are sorted by column {order!r} as text, from {first!r} to {last!r}; numbers, or "
        "dates such as 2024-01-31, are sorted as such"
    ]


def read_all_series(
    data: str, columns: Columns, grouping: Grouping
) -> tuple[pl.DataFrame, LabelledTable, list[str]]:
    """Read a whole table of series, with rows in the order of the file."""
    state, order = columns.state_column, grouping.order_column
    with open_series(data, str(grouping.group_column), state) as table:
        parts = table.parts()
        head, notes = read_head(table, parts[0], columns, grouping)
        whole = Part(parts[0].first, parts[-1].last)
        return table.read_labelled(whole, state, order, list(head.columns)), head, notes


def read_one_series(
    data: str, columns: Columns, grouping: Grouping, name: Any, observed: list[str]
) -> LabelledTable:
    """Read one series of a table as if it were alone in the file."""
    state, order = columns.state_column, grouping.order_column
    with open_series(data, str(grouping.group_column), state) as table:
        rows = table.read(Part(name, name), [state, *observed, *([order] if order else [])])
    by = None
    if order is not None:
        rows = rows.sort(order)
        by, rows = rows[order], rows.drop(order)
    return split_labelled_rows(
        rows, f"{name_source(data)}, series {name!r}", state=state, observed=",".join(observed),
        order=by,
    )  # fmt: skip
