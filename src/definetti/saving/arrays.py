"""Arrays as the bytes of an ``.npy`` file, and back without taking more memory than these are."""

from __future__ import annotations

import io
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.budget import claim_memory
from definetti.exceptions import LoadError, SaveError

# Truth values, whole numbers, machine numbers, text: nothing that points to anything.
KINDS = "biufU"
HEADER = 1_000  # bytes that a header may have; it says three things


def to_bytes(array: npt.NDArray[Any], where: str) -> bytes:
    """Return an array as the bytes of an ``.npy`` file, the same for equal arrays."""
    if array.dtype.kind not in KINDS or (array.dtype.itemsize > 8 and array.dtype.kind == "f"):
        raise SaveError(
            f"{where} is an array of {array.dtype}, which a file does not hold; turn it into "
            "numbers or text"
        )
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    made = io.BytesIO()
    np.lib.format.write_array(made, array, version=(1, 0), allow_pickle=False)
    claim_memory(len(made.getbuffer()))
    claim_empty(array.shape)
    return made.getvalue()


def claim_empty(shape: tuple[int, ...]) -> None:
    """Claim memory for the rows of an array that has no elements: they may be many all the same."""
    if 0 in shape:
        claim_memory(8 * prod(length for length in shape if length))


def from_bytes(content: bytearray, name: str) -> npt.NDArray[Any]:
    """Return the array in the bytes of an ``.npy`` file, which it goes on living in.

    The header is believed only as far as the bytes that follow it go.

    Examples
    --------
    >>> from_bytes(bytearray(to_bytes(np.array([[1, 2]]), "x")), "1.npy")
    array([[1, 2]])
    """
    head = io.BytesIO(content[: HEADER + 10])
    try:
        if np.lib.format.read_magic(head) != (1, 0):
            raise ValueError("it is of another version")
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(head, max_header_size=HEADER)
    except Exception as error:  # whatever a header may be
        raise LoadError(f"the part {name} is no array ({_first_line(error)})") from None
    if dtype.hasobject or dtype.kind not in KINDS or dtype.names or dtype.subdtype:
        raise LoadError(f"the part {name} is an array of {dtype}, which no file of ours holds")
    number = prod(shape)  # of Python's whole numbers, which do not overflow
    if min(shape, default=0) < 0 or number * dtype.itemsize != len(content) - head.tell():
        raise LoadError(
            f"the part {name} says that it is an array of shape {shape}, and is of another size"
        )
    claim_empty(shape)
    if not number:
        return np.zeros(shape, dtype=dtype)
    flat = np.frombuffer(content, dtype=dtype, offset=head.tell())
    found = flat.reshape(shape, order="F" if by_column else "C")
    if not dtype.isnative:
        claim_memory(found.nbytes)
    return found.astype(dtype.newbyteorder("="), copy=False)


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).split("\n", 1)[0][:200]
