"""Rows of a stream, read as they come, for a monitor whose state is kept in a file."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from definetti.cli.fields import BadTable
from definetti.cli.growing import Interrupts, follow_lines
from definetti.cli.mistakes import write_options
from definetti.cli.reading import import_polars, name_source, parse_table
from definetti.cli.same import check_same
from definetti.cli.saved import known_rows, take_observed

if TYPE_CHECKING:
    from definetti.cli.options import Columns, Settings
    from definetti.monitor import Monitor, Step
    from definetti.monitor._present import AnySet


Told = tuple[int, "tuple[Hashable, ...] | None", "Step | None"]


class Living:
    """A monitor, and what is known of the rows that it has lived with.

    Attributes
    ----------
    monitor : None until there are enough rows to begin with
    rows, offset : how many rows, and bytes, were taken in
    group : the column that tells series apart, where there are many and this is one
    columns : the observed columns
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
        self.notes: list[str] = []
        self.group, self._header = group, header
        self._late: deque[Any] = deque()  # labels of the last rows, which have not come yet
        self._never = 0  # rows that wait for a label, and had none when it was due
        self._bare = 0  # rows without a set
        self._early: list[bytes] = []  # lines that came before there were enough
        if save is not None and save.exists():
            self._load(save)

    def run(self, follow: bool, interrupts: Interrupts) -> Iterator[list[Told]]:
        """Take rows in as they come, and tell of them, some at a time.

        The state is in its file before they are told of.
        """
        import_polars()
        # Whoever goes on later reads on where this ends: in the middle of a line there is no row.
        whole = self.save is not None and self.source != "-"
        for lines, offset in follow_lines(
            self.source, self.offset, follow, interrupts, whole=whole
        ):
            told = self.take(lines, offset)
            if self.save is not None and self.monitor is not None:
                self._save(self.save)
            if told:
                yield told
        if whole and not interrupts.heard and Path(self.source).stat().st_size > self.offset:
            self.notes.append(
                f"the last line of {name_source(self.source)} has no end and may be half-written; "
                "it is left for the next call"
            )

    def take(self, lines: list[bytes], offset: int) -> list[Told]:
        """Take some rows in, and tell of those that came after the beginning."""
        if not self._header and lines and not lines[0].lstrip().startswith(b"{"):
            self._header, *lines = lines
        lines = [line for line in lines if line.strip()]
        self.offset = offset
        if self.monitor is None:
            self._early += lines
            if len(self._early) < self.first:
                return []
            lines, self._early = self._early[self.first :], self._early[: self.first]
            self._begin(self._early)
        return self._live(lines) if lines else []

    def _parse(self, lines: list[bytes]) -> Any:
        text = b"\n".join([self._header, *lines] if self._header else lines)
        name = name_source(self.source)
        try:
            table = parse_table(text.decode("utf-8"), name, self.state)
        except UnicodeDecodeError:
            raise BadTable(f"{name} is not UTF-8; write it so") from None
        return table if self.group is None else table.drop(self.group)

    def _begin(self, lines: list[bytes]) -> None:
        """Fit on the first rows."""
        from definetti.cli.columns import split_labelled_rows
        from definetti.cli.estimators import make_estimator
        from definetti.martingales import Ville
        from definetti.monitor import Monitor
        from definetti.monitor._parts import VISITS, read_parts

        name = name_source(self.source)
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
        self.columns, self.notes = list(table.columns), table.notes
        self.rows = len(lines)

    def _live(self, lines: list[bytes]) -> list[Told]:
        """Observe and label rows."""
        from definetti.cli.columns import check_columns, read_states
        from definetti.cli.new_rows import match_new_rows
        from definetti.monitor._arguments import each_row

        assert self.monitor is not None
        name, table = name_source(self.source), self._parse(lines)
        check_columns(table, name, [self.state, *self.columns])
        states, _ = read_states(table, name, self.state)
        cp = self.monitor._follower.known
        past = known_rows(cp, self.columns)
        rows, _ = match_new_rows(
            table.drop(self.state), name, past, "the first rows", columns=self.columns,
            state=self.state,
        )  # fmt: skip
        observed = take_observed(cp, rows, self.columns)
        each = [None] * len(states) if observed is None else each_row(observed)
        return [self._tell(*one) for one in zip(each, states, strict=True)]

    def _tell(self, observation: Any, state: Any) -> Told:
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
        found = self._observe(observation)
        learned = None if label is None else self.monitor.label(label)[0]
        self._never += is_due and label is None
        self.rows += 1
        return self.rows, None if found is None else last_states(found), learned

    def _observe(self, observation: Any) -> AnySet | None:
        """Observe a row; without a set where none can be listed so long after a label."""
        from definetti.sets import PredictionSet

        assert self.monitor is not None
        try:
            found = self.monitor.observe(observation)
        except ValueError as error:
            self.monitor.observe(observation, predict=False)  # fails again if the row is wrong
            self._bare += 1
            if self._bare == 1:
                why = write_options(str(error))
                self.notes.append(f"row {self.rows + 1}, and others so late, have no set: {why}")
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

    def _save(self, path: Path) -> None:
        from definetti.saving import save

        assert self.monitor is not None
        notes = {
            "rows": self.rows, "offset": self.offset, "columns": self.columns,
            "state_column": self.state, "header": self._header.decode("utf-8"),
            "source": self.source, "options": self._options(), "late": list(self._late),
            "never": self._never,
        }  # fmt: skip
        save(self.monitor, path, notes)

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
        # What comes from standard input comes once: there is nothing to pass over.
        self.offset = 0 if self.source == "-" else int(notes["offset"])
        self.columns, self._header = list(notes["columns"]), str(notes["header"]).encode()
