"""Thrift's compact protocol, as a tree: what a Parquet footer is written in.

A struct is a dict from field number to (type, value); a list is (type of its elements, values). Fields that nobody here
knows are carried along, so that `encode(decode(data))` says what `data` says.
"""

from struct import pack, unpack_from
from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = range(1, 14)
"""Types of values. A boolean field is its own value; in a list each is a byte."""

Struct = dict[int, tuple[int, Any]]


def decode(data: bytes) -> Struct:
    """Read one struct. Damaged data raise ValueError."""
    return decode_prefix(data)[0]


def decode_prefix(data: bytes) -> tuple[Struct, int]:
    """Read the struct that data begin with, and tell where it ends. Damaged data raise ValueError."""
    at = 0

    def varint() -> int:
        nonlocal at
        byte = data[at]
        at += 1
        if byte < 128:
            return byte
        value, shift = byte & 127, 7
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def taken(size: int) -> bytes:
        nonlocal at
        piece = data[at : at + size]
        if len(piece) < size:
            raise ValueError("a value ends after the data")
        at += size
        return piece

    def announced(size: int) -> int:
        """Elements that are announced: each takes a byte at least, so there are no more than bytes."""
        if size > len(data) - at:
            raise ValueError(f"{size:,} values are announced in {len(data) - at:,} bytes")
        return size

    def value(kind: int) -> Any:
        if kind in (I16, I32, I64):
            number = varint()
            return (number >> 1) ^ -(number & 1)
        if kind == BINARY:
            return taken(varint())
        if kind == STRUCT:
            return struct()
        if kind in (LIST, SET):
            (head,) = taken(1)
            size = announced(varint()) if head >> 4 == 15 else head >> 4
            return head & 15, [value(head & 15) for _ in range(size)]
        if kind in (TRUE, FALSE, BYTE):
            return taken(1)
        if kind == DOUBLE:
            return unpack_from("<d", taken(8))[0]
        if kind == UUID:
            return taken(16)
        if kind == MAP:
            size = announced(varint())
            kinds = taken(1)[0] if size else 0
            return kinds, [(value(kinds >> 4), value(kinds & 15)) for _ in range(size)]
        raise ValueError(f"there is no type {kind}")

    def struct() -> Struct:
        nonlocal at
        fields: Struct = {}
        number = 0
        while head := data[at]:
            at += 1
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else value(I16)
            fields[number] = kind, None if kind in (TRUE, FALSE) else value(kind)
        at += 1
        return fields

    try:
        return struct(), at
    except (IndexError, RecursionError) as error:
        raise ValueError("the data end too early, or nest too deep") from error


def encode(fields: Struct) -> bytes:
    """Write one struct; the inverse of `decode`."""
    out = bytearray()

    def varint(number: int) -> None:
        while number > 127:
            out.append(number & 127 | 128)
            number >>= 7
        out.append(number)

    def value(kind: int, content: Any) -> None:
        if kind in (I16, I32, I64):
            varint(content << 1 if content >= 0 else ~(content << 1))
        elif kind == BINARY:
            varint(len(content))
            out.extend(content)
        elif kind == STRUCT:
            struct(content)
        elif kind in (LIST, SET):
            of, values = content
            if len(values) < 15:
                out.append(len(values) << 4 | of)
            else:
                out.append(0xF0 | of)
                varint(len(values))
            for each in values:
                value(of, each)
        elif kind == DOUBLE:
            out.extend(pack("<d", content))
        elif kind == MAP:
            kinds, pairs = content
            varint(len(pairs))
            if pairs:
                out.append(kinds)
            for key, each in pairs:
                value(kinds >> 4, key)
                value(kinds & 15, each)
        else:
            out.extend(content)

    def struct(fields: Struct) -> None:
        last = 0
        for number, (kind, content) in sorted(fields.items()):
            if 0 < number - last < 16:
                out.append((number - last) << 4 | kind)
            else:
                out.append(kind)
                value(I16, number)
            if kind not in (TRUE, FALSE):
                value(kind, content)
            last = number
        out.append(0)

    struct(fields)
    return bytes(out)
