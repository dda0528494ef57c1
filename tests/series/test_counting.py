"""Counts come back from wherever the data are, and are those of the rows."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.making import grouped

from definetti import ConformalHMM
from definetti.conformal import count_series
from definetti.evaluation import SeriesWork, backtest_series
from definetti.exceptions import HoleWarning
from definetti.simulate import weather_series

THINGS, SKIES = weather_series(7, 40, random_state=1)
ROWS = pl.DataFrame(
    {
        "town": np.repeat([f"town {k}" for k in range(7)], 40),
        "day": np.tile(np.arange(40), 7),
        "sky": np.array(["sun", "rain"])[SKIES.ravel()],
        "thing": np.array(["umbrella", "hat", "nothing"])[THINGS.ravel()],
    }
)
MIXED = ROWS.sample(fraction=1.0, shuffle=True, seed=0)


def lazy(rows):
    return rows.lazy()


def as_pandas(rows):
    return pd.DataFrame(rows.to_dict(as_series=False))


def as_pyarrow(rows):
    pytest.importorskip("pyarrow")
    return rows.to_arrow()


def as_duckdb(rows):
    duckdb = pytest.importorskip("duckdb")
    frame = as_pandas(rows)
    return duckdb.from_df(frame)


HOLDERS = [pl.DataFrame, lazy, as_pandas, as_pyarrow, as_duckdb]


def by_hand(rows):
    moves, seen = {}, {}
    for _, own in rows.sort("day").group_by("town", maintain_order=True):
        states = own["sky"].to_list()
        for one, two in pairwise(states):
            if one and two:
                moves[one, two] = moves.get((one, two), 0) + 1
        for state, thing in zip(states, own["thing"].to_list(), strict=True):
            if state and thing:
                seen[state, thing] = seen.get((state, thing), 0) + 1
    return moves, seen


@pytest.mark.slow_cases("as_duckdb")
@pytest.mark.parametrize("hold", HOLDERS)
def test_counts_are_the_same_wherever_the_rows_are(hold):
    gaps = MIXED.with_columns(sky=pl.when(pl.col("day") % 11 != 5).then("sky"))
    for rows in (MIXED, gaps):
        found = count_series(hold(rows), "sky", "town", "day", "thing")
        moves, seen = by_hand(rows)
        states, symbols = found.states.labels, found.symbols.labels
        assert states == ("rain", "sun")
        for i, one in enumerate(states):
            assert [found.moves[i, j] for j in range(2)] == [moves[one, two] for two in states]
            assert found.seen[i].tolist() == [seen.get((one, thing), 0) for thing in symbols]


def test_counts_of_parts_add_up():
    whole = count_series(ROWS, "sky", "town", "day", "thing")
    parts = [
        count_series(ROWS.filter(pl.col("town").is_in(some)), "sky", "town", "day", "thing")
        for some in (["town 3"], [f"town {k}" for k in range(7) if k != 3])
    ]
    found = parts[0] + parts[1]
    order = found.states.places_of(list(whole.states.labels))
    columns = found.symbols.places_of(list(whole.symbols.labels))
    assert np.array_equal(found.moves[np.ix_(order, order)], whole.moves)
    assert np.array_equal(found.seen[np.ix_(order, columns)], whole.seen)


def test_rows_without_an_order_of_their_own_need_one():
    assert count_series(ROWS, "sky", "town").moves.sum() == 7 * 39
    with pytest.raises(ValueError, match="rows of a lazy table have no order of their own"):
        count_series(ROWS.lazy(), "sky", "town")


def work(series="own", **how):
    cp = grouped(series=series, random_state=0)
    return SeriesWork(cp, "town", "sky", "day", ("thing",), **how)


@pytest.mark.parametrize("hold", HOLDERS[:1] + HOLDERS[2:4])
def test_a_table_comes_back_of_the_kind_that_went_in(hold):
    rows = hold(MIXED)
    found = work()(rows)
    assert type(found) is type(rows)
    assert len(found) == 7


def test_parts_by_themselves_are_the_whole():
    """With counts of all series, a part knows of the others all that its models need."""
    totals = count_series(ROWS, "sky", "town", "day", "thing")
    names = [f"town {k}" for k in range(7)]
    for series, more in [("own", {}), ("others", {"totals": totals})]:
        whole = work(series)(ROWS)
        parts = [
            work(series, **more)(ROWS.filter(pl.col("town").is_in(some)))
            for some in (names[:3], names[3:4], names[4:])
        ]
        assert pl.concat(parts).equals(whole)


def test_counts_are_found_by_their_labels_however_states_are_declared():
    """Else what is taken away would not be a series' own, and its rows stay in its model."""
    totals = count_series(ROWS, "sky", "town", "day", "thing")
    some = ROWS.filter(pl.col("town").is_in(["town 2", "town 5"]))
    found = []
    for states in (["rain", "sun"], ["sun", "rain"], ["hail", "sun", "rain"]):
        cp = grouped(series="others", states=states, random_state=0)
        made = SeriesWork(cp, "town", "sky", "day", ("thing",), totals=totals)
        whole = SeriesWork(cp, "town", "sky", "day", ("thing",))
        together = whole(ROWS).filter(pl.col("series").is_in(["town 2", "town 5"]))
        assert made(some).equals(together)
        found.append(made(some))
    assert found[0].equals(found[1])


