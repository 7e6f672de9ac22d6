"""neardup evaluate, as it is typed; and every example of docs/evaluate.md."""

import contextlib
import io
import json
import re
import shlex
from pathlib import Path

import pytest

from neardup import sample
from neardup.cli import app

PAGE = Path(__file__).parents[2] / "docs/evaluate.md"


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collection")
    sample.write(folder, scale=0.3)
    return folder


@pytest.fixture
def here(collection, tmp_path, monkeypatch):
    for name in ("pages.jsonl", "truth.tsv"):
        (tmp_path / name).symlink_to(collection / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(monkeypatch, capsys):
    """(exit code, stdout, stderr) of the command, where it does not hide modules from the tests that follow."""
    monkeypatch.setattr("neardup.cli.evaluate.without_unneeded", lambda: None)
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            app.main([*map(str, arguments)])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return call


def test_a_table_on_the_terminal(run, here):
    code, out, err = run("evaluate", "pages.jsonl", "--truth", "truth.tsv", "--recipe", "alg-b", "--recipe", "alg-c")
    assert code == 0
    assert re.search(r"alg-b +0\.\d{3} \[0\.\d{3}–\d\.\d{3}\]", out)
    assert "adjusted Rand" in out
    assert "Same site" not in out
    assert "labelled pairs" in err
    assert "'a', 'b' and 'label' of truth.tsv; verdicts." in err
    assert max(map(len, out.splitlines())) <= 160


def test_splits_on_request(run, here):
    code, out, _ = run("evaluate", "pages.jsonl", "--truth", "truth.tsv", "--recipe", "alg-c", "--splits", "-q")
    assert code == 0
    for title in ("Same site or different sites · alg-c", "B-similarity", "C-similarity", "Kind of difference"):
        assert title in out


def test_json_and_a_folder(run, here):
    arguments = ("evaluate", "pages.jsonl", "--truth", "truth.tsv", "--recipe", "alg-b", "--sample", 50, "--no-papers")
    code, out, err = run(*arguments, "--json", "-o", "out")
    assert code == 0
    assert json.loads(out) == json.loads((here / "out/evaluation.json").read_text())
    assert "evaluation.html" in err
    assert not (here / "out/exhibits").exists()
    assert run(*arguments, "-o", "out")[0] == 0  # its own folder is written over


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["pages.jsonl"], 2, "Missing option '--truth'"),
        (["-", "--truth", "truth.tsv"], 2, "write standard input to a file first"),
        (["pages.jsonl", "--truth", "none.tsv"], 1, "none.tsv"),
        (["pages.jsonl", "--truth", "truth.tsv", "--column", "label"], 2, "write ROLE=NAME"),
        (["pages.jsonl", "--truth", "truth.tsv", "--column", "verdict=x"], 1, "no column 'x'"),
        (["pages.jsonl", "--truth", "truth.tsv", "--recipe", "alg-d"], 2, "Did you mean"),
        (["pages.jsonl", "--truth", "truth.tsv", "-o", "truth.tsv"], 2, "is a file"),
        (["pages.jsonl", "--truth", "truth.tsv", "-o", "."], 2, "holds other files"),
        (["pages.jsonl", "--truth", "truth.tsv", "--level", "95"], 2, "level = 95"),
    ],
)
def test_refusals(run, here, arguments, code, said):
    found, out, err = run("evaluate", *arguments)
    assert found == code
    assert said in err
    assert out == ""


def test_ids_of_the_truth_cannot_steer_the_terminal(run, here):
    evil = "\x1b[31mred\x07"
    rows = [{"id": x, "text": "one two three four five six seven eight nine ten"} for x in "ab"]
    (here / "d.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (here / "t.jsonl").write_text(json.dumps({"a": "a", "b": "b", "label": "yes", "kind": evil}) + "\n")
    code, out, err = run("evaluate", "d.jsonl", "--truth", "t.jsonl", "--recipe", "alg-b", "--splits")
    assert code == 0
    assert "red" in out
    assert "\x1b[31m" not in out + err
    assert "\x07" not in out + err


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.S | re.M)


@pytest.mark.parametrize("block", blocks("console"), ids=lambda b: b.splitlines()[0])
def test_the_pages_commands_print_what_it_shows(run, here, block):
    """What is shown is what goes to standard output."""
    command, *shown = block.rstrip("\n").split("\n")
    code, out, _ = run(*shlex.split(command.removeprefix("$ neardup ")))
    assert code == 0
    assert [line.rstrip() for line in out.rstrip("\n").splitlines()] == shown


def test_the_pages_python_says_what_it_says(here):
    [code] = blocks("python")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "evaluate.md", "exec"), {})
    promised = [line.split("  # ")[1] for line in code.splitlines() if line.startswith("print(")]
    assert printed.getvalue().splitlines() == promised
