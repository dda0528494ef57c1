"""Write and read single values, containers, arrays and random generators.

Text, whole numbers, True, False, None, finite numbers and short lists are JSON as they are. Any
other value is a JSON object with one key: the tag of the `Form` that writes and reads it.

A writing function takes a value, the writer, and the value's name in errors, and returns JSON. A
reading function takes this JSON and the reader, and raises any error for what is never written.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from math import isfinite, prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import narrowed
from definetti._system.files import claim_memory
from definetti.exceptions import LoadError, SaveError

PLAIN = (bool, int, float, str, type(None))
DIGITS = 1_000  # the most that a whole number may have
DTYPE_KINDS = "biufU"  # truth values, numbers and text: nothing that holds a pointer
HEADER = 1_000  # the most bytes of the header of an array
LONG_LIST = 32  # the length from which on a list is written as an array
INT64_END = 2**63
BYTES = [*range(128), *range(-128, 0)]  # the int8 numbers by their byte: shared when a list is read
BIT_GENERATORS = {
    kind.__name__: kind
    for kind in (
        np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64,
    )
}  # fmt: skip
# The state entries of generators that NumPy uses as indices, and the largest value of each.
GENERATOR_INDICES = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "has_gauss": 1}


class Form(NamedTuple):
    """How values of one kind are recognised, written and read."""

    tag: str  # the key of such values in a manifest
    accepts: Callable[[Any], bool]
    write: Callable[[Any, Any, str], Any]
    read: Callable[[Any, Any], Any]


# Single values.


def is_scalar(value: Any) -> bool:
    """Tell whether something is a single value that a file can hold."""
    return type(value) in PLAIN or isinstance(value, np.generic)


def plain_scalar(value: Any, where: str) -> Any:
    """Return a single value as a Python type; NumPy numbers become the Python number they equal."""
    if isinstance(value, np.generic):
        plain = value.item()
        if type(plain) not in PLAIN or not (plain == value or plain != plain):
            raise SaveError(
                f"{where} is {value!r}, which a file does not hold; turn it into text or a number"
            )
        return plain
    if type(value) is int and abs(value) >= 10**DIGITS:
        raise SaveError(f"{where} is a whole number of more than {DIGITS} digits; use text")
    return value


NOT_FINITE = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}  # JSON has none
EXACT = {kind.__name__: kind for kind in (Fraction, Decimal)}  # levels may be given in these


def _read_exact(node: Any, reader: Any) -> Fraction | Decimal:
    name, text = node
    if not isinstance(text, str) or len(text) > 2 * DIGITS or "e" in text.lower():
        raise ValueError("an exact number is not written as one")
    return EXACT[name](text)


# Arrays.


def to_bytes(array: npt.NDArray[Any], where: str) -> bytes:
    """Return an array as the bytes of an ``.npy`` file, the same for equal arrays."""
    if array.dtype.kind not in DTYPE_KINDS or (
        array.dtype.itemsize > 8 and array.dtype.kind == "f"
    ):
        raise SaveError(
            f"{where} is an array of {array.dtype}, which a file does not hold; turn it into "
            "numbers or text"
        )
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)
    claim_memory(len(file.getbuffer()))
    _claim_empty(array.shape)
    return file.getvalue()


def from_bytes(content: bytearray, name: str) -> npt.NDArray[Any]:
    """Return the array in the bytes of an ``.npy`` file, without copying them.

    The shape in the header must agree with the number of bytes that follow it.
    """
    head = io.BytesIO(content[: HEADER + 10])
    try:
        if np.lib.format.read_magic(head) != (1, 0):
            raise ValueError("it is of another version")
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(head, max_header_size=HEADER)
    except Exception as error:  # a header may hold anything
        raise LoadError(f"the part {name} is no array ({first_line(error)})") from None
    if dtype.hasobject or dtype.kind not in DTYPE_KINDS or dtype.names or dtype.subdtype:
        raise LoadError(f"the part {name} is an array of {dtype}, which no file of ours holds")
    size = prod(shape)  # in Python's whole numbers, which do not overflow
    if min(shape, default=0) < 0 or size * dtype.itemsize != len(content) - head.tell():
        raise LoadError(
            f"the part {name} says that it is an array of shape {shape}, and is of another size"
        )
    _claim_empty(shape)
    if not size:
        return np.zeros(shape, dtype=dtype)
    flat = np.frombuffer(content, dtype=dtype, offset=head.tell())
    array = flat.reshape(shape, order="F" if by_column else "C")
    if not dtype.isnative:
        claim_memory(array.nbytes)
    return array.astype(dtype.newbyteorder("="), copy=False)


def first_line(error: Exception) -> str:
    """Return the beginning of an error's message, or its type where there is none."""
    return (str(error) or type(error).__name__).split("\n", 1)[0][:200]


