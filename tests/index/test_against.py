"""A collection against an index: what is left is what the whole would leave."""

import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

import neardup
from neardup import Index, Result
from tests.corpus import documents

KEPT = {"cluster": "star", "keep": "first"}


@pytest.fixture(scope="module")
def rows():
    made = documents(120, seed=9)
    return [
        {"id": str(row["id"]), "text": row["text"], "url": f"https://h{i % 7}.example/{i}"}
        for i, row in enumerate(made)
    ]


def in_two_parts(rows, index, **settings):
    """The first half through the index, the second against it."""
    half = len(rows) // 2
    first = [v.id for v in index.check_and_add_many(rows[:half]) if v.new]
    return first, neardup.dedup(rows[half:], against=index, **settings)


RECIPES = ("default", "stream", "altavista", "alg-c", "combined", "by-site", "bloom")


@pytest.mark.parametrize(
    ("name", "keep"),  # dedup has no rule for sites without measuring, so web is compared where texts are kept
    [("web", "text"), *((name, keep) for name in RECIPES for keep in ("text", "sketch"))],
)
def test_two_parts_leave_what_the_whole_leaves(tmp_path, rows, name, keep):
    exact = neardup.load_recipe(name).verify.method == "exact"
    settings = {"verify": "sketch"} if exact and keep == "sketch" else {}
    whole = neardup.dedup(rows, recipe=name, **KEPT, **settings)
    with Index.open(tmp_path / "seen.ndx", name, keep=keep) as index:
        first, rest = in_two_parts(rows, index, recipe=name, **KEPT, **settings)
    assert first + rest.kept.column("id").to_pylist() == whole.kept.column("id").to_pylist()
    half = {row["id"] for row in rows[: len(rows) // 2]}
    assert rest.counts["removed_against_index"] == sum(kept in half for kept in rest.removed["kept_id"].to_pylist()) > 0
    expected = {row["id"]: row for row in whole.removed.to_pylist() if row["kept_id"] in half and row["id"] not in half}
    found = {row["id"]: row for row in rest.removed.to_pylist() if row["kept_id"] in half}
    for id in expected.keys() & found.keys():
        if expected[id]["kept_id"] == found[id]["kept_id"]:
            for column in ("relation", "measured", "score", "resemblance", "removed_in_kept", "kept_in_removed"):
                assert found[id][column] == pytest.approx(expected[id][column]), (id, column)


@pytest.fixture(scope="module")
def run(tmp_path_factory, rows):
    """A finished run against an index, by the command; the folder."""
    folder = tmp_path_factory.mktemp("against")
    half = len(rows) // 2
    for name, part in (("first", rows[:half]), ("second", rows[half:])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))

    def neardup_(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "neardup", *map(str, arguments)], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done

    neardup_("dedup", "first.jsonl", "-o", "one", "--no-report", "-q")
    neardup_("index", "create", "seen.ndx", "--run", "one", "-q")
    done = neardup_("dedup", "second.jsonl", "-o", "two", "--against", "seen.ndx", "--annotate")
    return folder, done.stdout + done.stderr


def test_the_command_says_what_an_index_did(run):
    folder, said = run
    counts = json.loads((folder / "two/run.json").read_text())["counts"]
    assert counts["removed_against_index"] > 0
    assert f"{counts['removed_against_index']:,} documents are similar to documents that seen.ndx has" in said
    assert counts["kept"] + counts["removed"] == counts["documents"]
    assert pq.read_table(folder / "two/removed.parquet").num_rows == counts["removed"]


def test_a_run_against_an_index_opens_again(run):
    folder, _ = run
    opened = Result.open(folder / "two")
    removed = pq.read_table(folder / "two/removed.parquet")
    assert opened.removed.equals(removed)
    inputs = [json.loads(line)["id"] for line in (folder / "second.jsonl").read_text().splitlines()]
    places = [inputs.index(id) for id in removed["id"].to_pylist()]
    assert places == sorted(places), "in the order of the input"
    known = opened.decision.known.to_pylist()[0]
    told = opened.explain(known["id"])
    assert (told.kept, told.kept_id, told.group) == (False, known["kept_id"], (known["kept_id"], known["id"]))
    assert (told.measured, told.score) == (known["measured"], known["score"])


def test_notes_name_the_documents_of_the_index(run):
    folder, _ = run
    known = {row["id"]: row for row in Result.open(folder / "two").decision.known.to_pylist()}
    notes = [json.loads(line) for line in (folder / "two/kept/second.jsonl").read_text().splitlines()]
    for note in notes:
        if note["id"] in known:
            assert not note["neardup_kept"]
            assert note["neardup_kept_id"] == known[note["id"]]["kept_id"]
            assert note["neardup_group"] is None


def test_what_is_kept_is_added_without_its_text(run):
    folder, _ = run
    opened = Result.open(folder / "two")
    with Index.open(folder / "seen.ndx") as index:
        before = len(index)
        assert index.add_run(folder / "two") == int(opened.keep.sum())
        assert len(index) == before + int(opened.keep.sum())
        assert index.add_run(opened) == 0


def test_another_recipe_is_refused(tmp_path, rows):
    with (
        Index.open(tmp_path / "seen.ndx", "stream") as index,
        pytest.raises(neardup.RecipeError, match="was made by another recipe"),
    ):
        neardup.dedup(rows, against=index, recipe="default")


def test_a_setting_that_makes_another_recipe_is_named(tmp_path, rows):
    with (
        Index.open(tmp_path / "seen.ndx", "stream") as index,
        pytest.raises(neardup.RecipeError, match=r"Leave away the recipe, and settings that change it .*threshold"),
    ):
        neardup.dedup(rows, against=index, threshold=0.5)


def test_another_recipe_is_refused_before_anything_is_written_or_removed(run):
    folder, _ = run

    def dedup(out, *more):
        command = [sys.executable, "-m", "neardup", "dedup", "second.jsonl", "-o", out, "--against", "seen.ndx", *more]
        return subprocess.run([*command, "--no-report", "-q"], cwd=folder, capture_output=True, text=True)

    refused = dedup("three", "--recipe", "stream")
    assert refused.returncode == 2
    assert "was made by another recipe" in refused.stderr
    assert not (folder / "three").exists()
    before = sorted((folder / "two").rglob("*"))
    assert dedup("two", "--recipe", "stream", "--fresh").returncode == 2
    assert sorted((folder / "two").rglob("*")) == before
    with pytest.raises(neardup.RecipeError, match="was made by another recipe"):
        neardup.dedup(folder / "second.jsonl", against=folder / "seen.ndx", recipe="stream", work=folder / "three/work")
    assert not (folder / "three").exists()


def test_no_index_is_made(tmp_path, rows):
    with pytest.raises(neardup.StoreError, match="there is no index"):
        neardup.dedup(rows, against=tmp_path / "none.ndx")
    assert not (tmp_path / "none.ndx").exists()
