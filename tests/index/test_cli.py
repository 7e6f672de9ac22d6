"""neardup index …, as people and pipes use it."""

import contextlib
import gzip
import io
import json
import os
import random
import re
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile

import pyarrow.parquet as pq
import pytest

import neardup
from neardup import sample
from neardup.cli import main
from neardup.cli.index.place import take_back
from neardup.index import Index
from tests.index.test_crowds import crowd

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "neardup", "index"]
WORDS = [f"word{i}" for i in range(5000)]


def text(seed: int, words: int = 60) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def line(id: str, text: str, **more: object) -> str:
    return json.dumps({"id": id, "text": text, **more}) + "\n"


def distinct(number: int, words: int = 60) -> bytes:
    return "".join(line(f"d{i}", text(i, words)) for i in range(number)).encode()


def ids(output: bytes | str) -> list[str]:
    """Of the whole lines."""
    lines = output.splitlines(keepends=True)
    ends = b"\n" if isinstance(output, bytes) else "\n"
    return [json.loads(each)["id"] for each in lines if each.endswith(ends)]


class Done:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def here(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """The command in this process: the same as in one of its own, a second faster."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))

    def run(*arguments: object, stdin: str = "", group: tuple[str, ...] = ("index",)) -> Done:
        capfd.readouterr()
        with TemporaryFile("w+") as typed:
            typed.write(stdin)
            typed.seek(0)
            monkeypatch.setattr(sys, "stdin", typed)
            with pytest.raises(SystemExit) as ended:
                main([*group, *map(str, arguments)])
        told = capfd.readouterr()
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, told.out, told.err)

    return run


def started(*arguments: object, **options: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    sample.write(folder, scale=0.3)
    return folder


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    return tmp_path / "seen.ndx"


# Pipes.


def test_in_a_pipe_new_lines_are_passed_on_byte_for_byte(seen, tmp_path):
    first, other = text(1), text(2)
    odd = f'  {{"text": "{first}",\t"more": [1,  2.50], "id" : "a"}} \r\n'.encode()
    lines = [odd, line("b", first.upper() + "!").encode(), b"\n", line("c", other).encode().rstrip(b"\n")]
    (tmp_path / "in").write_bytes(b"".join(lines))
    chain = f"cat in | {sys.executable} -m neardup index filter seen.ndx | tee out | wc -l"
    done = subprocess.run(["sh", "-c", chain], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out").read_bytes() == odd + lines[3] + b"\n"
    assert done.stdout.strip() == "2"
    assert "seen.ndx: there was no index; one is made, by recipe stream" in done.stderr
    assert "3 documents: 2 passed on, 0 near-duplicates, 1 identical" in done.stderr
    with Index.open(seen, create=False) as index:
        assert index.contains_many(["a", "b", "c"]) == [True, False, True]


def test_a_kill_loses_no_document(seen):
    given = distinct(2000, words=30)
    every = {f"d{i}" for i in range(2000)}
    passed: set[str] = set()
    for lines_until_kill in (1, 1100):
        with started("filter", seen, "-q", stderr=None) as process:
            assert process.stdin
            assert process.stdout
            feeding = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=process.stdin)
            process.stdin.close()
            assert feeding.stdin
            os.set_blocking(feeding.stdin.fileno(), False)
            rest, output = memoryview(given), b""
            while output.count(b"\n") < lines_until_kill:
                writing = [feeding.stdin] if rest else []
                readable, writable, _ = select.select([process.stdout], writing, [], 30)
                assert readable or writable
                if writable:
                    rest = rest[os.write(feeding.stdin.fileno(), rest[:4096]) :]
                if readable:
                    piece = os.read(process.stdout.fileno(), 1 << 16)
                    assert piece, "it ended"
                    output += piece
            process.kill()
            output += process.stdout.read()
            feeding.kill()
            feeding.wait()
            feeding.stdin.close()
        assert process.returncode == -signal.SIGKILL
        passed |= set(ids(output))
    done = subprocess.run([*COMMAND, "filter", seen, "-q"], input=given, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    again = ids(done.stdout)
    assert passed | set(again) == every
    assert len(again) < 2000  # what was remembered is not passed on again
    with Index.open(seen, create=False) as index:
        assert len(index) == 2000


def test_when_nobody_listens_it_ends_quietly_and_remembers_nothing_of_the_batch(seen, tmp_path):
    given = tmp_path / "given.jsonl"
    given.write_bytes(distinct(1000, words=100))  # one batch, more than a pipe holds
    with started("filter", seen, given) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        told = process.stderr.read().decode()
    assert process.returncode == 128 + signal.SIGPIPE
    assert "Error" not in told
    assert "passed on" not in told
    assert told.count("\n") == 2, "that an index is made, and which fields are guessed"
    assert not seen.exists()


def test_a_line_is_answered_before_the_next_one_is_there(seen):
    with started("filter", seen, "-q") as process:
        assert process.stdin
        assert process.stdout

        def ask(*lines: str) -> None:
            process.stdin.write("".join(lines).encode())
            process.stdin.flush()

        def answer() -> bytes:
            assert select.select([process.stdout], [], [], 60)[0], "nothing is answered while the pipe is open"
            return os.read(process.stdout.fileno(), 1 << 16)

        ask(line("a", text(1)))
        assert ids(answer()) == ["a"]
        ask(line("copy", text(1)), line("b", text(2)))
        assert ids(answer()) == ["b"]
        half = line("c", text(3))
        ask(half[:40])
        ask(half[40:])
        assert ids(answer()) == ["c"]
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == b""
        assert process.stderr
        assert b"Interrupted." in process.stderr.read()
    assert process.returncode == 130
    with Index.open(seen, create=False) as index:
        assert index.contains_many(["a", "copy", "b", "c"]) == [True, False, True, True]


def test_half_a_line_at_the_end_of_a_file_stays_alone(seen, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_bytes(line("whole", text(1)).encode() + b'{"id": "hal')
    with out.open("ab") as file:
        done = subprocess.run(
            [*COMMAND, "filter", seen, "-q"], input=line("next", text(2)).encode(), stdout=file, timeout=120
        )
    assert done.returncode == 0
    assert [each[:12] for each in out.read_bytes().splitlines()] == [b'{"id": "whol', b'{"id": "hal', b'{"id": "next']


def test_a_full_disk_is_told_and_nothing_is_remembered(seen):
    with Index.open(seen) as index:
        index.add("known", text(99))
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "filter", seen], input=distinct(3), stdout=full, stderr=subprocess.PIPE, timeout=120
        )
    assert done.returncode == 1
    assert b"standard output: cannot be written (No space left on device)" in done.stderr
    with Index.open(seen, create=False) as index:
        assert len(index) == 1


@pytest.mark.parametrize(("mode", "told"), [("w", True), ("a", False)])
def test_a_file_that_was_emptied_is_noticed(seen, tmp_path, here, monkeypatch, mode, told):
    given = tmp_path / "given.jsonl"
    given.write_bytes(distinct(3))
    words = f"{seen}: knows 3 documents already, and standard output is an empty file"
    assert "knows" not in here("filter", seen, given).err, "there was no index"
    for options in ((), ("-q",), ("--dry-run",)):
        with (tmp_path / "new.jsonl").open(mode) as out, monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", out)
            assert (words in here("filter", seen, given, *options).err) == (told and options == ())
    with (tmp_path / "new.jsonl").open("w") as out, monkeypatch.context() as patched:
        out.write("what was passed on before\n")
        out.flush()
        patched.setattr(sys, "stdout", out)
        assert "knows" not in here("filter", seen, given).err


def test_rejected_lines_stay_alone_and_a_full_device_is_named(seen, tmp_path, here):
    given, rejected = tmp_path / "given.jsonl", tmp_path / "rejected.jsonl"
    given.write_bytes(distinct(2))
    here("filter", seen, given, "-q")
    rejected.write_bytes(b'{"id": "hal')
    here("filter", seen, given, "-q", "--rejected", rejected)
    first, *others = rejected.read_bytes().splitlines()
    assert first == b'{"id": "hal'
    assert [json.loads(each)["id"] for each in others] == ["d0", "d1"]
    full = here("filter", seen, given, "-q", "--rejected", "/dev/full")
    assert full.code == 1
    assert full.err.startswith("neardup: --rejected /dev/full: cannot be written (No space left on device).")


@pytest.fixture
def disk(tmp_path):
    """A small file system, and what mounts it once more in another way."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(options: str) -> None:
        done = subprocess.run(["mount", "-o", options, "-t", "tmpfs", "none", place], capture_output=True)
        if done.returncode:
            pytest.skip(f"mounting is not permitted: {done.stderr.decode().strip()}")

    mount("size=8m")
    yield place, mount
    subprocess.run(["umount", "-l", place], check=True)


def test_what_cannot_be_written_to_is_told_as_such(disk, pages, tmp_path, here):
    place, mount = disk
    seen = place / "seen.ndx"
    here("create", seen, "-q")
    mount("remount,ro")
    commands = [
        ("index", "info", seen),
        ("index", "check", seen, pages / "pages.jsonl"),
        ("index", "filter", seen, pages / "pages.jsonl"),
        ("dedup", pages / "pages.jsonl", "-o", tmp_path / "out", "--against", seen),
        ("serve", seen, "--port", "0", "--read-only"),
    ]
    for command in commands:
        done = here(group=tuple(map(str, command)))
        assert (done.code, done.out) == (1, "")
        assert f"{seen}: the folder is on a read-only file system, and RocksDB" in done.err
        assert "damaged" not in done.err
    assert not (tmp_path / "out").exists()


def test_a_new_index_without_room_does_not_stay(disk, here):
    place, mount = disk
    codes = []
    for size in range(20, 400, 20):
        mount(f"remount,size={size}k")
        done = here("create", place / "seen.ndx")
        codes.append(done.code)
        if done.code == 0:
            break
        assert done.err.startswith(f"neardup: {place / 'seen.ndx'}: ")
        assert "No space left on device" in done.err
        assert list(place.iterdir()) == []
    assert codes[0] == 1
    assert codes[-1] == 0


# What filter passes on.


@pytest.mark.parametrize(("recipe", "keep"), [("stream", "sketch"), ("default", "text")])
def test_what_is_passed_on_is_what_dedup_keeps(pages, seen, tmp_path, here, recipe, keep):
    assert here("create", seen, "--recipe", recipe, "--keep", keep, "-q").code == 0
    done = here("filter", seen, pages / "pages.jsonl")
    assert done.code == 0, done.err
    kept = neardup.dedup(pages / "pages.jsonl", recipe=recipe).kept.column("id").to_pylist()
    assert ids(done.out) == kept
    assert 0 < len(kept) < len((pages / "pages.jsonl").read_bytes().splitlines())


def test_a_dry_run_passes_on_the_same_and_remembers_nothing(pages, seen, tmp_path, here):
    lines = (pages / "pages.jsonl").read_bytes().splitlines(keepends=True)
    half, whole = tmp_path / "half.jsonl", pages / "pages.jsonl"
    half.write_bytes(b"".join(lines[::2]))
    rejected = tmp_path / "rejected.jsonl"
    dry_and_new = here("filter", seen, half, "--dry-run", "-q")
    assert not seen.exists()
    assert here("filter", seen, half, "-q").out == dry_and_new.out != ""
    dry = here("filter", seen, whole, "--dry-run", "-q", "--rejected", rejected)
    refused = [json.loads(each) for each in rejected.read_text().splitlines()]
    wet = here("filter", seen, whole, "-q", "--rejected", rejected)
    assert dry.out == wet.out != ""
    told = [json.loads(each) for each in rejected.read_text().splitlines()]
    assert [r["document"] for r in told] == 2 * [r["document"] for r in refused]
    assert len(refused) + len(dry.out.splitlines()) == len(lines)
    first = refused[0]
    assert first["document"] == json.loads(lines[first["line"] - 1])
    assert first["status"] == "duplicate"
    assert first["match"]["id"]


def test_a_dry_run_passes_on_what_was_like_a_replaced_document(seen, tmp_path, here):
    old, new = text(1), text(2)
    first, given = tmp_path / "first.jsonl", tmp_path / "given.jsonl"
    first.write_text(line("a", old))
    given.write_text(line("a", new) + line("q", old) + line("r", new))
    here("filter", seen, first, "-q")
    dry = here("filter", seen, given, "-q", "--dry-run")
    assert ids(dry.out) == ["a", "q"]
    assert here("filter", seen, given, "-q").out == dry.out


def test_lines_that_are_no_documents(seen, tmp_path, here):
    broken = [line("a", text(1)), "no JSON\n", '{"id": "b"}\n', '{"id": "c", "text": 7}\n', "[1]\n", line("d", text(2))]
    given = tmp_path / "given.jsonl"
    given.write_text("".join(broken))
    stopped = here("filter", seen, given)
    assert stopped.code == 1
    assert stopped.out == broken[0]  # what came before it is passed on
    assert "given.jsonl:2: not JSON" in stopped.err
    assert "--on-error skip" in stopped.err
    skipped = here("filter", seen, given, "--on-error", "skip")
    assert (skipped.code, skipped.out) == (0, broken[5])
    assert "4 that cannot be read, left out" in skipped.err
    passed = here("filter", seen, given, "--on-error", "pass")
    assert (passed.code, passed.out) == (0, "".join(broken[1:5]))
    assert "4 that cannot be read, passed on" in passed.err
    too_long = here("filter", seen, given, "--on-error", "pass", "--max-document-bytes", "20")
    assert (too_long.code, too_long.out) == (0, "".join(broken))


@pytest.mark.parametrize("end", ["", "\n"])
def test_what_is_passed_on_untouched_is_so_to_the_last_byte(seen, tmp_path, here, end):
    first = "\ufeff" + line("a", text(1)) + "\n \t\r\n" + line("b", text(2)).strip() + end
    second = "\ufeffno JSON \x00 \r\n" + line("copy", text(1)) + "\n\n" + "{half" + end
    paths = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    for path, content in zip(paths, (first, second), strict=True):
        path.write_bytes(content.encode())
    done = here("filter", seen, *paths, "--on-error", "pass")
    assert "3 documents: 2 passed on, 0 near-duplicates, 1 identical, 2 that cannot be read, passed on" in done.err
    glue = "" if end else "\n"  # else the last line of a file and the first of the next one would be one
    assert done.out.encode() == (first + glue + second.replace(line("copy", text(1)), "")).encode()
    assert here("filter", tmp_path / "other.ndx", "-q", "--on-error", "pass", stdin=second).out == second
    skipping = here("filter", tmp_path / "third.ndx", *paths, "--on-error", "skip", "-q")
    assert skipping.out == line("a", text(1)) + line("b", text(2))


def test_what_is_no_json_is_called_so(seen, tmp_path, here):
    garbage = tmp_path / "garbage.jsonl"
    garbage.write_bytes(random.Random(1).randbytes(3000) + b"\nwords\n")
    here("create", seen, "-q")
    for command in ("add", "check", "filter"):
        stopped = here(command, seen, garbage)
        assert stopped.code == 1
        assert "garbage.jsonl:1: not UTF-8: byte 0x" in stopped.err
        skipped = here(command, seen, garbage, "--on-error", "skip")
        assert skipped.code == 0
        assert "that cannot be read, left out" in skipped.err
        assert "empty" not in stopped.err + skipped.err
    garbage.write_text("words\n")
    for command in ("add", "check", "filter"):
        assert "garbage.jsonl:1: not JSON: " in here(command, seen, garbage).err
        assert "stdin:1: not JSON: " in here(command, seen, stdin="words").err
    assert "none of its first lines is a JSON object" in here("check", seen, garbage).err
    garbage.write_bytes(line("a", text(1)).encode("utf-16"))
    for command in ("add", "check", "filter"):
        assert "iconv -f UTF-16 -t UTF-8" in here(command, seen, garbage).err


def test_a_field_that_is_named_and_not_there_is_an_error(seen, tmp_path, here):
    given = tmp_path / "given.jsonl"
    given.write_text(line("a", text(1), url="http://h/a", more={}))
    here("create", seen, "-q")
    for command, *files in (("add", given), ("check", given), ("filter", given), ("add",), ("check",), ("filter",)):
        for field, wrong in (("text", "txet"), ("id", "ident"), ("url", "ulr")):
            done = here(command, seen, *files, f"--{field}-field", wrong, stdin=given.read_text())
            assert (done.code, done.out) in ((1, ""), (2, "")), (command, files, field)
            assert repr(wrong) in done.err
            assert all(repr(name) in done.err for name in ("id", "text", "url")), done.err
            if field == "url":
                assert "there is no column 'ulr' (--url-field). Did you mean 'url'?" in done.err
        lines = here(command, seen, *files, "--url-field", "url", "--format", "lines", stdin=given.read_text())
        assert lines.code == 2, (command, files)
        assert "'url'" in lines.err
    given.write_text(json.dumps({"id": "a", "text": text(1), "link": None}) + "\n")
    assert here("filter", seen, given, "--url-field", "link").code == 0, "it is there, and says nothing"
    assert here("filter", seen, given, "--url-field", "none").code == 0


@pytest.mark.parametrize("command", ["filter", "add", "check"])
def test_a_field_that_is_in_no_line_is_not_passed_over(seen, here, command):
    here("create", seen, "-q")
    lines = line("a", text(1)) + line("b", text(2))
    for named in (("--text-field", "nope"), ("--id-field", "nope")):
        for how in ("skip", "pass") if command == "filter" else ("skip",):
            done = here(command, seen, *named, "--on-error", how, stdin=lines + "no JSON\n")
            assert done.code == 1
            assert done.out == (lines + "no JSON\n" if how == "pass" else "")
            assert "none of 3 lines could be read. stdin:1: no " in done.err
            assert all(repr(name) in done.err for name in ("nope", "id", "text")), done.err
    guessed = here(command, seen, "--on-error", "skip", stdin='{"id": "a", "number": 1}\n')
    assert guessed.code == 1
    assert "the one line that came could not be read" in guessed.err
    some = here(command, seen, "--text-field", "body", "--on-error", "skip", stdin=lines + '{"id": 1, "body": "b"}\n')
    assert some.code == 0
    assert "2 that cannot be read, left out" in some.err


def test_lines_of_pages(seen, here):
    page = f"<html><title>Of roses</title><p>{text(1)}</html>\n"
    assert here("filter", seen, "--format", "lines", "--html", "-q", stdin=page).out == page
    told = here("check", seen, "-q", stdin=json.dumps({"text": text(1)}) + "\n").out
    assert json.loads(told)["match"]["similarity"] > 0.8


@pytest.mark.parametrize(
    ("given", "code"), [("no JSON\n", 1), ("", 0), ('{"id": "a"}\n', 1)], ids=["garbage", "nothing", "no text"]
)
def test_a_new_index_that_got_nothing_does_not_stay(seen, tmp_path, here, given, code):
    done = here("filter", seen, stdin=given)
    assert done.code == code
    assert f"{seen}: no document came to be remembered, so there is no index again." in done.err
    assert list(tmp_path.iterdir()) == []
    assert here("filter", seen, tmp_path / "nowhere.jsonl", "-q").code == 1
    assert list(tmp_path.iterdir()) == []
    here("create", seen, "-q")
    assert here("filter", seen, stdin=given).code == code
    assert seen.exists(), "somebody else made it"


@pytest.mark.parametrize("stays", [True, False])
def test_an_index_that_another_process_takes_over_is_not_taken_back(seen, stays):
    another = (
        "import sys, time; from neardup.index import Index; index = Index.open(sys.argv[1]); index.add('a', 'b c d');"
        "print(flush=True); sys.stdin.read()"
    )
    overtaking: list[subprocess.Popen[bytes]] = []

    class Overtaken(Index):
        def close(self) -> None:
            super().close()
            if not overtaking:
                overtaking.append(subprocess.Popen([sys.executable, "-c", another, seen], stdin=-1, stdout=-1))
                assert overtaking[0].stdout
                assert overtaking[0].stdout.readline() == b"\n"
                if not stays:
                    overtaking[0].communicate(timeout=60)

    with Overtaken.open(seen) as index:
        assert not take_back(str(seen), index)
    if stays:
        overtaking[0].communicate(timeout=60)
    with Index.open(seen, create=False) as index:
        assert "a" in index


def test_only_who_made_an_index_takes_it_back(seen, tmp_path):
    with Index.open(seen) as index:
        assert index.made
    with Index.open(seen) as index:
        assert not take_back(str(seen), index)
    assert seen.exists()
    with Index.open(tmp_path / "other.ndx") as index:
        assert take_back(str(tmp_path / "other.ndx"), index)
    assert list(tmp_path.iterdir()) == [seen]


def test_folders_are_not_made_for_an_index(tmp_path, here):
    path = tmp_path / "dta" / "crawl" / "seen.ndx"
    run = ("serve", path, "--port", "0")
    for command, stdin in ((("index", "create", path), ""), (("index", "filter", path), line("a", text(1))), (run, "")):
        done = here(stdin=stdin, group=tuple(map(str, command)))
        assert done.code == 1
        assert f"{path}: there is no folder {tmp_path / 'dta'}. Make it first, or mend the path." in done.err
    assert "there is no index" in here("add", path, stdin=line("a", text(1))).err
    assert list(tmp_path.iterdir()) == []


def test_one_is_one_document(seen, tmp_path, here):
    given, more, other = (tmp_path / name for name in ("given.jsonl", "more.jsonl", "other.jsonl"))
    given.write_text(line("a", text(1)))
    more.write_text(line("b", text(2)))
    other.write_text(line("a", text(3)))
    out = tmp_path / "out.parquet"
    here("create", seen, "-q")
    told = [
        here("add", seen, given),
        here("add", seen, given),
        here("add", seen, more, other),
        here("remove", seen, "b"),
        here("check", seen, given),
        here("filter", seen, given, "--dry-run"),
        here("info", seen),
        here("export", seen, "-o", out),
        here(given, group=("pairs",)),
    ]
    with Index.open(seen) as index:
        told.append(Done(0, repr(index), ""))
    told.append(here("remove", seen, "a"))
    for done in told:
        assert "1 document" in done.out + done.err or "documents  1\n" in done.out, (done.out, done.err)
        assert not re.search(r"\b1 documents|\b1 pairs|1 document are|1 have", done.out + done.err), (
            done.out,
            done.err,
        )


def test_a_document_without_words_is_told(seen, here):
    here("create", seen, "-q")
    first = here("add", seen, stdin=line("a", "…") + line("b", text(1)))
    alone = "1 has no words, and nothing is found similar to it"
    assert f"2 documents added, 0 were there already; {alone}; {seen} has 2 documents" in first.err
    updated = here("add", seen, "--update", stdin=line("a", "?") + line("b", "!"))
    together = "2 have no words, and nothing is found similar to them"
    assert f"0 documents added, 2 replaced; {together}; {seen} has 2 documents" in updated.err


@pytest.mark.parametrize("command", ["check", "add"])
def test_nothing_moves_while_somebody_types(seen, here, command):
    here("create", seen, "-q")
    ours, theirs = os.openpty()
    with started(command, seen, stdin=theirs, stderr=theirs) as process:
        os.close(theirs)
        told = _until(ours, b"Ctrl-D ends it.")
        os.write(ours, line("a", text(1)).encode() + b"\x04")
        told += _until(ours, b"/s")
    os.close(ours)
    assert process.returncode == 0
    assert b"\x1b" not in re.sub(rb"\x1b\[\d*m", b"", told), "but for the colours it is plain lines"


def _until(descriptor: int, words: bytes) -> bytes:
    told = b""
    while words not in told:
        assert select.select([descriptor], [], [], 60)[0], told
        told += os.read(descriptor, 1 << 16)
    return told


def test_without_an_id_the_content_is_the_name(seen, tmp_path, here):
    given = tmp_path / "given.jsonl"
    given.write_text("".join(json.dumps({"url": f"http://h/{i}", "text": text(i % 3)}) + "\n" for i in range(6)))
    done = here("filter", seen, given)
    assert len(done.out.splitlines()) == 3
    assert "no ids, so a text's SHA-256 is its id, or its address with --id-field url (guessed" in done.err
    assert "SHA-256 is its id (guessed" in here("check", seen, stdin=json.dumps({"text": text(1)}) + "\n").err
    [one] = here("check", seen, given, "-q").out.splitlines()[3:4]
    assert json.loads(one)["match"]["id"] == sha256(text(0).encode()).hexdigest()
    revisited = here("filter", tmp_path / "by_url.ndx", given, "--id-field", "url", "-q")
    assert revisited.out == done.out
    [one] = here("check", tmp_path / "by_url.ndx", given, "-q").out.splitlines()[5:]
    assert json.loads(one)["match"]["id"] == "http://h/2"


def test_a_line_without_an_id_among_others_is_named_by_its_text(seen, tmp_path, here):
    given, more = tmp_path / "given.jsonl", [json.dumps({"text": text(2)}), json.dumps({"id": None, "text": text(3)})]
    given.write_text(line("a", text(1)) + "\n".join(more) + "\n")
    done = here("filter", seen, given, "-q")
    assert (done.code, done.out) == (0, given.read_text())
    with Index.open(seen, create=False) as index:
        assert index.contains_many(["a", *(sha256(text(i).encode()).hexdigest() for i in (2, 3))]) == [True] * 3
    chosen = here("filter", tmp_path / "other.ndx", given, "--id-field", "id")
    assert chosen.code == 1
    assert "given.jsonl:2" in chosen.err


def test_what_comes_again_is_marked_among_the_rejected(seen, tmp_path, here):
    given, rejected = tmp_path / "given.jsonl", tmp_path / "rejected.jsonl"
    given.write_text(line("a", text(1)) + line("b", text(1)))
    here("filter", seen, given, "-q")
    here("filter", seen, given, "-q", "--rejected", rejected)
    told = [json.loads(each) for each in rejected.read_text().splitlines()]
    assert [(each["id"], each.get("again")) for each in told] == [("a", True), ("b", None)]
    before = given.read_text()
    refused = here("filter", seen, given, "--rejected", given)
    assert refused.code == 2
    assert given.read_text() == before


def test_pages_that_are_read_as_texts_are_noticed(seen, tmp_path, here):
    given = tmp_path / "given.jsonl"
    given.write_text(line("a", f"\n<!DOCTYPE html><html><p>{text(1)}</html>") + line("b", text(2)))
    for command in ("filter", "check"):
        assert here(command, seen, given).err.count("given.jsonl: the first text looks like a page") == 1
        assert "looks like" not in here(command, seen, given, "--no-html").err


def test_what_is_packed_is_not_read_as_lines(seen):
    packed = gzip.compress(distinct(3))
    done = subprocess.run([*COMMAND, "filter", seen], input=packed, capture_output=True, timeout=120)
    assert done.returncode == 1
    assert b"stdin: is gzip, and lines are read from it. Unpack it first: zcat" in done.stderr


def test_lines_of_text(seen, tmp_path, here):
    given = tmp_path / "given.txt"
    given.write_text(f"{text(1)}\n{text(2)}\r\n{text(1)}\n" + '{"no": "JSON"}\n')
    rejected = tmp_path / "rejected.jsonl"
    done = here("filter", seen, given, "--format", "lines", "-q", "--rejected", rejected)
    assert done.out.split("\n") == [text(1), text(2) + "\r", '{"no": "JSON"}', ""]
    assert json.loads(rejected.read_text())["document"] == text(1)


# The others.


def alike(promised: str, said: str) -> bool:
    """Tell whether a line is what a page shows: other ids, seeds and speeds, and numbers that depend on the seed."""

    def parts(line: str) -> list[str]:
        line = re.sub(r"\b[0-9a-f]{16}\b|\b\d{12,}\b| · [\d,]+ documents/s", "", line)
        return re.split(r"([\d,.]+)", line)

    shown, found = parts(promised), parts(said)
    if shown[::2] != found[::2]:
        return False
    numbers = zip(
        *([float(n.replace(",", "").rstrip(".") or 0) for n in each[1::2]] for each in (shown, found)), strict=True
    )
    return all(abs(a - b) <= 0.1 * max(a, b) for a, b in numbers)


def test_what_the_page_shows_is_what_happens(tmp_path, here, monkeypatch):
    page = (ROOT / "docs/index.md").read_text()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    shown = [each for block in re.findall(r"```console\n(.*?)```", page, re.S) for each in block.split("$ ")[1:]]
    assert len(shown) > 10
    for command, *promised in (each.splitlines() for each in shown):
        if "|" in command:
            piped = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
            done = Done(piped.returncode, piped.stdout, piped.stderr)
        else:
            done = here(*shlex.split(command)[1:], group=())
        assert done.code == 0, (command, done.err)
        for each in promised:
            said = (done.out + done.err).splitlines()
            assert any(alike(each, line) for line in said), (command, each, done.out, done.err)
    [code] = re.findall(r"```python\n(.*?)```", page, re.S)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "docs/index.md", "exec"), {})
    assert printed.getvalue() == code.rpartition("# ")[2]