def _claim_empty(shape: tuple[int, ...]) -> None:
    """Claim memory for the rows of an array without elements, which may be many."""
    if 0 in shape:
        claim_memory(8 * prod(length for length in shape if length))


def _write_objects(value: Any, writer: Any, where: str) -> list[Any]:
    claim_memory(16 * value.size)
    _claim_empty(value.shape)
    return [list(value.shape), writer.write(value.ravel().tolist(), where)]


def _read_objects(node: Any, reader: Any) -> Any:
    shape, values = node[0], reader.read(node[1])
    claim_memory(16 * len(values))
    _claim_empty(tuple(shape))
    array = np.empty(len(values), dtype=object)
    array[:] = values
    if len(shape) == 1 or not all(isinstance(value, (tuple, list)) for value in values):
        return array.reshape(shape)
    raise ValueError("an array of lists has more than one axis")


def _write_masked(value: Any, writer: Any, where: str) -> list[Any]:
    claim_memory(value.data.nbytes)
    mask = np.ma.getmaskarray(value)
    return [writer.write(np.asarray(value.data), where), writer.array(mask, where)]


def _read_masked(node: Any, reader: Any) -> Any:
    data, mask = reader.read(node[0]), reader.array(node[1])
    if data.shape != mask.shape or mask.dtype != np.bool_:
        raise ValueError("a mask is of another shape than what it masks")
    claim_memory(data.nbytes)
    return np.ma.MaskedArray(data, mask)


# Mappings, as pairs: their keys need not be text. Long lists, in arrays by what they hold.


def _write_mapping(value: Any, writer: Any, where: str) -> list[Any]:
    return [
        [writer.write(key, where), writer.write(entry, f"{where}[{key!r}]" if where else key)]
        for key, entry in value.items()
    ]


def _write_list(value: Any, writer: Any, where: str) -> dict[str, Any]:
    types = {type(element) for element in value}
    if len(types) == 1:
        (kind,) = types
        if kind is np.ndarray and len({(array.shape, array.dtype) for array in value}) == 1:
            claim_memory(VIEW * len(value))
            return {"arrays": writer.write(np.stack(value), where)}
        if kind in (tuple, list) and len(set(map(len, value))) == 1 and value[0]:
            columns = [list(column) for column in zip(*value, strict=True)]
            _claim_rows(columns)
            return {kind.__name__: [writer.write(column, where) for column in columns]}
    if all(map(is_scalar, value)):
        return _write_scalars([plain_scalar(element, where) for element in value], writer, where)
    return {"each": [writer.write(element, where) for element in value]}


def _write_scalars(value: list[Any], writer: Any, where: str) -> dict[str, Any]:
    types = {type(element) for element in value}
    if types == {float} or (types == {int} and min(value) >= -INT64_END and max(value) < INT64_END):
        numbers = np.array(value) if types == {float} else narrowed(np.array(value))
        _claim_numbers(numbers)
        return {"numbers": writer.array(numbers, where)}
    # Values that compare equal may differ in type, and zero has two signs.
    names = [
        (type(element), element.hex() if type(element) is float else element) for element in value
    ]
    places: dict[Any, int] = {}
    codes = np.array([places.setdefault(name, len(places)) for name in names])
    first = dict(zip(reversed(names), reversed(value), strict=True))
    distinct = [writer.write(first[name], where) for name in places]
    claim_memory(CODE * len(codes))
    return {"values": distinct, "codes": writer.array(narrowed(codes), where)}


def _read_list(node: Any, reader: Any) -> list[Any]:
    if "each" in node:
        return [reader.read(element) for element in node["each"]]
    if "arrays" in node:
        arrays = reader.read(node["arrays"])
        if not isinstance(arrays, np.ndarray):
            raise ValueError("a list of arrays is none")
        claim_memory(VIEW * len(arrays))
        return list(arrays)
    if "numbers" in node:
        numbers = _one_dimensional(reader.array(node["numbers"]), "iuf")
        _claim_numbers(numbers)
        if numbers.dtype == np.int8:
            return list(map(BYTES.__getitem__, memoryview(numbers)))
        return list(numbers.tolist())
    if "codes" in node:
        values = [reader.read(value) for value in node["values"]]
        codes = _one_dimensional(reader.array(node["codes"]), "i")
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(values):
            raise ValueError("a list has a code for which there is no value")
        claim_memory(CODE * len(codes))
        return list(map(values.__getitem__, memoryview(codes)))
    ((name, nodes),) = node.items()
    kind = {"tuple": tuple, "list": list}[name]
    columns = [reader.read(column) for column in nodes]
    _claim_rows(columns)
    return [kind(row) for row in zip(*columns, strict=True)]


