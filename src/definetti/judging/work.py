"""The backtest of series as one function from a table to a table, to be mapped by anyone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw

from definetti.data.series import drop_unlabelled
from definetti.judging import START
from definetti.judging.series import SeriesEvaluation, backtest_series
from definetti.series.totals import SeriesTotals

if TYPE_CHECKING:
    from definetti.conformal import ConformalHMM


@dataclass(frozen=True)
class SeriesWork:
    """Backtest the series of a table: rows of whole series in, a row a series out.

    A function of its table alone, which may be Arrow's, polars' or pandas': whoever maps it over
    parts of a table, on whichever machine and in whatever order, has the same numbers, as long as
    no series is in two parts.

    Parameters
    ----------
    predictor : ConformalHMM
        Its settings, with a number for `random_state`.
    group, state, order : the columns with the series, the states, and what rows are sorted by
    observed : the columns that are observed; none for plain chains
    horizon, start, windows : as in `backtest_series`
    totals : what all series add up to, for a model that learns from the others
    lag : as in `backtest_series`
    levels : several levels, each with a row a series; the predictor's own if left out
    framed : whether one observed column is a frame, too, as a classifier takes its columns

    Examples
    --------
    >>> import polars as pl
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> y, x = weather(200, random_state=0)
    >>> rows = pl.DataFrame({"town": ["Rome"] * 100 + ["Oslo"] * 100, "sky": x, "thing": y})
    >>> work = SeriesWork(ConformalHMM(random_state=0), "town", "sky", observed=("thing",))
    >>> work(rows).select("series", "windows").rows()
    [('Rome', 50), ('Oslo', 50)]
    """

    predictor: ConformalHMM
    group: str
    state: str
    order: str | None = None
    observed: tuple[str, ...] = ()
    horizon: int = 1
    start: float = START
    windows: int | None = None
    totals: SeriesTotals | None = None
    lag: int = 0
    levels: tuple[float, ...] = ()
    framed: bool = False

    def __call__(self, table: Any) -> Any:
        frame = nw.from_native(table, eager_only=True)
        columns = join_levels(self.judge(frame))
        return nw.from_dict(columns, backend=frame.implementation).to_native()

    def judge(self, frame: nw.DataFrame[Any]) -> list[SeriesEvaluation]:
        """Return how the series of a table fared, level by level."""
        order = None if self.order is None else frame[self.order]
        rows, lengths = drop_unlabelled(frame[self.state], frame[self.group], order)
        if rows is not None:
            frame, order = frame[rows.tolist(), :], None
        seen: Any = None
        if self.observed:
            some = frame.select(*self.observed)
            bare = len(self.observed) == 1 and not self.framed
            seen = (some[self.observed[0]] if bare else some).to_native()
        found = backtest_series(
            self.predictor, seen, frame[self.state].to_list(), frame[self.group].to_list(),
            None if order is None else order.to_native(), self.horizon, lengths=lengths,
            start=self.start, windows=self.windows, totals=self.totals, lag=self.lag,
            confidence_level=list(self.levels) or None,
        )  # fmt: skip
        found = found if self.levels else [found]
        if rows is not None:
            for one in found:
                one.rows = {name: rows[places] for name, places in one.rows.items()}
        return found


def join_levels(found: Sequence[SeriesEvaluation]) -> dict[str, list[Any]]:
    """Return the columns of `SeriesEvaluation.to_frame` for several levels, one below the other."""
    each = [one.to_dict() for one in found]
    return {name: [value for one in each for value in one[name]] for name in each[0]}
