"""What else a user could do with the same predictor, judged on the same windows.

- *classical*: split conformal prediction of rows as if they could be exchanged. The predictor gives
  the probability of a state from what is observed in its row: a classifier its own, a hidden Markov
  model that of its law of observations and of how often states come.
- *classical with previous state*: the same, with the state before as a feature. A classifier is
  trained anew with it; a hidden Markov model has it as the state that the chain goes on from.
- *repeat last state*: the last known state and no other.

All have the rows for training, the rows for calibration and the filling of empty sets that the
estimator has. None has a guarantee for a Markov chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti.data.labels import piece
from definetti.judging.rolling import JudgedLevels, places_of

if TYPE_CHECKING:
    from definetti.conformal import ConformalHMM

CLASSICAL, PREVIOUS, REPEAT = "classical", "classical with previous state", "repeat last state"
HALF = 0.5  # of the rows, which rivals are trained on where the estimator is not


def fit_rivals(
    ours: ConformalHMM, observations: Any, states: Sequence[Any], lengths: Sequence[int] | None
) -> tuple[dict[str, Any], list[str]]:
    """Fit classical conformal prediction with the predictor of a fitted estimator.

    Parameters
    ----------
    ours : fitted on these rows
    observations, states, lengths : the rows before the first window

    Returns
    -------
    the rivals by their names; and notes on those that cannot be had
    """
    from definetti.baselines import Classical
    from definetti.baselines.rowwise import Memoryless, PreviousState
    from definetti.emissions.classifier import TrainedClassifier

    def classical(model: Any, **more: Any) -> Any:
        made = Classical(model, states=ours.states, random_state=0, **more)
        made.fills = not ours.allow_empty
        return made

    notes, trained = [], ours
    try:
        if not ours.model_.fixed:
            trained = classical(ours.model, train_size=HALF).fit(observations, states, lengths)
        data = trained._data
        training, model = data.training, data.model
        cut = 0 if training is None else len(training.states)
        models = {CLASSICAL: model, PREVIOUS: model}
        try:
            models[CLASSICAL] = Memoryless.of(model, training)
        except TypeError:
            del models[PREVIOUS]
            notes.append(
                f"{PREVIOUS} is left out: the predictor itself says what follows a state, and "
                f"{CLASSICAL} takes it as it is"
            )
        emission = model.emission_
        if PREVIOUS in models and isinstance(emission, TrainedClassifier) and training is not None:
            try:
                table, labels = data.table, tuple(model.states or ())
                models[PREVIOUS] = PreviousState.trained_on(emission, training, table, labels)
            except (TypeError, ValueError) as error:
                del models[PREVIOUS]
                notes.append(f"{PREVIOUS} is left out: {error}")
        seen = None if observations is None else piece(observations, cut, len(states))
        after = None if lengths is None else _lengths_after(cut, lengths)
        fitted = {
            name: classical(one).fit(seen, list(states[cut:]), after)
            for name, one in models.items()
        }
    except ValueError as error:
        return {}, [f"{CLASSICAL} prediction is left out: {error}"]
    return fitted, notes


def _lengths_after(cut: int, lengths: Sequence[int]) -> list[int]:
    """Return the lengths of stretches, or of their parts, after the first rows.

    >>> _lengths_after(4, [3, 4, 2])
    [3, 2]
    """
    ends = np.maximum(np.cumsum(lengths) - cut, 0)
    return [one for one in np.diff(ends, prepend=0).tolist() if one]


def repeat_last(
    judged: JudgedLevels, states: Sequence[Any], lag: int, max_errors: int
) -> JudgedLevels:
    """Judge, on windows that were judged, the set of the last known state, repeated.

    Parameters
    ----------
    judged : how other sets fared; its windows begin at rows of `states`
    states : all labels
    lag : how many steps come before those asked about
    max_errors : how many steps may be wrong
    """
    windows, horizon, n = len(judged.covers), judged.horizon, len(judged.states)
    never = len(judged.levels)
    last = places_of([states[row - lag - 1] for row in judged.begins], judged.states)
    first = np.full((windows * horizon, n), never)
    first[np.arange(windows * horizon), last.repeat(horizon)] = 0
    wrong = (judged.truth.reshape(windows, horizon) != last[:, None]).sum(axis=1)
    return judged._replace(
        first=first,
        covers=np.where(wrong <= max_errors, 0, never),
        p_values=np.full(windows, np.nan),
        sizes=np.ones((windows, never)),
        scaled_sizes=np.full((windows, never), float(n) ** -horizon),
        step_p_values=None,
        filled=np.zeros((windows, never), dtype=np.bool_),
        filled_steps=None,
    )
