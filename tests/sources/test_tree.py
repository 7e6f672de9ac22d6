"""What is met in folders and globs: everything is read, or counted and reported."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.errors import InputError
from neardup.sources import Problems, discover
from neardup.sources.discover import HIDDEN, REPEATED
from neardup.sources.tree import catalogue_of

NOBODY = 65534


def make(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")
    return folder


def names(*places: str | Path) -> list[str]:
    return [file.name for file in discover(places).files]


@contextmanager
def unprivileged() -> Iterator[None]:
    """Root reads everything: as somebody else, whom permissions hold for."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everybody may enter; those of pytest are their owner's alone."""
    folder = Path(tempfile.mkdtemp(prefix="neardup-test-"))
    folder.chmod(0o755)
    yield folder
    for parent, _, _ in os.walk(folder):
        os.chmod(parent, 0o700)
    shutil.rmtree(folder)


def test_linked_folders_are_read(tmp_path: Path) -> None:
    make(tmp_path, "in/a.jsonl", "out/deep/b.jsonl")
    (tmp_path / "in/link").symlink_to(tmp_path / "out")
    found = discover([tmp_path / "in"])
    assert [f.name for f in found.files] == ["a.jsonl", "link/deep/b.jsonl"]
    assert found.passed_over == {}
    assert names(f"{tmp_path}/in/**/*.jsonl") == ["a.jsonl", "link/deep/b.jsonl"]
    assert names(f"{tmp_path}/in/l*") == ["link/deep/b.jsonl"]


def test_loops_end(tmp_path: Path) -> None:
    make(tmp_path, "in/a.jsonl", "in/sub/b.jsonl", "in/other/c.jsonl")
    (tmp_path / "in/sub/up").symlink_to("..")
    (tmp_path / "in/sub/itself").symlink_to(".")
    (tmp_path / "in/aside").symlink_to("other")  # before other in the order of names
    for place in (tmp_path / "in", f"{tmp_path}/in/**"):
        found = discover([place])
        assert [f.name for f in found.files] == ["a.jsonl", "other/c.jsonl", "sub/b.jsonl"]
        assert found.passed_over == {REPEATED: 3}
        assert found.remarks == ["Passed over names that lead to what is read under another name: 3."]


def test_a_file_is_read_once_whatever_leads_to_it(tmp_path: Path) -> None:
    make(tmp_path, "in/b.jsonl", "elsewhere/c.jsonl")
    (tmp_path / "in/a.jsonl").symlink_to("b.jsonl")
    (tmp_path / "in/d.jsonl").symlink_to(tmp_path / "elsewhere/c.jsonl")
    (tmp_path / "in/e.jsonl").symlink_to("d.jsonl")
    found = discover([tmp_path / "in"])
    assert [f.name for f in found.files] == ["b.jsonl", "d.jsonl"]
    assert found.passed_over == {REPEATED: 2}
    twice = discover([tmp_path / "in/b.jsonl", f"{tmp_path}/in/b*", tmp_path / "in/b.jsonl"])
    assert [f.name for f in twice.files] == ["b.jsonl"]
    assert twice.passed_over == {REPEATED: 2}


def test_links_and_what_they_lead_to_in_a_cache_of_blobs(tmp_path: Path) -> None:
    make(tmp_path, "blobs/0af3")
    for snapshot in ("old", "new"):
        (tmp_path / "snapshots" / snapshot).mkdir(parents=True)
        (tmp_path / "snapshots" / snapshot / "a.jsonl").symlink_to(tmp_path / "blobs/0af3")
    found = discover([tmp_path])
    assert [f.name for f in found.files] == ["snapshots/new/a.jsonl"]
    assert found.passed_over == {REPEATED: 1}


def test_hidden_names_are_counted_and_read_where_they_are_named(tmp_path: Path) -> None:
    make(tmp_path, "a.jsonl", ".b.jsonl", ".git/c.jsonl", "sub/.d.jsonl", "sub/e.jsonl")
    for place in (tmp_path, f"{tmp_path}/**/*.jsonl"):
        found = discover([place])
        assert [f.name for f in found.files] == ["a.jsonl", "sub/e.jsonl"]
        assert found.passed_over == {HIDDEN: 3}
    assert any("hidden files and folders" in said and ": 3" in said for said in found.remarks)
    assert discover([f"{tmp_path}/*.jsonl"]).passed_over == {HIDDEN: 1}
    assert names(tmp_path / ".b.jsonl") == names(f"{tmp_path}/.b*") == [".b.jsonl"]
    assert names(tmp_path / ".git") == ["c.jsonl"]
    assert names(f"{tmp_path}/**/.d.jsonl") == ["sub/.d.jsonl"]
    make(tmp_path, "only/.x.jsonl")
    with pytest.raises(InputError, match="no files in it but 1 hidden"):
        discover([tmp_path / "only"])


