"""Every index has a seed of its own, unless one is given."""

import json
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

import neardup
from neardup import Index
from neardup.cli import main
from neardup.errors import RecipeError
from neardup.recipes import load_recipe, name_of
from tests.service.serving import serving


@pytest.fixture(autouse=True)
def _drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neardup.recipes.randbits", secrets.randbits)


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]):
    """Run a command that succeeds, in this process; return what it says."""

    def done(*arguments: object) -> str:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
        told = capfd.readouterr()
        assert ended.value.code == 0, told.err
        return told.out + told.err

    return done


def seed_of(path: Path) -> int:
    with Index.open(path, create=False, read_only=True) as index:
        return index.recipe.sketch.seed


@pytest.mark.parametrize("recipe", [None, "stream", "default"])
def test_no_two_have_the_same(recipe, tmp_path):
    seeds = set()
    for name in "ab":
        with Index.open(tmp_path / name, recipe) as index:
            seeds.add(index.recipe.sketch.seed)
            assert index.info()["recipe"] == (recipe or "stream")
        with Index.open(tmp_path / name, recipe) as again:
            assert again.recipe.sketch.seed in seeds, "who names the recipe may open it again"
    assert len(seeds) == 2
    assert 1 not in seeds


def test_another_recipe_is_still_refused(tmp_path):
    Index.open(tmp_path / "a").close()
    with pytest.raises(RecipeError, match=r"made by recipe stream .* default .* is asked for"):
        Index.open(tmp_path / "a", "default")


def test_a_recipe_has_its_own(tmp_path):
    with Index.open(tmp_path / "a", load_recipe("stream")) as index:
        assert index.recipe.sketch.seed == 1
    file = tmp_path / "mine.toml"
    file.write_text(load_recipe("stream").changed(sketch_seed=5).to_toml())
    with Index.open(tmp_path / "b", file) as index:
        assert index.recipe.sketch.seed == 5


def test_the_command_draws_one_unless_it_is_told(tmp_path, run):
    for name, more in {"a": [], "b": [], "c": ["--seed", 7], "d": ["--set", "sketch.seed=8"]}.items():
        assert "recipe stream" in run("index", "create", tmp_path / name, *more)
    run("index", "create", tmp_path / "e", "--recipe", "default", "--keep", "text", "--threshold", 0.9)
    seeds = [seed_of(tmp_path / name) for name in "abcde"]
    assert seeds[2:4] == [7, 8]
    assert len({1, *seeds}) == 6
    assert json.loads(run("index", "info", tmp_path / "a", "--json"))["seed"] == seeds[0]
    assert f"{seeds[0]}, to be kept from strangers" in run("index", "info", tmp_path / "a")


def test_a_run_against_an_index_has_its_seed_and_can_be_added(tmp_path, run):
    given = tmp_path / "a.jsonl"
    given.write_text("".join(json.dumps({"id": f"d{i}", "text": f"text number {i} " * 9}) + "\n" for i in range(9)))
    Index.open(tmp_path / "seen").close()
    run("dedup", given, "-o", tmp_path / "out", "--against", tmp_path / "seen", "-q")
    run("index", "add", tmp_path / "seen", "--run", tmp_path / "out")
    with Index.open(tmp_path / "seen") as index:
        assert len(index) == 9
        assert name_of(index.recipe, any_seed=True) == "stream"
        assert name_of(index.recipe) is None


def test_an_index_of_a_run_has_the_runs(tmp_path, run):
    neardup.dedup([{"id": "a", "text": "one two three four five six"}], recipe="stream").write(tmp_path / "out")
    run("index", "create", tmp_path / "seen", "--run", tmp_path / "out")
    assert seed_of(tmp_path / "seen") == 1


