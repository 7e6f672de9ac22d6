"""The process that reads pages: it starts in every folder, it can do nothing but read, and nobody trusts it."""

import encodings
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

import neardup
from neardup.abandoning import run_until
from neardup.errors import Abandoned, ReaderError
from neardup.text import workers
from neardup.text.reader import read_pages
from neardup.text.settings import TextSettings
from neardup.text.workers import PageExtractor, confinement

LINUX = sys.platform.startswith("linux")
PAGES = [(f"<p>page {i} of some words".encode(), None, None) for i in range(3)]
BEGIN = "import sys, os, struct; sys.path += sys.argv[1:]; from neardup.text import reader, wire, confine\n"
NAMES = (
    "queue",
    "html",
    "pickle",
    "re",
    "struct",
    "codecs",
    "select",
    "ctypes",
    "resource",
    "encodings",
    "sitecustomize",
)


@pytest.fixture
def hostile(tmp_path):
    """A folder whose modules are named as Python's, and leave a mark when they are imported."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    mark = str(tmp_path / "mark")
    for name in NAMES:
        (folder / f"{name}.py").write_text(f"open({mark!r}, 'a').write({name!r})\nraise SystemExit(3)\n")
    for name in ("a", "b"):
        (folder / f"{name}.html").write_text(f"<p>{'some words of a page that says ' * 9}{name}</p>")
    return folder


@pytest.mark.parametrize("start", ["-m", "script"])
def test_modules_in_the_current_folder_are_not_imported(hostile, start):
    command = [sys.executable, "-m", "neardup", "compare", "a.html", "b.html"]
    if start == "script":
        command[1:3] = [str(Path(sys.executable).parent / "neardup")]
    else:  # Python itself imports these before any line of ours
        for name in ("re", "struct", "codecs", "sitecustomize"):
            (hostile / f"{name}.py").unlink()
    done = subprocess.run(command, cwd=hostile, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "0.9" in done.stdout
    assert not (hostile.parent / "mark").exists()


def test_workers_import_nothing_from_the_current_folder_or_the_environment(hostile, monkeypatch):
    monkeypatch.chdir(hostile)
    monkeypatch.setenv("PYTHONPATH", str(hostile))
    monkeypatch.setenv("SECRET", "of the user")
    program = BEGIN + (
        "reader.read_page = lambda page, **how: (repr([dict(os.environ), sys.path]), None)\nreader.main()"
    )
    monkeypatch.setattr(workers, "_PROGRAM", program)
    ((said, _),) = PageExtractor(TextSettings(), workers=1)(PAGES[:1])
    assert "SECRET" not in said
    assert str(hostile) not in said
    assert not (hostile.parent / "mark").exists()


def test_an_installation_on_pythonpath_works(tmp_path):
    """Also where another one is installed beside Python: the worker has the parent's."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "neardup").symlink_to(Path(neardup.__file__).parent)
    code = (
        "from neardup.text import workers; from neardup.text.settings import TextSettings\n"
        "print(workers._folders()[0], workers.PageExtractor(TextSettings(), workers=1)([(b'<p>words', None, None)]))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], env={"PYTHONPATH": str(site)}, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == f"{site} [('words', None)]\n", done.stderr


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("raise SystemExit('the library is broken')", "the library is broken"),
        ("import nowhere", "No module named 'nowhere'"),
        (BEGIN + "reader.read_page = lambda *a, **k: os.abort()\nreader.main()", "nothing"),
        ("print('something else, in many words, that is no message')", "nothing"),
        ("import sys; sys.stdout.buffer.write(b'\\xff' * 100)", "nothing"),
    ],
    ids=["ends", "cannot import", "dies of its own page", "says something else", "says lengths"],
)
def test_a_worker_that_cannot_start_is_an_error_of_the_run(monkeypatch, tmp_path, program, said):
    monkeypatch.setattr(workers, "_PROGRAM", program)
    monkeypatch.setattr("neardup.engines.local._WORTH_WORKERS", 0)
    (tmp_path / "page.html").write_text("<p>words")
    (tmp_path / "page2.html").write_text("<p>more words")
    with pytest.raises(ReaderError, match=r"No page is to blame.*pip install") as raised:
        neardup.dedup(tmp_path, threads=2)
    assert said in str(raised.value)


