"""Compressed streams: members, damage, truncation at every byte, determinism."""

import bz2
import gzip
import io
import lzma
import tracemalloc
import zlib
from pathlib import Path

import pytest
import zstandard

from neardup.errors import InputError
from neardup.sources.compression import Compression, Unpacked, compression_of, create, open_plain, unpacked

CONTENT = b"".join(b"line %d of the content\n" % n for n in range(400))
PACKERS = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}
ALL: list[Compression] = ["gz", "bz2", "xz", "zst"]


def _read(path: Path, compression: Compression) -> bytes:
    with open_plain(str(path), compression, path.name) as stream:
        return stream.read()


@pytest.fixture(params=ALL)
def compression(request: pytest.FixtureRequest) -> Compression:
    return request.param  # type: ignore[no-any-return]


def test_one_member_and_many(compression: Compression, tmp_path: Path) -> None:
    pack = PACKERS[compression]
    path = tmp_path / f"a.{compression}"
    for parts in ([CONTENT], [CONTENT, b"", b"x", CONTENT], [b""]):
        path.write_bytes(b"".join(pack(part) for part in parts))
        assert _read(path, compression) == b"".join(parts)


def test_small_reads_and_lines(compression: Compression, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(PACKERS[compression](CONTENT) * 3)
    with open_plain(str(path), compression, "a") as stream:
        assert b"".join(stream) == CONTENT * 3


def test_a_cut_anywhere_is_an_error(compression: Compression, tmp_path: Path) -> None:
    whole = PACKERS[compression](CONTENT)
    path = tmp_path / "cut"
    for prefix in (b"", whole):
        for length in range(1 if prefix else 0, len(whole)):
            path.write_bytes(prefix + whole[:length])
            with pytest.raises(InputError, match="cut"):
                _read(path, compression)


def test_damage_and_rubbish_are_errors(compression: Compression, tmp_path: Path) -> None:
    path = tmp_path / "bad"
    whole = PACKERS[compression](CONTENT)
    for data in (whole + b"rubbish", b"plain text, not packed at all", whole + b"\x01" + whole):
        path.write_bytes(data)
        with pytest.raises(InputError, match="bad"):
            _read(path, compression)


def test_a_plain_file_with_a_packed_name_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(b'{"text": "unpacked by the browser"}\n')
    with pytest.raises(InputError, match="drop the ending"):
        _read(path, "gz")


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_padding_with_zeros_is_harmless(kind: Compression, tmp_path: Path) -> None:
    path = tmp_path / "padded"
    packed = PACKERS[kind](CONTENT)
    path.write_bytes(packed + bytes(512) + packed + bytes(1 << 18))
    assert _read(path, kind) == CONTENT * 2


def test_a_bomb_is_unpacked_no_faster_than_it_is_read(tmp_path: Path) -> None:
    packed = gzip.compress(bytes(100 << 20), mtime=0)
    raw = Unpacked(io.BytesIO(packed), "gz", "bomb")
    assert raw.readinto(bytearray(1000)) == 1000


def test_member_starts() -> None:
    parts = [b"one", b"two and more", b"three"]
    packed = [gzip.compress(p) for p in parts]
    raw = Unpacked(io.BytesIO(b"".join(packed)), "gz", "x")
    starts: list[tuple[int, int]] = []
    raw.on_member = lambda content, stored: starts.append((content, stored))
    assert io.BufferedReader(raw).read() == b"".join(parts)
    assert starts == [(0, 0), (3, len(packed[0])), (15, len(packed[0]) + len(packed[1]))]


def test_written_files_are_deterministic_and_readable_by_others(compression: Compression, tmp_path: Path) -> None:
    for name in ("one", "two"):
        with create(tmp_path / name, compression) as out:
            out.write(CONTENT)
            out.write(CONTENT)
    first = (tmp_path / "one").read_bytes()
    assert first == (tmp_path / "two").read_bytes()
    unpack = {"gz": gzip.decompress, "bz2": bz2.decompress, "xz": lzma.decompress, "zst": _one_frame}[compression]
    assert unpack(first) == CONTENT * 2
    if compression == "gz":
        assert first[3:8] == bytes(5)  # no name, no time


def _one_frame(data: bytes) -> bytes:
    """Many readers stop after the first frame."""
    return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=False).read()


def test_names() -> None:
    assert compression_of("a/b.JSONL.GZ") == ("gz", "a/b.JSONL")
    assert compression_of("a.zst") == ("zst", "a")
    assert compression_of("a.jsonl") == (None, "a.jsonl")


def test_an_xz_dictionary_of_a_gigabyte_is_refused(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]
    data = bytearray(lzma.compress(b"words", filters=filters))
    at = data.index(b"\x21\x01\x10")  # the filter, the length of its properties, the size of the dictionary
    data[at + 2] = 36  # 1 GB
    data[at + 6 : at + 10] = zlib.crc32(data[12 : at + 6]).to_bytes(4, "little")
    (tmp_path / "a.xz").write_bytes(bytes(data))
    with pytest.raises(InputError, match=r"a dictionary that takes more than 268,435,456 bytes"):
        open_plain(str(tmp_path / "a.xz"), "xz", "a.xz").read()


def test_members_without_content_take_no_memory() -> None:
    packed = gzip.compress(b"one", mtime=0) + gzip.compress(b"", mtime=0) * 50_000
    tracemalloc.start()
    try:
        with unpacked(io.BytesIO(packed), "gz", "x") as stream:
            assert stream.read() == b"one"
        assert tracemalloc.get_traced_memory()[1] < 3 << 20  # a buffer of 1 MB, and pieces of the file
    finally:
        tracemalloc.stop()
