"""The prediction task: all that a prediction depends on, and the candidates."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray, distinct_rows
from definetti._system.checks import checked_number
from definetti._system.random import tie_uniforms
from definetti.data.digest import digest
from definetti.data.encoded import EncodedHistory, New
from definetti.data.history import (
    Completion,
    History,
    Windows,
    padded,
    restrict_history,
    windows_at,
)
from definetti.data.labels import ANY, MISSING
from definetti.engine.promise import Promise, assumption_of, promise_of, way_to_limits
from definetti.engine.pvalues import Ranked
from definetti.models.base import Estimate, Model
from definetti.models.estimates import EstimateList, Estimates, estimate_candidates
from definetti.scores.nonconformity import Score, blamed, round_scores
from definetti.symmetry.base import Reference, Symmetry

# Numbers in memory for one call of a score: a row or a square of states for every step.
ROOM = 2**23
CACHE = 2**16  # numbers that fit a cache
PER_WINDOW = 20_000  # candidates that may be listed for each of many windows
SECOND = 10**9  # operations
# Cells of a trellis, a square of states for each step: 4 GB at eight bytes each.
MOST_CELLS = 2**29


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictionTask:
    """All that a prediction depends on except the candidates.

    Attributes
    ----------
    history, table, statistics : the labelled history, its observations by code, and their sums
    observations : (h,) codes of the new observations
    unseen : (h,) which of them are not observed yet; these steps are hidden in all windows
    labels : the labels of the states, those of the candidates included
    entropy : the seed of all random numbers
    smoothing : whether ties are broken at random
    lag : the number of first steps that are not predicted, because their labels never arrive
    settled : whether the model was fixed because refitting would be slow, not by the user
    steps : the number of last steps that are predicted
    by_last_state : whether the reference depends on a candidate through its last state alone
    """

    history: History
    table: Any
    statistics: FloatArray
    observations: IntArray
    unseen: npt.NDArray[np.bool_]
    labels: tuple[Hashable, ...]
    model: Model
    score: Score
    symmetry: Symmetry
    entropy: int
    smoothing: bool = False
    lag: int = 0
    settled: bool = False

    steps: int = field(init=False)
    by_last_state: bool = field(init=False)

    def __post_init__(self) -> None:
        # Computed once, since the task is frozen and they are used often.
        object.__setattr__(self, "steps", len(self.observations) - self.lag)
        fixed = self.model.fixed and self.symmetry.by_last_state
        object.__setattr__(self, "by_last_state", fixed)

    @classmethod
    def about(cls, data: EncodedHistory, new: New, **settings: Any) -> PredictionTask:
        """Return a task about new observations; `settings` do not follow from the data."""
        return cls(
            history=data.history,
            table=new.table,
            statistics=data.statistics,
            observations=new.codes,
            unseen=new.unseen,
            labels=data.alphabet.labels,
            model=data.model,
            **settings,
        )

    @property
    def setting(self) -> tuple[Hashable, ...]:
        """All that the score of a window depends on, besides the window, under a fixed model."""
        steps = len(self.unseen), int(np.count_nonzero(self.unseen)), self.lag
        return self.score.key, len(self.labels), *steps

    def describe(self) -> str:
        """Describe the method, for the attribute `method` of sets."""
        within = self.symmetry.within(self.history)
        way = f"{self.score.name} score, {self.symmetry.known_as} symmetry{within}"
        if recalls := assumption_of(self.symmetry):
            way += f", the future depending on {recalls}"
        if self.settled:
            way += ", the model fixed on the first half"
        chosen = self.model.describe_choice(len(self.observations))
        if chosen:
            way += f", {chosen} chosen on the training rows"
        return f"{way}{', smoothed' * self.smoothing}"

    def way_to_limits(self) -> str:
        """The settings needed for a threshold by last state; empty where they are met."""
        return way_to_limits(self.symmetry, self.model.fixed)

    def generator(self) -> np.random.Generator:
        """Return the generator of rearrangements: the same for all candidates of a task.

        So a p-value does not depend on the other candidates. Other data have another generator.
        """
        place = (0, self.digest[1], len(self.history.pool), len(self.observations))
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=place))

    @property
    def digest(self) -> tuple[int, int]:
        """The largest power of two up to the number of rows, and the digest of so many rows."""
        past = self.history.pool
        done, key = past.digest
        rows = 1 << max(len(past).bit_length() - 1, 0)
        if done < rows <= len(past):
            new = slice(done, rows)
            emission = self.model.emission_
            key = digest(emission, self.table, past.observations[new], past.states[new], key)
            past.digest = rows, key
        return past.digest

    def uniform(self) -> float:
        """Return the uniform that breaks the ties of this prediction.

        It depends on the seed, the row of the prediction and the rows up to a power of two.
        """
        rows = np.array([len(self.history.pool)])
        return float(tie_uniforms(self.entropy, self.digest[1], rows)[0])

    def tie_breakers(self, ranked: Ranked) -> FloatArray | None:
        """Return the uniforms that break ties: NaN where ties are kept, None for no smoothing."""
        if self.smoothing:
            return np.full((1, 1), self.uniform())
        if ranked.randomised is None:
            return None
        return np.where(ranked.randomised, self.uniform(), np.nan)

    def complete(self, states: IntArray) -> Completion:
        """Complete the history with one candidate: Step 1 of Algorithm 1."""
        return Completion(self.history, states, self.observations, len(self.labels))

    def complete_with(self, last: int) -> Completion:
        """Complete the history with a candidate that has a given last state."""
        return self.complete(np.full(len(self.observations), last))

    def estimate(self, completion: Completion) -> Estimate:
        """Estimate the model from a completed sequence: Step 2."""
        model, times = self.model, None
        if not (model.fixed or self.symmetry.learns_all):
            times = self.symmetry.training_subset(completion)
        if times is not None:
            # Trained on the subset alone, it does not know the symbols of other rows either.
            model = model.trained(restrict_history(completion, times), self.table, self.labels)
        statistics = self.statistics
        if not model.fixed:  # in the shape of the candidate's own statistics
            shape = model.emission_.statistics(
                self.table, completion.observations, completion.states, len(self.labels)
            ).shape
            statistics = padded(statistics, *shape)
        return model.estimate(completion, self.table, statistics, self.labels)

    def estimates(
        self, completions: list[Completion], windows: Sequence[Windows], sets: IntArray
    ) -> Estimates:
        """Estimate the models of candidates with equal training rows: Step 2.

        They will score the candidates and `windows`; `sets` says which windows belong to each.
        """
        if self.model.fixed:
            return EstimateList([self.estimate(completions[0])])
        times = None if self.symmetry.learns_all else self.symmetry.training_subset(completions[0])
        subset = None
        if times is not None:
            nothing = self.observations[:0]
            past = completions[0]._replace(states=nothing, observations=nothing)
            subset = restrict_history(past, times)
        states = np.array([completion.states for completion in completions])
        estimates = estimate_candidates(
            self.model, subset, completions[0], states,
            self.table, self.statistics, self.labels,
            [batch.observations for batch in windows], sets,
        )  # fmt: skip
        if estimates is not None:
            return estimates
        # Candidates that add the same counts have the same estimate.
        known: dict[tuple[int, ...], Estimate] = {}
        distinct = []
        for completion in completions:
            key = completion.counts_key
            if key not in known:
                known[key] = self.estimate(completion)
            distinct.append(known[key])
        return EstimateList(distinct)

    def rearrange(self, completion: Completion) -> Reference:
        """Return the reference of a completed sequence: Step 3."""
        reference = self.symmetry.reference(completion, self.generator)
        reference.check(completion, len(self.table) if self.model.emission_.symbols else ANY)
        return reference

    def past_ends(self, last: int) -> IntArray:
        """Return the times at which the reference windows of a last state end."""
        ends = self.rearrange(self.complete_with(last)).ends
        assert ends is not None
        return ends

    def shared_rows(self) -> npt.NDArray[np.bool_]:
        """Return which labelled rows do not depend on the order of the reference windows: (T,).

        They are the rows of these windows, all rows before the first, and earlier segments.
        """
        past, steps = self.history, len(self.observations)
        before = len(past.pool) - len(past)
        rows = np.ones(len(past.pool), dtype=np.bool_)
        ends = self.past_ends(past.last)
        if len(ends):
            rows[before + ends.min() - steps + 1 :] = False
            rows[before + ends[:, None] - np.arange(steps)] = True
        return rows

    def windows(self, candidates: IntArray) -> Windows:
        """Return candidates as windows."""
        number = len(candidates)
        observations = self.observations[None].repeat(number, axis=0)
        # Steps within the lag get any state; no score reads it.
        states = np.pad(candidates, [(0, 0), (self.lag, 0)]) if self.lag else candidates
        return Windows(np.full(number, self.history.last), states, observations)

    def windows_ending(self, ends: IntArray) -> Windows:
        """Return the windows of the history that end at given times."""
        past, horizon = self.history, len(self.observations)
        return windows_at(ends, past.states, past.observations, horizon)

    def hide_unseen(self, windows: Windows) -> Windows:
        """Mark steps as missing that are unseen in the new window."""
        if not self.unseen.any():
            return windows
        return windows._replace(observations=np.where(self.unseen, MISSING, windows.observations))

    def windows_to_rank_among(self, reference: Reference) -> tuple[Windows, npt.NDArray[Any]]:
        """Return the windows of a reference and their weights, equal windows of symbols once."""
        windows, weights = reference.windows, reference.weights
        if windows is None:
            assert reference.ends is not None
            windows = self.windows_ending(reference.ends)
        windows = self.hide_unseen(windows)
        if reference.ends is None or self.model.fixed or not self.history.symbols:
            return windows, weights
        first, _, numbers = distinct_rows(np.column_stack(windows))
        return Windows(*(part[first] for part in windows)), numbers

    def score_windows(self, estimate: Estimate, windows: Windows) -> FloatArray:
        """Return the nonconformity scores of windows under one estimate."""
        return evaluate(self.score, estimate, self.hide_unseen(windows))

    def past_scores(self, estimate: Estimate, ends: IntArray) -> FloatArray:
        """Return the scores of past windows by their ends, cached under a fixed model."""
        if not self.model.fixed:
            return self.score_windows(estimate, self.windows_ending(ends))
        notes = self.history.lasting.recall(self.setting, "scores", lambda: np.zeros(0))
        if len(notes) < len(self.history):
            room = np.full(2 * len(self.history) - len(notes), np.nan)
            notes = np.concatenate([notes, room])
            self.history.lasting.note(self.setting, "scores", notes)
        new = ends[np.isnan(notes[ends])]
        if len(new):
            notes[new] = self.score_windows(estimate, self.windows_ending(new))
        return np.asarray(notes[ends])

    def promise(self, guarantee: str = "all") -> Promise:
        """Return what a set for this task promises; refuse settings for which nothing is exact."""
        unseen, past = int(np.count_nonzero(self.unseen)), self.history
        gaps = unseen > 0 and past.gaps and bool((past.observations != MISSING).any())
        return promise_of(
            self.symmetry, self.model.fixed, guarantee=guarantee, steps=len(self.unseen),
            unseen=unseen, lag=self.lag, gaps=gaps,
        )  # fmt: skip


def evaluate(score: Score, estimate: Estimate, windows: Windows) -> FloatArray:
    """Score windows under one estimate, in chunks, and round the scores."""
    models = np.zeros(len(windows.start), dtype=np.int64)
    return evaluate_each(score, EstimateList([estimate]), models, windows)


def evaluate_each(
    score: Score,
    estimates: Estimates,
    models: IntArray,
    windows: Windows,
    places: IntArray | None = None,
) -> FloatArray:
    """Score windows, each under its own model, in chunks, and round the scores.

    `places` are the windows to score, one for each of `models`; all if left out.
    """
    number, steps = len(models), windows.states.shape[1]
    scores = np.empty(number)
    n_states = len(estimates.at(models[:0]).labels)
    # Rows of states for each step should fit a cache, squares of states the memory.
    most = max(1, min(CACHE // (steps * n_states), ROOM // (steps * n_states**2)))
    for begin in range(0, number, most):
        part = slice(begin, begin + most)
        chosen = part if places is None else places[part]
        some = Windows(*(array[chosen] for array in windows))
        scores[part] = _checked_scores(score(estimates.at(models[part]), some), some)
    return scores


def _checked_scores(returned: Any, windows: Windows) -> FloatArray:
    """Round scores; refuse those that cannot be ranked."""
    try:
        values = np.asarray(returned, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise blamed(error) from error
    if values.shape != windows.start.shape:
        raise ValueError(
            f"score returned shape {values.shape} for {len(windows.start)} windows; "
            f"return one number per window, shape {windows.start.shape}"
        )
    if np.isnan(values).any():
        raise ValueError(
            f"score returned NaN for window {int(np.isnan(values).argmax())}; "
            "return a number, or infinity for what cannot conform less"
        )
    return round_scores(values)


def is_long(n_states: int, horizon: int, max_candidates: Any) -> bool:
    """Tell whether there are more candidates than may be listed, without computing a power."""
    most = int(max_candidates)
    if horizon > most or n_states == 1:
        return horizon > most
    return horizon >= most.bit_length() or n_states**horizon > most


def is_slow(n_states: int, horizon: int, length: int, shared: bool, recent: int | None) -> bool:
    """Tell whether ranking all candidates with refitted models takes more than about a second.

    Estimated from the number of operations, a nanosecond each on the machine of the measurements
    (`python -m benchmarks refitted`), so that the answer is the same on every machine. One step
    ahead is never slow.
    """
    if horizon == 1 or is_long(n_states, horizon, SECOND):
        return horizon > 1  # avoids a huge power
    windows = length // n_states
    steps = horizon * (windows if recent is None else min(windows, recent))
    per_candidate = 15_000 + steps * n_states**2
    if not shared:  # each candidate has laws of its own
        per_candidate += 100_000 + 60 * steps * n_states
    return bool(n_states**horizon * per_candidate > SECOND)


def check_listing(n_states: int, horizon: Any, max_candidates: Any, way: Callable[[], str]) -> None:
    """Refuse to list more than max_candidates candidates, before memory is taken."""
    if not is_long(n_states, horizon, max_candidates):
        return
    steps = checked_number(horizon, "horizon")
    if n_states == 1:
        raise ValueError(
            f"horizon is {steps:,}, more steps than max_candidates={max_candidates:,}; shorten it"
        )
    left = way()
    remedy = "ask predict_set with a score that goes step by step, such as 'path'"
    remedy = f"{left}, which needs no list" if left else remedy
    raise ValueError(
        f"{n_states} states over a horizon of {steps} steps make {powered(n_states, steps)} "
        f"candidate sequences, more than max_candidates={max_candidates:,}; {remedy}, or shorten "
        "the horizon, ask p_value for single sequences, or raise max_candidates"
    )


def powered(base: int, exponent: int) -> str:
    """Write a power as a number where that is readable."""
    readable = base < 2 or (exponent < 50 and exponent * np.log10(base) < 15)
    return f"{base**exponent:,}" if readable else f"{base}^{exponent}"


def all_candidates(n_states: int, horizon: int) -> IntArray:
    """List all state sequences, ``(n_states ** horizon, horizon)``."""
    return np.array(list(product(range(n_states), repeat=horizon)), dtype=np.int64)


def check_size(
    n_states: int,
    horizon: Any,
    fixed: bool,
    max_candidates: Any,
    listing: bool,
    way: Callable[[], str],
) -> None:
    """Refuse horizons too long for the memory, before it is taken."""
    if horizon is None:
        return
    checked_number(horizon, "horizon")
    if not fixed and listing:
        check_listing(n_states, horizon, max_candidates, way)
    cells = n_states ** (2 if listing else 1)
    if fixed and horizon * cells > MOST_CELLS:
        raise ValueError(
            f"horizon={horizon:,} with {n_states} states takes more memory than there is; ask for "
            f"at most {MOST_CELLS // cells:,} steps at once"
        )
