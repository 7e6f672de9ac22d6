"""Small files that unpack to much, made on the fly."""

import struct
import zlib
from collections.abc import Callable

import brotli
import pyarrow as pa

MB = 1 << 20


def gzipped(block: bytes, times: int, *, head: bytes = b"", tail: bytes = b"") -> bytes:
    """One gzip member of head, many times a block, and tail. The block is deflated once, so this takes no time."""
    packer = zlib.compressobj(6, wbits=-15)
    first = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    last = packer.compress(tail) + packer.flush()
    crc = zlib.crc32(head)
    for _ in range(times):
        crc = zlib.crc32(block, crc)
    size = len(head) + times * len(block) + len(tail)
    end = struct.pack("<II", zlib.crc32(tail, crc), size & 0xFFFFFFFF)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + first + again * times + last + end


def deflated(block: bytes, times: int) -> bytes:
    """A zlib stream, without its checksum: nobody gets that far."""
    packer = zlib.compressobj(6)
    first = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    return first + (packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)) * times


def brotlied(block: bytes, times: int) -> bytes:
    packer = brotli.Compressor(quality=1)
    return b"".join(packer.process(block) for _ in range(times)) + packer.finish()


def zstandarded(block: bytes, times: int) -> bytes:
    """One frame."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packer:
        for _ in range(times):
            packer.write(block)
    return sink.getvalue().to_pybytes()


ENCODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": gzipped,
    "deflate": deflated,
    "br": brotlied,
    "zstd": zstandarded,
}
