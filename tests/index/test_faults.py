"""Kills, full disks, damaged folders, other processes, documents that nobody would write: nothing acknowledged is lost.

Children that are to be killed come out of a nursery: a process that has imported everything and forks one when it is
told so, which takes a hundredth of the time of a new interpreter. RocksDB is opened after the fork.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from neardup.errors import NeardupError, OutputError, RecipeError, StoreError, UsageError
from neardup.index import Document, Index, rocks_folder
from tests.corpus import WORDS

SMALL = 64 << 10
"""A buffer that is full after some hundred documents: tables are written and merged all the time."""


def text_of(number: int, length: int = 40) -> str:
    """Texts that have nothing to do with each other."""
    return " ".join(random.Random(number).choices(WORDS, k=length))


def some(first: int, last: int) -> list[Document]:
    return [Document(f"d{i}", text_of(i)) for i in range(first, last)]


def whole(index: Index, documents: list[Document]) -> bool:
    """Whether these are there: by id, and by what they say."""
    found = index.get_many([d.id for d in documents])
    verdicts = index.check_many(documents)
    return all(s is not None and s.text == d.text for s, d in zip(found, documents, strict=True)) and all(
        v.match is not None and v.match.id == d.id for v, d in zip(verdicts, documents, strict=True)
    )


# The nursery.


def tell(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def nursery() -> None:
    """Read jobs, one JSON array a line, and fork for each; a child says who it is, and how it ended is said here."""
    import pyarrow as pa

    from neardup.recipes import load_recipe
    from neardup.text.batches import text_batch

    load_recipe("stream").sketcher.sketch(text_batch(pa.array([b"compiled before the fork"], pa.large_binary())))
    tell("ready")
    for line in sys.stdin:
        job, *arguments = json.loads(line)
        child = os.fork()
        if child == 0:
            tell(str(os.getpid()))
            try:
                JOBS[job](*arguments)
            except BaseException as error:
                tell(f"raised {type(error).__name__}: {error}")
            os._exit(0)
        os.waitpid(child, 0)
        tell("ended")


class Nursery:
    """Of this side of the pipes."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from tests.index.test_faults import nursery; nursery()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        assert self.line() == "ready"

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def start(self, job: str, *arguments: Any) -> int:
        """The child's process id."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([job, *arguments]) + "\n")
        self.process.stdin.flush()
        return int(self.line())

    def rest(self) -> list[str]:
        """What a child says until it ends."""
        lines = []
        while (line := self.line()) != "ended":
            assert self.process.poll() is None
            lines.append(line)
        return lines

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)


@pytest.fixture(scope="module")
def children() -> Iterator[Nursery]:
    started = Nursery()
    yield started
    started.close()


# Kills.

TEXTS = [text_of(10_000 + i) for i in range(50)]
IDS = [f"id {i}" for i in range(30)]
State = dict[str, int]
"""Id → which of the texts."""


class Operation(NamedTuple):
    """A call: documents as (id, text) or, to remove them, ids."""

    method: str
    documents: list[tuple[str, int]]

    def run(self, index: Index) -> None:
        given = [Document(id, TEXTS[text]) for id, text in self.documents]
        try:
            if self.method == "compact":
                index.compact()
            elif self.method == "remove_many":
                index.remove_many([d.id for d in given])
            elif len(given) == 1 and self.method != "remove_many":
                getattr(index, self.method.removesuffix("_many"))(given[0].id, given[0].text)
            else:
                getattr(index, self.method)(given)
        except UsageError:
            assert self.method == "add_many"

    def applied(self, before: State) -> State:
        """What is there afterwards."""
        after = dict(before)
        for id, text in self.documents:
            if self.method == "remove_many":
                after.pop(id, None)
            elif self.method == "add_many" and after.get(id, text) != text:
                return before
            elif self.method != "check_and_add_many" or text not in after.values():
                after[id] = text
        return before if self.method == "compact" else after


def operations(seed: int) -> Iterator[Operation]:
    """Without end, and always the same ones."""
    rng = random.Random(seed)
    methods = ["add_many", "check_and_add_many", "check_and_add_many", "update_many", "remove_many"]
    while True:
        size = rng.choice([1, 1, 3, 10])
        method = "compact" if rng.random() < 0.02 else rng.choice(methods)
        yield Operation(method, [(rng.choice(IDS), rng.randrange(len(TEXTS))) for _ in range(size)])


def state_of(index: Index) -> State:
    """As found; what is said by id, by the number of documents, and by texts must agree."""
    found = {s.id: TEXTS.index(s.text) for s in index.get_many(IDS) if s is not None and s.text is not None}
    assert len(index) == len(found), f"{len(index)} documents are counted, {len(found)} are there"
    for text, verdict in enumerate(index.check_many([Document("", t) for t in TEXTS])):
        assert (verdict.match is not None) == (text in found.values()), f"text {text}: {verdict}"
        assert verdict.match is None or found[verdict.match.id] == text
    return found


def victim(path: str, seed: int, buffer: int) -> None:
    """Tells what it finds, then says of every call when it begins and when it has returned."""
    rocks_folder._BUFFER = buffer
    index = Index.open(path, "stream", keep="text")
    tell(json.dumps(state_of(index)))
    for operation in operations(seed):
        tell("begins")
        operation.run(index)
        tell("done")


def watched(children: Nursery, path: Path, seed: int, buffer: int, expected: list[State]) -> list[State]:
    """Let a victim work and kill it. `expected`: what it may find; the answer: what the next one may find."""
    rng = random.Random(seed)
    child = children.start("victim", str(path), seed, buffer)
    calls = rng.choice([None, 0, 1, 2, 5, 20, 40])  # None: while it opens the index
    lines: list[str] = []
    while calls is not None and lines.count("done") < calls:
        lines.append(children.line())
        assert not lines[-1].startswith("raised"), lines[-1]
    until = time.perf_counter() + rng.uniform(0, 0.08 if calls is None else 0.006)
    while time.perf_counter() < until:
        pass
    os.kill(child, signal.SIGKILL)
    lines += children.rest()
    assert not any(line.startswith("raised") for line in lines), lines
    if not lines:
        return expected
    found = json.loads(lines[0])
    assert found in expected, "what was acknowledged is there, and of the call in between all or nothing"
    state, todo = found, operations(seed)
    for _ in range(lines.count("done")):
        state = next(todo).applied(state)
    return [state, next(todo).applied(state)] if lines[-1] == "begins" else [state]


@pytest.mark.parametrize(("buffer", "stores"), [(SMALL, 5), (64 << 20, 15)])
def test_a_kill_loses_nothing_that_was_acknowledged(buffer, stores, children, tmp_path):
    for store in range(stores):
        expected: list[State] = [{}]
        for kill in range(10):
            expected = watched(children, tmp_path / f"{store}.ndx", 100 * store + kill + buffer, buffer, expected)
        with Index.open(tmp_path / f"{store}.ndx", "stream", keep="text") as index:
            assert state_of(index) in expected
            assert len(index) > 0


# Folders that are cut, copied, or not what they say.


def written(path: str, buffer: int, closed: bool) -> None:
    """Documents in batches, some of them replaced."""
    rocks_folder._BUFFER = buffer
    index = Index.open(path, "stream", keep="text")
    documents = some(0, 240)
    for start in range(0, 240, 20):
        index.add_many(documents[start : start + 20])
        index.update_many([documents[start]])
    if closed:
        index.close()
    os._exit(0)


@pytest.fixture(scope="module", params=[(SMALL, False), (64 << 20, False), (64 << 20, True)])
def folder(request: pytest.FixtureRequest, children: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As a process leaves it: with many tables, all of it in one log, or closed."""
    path = tmp_path_factory.mktemp("left") / "seen.ndx"
    children.start("written", str(path), *request.param)
    assert children.rest() == []
    return path


