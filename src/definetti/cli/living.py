"""Rows of a stream, read as they come, for a monitor whose state is kept in a file."""

from __future__ import annotations

import codecs
import re
import secrets
import warnings
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from definetti.cli.columns import as_times
from definetti.cli.errors import BadTable, write_options
from definetti.cli.fit import known_rows, take_observed
from definetti.cli.reading import import_polars, name_source, parse_table
from definetti.cli.same import check_same
from definetti.cli.stream_reader import MOST, Interrupts, Journal, Line, follow_lines
from definetti.cli.text_tables import name_first_field
from definetti.exceptions import HoleWarning

if TYPE_CHECKING:
    import polars as pl

    from definetti.cli.options import Columns, Settings
    from definetti.data.timing import Times
    from definetti.monitor import Monitor, Step
    from definetti.monitor._present import AnySet


Told = tuple[int, "tuple[Hashable, ...] | None", "Step | None"]

# The whole state is saved when this many rows, and this share of all, were reported since the last
# time: what is written then adds up to a few times the last state, however long the stream.
SAVE_ROWS, SAVE_SHARE = 500, 0.25


def check_one_line_rows(table: pl.DataFrame, name: str, lines: list[bytes]) -> None:
    """Refuse rows that go over several lines: a stream is read line by line."""
    if len(table) != len(lines):
        raise BadTable(
            f"{name}: {len(lines):,} lines hold {len(table):,} rows, and a stream has one row a "
            "line; take line ends out of quoted fields"
        )


@contextmanager
def name_rows(source: str, numbers: Sequence[int]) -> Iterator[None]:
    """Let messages about a few rows name them by their numbers in the source.

    >>> with name_rows("x.csv", [601, 602]):
    ...     raise BadTable("x.csv: row 2 has 1 field")
    Traceback (most recent call last):
    definetti.cli.errors.BadTable: x.csv: row 602 has 1 field
    """
    name = name_source(source)
    try:
        yield
    except BadTable as error:
        found = re.match(rf"{re.escape(name)}: row (\d+)", str(error))
        if found is None or not 0 < int(found[1]) <= len(numbers):
            raise
        rest = str(error)[found.end() :]
        raise BadTable(f"{name}: row {numbers[int(found[1]) - 1]}{rest}") from None


def decode_lines(lines: list[bytes], name: str) -> str:
    """Return the text of some lines."""
    try:
        return b"\n".join(lines).decode("utf-8")
    except UnicodeDecodeError:
        raise BadTable(f"{name} is not UTF-8; write it so") from None


def _strip_mark(line: bytes) -> bytes:
    return line.removeprefix(codecs.BOM_UTF8)