ATTEMPTS = """
import ctypes, json, signal, socket
parent, seen = os.getppid(), {}
held = confine.confine()
def attempt(name, what):
    try:
        what()
        seen[name] = "done"
    except OSError as error:
        seen[name] = error.errno
for name, what in {
    "open": lambda: open("/etc/hostname"),
    "write": lambda: open("/tmp/neardup-written", "w"),
    "list": lambda: os.listdir("/"),
    "stat": lambda: os.stat("/"),
    "unlink": lambda: os.unlink("/tmp/neardup-nothing"),
    "tcp": lambda: socket.socket(),
    "unix": lambda: socket.socket(socket.AF_UNIX),
    "fork": lambda: os.fork() or os._exit(0),
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "kill": lambda: os.kill(parent, 0),
    "pipe": lambda: os.pipe(),
    "ptrace": lambda: ctypes.CDLL(None, use_errno=True).ptrace(16, parent, 0, 0) and os.open(b"", 0),
}.items():
    attempt(name, what)
sys.stdout.write(json.dumps([held, seen]))
"""


@pytest.mark.skipif(not LINUX, reason="seccomp and landlock are Linux's")
@pytest.mark.parametrize("without", ["", "seccomp", "landlock"])
def test_a_confined_process_has_no_files_no_network_and_no_other_programs(without):
    """Each mechanism alone keeps files away; the list of calls everything."""
    switched = f"confine._{without} = lambda kernel: 'switched off'\n" if without else ""
    code = BEGIN + switched + ATTEMPTS
    done = subprocess.run([sys.executable, "-I", "-c", code, *workers._folders()], capture_output=True, text=True)
    held, seen = json.loads(done.stdout)
    assert "switched off" in held if without else held == "seccomp, landlock"
    closed = ("open", "write", "list", "exec") if without == "seccomp" else set(seen)
    assert {name: seen[name] for name in closed if seen[name] == "done"} == {}, done.stderr


@pytest.mark.skipif(not LINUX, reason="seccomp and landlock are Linux's")
def test_a_worker_of_another_architecture_is_named_as_unconfined():
    code = BEGIN + "confine.machine = lambda: 'riscv64'\nprint(confine.confine())"
    done = subprocess.run([sys.executable, "-I", "-c", code, *workers._folders()], capture_output=True, text=True)
    assert done.stdout == "landlock; seccomp: no list of system calls for riscv64\n"


def test_the_confinement_is_known_when_a_worker_has_started():
    PageExtractor(TextSettings(), workers=1)(PAGES)
    assert confinement()


def test_pages_in_every_encoding_read_the_same_in_a_worker():
    """A confined process cannot load an encoding that it has not."""
    names = sorted({*encodings.aliases.aliases, *encodings.aliases.aliases.values(), "x-sjis", "nothing", "a\0b", ""})
    given = [("<title>é</title><p>Größe 日本".encode(), name, None) for name in names]
    given += [(b"<p>\xe4\xf6\xfc+2AA- \\u1234", name, None) for name in names]
    for settings in (TextSettings(), TextSettings(extract="web", links=True)):
        apart = PageExtractor(settings, workers=1)(given)
        here = read_pages(given, settings.extract, settings.links)
        assert apart == [read and (read[0].encode("utf-8", "replace").decode(), read[1]) for read in here]


