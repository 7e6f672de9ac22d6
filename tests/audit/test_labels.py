"""Labels: on disk when they are acknowledged, whatever happens; and what they amount to."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.audit.labels import LONGEST_NOTE, REASONS, Label, Labels
from neardup.audit.precision import precision_of
from neardup.audit.strata import Stratum, allocate
from neardup.errors import InputError, OutputError, UsageError
from tests.naive import audit as naive


def label(pair: int, verdict: str | None, **more) -> Label:
    return Label(f"r{pair}", f"k{pair}", verdict, **more)


def verdicts(labels: Labels) -> dict[str, str]:
    return {first: said.verdict for (first, _), said in labels.current.items()}


def test_the_last_label_counts_and_all_stay(tmp_path):
    labels = Labels(tmp_path / "a" / "labels.jsonl")
    for said in (label(1, "correct"), label(2, "incorrect", reason="item"), label(1, "undecided"), label(2, None)):
        labels.add(said)
    assert verdicts(labels) == {"r1": "undecided"}
    again = Labels(labels.path)
    assert verdicts(again) == {"r1": "undecided"}
    assert [said.verdict for said in again.history] == ["correct", "incorrect", "undecided", None]
    assert all(said.time.endswith("+00:00") for said in again.history)


@pytest.mark.parametrize("lost", range(2, 60, 7))
def test_a_line_that_is_cut_off_was_never_acknowledged(tmp_path, lost):
    path = tmp_path / "labels.jsonl"
    labels = Labels(path)
    labels.add(label(1, "correct"))
    whole = path.stat().st_size
    labels.add(label(2, "incorrect", note="cut \udcff off"))
    os.truncate(path, max(whole + 1, path.stat().st_size - lost))
    again = Labels(path)
    assert again.cut
    assert verdicts(again) == {"r1": "correct"}
    again.add(label(3, "correct"))
    third = Labels(path)
    assert not third.cut
    assert verdicts(third) == {"r1": "correct", "r3": "correct"}


@pytest.mark.parametrize("end", ["", "\n", "\n\n", " "])
def test_a_line_that_somebody_wrote_by_hand_is_a_label(tmp_path, end):
    """Editors end a file with a newline, or without one."""
    path = tmp_path / "labels.jsonl"
    path.write_text(
        '{"first":"r1","second":"k1","verdict":"correct"}\n{"first":"r2","second":"k2","verdict":"correct"}'
    )
    with path.open("a") as file:
        file.write(end)
    labels = Labels(path)
    assert not labels.cut
    assert verdicts(labels) == {"r1": "correct", "r2": "correct"}
    labels.refresh()
    assert len(labels.history) == 2
    labels.add(label(3, "incorrect"))
    labels.add(label(4, "correct"))
    for each in (labels, Labels(path)):
        assert [said.first for said in each.history] == ["r1", "r2", "r3", "r4"]


def test_another_process_ends_the_line(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"first":"r1","second":"k1","verdict":"correct"}')
    one, other = Labels(path), Labels(path)
    other.add(label(2, "incorrect"))
    one.refresh()
    one.add(label(3, "correct"))
    assert [said.first for said in one.history] == ["r1", "r2", "r3"]
    assert [said.first for said in Labels(path).history] == ["r1", "r2", "r3"]


def test_a_last_line_that_is_whole_and_no_label_is_an_error(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"first":"a","second":"b","verdict":"correct"}\n{"first":"a","second":"b","verdict":"perhaps"}')
    for _ in range(2):
        with pytest.raises(InputError, match=r"labels.jsonl:2: this is no label"):
            Labels(path)


def moved_away(path: Path) -> None:
    path.rename(path.with_suffix(".bak"))


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def first_line_deleted(path: Path) -> None:
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])


def replaced_by_a_longer_one(path: Path) -> None:
    path.write_text(
        "".join(json.dumps({"first": f"x{i}", "second": "y", "verdict": "correct"}) + "\n" for i in range(9))
    )


@pytest.mark.parametrize("change", [moved_away, emptied, first_line_deleted, replaced_by_a_longer_one])
def test_a_file_that_changes_while_it_is_served_is_read_again(tmp_path, change):
    """The file alone says what was said; nothing that is acknowledged later lies behind zeros or in a broken line."""
    path = tmp_path / "labels.jsonl"
    labels = Labels(path)
    labels.add(label(1, "correct"))
    labels.add(label(2, "correct"))
    change(path)
    labels.add(label(3, "incorrect"))
    labels.add(label(4, "incorrect"))
    assert b"\0" not in path.read_bytes()
    again = Labels(path)
    assert verdicts(again) == verdicts(labels)
    assert again.history == labels.history
    assert [said.first for said in again.history[-2:]] == ["r3", "r4"]
    assert ("r1" in verdicts(labels)) is False
    if change is moved_away:
        assert verdicts(Labels(path.with_suffix(".bak"))) == {"r1": "correct", "r2": "correct"}
        path.unlink()
        labels.refresh()
        assert not labels.current


def test_a_line_that_is_no_label_is_an_error_and_not_skipped(tmp_path):
    path = tmp_path / "labels.jsonl"
    Labels(path).add(label(1, "correct"))
    for line in ("{}", "nonsense", '{"first":"a","second":"b","verdict":"perhaps"}', "[]"):
        good = path.read_text().splitlines()[0]
        path.write_text(f"{good}\n{line}\n{good}\n")
        with pytest.raises(InputError, match=r"labels.jsonl:2: this is no label"):
            Labels(path)


def test_two_people_at_one_file(tmp_path):
    one, other = Labels(tmp_path / "labels.jsonl"), Labels(tmp_path / "labels.jsonl")
    one.add(label(1, "correct", labeller="ann"))
    other.add(label(2, "incorrect", labeller="bob"))
    assert verdicts(other) == {"r1": "correct", "r2": "incorrect"}
    assert verdicts(one) == {"r1": "correct"}
    one.refresh()
    assert verdicts(one) == verdicts(other)


def test_many_processes_lose_nothing(tmp_path):
    path = tmp_path / "labels.jsonl"
    code = (
        "import sys; from pathlib import Path; from neardup.audit.labels import Label, Labels\n"
        "labels = Labels(Path(sys.argv[1]))\n"
        "for i in range(25): labels.add(Label(f'{sys.argv[2]}-{i}', 'k', 'correct', note='x' * 500))\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", code, path, str(n)]) for n in range(3)]
    assert [w.wait(60) for w in workers] == [0, 0, 0]
    assert len(Labels(path).current) == 75


@pytest.mark.parametrize(
    "wrong",
    [
        {"verdict": "maybe"},
        {"verdict": "correct", "reason": "item"},
        {"verdict": None, "reason": "same"},
        {"verdict": "correct", "note": "x" * (LONGEST_NOTE + 1)},
    ],
)
def test_what_is_no_label_is_refused(wrong):
    with pytest.raises(UsageError):
        Label("a", "b", **wrong)


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    labels = Labels(tmp_path / "folder" / "labels.jsonl")
    labels.path = tmp_path / "file" / "labels.jsonl"
    with pytest.raises(OutputError, match="cannot be written"):
        labels.add(label(1, "correct"))


def test_every_verdict_has_reasons_for_the_number_keys():
    assert list(REASONS) == ["correct", "incorrect", "undecided"]
    assert all(2 <= len(reasons) <= 9 and "other" in reasons for reasons in REASONS.values())


@given(st.lists(st.integers(1, 4000), min_size=1, max_size=20), st.integers(0, 300), st.integers(0, 3))
def test_allocation(sizes, total, least):
    got = allocate(sizes, total, least)
    assert got == naive.allocate(sizes, total, least)
    assert sum(got) == min(total, sum(sizes))
    assert all(0 <= n <= size for n, size in zip(got, sizes, strict=True))


def stratum(name: str, size: int, sites: str = "same site") -> Stratum:
    return Stratum(name, "near", sites, 0.8, 0.9, size, 10)


def test_strata_count_by_their_size():
    strata = [stratum("a", 900), stratum("b", 100, "different sites")]
    said = [label(i, "correct") for i in range(10)] + [label(i, "incorrect") for i in range(10)]
    found = precision_of(strata, [0] * 10 + [1] * 10, said)
    assert found.low.value == pytest.approx(0.9)
    assert found.low == found.high
    assert found.by_site["same site"][0].value == 1.0
    assert found.by_site["different sites"][0].value == 0.0
    assert (found.labelled, found.correct, found.incorrect, found.covered) == (20, 10, 10, 1.0)


def test_copies_are_right_unless_somebody_says_otherwise():
    strata = [stratum("a", 100), Stratum("identical", "identical", "any site", None, None, 900, 5)]
    said = [label(i, "correct" if i % 2 else "incorrect") for i in range(20)]
    found = precision_of(strata, [0] * 20, said)
    assert found.low.value == pytest.approx(0.95)
    assert found.covered == 1.0
    assert found.low.low > 0.92
    doubt = precision_of(
        strata, [0] * 20 + [1] * 4, [*said, *[label(90 + i, "correct") for i in range(3)], label(99, "incorrect")]
    )
    assert doubt.low.value == pytest.approx(0.05 + 0.9 * 0.75)
    assert doubt.low.low < 0.5


def test_undecided_pairs_count_both_ways():
    said = [label(0, "correct"), label(1, "undecided"), label(2, "incorrect"), label(3, "correct"), None]
    found = precision_of([stratum("a", 1000)], [0] * 5, said)
    assert (found.low.value, found.high.value) == (0.5, 0.75)
    assert found.low.low < 0.5 < found.low.high
    assert found.drawn == 5


def test_strata_without_a_label_are_told():
    found = precision_of([stratum("a", 300), stratum("b", 700)], [0, 1], [label(0, "correct"), None])
    assert found.covered == 0.3
    assert found.low.of == 300
    nothing = precision_of([stratum("a", 300)], [0], [None])
    assert nothing.low.value is None
    assert json.dumps(nothing.to_dict())


def test_labels_are_lines_of_plain_json(tmp_path: Path):
    labels = Labels(tmp_path / "labels.jsonl")
    labels.add(Label("\u202eid\n", "k", "correct", note="a\u2028b\n\ud800"))
    [line] = labels.path.read_text("ascii").splitlines()
    assert json.loads(line)["note"] == "a\u2028b\n\ud800"