def cut(file: Path, rng: random.Random) -> None:
    os.truncate(file, rng.randrange(max(1, file.stat().st_size)))


def flip(file: Path, rng: random.Random) -> None:
    content = bytearray(file.read_bytes())
    if content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        file.write_bytes(content)


def delete(file: Path, rng: random.Random) -> None:
    file.unlink()


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("damage", [cut, flip, delete])
def test_damage_is_refused_or_does_no_harm(damage, read_only, folder, tmp_path):
    """One file after the other; of tables and logs, of which there may be many, some. A block that was changed may be
    found when it is read."""
    rng = random.Random(f"{damage} {read_only}")
    files = sorted(f.name for f in folder.iterdir())
    numbered = [name for name in files if name.endswith((".sst", ".log"))]
    chosen = set(files) - set(numbered) | set(rng.sample(numbered, min(8, len(numbered))))
    refused = 0
    for name in sorted(chosen):
        copy = tmp_path / f"{name}.ndx"
        shutil.copytree(folder, copy)
        damage(copy / name, rng)
        try:
            with Index.open(copy, create=False, read_only=read_only) as index:
                assert len(index) == 240
                assert whole(index, some(0, 240)), f"{name}: something is missing, and nobody says so"
        except StoreError:
            refused += 1
        shutil.rmtree(copy)
    assert refused >= 2


