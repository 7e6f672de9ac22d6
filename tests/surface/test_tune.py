"""neardup tune: its four forms, its refusals, its pictures, and every example of docs/tune.md."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from neardup import charts
from neardup.analysis.filters import Filter
from neardup.analysis.lists import Lists
from neardup.cli import app
from neardup.cli.curve import Mark, draw
from neardup.errors import MissingExtra, UsageError
from neardup.recipe import Recipe

PAGE = Path(__file__).parents[2] / "docs/tune.md"


@pytest.fixture
def tune(monkeypatch, capsys):
    """(exit code, stdout, stderr) of the command, in a terminal of 80 columns."""
    monkeypatch.setitem(app._COMMANDS, "tune", "Choose parameters, or say what given ones do.")
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            app.main(["tune", *map(str, arguments)])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return call


def test_a_wish_is_chosen_and_explained(tune):
    code, out, err = tune("--threshold", 0.8, "--recall", 0.99)
    assert (code, err) == (0, "")
    for part in (
        "P[20,7,1]",
        "sharpest filter of at most 144",
        "0.6171",
        "threshold 0.8 ┐",
        "half 0.617 ┐",
        "resemblance",
    ):
        assert part in out
    assert max(len(line) for line in out.splitlines()) <= 80


def test_json_has_the_numbers_of_the_formulas(tune):
    code, out, _ = tune("-k", 6, "-s", 14, "-r", 2, "-t", 0.9, "--documents", "200e6", "--json")
    assert code == 0
    told, f = json.loads(out), Filter(6, 14, 2)
    assert (told["half_point"], told["steepest"]) == (f.half_point, f.steepest)
    assert told["total_error"]["0.9"] == f.total_error(0.9)
    assert (told["bytes_per_document"], told["super_features"], told["permutations"]) == (48, 15, 84)
    assert told["collisions"]["pairs"] == f.collision_bound(200e6).pairs
    assert told["curve"] == [[x, p] for x, p in f.curve()]
    assert {x["resemblance"]: x["missed"] for x in told["probabilities"]}[0.99] == f.missed(0.99)


def test_with_reject_the_cheapest_is_chosen_over_r(tune):
    _, out, _ = tune("-t", 0.9, "--reject", 0.6, 0.01, "--json")
    told = json.loads(out)
    assert (told["k"], told["s"], told["r"]) == (14, 7, 3)
    _, out, _ = tune("-t", 0.9, "--reject", 0.6, 0.01, "-r", 2, "--json")
    assert json.loads(out)["r"] == 2


def test_edits(tune):
    code, out, _ = tune("--edits", 10, "--recall", 0.9, "--reject", 40, 0.01, "--json")
    assert code == 0
    told, chosen = json.loads(out), Lists(6, 2, 1)
    assert (told["lists"], told["repetitions"], told["needed"]) == (6, 2, 1)
    assert told["curve"][10] == [10, chosen.probability(10)]
    _, out, _ = tune("--lists", 4, "--repetitions", 3, "--needed", 2)
    assert "4 lists, 2 of 3 repetitions" in out
    assert f"half {Lists(4, 3, 2).half_point} ┐" in out


def test_bloom(tune):
    code, out, _ = tune("--bloom-error", 0.03, "--document-bytes", 65536, "--chunk", 256, "--json")
    assert code == 0
    told = json.loads(out)
    assert (told["bits_per_chunk"], told["chunks"], told["bits"], told["bytes_per_document"]) == (8, 256, 2048, 256)
    assert told["false_ratio"] == pytest.approx(0.0295, abs=1e-4)
    assert told["matches"][-1]["inferred"] == pytest.approx(1)
    _, out, _ = tune("--bloom-error", 0.01)
    assert "Bloom filter of" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--json", "say what is wanted"),
        ("-k 6", "-s is missing"),
        ("-k 3 -s 2 -r 5", "r = 5 of k = 3"),
        ("-k 6 -s 14 --permutations 64", "k × s = 6 × 14 = 84 > permutations = 64; raise --permutations to 84"),
        ("-k 6000 -s 14", "= 84000 > permutations = 4096; choose k = 292"),
        ("-k 6 -s 14 --recall 0.9", "--recall chooses a filter"),
        ("-k 6 -s 14 -t nan", "threshold = nan"),
        ("-t 0.8 --recall 1.0", "recall = 1.0"),
        ("-t 0.8 --permutations 9999", "at most 4096"),
        ("-t 0.8 --reject 0.6 0.01", "allow --permutations 1045"),
        ("-r 2", "add --threshold 0.8"),
        ("--edits 5 -t 0.9", "--edits and --threshold are of two kinds"),
        ("-k 3 -s 2 --bloom-error 0.1", "are of two kinds"),
        ("--edits 5 --reject inf 0.1", "whole number above the 5"),
        ("--edits 5 --needed 2 --recall 0.9", "--needed 2"),
        ("--repetitions 5", "add --edits 10"),
        ("--bloom-error 2", "error = 2.0"),
        ("--bloom-error 0.1 --recall 0.9", "has no recall"),
        ("--chunk 256", "add --bloom-error"),
        ("-t 0.8 -o curve.jpg", "try curve.svg"),
        ("-k 6 -s 14 -r 2 --recipe-out x.toml", "add --threshold, for example the half point 0.909"),
    ],
)
def test_refusals_name_the_next_move(tune, arguments, message):
    code, out, err = tune(*arguments.split())
    assert (code, out) == (2, "")
    assert message in err


def test_the_recipe_can_be_read(tune, tmp_path):
    code, _, err = tune("-t", 0.9, "--recall", 0.95, "--recipe-out", tmp_path / "a.toml", "--json")
    assert code == 0
    recipe = Recipe.from_toml((tmp_path / "a.toml").read_text())
    assert recipe == Recipe.for_threshold(0.9, recall=0.95)
    assert recipe.id in err


def test_pictures_are_drawn_offline(tune, tmp_path):
    code, _, err = tune("-k", 6, "-s", 14, "-r", 2, "-o", tmp_path / "c.svg", "-o", tmp_path / "c.png")
    assert code == 0
    assert "c.png" in err
    svg = (tmp_path / "c.svg").read_text()
    assert "half 0.909" in svg
    assert "10⁻" in svg
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_the_specification_of_a_picture():
    f = Filter(6, 14, 2)
    marks = [charts.Line(0.95, "threshold"), charts.Line(f.half_point, "half")]
    both = charts.curve_chart(f.curve(), title="P", marks=marks).to_dict()
    assert len(both["hconcat"]) == 2
    linear, log = both["hconcat"]
    y = [panel["layer"][0]["encoding"]["y"] for panel in (linear, log)]
    assert y[0]["scale"] == {"domain": [0, 1]}
    assert y[1]["scale"]["type"] == "log"
    assert len(linear["layer"]) == 1 + 2 * len(marks)
    values = linear["layer"][0]["data"]["values"]
    assert [(v["x"], v["p"]) for v in values] == f.curve()
    assert min(v["p"] for v in log["layer"][0]["data"]["values"]) >= 1e-8
    assert len(charts.curve_chart(f.curve(), title="P", scale="log").to_dict()["hconcat"]) == 1
    with pytest.raises(UsageError, match=r"\.svg or \.png"):
        charts.save(None, Path("x.pdf"))


def test_without_the_extra_the_pip_line_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match=r"drawing curves.*neardup\[charts\]"):
        charts.curve_chart([(0, 0), (1, 1)], title="P")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtra, match=r"neardup\[charts\]"):
        charts.save(None, Path("x.svg"))


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("log", [False, True])
def test_the_terminal_curve_fits_and_rises(width, log):
    f = Filter(6, 14, 2)
    text = draw(f.probability, start=0, end=1, width=width, log=log, marks=[Mark(0.01, "low"), Mark(0.9, "high")]).plain
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert any("┌ low" in line for line in lines)
    assert any("high ┐" in line for line in lines)
    plot = [line for line in lines if line[8:9] in "┤│"]
    first = [next((i for i, c in enumerate(line) if "\u2800" < c <= "\u28ff"), None) for line in plot]
    seen = [i for i in first if i is not None]
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 13


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.S)


@pytest.mark.parametrize("block", blocks("console"), ids=lambda b: b.splitlines()[0])
def test_the_pages_commands_print_what_it_shows(tune, tmp_path, monkeypatch, block):
    monkeypatch.chdir(tmp_path)
    command, *shown = block.rstrip("\n").split("\n")
    _, out, err = tune(*shlex.split(command.removeprefix("$ neardup tune")))
    assert [line.rstrip() for line in (out + err).splitlines()] == shown


def test_the_pages_python_says_what_it_says():
    [code] = blocks("python")
    values = {}
    for line in code.splitlines():
        expression, _, promise = line.partition("  # ")
        if promise:
            assert str(eval(expression, values)).startswith(promise.removesuffix("…")), line
        elif line:
            exec(line, values)
