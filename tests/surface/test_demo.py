"""What `make demo` ends with works: its collection, served by the command that it prints, shows repeats folded."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

MAKEFILE = Path(__file__).parents[2] / "Makefile"


def demo() -> list[str]:
    """The lines of the recipe."""
    recipe = re.search(r"^demo:.*\n((?:\t.*\n)+)", MAKEFILE.read_text(), re.M)
    assert recipe is not None
    return [line.removeprefix("\t").removeprefix("@") for line in recipe[1].splitlines()]


def neardup(command: str) -> list[str]:
    """A command of the Makefile as one of this Python."""
    program, *arguments = shlex.split(command)
    assert program == "$(BIN)/neardup"
    return [sys.executable, "-m", "neardup", *arguments]


def printed_last() -> str:
    [last] = re.findall(r'^echo "\s*(.*)"$', demo()[-1])
    return last


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Where the demo made its sample and deduplicated it."""
    made = tmp_path_factory.mktemp("demo")
    for step in ("sample", "dedup"):
        [command] = [line for line in demo() if line.startswith(f"$(BIN)/neardup {step} ")]
        subprocess.run(neardup(command), cwd=made, check=True, capture_output=True, timeout=120)
    return made


def test_what_it_prints_last_serves_the_collection_with_its_repeats_folded(folder):
    command = [*neardup(printed_last()), "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as service:
        try:
            address = service.stdout.readline().strip()
            with httpx.Client(base_url=address, timeout=60) as browser:
                front = browser.get("/")
                found = browser.get("/search", params={"q": "ferry harbour"})
        finally:
            service.terminate()
    assert front.status_code == found.status_code == 200
    assert 'action="/search"' in front.text
    [(results, folded)] = re.findall(r"(\d+) results, (\d+) repeats folded\.", found.text)
    shown = found.text.count("<h2>")
    behind = [int(number) for number in re.findall(r"<summary>(\d+) similar results?</summary>", found.text)]
    assert behind
    assert sum(behind) == int(folded)
    assert shown + sum(behind) == int(results)


def test_it_is_the_collection_that_the_demo_made(folder):
    served = Path(neardup(printed_last())[-1])
    assert (folder / served / "report.html").is_file()
    assert len(neardup(printed_last())) == 6, "serve --collection FOLDER, and nothing else"
