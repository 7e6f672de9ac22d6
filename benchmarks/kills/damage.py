"""Damaged stores: every answer is right, or an error."""

import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from benchmarks.kills.victims import documents, tell
from neardup.errors import NeardupError
from neardup.index import Index, rocks_folder

_NUMBER = 240


def damaging(pipe: int, folder: str, stores: int, seed: int, end: float = float("inf")) -> None:
    """Make stores, damage copies of them, and ask each for all of its documents."""
    rng, tally = random.Random(seed), Counter[str]()
    sources = [_source(Path(folder) / f"source{i}", buffer) for i, buffer in enumerate((64 << 10, 64 << 20))]
    older = [_older(source) for source in sources]
    for number in range(stores):
        if time.monotonic() > end:
            break
        which = number % len(sources)
        copy = Path(shutil.copytree(sources[which], Path(folder) / "copy"))
        name, act = rng.choice(list(_DAMAGES.items()))
        act(copy, older[which], rng)
        tally["stores"] += 1
        _judge(copy, tally, f"{number} {name}", read_only=rng.random() < 0.3)
        shutil.rmtree(copy)
    tell(pipe, **tally)


def _judge(copy: Path, tally: Counter[str], what: str, *, read_only: bool) -> None:
    try:
        with Index.open(copy, create=False, read_only=read_only) as index:
            sound = index.verify().sound
            wrong = _wrong(index)
    except NeardupError:
        tally["refused"] += 1
        return
    tally["found by verify"] += not sound
    tally["wrong answers"] += wrong
    tally["right answers in all"] += not wrong
    tally["wrong and not found by verify"] += wrong and sound
    if wrong:
        print("wrong:", what, flush=True)


def _wrong(index: Index) -> bool:
    """Whether an answer is wrong; one that is an error is not."""
    wanted = documents(0, _NUMBER)
    try:
        stored, verdicts = index.get_many([each.id for each in wanted]), index.check_many(wanted)
    except NeardupError:
        return False
    return len(index) != _NUMBER or any(
        found is None or found.text != each.text or verdict.match is None or verdict.match.id != each.id
        for each, found, verdict in zip(wanted, stored, verdicts, strict=True)
    )


def _source(path: Path, buffer: int) -> Path:
    rocks_folder._BUFFER = buffer
    some = documents(0, _NUMBER)
    with Index.open(path, "stream", keep="text") as index:
        for start in range(0, _NUMBER, 20):
            index.add_many(some[start : start + 20])
            index.update_many(some[start : start + 1])
            if start == _NUMBER // 2:
                shutil.copytree(path, _older(path))
    return path


def _older(path: Path) -> Path:
    """Where the same store is as it was before."""
    return path.with_name(f"{path.name}-older")


def _any(copy: Path, rng: random.Random) -> Path:
    return rng.choice(sorted(each for each in copy.iterdir() if each.stat().st_size))


def _flip(copy: Path, older: Path, rng: random.Random) -> None:
    file = _any(copy, rng)
    content = bytearray(file.read_bytes())
    for _ in range(rng.choice([1, 1, 8])):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    file.write_bytes(content)


def _cut(copy: Path, older: Path, rng: random.Random) -> None:
    file = _any(copy, rng)
    os.truncate(file, rng.randrange(file.stat().st_size))


def _remove(copy: Path, older: Path, rng: random.Random) -> None:
    _any(copy, rng).unlink()


def _swap(copy: Path, older: Path, rng: random.Random) -> None:
    """Two files of one kind change places."""
    tables = sorted(copy.glob(rng.choice(["*.sst", "*.log", "*"])))
    if len(tables) > 1:
        one, other = rng.sample(tables, 2)
        content = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(content)


def _put_back(copy: Path, older: Path, rng: random.Random) -> None:
    """A file is as it was before."""
    file = _any(older, rng)
    shutil.copyfile(file, copy / file.name)


def _fill(copy: Path, older: Path, rng: random.Random) -> None:
    """A part of a file is zeros, as after a bad sector."""
    file = _any(copy, rng)
    content = bytearray(file.read_bytes())
    at = rng.randrange(len(content))
    end = min(len(content), at + rng.choice([1, 512, 4096]))
    content[at:end] = bytes(end - at)
    file.write_bytes(content)


_DAMAGES: dict[str, Callable[[Path, Path, random.Random], None]] = {
    "flipped": _flip,
    "cut": _cut,
    "missing": _remove,
    "swapped": _swap,
    "put back": _put_back,
    "zeros": _fill,
}
