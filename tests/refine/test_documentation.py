"""docs/search-results.md does what it says, against a server that answers as the engines do."""

import contextlib
import io
import re
import runpy
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESPONSES = Path(__file__).parent / "responses"
PAGE = (ROOT / "docs/search-results.md").read_text()
PATHS = {
    "/pages/_search": "elasticsearch",
    "/archive/_search": "opensearch",
    "/solr/pages/select": "solr",
    "/indexes/pages/search": "meilisearch",
    "/search": "searxng",
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


class Engine(BaseHTTPRequestHandler):
    """Answers every search with what was recorded."""

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = (RESPONSES / f"{PATHS[self.path.partition('?')[0]]}.json").read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def engine():
    with ThreadingHTTPServer(("127.0.0.1", 0), Engine) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def promised(code: str) -> list[str]:
    """What stands behind a print on its line, or below the last one."""
    lines = [line.partition("# ")[2] for line in code.splitlines() if re.match(r"\s*print\(.*\)  # ", line)]
    return lines + [line.removeprefix("# ") for line in code.splitlines() if line.startswith("# ")]


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: str(PAGE[: PAGE.index(code)].count("\n")))
def test_the_python(code, engine):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(re.sub(r"http://localhost:\d+", engine, code), "search-results.md", "exec"), {})
    promises = promised(code)
    assert promises
    for line, promise in zip(printed.getvalue().splitlines(), promises, strict=True):
        assert line.startswith(promise.removesuffix("…").rstrip()) if promise.endswith("…") else line == promise


def test_the_commands(tmp_path):
    said = [each for block in blocks("console") for each in block.split("$ ")[1:]]
    shown, *others = said
    first, _, lines = shown.partition("\n")
    assert first == "cat results.jsonl"
    (tmp_path / "results.jsonl").write_text(lines)
    for given in others:
        command, _, output = given.partition("\n")
        done = subprocess.run(
            ["bash", "-c", command.replace("neardup", f"{sys.executable} -m neardup", 1)],
            cwd=tmp_path, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert (done.returncode, done.stdout + done.stderr) == (0, output), command


@pytest.mark.parametrize("path", [path for path in PATHS if path != "/pages/_search"])
def test_the_example(engine, path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["group_search_results.py", f"{engine}{path}?q=ferry", "0.6"])
    runpy.run_path(str(ROOT / "examples/group_search_results.py"))
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0] == "1. Ferry to the island"
    assert "      identical, 100%: " in printed.out
    assert printed.err.endswith("similar to a better one\n")
    assert len(lines) == int(printed.err.split()[0])
