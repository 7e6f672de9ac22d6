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


EVIL = "\x1b[31mred\x1b]0;title\x07\x9b31m\u202e"


def test_errors_cannot_steer_the_terminal(run, here):
    (here / "t.tsv").write_text(f"a{EVIL}\tb\tlabel\nx\ty\n")
    for name, content in (
        ("short.tsv", f"a\tb\tlabel\n{EVIL}\ty\n"),
        ("verdict.tsv", f"a\tb\tlabel\nx\ty\t{EVIL}\n"),
        ("names.tsv", f"{EVIL}\tb\n1\t2\n"),
        ("keys.jsonl", f'{{"a": "x", "b": "y", "label": "{EVIL}\n'),
        (f"{EVIL.replace('/', '')}.tsv", "a\tb\n1\t2\n"),
    ):
        (here / name).write_text(content)
        code, out, err = run("evaluate", "pages.jsonl", "--truth", name)
        assert code == 1, name
        assert out == ""
        assert all(c.isprintable() or c == "\n" for c in err), name
    code, _, err = run("evaluate", "pages.jsonl", "--truth", "truth.tsv", f"--{EVIL}")
    assert code == 2
    assert "Usage:" in err.splitlines()[0]  # lines stay lines
    assert all(c.isprintable() or c == "\n" for c in err)
    assert run(f"{EVIL}")[2].isascii()


def test_json_cannot_steer_the_terminal(run, here):
    rows = [{"id": x, "text": "one two three four five six seven eight nine ten"} for x in "ab"]
    (here / "d.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (here / "t.jsonl").write_text(json.dumps({"a": "a", "b": "b", "label": "yes", "kind": f"é {EVIL} \U000e0041"}))
    code, out, _ = run("evaluate", "d.jsonl", "--truth", "t.jsonl", "--recipe", "alg-b", "--json", "--no-papers", "-q")
    assert code == 0
    assert all(c.isprintable() or c == "\n" for c in out)
    [kinds] = [s for s in json.loads(out)["splits"] if s["key"] == "kind"]
    assert kinds["parts"][0]["part"] == f"é {EVIL} \U000e0041"
    assert "é" in out


def test_an_interrupted_evaluation_can_be_made_again(run, here, monkeypatch):
    arguments = (
        "evaluate",
        "pages.jsonl",
        "--truth",
        "truth.tsv",
        "--recipe",
        "alg-b",
        "--no-papers",
        "-q",
        "-o",
        "out",
    )

    def stopped(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("neardup.evaluating.write.write_page", stopped)
        assert run(*arguments)[0] == 130
    assert (here / "out/recipes.parquet").exists()
    assert not (here / "out/evaluation.json").exists()
    (here / "out/.pairs.parquet.part").write_bytes(b"half")
    assert run(*arguments)[0] == 0
    assert not (here / "out/.pairs.parquet.part").exists()


@pytest.mark.parametrize("name", ["pairs.parquet", "mine.txt", "exhibits/mine.csv"])
def test_a_folder_of_the_users_is_not_written_into(run, here, name):
    (here / "theirs" / name).parent.mkdir(parents=True)
    (here / "theirs" / name).write_text("x")
    code, _, err = run("evaluate", "pages.jsonl", "--truth", "truth.tsv", "-o", "theirs")
    assert code == 2
    assert "holds other files" in err
    assert (here / "theirs" / name).read_text() == "x"


def test_lists_of_queries(run, here):
    ids = [json.loads(line)["id"] for line in (here / "pages.jsonl").read_text().splitlines()[:12]]
    (here / "l.tsv").write_text("query\tid\n" + "".join(f"tea\t{i}\n" for i in ids))
    arguments = ("evaluate", "pages.jsonl", "--truth", "truth.tsv", "--recipe", "alg-b", "-q", "--lists", "l.tsv")
    assert run(*arguments, "-o", "out")[0] == 0
    assert (here / "out/exhibits/jain-figure-8.csv").read_text().startswith("query,")
    code, _, err = run(*arguments)
    assert code == 2
    assert "-o OUT" in err


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