def test_a_damaged_table_does_not_look_like_a_short_one(tmp_path):
    """To those who read all of it: what goes on without the rest would drop it for good."""
    path = tmp_path / "seen.ndx"
    with Index.open(path, "stream", keep="text") as index:
        index.add_many(some(0, 2000))
        index.remove("d0")
        index.compact()
        index.remove("d1")
        sizes = {sum(1 for _ in index.store.rows()), sum(1 for _ in index.store.postings())}
    noticed = set()
    for table in sorted(path.glob("*.sst")):
        copy = tmp_path / f"{table.stem}.ndx"
        shutil.copytree(path, copy)
        content = bytearray(table.read_bytes())
        content[len(content) // 2] ^= 1
        (copy / table.name).write_bytes(content)
        try:
            with Index.open(copy) as index:
                for what in (lambda: list(index.store.rows(texts=True)), lambda: list(index.store.postings())):
                    try:
                        assert len(what()) in sizes
                    except StoreError:
                        noticed.add(table)
                with pytest.raises(StoreError, match="damaged"):
                    index.compact()
                noticed.add(table)
        except StoreError:
            noticed.add(table)
    assert len(noticed) >= 4


def test_a_copy_that_was_made_while_a_process_wrote_is_whole_or_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(rocks_folder, "_BUFFER", SMALL)
    source, rng = tmp_path / "seen.ndx", random.Random(4)
    acknowledged, stop = count(), threading.Event()
    written = 0
    with Index.open(source, "stream", keep="text") as index:

        def write() -> None:
            nonlocal written
            for i in acknowledged:
                index.add_many(some(5 * i, 5 * i + 5))
                written = 5 * i + 5
                if stop.is_set():
                    return

        writer = threading.Thread(target=write)
        writer.start()
        for attempt in range(12):
            before, copy = written, tmp_path / f"{attempt}.ndx"
            copy.mkdir()
            for name in rng.sample(names := sorted(os.listdir(source)), len(names)):
                try:
                    shutil.copy(source / name, copy / name)
                except FileNotFoundError:
                    continue
            _opened_whole(copy, before)
        stop.set()
        writer.join()


def _opened_whole(path: Path, documents: int) -> None:
    try:
        with Index.open(path, create=False) as index:
            assert whole(index, some(0, documents)), "something is missing, and nobody says so"
    except StoreError:  # refused: fine as well
        return


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda told: told | {"format": 99}, "format 99"),
        (lambda told: told | {"recipe_id": "0" * 16}, "made by recipe 0000000000000000"),
        (lambda told: told | {"keep": "everything"}, "everything"),
        (lambda told: told | {"recipe": told["recipe"] | {"verify": {"method": "guess"}}}, "guess"),
        (lambda told: {"format": told["format"]}, "recipe"),
        (lambda told: [told], "cannot be read"),
    ],
)
def test_an_index_of_another_kind_is_refused(change, problem, tmp_path):
    """By who opens it with no idea of what is in there."""
    path = tmp_path / "seen.ndx"
    with Index.open(path) as index:
        index.add("a", "some words")
    settings = json.loads((path / "index.json").read_text())
    (path / "index.json").write_text(json.dumps(change(settings)))
    for read_only in (False, True):
        with pytest.raises(StoreError, match=problem):
            Index.open(path, read_only=read_only)
    (path / "index.json").write_text(json.dumps(settings))
    with Index.open(path) as index:
        assert "a" in index


def test_another_recipe_or_another_way_to_keep_is_refused(tmp_path):
    path = tmp_path / "seen.ndx"
    Index.open(path, "stream").close()
    for wanted in ({"recipe": "default"}, {"keep": "text"}, {"recipe": "stream", "keep": "text"}):
        with pytest.raises(RecipeError, match=r"seen\.ndx: this index"):
            Index.open(path, **wanted)
    Index.open(path, "stream", keep="sketch").close()


