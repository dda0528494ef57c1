"""Tuples and dictionaries, lists that are long, and arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from definetti._system.arrays import narrowed
from definetti._system.budget import claim_memory
from definetti.saving.arrays import claim_empty
from definetti.saving.forms import Form
from definetti.saving.scalars import is_scalar, plain_scalar

LONG = 32  # elements from which on a list is worth an array
INT = 2**63
BYTES = [*range(128), *range(-128, 0)]  # the numbers that a byte holds, each once, by their index


class Tuple(Form):
    """A tuple, which a label may be."""

    tag = "tuple"

    def takes(self, value: Any) -> bool:
        return type(value) is tuple

    def write(self, value: Any, writer: Any, where: str) -> list[Any]:
        return [writer.write(one, where) for one in value]

    def read(self, node: Any, reader: Any) -> tuple[Any, ...]:
        return tuple(reader.read(one) for one in node)


class Dictionary(Form):
    """A mapping, as pairs: its keys need not be text."""

    tag = "dict"

    def takes(self, value: Any) -> bool:
        return isinstance(value, Mapping) and type(value).__module__ in ("builtins", "collections")

    def write(self, value: Any, writer: Any, where: str) -> list[Any]:
        return [
            [writer.write(key, where), writer.write(one, f"{where}[{key!r}]" if where else key)]
            for key, one in value.items()
        ]

    def read(self, node: Any, reader: Any) -> dict[Any, Any]:
        return {reader.read(key): reader.read(one) for key, one in node}


class Array(Form):
    """An array of numbers or text: a part of its own."""

    tag = "array"

    def takes(self, value: Any) -> bool:
        return type(value) is np.ndarray and not value.dtype.hasobject

    def write(self, value: Any, writer: Any, where: str) -> str:
        return str(writer.array(value, where))

    def read(self, node: Any, reader: Any) -> Any:
        return reader.array(node)


class Objects(Form):
    """An array of single values of any kind."""

    tag = "objects"

    def takes(self, value: Any) -> bool:
        return type(value) is np.ndarray and value.dtype == np.dtype(object)

    def write(self, value: Any, writer: Any, where: str) -> list[Any]:
        claim_memory(16 * value.size)
        claim_empty(value.shape)
        return [list(value.shape), writer.write(value.ravel().tolist(), where)]

    def read(self, node: Any, reader: Any) -> Any:
        shape, values = node[0], reader.read(node[1])
        claim_memory(16 * len(values))
        claim_empty(tuple(shape))
        found = np.empty(len(values), dtype=object)
        found[:] = values
        if len(shape) == 1 or not all(isinstance(one, (tuple, list)) for one in values):
            return found.reshape(shape)
        raise ValueError("an array of lists has more than one axis")


class Masked(Form):
    """An array of which some elements are missing."""

    tag = "masked"

    def takes(self, value: Any) -> bool:
        return type(value) is np.ma.MaskedArray

    def write(self, value: Any, writer: Any, where: str) -> list[Any]:
        mask = np.ma.getmaskarray(value)
        claim_memory(value.data.nbytes)
        return [writer.write(np.asarray(value.data), where), writer.array(mask, where)]

    def read(self, node: Any, reader: Any) -> Any:
        data, mask = reader.read(node[0]), reader.array(node[1])
        if data.shape != mask.shape or mask.dtype != np.bool_:
            raise ValueError("a mask is of another shape than what it masks")
        claim_memory(data.nbytes)
        return np.ma.MaskedArray(data, mask)


class List(Form):
    """A long list, in arrays by what it holds; a short one is JSON as it is."""

    tag = "list"

    def takes(self, value: Any) -> bool:
        return type(value) is list and len(value) >= LONG

    def write(self, value: Any, writer: Any, where: str) -> dict[str, Any]:
        alike = {type(one) for one in value}
        if len(alike) == 1:
            (kind,) = alike
            if kind is np.ndarray and len({(one.shape, one.dtype) for one in value}) == 1:
                _claim_views(len(value))
                return {"arrays": writer.write(np.stack(value), where)}
            if kind in (tuple, list) and len({len(one) for one in value}) == 1 and value[0]:
                columns = [list(column) for column in zip(*value, strict=True)]
                _claim_rows(columns)
                return {kind.__name__: [writer.write(column, where) for column in columns]}
        if all(map(is_scalar, value)):
            return self._scalars([plain_scalar(one, where) for one in value], writer, where)
        return {"each": [writer.write(one, where) for one in value]}

    def _scalars(self, value: list[Any], writer: Any, where: str) -> dict[str, Any]:
        alike = {type(one) for one in value}
        if alike == {float} or (alike == {int} and min(value) >= -INT and max(value) < INT):
            numbers = np.array(value) if alike == {float} else narrowed(np.array(value))
            _claim_numbers(numbers)
            return {"numbers": writer.array(numbers, where)}
        # What compares equal may be of another type, and zero has two signs.
        names = [(type(one), one.hex() if type(one) is float else one) for one in value]
        places: dict[Any, int] = {}
        codes = np.array([places.setdefault(name, len(places)) for name in names])
        first = dict(zip(reversed(names), reversed(value), strict=True))
        distinct = [writer.write(first[name], where) for name in places]
        _claim_codes(codes)
        return {"values": distinct, "codes": writer.array(narrowed(codes), where)}

    def read(self, node: Any, reader: Any) -> list[Any]:
        if "each" in node:
            return [reader.read(one) for one in node["each"]]
        if "arrays" in node:
            arrays = reader.read(node["arrays"])
            if not isinstance(arrays, np.ndarray):
                raise ValueError("a list of arrays is none")
            _claim_views(len(arrays))
            return list(arrays)
        if "numbers" in node:
            numbers = _row(reader.array(node["numbers"]), "iuf")
            _claim_numbers(numbers)
            if numbers.dtype == np.int8:
                return list(map(BYTES.__getitem__, memoryview(numbers)))
            return list(numbers.tolist())
        if "codes" in node:
            values = [reader.read(one) for one in node["values"]]
            codes = _row(reader.array(node["codes"]), "i")
            if len(codes) and not 0 <= codes.min() <= codes.max() < len(values):
                raise ValueError("a list has a code for which there is no value")
            _claim_codes(codes)
            return list(map(values.__getitem__, memoryview(codes)))
        ((name, nodes),) = node.items()
        kind = {"tuple": tuple, "list": list}[name]
        columns = [reader.read(one) for one in nodes]
        _claim_rows(columns)
        return [kind(row) for row in zip(*columns, strict=True)]


def _row(array: Any, kinds: str) -> Any:
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise ValueError("a list is no row of numbers")
    return array


# What the elements of a list take beside the arrays that they are read from.
def _claim_views(number: int) -> None:
    claim_memory(160 * number)


def _claim_numbers(numbers: Any) -> None:
    claim_memory((9 if numbers.dtype == np.int8 else 40) * len(numbers))


def _claim_codes(codes: Any) -> None:
    claim_memory(9 * len(codes))


def _claim_rows(columns: list[Any]) -> None:
    if columns:
        claim_memory((72 + 8 * len(columns)) * len(columns[0]))