def test_the_example_remembers_pages(pages, seen):
    example = [sys.executable, ROOT / "examples/crawl_with_memory.py", seen, pages / "html"]
    done = subprocess.run(example, capture_output=True, text=True, timeout=120)
    assert re.search(r"is like .* \(0\.\d\d ± 0\.0\d\)\n", done.stdout), done.stderr
    assert re.search(r"\d+ pages remembered: \{'new': \d+, ", done.stdout)


@pytest.mark.parametrize("kind", ["pages.jsonl", "pages.parquet", "html", "pages.warc.gz"])
def test_every_format_goes_in_and_is_found_again(pages, seen, here, kind):
    here("create", seen, "-q")
    added = here("add", seen, pages / kind)
    assert added.code == 0, added.err
    with Index.open(seen, create=False) as index:
        number = len(index)
    words = "6 have no words, and nothing is found similar to them"
    assert f"{number:,} documents added, 0 were there already; {words}; {seen} has {number:,} documents" in added.err
    assert f"0 documents added, {number:,} were there already" in here("add", seen, pages / kind).err
    verdicts = [json.loads(each) for each in here("check", seen, pages / kind, "-q").out.splitlines()]
    assert len(verdicts) == number
    assert {v["status"] for v in verdicts} <= {"duplicate", "empty"}
    assert all(v["match"]["relation"] == "identical" for v in verdicts if v["status"] == "duplicate")