class Living:
    """A monitor, and what is known of the rows that it has lived with.

    Attributes
    ----------
    monitor : None until there are enough rows to begin with
    rows, offset : how many rows were reported, and how many bytes of the source they end at
    group : the column that tells series apart, where there are many and this is one
    columns : the observed columns
    time : the column that says when rows were taken, if there is one
    notes : what a person should know of how the rows were read
    """

    def __init__(
        self,
        source: str,
        save: Path | None,
        columns: Columns,
        settings: Settings,
        first: int,
        lag: int,
        watching: dict[str, Any],
        group: str | None = None,
        header: bytes = b"",
    ) -> None:
        self.source, self.save = source, save
        self.state, self.observed = columns.state_column, columns.observation_columns
        self.settings, self.first, self.lag = settings, first, lag
        self.watching = watching
        self.monitor: Monitor | None = None
        self.rows = self.offset = 0
        self.columns: list[str] = []
        self.time: str | None = None
        self.notes: list[str] = []
        self.group, self._header = group, header
        self._names = b""  # what the header lacks where the first field is the name of a row
        self._symbols: list[str] | None = None  # the observed columns that hold text
        self._late: deque[Any] = deque()  # labels of the last rows, which have not come yet
        self._never = 0  # rows that wait for a label, and had none when it was due
        self._bare = 0  # rows without a set
        self._holes = 0  # in time
        self._early: list[Line] = []  # lines that came before there were enough
        self._numbers: list[int] = []  # the rows of the source that these lines are
        self._journal = None if save is None else Journal(save)
        self._saved = 0  # rows that the state in the file has
        if save is not None and save.exists():
            self._load(save)

    def run(self, follow: bool, interrupts: Interrupts) -> Iterator[Told]:
        """Take rows in as they come, and yield what came of each after the first ones.

        A row counts as reported when the next is asked for: only then is it in the state or in
        its journal. Whoever is killed goes on with the first row that was not reported.
        """
        import_polars()
        try:
            self._resume()
            yield from self._read(follow, interrupts)
        finally:
            if self._journal is not None:
                self._journal.close()

    def _read(self, follow: bool, interrupts: Interrupts) -> Iterator[Told]:
        # Whoever goes on later reads on where this ends: in the middle of a line there is no row.
        whole = self.save is not None and self.source != "-"
        read = self.offset
        for lines, end in follow_lines(self.source, self.offset, follow, interrupts, whole=whole):
            ends = accumulate(len(line) + 1 for line in lines)
            placed = [(min(read + at, end), line) for at, line in zip(ends, lines, strict=True)]
            if self.source == "-" and not read and _strip_mark(lines[0]) == self._header:
                placed = placed[1:]  # each call may have the header that the first one had
            yield from self.take(placed)
            read = end
        if self._journal is not None and self.monitor is not None:
            if self.rows > self._saved:
                self._save()
            self._journal.remove()
        if whole and not interrupts.heard and Path(self.source).stat().st_size > read:
            self.notes.append(
                f"the last line of {name_source(self.source)} has no end and may be half-written; "
                "it is left for the next call"
            )

    def take(self, lines: list[Line], numbers: Sequence[int] | None = None) -> Iterator[Told]:
        """Take some lines in, each with its end, and yield what came of rows after the first.

        Parameters
        ----------
        numbers : the rows of the source that the lines are, where this is one of many series
        """
        if not self._header and lines and not lines[0][1].lstrip().startswith(b"{"):
            (_, header), *lines = lines
            self._header = _strip_mark(header)
        lines = [line for line in lines if line[1].strip()]
        before = self.rows + len(self._early)
        self._numbers += numbers or range(before + 1, before + len(lines) + 1)
        if self.monitor is None:
            self._early += lines
            if len(self._early) < self.first:
                return
            lines, begun, self._early = self._early[self.first :], self._early[: self.first], []
            first, self._numbers = self._numbers[: self.first], self._numbers[self.first :]
            with name_rows(self.source, first):
                self._begin([line for _, line in begun])
            self.offset = begun[-1][0]
            if self.save is not None:
                self._save()  # before anything is reported: what follows is in the journal
        places, self._numbers = self._numbers, []
        live = self._live([line for _, line in lines], places)
        for line, told in zip(lines, live, strict=True):
            yield told
            self._keep(line)

    def _keep(self, line: Line) -> None:
        """Keep a row that was reported: in the journal, or with all others in the state."""
        self.offset = line[0]
        if self._journal is None:
            return
        if self.rows - self._saved >= max(SAVE_ROWS, SAVE_SHARE * self._saved):
            self._save()
        else:
            self._journal.append(line)

    def _resume(self) -> None:
        """Take in the rows of the journal, which were reported before; begin a new one."""
        if self._journal is None or self.monitor is None:
            return
        lines = [] if self._journal.name is None else self._journal.read()
        for begin in range(0, len(lines), MOST):
            some = [line for _, line in lines[begin : begin + MOST]]
            for _ in self._live(some, range(self.rows + 1, self.rows + len(some) + 1)):
                pass
        if lines:
            self.offset = 0 if self.source == "-" else lines[-1][0]
        if lines or self._journal.name is None:
            self._save()

    def _parse(self, lines: list[bytes], symbols: Sequence[str] = ()) -> Any:
        name = name_source(self.source)
        text = decode_lines([self._names + self._header, *lines] if self._header else lines, name)
        table = parse_table(text, name, self.state, symbols=symbols)
        check_one_line_rows(table, name, lines)
        return table if self.group is None else table.drop(self.group)

    def _begin(self, lines: list[bytes]) -> None:
        """Fit on the first rows."""
        from definetti.cli.column_types import name_symbols
        from definetti.cli.columns import split_labelled_rows
        from definetti.cli.estimators import make_estimator
        from definetti.martingales import Ville
        from definetti.monitor import Monitor
        from definetti.monitor._parts import VISITS, read_parts

        name = name_source(self.source)
        if self._header:
            text = decode_lines([self._header, *lines], name)
            self._names = name_first_field(text, name).encode()
        table = split_labelled_rows(
            self._parse(lines), name, state=self.state, observed=self.observed
        )
        if table.new_rows:
            raise BadTable(
                f"{name}: {table.new_rows} of the first {self.first} rows have no state, and these "
                "are what all begins with; lower --first"
            )
        cp = make_estimator(self.settings, table, self.lag + 1, verbose=False)
        cp.fit(table.observations, table.states, table.lengths)
        how = dict(self.watching)
        alarm, seed = Ville(how.pop("alpha")), self.settings.seed
        parts = [*read_parts(None, cp).judged, VISITS] if how.pop("visits") else None
        self.monitor = Monitor(cp, parts=parts, alarm=alarm, random_state=seed, **how)
        self.columns, self.notes, self.time = list(table.columns), table.notes, table.time
        self.monitor._clock = table.clock
        self._symbols = name_symbols(known_rows(cp, self.columns))
        self.rows = len(lines)

    def _live(self, lines: list[bytes], numbers: Sequence[int]) -> Iterator[Told]:
        """Observe and label rows, each when it is asked for, given their numbers in the source."""
        assert self.monitor is not None
        if not lines:
            return
        with name_rows(self.source, numbers):
            each, states, times = self._read_rows(lines)
        for k, (number, observation, state) in enumerate(zip(numbers, each, states, strict=True)):
            self._go_to(number, None if times is None else times._replace(values=times.values[[k]]))
            yield self._tell(number, observation, state)

    def _go_to(self, number: int, times: Times | None) -> None:
        """Go to the time of a row; after a hole no label comes of the rows before it."""
        assert self.monitor is not None
        clock = self.monitor._clock
        if clock and times and clock.precedes_hole(times, f"row {number:,}"):
            self._late.clear()
            self._never, self._holes = 0, self._holes + 1
            if self._holes == 1:
                self.notes.append(
                    f"row {number:,} comes {clock.describe(times)}: what follows is a stretch of "
                    "its own, as after other holes, and its first row has no set"
                )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HoleWarning)  # it is noted
            self.monitor._go_to(times)

    def _read_rows(self, lines: list[bytes]) -> tuple[Iterable[Any], list[Any], Times | None]:
        """Return the observations of rows, as the monitor takes them, their states and times."""
        from definetti.cli.column_types import match_new_rows, name_symbols
        from definetti.cli.columns import check_columns, read_states
        from definetti.monitor._arguments import each_row

        assert self.monitor is not None
        cp = self.monitor._follower.known
        past = known_rows(cp, self.columns)
        if self._symbols is None:  # as in files of earlier versions
            self._symbols = name_symbols(past)
        name, table = name_source(self.source), self._parse(lines, self._symbols)
        check_columns(table, name, [self.state, *self.columns])
        states, _ = read_states(table, name, self.state)
        rows, _ = match_new_rows(
            table.drop(self.state), name, past, "the first rows", columns=self.columns,
            state=self.state, batch=True,
        )  # fmt: skip
        observed = take_observed(cp, rows, self.columns)
        times = as_times(table[self.time]) if self.time in table.columns else None
        each = [None] * len(states) if observed is None else each_row(observed)
        return each, states, times

    def _tell(self, number: int, observation: Any, state: Any) -> Told:
        """Observe a row, and learn the label that comes with it: its own, or an earlier one."""
        from definetti.monitor._present import last_states

        assert self.monitor is not None
        self._late.append(state)
        is_due = len(self._late) > self.lag
        label = self._late.popleft() if is_due else None
        if label is not None:
            for _ in range(self._never):
                self.monitor.skip()  # their labels would have come before this one
            self._never = 0
        found = self._observe(number, observation)
        learned = None if label is None else self.monitor.label(label)[0]
        self._never += is_due and label is None
        self.rows += 1
        return number, None if found is None else last_states(found), learned

    def _observe(self, number: int, observation: Any) -> AnySet | None:
        """Observe a row; without a set where none can be listed so long after a label."""
        from definetti.sets import PredictionSet

        assert self.monitor is not None
        try:
            found = self.monitor._observe(observation)
        except ValueError as error:
            self.monitor._observe(observation, predict=False)  # fails again if the row is wrong
            self._bare += 1
            if self._bare == 1:
                why = write_options(str(error))
                self.notes.append(f"row {number}, and others so late, have no set: {why}")
            return None
        if self.save is not None and not isinstance(found, PredictionSet):
            # Of too many steps to be listed, so that a file cannot hold it: told, and not judged.
            step = self.monitor._queue.steps[-1]
            step.set, step.steps = None, 0
        return found

    def _options(self) -> dict[str, Any]:
        """All options that a state is made by, as they were given."""
        options = asdict(self.settings) | self.watching
        options |= {"observation_columns": self.observed, "first": self.first, "lag": self.lag}
        return {name: getattr(value, "value", value) for name, value in options.items()}

    def _save(self) -> None:
        """Save the whole state, and begin an empty journal of what follows."""
        from definetti.saving import save

        assert self.monitor is not None
        assert self.save is not None
        assert self._journal is not None
        name = secrets.token_hex(8)  # of this state, for its journal
        notes = {
            "rows": self.rows, "offset": self.offset, "columns": self.columns,
            "state_column": self.state, "header": self._header.decode("utf-8"),
            "row_names": self._names.decode("utf-8"),
            "source": self.source, "options": self._options(), "late": list(self._late),
            "never": self._never, "journal": name, "time": self.time, "symbols": self._symbols,
        }  # fmt: skip
        save(self.monitor, self.save, notes)
        self._saved = self.rows
        self._journal.begin(name)

    def _load(self, path: Path) -> None:
        from definetti.monitor import Monitor
        from definetti.saving.files import load_with_notes

        found, notes = load_with_notes(path)
        if not isinstance(found, Monitor) or "offset" not in notes:
            raise BadTable(
                f"{path} is not the state of a stream; name another file with --save, or remove it"
            )
        if notes["source"] != self.source or notes["state_column"] != self.state:
            raise BadTable(
                f"{path} is the state of {notes['source']!r} with the column "
                f"{notes['state_column']!r}; name another file with --save"
            )
        # Before options were kept, the lag was.
        check_same(path, notes.get("options", {"lag": notes.get("lag", 0)}), self._options())
        self._late, self._never = deque(notes.get("late", [])), int(notes.get("never", 0))
        self.monitor, self.rows = found, int(notes["rows"])
        self._saved = self.rows
        if self._journal is not None and "journal" in notes:  # which earlier files have not
            self._journal.name = str(notes["journal"])
        # What comes from standard input comes once: there is nothing to pass over.
        self.offset = 0 if self.source == "-" else int(notes["offset"])
        self.columns, self._header = list(notes["columns"]), str(notes["header"]).encode()
        self.time, self._symbols = notes.get("time"), notes.get("symbols")
        self._names = str(notes.get("row_names", "")).encode()
