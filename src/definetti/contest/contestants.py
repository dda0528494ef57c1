"""Who is compared: ours, the paper's, and all baselines, each with the same settings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from definetti.baselines import Baseline
from definetti.cells.cell import Settings
from definetti.paper.methods import PROMISED

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
        """Return a baseline as a contestant.

        >>> from definetti.baselines import AdaptiveLevel
        >>> Contestant.of(AdaptiveLevel).rounds
        True
        """
        return cls(
            baseline.known_as,
            "others",
            split=baseline.splits,
            each=baseline.each_candidate,
            symbols=baseline.needs_symbols,
            rounds=baseline.learns_from_misses,
        )

    def cannot(self, kind: str, candidates: int) -> str | None:
        """Tell why it cannot be run on observations of a kind; None if it can.

        >>> CONTESTANTS["pairs+filter"].cannot("vectors", 5)
        'needs symbols'
        >>> CONTESTANTS["full+path"].cannot("words", 17**3)
        'too slow: 4913 candidates, each with work of its own'
        """
        if self.symbols and kind == "vectors":
            return "needs symbols"
        if self.each and candidates > AFFORDABLE:
            return f"too slow: {candidates} candidates, each with work of its own"
        return None

    def make(self, kind: str, states: list[Hashable], train_size: int, random_state: int) -> Any:
        """Return the estimator, which is the same but for the method, whoever's it is.

        Parameters
        ----------
        kind : what is observed: "nothing", "symbols", "vectors" or "words"
        states : the state space
        train_size : how many steps fix the model, for a method that splits
        """
        from definetti import ConformalHMM

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
        if self.restart:
            from definetti.contest import restarting

            return restarting.KINDS[self.restart](**shared, allow_empty=True, **dict(self.settings))
        # Like with like: nobody's sets have a best guess where nothing is plausible.
        return ConformalHMM(**shared, allow_empty=True, **dict(self.settings))


def model(kind: str) -> Any:
    """Return the model that all methods use for what is observed.

    >>> model("symbols")
    HMM()
    """
    from definetti import HMM
    from definetti.emissions import Gaussian, Words

    return {"vectors": HMM(emission=Gaussian("full")), "words": HMM(emission=Words())}.get(
        kind, HMM()
    )


def chosen(names: Iterable[str] | None) -> list[Contestant]:
    """Return the contestants of some names, in the order of the table; all if there are none.

    >>> [one.name for one in chosen(["classical", "full+path"])]
    ['full+path', 'classical']
    """
    wanted = list(CONTESTANTS) if names is None else list(names)
    for name in wanted:
        if name not in CONTESTANTS:
            raise ValueError(f"methods has no {name!r}; choose among {', '.join(CONTESTANTS)}")
    if not wanted:
        raise ValueError("methods is empty; leave it out for all")
    return [one for name, one in CONTESTANTS.items() if name in wanted]


def _full(**more: Any) -> dict[str, Any]:
    settings = (("symmetry", "full"), ("score", "path"), *more.items())
    return {"by": "ours", "exact": True, "settings": settings, "split": False, "each": True}


def _paper(symmetry: str) -> dict[str, Any]:
    settings = (("symmetry", symmetry), ("score", "filter"))
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
        Contestant("spaced+path+split", "ours", True, (("symmetry", "spaced"), ("score", "path"))),
        Contestant(
            "departures+path+split", "ours", True, (("symmetry", "departures"), ("score", "path"))
        ),
        Contestant("pairs+filter", **_paper("pairs")),
        Contestant("published+filter", **_paper("published")),
        *(Contestant.of(baseline) for _, baseline in sorted(Baseline.named.items())),
    )
}
