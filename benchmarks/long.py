"""Long horizons: sets of 20^1000 sequences that are never listed."""

from __future__ import annotations

import warnings
from functools import partial
from itertools import islice
from operator import contains

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.models import draw_states
from benchmarks.tables import format_ratio, format_seconds, make_table, show_table
from benchmarks.timing import race, time_best
from definetti import ConformalHMM
from definetti.exceptions import FewBlocksWarning
from definetti.sets import LatticeSet
from definetti.simulate import Sample

LABELLED = 100_000
STATES, HORIZON = 20, 1_000
GROWING_HORIZONS, GROWING_STATES, THEIR_HORIZON = (125, 250, 500, 1_000), (5, 10, 20, 40), 500
COUNTED_STATES, COUNTED_HORIZON = 5, 50
LISTED_STATES, LISTED_HORIZON = 3, 9
SECONDS, RATIO = 0.1, 2.0  # goals
SCORES = ("path", "band")
ROUNDS = 10


def run(console: Console) -> None:
    with warnings.catch_warnings():
        # 100,000 steps have blocks enough for what is timed here, but for rare states.
        warnings.simplefilter("ignore", FewBlocksWarning)
        _time_first_and_later(console)
        _time_growth(console)
        _time_bounds(console)
        _race_a_list(console)


def _time_first_and_later(console: Console) -> None:
    data = _draw_symbols(STATES, LABELLED + HORIZON)
    made = make_table(
        f"Horizon {HORIZON:,}, {STATES} states, {LABELLED:,} labelled steps, train_size=0.5",
        "score",
        "fit",
        "first prediction",
        "later prediction",
        f"goal < {format_seconds(SECONDS)}",
        "is it a member?",
        "first member",
        "100 members",
        "states per step",
    )
    truth = tuple(data.states[LABELLED:].tolist())
    for score in SCORES:
        asked = TimedQuestion(data, HORIZON, score)
        fitting, first = time_best(asked.fit, 3), time_best(asked.steps, 3, before=asked.fit)
        later = time_best(asked.steps, ROUNDS)
        s = asked.predict()
        made.add_row(
            score,
            format_seconds(fitting),
            format_seconds(first),
            format_seconds(later),
            "✓" if later < SECONDS else "✗",
            format_seconds(time_best(partial(contains, s, truth), ROUNDS)),
            format_seconds(time_best(partial(_take_members, s, 1), 3)),
            format_seconds(time_best(partial(_take_members, s, 100), 3)),
            f"{s.widths.mean():.2f}",
        )
    show_table(
        console,
        made,
        "A prediction is predict_set and its steps: the states that are possible at each. "
        "The first one scores the past, too.",
        f"There are {STATES}^{HORIZON} candidates. Members come best first; the first few share "
        "one pass for each last state.",
    )


def _time_growth(console: Console) -> None:
    made = make_table(
        "Growth of a later prediction, path score",
        "states n",
        "horizon h",
        "each",
        "growth",
        "each / (h n²)",
    )
    data = _draw_symbols(STATES, LABELLED + HORIZON)
    _add_growth(made, [(data, STATES, horizon) for horizon in GROWING_HORIZONS])
    made.add_section()
    length = LABELLED + THEIR_HORIZON
    _add_growth(made, [(_draw_symbols(n, length), n, THEIR_HORIZON) for n in GROWING_STATES])
    show_table(
        console,
        made,
        "Growth is the ratio to the row above, at half the horizon or half the states: 2× and 4× "
        "are linear in h and quadratic",
        "in n. Below that, what does not grow so fast still counts: for each last state the cuts "
        "of the history are sought,",
        "and states are written as labels.",
    )


def _add_growth(made: Table, cases: list[tuple[Sample, int, int]]) -> None:
    before = None
    for data, number, horizon in cases:
        spent = time_best(TimedQuestion(data, horizon, "path").steps, ROUNDS)
        made.add_row(
            str(number),
            f"{horizon:,}",
            format_seconds(spent),
            format_ratio(spent / before) if before else "",
            f"{spent / (horizon * number**2) * 1e9:.1f} ns",
        )
        before = spent


def _time_bounds(console: Console) -> None:
    asked = TimedQuestion(
        _draw_symbols(COUNTED_STATES, LABELLED + COUNTED_HORIZON), COUNTED_HORIZON, "path"
    )
    made = make_table(
        f"How many members, {COUNTED_STATES} states, horizon {COUNTED_HORIZON}, path score",
        "ratio asked for",
        "at least",
        "at most",
        "ratio",
        f"goal ≤ {RATIO:g}×",
        "time",
    )
    for ratio in (RATIO, 1.1):
        low, high = asked.predict().size(ratio)
        made.add_row(
            f"{ratio:g}",
            f"{float(low):.4g}",
            f"{float(high):.4g}",
            f"{high / low:.3f}",
            "✓" if high <= RATIO * low else "✗",
            format_seconds(time_best(partial(asked.size, ratio), 3)),
        )
    every = COUNTED_STATES**COUNTED_HORIZON
    show_table(
        console,
        made,
        f"Both bounds are proved; there are {float(every):.2g} candidates. The time is that of "
        "the prediction and the count.",
    )


def _race_a_list(console: Console) -> None:
    data = _draw_symbols(LISTED_STATES, LABELLED + LISTED_HORIZON)
    number = f"{LISTED_STATES**LISTED_HORIZON:,}"
    made = make_table(
        f"Per-step sets, {LISTED_STATES} states, horizon {LISTED_HORIZON}, path and band",
        "score",
        "candidates",
        "enumeration",
        "lattice",
        "ratio",
    )
    for score in SCORES:
        lattice = TimedQuestion(data, LISTED_HORIZON, score, max_candidates=1)
        listed = TimedQuestion(data, LISTED_HORIZON, score)
        assert lattice.steps() == listed.steps()
        ours, theirs = race(lattice.steps, listed.steps, rounds=3)
        made.add_row(
            score, number, format_seconds(theirs), format_seconds(ours), format_ratio(theirs / ours)
        )
    show_table(
        console, made, "Both give the same sets; a step more makes the list three times as long."
    )


class TimedQuestion:
    """A task asked once beforehand, so that nothing is compiled on the clock."""

    def __init__(
        self, data: Sample, horizon: int, score: str, max_candidates: int = 100_000
    ) -> None:
        self.cp = ConformalHMM(
            conformity_score=score, train_size=0.5, max_candidates=max_candidates, random_state=0
        )
        self.labelled = data.observations[:LABELLED], data.states[:LABELLED]
        self.new = data.observations[LABELLED : LABELLED + horizon]
        self.fit()
        self.steps()

    def fit(self) -> None:
        self.cp.fit(*self.labelled)

    def predict(self) -> LatticeSet:
        return self.cp.predict_set(self.new)  # type: ignore[return-value]

    def steps(self) -> object:
        return self.predict().steps

    def size(self, ratio: float) -> object:
        return self.predict().size(ratio)


def _take_members(s: LatticeSet, number: int) -> object:
    return list(islice(s, number))


def _draw_symbols(n_states: int, length: int, seed: int = 7) -> Sample:
    """Draw a chain that stays half of the time, seen right four times in five."""
    rng = np.random.default_rng(seed)
    own = np.eye(n_states)
    transition = 0.5 * own + 0.5 * rng.dirichlet(np.full(n_states, 2.0), n_states)
    states = draw_states(transition, length, rng)
    seen = rng.random(length) < 0.8
    return Sample(np.where(seen, states, rng.integers(n_states, size=length)), states)