def _one_dimensional(array: Any, kinds: str) -> Any:
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise ValueError("a list is no row of numbers")
    return array


# The memory of the elements of a list, beside the arrays that they are read from.
VIEW, CODE = 160, 9


def _claim_numbers(numbers: Any) -> None:
    claim_memory((CODE if numbers.dtype == np.int8 else 40) * len(numbers))


def _claim_rows(columns: list[Any]) -> None:
    if columns:
        claim_memory((72 + 8 * len(columns)) * len(columns[0]))


# Random generators.


GENERATORS = {kind.__name__: kind for kind in (np.random.Generator, np.random.RandomState)}


def _is_generator(value: Any) -> bool:
    return type(value) in GENERATORS.values() and _state(value)["bit_generator"] in BIT_GENERATORS


def _write_generator(value: Any, writer: Any, where: str) -> list[Any]:
    return [type(value).__name__, writer.write(_plain_state(_state(value)), where)]


def _read_generator(node: Any, reader: Any) -> Any:
    name, state = node[0], reader.read(node[1])
    bits = BIT_GENERATORS[state["bit_generator"]](0)
    generator: Any = GENERATORS[name](bits)
    _check_state(state, _plain_state(_state(generator)))
    if name == "Generator":
        bits.state = state
    else:
        generator.set_state(state)
    return generator


def _state(value: Any) -> dict[str, Any]:
    if isinstance(value, np.random.Generator):
        return dict(value.bit_generator.state)
    return dict(value.get_state(legacy=False))


def _plain_state(state: Any) -> Any:
    if isinstance(state, dict):
        return {key: _plain_state(value) for key, value in state.items()}
    return state.item() if isinstance(state, np.generic) else state


def _check_state(state: Any, known: Any, key: str = "") -> None:
    """Refuse a state of another form than a known one: NumPy would read beyond its end."""
    if type(state) is not type(known):
        raise ValueError(f"a random generator has another kind of state ({key})")
    if isinstance(known, dict):
        if state.keys() != known.keys():
            raise ValueError("a random generator has another state")
        for name in known:
            _check_state(state[name], known[name], name)
    elif isinstance(known, np.ndarray):
        if state.shape != known.shape or state.dtype != known.dtype:
            raise ValueError(f"a random generator has a state of another size ({key})")
    elif isinstance(known, int) and not 0 <= state <= GENERATOR_INDICES.get(key, 2**128 - 1):
        raise ValueError(f"a random generator has a number out of bounds ({key})")
    elif isinstance(known, str) and state != known:
        raise ValueError("a random generator has another name")


FORMS = (
    Form(
        "number",
        lambda value: type(value) is float and not isfinite(value),
        lambda value, writer, where: repr(value),
        lambda node, reader: NOT_FINITE[node],
    ),
    Form(
        "tuple",
        lambda value: type(value) is tuple,
        lambda value, writer, where: [writer.write(element, where) for element in value],
        lambda node, reader: tuple(reader.read(element) for element in node),
    ),
    Form(
        "list",
        lambda value: type(value) is list and len(value) >= LONG_LIST,
        _write_list,
        _read_list,
    ),
    Form(
        "array",
        lambda value: type(value) is np.ndarray and not value.dtype.hasobject,
        lambda value, writer, where: writer.array(value, where),
        lambda node, reader: reader.array(node),
    ),
    Form(
        "dict",
        lambda value: (
            isinstance(value, Mapping) and type(value).__module__ in ("builtins", "collections")
        ),
        _write_mapping,
        lambda node, reader: {reader.read(key): reader.read(entry) for key, entry in node},
    ),
    Form(
        "objects",
        lambda value: type(value) is np.ndarray and value.dtype == np.dtype(object),
        _write_objects,
        _read_objects,
    ),
    Form("masked", lambda value: type(value) is np.ma.MaskedArray, _write_masked, _read_masked),
    Form(
        "exact",
        lambda value: type(value) in EXACT.values(),
        lambda value, writer, where: [type(value).__name__, str(value)],
        _read_exact,
    ),
    Form("generator", _is_generator, _write_generator, _read_generator),
)
