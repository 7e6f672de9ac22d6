"""docs/service.md does what it says: every command runs, in order, and prints what stands below it."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from neardup.service.routes import ROUTES
from tests.service.serving import WRITE, fresh, secret_file, serving

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/service.md").read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("documented")
    secret_file(made / "write-token", f"{WRITE}\n")
    return made


@pytest.fixture(scope="module")
def documented(folder):
    # Compiling beside other tests may take longer than a request has time by default.
    with serving(folder / "seen.ndx", "--write-token-file", str(folder / "write-token"), "--timeout", "300") as made:
        yield made


def said(line: str) -> object:
    return json.loads(line) if line.startswith("{") else line


def as_promised(promise: object, found: object) -> bool:
    """The same, where … stands for any string."""
    if isinstance(promise, dict) and isinstance(found, dict):
        return promise.keys() == found.keys() and all(as_promised(promise[key], found[key]) for key in promise)
    if isinstance(promise, list) and isinstance(found, list):
        return len(promise) == len(found) and all(map(as_promised, promise, found))
    return promise == found or (promise == "…" and isinstance(found, str))


def test_every_command_prints_what_is_promised(documented, folder):
    blocks = re.findall(r"```sh\n(.*?)```\n\n```(?:json)?\n(.*?)```", PAGE, re.S)
    assert len(blocks) == PAGE.count("```sh\n")
    for commands, promised in blocks:
        script = f"TOKEN=$(cat write-token)\n{commands}".replace("http://127.0.0.1:8080", documented.address)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, (commands, done.stderr)
        promises, lines = promised.splitlines(), done.stdout.splitlines()
        assert len(promises) == len(lines), (commands, done.stdout)
        for promise, line in zip(promises, lines, strict=True):
            assert as_promised(said(promise), said(line)), (commands, line)


def test_every_address_has_a_command():
    shown = re.findall(r"http://127\.0\.0\.1:8080(/\S*)", " ".join(re.findall(r"```sh\n(.*?)```", PAGE, re.S)))
    for route in ROUTES:
        if route.path == "/docs" or route.named:
            continue
        if route.level == "admin":  # the service of this page has no token that may
            assert route.path.partition("{")[0].rstrip("/") in PAGE
            continue
        if route.stream:
            assert f"`{route.does}`" in PAGE or f"`{route.path}`" in PAGE
        else:
            assert any(path.startswith(route.path.partition("{")[0]) for path in shown), route.path


def test_every_limit_is_documented():
    from neardup.cli.serve import command

    for option in command.params:
        for name in option.opts:
            if name.startswith("--max-") or name in ("--concurrency", "--streams", "--timeout", "--idle-timeout"):
                assert f"`{name}`" in PAGE


def test_the_python(documented, folder, monkeypatch):
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    monkeypatch.chdir(folder)
    printed = io.StringIO()
    names: dict = {}
    with contextlib.redirect_stdout(printed):
        exec(compile(code.replace("http://127.0.0.1:8080", documented.address), "service.md", "exec"), names)
    names["client"].close()
    assert printed.getvalue().split() == ["True", "duplicate", "new"]


def test_the_example(documented, folder):
    texts = [fresh(), fresh()]
    pages = [
        {"url": "https://d.example/1", "text": texts[0], "fetched": "today"},
        {"url": "https://d.example/2", "html": f"<main>{texts[1]}</main>"},
        {"id": "three", "text": texts[0].title()},
    ]
    lines = "".join(json.dumps(page) + "\n" for page in pages)
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples/crawler_client.py"), documented.address],
        input=lines, capture_output=True, text=True, timeout=60, env={**os.environ, "NEARDUP_WRITE_TOKEN": WRITE},
    )  # fmt: skip
    assert done.stderr == "3 pages, 2 new\n"
    assert [json.loads(line) for line in done.stdout.splitlines()] == pages[:2]