def test_an_index_of_a_run_needs_no_text(pages, seen, tmp_path, here):
    result = neardup.dedup(pages / "pages.jsonl", recipe="stream", work=tmp_path / "out" / "work")
    result.write(tmp_path / "out", corpus=False)
    kept = len(result.kept)
    made = here("create", seen, "--run", tmp_path / "out")
    assert made.code == 0, made.err
    assert f"{kept:,} documents. threshold 0.8" in made.err
    again = here("add", seen, "--run", tmp_path / "out")
    assert f"0 documents added, {kept:,} were there already; {seen} has {kept:,} documents" in again.err
    fresh = tmp_path / "fresh.ndx"
    refused = here("create", fresh, "--run", tmp_path / "out", "--recipe", "default")
    assert refused.code == 2
    assert "Leave out --recipe" in refused.err
    assert not fresh.exists()


def test_what_was_there_is_counted_wherever_it_came_from(pages, seen, tmp_path, here):
    out, exported, more = tmp_path / "out", tmp_path / "exported.parquet", tmp_path / "more.jsonl"
    result = neardup.dedup(pages / "pages.jsonl", recipe="stream", work=out / "work")
    result.write(out, corpus=False)
    kept, every = len(result.kept), result.counts["documents"]
    more.write_text(line("new", text(1)) * 2)
    here("create", seen, "-q")
    told = [
        (("--run", out), f"{kept:,} documents added, 0 were", kept),
        (("--run", out), f"0 documents added, {kept:,} were", kept),
        ((pages / "pages.jsonl", "--run", out), f"{every - kept:,} documents added, {2 * kept:,} were", every),
        ((more,), "1 document added, 1 was", every + 1),
        ((more, "--update"), "0 documents added, 2 replaced", every + 1),
    ]
    for arguments, words, now in told:
        done = here("add", seen, *arguments)
        assert words in done.err, done.err
        assert f"{seen} has {now:,} documents" in done.err
    here("export", seen, "-o", exported)
    all_of_it = (more, "--run", out, "--export", exported)
    assert f"0 documents added, {every + 1 + kept + 2:,} were there" in here("add", seen, *all_of_it).err
    for command in (("index", "info"), ("index", "filter"), ("serve", "--port", "0")):
        done = here(out, group=command)
        assert done.code == 1
        assert f"{out}: is a run, and no index. Make one of it: neardup index create INDEX --run {out}" in done.err


