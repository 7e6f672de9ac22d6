"""What the documentation shows works, and what is made from the code is up to date."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from scripts import make_reference

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]


def test_the_ten_lines_of_python_say_what_they_say():
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    promised = [line.split("#")[1].strip() for line in code.splitlines() if line.startswith("print(")]
    for line, promise in zip(printed.getvalue().splitlines(), promised, strict=True):
        assert line.startswith(promise.removesuffix("…").strip())


def test_every_option_is_documented():
    assert (ROOT / "docs/cli.md").read_text() == make_reference.reference()
    page = (ROOT / "docs/mathematics.md").read_text()
    assert page == make_reference.mathematics(page)


def test_tokens_are_written_for_their_owner_alone():
    """And those that are made are on no command line: not as an argument, not as a literal of a secret."""
    pages = [*PAGES, *(path for path in sorted((ROOT / "deploy").iterdir()) if path.is_file())]
    lines = [line for page in pages for line in page.read_text().replace("\\\n", " ").splitlines()]
    made = [line for line in lines if re.search(r"(openssl rand|neardup token) .*>", line)]
    assert len(made) >= 6
    assert any("neardup token" in line for line in made)
    assert all(re.search(r"\(umask 077; [^)]*(openssl rand|neardup token) [^)]*>", line) for line in made), made
    assert [line for line in lines if "--from-literal" in line] == []
    assert [line for line in lines if re.search(r"(\$\(|`)(openssl rand|neardup token) [^`]*\)", line)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_map_names_what_is_there():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for part in (ROOT / "src/neardup").iterdir():
        if part.suffix == ".py" or (part.is_dir() and (part / "__init__.py").exists()):
            name = part.name if part.is_file() else part.name + "/"
            assert name in text or name in ("__main__.py", "_version.py"), name
