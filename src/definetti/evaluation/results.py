"""How sets fared when the truth came in, window by window, and the summary of it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.evaluation.intervals import effective_number, share
from definetti.evaluation.verdict import Verdict, judge_promise, span_of
from definetti.levels import ConfidenceLevel, read_levels

PARTS = 4  # of the windows, for coverage over time


class StateCoverage(NamedTuple):
    """How the windows fared whose promise is given one state.

    Attributes
    ----------
    coverage, windows : the share of them whose set held the truth, and their number
    level : what was promised for them; None where that is not known
    """

    coverage: float
    windows: int
    level: float | None


class Evaluation(NamedTuple):
    """Prediction sets judged by the truth, one window after the other.

    Attributes
    ----------
    covered : (windows,) whether the truth was in the set before an empty one was filled; with
        "errors", whether it was outside at no more steps than may be wrong
    sizes, scaled_sizes : (windows,) how many sequences the set held, at most where it was not
        listed, and which share of all
    p_values : (windows,) the p-value of the truth; NaN for sets of states, which have none
    wrong : (windows,) the share of steps whose true state was not possible there, before filling
    widths : (windows,) how many states were possible at a step, on average
    states, truth, nodes : the labels; the true codes of all steps, −1 for a label unknown; and
        which states were possible at each step, ``(steps, number of states)``
    confidence_level : the level asked for, a dict where states have levels of their own
    given : (windows,) the code of the state given which each promise holds, the last one or, with
        "departures", the present one; −1 for a label unknown
    filled : (windows,) whether nothing was plausible, for sets of states at some step, so that the
        most plausible was let in. Sizes, widths and nodes include it, and nothing else does
    unseen : (windows,) whether the truth has a label unknown, which no set can hold; not covered
        here, and apart from misses in the `verdict`
    begins : (windows,) the first row of each window, from 0; None where windows are no rows
    guarantee : what was promised: of "steps", a share of them
    empty : (windows,) the share of steps at which no state was possible before filling
    shared_calibration : whether all windows are compared with the same calibration windows, so that
        their errors are not independent, and there is no verdict without `calibration_noise`
    calibration_noise : how far the coverage given the calibration windows may lie below the promise
        by chance, but for a probability of 0.025
    sure_misses : (windows,) whether a window is missed whatever its truth is: its set was empty
        before filling, or with "errors" more of its steps than may be wrong

    Examples
    --------
    >>> e = Evaluation(
    ...     np.array([True, False]),
    ...     np.array([1, 2]),
    ...     np.array([0.5, 1.0]),
    ...     np.array([0.7, 0.05]),
    ...     np.array([0.0, 1.0]),
    ...     np.array([1.0, 2.0]),
    ... )
    >>> e  # doctest: +NORMALIZE_WHITESPACE
    Evaluation: covered 1 of 2 (0.500), mean size 1.50, mean scaled size 0.750,
    states per step 1.50, steps wrong 0.500
    """

    covered: npt.NDArray[np.bool_]
    sizes: npt.NDArray[Any]
    scaled_sizes: FloatArray
    p_values: FloatArray
    wrong: FloatArray
    widths: FloatArray
    states: tuple[Hashable, ...] = ()
    truth: Any = None
    nodes: Any = None
    confidence_level: ConfidenceLevel | None = None
    given: Any = None
    filled: Any = None
    unseen: Any = None
    begins: Any = None
    guarantee: str = "all"
    empty: Any = None
    shared_calibration: bool = False
    calibration_noise: float | None = None
    sure_misses: Any = None

    @classmethod
    def of_steps(
        cls,
        lengths: IntArray,
        states: tuple[Hashable, ...],
        truth: IntArray,
        nodes: npt.NDArray[np.bool_],
        filled_steps: npt.NDArray[np.bool_] | None = None,
        max_errors: int = 0,
        **others: Any,
    ) -> Evaluation:
        """Judge which states were possible at each step, and put it beside all `others`.

        At `filled_steps` nothing was possible, and `nodes` has the most plausible; a window is
        covered where at most `max_errors` of its steps are wrong, unless the `others` say so.
        """
        begins = lengths.cumsum() - lengths
        nothing = ~nodes.any(axis=1)
        if filled_steps is not None:
            nothing |= filled_steps
        there = nodes[np.arange(len(truth)), truth] & (truth >= 0) & ~nothing
        right = np.add.reduceat(there.astype(np.int64), begins)
        others.setdefault("p_values", np.full(len(lengths), np.nan))
        others.setdefault("covered", lengths - right <= max_errors)
        number_empty = np.add.reduceat(nothing.astype(np.int64), begins)
        by_errors = others.get("guarantee") == "errors"
        return cls(
            wrong=1 - right / lengths,
            widths=np.add.reduceat(nodes.sum(axis=1), begins) / lengths,
            states=states,
            truth=truth,
            nodes=nodes,
            unseen=np.logical_or.reduceat(truth < 0, begins),
            empty=number_empty / lengths,
            sure_misses=number_empty > max_errors if by_errors else number_empty == lengths,
            **others,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evaluation):
            return NotImplemented
        # What follows the first six says the same in more words.
        pairs = zip(self[:6], other[:6], strict=True)
        return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)

    def __ne__(self, other: object) -> bool:
        return not self == other

    @property
    def coverage(self) -> float:
        """The share of windows whose set held the truth, before empty sets were filled."""
        return float(self.covered.mean())

    @property
    def size(self) -> float:
        """The mean number of sequences in a set."""
        return float(self.sizes.mean())

    @property
    def scaled_size(self) -> float:
        """The mean share of all sequences in a set."""
        return float(self.scaled_sizes.mean())

    @property
    def width(self) -> float:
        """The mean number of states that were possible at a step."""
        return float(self.widths.mean())

    @property
    def wrong_share(self) -> float:
        """The share of steps whose true state was not possible there, before filling."""
        return float(self.wrong.mean())

    @property
    def kept_shares(self) -> npt.NDArray[Any]:
        """What the promise is about: whether each window was covered, or its share of steps."""
        if self.guarantee != "steps":
            return self.covered
        # Of windows of one step, shares are 0 or 1.
        single = self.truth is not None and len(self.truth) == len(self.covered)
        return self.wrong == 0 if single else 1.0 - self.wrong

    @property
    def empty_shares(self) -> FloatArray:
        """What of each window was empty before filling, which no truth can be in.

        The share of steps where that is promised; else 1 for `sure_misses`, and 0.
        """
        found = self.empty if self.guarantee == "steps" else self.sure_misses
        return np.zeros(len(self.covered)) if found is None else np.asarray(found, float)

    @property
    def verdict(self) -> Verdict | None:
        """Whether the promise was kept, in words; None where the level is not known.

        With `shared_calibration`, and noise that is not known, its ``kept`` is None, and its words
        say why.
        """
        return judge_promise(self)

    @property
    def levels(self) -> FloatArray | None:
        """What was promised for each window, NaN where its state is unknown; None without a level.

        Its mean is what is promised on average over these windows.
        """
        if self.confidence_level is None:
            return None
        found = read_levels(self.confidence_level)
        if not found.named or self.given is None:
            level = found.written if not found.named else np.nan
            return np.full(len(self.covered), level, dtype=np.float64)
        each = [float(1 - found.alpha(label)) for label in self.states]
        return np.asarray(np.append(each, np.nan)[self.given])  # −1 finds the last

    def by_state(self) -> dict[Hashable, StateCoverage]:
        """Return coverage given each state, beside the level that it was promised.

        Examples
        --------
        >>> from definetti import ConformalHMM
        >>> from definetti.simulate import weather
        >>> y, x = weather(400, random_state=0)
        >>> cp = ConformalHMM(confidence_level={"rain": 0.95, None: 0.7}, random_state=0)
        >>> found = cp.fit(y[:200], x[:200]).evaluate(y[200:], x[200:], horizon=1)
        >>> {state: (round(one.coverage, 2), one.level) for state, one in found.by_state().items()}
        {'sun': (0.83, 0.7), 'rain': (0.96, 0.95)}
        """
        if self.given is None:
            raise ValueError("evaluation has no record of its states; make it with evaluate")
        levels = self.levels
        own = {label: self.given == code for code, label in enumerate(self.states)}
        return {
            label: StateCoverage(
                float(self.kept_shares[there].mean()),
                int(there.sum()),
                None if levels is None else float(levels[there][0]),
            )
            for label, there in own.items()
            if there.any()
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw truth, sets and misses; see `definetti.plots.plot_backtest`."""
        from definetti.plots import plot_backtest

        return plot_backtest(self, ax)

    def __repr__(self) -> str:
        held, number = int(self.covered.sum()), len(self.covered)
        filled, unseen = (
            0 if one is None else int(one.sum()) for one in (self.filled, self.unseen)
        )
        line = (
            f"Evaluation: covered {held} of {number} ({self.coverage:.3f}), "
            f"mean size {self.size:.2f}, mean scaled size {self.scaled_size:.3f}, "
            f"states per step {self.width:.2f}, steps wrong {self.wrong_share:.3f}"
        )
        line += f"; {filled} empty before the most plausible was let in" if filled else ""
        line += f"; {unseen} with a state that had not come up before" if unseen else ""
        if not isinstance(self.confidence_level, Mapping) or self.given is None:
            return line
        rows = [
            f"  {label}: covered {one.coverage:.3f} of {one.windows:,} (promised ≥ {one.level})"
            for label, one in self.by_state().items()
        ]
        return "\n".join([line, *rows])