@pytest.mark.parametrize(("recipe", "told"), [("stream", True), ("default", False), ("web", False), ("alg-c", True)])
def test_texts_that_no_verdict_uses_are_noticed(seen, here, recipe, told):
    words = "--keep text: texts are kept, and verdicts do not use them"
    assert (words in here("create", seen, "--recipe", recipe, "--keep", "text").err) == told
    with Index.open(seen, create=False) as index:
        assert index.exact != told


def test_pages_of_a_run_are_known_to_the_next_run(pages, seen, tmp_path, here):
    html = sorted((pages / "html").rglob("*.html"))
    parts = tmp_path / "first", tmp_path / "second"
    for place, page in enumerate(html):
        target = parts[place % 2] / page.relative_to(pages / "html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(page.read_bytes())
    (parts[1] / "copy.html").write_bytes((parts[0] / html[0].relative_to(pages / "html")).read_bytes())
    first = here(parts[0], "-o", tmp_path / "one", "--recipe", "web", "--no-report", "-q", group=("dedup",))
    assert first.code == 0, first.err
    made = here("create", seen, "--run", tmp_path / "one")
    assert made.code == 0, made.err
    assert "recipe web" in made.err
    second = here(parts[1], "-o", tmp_path / "two", "--against", seen, "--no-report", "--json", "-q", group=("dedup",))
    assert second.code == 0, second.err
    counts = json.loads(second.out)["counts"]
    assert counts["removed_against_index"] > 1
    assert counts["removed_by_relation"]["identical"] >= 1
    kept = list((tmp_path / "two" / "kept").rglob("*.html"))
    assert "copy.html" not in {path.name for path in kept}
    assert 0 < len(kept) == counts["kept"]


def test_another_text_under_an_id_is_refused_or_replaced(seen, tmp_path, here):
    given, other = tmp_path / "given.jsonl", tmp_path / "other.jsonl"
    given.write_bytes(distinct(3))
    other.write_text(line("d0", text(99)))
    here("create", seen, "-q")
    here("add", seen, given, "-q")
    refused = here("add", seen, other)
    assert refused.code == 2
    assert "'d0' is stored with another text" in refused.err
    assert "--update" in refused.err
    assert "Use update" not in refused.err
    replaced = here("add", seen, other, "--update")
    assert "0 documents added, 1 replaced" in replaced.err
    [verdict] = here("check", seen, other, "-q").out.splitlines()
    assert json.loads(verdict)["match"]["relation"] == "identical"


def test_references_lead_to_files_from_everywhere(seen, tmp_path, here, monkeypatch):
    folder, elsewhere = tmp_path / "texts", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "one.txt").write_text(text(1, 200))
    (elsewhere / "more.jsonl").write_text(line("two", text(1, 200) + " and more"))
    monkeypatch.chdir(tmp_path)
    here("create", seen, "--recipe", "default", "--keep", "reference", "-q")
    added = here("add", seen, "texts")
    assert "1 document added" in added.err
    monkeypatch.chdir(elsewhere)
    [told] = here("check", seen, "more.jsonl", "-q").out.splitlines()
    assert json.loads(told)["match"]["measured"] == "exact"
    refused = here("add", seen, "more.jsonl")
    assert refused.code == 2
    assert "no reference is given" in refused.err
    assert "--update" not in refused.err


