"""The methods compared: ours, the paper's, and all baselines, with the same settings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from definetti import HMM, ConformalHMM
from definetti._system.cells import Settings
from definetti.data.labels import piece
from definetti.emissions import Gaussian, Words
from definetti.experiments import (  # noqa: F401 (their names)
    adapting,
    classical,
    resampling,
    unions,
    weighted,
)
from definetti.experiments.baseline import Baseline
from definetti.experiments.methods import PROMISED
from definetti.sets import PredictionSet

AFFORDABLE = 2_000  # candidates, for methods that work on every one of them by itself


@dataclass(frozen=True)
class Contestant:
    """A method under its name.

    Attributes
    ----------
    name : what it is called in the table, and on the command line
    by : "ours", "the paper" or "others"
    exact : whether it guarantees the level for every hidden Markov model
    settings : parameters of `ConformalHMM`; none for a baseline, which has its own defaults
    split : whether a model is fixed on the first half of the labels
    each : whether every candidate costs work of its own: a refit, or a past that moves with it
    symbols : whether it needs observations that occur again
    rounds : whether it learns from the misses of its own sets, and so needs to be fed by windows
    restart : where it begins anew after an alarm, the "alarm" or the "change", or that it does not
        and lets its level "adapt", or that it does "both"; no monitor if empty
    """

    name: str
    by: str
    exact: bool = False
    settings: Settings = ()
    split: bool = True
    each: bool = False
    symbols: bool = False
    rounds: bool = False
    restart: str = ""

    @classmethod
    def of(cls, baseline: type[Baseline]) -> Contestant:
        """Return a baseline as a contestant."""
        return cls(
            baseline.known_as,
            "others",
            split=baseline.splits,
            each=baseline.each_candidate,
            symbols=baseline.needs_symbols,
            rounds=baseline.learns_from_misses,
        )

    def cannot(self, kind: str, candidates: int) -> str | None:
        """Tell why it cannot be run on observations of a kind; None if it can."""
        if self.symbols and kind == "vectors":
            return "needs symbols"
        if self.each and candidates > AFFORDABLE:
            return f"too slow: {candidates} candidates, each with work of its own"
        return None

    def make(self, kind: str, states: list[Hashable], train_size: int, random_state: int) -> Any:
        """Return the estimator; all settings but the method are the same for all.

        Parameters
        ----------
        kind : what is observed: "nothing", "symbols", "vectors" or "words"
        states : the state space
        train_size : how many steps fix the model, for a method that splits
        """
        shared: dict[str, Any] = {
            "model": model(kind),
            "confidence_level": PROMISED,
            "states": states,
            "random_state": random_state,
        }
        if self.split:
            shared["train_size"] = train_size
        if self.by == "others":
            return Baseline.named[self.name](**shared)
        # Like with like: nobody's sets have a best guess where nothing is plausible.
        ours = ConformalHMM(**shared, allow_empty=True, **dict(self.settings))
        return Monitored(ours, REACTIONS[self.restart]) if self.restart else ours


def model(kind: str) -> Any:
    """Return the model that all methods use for what is observed."""
    return {"vectors": HMM(emission=Gaussian("full")), "words": HMM(emission=Words())}.get(
        kind, HMM()
    )


def chosen(names: Iterable[str] | None) -> list[Contestant]:
    """Return the contestants of some names, in the order of the table; all if there are none."""
    wanted = list(CONTESTANTS) if names is None else list(names)
    for name in wanted:
        if name not in CONTESTANTS:
            raise ValueError(f"methods has no {name!r}; choose among {', '.join(CONTESTANTS)}")
    if not wanted:
        raise ValueError("methods is empty; leave it out for all")
    return [one for name, one in CONTESTANTS.items() if name in wanted]


FIRST = 20  # labels that a monitor starts with
REACTIONS: dict[str, dict[str, Any]] = {
    "alarm": {"on_alarm": "restart"},
    "change": {"on_alarm": "restart", "restart_from": "change"},  # only approximately valid
    "adapt": {"on_alarm": "adapt"},
    "both": {"on_alarm": "restart", "adapt_from": "beginning"},
}


class Monitored:
    """`ConformalHMM` behind a `Monitor`: its sets are those of what the monitor has kept.

    Parameters
    ----------
    estimator : ConformalHMM
    reaction : how the monitor reacts to an alarm, as its parameters
    """

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
        assert isinstance(every, PredictionSet)  # contestants with work for each list them
        return cut_set(every, Fraction(self.monitor.adaptive.alpha), bool(cp.allow_empty))


def _full(**more: Any) -> dict[str, Any]:
    settings = (("symmetry", "full"), ("conformity_score", "path"), *more.items())
    return {"by": "ours", "exact": True, "settings": settings, "split": False, "each": True}


def _paper(symmetry: str) -> dict[str, Any]:
    settings = (("symmetry", symmetry), ("conformity_score", "filter"))
    exact = symmetry == "pairs"
    return {"by": "the paper", "exact": exact, "settings": settings, "split": False, "each": True,
            "symbols": True}  # fmt: skip


CONTESTANTS = {
    one.name: one
    for one in (
        Contestant("full+path", **_full()),
        Contestant("full+path+smoothed", **_full(smoothing=True)),
        Contestant("full+path+smoothed+restart", **_full(smoothing=True), restart="alarm"),
        Contestant(
            "full+path+smoothed+change",
            **{**_full(smoothing=True), "exact": False},
            restart="change",
        ),
        Contestant(
            "full+path+smoothed+adapt", **{**_full(smoothing=True), "exact": False}, restart="adapt"
        ),
        Contestant(
            "full+path+smoothed+restart+adapt",
            **{**_full(smoothing=True), "exact": False},
            restart="both",
        ),
        Contestant(
            "spaced+path+split",
            "ours",
            True,
            (("symmetry", "spaced"), ("conformity_score", "path")),
        ),
        Contestant(
            "departures+path+split",
            "ours",
            True,
            (("symmetry", "departures"), ("conformity_score", "path")),
        ),
        Contestant("pairs+filter", **_paper("pairs")),
        Contestant("published+filter", **_paper("published")),
        *(Contestant.of(baseline) for _, baseline in sorted(Baseline.named.items())),
    )
}