def summary(evaluation: Evaluation, horizon: int) -> dict[str, Any]:
    """Return coverage overall, by last state and over time, sizes and the verdict, as plain values.

    Parameters
    ----------
    evaluation : what `ConformalHMM.evaluate` returns
    horizon : the steps of each of its windows

    Notes
    -----
    Coverage is that of the sets before empty ones are filled; "share_filled" is the share of sets
    that were, and "share_empty" that of sets, or of steps where these are promised, that nothing
    was in before. Sizes are those of the sets as given. "effective_windows" is how many independent
    windows these are worth, by the autocorrelation of their misses.

    Windows with a state that had not come up before are counted in "unseen", and apart from all
    else, unless there are no others. Where states have levels of their own, "promised" is the
    average over these windows, and "by_state" has the shares by the state whose level counts.

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> cp = ConformalHMM(random_state=0).fit(y[:200], x[:200])
    >>> found = cp.evaluate(y[200:], x[200:], horizon=2)
    >>> numbers = summary(found, 2)
    >>> numbers["coverage"] == found.coverage, numbers["windows"], list(numbers["by_last_state"])
    (True, 50, ['sun', 'rain'])
    """
    known = np.full(len(evaluation.covered), evaluation.unseen.all()) | ~evaluation.unseen
    covered = evaluation.kept_shares[known]
    lasts = evaluation.truth.reshape(-1, horizon)[known, -1]
    names, verdict = names_of(evaluation.states), evaluation.verdict
    parts = np.array_split(np.arange(len(covered)), min(PARTS, len(covered)))
    rows = () if evaluation.begins is None else ("first_row", "last_row")
    found = {
        **share(covered),
        "effective_windows": effective_number(covered),
        "unseen": int(evaluation.unseen.sum()),
        "verdict": None if verdict is None else verdict.to_dict(),
        "mean_size": float(evaluation.sizes.mean()),
        "mean_states_per_step": float(evaluation.widths.mean()),
        "share_filled": 0.0 if evaluation.filled is None else float(evaluation.filled.mean()),
        "share_empty": float(evaluation.empty_shares.mean()),
        "by_last_state": {
            names[code]: share(own)
            for code, own in split_by_last_state(covered, lasts).items()
            if code >= 0
        },
        "over_time": [
            {
                "first": int(part[0]) + 1,
                "last": int(part[-1]) + 1,
                **share(covered[part]),
                **dict(zip(rows, span_of(evaluation, np.flatnonzero(known)[part]), strict=False)),
            }
            for part in parts
        ],
    }
    if isinstance(evaluation.confidence_level, Mapping):
        found |= _promises(evaluation, known, names)
    return found