def test_what_is_removed_is_new_again(seen, tmp_path, here):
    given = tmp_path / "given.jsonl"
    given.write_bytes(distinct(5))
    here("create", seen, "-q")
    here("add", seen, given, "-q")
    gone = here("remove", seen, "d0", "nobody")
    assert gone.code == 0
    assert "nobody: is not there" in gone.err
    assert "1 document removed, 1 not there; 4 left" in gone.err
    assert "2 documents removed, 0 not there; 2 left" in here("remove", seen, stdin='d1\n{"id": "d2"}\n').err
    assert ids(here("filter", seen, given, "-q").out) == ["d0", "d1", "d2"]
    assert here("remove", seen, "-", stdin='{"url": "u"}\n').code == 1


def test_export_compact_and_info(seen, tmp_path, here):
    given, moved = tmp_path / "given.jsonl", tmp_path / "moved.ndx"
    given.write_bytes(distinct(50))
    here("create", seen, "--threshold", "0.9", "-q")
    here("add", seen, given, "-q")
    facts = json.loads(here("info", seen, "--json").out)
    assert (facts["documents"], facts["threshold"], facts["judged_by"]) == (50, 0.9, "estimate")
    at, above, *_ = facts["found_at"].values()
    assert 0.1 < at < 0.5 < above, "estimates at the threshold are not sure enough"
    assert above > 0.95
    assert 0.009 < facts["error_at_threshold"] < 0.013
    assert facts["dropped_at"]["0.85"] == pytest.approx(0.01, rel=0.01)
    assert facts["dropped_at"]["0.8"] < 0.0001
    shown = here("info", seen).out
    assert "documents  50\n" in shown
    assert "threshold 0.9 · resemblance estimated from 752 bits, ± 0.01" in shown
    assert "drops      of different pages of a template, any two with this resemblance: up to 1.0% at 0.85" in shown
    assert not any(each.endswith(" ") for each in shown.splitlines())
    out = tmp_path / "out.parquet"
    assert "50 documents in" in here("export", seen, "-o", out).err
    assert here("export", seen, "-o", out).code == 2
    assert "ends in .parquet" in here("export", seen, "-o", tmp_path / "out.csv").err
    for command in ("add", "check"):
        mistaken = here(command, seen, out)
        assert mistaken.code == 2
        assert "is an exported index" in mistaken.err
        assert "--export" in mistaken.err
    here("create", moved, "--threshold", "0.9", "-q")
    assert "50 documents added" in here("add", moved, "--export", out).err
    assert here("filter", moved, given, "-q").out == ""
    filtered = here("filter", moved, out)
    assert filtered.code == 2
    assert filtered.err.endswith(mistaken.err)


