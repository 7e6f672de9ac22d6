"""Recipes that cannot work, work of two recipes in one folder, and pages that were written to hurt."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

import neardup
from neardup.recipes import load_recipe
from tests.corpus import documents
from tests.surface.conftest import run


def write_rows(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    return write_rows(tmp_path_factory.mktemp("recipes") / "in.jsonl", documents(30, seed=3))


REDUCIBLE = 'shingles.polynomial="0x10000000000000001"'  # x^64 + 1 = (x + 1)^64


REFUSED: dict[str, list[str]] = {
    "--recipe altavista --set sketch.k=100 --set sketch.s=50": ["100 × 50 = 5000", "at most 4096"],
    "--recipe altavista --set sketch.r=7": ["r = 7", "k = 6"],
    "--recipe altavista --set sketch.k=40 --set sketch.r=5": ["658,008", "5,000"],
    "--recipe altavista --set shingles.width=0": ["width = 0", "1 to 1000"],
    f"--recipe altavista --set {REDUCIBLE}": ["reducible", "0x10000000000000001", "factor"],
    "--recipe altavista --set shingles.polynomial=1f": ["degree is 4", "64"],
    "--recipe alg-c --set sketch.pieces=7": ["pieces = 7", "bits = 384", "6, 8, 12"],
    "--recipe alg-c --set sketch.similar=385": ["similar = 385", "bits = 384"],
    "--recipe lists --set sketch.needed=2": ["needed = 2", "repetitions = 1"],
    "--recipe bloom --set sketch.chunk=100": ["chunk = 100", "power of two"],
    "--recipe bloom --set text.links=true": ["links = 0.0", "links = true"],
    "--recipe alg-b --recall 0.9": ["recall = 0.9", "recipe"],
    "--recipe alg-c --threshold 0.9": ["threshold = 0.9", "c-similarity", "372", "--verify exact"],
    "--recipe alg-c --verify none": ["none", "exact"],
    "--set clusters.measured=9000000000000000000": ["measured = 9000000000000000000", "1 to 1,048,576"],
    "--set clusters.crowd=2000000000": ["crowd = 2000000000", "1 to 1,048,576"],
    "--set clusters.crowd=0": ["crowd = 0", "1 to 1,048,576"],
    "--recipe bloom --set sketch.longest=9000000000000000000": ["longest = 9000000000000000000", "at most"],
    "--recipe altavistta": ["altavistta", "Did you mean 'altavista'?"],
    "--recipe nowhere.toml": ["nowhere.toml", "cannot be read"],
    "--recipe alg-b --set sketch.q=3": ["no setting 'q'", "k, r, s"],
    "--recipe alg-b --set nothing.q=3": ["no part 'nothing'", "shingles, sketch"],
    "--recipe alg-b --set nonsense": ["--set nonsense", "PART.KEY=VALUE"],
    "--recipe alg-b --set sketch.k=many": ["'many'", "a whole number"],
    "--set sketch.kind=lists": ["sketch.kind", "--recipe"],
}

# All of them in one process, for most of the time goes into starting it: options in, exit codes and sentences out.
COMMANDS = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from neardup.cli import main

answers = []
for arguments in json.load(sys.stdin):
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as talk:
        try:
            main(arguments)
        except SystemExit as ended:
            answers.append([ended.code, out.getvalue(), talk.getvalue()])
json.dump(answers, sys.stdout)
"""


@pytest.fixture(scope="module")
def refusals(source) -> dict[str, list]:
    asked = [["dedup", str(source), "-o", str(source.parent / "out"), *options.split(" ")] for options in REFUSED]
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS], input=json.dumps(asked), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(REFUSED, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("options", REFUSED)
def test_what_cannot_work_is_refused_with_the_numbers(refusals, source, options):
    code, printed, talk = refusals[options]
    said = " ".join(talk.split())
    assert code == 2, said
    assert printed == ""
    assert said.startswith(("neardup: ", "Usage: "))
    for word in REFUSED[options]:
        assert word in said
    assert not (source.parent / "out").exists()


def test_the_same_from_outside(source, tmp_path):
    done = run("pairs", source, "--recipe", "alg-c", "--set", "sketch.pieces=7")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pieces = 7 of bits = 384" in done.stderr


def test_threshold_means_something_to_alg_c_with_verify_exact(source, tmp_path):
    options = ("--recipe", "alg-c", "--threshold", "0.9", "--verify", "exact")
    done = run("dedup", source, "-o", tmp_path / "out", *options, "-q")
    assert done.returncode == 0, done.stderr


def test_a_toml_file_is_a_recipe(source, tmp_path):
    """Also what `neardup recipes NAME` prints."""
    recipe = load_recipe("altavista").changed(sketch_k=5, sketch_s=3, shingles_width=4)
    (tmp_path / "mine.toml").write_text(recipe.to_toml())
    (tmp_path / "theirs.toml").write_text(run("recipes", "lists").stdout)
    for name, expected in (("mine", recipe), ("theirs", load_recipe("lists"))):
        out = tmp_path / name
        done = run("dedup", source, "-o", out, "--recipe", tmp_path / f"{name}.toml", "-q")
        assert done.returncode == 0, done.stderr
        assert neardup.dedup(source, recipe=expected, work=out / "work").counts["documents"] == 30  # the same plan


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"recipe": "alg-b"}, {"recipe": "alg-c"}, "minhash, and is simhash now"),
        ({"recipe": "alg-b"}, {"recipe": "altavista"}, "web, and is all now|was 8, and is 10 now|was star"),
        ({"recipe": "mod-n"}, {"recipe": "mod-n", "threshold": 0.5}, "--threshold was 0.8, and is 0.5 now"),
        ({"recipe": "lists"}, {"recipe": "lists", "seed": 2}, "--seed was 1, and is 2 now"),
        ({"recipe": "alg-c"}, {"recipe": "alg-c", "verify": "exact"}, "--verify was sketch, and is exact now"),
        ({}, {"recipe": "bloom"}, "minhash, and is bloom now"),
    ],
)
def test_work_of_another_recipe_is_not_taken_over(source, tmp_path, first, second, said):
    neardup.dedup(source, **first, work=tmp_path / "work")
    with pytest.raises(neardup.WorkError, match=said):
        neardup.dedup(source, **second, work=tmp_path / "work")


