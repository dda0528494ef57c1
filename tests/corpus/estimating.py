"""Settings of `ConformalHMM`: products of models, data, symmetries, scores, horizons, promises."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from itertools import product
from typing import Any

from tests.corpus.answers import read_answers, read_rolled
from tests.corpus.data import KINDS, PAST, data
from tests.corpus.models import MODELS, SCORES, SKIES, SYMMETRIES, guess, matrices
from tests.corpus.setting import Setting

from definetti import ConformalHMM, Errors
from definetti.symmetry import Pairs

TRAINED = {"train_size": 0.4}
WAYS: dict[str, dict[str, Any]] = {"refitted": {}, "trained": TRAINED}
PROMISES = {
    "steps": {"guarantee": "steps"},
    **{f"errors {k}": {"guarantee": Errors(k)} for k in (0, 1, 2)},
}
LONG = {
    "matrices": {"model": matrices()},
    "function": {"model": guess, "states": SKIES},
    "smoothed": {**TRAINED, "smoothing": True},
    "steps": {**TRAINED, **PROMISES["steps"]},
    "errors": {**TRAINED, **PROMISES["errors 2"]},
    "few listed": {**TRAINED, "max_candidates": 20},
}
OPTIONS = {
    "states declared": {"states": ["rain", "sun", "snow"]},
    "states declared, trained": {"states": ["rain", "sun", "snow"], **TRAINED},
    "smoothed": {"smoothing": True},
    "drawn": {"conformity_score": "smoother"},
    "drawn at pairs": {"symmetry": Pairs(n_resamples=50)},
    "few candidates": {"max_candidates": 4},
    "high level": {"confidence_level": 0.999},
}
# Levels and data at which some sets would be empty.
FILLED: dict[str, dict[str, Any]] = {
    "listed": {"train_size": 0.4},
    "refitted": {"smoothing": True},
    "lattice": {"train_size": 0.4, "max_candidates": 4},
    "smoothed lattice": {"train_size": 0.4, "max_candidates": 4, "smoothing": True},
    "steps": {"train_size": 0.4, "guarantee": "steps"},
    "errors": {"train_size": 0.4, "guarantee": Errors(1)},
    "departures": {"train_size": int(0.4 * PAST), "symmetry": "departures", "smoothing": True},
}
STRETCHES = {"two": [40, PAST - 40], "many": [20] * 6, "short end": [PAST - 6, 6]}


def fitted(kind: str, params: dict[str, Any], lengths: Any = None) -> ConformalHMM:
    """Return an estimator that shares nothing with those of other settings.

    Sets may be empty where a setting does not say otherwise, so that all that was recorded before
    there was a choice still compares.
    """
    cp = ConformalHMM(**{"random_state": 0, "allow_empty": True, **deepcopy(params)})
    return cp.fit(*data(kind).history(), lengths=lengths)


def asked(
    kind: str, steps: int, params: dict[str, Any], lengths: Any = None, **how: Any
) -> dict[str, Any]:
    """Fit to the history of some data, and ask about what follows."""
    cp = fitted(kind, params, lengths)
    return {
        "symmetry": type(cp.symmetry_).__name__,
        "n_steps": cp.n_steps_,
        "symbols": [str(one) for one in cp.symbols_],
        **read_answers(cp, data(kind), steps, **how),
    }


def rolled(kind: str, steps: int, params: dict[str, Any]) -> Any:
    """Fit to the history of some data, and go on from there window after window."""
    return read_rolled(fitted(kind, params), data(kind), steps)


def data_and_models() -> Iterator[Setting]:
    for kind, (way, params), steps in product(KINDS, WAYS.items(), (1, 2)):
        yield Setting(f"data/{kind}/{way}/{steps}", partial(asked, kind, steps, params))
    for (name, (kind, params)), steps in product(MODELS.items(), (1, 3)):
        yield Setting(f"model/{name}/{steps}", partial(asked, kind, steps, params))
    for (name, params), kind, steps in product(OPTIONS.items(), ("symbols", "numbers"), (2, 3)):
        yield Setting(f"option/{name}/{kind}/{steps}", partial(asked, kind, steps, params))


def symmetries_and_scores() -> Iterator[Setting]:
    ways = {"refitted": {}, "matrices": {"model": matrices()}}
    ties = {"plain": False, "smoothed": True}
    for symmetry, score, way, tie, steps in product(SYMMETRIES, SCORES, ways, ties, (1, 2, 3, 4)):
        params = {
            **ways[way], "symmetry": SYMMETRIES[symmetry], "conformity_score": SCORES[score],
            "smoothing": ties[tie],
        }  # fmt: skip
        few = steps == 2 and (score == "path" or (symmetry, tie) == ("full", "plain"))
        ask = partial(asked, "symbols", steps, params)
        yield Setting(f"judged/{symmetry}/{score}/{way}/{tie}/{steps}", ask, not few)
    for (name, lengths), way, symmetry in product(
        STRETCHES.items(), WAYS, ("auto", "returns", "pairs", "spaced")
    ):
        ask = partial(asked, "symbols", 2, {**WAYS[way], "symmetry": symmetry}, lengths)
        yield Setting(f"segments/{name}/{way}/{symmetry}", ask)


def horizons() -> Iterator[Setting]:
    for steps, observed, (way, params) in product((2, 4), (0, 1), WAYS.items()):
        ask = partial(asked, "symbols", steps, params, observed=observed)
        yield Setting(f"beyond/{way}/{observed} of {steps}", ask)
    for score, lag, steps in product(SCORES, (1, 2), (3, 4)):
        ask = partial(
            asked, "symbols", steps, {**TRAINED, "conformity_score": SCORES[score]}, lag=lag
        )
        yield Setting(f"lag/{score}/{lag} of {steps}", ask, steps == 4)
    for promise, kind, steps in product(PROMISES, ("symbols", "gaps", "counts"), (1, 4)):
        ask = partial(asked, kind, steps, {**TRAINED, **PROMISES[promise]})
        yield Setting(f"promise/{promise}/{kind}/{steps}", ask)
    for score, steps in product(SCORES, (30, 200)):
        ask = partial(
            asked, "long", steps, {**TRAINED, "conformity_score": SCORES[score]}, long=True
        )
        yield Setting(f"lattice/{score}/{steps}", ask, steps > 30 and score != "path")
    for (name, params), (observed, steps) in product(LONG.items(), ((None, 30), (10, 30), (6, 6))):
        ask = partial(asked, "long", steps, params, long=True, observed=observed)
        yield Setting(f"lattice/{name}/{observed or steps} of {steps}", ask)


def filled() -> Iterator[Setting]:
    """Sets as they come if nothing is said of empty ones."""
    for (name, params), kind, steps in product(
        FILLED.items(), ("symbols", "numbers", "novel"), (1, 3)
    ):
        params = {**params, "allow_empty": False}
        yield Setting(f"filled/{name}/{kind}/{steps}", partial(asked, kind, steps, params))
        if steps == 1:
            yield Setting(f"filled/rolled/{name}/{kind}", partial(rolled, kind, steps, params))


def rolls() -> Iterator[Setting]:
    for kind, (way, params), steps in product(KINDS, WAYS.items(), (1, 3)):
        yield Setting(f"rolled/{kind}/{way}/{steps}", partial(rolled, kind, steps, params))
    for symmetry, score in product(SYMMETRIES, SCORES):
        params = {"symmetry": SYMMETRIES[symmetry], "conformity_score": SCORES[score]}
        ask = partial(rolled, "novel", 1, params)
        yield Setting(f"rolled/novel/{symmetry}/{score}", ask, score != "path")
    for name, (kind, params) in MODELS.items():
        yield Setting(f"rolled/model/{name}", partial(rolled, kind, 2, params))
    for promise, params in PROMISES.items():
        yield Setting(f"rolled/{promise}", partial(rolled, "novel", 3, {**TRAINED, **params}))