def test_an_index_and_a_collection_are_told_alike_how_to_compare():
    from neardup.cli.dedup import command as dedup
    from neardup.cli.index.create import create

    of_dedup = {option.name: option.to_info_dict() for option in dedup.params}
    of_create = {option.name: option.to_info_dict() for option in create.params}
    shared = of_dedup.keys() & of_create.keys() - {"quiet", "keep"}
    names = {"settings", "threshold", "verify", "tokens", "width", "repeats", "extract", "seed"}
    assert shared == {"recipe", *names}
    assert [of_create[name] for name in names] == [of_dedup[name] for name in names]
    assert "stream, or the run's" in of_create["recipe"]["help"]


def test_compacting_what_is_small_says_why_it_is_not_smaller(seen, tmp_path, here):
    few, many = tmp_path / "few.jsonl", tmp_path / "many.jsonl"
    few.write_bytes(distinct(2))
    many.write_bytes(distinct(3000))
    here("create", seen, "-q")
    here("add", seen, few, "-q")
    told = re.fullmatch(
        r"(.*): there was nothing to give back: (.*) kB before, (.*) kB after, (.*)\n", here("compact", seen).err
    )
    assert told
    assert (told[1], told[4]) == (str(seen), "with what the engine notes down of its work")
    assert float(told[2]) <= float(told[3])
    here("add", seen, many, "-q")
    told = re.fullmatch(r".*: (.* .B) before, (.* .B) after\n", here("compact", seen).err)
    assert told
    before, after = (float(n) * {"kB": 1, "MB": 1000}[unit] for n, unit in (size.split() for size in told.groups()))
    assert before > after


