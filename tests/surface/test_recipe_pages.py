"""docs/recipes: every command runs, every python block prints what it promises, every default is the recipe's."""

import contextlib
import io
import json
import re
import shlex
from pathlib import Path

import pytest

from neardup import load_recipe, recipe_names, sample
from neardup.cli import app

FOLDER = Path(__file__).parents[2] / "docs/recipes"
PAGES = sorted(FOLDER.glob("*.md"))
INPUTS = ("pages.jsonl", "pages.warc.gz")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.S | re.M)


def rows(page: Path, section: str = "") -> list[list[str]]:
    """The cells of every row of every table, of the page or from the title of a section to the next one."""
    text = page.read_text().partition(f"\n## {section}\n")[2].partition("\n## ")[0] if section else page.read_text()
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def commands() -> list[tuple[str, str]]:
    return [(page.stem, line) for page in PAGES for block in blocks(page, "sh") for line in block.splitlines()]


def programs() -> list[tuple[str, int, str]]:
    return [(page.stem, number, code) for page in PAGES for number, code in enumerate(blocks(page, "python"))]


@pytest.fixture(scope="session")
def collection(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("collection")
    sample.write(folder, scale=0.05)
    return folder


@pytest.fixture
def here(collection, tmp_path, monkeypatch) -> Path:
    """A folder of its own with the inputs that the pages name."""
    for name in INPUTS:
        (tmp_path / name).symlink_to(collection / name)
    monkeypatch.chdir(tmp_path)
    for command in ("dedup", "pairs"):  # it would hide modules from all tests that follow
        monkeypatch.setattr(f"neardup.cli.{command}.without_unneeded", lambda: None)
    return tmp_path


def test_every_recipe_has_its_page():
    assert {page.stem for page in PAGES} == {"index", *recipe_names()}
    named = [re.findall(r"^\[([\w-]+)\]\(\1\.md\)$", cells[0]) for cells in rows(FOLDER / "index.md")]
    assert [name for [name] in filter(None, named)] == recipe_names()


@pytest.mark.parametrize("name", recipe_names())
def test_the_defaults_are_the_recipes(name):
    """Every setting of the sketch has a row (the seed is explained once for all), and no row says another default."""
    values = load_recipe(name).to_dict()
    shown = {}
    for setting, default, *_ in rows(FOLDER / f"{name}.md"):
        if found := re.fullmatch(r"`(\w+)\.(\w+)`", setting):
            part, key = found.groups()
            shown[part, key] = default
            assert default == f"`{json.dumps(values[part][key])}`", setting
    expected = {("sketch", key) for key in values["sketch"]} - {("sketch", "seed"), ("sketch", "kind")}
    assert expected <= set(shown)
    assert ("shingles", "width") in shown
    assert ("clusters", "method") in shown


@pytest.mark.parametrize("name", recipe_names())
def test_the_bytes_per_document_are_those_that_are_kept(name):
    sketcher = load_recipe(name).sketcher
    [kept] = [cells[3] for cells in rows(FOLDER / "index.md") if cells[0] == f"[{name}]({name}.md)"]
    if sketcher.has_ragged:
        assert kept.startswith("about 8")
    else:
        size = 8 * sketcher.words + sketcher.samples
        assert re.match(r"[\d,]+", kept).group() == f"{size:,}"
        assert f"**{size:,} bytes**" in " ".join((FOLDER / f"{name}.md").read_text().split())


@pytest.mark.parametrize("name", recipe_names())
def test_the_page_says_where_it_deviates_from_the_paper(name):
    """In one table, without an empty cell; some of it is measured, by a command that the page names."""
    page = FOLDER / f"{name}.md"
    head, *deviations = rows(page, "Where it deviates from the paper")
    assert head == ["what the paper says", "what we do", "why", "what it changes (measured)"]
    assert len(deviations) >= 3
    assert all(len(row) == 4 and all(row) for row in deviations)
    assert any(re.search(r"\d", row[3]) for row in deviations)
    assert re.search(r"`python -m\s+benchmarks\.recipes\.fidelity", page.read_text())


@pytest.mark.parametrize("name", recipe_names())
def test_the_page_shows_how_it_is_run(name):
    own = [line for page, line in commands() if page == name]
    assert any(line.startswith("neardup dedup ") and f"--recipe {name}" in line for line in own)
    assert any(line.startswith("neardup pairs ") and f"--recipe {name}" in line for line in own)
    assert any("--verify exact" in line for line in own)


@pytest.mark.parametrize(("page", "line"), commands(), ids=lambda x: x)
def test_the_commands_run(here, capsys, page, line):
    name, *arguments = shlex.split(line)
    assert name == "neardup"
    with pytest.raises(SystemExit) as ended:
        app.main(arguments)
    assert ended.value.code == 0, capsys.readouterr().err
    if arguments[0] == "dedup":
        assert (here / arguments[arguments.index("-o") + 1] / "run.json").exists()


@pytest.mark.parametrize(("page", "number", "code"), programs(), ids=lambda x: x if len(str(x)) < 20 else "")
def test_the_programs_print_what_they_promise(page, number, code):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, f"{page}.md, block {number}", "exec"), {})
    promised = re.findall(r"^print\(.*\)  # (.*)$", code, re.M)
    assert promised
    assert printed.getvalue().splitlines() == promised


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / target).exists(), target
