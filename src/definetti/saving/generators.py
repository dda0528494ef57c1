"""Random generators, by the numbers that they go on from."""

from __future__ import annotations

from typing import Any

import numpy as np

from definetti.saving.forms import Form

BIT_GENERATORS = {
    one.__name__: one
    for one in (
        np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64,
    )
}  # fmt: skip
# What serves as an index inside, and how far it may go.
PLACES = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "has_gauss": 1}


class Generator(Form):
    """A NumPy `Generator`, or the older `RandomState`."""

    tag = "generator"
    kinds = (np.random.Generator, np.random.RandomState)

    def takes(self, value: Any) -> bool:
        return type(value) in self.kinds and self._state(value)["bit_generator"] in BIT_GENERATORS

    def write(self, value: Any, writer: Any, where: str) -> list[Any]:
        return [type(value).__name__, writer.write(_plain(self._state(value)), where)]

    def read(self, node: Any, reader: Any) -> Any:
        name, state = node[0], reader.read(node[1])
        bits = BIT_GENERATORS[state["bit_generator"]](0)
        kind = {one.__name__: one for one in self.kinds}[name]
        made: Any = kind(bits)
        _check_alike(state, _plain(self._state(made)))
        if kind is np.random.Generator:
            bits.state = state
        else:
            made.set_state(state)
        return made

    def _state(self, value: Any) -> dict[str, Any]:
        if isinstance(value, np.random.Generator):
            return dict(value.bit_generator.state)
        found: dict[str, Any] = value.get_state(legacy=False)
        return found


def _plain(state: Any) -> Any:
    if isinstance(state, dict):
        return {key: _plain(value) for key, value in state.items()}
    return state.item() if isinstance(state, np.generic) else state


def _check_alike(state: Any, known: Any, key: str = "") -> None:
    """Refuse a state that is not of the form of another: NumPy would read beyond its end."""
    if type(state) is not type(known):
        raise ValueError(f"a random generator has another kind of state ({key})")
    if isinstance(known, dict):
        if state.keys() != known.keys():
            raise ValueError("a random generator has another state")
        for name in known:
            _check_alike(state[name], known[name], name)
    elif isinstance(known, np.ndarray):
        if state.shape != known.shape or state.dtype != known.dtype:
            raise ValueError(f"a random generator has a state of another size ({key})")
    elif isinstance(known, int) and not 0 <= state <= PLACES.get(key, 2**128 - 1):
        raise ValueError(f"a random generator has a number out of bounds ({key})")
    elif isinstance(known, str) and state != known:
        raise ValueError("a random generator has another name")
