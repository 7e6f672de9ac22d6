"""What an extracting process and the one that started it say to each other: lists of byte strings.

A message is the number of its fields, the length of each (-1 for none), and their bytes. Nothing in it is code, an
object or a reference, and whoever receives one says beforehand how many fields and bytes it may have: a process that
was taken over by a page it read can send wrong texts, and nothing else.
"""

import struct
from collections.abc import Callable, Sequence
from typing import IO

Field = bytes | None

_NUMBER = struct.Struct("<I")
_MOST_FIELDS = 1 << 24


class Garbled(ValueError):
    """A message that is not one, or that is larger than allowed."""


def send(stream: IO[bytes], fields: Sequence[Field]) -> None:
    """Write one message and flush it."""
    lengths = [-1 if field is None else len(field) for field in fields]
    stream.write(_NUMBER.pack(len(fields)) + struct.pack(f"<{len(fields)}q", *lengths))
    for field in fields:
        if field:
            stream.write(field)
    stream.flush()


def receive(exactly: Callable[[int], bytes], *, fields: int | None = None, most: int | None = None) -> list[Field]:
    """Read one message.

    Args:
        exactly: Returns as many bytes as it is asked for, or raises EOFError.
        fields: The number of fields that the message must have; None for any.
        most: The most bytes that all fields together may have; None for any.

    Raises:
        EOFError: The other side has ended.
        Garbled: The message is not one, or not of this size.
    """
    (number,) = _NUMBER.unpack(exactly(_NUMBER.size))
    if number > _MOST_FIELDS if fields is None else number != fields:
        raise Garbled(f"a message of {number:,} fields, not {fields}")
    lengths = struct.unpack(f"<{number}q", exactly(8 * number))
    if min(lengths, default=0) < -1 or (most is not None and sum(length for length in lengths if length > 0) > most):
        raise Garbled(f"fields of {sum(lengths):,} bytes, and {most} are allowed")
    return [None if length < 0 else exactly(length) for length in lengths]
