"""The methods compared: ours, the paper's, and all baselines, with the same settings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from definetti import HMM, ConformalHMM
from definetti._system.cells import Settings
from definetti.data.labels import piece
from definetti.emissions import Emission, Gaussian, Words
from definetti.experiments import (  # noqa: F401 (their names)
    adapting,
    classical,
    resampling,
    unions,
    weighted,
)
from definetti.experiments.baseline import Baseline
from definetti.experiments.reproduction import PROMISED
from definetti.sets import PredictionSet

AFFORDABLE = 2_000  # the most candidates for methods with separate work on each


@dataclass(frozen=True)
class Contestant:
    """A method, with its name in the table and on the command line."""

    name: str
    by: str  # "ours", "the paper" or "others"
    exact: bool = False  # whether it guarantees the level for every hidden Markov model
    settings: Settings = ()  # of `ConformalHMM`; a baseline has its own defaults
    split: bool = True  # whether a model is fixed on the first half of the labels
    each: bool = False  # whether every candidate takes separate work, such as a refit
    symbols: bool = False  # whether it needs observations that occur again
    rounds: bool = False  # whether it learns from the misses of its own sets, window by window
    restart: Settings = ()  # of a `Monitor`: how it reacts to an alarm; no monitor if empty

    def cannot(self, kind: str, candidates: int) -> str | None:
        """Return why the method cannot be run on a kind of observations; None if it can."""
        if self.symbols and kind == "vectors":
            return "needs symbols"
        if self.each and candidates > AFFORDABLE:
            return f"too slow: {candidates} candidates, each with work of its own"
        return None

    def make(self, kind: str, states: list[Hashable], train_size: int, random_state: int) -> Any:
        """Return the estimator for a kind of observations, with settings that all methods share.

        A method that splits fixes the model on the first `train_size` steps.
        """
        emissions: dict[str, Emission] = {"vectors": Gaussian("full"), "words": Words()}
        shared: dict[str, Any] = {
            "model": HMM(emission=emissions[kind]) if kind in emissions else HMM(),
            "confidence_level": PROMISED,
            "states": states,
            "random_state": random_state,
        }
        if self.split:
            shared["train_size"] = train_size
        if self.by == "others":
            return Baseline.named[self.name](**shared)
        # As those of the baselines, sets may be empty.
        ours = ConformalHMM(**shared, allow_empty=True, **dict(self.settings))
        return Monitored(ours, dict(self.restart)) if self.restart else ours


def chosen(names: Iterable[str] | None) -> list[Contestant]:
    """Return the contestants with these names, in the order of the table; all for None."""
    wanted = list(CONTESTANTS) if names is None else list(names)
    for name in wanted:
        if name not in CONTESTANTS:
            raise ValueError(f"methods has no {name!r}; choose among {', '.join(CONTESTANTS)}")
    if not wanted:
        raise ValueError("methods is empty; leave it out for all")
    return [contestant for name, contestant in CONTESTANTS.items() if name in wanted]


FIRST = 20  # labels that a monitor starts with
RESTART = ("on_alarm", "restart")


class Monitored:
    """`ConformalHMM` with a `Monitor`: sets are based on the labels that the monitor has kept."""

    def __init__(self, estimator: Any, reaction: dict[str, Any]) -> None:
        self.estimator, self.reaction = estimator, reaction

    def fit(self, observations: Any, states: Any) -> Monitored:
        from definetti.monitor import Monitor  # slow to import

        first, end = min(FIRST, len(states)), len(states)
        known = None if observations is None else piece(observations, 0, first)
        cp = self.estimator.fit(known, states[:first])
        self.monitor = Monitor(cp, **self.reaction, listen_to="law", random_state=cp.random_state)
        rest = None if observations is None else piece(observations, first, end)
        return self.partial_fit(rest, states[first:])

    @property
    def estimator_(self) -> ConformalHMM:
        """The estimator with the labels that the monitor has kept."""
        kept: ConformalHMM = self.monitor.estimator
        return kept

    def partial_fit(self, observations: Any, states: Any) -> Monitored:
        for _ in self.monitor.run(observations, states):
            pass
        return self

    def predict_set(self, new_observations: Any = None, *, horizon: int | None = None) -> Any:
        from definetti.monitor import cut_set

        cp = self.estimator_
        if not self.monitor.adapting:
            return cp.predict_set(new_observations, horizon=horizon)
        every = cp.predict_p(new_observations, horizon=horizon)
        assert isinstance(every, PredictionSet)  # listed, not a lattice
        return cut_set(every, Fraction(self.monitor.adaptive.alpha), bool(cp.allow_empty))


def _ours(
    name: str, *restart: tuple[str, str], by: str = "ours", exact: bool = True, split: bool = False,
    **more: Any,
) -> Contestant:  # fmt: skip
    """Return `ConformalHMM` as a contestant, whose name begins with its symmetry and score."""
    symmetry, score, *_ = name.split("+")
    settings = (("symmetry", symmetry), ("conformity_score", score), *more.items())
    symbols = by == "the paper"
    return Contestant(name, by, exact, settings, split, not split, symbols, restart=restart)


SMOOTHED = "full+path+smoothed"
CONTESTANTS = {
    contestant.name: contestant
    for contestant in (
        _ours("full+path"),
        _ours(SMOOTHED, smoothing=True),
        _ours(f"{SMOOTHED}+restart", RESTART, smoothing=True),
        _ours(f"{SMOOTHED}+change", RESTART, ("restart_from", "change"), exact=False,
              smoothing=True),
        _ours(f"{SMOOTHED}+adapt", ("on_alarm", "adapt"), exact=False, smoothing=True),
        _ours(f"{SMOOTHED}+restart+adapt", RESTART, ("adapt_from", "beginning"), exact=False,
              smoothing=True),
        _ours("spaced+path+split", split=True),
        _ours("departures+path+split", split=True),
        _ours("pairs+filter", by="the paper"),
        _ours("published+filter", by="the paper", exact=False),
        *(
            Contestant(name, "others", split=baseline.splits, each=baseline.each_candidate,
                       symbols=baseline.needs_symbols, rounds=baseline.learns_from_misses)
            for name, baseline in sorted(Baseline.named.items())
        ),
    )
}  # fmt: skip