def test_verdicts_while_another_process_writes(seen, tmp_path, here):
    given = tmp_path / "given.jsonl"
    given.write_bytes(distinct(2))
    with Index.open(seen) as index:
        index.add("d1", text(1))
        verdicts = [json.loads(each)["status"] for each in here("check", seen, given, "-q").out.splitlines()]
        assert verdicts == ["new", "duplicate"]
        assert ids(here("filter", seen, given, "-q", "--dry-run").out) == ["d0"]
        assert json.loads(here("info", seen, "--json").out)["documents"] == 1
        refused = here("add", seen, given)
    assert refused.code == 1
    assert "writing to this index" in refused.err


def test_what_cannot_be_is_refused_with_the_next_move(seen, pages, tmp_path, here):
    here("create", seen, "-q")
    jsonl, parquet, none = pages / "pages.jsonl", pages / "pages.parquet", tmp_path / "none.ndx"
    refusals = [
        (["check", none, jsonl], 1, "there is no index. Make one with: neardup index create"),
        (["info", none], 1, "there is no index"),
        (["create", seen], 1, "there is an index already"),
        (["create", none, "--recipe", "nope"], 2, "there is no recipe 'nope'"),
        (["create", none, "--run", pages], 1, "holds no finished run"),
        (["check", jsonl], 2, "is a file, and PATH is an index"),
        (["info", "http://127.0.0.1:8080"], 2, "GET http://127.0.0.1:8080/v1/index."),
        (["info", "https://a:1/v1/indexes/news"], 2, "GET https://a:1/v1/indexes/news."),
        (["create", "http://127.0.0.1:8080"], 2, "is a service, and this command takes a folder or postgresql://"),
        (["filter", "http://127.0.0.1:8080", jsonl], 2, "is a service, and this command takes a folder"),
        (["add", "http://127.0.0.1:8080", jsonl], 2, "is a service, and this command takes a folder"),
        (["filter", jsonl], 2, "is a file, and PATH is an index"),
        (["filter", pages, jsonl], 1, "is a folder with other things in it, and is no index"),
        (["info", pages], 1, "is a folder with other things in it, and is no index"),
        (["create", pages], 1, "is a folder with other things in it, and is no index"),
        (["filter", seen, pages / "html"], 2, f"{pages / 'html'}/"),
        (
            ["add", seen, "--export", none],
            1,
            "cannot be read as an exported index (No such file or directory).",
        ),
        (["export", seen, "-o", none / "out.parquet"], 1, f"out.parquet: there is no folder {none}. Make it first"),
        (["filter", seen, parquet], 2, "parquet has none"),
        (["filter", seen, jsonl, "--text-field", "nope"], 1, "no field 'nope'"),
        (["add", seen, tmp_path / "nothing.jsonl"], 1, "there is no such file"),
        (["add", seen, seen], 2, "is an index, and documents are asked for"),
        (["add", seen, "-", jsonl], 2, "standard input, or files"),
        (["add", seen, "--export", parquet], 1, "is no exported index"),
        (["add", seen, "--format", "warc"], 2, "warc has no lines"),
        (["filter", seen, jsonl, "--rejected", tmp_path / "no" / "folder"], 1, "cannot be written"),
    ]
    for arguments, code, words in refusals:
        done = here(*arguments)
        assert (done.code, done.out) == (code, ""), arguments
        assert words in done.err, (arguments, done.err)
    assert not none.exists()


