"""What to assume, chosen by exact tests of the training stretch alone.

Whatever is chosen by data that then do not calibrate is as good as chosen beforehand: given the
training stretch, what follows it is as exact as if the choice had been written down.

The rule. Memories are tried from the least to the most, and the first is taken that no test speaks
against which a memory could answer; where there is none, that with the largest p-value. With it,
sets are made by "full" symmetry where nothing at all speaks against it, and by "spaced" blocks,
which keep together what goes together, where anything does or where the stretch is too short to
tell. A guarantee that needs a threshold for each last state leaves no choice: the state alone, in
"spaced" blocks; and what the tests say of that is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import narwhals as nw
import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.checks import is_auto
from definetti.check import Diagnosis, check
from definetti.data.labelled import Labelled, Trained
from definetti.memory import Age, Memory, Observation, Order, resolve_memory
from definetti.memory.age import find_old_age
from definetti.memory.tokens import MOST
from definetti.sets.listed import installed

ALPHA = 0.1  # too much is cheap, too little is not: more is suspected than a verdict would
DRAWS = 199  # rearrangements, which is enough for such a level
ENOUGH = 200  # steps that it takes to be told anything
LATEST = 10_000  # steps that are tested, those before what calibrates
ANSWERED = frozenset({"order", "durations", "lingering"})  # by some memory


@dataclass(frozen=True)
class Choice:
    """What was chosen, and why.

    Attributes
    ----------
    memory : what the future is taken to depend on; None where that was given
    symmetry : the name of the one that is used over a few steps, "full" or "spaced"; None where
        that was given
    words : what was chosen and why, in a sentence or two
    diagnosis : what the tests found with that memory; None where there was nothing to be tested
    """

    memory: Memory | None
    symmetry: str | None
    words: str
    diagnosis: Diagnosis | None = None

    @property
    def worth_saying(self) -> bool:
        """Whether it was asked for, or anything was tested: else all is as it always is."""
        return self.memory is not None or self.diagnosis is not None


def choose(
    data: Labelled, memory: Any, symmetry: Any, rng: np.random.Generator, limited: str = ""
) -> Choice:
    """Choose by the stretch that the model was fixed on.

    Parameters
    ----------
    memory, symmetry : "auto" where it is to be chosen
    rng : for rearrangements of that stretch
    limited : the parameter that leaves no choice but the state alone and "spaced" blocks, if any
    """
    assert data.training is not None
    auto = is_auto(memory), is_auto(symmetry)
    least = Order(1) if auto[0] else resolve_memory(memory)
    states, observations, lengths = _latest(data.training)
    latest = "" if len(states) == len(data.training.states) else "last "
    where = f"the {latest}{len(states):,} training steps"
    if len(states) < ENOUGH:
        return _leave(auto, f"{where} are fewer than the {ENOUGH} that it takes to choose")
    given = decode_named(data, observations)
    labels, entropy = data.alphabet.decode(states.tolist()), int(rng.integers(2**63))
    memories: Iterable[Memory] = [least]
    if auto[0] and not limited:
        memories = _list_memories(states, lengths, data.emission.symbols)
    tried: list[tuple[Memory, Diagnosis]] = []
    for one in memories:
        try:
            found = check(
                given, labels, lengths=lengths, memory=one, n_resamples=DRAWS, alpha=ALPHA,
                random_state=entropy, pictures=False,
            )  # fmt: skip
        except (TypeError, ValueError) as reason:
            if not tried:
                return _leave(auto, f"{where} cannot be tested: {reason}")
            continue
        tried.append((one, found))
        if limited:
            return _submit(auto, found, where, limited)
        if not ANSWERED.intersection(found.failures):
            return _settle(auto, one, found, tried[:-1], where)
    return _settle(auto, *max(tried, key=_least_p_value), tried, where)


def decode_named(data: Labelled, codes: IntArray) -> Any:
    """Return observations as they came, with the names of their columns if these had any."""
    if data.plain:
        return None
    values, names = data.emission.decode(data.table, codes), data.emission.columns_of(data.table)
    if names is None or values.ndim != 2:
        return values
    try:
        backend = installed()
    except ImportError:
        return values  # that tests go by place
    columns = {str(name): column for name, column in zip(names, values.T, strict=True)}
    return nw.from_dict(columns, backend=backend).to_native()


def _least_p_value(tried: tuple[Memory, Diagnosis]) -> float:
    """Tell how little the tests that a memory answers speak against it."""
    tests = tried[1].tests
    return min(tests[name].adjusted_p_value for name in ANSWERED.intersection(tests))


def _leave(auto: tuple[bool, bool], why: str) -> Choice:
    """Take what is usual where nothing can be told."""
    memory, symmetry = Order(1) if auto[0] else None, "spaced" if auto[1] else None
    taken = [_name(memory)] if memory else []
    taken += [f"symmetry={symmetry!r}"] if symmetry else []
    return Choice(memory, symmetry, f"{' and '.join(taken)}: {why}.")


def _submit(auto: tuple[bool, bool], found: Diagnosis, where: str, limited: str) -> Choice:
    """Take the only thing that there is, and say what the tests say of it."""
    memory, symmetry = Order(1) if auto[0] else None, "spaced" if auto[1] else None
    taken = [_name(memory)] if memory else []
    taken += [f"symmetry={symmetry!r}"] if symmetry else []
    words = f"{' and '.join(taken)}: {limited} can use no other"
    if found.failures:
        words += f"; in {where} {_speak(found)} that {found.assumption} (p = {found.p_value:.3g})"
        if ANSWERED.intersection(found.failures):
            words += "; with symmetry='departures' another memory can be used"
    return Choice(memory, symmetry, f"{words}.", found)


def _speak(found: Diagnosis) -> str:
    """Say which tests speak against it."""
    verb = "speaks" if len(found.failures) == 1 else "speak"
    return f"{' and '.join(found.failures)} {verb} against it"


def _settle(
    auto: tuple[bool, bool],
    memory: Memory,
    found: Diagnosis,
    failed: list[tuple[Memory, Diagnosis]],
    where: str,
) -> Choice:
    """Choose the symmetry for a memory, and say what was chosen."""
    words = []
    if auto[0]:
        others = "; ".join(
            f"{_name(one)} fails {' and '.join(sorted(ANSWERED.intersection(each.failures)))}"
            for one, each in failed
        )
        why = f"no test that a memory answers fails in {where}"
        if any(one == memory for one, _ in failed):
            why = f"the least is spoken against it in {where}, though none answers all"
        words.append(f"{_name(memory)}: {why}{f' ({others})' if others else ''}.")
    symmetry = "spaced" if found.failures or not found.told else "full"
    if auto[1]:
        why = f"nothing in {where} {'speaks' if found.told else 'could speak'} against it"
        if found.failures:
            why = f"in {where} {_speak(found)}"
        few = " over a few steps" if symmetry == "full" else ""
        words.append(
            f"symmetry={symmetry!r}{few}: {why} that {found.assumption} (p = {found.p_value:.3g})."
        )
    return Choice(
        memory if auto[0] else None, symmetry if auto[1] else None, " ".join(words), found
    )


def _latest(training: Trained) -> tuple[IntArray, IntArray, list[int]]:
    """Return the latest steps of a stretch, in codes, and how long each part of them is."""
    begin = max(0, len(training.states) - LATEST)
    cuts = [begin, *(cut for cut in training.begins if cut > begin), len(training.states)]
    lengths = [after - before for before, after in pairwise(cuts)]
    return training.states[begin:], training.observations[begin:], lengths


def _list_memories(states: IntArray, lengths: list[int], symbols: bool) -> Iterator[Memory]:
    """List memories that have no more tokens than can be counted, from the least to the most."""
    size = len(np.unique(states))
    yield Order(1)
    if size**2 <= MOST:
        yield Order(2)
    most = min(find_old_age(states, np.array(lengths)), MOST // (2 * size))
    if size > 1 and most > 1:
        yield Age(most)
    if symbols:
        yield Observation()
    if size**3 <= MOST:
        yield Order(3)


def _name(memory: Memory) -> str:
    """Write a memory as a parameter.

    >>> _name(Order(2)), _name(Observation()), _name(Age(20))
    ('memory=2', "memory='observation'", 'memory=Age(most=20)')
    """
    if isinstance(memory, Observation):
        return f"memory={memory.known_as!r}"
    return f"memory={memory.k if isinstance(memory, Order) else memory!r}"