def test_a_folder_that_is_no_index_is_left_alone(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/file").write_text("mine")
    for name in ("file", "folder"):
        with pytest.raises(NeardupError, match=name):
            Index.open(tmp_path / name)
    for options in ({"create": False}, {"read_only": True}):
        with pytest.raises(StoreError, match="there is no index"):
            Index.open(tmp_path / "nothing", **options)
    assert sorted(str(f.relative_to(tmp_path)) for f in tmp_path.rglob("*")) == ["file", "folder", "folder/file"]


# Two processes.


def holding(path: str) -> None:
    index = Index.open(path, "stream")
    index.add("a", "some words that are there")
    tell("open")
    signal.pause()


def test_a_second_writer_is_told_who_writes_and_readers_are_let_in(children, tmp_path):
    path = tmp_path / "seen.ndx"
    child = children.start("holding", str(path))
    assert children.line() == "open"
    with pytest.raises(StoreError, match=f"process {child} is writing"):
        Index.open(path)
    with Index.open(path, read_only=True) as one, Index.open(path, read_only=True) as other:
        assert "a" in one
        assert other.check("some words that are there").match is not None
    os.kill(child, signal.SIGKILL)
    children.rest()
    with Index.open(path) as index:
        assert "a" in index
        with pytest.raises(StoreError, match=f"process {os.getpid()} is writing"):
            Index.open(path)


def reading(path: str, last: int) -> None:
    """Look again and again until the last document is there: what was seen once stays, and counts only grow."""
    rocks_folder._BUFFER = SMALL
    seen = looks = 0
    with Index.open(path, read_only=True) as index:
        while seen < last:
            index.refresh()
            now = len(index)
            assert now >= seen, f"{now} documents after {seen}"
            assert whole(index, some(max(0, now - 20), now)), f"of {now} documents some are not found"
            seen, looks = now, looks + 1
    tell(f"looked {looks} times")


def test_readers_see_no_less_and_no_error_while_somebody_writes(children, tmp_path, monkeypatch):
    """A thread of the same process, and another process. Tables are written and merged meanwhile."""
    monkeypatch.setattr(rocks_folder, "_BUFFER", SMALL)
    path, total = tmp_path / "seen.ndx", 1500
    problems: list[BaseException] = []
    with Index.open(path, "stream", keep="text") as index:
        children.start("reading", str(path), total)

        def look() -> None:
            seen = 0
            try:
                while seen < total:
                    now = len(index)
                    assert now >= seen
                    assert whole(index, some(max(0, now - 20), now))
                    seen = now
            except BaseException as problem:
                problems.append(problem)

        reader = threading.Thread(target=look)
        reader.start()
        rng, at = random.Random(2), 0
        while at < total:
            size = min(rng.choice([1, 5, 30]), total - at)
            assert all(v.added for v in index.check_and_add_many(some(at, at + size)))
            at += size
            if rng.random() < 0.05:
                index.compact()
        reader.join()
        told = children.rest()
    assert not problems, problems
    assert len(told) == 1
    assert told[0].startswith("looked")


def test_a_document_that_is_replaced_is_never_gone(tmp_path):
    """For threads that ask for it meanwhile, by its id or by its text."""
    words = [f"w{i}" for i in range(100)]
    with Index.open(tmp_path / "seen.ndx", "default", keep="text") as index:
        index.add("a", " ".join(words))
        stop, looks, gone = threading.Event(), [], []

        def look() -> None:
            while not stop.is_set():
                stored, verdict = index.get("a"), index.check(" ".join(words))
                looks.append(verdict)
                if stored is None or stored.text is None or "a" not in index or verdict.new:
                    gone.append((stored, verdict))

        readers = [threading.Thread(target=look) for _ in range(2)]
        for reader in readers:
            reader.start()
        for i in range(5000):
            index.update("a", " ".join([*words, f"version {i}"]))
            if len(looks) >= 100:
                break
        stop.set()
        for reader in readers:
            reader.join()
        assert len(looks) >= 100
        assert not gone, f"{len(gone)} times"


# Full disks.


def fill(index: Index, size: int, most: int) -> tuple[list[Document], Document, OutputError]:
    """Add until that is refused: what was acknowledged, and what was not."""
    acknowledged: list[Document] = []
    for i in range(most):
        document = Document(f"d{i}", text_of(i, size))
        try:
            index.add_many([document])
        except OutputError as error:
            return acknowledged, document, error
        acknowledged.append(document)
    raise AssertionError("the disk is larger than that")


def sound_after_filling(path: Path, make_room: Any) -> None:
    """The law of full disks; what `make_room` does ends it."""
    with Index.open(path, "stream", keep="text") as index:
        acknowledged, refused, error = fill(index, 10_000, 1000)
        assert "not acknowledged" in str(error)
        assert len(acknowledged) >= 10
        assert whole(index, acknowledged)
        for _ in range(3):
            with pytest.raises(OutputError):
                index.add_many([Document("more", (text_of(99_999, 2000) + " ") * 600)])
        assert whole(index, acknowledged)
        make_room()
        index.update_many([refused])
        assert whole(index, [*acknowledged, refused])
        assert len(index) == len(acknowledged) + 1
    with Index.open(path) as index:
        assert whole(index, [*acknowledged, refused])
        assert len(index) == len(acknowledged) + 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """40 MB of memory as a disk. Where that is not permitted the limit of files has to do."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "none", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"mounting is not permitted: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("buffer", [1 << 20, 64 << 20])
def test_a_full_disk_loses_nothing_and_room_is_enough_to_go_on(buffer, small_disk, monkeypatch):
    monkeypatch.setattr(rocks_folder, "_BUFFER", buffer)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(22 << 20))
    sound_after_filling(small_disk / "seen.ndx", ballast.unlink)


def limited(path: str) -> None:
    """No file may have more than 3 MB, for a time."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, hard))
    sound_after_filling(Path(path), lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard)))
    tell("sound")


