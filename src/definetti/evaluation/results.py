"""Prediction sets evaluated against true states, window by window, and their summary."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.evaluation.intervals import effective_number, share
from definetti.evaluation.verdict import Verdict, judge_promise, span_of
from definetti.levels import ConfidenceLevel, read_levels

PARTS = 4  # parts of the windows, for coverage over time


class StateCoverage(NamedTuple):
    """Coverage of the windows whose guarantee is conditional on one state.

    Attributes
    ----------
    coverage, windows : the share of windows whose set held the truth, and their number
    level : the level promised for these windows; None if unknown
    """

    coverage: float
    windows: int
    level: float | None


class Evaluation(NamedTuple):
    """Prediction sets evaluated against true states, window by window.

    Attributes
    ----------
    covered : (windows,) whether the truth was in the set before an empty one was filled; with
        "errors", whether no more steps than allowed were wrong
    sizes, scaled_sizes : (windows,) how many sequences the set held, an upper bound if it was not
        listed, and their share of all
    p_values : (windows,) the p-value of the truth; NaN for sets of states, which have none
    wrong : (windows,) the share of steps whose true state was not possible there, before filling
    widths : (windows,) how many states were possible at a step, on average
    states, truth, nodes : the labels; the true codes of all steps, −1 for an unknown label; and
        which states were possible at each step, ``(steps, number of states)``
    confidence_level : the requested level, a dict if states have levels of their own
    given : (windows,) the code of the state that coverage is conditional on, the last state or,
        with "departures", the present one; −1 for an unknown label
    filled : (windows,) whether the set, or for sets of states some step, was empty and the most
        plausible member was added. Only sizes, widths and nodes include it
    unseen : (windows,) whether the truth has an unknown label, which no set can hold; not covered
        here, and counted apart from misses in the `verdict`
    begins : (windows,) the first row of each window, from 0; None if windows are no rows
    guarantee : the guarantee; "steps" is for a share of steps
    empty : (windows,) the share of steps at which no state was possible before filling
    shared_calibration : whether all windows are compared with the same calibration windows, so that
        their errors are not independent, and there is no verdict without `calibration_noise`
    calibration_noise : how far coverage conditional on the calibration windows may lie below the
        level by chance, except with a probability of 0.025
    sure_misses : (windows,) whether a window is missed whatever its truth: its set was empty
        before filling, or with "errors" more of its steps were empty than may be wrong

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
        """Evaluate which states were possible at each step; `others` are further fields.

        At `filled_steps` no state was possible, and `nodes` has the most plausible; a window is
        covered if at most `max_errors` of its steps are wrong, unless `others` has `covered`.
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
        # Later fields are determined by the first six.
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
        """The guaranteed quantity: whether each window was covered, or its share of steps."""
        if self.guarantee != "steps":
            return self.covered
        # With windows of one step, shares are 0 or 1.
        single = self.truth is not None and len(self.truth) == len(self.covered)
        return self.wrong == 0 if single else 1.0 - self.wrong

    @property
    def empty_shares(self) -> FloatArray:
        """The part of each window that was empty before filling, so that no truth is covered.

        With guarantee "steps" the share of empty steps; else 1 for `sure_misses`, and 0.
        """
        shares = self.empty if self.guarantee == "steps" else self.sure_misses
        return np.zeros(len(self.covered)) if shares is None else np.asarray(shares, float)

    @property
    def verdict(self) -> Verdict | None:
        """Whether the promised coverage was kept; None if the level is unknown.

        With `shared_calibration` and unknown noise, its ``kept`` is None and its words say why.
        """
        return judge_promise(self)

    @property
    def levels(self) -> FloatArray | None:
        """The level of each window, NaN where its state is unknown; None without a level.

        The mean is the average coverage promised over these windows.
        """
        if self.confidence_level is None:
            return None
        read = read_levels(self.confidence_level)
        if not read.named or self.given is None:
            level = read.written if not read.named else np.nan
            return np.full(len(self.covered), level, dtype=np.float64)
        state_levels = [float(1 - read.alpha(label)) for label in self.states]
        return np.asarray(
            np.append(state_levels, np.nan)[self.given]
        )  # code −1 picks the NaN at the end

    def by_state(self) -> dict[Hashable, StateCoverage]:
        """Return coverage conditional on each state, with its level.

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
            0 if flags is None else int(flags.sum()) for flags in (self.filled, self.unseen)
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
            f"  {label}: covered {part.coverage:.3f} of {part.windows:,} (promised ≥ {part.level})"
            for label, part in self.by_state().items()
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
    Coverage is computed before empty sets are filled; "share_filled" is the share of filled sets,
    and "share_empty" the share of sets, or of steps with guarantee "steps", that were empty before.
    Sizes are computed after filling. "effective_windows" is the effective number of independent
    windows, by the autocorrelation of their misses.

    Windows with a state not seen before are counted in "unseen" and left out of coverage, unless
    there are no others. If states have levels of their own, "promised" is the average over the
    windows, and "by_state" has the shares by the state whose level applies.

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
    numbers = {
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
        numbers |= _promises(evaluation, known, names)
    return numbers


def _promises(
    evaluation: Evaluation, known: npt.NDArray[np.bool_], names: list[str]
) -> dict[str, Any]:
    """Return levels and coverage, on average and by state."""
    assert evaluation.levels is not None
    levels, covered = evaluation.levels[known], evaluation.kept_shares[known]
    own = split_by_last_state(np.arange(len(covered)), evaluation.given[known])
    return {
        "promised": float(np.nanmean(levels)) if not np.isnan(levels).all() else None,
        "by_state": {
            names[code]: {**share(covered[windows]), "promised": float(levels[windows[0]])}
            for code, windows in own.items()
            if code >= 0
        },
    }


def names_of(labels: tuple[Hashable, ...]) -> list[str]:
    """Return distinct texts of labels: ``1`` and ``"1"`` are two states."""
    for written in (str, repr):
        words = [written(label) for label in labels]
        if len(set(words)) == len(words):
            return words
    return [f"{word} ({place})" for place, word in enumerate(words, 1)]


def split_by_last_state(
    covered: npt.NDArray[Any], lasts: npt.ArrayLike, fewest: int = 1
) -> dict[Any, npt.NDArray[Any]]:
    """Return values of windows by last state, for states with at least `fewest` windows."""
    ends = np.asarray(lasts)
    states, numbers = np.unique(ends, return_counts=True)
    return {state: covered[ends == state] for state in states[numbers >= fewest].tolist()}


def find_worst_state(own: dict[Any, npt.NDArray[Any]]) -> tuple[float | None, Any]:
    """Return the least coverage conditional on the last state, and that state; None if none."""
    return min(((float(part.mean()), state) for state, part in own.items()), default=(None, None))