def test_a_row_without_a_state_is_a_gap():
    """No window leads over it, and the first row after it is not predicted."""
    gaps = ROWS.with_columns(sky=pl.when(pl.col("day") != 30).then("sky"))
    found = work()(gaps)
    assert found["windows"].to_list() == [39 - 39 // 2 - 1] * 7
    ends = ROWS.with_columns(sky=pl.when(pl.col("day") < 30).then("sky"))
    alone = work()(ROWS.filter(pl.col("day") < 30))
    assert work()(ends).equals(alone)


def test_a_gap_is_what_lengths_say_it_is():
    town = ROWS.filter(pl.col("town") == "town 0")
    cp = grouped(random_state=0)
    things, skies = town["thing"].to_list(), town["sky"].to_list()
    found = backtest_series(cp, things, skies, ["x"] * 40, lengths=[30, 10])
    fitted = ConformalHMM(random_state=0).fit(things[:20], skies[:20])
    first = fitted.evaluate(things[20:30], skies[20:30], horizon=1)
    fitted.partial_fit(things[20:30], skies[20:30]).new_segment()
    fitted.partial_fit(things[30:31], skies[30:31])
    second = fitted.evaluate(things[31:], skies[31:], horizon=1)
    covered = [*first.covered.tolist(), *second.covered.tolist()]
    assert found.evaluations["x"].covered.tolist() == covered
    assert found[0].windows == 19


def later(rows, column):
    """Return rows with a hole of nine days in two series, and times of another kind."""
    jumps = pl.col("town").is_in(["town 1", "town 4"]) & (pl.col("day") >= 12)
    day = pl.col("day") + 9 * jumps.cast(pl.Int64)
    begin = pl.lit("2024-01-01").str.to_datetime()
    times = {"number": day, "time": begin + pl.duration(hours=day)}
    times |= {"date": (begin + pl.duration(days=day)).dt.date()}
    return rows.with_columns(day=times[column])


@pytest.mark.filterwarnings("ignore::definetti.exceptions.HoleWarning")
@pytest.mark.parametrize("kind", ["number", "time", "date"])
@pytest.mark.parametrize("hold", HOLDERS)
def test_no_transition_is_counted_over_a_hole(hold, kind):
    rows = later(MIXED, kind)
    found = count_series(hold(rows), "sky", "town", "day", "thing")
    cut = MIXED.with_columns(
        town=pl.format(
            "{} {}",
            "town",
            pl.col("town").is_in(["town 1", "town 4"]) & (pl.col("day") >= 12),
        )
    )
    wanted = count_series(cut, "sky", "town", "day", "thing")
    assert found.moves.tolist() == wanted.moves.tolist()
    assert found.moves.sum() == 7 * 39 - 2
    assert found.seen.tolist() == wanted.seen.tolist()


def test_counting_over_a_hole_is_noted():
    for rows in (later(MIXED, "time"), later(MIXED, "time").lazy()):
        with pytest.warns(HoleWarning, match="hole"):
            count_series(rows, "sky", "town", "day", "thing")


@pytest.mark.filterwarnings("ignore::definetti.exceptions.HoleWarning")
def test_irregular_times_are_counted_as_they_come():
    days = np.random.default_rng(0).exponential(size=280).cumsum()
    rows = ROWS.with_columns(day=pl.Series(days))
    for one in (rows, rows.lazy()):
        assert count_series(one, "sky", "town", "day", "thing").moves.sum() == 7 * 39


@pytest.mark.filterwarnings("ignore::definetti.exceptions.HoleWarning")
@pytest.mark.parametrize("series", ["own", "others"])
def test_parts_with_holes_by_themselves_are_the_whole(series):
    rows = later(ROWS, "time")
    gaps = rows.with_columns(sky=pl.when(pl.col("thing").str.len_chars() != 3).then("sky"))
    names = [f"town {k}" for k in range(7)]
    for some in (rows, gaps):
        totals = count_series(some, "sky", "town", "day", "thing")
        more = {"totals": totals} if series == "others" else {}
        whole = work(series)(some)
        assert pl.concat(
            work(series, **more)(some.filter(pl.col("town").is_in(part)))
            for part in (names[:3], names[3:4], names[4:])
        ).equals(whole)
