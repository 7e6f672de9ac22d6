"""A collection against an index: what is left is what the whole would leave."""

import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

import neardup
from neardup import Index, Result
from neardup.recipes import as_in_index
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
    with Index.open(tmp_path / "seen.ndx", name, keep=keep) as index:
        whole = neardup.dedup(rows, recipe=as_in_index(neardup.load_recipe(name), index.recipe), **KEPT, **settings)
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


@pytest.fixture
def batches(tmp_path, rows):
    """Two batches that share documents, and a run of each, the second against an index of the first."""
    half = len(rows) // 2
    for name, part in (("jan", rows[:half]), ("feb", rows[half - 5 :])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    done = command(tmp_path, "dedup", "jan.jsonl", "-o", "one")
    done = done or command(tmp_path, "index", "create", "seen.ndx", "--run", "one")
    assert (done or command(tmp_path, "dedup", "feb.jsonl", "-o", "two", "--against", "seen.ndx")) == ""
    return tmp_path


def command(folder, *arguments):
    """What an error says, or nothing."""
    report = ["--no-report"] if arguments[0] == "dedup" else []
    done = subprocess.run(
        [sys.executable, "-m", "neardup", *arguments, *report, "-q"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0 or done.stderr, done
    return done.stderr if done.returncode else ""


def test_a_finished_run_stays_what_it_is_when_its_documents_are_added_to_the_index(batches):
    kept = (batches / "two/kept/feb.jsonl").read_bytes()
    assert len(kept.splitlines()) > 10
    for _ in range(2):
        assert command(batches, "dedup", "feb.jsonl", "-o", "two", "--against", "seen.ndx") == "", "nothing has changed"
        assert (batches / "two/kept/feb.jsonl").read_bytes() == kept
    with Index.open(batches / "seen.ndx") as index:
        before, added = len(index), index.add_run(batches / "two")
    refused = command(batches, "dedup", "feb.jsonl", "-o", "two", "--against", "seen.ndx")
    assert f"seen.ndx has changed since (it had {before:,} documents and has {before + added:,} now)" in refused
    assert "--fresh" in refused
    assert (batches / "two/kept/feb.jsonl").read_bytes() == kept
    assert "this run is against none" in command(batches, "dedup", "feb.jsonl", "-o", "two")
    assert "against no index" in command(batches, "dedup", "jan.jsonl", "-o", "one", "--against", "seen.ndx")
    assert command(batches, "index", "create", "other.ndx", "--run", "one") == ""
    refused = command(batches, "dedup", "feb.jsonl", "-o", "two", "--against", "other.ndx")
    assert "this run is against another one, other.ndx" in refused


def test_no_document_is_removed_because_of_itself(batches):
    """Neither in another folder nor by starting over; unless that is asked for."""
    kept = (batches / "two/kept/feb.jsonl").read_bytes()
    own = {json.loads(line)["id"] for line in kept.splitlines()}
    assert command(batches, "index", "add", "seen.ndx", "--run", "two") == ""
    for out, fresh in (("three", []), ("two", ["--fresh"])):
        assert command(batches, "dedup", "feb.jsonl", "-o", out, "--against", "seen.ndx", *fresh) == ""
        assert own <= {json.loads(line)["id"] for line in (batches / out / "kept/feb.jsonl").read_bytes().splitlines()}
        removed = pq.read_table(batches / out / "removed.parquet").to_pylist()
        assert not [row for row in removed if row["id"] == row["kept_id"]]
        [said] = [s for s in json.loads((batches / out / "run.json").read_text())["said"] if "themselves" in s]
        assert "--again remove" in said
    again = command(batches, "dedup", "feb.jsonl", "-o", "four", "--against", "seen.ndx", "--again", "remove")
    assert again == ""
    left = {json.loads(line)["id"] for line in (batches / "four/kept/feb.jsonl").read_bytes().splitlines()}
    assert not left & own
    assert "--again was remove" in command(batches, "dedup", "feb.jsonl", "-o", "four", "--against", "seen.ndx")


def test_the_state_of_an_index_follows_its_documents(new_index):
    """Equal where the documents are, in any process; whatever is added, replaced or removed makes another."""
    index, again = new_index()
    states = [index.state()]
    for change in (
        lambda: index.add_many([{"id": "a", "text": "one two"}, {"id": "b", "text": "three four"}]),
        lambda: index.update("a", "five six"),
        lambda: index.remove("b"),
        lambda: index.check_and_add("b", "three four"),
        lambda: index.remove("b"),
    ):
        change()
        assert index.state() not in states
        states.append(index.state())
    index.compact()
    index.check("one two")
    assert index.add("a", "five six") is False
    assert index.state() == states[-1] == again().state()


@pytest.fixture(params=["rocks", "postgres"])
def new_index(request, tmp_path):
    """Makes an index, and opens it once more."""
    place = tmp_path / "seen.ndx" if request.param == "rocks" else request.getfixturevalue("address")
    opened = []

    def keeping(index):
        opened.append(index)
        return index

    yield lambda: (keeping(Index.open(place)), lambda: keeping(Index.open(place, read_only=True)))
    for index in opened:
        index.close()