def test_the_command_does_not_take_it_over_either(source, tmp_path):
    assert run("dedup", source, "-o", tmp_path / "out", "--recipe", "lists", "-q").returncode == 0
    before = (tmp_path / "out/run.json").read_bytes()
    done = run("dedup", source, "-o", tmp_path / "out", "--recipe", "bloom", "-q")
    assert done.returncode == 1
    assert "lists, and is bloom now" in " ".join(done.stderr.split())
    assert (tmp_path / "out/run.json").read_bytes() == before
    assert run("dedup", source, "-o", tmp_path / "out", "--recipe", "bloom", "-q", "--fresh").returncode == 0


def test_a_sketch_file_of_another_recipe_is_not_read(source, tmp_path):
    for name in ("alg-b", "combined"):
        neardup.dedup(source, recipe=name, work=tmp_path / name)
    shutil.copy(tmp_path / "alg-b/sketches/00000.arrow", tmp_path / "combined/sketches/00000.arrow")
    ids = {name: load_recipe(name).id for name in ("alg-b", "combined")}
    with pytest.raises(neardup.WorkError, match=f"made by recipe {ids['alg-b']}, and this is recipe {ids['combined']}"):
        neardup.dedup(source, recipe="combined", work=tmp_path / "combined")


# --- hostile pages ---

HOSTILE = {
    "all markup": lambda n: "<div><p><br><img src=a.gif>" * (n // 27),
    "nested": lambda n: "<div>" * (n // 5) + "word",
    "nested and closed": lambda n: "<ul><li>" * (n // 18) + "word" + "</li></ul>" * (n // 18),
    "nested formatting": lambda n: "<b><i>" * (n // 6) + "word",
    "brackets": lambda n: "<" * n,
    "tags left open": lambda n: "<a " * (n // 3),
    "comments left open": lambda n: "<!--" * (n // 4),
    "scripts left open": lambda n: "<script>" * (n // 8),
    "titles left open": lambda n: "<title>" * (n // 7),
    "quotes left open": lambda n: '<a href="' * (n // 9),
    "templates left open": lambda n: "<template>" * (n // 10),
    "text areas that do not end": lambda n: "<textarea></textareax" * (n // 21),
    "one tag of attributes": lambda n: "<img " + "b=c " * (n // 4) + ">",
    "references": lambda n: "&#" * (n // 2),
    "a long base": lambda n: "<base href='http://a/" + "b/" * (n // 8) + "'>" + "<a href=c><img src=d>" * (n // 40),
    "parents": lambda n: "<base href='http://a/'><a href='" + "../" * (n // 3) + "'>",
    "addresses": lambda n: "http://" * (n // 7),
    "numberings": lambda n: "1.a.(i)" * (n // 7),
}
RECIPES = {
    "alg-b": load_recipe("alg-b"),
    "bloom": load_recipe("bloom"),
    "bloom with links": load_recipe("bloom").changed(text_links=True, sketch_links=0.3),
}


def counted(name: str, pages: list[str]) -> tuple[dict, float]:
    """One thread, so that all of the time is this process's own."""
    table = pa.table({"html": pa.array(pages, pa.large_string())})
    begin = time.process_time()
    result = neardup.dedup(table, recipe=RECIPES[name], threads=1, html=True)
    return result.counts, time.process_time() - begin


@pytest.mark.parametrize("name", RECIPES)
def test_hostile_pages_are_all_counted(name):
    """With 100,000 open elements, and twice each: what has text has a twin."""
    pages = [shape(500_000) for shape in HOSTILE.values()] + ["", "<p>a page of words</p>"]
    counts, _ = counted(name, pages + pages)
    assert counts["documents"] == 2 * len(pages)
    assert counts["kept"] + counts["removed"] == 2 * len(pages)
    assert counts["skipped"] == counts["undecodable"] == 0
    assert counts["removed"] >= 3
    assert counts["empty"] >= 4


@pytest.mark.parametrize("name", ["alg-b", "bloom with links"])
@pytest.mark.parametrize("shape", HOSTILE)
def test_hostile_pages_take_linear_time(name, shape):
    """Four times the page takes four times the time; six, and what a run takes anyway, are allowed."""
    small, large = 150_000, 600_000
    once = min(counted(name, [HOSTILE[shape](small)])[1] for _ in range(2))
    four = min(counted(name, [HOSTILE[shape](large)])[1] for _ in range(2))
    assert four <= 6 * once + 0.3


def large_page() -> str:
    words = "the quick brown fox jumps over a lazy dog and on "
    return "<html><body>" + f"<p>{words * 8}</p><img src=a.gif>\n" * (50_000_000 // 417) + "</body></html>"


def test_a_page_of_50_megabytes():
    page = large_page()
    assert len(page) > 49_000_000
    counts, seconds = counted("alg-b", [page, "<p>small</p>", "<p>SMALL</p>"])
    assert counts["documents"] == 3
    assert counts["removed"] == 1
    assert counts["skipped"] == counts["empty"] == 0
    assert counts["text_bytes"] > 45_000_000
    assert seconds < 60
