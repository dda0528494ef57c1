"""Settings of all else: whole sequences, other people's methods, coverage, sizes, pictures."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from tests.corpus.answers import (
    LEVEL,
    read_answers,
    read_evaluation,
    read_rolled,
    read_set,
    tried,
)
from tests.corpus.commands import COMMANDS, SLOW_COMMANDS, read_command
from tests.corpus.data import data
from tests.corpus.models import EMITTED, SKIES, STEPS, SYMMETRIES, guess, matrices
from tests.corpus.names import baseline, named
from tests.corpus.pictures import PICTURES, read_picture
from tests.corpus.setting import Setting

from definetti import HMM, ConformalHMM, ConformalSequences, Errors, compare_predictors
from definetti.simulate import weather
from definetti.verify import exact_coverage

UNITS = {"alone": None, "grouped": [k // 2 for k in range(30)]}
SEQUENCES: dict[str, dict[str, Any]] = {
    "half": {},
    "drawn": {"train_size": 10, "random_state": 0},
    "matrices": {"model": matrices(), "train_size": None},
}
PROMISES = {"steps": {}, "all": {"guarantee": "all"}}
PROMISES |= {"errors": {"guarantee": Errors(1)}}
METHODS: dict[str, list[dict[str, Any]]] = {
    "Classical": [{}, {"stride": 3}, {"conformity_score": "filter"}],
    "ClassConditional": [{}, {"classes": "last"}],
    "ShiftPermutations": [{}, {"block": 4}],
    "EnsembleSliding": [{"n_models": 3}, {"n_models": 5, "piece": 30}],
    "UnionOverSequences": [{}, {"conditional": True}],
    "UnionMultiStep": [{}, {"conformity_score": "filter"}],
    "LikelihoodRatio": [{}],
    "Robust": [{}, {"divergence": "tv", "radius": 0.05}],
    "AdaptiveLevel": [{}, {"gamma": 0.1}],
    "NonExchangeable": [{}, {"decay": 0.9}],
    "Thinned": [{}, {"thinning": 3}],
}
LAWS: dict[str, Any] = {
    "sticky": ([0.5, 0.5], STEPS, [[0.2, 0.8], [0.9, 0.1]]),
    "reducible": ([0.5, 0.5], [[0.8, 0.2], [0.0, 1.0]], [[0.7, 0.3], [0.2, 0.8]]),
}


def in_sequences(params: dict[str, Any], groups: Any) -> dict[str, Any]:
    """Learn from thirty weeks of unequal length, and ask about ten."""
    weeks = [weather(4 + k % 5, random_state=k) for k in range(40)]
    lengths = [len(week.states) for week in weeks]
    seen, states = ([x for week in weeks for x in week[part]] for part in (0, 1))
    old = sum(lengths[:30])
    how = {"confidence_level": LEVEL, "allow_empty": True, **deepcopy(params)}
    cp = ConformalSequences(**how)
    cp.fit(seen[:old], states[:old], lengths=lengths[:30], groups=groups)
    return {
        "units": cp.n_units_,
        "one": read_set(cp.predict_set(seen[old : old + lengths[30]])),
        "several": [read_set(s) for s in cp.predict_set(seen[old:], lengths[30:], 0.7)],
        "evaluated": read_evaluation(cp.evaluate(seen[old:], states[old:], lengths[30:])),
    }


def by_others(name: str, params: dict[str, Any], kind: str, steps: int) -> dict[str, Any]:
    """Ask another method by its front door, and go on from there."""
    how = {"confidence_level": LEVEL, "random_state": 0, **deepcopy(params)}
    cp = baseline(name)(**how).fit(*data(kind).history())
    found = read_answers(cp, data(kind), steps)
    return {**found, "rolled": tried(lambda: read_rolled(cp, data(kind), steps))}


def compared(horizon: int, level: float, allow_empty: bool = True) -> dict[str, Any]:
    """Compare predictors, and leave out how long they took."""
    predictors = {
        "counted": HMM(prior=0), "matrices": matrices(), "guess": guess,
        "trained": ConformalHMM(train_size=0.4, allow_empty=allow_empty),
        "shifts": ConformalHMM(symmetry="shifts", allow_empty=allow_empty),
    }  # fmt: skip
    found = compare_predictors(
        predictors, *data("symbols").history(), labels=SKIES, random_state=0, test_size=0.2,
        horizon=horizon, confidence_level=level, allow_empty=allow_empty,
    )  # fmt: skip
    rows = [{k: v for k, v in row._asdict().items() if k != "seconds"} for row in found.rows]
    return {"rows": rows, "text": repr(found), "windows": found.windows}


def least_size(horizon: int, level: float) -> float:
    transition, emission = np.array(STEPS), np.array(EMITTED)
    start = named("stationary")(transition)
    return float(named("oracle_size")(start, transition, emission, horizon, level))


def one_step(symmetry: str) -> Any:
    cp = ConformalHMM(train_size=0.4, symmetry=symmetry).fit(*data("symbols").history())
    return cp.p_values([[symbol] for symbol in cp.symbols_])


def sequences() -> Iterator[Setting]:
    for way, promise, units in product(SEQUENCES, PROMISES, UNITS):
        ask = partial(in_sequences, {**SEQUENCES[way], **PROMISES[promise]}, UNITS[units])
        yield Setting(f"sequences/{way}/{promise}/{units}", ask)
    for promise in PROMISES:
        params = {**PROMISES[promise], "confidence_level": 0.5, "allow_empty": False}
        yield Setting(f"sequences/filled/{promise}", partial(in_sequences, params, None))


def methods() -> Iterator[Setting]:
    kinds = ("symbols", "numbers", "gaps", "plain", "novel")
    for (name, options), kind, steps in product(METHODS.items(), kinds, (1, 2)):
        for k, params in enumerate(options):
            ask = partial(by_others, name, params, kind, steps)
            wide = kind in ("gaps", "plain") or (kind == "numbers" and steps == 2)
            yield Setting(f"baseline/{name} {k}/{kind}/{steps}", ask, wide)
    for name, steps in product(METHODS, (1, 2)):
        ask = partial(by_others, name, {"model": matrices()}, "symbols", steps)
        yield Setting(f"baseline/{name}/matrices/{steps}", ask)


def figures() -> Iterator[Setting]:
    ties = {"plain": False, "smoothed": True}
    for symmetry, score, tie, law in product(SYMMETRIES, ("path", "filter"), ties, LAWS):
        cp = ConformalHMM(
            conformity_score=score, symmetry=SYMMETRIES[symmetry], smoothing=ties[tie],
            confidence_level=LEVEL, allow_empty=True,
        )  # fmt: skip
        ask = partial(exact_coverage, cp, *LAWS[law], length=3, horizon=1)
        few = (score, tie, law) == ("path", "plain", "sticky")
        yield Setting(f"coverage/{symmetry}/{score}/{tie}/{law}", ask, not few)
    for symmetry, tie in product(("full", "spaced"), ties):
        cp = ConformalHMM(symmetry=symmetry, smoothing=ties[tie], confidence_level=0.5)
        ask = partial(exact_coverage, cp, *LAWS["sticky"], length=3, horizon=1)
        yield Setting(f"coverage/filled/{symmetry}/{tie}", ask)
    yield Setting("compared/filled", partial(compared, 1, 0.8, allow_empty=False))
    for horizon, level in product((1, 2), (0.8, 0.9)):
        yield Setting(f"compared/{level}/{horizon}", partial(compared, horizon, level))
        yield Setting(f"oracle/{level}/{horizon}", partial(least_size, horizon, level))
    for symmetry in ("spaced", "returns"):
        yield Setting(f"one step/{symmetry}", partial(one_step, symmetry))


def shown() -> Iterator[Setting]:
    for name, draw in PICTURES.items():
        yield Setting(f"picture/{name}", partial(read_picture, draw))
    for name, line in {**COMMANDS, **SLOW_COMMANDS}.items():
        yield Setting(f"command/{name}", partial(read_command, line), name in SLOW_COMMANDS)