LIES = {
    "garbage": "sys.stdout.buffer.write(os.urandom(1 << 16))",
    "many fields": "sys.stdout.buffer.write(struct.pack('<I', 0xFFFFFFFF) + bytes(1 << 16))",
    "a huge length": "sys.stdout.buffer.write(struct.pack('<Iqqq', 3, 1, 1 << 62, -1) + bytes(1 << 16))",
    "huge lengths that overflow": "sys.stdout.buffer.write(struct.pack('<Iqqq', 3, 1, (1 << 63) - 1, (1 << 63) - 1))",
    "a negative length": "sys.stdout.buffer.write(struct.pack('<Iqqq', 3, 1, -7, -1))",
    "a text without end": "wire.send(sys.stdout.buffer, [b'0', bytes(64 << 20), None])",
    "no UTF-8": "wire.send(sys.stdout.buffer, [b'0', b'\\xff\\xfe', None])",
    "no number": "wire.send(sys.stdout.buffer, [b'__import__', b'text', None])",
    "no CPU": "wire.send(sys.stdout.buffer, [None, b'text', None])",
    "another count": "wire.send(sys.stdout.buffer, [b'0', b'text'])",
    "the end": "pass",
}


@pytest.mark.parametrize("lie", LIES)
def test_a_worker_that_was_taken_over_harms_nobody(monkeypatch, lie):
    program = BEGIN + (
        "wire.send(sys.stdout.buffer, [b''])\n"
        f"wire.receive(reader._exactly(sys.stdin.buffer))\n{LIES[lie]}\nsys.stdout.buffer.flush()"
    )
    monkeypatch.setattr(workers, "_PROGRAM", program)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    assert PageExtractor(TextSettings(), workers=1)(PAGES[:1]) == [None]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10
    assert time.monotonic() - began < 20


def test_a_page_that_takes_too_much_memory_has_no_text(monkeypatch):
    """Whatever the machine has; the pages around it have theirs."""
    program = BEGIN + (
        "import neardup.text.extract as e\nreally, bound = reader.read_page, reader.confine\n"
        "reader.read_page = lambda p, **k: bytearray(2 << 30) and None if b'large' in p else really(p, **k)\n"
        "reader.confine = lambda: bound(memory=1 << 30)\nreader.main()"
    )
    monkeypatch.setattr(workers, "_PROGRAM", program)
    read = PageExtractor(TextSettings(), workers=1)([PAGES[0], (b"large", None, None), PAGES[1]])
    assert [one and one[0] for one in read] == ["page 0 of some words", None, "page 1 of some words"]


SLOW = BEGIN + (
    "import time\nreally = reader.read_page\n"
    "reader.read_page = lambda p, **k: time.sleep(60) if b'slow' in p else really(p, **k)\n"
    "reader.confine = lambda: ''\nreader.main()"
)


@pytest.mark.skipif(os.name == "nt", reason="pipes cannot be waited for")
@pytest.mark.parametrize("way", ["index", "group", "compare"])
def test_a_slow_page_is_given_up_with_its_asker(monkeypatch, tmp_path, way):
    """Whatever asks for it: a worker that went on would hold a thread of the service."""
    monkeypatch.setattr(workers, "_PROGRAM", SLOW)
    workers.shared.cache_clear()
    slow = "<p>slow " + "words " * 50
    with neardup.Index.open(tmp_path / "seen.ndx", create=True) as index:
        calls = {
            "index": lambda: index.check(html=slow),
            "group": lambda: neardup.group([{"id": "a", "html": slow}, {"id": "b", "html": slow}]),
            "compare": lambda: neardup.compare(slow, slow, html=True),
        }
        began = time.monotonic()
        with pytest.raises(Abandoned):
            run_until(lambda: time.monotonic() - began > 0.2, calls[way])
        assert time.monotonic() - began < 20
    workers.shared.cache_clear()


@pytest.mark.skipif(os.name == "nt", reason="pipes cannot be waited for")
def test_a_caller_that_gives_up_gets_its_thread_back(monkeypatch):
    monkeypatch.setattr(workers, "_PROGRAM", SLOW)
    extract = PageExtractor(TextSettings(), workers=1)
    assert run_until(lambda: False, lambda: extract(PAGES)) == extract(PAGES)
    began = time.monotonic()
    with pytest.raises(Abandoned):
        run_until(lambda: time.monotonic() - began > 0.2, lambda: extract([(b"slow", None, None)]))
    assert time.monotonic() - began < 10
    assert not [worker for worker in workers._RUNNING if worker.poll() is None and worker.stdin and worker.stdin.closed]
    assert extract(PAGES[:1]) == [("page 0 of some words", None)]
