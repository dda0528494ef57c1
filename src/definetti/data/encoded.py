"""A labelled history that can be encoded again under another model."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti.data.encoded_sequence import EncodedSequence, Part, copied
from definetti.data.encoded_sequence import New as New
from definetti.data.encoded_sequence import Trained as Trained
from definetti.data.encoded_sequence import warn_of_gaps as warn_of_gaps
from definetti.data.labels import MISSING, listed, piece
from definetti.data.series import at_rows

if TYPE_CHECKING:
    from definetti.emissions.choice import Kinds
    from definetti.models.base import Model

FEW_ROWS = 16  # looked at first, to learn the types of all


class EncodedHistory(EncodedSequence):
    """An encoded history whose model may be chosen by the types of the observations.

    New observations can lead to another model, and where refitting is slow the model is fixed on
    the first half of the rows; in both cases the rows are encoded again.
    """

    _half: EncodedHistory | None = None

    def choose_again(self, observations: Any, name: str = "new_observations") -> EncodedHistory:
        """Return the data under the model chosen by the history and the new observations together.

        Other rearrangements hold other observations in the history, so that a choice by the
        history alone would not be a function of what all rearrangements share.
        """
        if not self._chooses(observations):
            return self
        kinds = self._kinds_with(observations)
        if kinds == self.kinds or self.rule.choose(kinds).emission_ == self.emission:
            return self
        try:
            return self._again(kinds)
        except (TypeError, ValueError) as error:
            refused = error
        # The history could be read before, so the new observations are at fault.
        self.emission.encode(observations, self.table, name)
        raise refused

    def choose_by(self, rows: npt.NDArray[np.bool_], observations: Any) -> EncodedHistory:
        """Return the data under the model chosen by some rows, (T,), and the new observations.

        Other rows that the model cannot read count as missing.
        """
        if not self._chooses(observations):
            return self
        kinds, every = self._kinds_of(observations), self._kinds_with(observations)
        chosen, size = np.flatnonzero(rows), FEW_ROWS
        # Types only accumulate: stop once the latest rows contain all types.
        while len(chosen) and kinds != every:
            for part, _ in take_rows(self._parts, chosen[-size:], len(rows)):
                kinds = kinds.join(self._kinds_of(part))
            chosen, size = chosen[:-size], 4 * size
        model = self.rule.choose(kinds)
        if model.emission_ == self.emission:
            return self
        again = copy.copy(self)
        again._half = None
        again.kinds, again.model, again.emission = kinds, model, model.emission_
        again.table = model.table
        codes = np.full(len(rows), MISSING)
        for own, encode in ((rows, again._encode_at), (~rows, again._encode_readable)):
            parts = list(take_rows(self._parts, np.flatnonzero(own), len(rows)))
            for part, places in reversed(parts):
                encode(part, codes, places)
        pool, lengths = self.history.pool, self.lengths
        again.history = again._history(pool.states, codes, (lengths.cumsum() - lengths).tolist())
        again.history.segments = self.history.segments
        learned = slice(int(self.omits_first), None)
        again.statistics = again._statistics(
            again.table, pool.states[learned], codes[learned], len(self.alphabet)
        )
        return again

    def _chooses(self, observations: Any) -> bool:
        """Tell whether the types of observations decide which model is used."""
        by_kind = self.kinds is not None and not self.model.fixed
        return by_kind and observations is not None and not self.plain

    def _kinds_of(self, observations: Any) -> Kinds:
        """Return the types of observations; gaps and values to be refused later add none."""
        kinds = self.rule.infer_types(observations)
        if kinds is None:
            assert self.kinds is not None
            return self.kinds
        return kinds

    def _kinds_with(self, observations: Any) -> Kinds:
        """Return the types of observations and of all earlier rows."""
        assert self.kinds is not None
        return self.kinds.join(self._kinds_of(observations))

    def _encode_at(self, observations: Any, codes: IntArray, places: IntArray) -> None:
        """Write the codes of observations to their places."""
        self.table, codes[places] = self._encoded(observations, self.table, len(places))

    def _encode_readable(self, observations: Any, codes: IntArray, places: IntArray) -> None:
        """Write the codes of the observations that can be read; skip the others."""
        try:
            self._encode_at(observations, codes, places)
        except (TypeError, ValueError):
            if len(places) > 1:
                for k in range(len(places)):
                    row = slice(k, k + 1)
                    self._encode_readable(piece(observations, k, k + 1), codes, places[row])

    def settled(self, observations: Any) -> bool:
        """Tell whether these observations, or any part of them, leave the model as it is."""
        return not self._chooses(observations) or self._kinds_with(observations) == self.kinds

    @property
    def fixed_model(self) -> Model:
        """The model in use: the one fixed on the first half, once there is one."""
        return self.model if self._half is None else self._half.model

    def half(self) -> EncodedHistory:
        """Return the data with the model fixed on the first half of the rows given to `fit`.

        Later rows calibrate. The type of model remains the one chosen by all observations, which is
        the same for every rearrangement. The result is kept and grows with the history.
        """
        if self._half is None:
            self._half = self._again(self.kinds, self.begun // 2)
        self._half.clock = self.clock
        return self._half

    def _again(self, kinds: Kinds | None, train_size: int | None = None) -> EncodedHistory:
        """Encode all rows again, for other types of observations or another `train_size`."""
        self._parts = joined(self._parts)
        past = self.history.pool.states.tolist()
        parts = self._parts or [Part(None, list(self.alphabet.decode(past)), "")]
        if train_size is not None:
            parts = [*split(parts[0], self.begun), *parts[1:]]
        first, *later = parts
        declared = self.alphabet.labels if self.closed else None
        lengths = self._lengths_of(len(first.labels))
        again = EncodedHistory(
            self.rule, first.observations, first.labels, declared, train_size, lengths, kinds,
            known=self.known, together=self.together, omits_first=self.omits_first,
            narrow=self.narrow,
        )  # fmt: skip
        again.begun, again.clock = self.begun, self.clock
        cuts = set(self._lengths.cumsum()[:-1].tolist())
        begin, size = 0, len(first.labels)
        for part in later:
            begin, size = begin + size, len(part.labels)
            inside = sorted(cut - begin for cut in cuts if begin <= cut < begin + size)
            for start, end in pairwise(sorted({0, *inside, size})):
                if start in inside:
                    again.new_segment()
                here = split(split(part, end)[0], start)[-1]
                again.append(here.observations, here.labels)
        if len(self.history) == 0:
            again.new_segment()
        return again

    def new_segment(self) -> None:
        if self._half is not None:
            self._half.new_segment()
        super().new_segment()

    def append(
        self,
        observations: Any,
        states: Any,
        check: Callable[[IntArray, bool], None] | None = None,
    ) -> None:
        super().append(observations, states, check)
        if self.kinds is not None and not self.model.fixed:
            kinds = self._kinds_of(observations)
            self.kinds = self.kinds.join(kinds)
            self._parts.append(Part(copied(observations), list(states), kinds.shape))
        if self._half is not None:
            try:
                self._half.append(observations, states)
            except (TypeError, ValueError):  # raised again when it is needed
                self._half = None


def take_rows(parts: list[Part], rows: IntArray, end: int) -> Iterator[tuple[Any, IntArray]]:
    """Yield the observations of some rows with their row numbers, latest part first."""
    for part in reversed(parts):
        begin = end - len(part.labels)
        own = rows[np.searchsorted(rows, begin) : np.searchsorted(rows, end)]
        if len(own):
            yield at_rows(part.observations, own - begin), own
        if begin <= rows.min(initial=end):
            break
        end = begin


def split(part: Part, at: int) -> list[Part]:
    """Cut a part in two; return it whole where the cut is at an end."""
    seen, labels, shape = part
    if not 0 < at < len(labels):
        return [part]
    ends = (0, at), (at, len(labels))
    cut = [None if seen is None else piece(seen, begin, end) for begin, end in ends]
    return [Part(cut[k], labels[begin:end], shape) for k, (begin, end) in enumerate(ends)]


def joined(parts: Iterable[Part]) -> list[Part]:
    """Concatenate successive parts that have the same form."""
    runs: list[list[Part]] = []
    form: Hashable = None
    for part in parts:
        own = _form(part)
        # A list of missing values joins any list.
        empty = "nothing" in (form, own) and isinstance(form, str) and isinstance(own, str)
        if not runs or not (own == form or empty):
            runs.append([])
        form = form if runs[-1] and own == "nothing" else own
        runs[-1].append(part)
    return [run[0] if len(run) == 1 else _joined(run) for run in runs]


def _form(part: Part) -> Hashable:
    """Return a key that is equal for parts that can be concatenated."""
    if part.shape != "columns":
        return part.shape
    frame = nw.from_native(part.observations, eager_only=True)
    return frame.implementation, *frame.schema.items()


def _joined(run: list[Part]) -> Part:
    labels = [label for part in run for label in part.labels]
    if run[0].observations is None:  # a plain chain
        return Part(None, labels, run[0].shape)
    shape = next((part.shape for part in run if part.shape != "nothing"), "nothing")
    if shape == "columns":
        frames = [nw.from_native(part.observations, eager_only=True) for part in run]
        return Part(nw.concat(frames).to_native(), labels, shape)
    return Part([value for part in run for value in _listed(part.observations)], labels, shape)


def _listed(values: Any) -> list[Any]:
    if isinstance(values, list):
        return values
    if isinstance(values, np.ndarray) and values.ndim > 1:
        return list(values.tolist())
    return listed(values, "observations")