def _promises(
    evaluation: Evaluation, known: npt.NDArray[np.bool_], names: list[str]
) -> dict[str, Any]:
    """Return what was promised, state by state, beside what came of it."""
    assert evaluation.levels is not None
    levels, covered = evaluation.levels[known], evaluation.kept_shares[known]
    own = split_by_last_state(np.arange(len(covered)), evaluation.given[known])
    return {
        "promised": float(np.nanmean(levels)) if not np.isnan(levels).all() else None,
        "by_state": {
            names[code]: {**share(covered[those]), "promised": float(levels[those[0]])}
            for code, those in own.items()
            if code >= 0
        },
    }


def names_of(labels: tuple[Hashable, ...]) -> list[str]:
    """Write labels so that no two look alike: ``1`` and ``"1"`` are two states."""
    for written in (str, repr):
        words = [written(label) for label in labels]
        if len(set(words)) == len(words):
            return words
    return [f"{word} ({place})" for place, word in enumerate(words, 1)]


def split_by_last_state(
    covered: npt.NDArray[Any], lasts: npt.ArrayLike, fewest: int = 1
) -> dict[Any, npt.NDArray[Any]]:
    """Return what became of the windows that end in each state with at least `fewest`."""
    ends = np.asarray(lasts)
    states, numbers = np.unique(ends, return_counts=True)
    return {state: covered[ends == state] for state in states[numbers >= fewest].tolist()}


def find_worst_state(own: dict[Any, npt.NDArray[Any]]) -> tuple[float | None, Any]:
    """Return the least coverage given the last state, and that state; None where there is none."""
    return min(((float(part.mean()), state) for state, part in own.items()), default=(None, None))