def test_a_shared_index_and_no_word_of_its_password(address, seen, tmp_path, here):
    secret = address.replace("neardup@", "neardup:open-sesame@")
    given = tmp_path / "given.jsonl"
    given.write_bytes(distinct(5))
    done = [
        here("create", secret),
        here("create", secret),
        here("add", secret, given),
        here("filter", secret, given, "--dry-run"),
        here("info", secret),
        here("info", secret, "--json"),
        here("remove", secret, "d0"),
        here("filter", secret, given),
        here("check", secret, given),
        here("export", secret, "-o", tmp_path / "out.parquet"),
        here("compact", secret),
    ]
    assert [each.code for each in done] == [0, 1, *[0] * 9]
    assert ids(done[7].out) == ["d0"]
    assert not any("sesame" in each.out + each.err for each in done)
    here("create", seen, "-q")
    assert "5 documents added" in here("add", seen, "--export", tmp_path / "out.parquet").err


@pytest.mark.parametrize("recipe", ["stream", "default", "mod-n", "resemblance", "lists", "bloom"])
def test_create_and_info_name_one_recipe(seen, here, recipe):
    """The one of the index: whatever a collection would do, the first stays."""
    made = here("create", seen, "--recipe", recipe)
    told = json.loads(here("info", seen, "--json").out)["recipe_id"]
    assert told in made.err


def test_it_is_said_when_what_was_measured_becomes_an_estimate(pages, tmp_path, here):
    for recipe, told in (("default", True), ("stream", False)):
        out = tmp_path / recipe
        here(pages / "pages.jsonl", "-o", out, "--recipe", recipe, "--no-report", "-q", group=("dedup",))
        said = " ".join(here("create", tmp_path / f"{recipe}.ndx", "--run", out, "--keep", "sketch").err.split())
        assert ("measured pairs exactly; this index has no texts" in said) == told


def test_an_index_of_a_run_that_measured_measures(tmp_path, here):
    """The next batch of a crowd: nothing but near-duplicates is removed, and all of them are."""
    made, copies = crowd(400, 0.78)
    lines = [json.dumps(each) + "\n" for each in made[:300] + copies[250:] + made[300:]]
    for name, some in (("one", lines[:350]), ("two", lines[350:])):
        (tmp_path / f"{name}.jsonl").write_text("".join(some))
    here(tmp_path / "one.jsonl", "-o", tmp_path / "first", "--no-report", "-q", group=("dedup",))
    told = here("create", tmp_path / "seen.ndx", "--run", tmp_path / "first")
    assert told.code == 0, told.err
    assert "every pair measured exactly" in told.err
    assert "It has the texts" in told.err
    for turn in ("second", "again"):
        against = ["--against", tmp_path / "seen.ndx", "--again", "remove", "--no-report", "-q"]
        assert here(tmp_path / "two.jsonl", "-o", tmp_path / turn, *against, group=("dedup",)).code == 0
        removed = pq.read_table(tmp_path / turn / "removed.parquet")
        if turn == "second":
            pairs = {frozenset(pair) for pair in zip(*(removed[c].to_pylist() for c in ("id", "kept_id")), strict=True)}
            assert pairs == {frozenset((f"page{i}", f"copy{i}")) for i in range(300, 400)}
            assert set(removed["measured"].to_pylist()) == {"exact"}
            assert here("add", tmp_path / "seen.ndx", "--run", tmp_path / turn, "-q").code == 0
    assert len(removed) == 200


def test_texts_of_a_run_that_are_gone_are_missed_by_name(tmp_path, here):
    given = tmp_path / "given.jsonl"
    given.write_bytes(distinct(5))
    here(given, "-o", tmp_path / "out", "--no-report", "-q", group=("dedup",))
    given.unlink()
    refused = here("create", tmp_path / "seen.ndx", "--run", tmp_path / "out")
    assert refused.code in (1, 2)
    assert "given.jsonl" in refused.err
    assert not (tmp_path / "seen.ndx").exists()
    assert here("create", tmp_path / "seen.ndx", "--run", tmp_path / "out", "--keep", "sketch").code == 0
