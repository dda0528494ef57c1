"""Sets of many windows read off their ranks: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.judging.along import RankedWindows
from definetti.judging.entering import entry
from definetti.judging.stretch import Stretch
from definetti.levels import Levels
from definetti.ranks.limits import blocks_needed
from definetti.ranks.membership import Ranked, membership, most_plausible, p_values_of
from definetti.sets._few import Few
from definetti.symmetry.base import PRESENT

BoolArray = npt.NDArray[np.bool_]


class Read(NamedTuple):
    """What there is to know of some windows, as `JudgedLevels` has it.

    Attributes
    ----------
    first, covers, p_values, sizes, scaled_sizes, best, filled : as there, for these windows
    few : the first window whose set has everything for want of blocks: its place among all
        windows, that of its level, and what to say of it; None where there is none
    """

    first: IntArray
    covers: IntArray
    p_values: FloatArray
    sizes: npt.NDArray[Any]
    scaled_sizes: FloatArray
    best: FloatArray
    filled: BoolArray
    few: tuple[int, int, Few] | None = None


class WindowReader:
    """Reads windows of a stretch, at several levels.

    Parameters
    ----------
    stretch : all windows
    levels : what each set may miss, by state
    """

    def __init__(self, stretch: Stretch, levels: Sequence[Levels]) -> None:
        self.stretch, self.levels = stretch, levels

    def read_sets(self, ranked: RankedWindows, filling: bool) -> Read:
        """Read windows off a set for each level, each state held to its own."""
        ranks, uniforms = self._ranks(ranked)
        p, truth = p_values_of(ranks, uniforms), self._truth(ranked)
        windows = np.arange(len(p))
        nodes, held, sizes, filled = [], [], [], []
        few: tuple[int, int, Few] | None = None
        for place, levels in enumerate(self.levels):
            alphas = self._alphas(ranked, levels)
            inside, empty = membership(ranks, p, alphas, uniforms, fill=filling)
            numbers = inside.sum(axis=1)
            everything = (numbers == inside.shape[1]) & ~empty
            found = self._few(ranked, everything, alphas, place)
            if found is not None and (few is None or found[0] < few[0]):
                few = found
            held.append(inside[windows, truth] & (truth >= 0) & ~empty)  # before a set is filled
            nodes.append(_nodes(inside, ranked))
            sizes.append(numbers)
            filled.append(empty)
        there = np.array(nodes)
        first = np.where(there.any(axis=0), there.argmax(axis=0), len(self.levels))
        inside_from = np.array(held)
        covers = np.where(inside_from.any(axis=0), inside_from.argmax(axis=0), len(self.levels))
        each = np.array(sizes).T
        return Read(
            first,
            covers,
            np.where(truth >= 0, p[windows, truth], np.nan),
            each,
            each / len(ranked.candidates),
            np.zeros(0),
            np.array(filled).T,
            few,
        )

    def read_p_values(self, ranked: RankedWindows, written: Sequence[float], filling: bool) -> Read:
        """Read windows off the p-values of all candidates, at levels that are numbers."""
        p, truth = p_values_of(*self._ranks(ranked)), self._truth(ranked)
        windows, never = np.arange(len(p)), len(written)
        own = np.where(truth >= 0, p[windows, truth], np.nan)
        covers = np.where(truth >= 0, entry(np.nan_to_num(own), written), never)
        steps = ranked.candidates.shape[1]
        tables = [p.reshape(len(p), ranked.size**k, ranked.size, -1) for k in range(steps)]
        best = np.stack([table.max(axis=(1, 3)) for table in tables], axis=1)
        first = entry(best, written)
        entered = entry(p, written)
        sizes = np.stack([(entered <= k).sum(axis=1) for k in range(never)], axis=1)
        filled = np.zeros(sizes.shape, dtype=np.bool_)
        if filling:
            top = most_plausible(p, ranked.scores)
            filled = np.arange(never) < entry(p.max(axis=1), written)[:, None]
            sizes = np.where(filled & (sizes == 0), 1, sizes)
            for step in range(steps):
                first[windows, step, ranked.candidates[top, step]] = 0
        return Read(
            first.reshape(-1, ranked.size),
            covers,
            own,
            sizes,
            sizes / len(ranked.candidates),
            best.reshape(-1, ranked.size),
            filled,
        )

    def _ranks(self, ranked: RankedWindows) -> tuple[Ranked, FloatArray | None]:
        """Return the ranks of all candidates, and what breaks their ties."""
        uniforms = self.stretch.uniforms
        if uniforms is not None:
            uniforms = uniforms[ranked.first : ranked.last, None]
        number, width = len(ranked.candidates), ranked.total.shape[1]
        total = ranked.total if width == 1 else np.tile(ranked.total, (1, number // width))
        return Ranked(ranked.greater, ranked.equal, total, ranked.scores), uniforms

    def _truth(self, ranked: RankedWindows) -> IntArray:
        """Return the place of the truth among the candidates, −1 where it is none of them."""
        codes = self.stretch.truth[ranked.first : ranked.last]
        weights = ranked.size ** np.arange(codes.shape[1] - 1, -1, -1)
        return np.where((codes >= 0).all(axis=1), codes @ weights, -1)

    def _alphas(self, ranked: RankedWindows, levels: Levels) -> npt.NDArray[np.object_]:
        """Return what may be missed: by candidates ``(1, C)``, or by windows ``(W, 1)``."""
        stretch = self.stretch
        if not levels.named:
            return np.full((1, 1), levels.alpha(None), dtype=object)
        each = np.array(levels.alphas(stretch.names[: ranked.size]), dtype=object)
        if stretch.question.symmetry.given == PRESENT:
            return np.asarray(each[self._present(ranked)][:, None])
        return np.asarray(each[ranked.candidates[:, -1]][None])

    def _present(self, ranked: RankedWindows) -> IntArray:
        stretch = self.stretch
        return stretch.states[stretch.lengths[ranked.first : ranked.last] - 1]

    def _few(
        self,
        ranked: RankedWindows,
        everything: BoolArray,
        alphas: npt.NDArray[np.object_],
        place: int,
    ) -> tuple[int, int, Few] | None:
        """Find the first window whose set has everything because blocks are too few."""
        stretch, question = self.stretch, self.stretch.question
        if not question.by_last_state or not everything.any():
            return None
        size = ranked.size
        shape = (len(everything), size)
        numbers = np.broadcast_to(ranked.total - 1, shape)
        held = np.broadcast_to(alphas[:, :size], shape)
        needs = {alpha: blocks_needed(alpha) for alpha in set(alphas.ravel().tolist())}
        needed = np.vectorize(needs.__getitem__, otypes=[np.int64])(alphas[:, :size])
        missing = everything & (numbers < needed).any(axis=1)
        if not missing.any():
            return None
        window = int(missing.argmax())
        names = stretch.names[:size]
        present: tuple[Hashable, ...] = ()
        if question.symmetry.given == PRESENT:
            present = (names[int(self._present(ranked)[window])],)
        own: list[Fraction] = held[window].tolist()
        length = int(stretch.lengths[ranked.first + window])
        how = stretch.horizon, length, present, question.symmetry
        found = Few.among(names, numbers[window].tolist(), own, *how)
        return ranked.first + window, place, found


def _nodes(inside: BoolArray, ranked: RankedWindows) -> BoolArray:
    """Return which states some member has at each step: (W · steps, n)."""
    n, steps = ranked.size, ranked.candidates.shape[1]
    if steps == 1:
        return inside.copy()
    tables = [inside.reshape(len(inside), n**k, n, -1).any(axis=(1, 3)) for k in range(steps)]
    return np.stack(tables, axis=1).reshape(-1, n)