def test_what_hadoop_leaves_is_not_counted(tmp_path: Path) -> None:
    make(tmp_path, "part-0.jsonl", ".part-0.jsonl.crc", "_SUCCESS", "._SUCCESS.crc")
    for place in (tmp_path, f"{tmp_path}/*", f"{tmp_path}/**"):
        found = discover([place])
        assert ([f.name for f in found.files], found.passed_over) == (["part-0.jsonl"], {})
    make(tmp_path, ".part-1.jsonl.crc")
    assert discover([tmp_path]).passed_over == {HIDDEN: 1}


def test_links_to_nothing(tmp_path: Path) -> None:
    make(tmp_path, "a.jsonl")
    (tmp_path / "b.jsonl").symlink_to("gone.jsonl")
    (tmp_path / "data").symlink_to("gone")
    (tmp_path / "round.jsonl").symlink_to("round.jsonl")
    (tmp_path / "x.exe").symlink_to("gone.exe")
    with pytest.raises(InputError, match=r"b\.jsonl: unreadable: a link to gone\.jsonl, which is not there"):
        discover([tmp_path])
    problems = Problems("skip")
    found = discover([tmp_path], problems=problems)
    assert [f.name for f in found.files] == ["a.jsonl"]
    assert found.passed_over == {".exe": 1}
    assert [Path(problem.source).name for problem in problems.found] == ["b.jsonl", "data", "round.jsonl"]
    assert {problem.kind for problem in problems.found} == {"unreadable"}
    assert "symbolic links" in problems.found[2].detail
    named = Problems("skip")
    assert len(discover([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], problems=named).files) == 1
    assert len(named.found) == 1
    with pytest.raises(InputError, match=r"no input found among 1 files \(1 unreadable\)"):
        discover([tmp_path / "b.jsonl"], problems=Problems("skip"))


def test_folders_and_files_without_permission(public: Path) -> None:
    make(public, "a.jsonl", "shut/b.jsonl", "half/c.jsonl", "d.jsonl", "d.html")
    for name, mode in (("shut", 0o000), ("half", 0o444), ("d.jsonl", 0o000), ("d.html", 0o000)):
        (public / name).chmod(mode)
    with unprivileged():
        for place in (public, f"{public}/**", f"{public}/*"):
            problems = Problems("skip")
            assert [f.name for f in discover([place], problems=problems).files] == ["a.jsonl"]
            unread = [str(Path(problem.source).relative_to(public)) for problem in problems.found]
            assert unread == ["d.html", "d.jsonl", "half/c.jsonl", "shut"]
            assert {problem.detail for problem in problems.found} == {"Permission denied"}
        problems = Problems("skip")
        discover([public / "a.jsonl", f"{public}/*/b.jsonl", public / "shut/b.jsonl"], problems=problems)
        assert [problem.source for problem in problems.found] == [f"{public}/half/b.jsonl", f"{public}/shut/b.jsonl"]
        with pytest.raises(InputError, match="shut: unreadable: Permission denied"):
            discover([public / "shut"])


def test_a_pipe_in_a_folder_is_no_file(tmp_path: Path) -> None:
    make(tmp_path, "a.jsonl")
    os.mkfifo(tmp_path / "b.jsonl")
    problems = Problems("skip")
    assert len(discover([tmp_path], problems=problems).files) == 1
    assert [problem.detail for problem in problems.found] == ["neither a file nor a folder"]


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, str | None]]:
    """Paths with what they are: None for a file, else a link's target."""
    parts = st.sampled_from(["a", "b", "c", ".h"])
    paths = draw(st.lists(st.lists(parts, min_size=1, max_size=3).map("/".join), min_size=1, max_size=8, unique=True))
    targets = st.sampled_from([None, ".", "..", "a", "../b", "b/c", "nowhere", "../../a"])
    return [(path, draw(targets)) for path in paths]


@settings(max_examples=60, deadline=None)
@given(trees())
def test_every_file_is_found_once_or_hidden_or_unreadable(tree: list[tuple[str, str | None]]) -> None:
    """Whatever the links: the files that are found are exactly those that visible paths lead to, each once."""
    with tempfile.TemporaryDirectory() as outer:
        folder = os.path.join(outer, "x", "y", "z")  # links lead up two folders at the most
        os.makedirs(folder)
        for path, target in tree:
            place = Path(folder, path)
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                if target is None:
                    place.with_suffix(".jsonl").write_bytes(b"x")
                else:
                    place.symlink_to(target)
            except (OSError, RuntimeError):  # a link is in the way, or a file
                continue
        expected = reachable(folder)
        listed = catalogue_of(folder)
        assert {os.path.realpath(entry.path) for entry in listed.entries} == expected
        if expected:
            found = discover([folder], problems=Problems("skip"))
            assert sorted(os.path.realpath(f.path) for f in found.files) == sorted(expected)


def reachable(folder: str) -> set[str]:
    """The twin: all paths of at most six parts."""
    found, level = set(), [folder]
    for _ in range(7):
        below = []
        for place in level:
            for name in sorted(os.listdir(place)):
                path = os.path.join(place, name)
                if name.startswith("."):
                    continue
                if os.path.isdir(path):
                    below.append(path)
                elif os.path.exists(path):
                    found.add(os.path.realpath(path))
        level = list({os.path.realpath(path): path for path in below}.values())
    return found
