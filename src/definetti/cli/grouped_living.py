"""Rows of many series in one stream: each row goes to the monitor of its series."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from definetti.cli.columns import check_columns
from definetti.cli.errors import BadTable
from definetti.cli.living import Living, Told, check_one_line_rows, decode_lines, name_rows
from definetti.cli.reading import import_polars, name_source, parse_table
from definetti.cli.stream_reader import Interrupts, follow_lines
from definetti.cli.text_tables import name_first_field

if TYPE_CHECKING:
    from definetti.cli.options import Columns, Settings


class LivingSeries:
    """A monitor for each series, opened when its first row comes.

    How many series will come is not known, so that the k-th has alarms at ``α / (k (k + 1))``,
    which add up to ``α`` however many there are: the probability that any is ever false.

    Attributes
    ----------
    each : what is known of each series, by its name
    rows : how many rows were taken in
    """

    def __init__(
        self,
        source: str,
        columns: Columns,
        settings: Settings,
        first: int,
        lag: int,
        watching: dict[str, Any],
        group: str,
    ) -> None:
        self.source, self.columns, self.settings = source, columns, settings
        self.first, self.lag, self.watching, self.group = first, lag, watching, group
        self.each: dict[str, Living] = {}
        self.rows = 0
        self._late: dict[str, deque[int]] = {}  # the rows of each that wait for their labels
        self._header = b""

    def run(self, follow: bool, interrupts: Interrupts) -> Iterator[list[tuple[str, Told, Any]]]:
        """Take rows in as they come; tell of each its series, what came of it, and whose label."""
        import_polars()
        for lines, _ in follow_lines(self.source, 0, follow, interrupts):
            if told := self._take(lines):
                yield told

    @property
    def notes(self) -> list[str]:
        """What a person should know of how rows were read, and of series too short to begin."""
        told: dict[str, list[str]] = {}
        for name, one in self.each.items():
            short = f"fewer than {self.first} rows have come, which --first asks for"
            for note in one.notes if one.monitor is not None else [short]:
                told.setdefault(note, []).append(name)
        return [f"{_list_series(names)}: {note}" for note, names in told.items()]

    def _take(self, lines: list[bytes]) -> list[tuple[str, Told, Any]]:
        if not self._header and lines and not lines[0].lstrip().startswith(b"{"):
            self._header, *lines = lines
        lines = [line for line in lines if line.strip()]
        if not lines:
            return []
        places: dict[str, list[int]] = {}
        with name_rows(self.source, range(self.rows + 1, self.rows + len(lines) + 1)):
            names = self._name(lines)
        for place, name in enumerate(names):
            places.setdefault(name, []).append(place)
        told: list[tuple[str, Told, Any]] = []
        for name, own in places.items():
            one = self.each.get(name) or self._open(name)
            numbers = [self.rows + place + 1 for place in own]
            found = list(one.take([(0, lines[place]) for place in own], numbers))
            late, early = self._late[name], len(own) - len(found)
            for k, number in enumerate(numbers):
                late.append(number)
                if k >= early:
                    labelled = late[0] if len(late) > self.lag else None
                    told.append((name, found[k - early], labelled))
        self.rows += len(lines)
        return sorted(told, key=lambda one: one[1][0])

    def _name(self, lines: list[bytes]) -> list[str]:
        """Return the series of each row."""
        pl, name = import_polars(), name_source(self.source)
        if self._header and not self.each:
            first = name_first_field(decode_lines([self._header, *lines], name), name)
            self._header = first.encode() + self._header.removeprefix(codecs.BOM_UTF8)
        text = decode_lines([self._header, *lines] if self._header else lines, name)
        table = parse_table(text, name, self.columns.state_column, self.group)
        check_one_line_rows(table, name, lines)
        check_columns(table, name, [self.group], "--group-column")
        if self.group == self.columns.state_column:
            raise BadTable(f"column {self.group!r} is the state and cannot tell series apart")
        whose = table[self.group].cast(pl.String)
        empty = whose.is_null() | (whose.str.strip_chars() == "")
        if empty.any():
            row = self.rows + int(empty.arg_max() or 0) + 1
            raise BadTable(
                f"{name}: column {self.group!r} is empty in row {row:,}; name the series of each "
                "row"
            )
        names: list[str] = whose.to_list()
        return names

    def _open(self, name: str) -> Living:
        number = len(self.each) + 1
        alpha = self.watching["alpha"] / (number * (number + 1))
        one = Living(
            self.source, None, self.columns, self.settings, self.first, self.lag,
            {**self.watching, "alpha": alpha}, self.group, self._header,
        )  # fmt: skip
        self.each[name], self._late[name] = one, deque(maxlen=self.lag + 1)
        return one


def _list_series(names: list[str]) -> str:
    some = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
    return f"series {some}" if len(names) == 1 else f"{len(names):,} series ({some})"