def test_a_limit_of_file_sizes_is_like_a_full_disk(children, tmp_path):
    children.start("limited", str(tmp_path / "seen.ndx"))
    assert children.rest() == ["sound"]


# What nobody would write.


def template(i: int) -> str:
    """Two of them resemble each other by 0.68: their sketches share keys, and they are not near-duplicates."""
    own = random.Random(i).choices(range(50_000), k=20)
    return " ".join([*(f"t{j}" for j in range(90)), *(f"w{j}" for j in own)])


KINDS = {
    "equal": (lambda i: "the same words in all of them, from the first one to the last one", 1),
    "different": (text_of, 10_000),
    "empty": (lambda i: "", 10_000),
    "template": (template, None),
}


@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_documents_cost_twice_five_thousand(kind, tmp_path):
    """Were every document compared with all others, the second half would cost three times the first."""
    make, kept = KINDS[kind]
    costs = []
    with Index.open(tmp_path / "seen.ndx", "stream") as index:
        for half in (0, 1):
            documents = [Document(f"{i}", make(i)) for i in range(5000 * half, 5000 * half + 5000)]
            start = time.process_time()
            for at in range(0, 5000, 1000):
                index.check_and_add_many(documents[at : at + 1000])
            costs.append(time.process_time() - start)
        assert len(index) == kept or (kept is None and len(index) > 5000)
    assert costs[1] < 2.2 * costs[0] + 0.2, costs


def test_many_versions_of_a_document_in_one_batch(tmp_path):
    """Each takes the place of the one before. Judging the rest of the batch anew every time would cost the square."""
    costs = []
    for versions in (200, 600):
        with Index.open(tmp_path / f"{versions}.ndx", "stream") as index:
            batch = [Document("a", text_of(i % 2)) for i in range(versions)]
            start = time.process_time()
            verdicts = index.check_and_add_many(batch)
            costs.append(time.process_time() - start)
            assert all(v.added for v in verdicts)
            assert len(index) == 1
            assert index.check(text_of(1)).match is not None
            assert index.check(text_of(0)).match is None
    assert costs[1] < 5 * costs[0] + 0.2, costs


def test_a_document_of_64_megabytes(tmp_path):
    large = (text_of(1, 10_000) + " ") * (64 * 2**20 // len(text_of(1, 10_000)))
    with Index.open(tmp_path / "seen.ndx", "stream", keep="text") as index:
        assert index.check_and_add("large", large).added
        assert index.check_and_add("again", large + "more").match.id == "large"
        assert index.get("large").text == large


def test_ids_that_are_too_long_are_refused_and_nothing_is_stored(tmp_path):
    with Index.open(tmp_path / "seen.ndx") as index:
        for id in ("x" * 65_536, "ü" * 32_768):
            with pytest.raises(UsageError, match="65,535"):
                index.add_many([Document("fine", "some words"), Document(id, "other words")])
            with pytest.raises(UsageError, match="65,535"):
                index.check_and_add(id, "other words")
            assert id not in index
            assert not index.remove(id)
        assert len(index) == 0
        assert "fine" not in index


@pytest.mark.parametrize(
    ("documents", "problem"),
    [
        ([{"id": "a", "text": "x", "html": "<p>x"}], "text and html"),
        ([{"id": "a", "text": 7}], "int"),
        (["a"], "document 0 is str"),
        ({"id": "a", "text": "x"}, "list"),
        (Document("a", "x"), "list"),
    ],
)
def test_what_is_no_document_is_refused(documents, problem, tmp_path):
    with Index.open(tmp_path / "seen.ndx") as index:
        for method in (index.add_many, index.check_many, index.check_and_add_many, index.update_many):
            with pytest.raises(UsageError, match=problem):
                method(documents)
        assert len(index) == 0


JOBS = {"victim": victim, "written": written, "holding": holding, "reading": reading, "limited": limited}