def test_an_export_of_another_seed_is_refused_with_the_way_out(tmp_path, run):
    for name in "ab":
        with Index.open(tmp_path / name) as index:
            index.add("d", "one two three four five six seven")
            index.export(tmp_path / f"{name}.parquet")
    with Index.open(tmp_path / "a") as index, pytest.raises(RecipeError, match="--seed"):
        index.add_export(tmp_path / "b.parquet")
    run("index", "create", tmp_path / "c", "--seed", seed_of(tmp_path / "b"))
    with Index.open(tmp_path / "c") as index:
        assert index.add_export(tmp_path / "b.parquet") == 1


def test_who_names_the_recipe_of_an_index_means_its_seed(tmp_path, run):
    given = [{"id": f"d{i}", "text": f"text number {i} " * 9} for i in range(9)]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in given))
    with Index.open(tmp_path / "seen") as index:
        index.add_many(given[:5])
        result = neardup.dedup(given, recipe="stream", against=index, again="remove")
        assert result.recipe.sketch.seed == index.recipe.sketch.seed
        with pytest.raises(RecipeError, match="another recipe"):
            neardup.dedup(given, recipe="stream", seed=1, against=index)
    run("dedup", file, "-o", tmp_path / "out", "--recipe", "stream", "--against", tmp_path / "seen", "-q")
    seed = str(seed_of(tmp_path / "seen"))
    assert seed in (tmp_path / "out" / "run.json").read_text()
    assert seed not in (tmp_path / "out" / "report.html").read_text()


def test_it_is_said_where_the_seed_is_all_that_differs(tmp_path):
    made = neardup.dedup([{"id": "a", "text": "one two three four five six"}], recipe="stream")
    with (
        Index.open(tmp_path / "seen") as index,
        pytest.raises(RecipeError, match=r"differ in the seed alone.*--against"),
    ):
        index.add_run(made)
    with pytest.raises(RecipeError, match="differ in the seed alone"):
        Index.open(tmp_path / "seen", load_recipe("stream"))


def test_no_door_uses_the_public_seed(tmp_path, run, address):
    """Of those that make an index where nobody gave a seed."""
    lines = "".join(json.dumps({"id": f"d{i}", "text": f"text number {i} " * 9}) + "\n" for i in range(3))
    neardup.dedup([{"id": "a", "text": "one two three four five six"}], recipe="stream", seed=77).write(
        tmp_path / "out"
    )
    run("index", "create", tmp_path / "create")
    run("index", "create", tmp_path / "default", "--recipe", "default")
    run("index", "create", address)
    run("index", "create", tmp_path / "run", "--run", tmp_path / "out")
    done = subprocess.run(
        [sys.executable, "-m", "neardup", "index", "filter", str(tmp_path / "filter"), "-q"],
        input=lines, text=True, capture_output=True, cwd="/",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with serving(tmp_path / "serve") as service:
        told = (
            service.http.get("/v1/index").text
            + service.http.get("/openapi.json").text
            + service.http.get("/metrics").text
        )
        problem = service.post("add", {"id": "a", "text": 7}).text
        service.post("add", {"id": "a", "text": "some words"})
        said = service.stop()
    seeds = {name: seed_of(tmp_path / name) for name in ("create", "default", "filter", "serve")}
    with Index.open(address, read_only=True) as index:
        seeds["database"] = index.recipe.sketch.seed
    assert len({1, *seeds.values()}) == 6
    assert seed_of(tmp_path / "run") == 77, "that of the run: nobody draws one for sketches that are made"
    assert str(seeds["serve"]) not in told + problem + said


def test_other_users_cannot_read_the_seed(tmp_path):
    with Index.open(tmp_path / "seen") as index:
        index.backup(tmp_path / "saved")
    Index.restore(tmp_path / "saved", tmp_path / "again")
    for name in ("seen", "saved", "again"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o700


def test_errors_do_not_tell_it(tmp_path):
    with Index.open(tmp_path / "seen") as index:
        seed = str(index.recipe.sketch.seed)
        assert seed not in repr(index)
        assert seed not in json.dumps(index.info())
    with pytest.raises(RecipeError) as refused:
        Index.open(tmp_path / "seen", load_recipe("stream"))
    assert seed not in str(refused.value)
