"""What a backtest advises: simpler methods that do as well, and remedies for a shortfall."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti.evaluation.judged import JudgedLevels
from definetti.evaluation.results import Evaluation
from definetti.levels import ACI
from definetti.models.hmm import HMM
from definetti.symmetry import Departures, Spaced, find_symmetry

if TYPE_CHECKING:
    from definetti.conformal import ConformalHMM

OURS, WITHOUT = "definetti", "without observations"
CLASSICAL, PREVIOUS, REPEAT = "classical", "classical with previous state", "repeat last state"
SMALLER = 0.95  # of our states a step, from which on sets without a guarantee are worth a word
RECENT = 50  # windows that a law which drifts is compared with
RATE = 0.02  # by which an adaptive level moves


def simpler_method(
    predictor: ConformalHMM,
    found: Mapping[str, Evaluation],
    place: int,
    judge: Callable[..., JudgedLevels],
) -> list[str]:
    """Name the simplest other method whose sets kept the promise and are no larger than ours.

    One without a guarantee must have reached the level itself. Where such a one has smaller sets,
    "departures" is tried, which is exact and as small where some states are rare. `judge` and
    `place` are as in `remedy`.
    """
    ours = found[OURS]
    against = f"against {ours.coverage:.3f} with {ours.width:.3g}"
    if enough := _repeat_enough(found):
        return enough
    plain = found.get(WITHOUT)
    words = "the observations do not help here: use --no-observations"
    if plain is not None and _kept(plain) and plain.width <= ours.width:
        return [_compare(f"{words}, fit(None, states) in Python", plain, ours)]
    small = {k: found[k] for k in (CLASSICAL, PREVIOUS) if k in found and _reached(found[k])}
    small = {k: v for k, v in small.items() if _kept(v) and v.width < SMALLER * ours.width}
    if not small:
        if plain is None or not _kept(plain) or predictor.smoothing:
            return []
        smoothed = _smooth_without_observations(predictor, place, judge)
        if smoothed is None or not _kept(smoothed) or smoothed.width * SMALLER > ours.width:
            return []
        words += " --smoothing, smoothing=True and fit(None, states) in Python"
        return [_compare(words, smoothed, ours)]
    name = min(small, key=lambda one: small[one].width)
    return [
        f"{name} conformal prediction had smaller sets here, without a guarantee "
        f"({small[name].coverage:.3f} with {small[name].width:.3g} states a step, {against})",
        *_try_departures(predictor, ours.width, place, judge),
    ]


def _repeat_enough(found: Mapping[str, Evaluation]) -> list[str]:
    """Say so where the last state, repeated, reached the level with sets no larger than ours."""
    other = found[REPEAT]
    if not (_reached(other) and _kept(other) and other.width <= found[OURS].width):
        return []
    return [_compare("repeating the last state is enough here", other, found[OURS])]


def _smooth_without_observations(
    predictor: ConformalHMM, place: int, judge: Callable[..., JudgedLevels]
) -> Evaluation | None:
    """Judge smoothed sets without observations: chance breaks ties as useless observations do."""
    plain = copy.deepcopy(predictor).set_params(model=HMM(), smoothing=True)
    try:
        return judge(plain, observing=False).evaluation(place)
    except ValueError:
        return None  # it cannot be had for these rows


def _compare(words: str, other: Evaluation, ours: Evaluation) -> str:
    return (
        f"{words} ({other.coverage:.3f} of the windows with {other.width:.3g} states a step, "
        f"against {ours.coverage:.3f} with {ours.width:.3g})"
    )


def _try_departures(
    predictor: ConformalHMM, width: float, place: int, judge: Callable[..., JudgedLevels]
) -> list[str]:
    """Name "departures" where it kept the promise with smaller sets."""
    if isinstance(find_symmetry(predictor.symmetry), Departures):
        return []
    try:
        departing = copy.deepcopy(predictor).set_params(symmetry="departures")
        other = judge(departing).evaluation(place)
    except ValueError:
        return []  # it cannot be had for these rows
    if not _kept(other) or other.width >= SMALLER * width:
        return []
    return [
        "departures, exact given the present state instead of the last, had smaller sets too "
        f"({other.coverage:.3f} with {other.width:.3g} states a step): use --symmetry departures, "
        'symmetry="departures" in Python'
    ]


def remedy(
    predictor: ConformalHMM,
    judged: Mapping[str, JudgedLevels],
    place: int,
    observed: bool,
    judge: Callable[..., JudgedLevels],
) -> list[str]:
    """Try remedies for a promise that was not kept, and name one that holds.

    Where the last state, repeated, reached the level with no larger sets, that is said first. The
    first half of the windows chooses: of the remedies that reach the level there, the one with the
    fewest states a step. It is recommended if it is not short on the second half. `judge` fits an
    estimator, if asked without observations, and judges it on the same windows; `place` is that of
    the level.
    """
    told = _repeat_enough({name: judged[name].evaluation(place) for name in (OURS, REPEAT)})
    tried = {}
    if WITHOUT in judged:
        tried["no observations (--no-observations)"] = judged[WITHOUT]
    for words, other in _alternatives(predictor, observed).items():
        try:
            tried[words] = judge(other)
        except ValueError:
            continue  # it cannot be had for these rows
    ours = judged[OURS]
    half, level = len(ours.covers) // 2, float(ours.levels[place])
    if not half:
        return told

    def take_half(one: JudgedLevels, second: bool) -> Evaluation:
        # By time: what cannot be ranked in one pass is judged on fewer windows.
        own = (one.begins >= ours.begins[half]) == second
        return one.take(np.flatnonzero(own)).evaluation(place)

    early = {words: take_half(one, second=False) for words, one in tried.items()}
    good = [words for words, one in early.items() if one.coverage >= level]
    before = take_half(ours, second=True)
    if good:
        chosen = min(good, key=lambda words: early[words].width)
        late = take_half(tried[chosen], second=True)
        if _kept(late):
            return [
                *told,
                f"try {chosen}: chosen on the first half of the windows, it covers "
                f"{late.coverage:.3f} of the second half with {late.width:.3g} states a step, "
                f"where {before.coverage:.3f} were covered with {before.width:.3g}",
            ]
    shares = [f"{words} {one.coverage:.3f}" for words, one in early.items()]
    words = f"no remedy held on both halves of the windows ({', '.join(shares) or 'none tried'})"
    if not np.isnan(ours.p_values).any():
        adaptive = ACI(level, RATE)
        hits = [not adaptive.update(p_value) for p_value in ours.p_values.tolist()]
        adapted = np.mean(hits[half:])
        if adapted >= level - RATE:
            words += (
                f"; adaptive levels, which assume nothing, cover {adapted:.3f} of the second half: "
                "Monitor(..., adaptive=), definetti monitor"
            )
    return [*told, words]


def _alternatives(predictor: ConformalHMM, observed: bool) -> dict[str, ConformalHMM]:
    """Return estimators that may hold where another one is short, by what is to be changed."""
    symmetry, found = find_symmetry(predictor.symmetry), dict[str, dict[str, Any]]()
    if symmetry.recent is None or symmetry.recent > RECENT:
        recent = Departures if isinstance(symmetry, Departures) else Spaced
        words = f"recent windows (symmetry={recent.__name__}(recent={RECENT}))"
        found[words] = {"symmetry": recent(recent=RECENT)}
    if observed and predictor.train_size is None:
        words = 'a model chosen on the first half (model="auto", train_size=0.5)'
        found[words] = {"model": "auto", "train_size": 0.5}
    elif observed:
        words = 'a model refitted for each candidate (model="auto", no train_size)'
        found[words] = {"model": "auto", "train_size": None}
    return {words: copy.deepcopy(predictor).set_params(**how) for words, how in found.items()}


def _reached(found: Evaluation) -> bool:
    """Tell whether the share that was covered is at least what was promised on average."""
    levels = found.levels
    return levels is not None and bool(found.kept_shares.mean() >= np.nanmean(levels))


def _kept(found: Evaluation) -> bool:
    verdict = found.verdict
    return verdict is not None and verdict.kept is True
