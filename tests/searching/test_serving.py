"""`neardup serve --collection`: it takes the options that the reading's messages name, and refuses them elsewhere."""

import json
import sys

import pytest

from neardup.cli import main
from tests.service.serving import serving


@pytest.fixture
def refused(capsys, monkeypatch):
    """What is said of a command that is not obeyed."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))

    def run(*arguments: object) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["serve", "--port", "0", *map(str, arguments)])
        assert ended.value.code
        return capsys.readouterr().err

    return run


def test_where_the_documents_are_can_be_said(tmp_path):
    rows = [
        {"one": f"n{n}", "two": f"<p>some words {n}", "three": "x", "where": f"http://a.test/{n}"} for n in range(3)
    ]
    path = tmp_path / "table.data"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    fields = ("--text-field", "two", "--id-field", "one", "--url-field", "where")
    with serving(None, "--collection", str(path), "--format", "jsonl", "--html", *fields) as service:
        assert 'href="http://a.test/2"' in service.http.get("/search?q=words").text
        assert "Nothing was found" in service.http.get("/search?q=p").text, "tags are not searched"
        assert "some words 1" in service.http.get("/document?id=n1").text


def test_a_message_names_options_that_there_are(refused, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("one,two\nleft,right\nup,down\n")
    assert "--text-field" in refused("--collection", path)
    assert "nosuch" in refused("--collection", path, "--text-field", "nosuch")


@pytest.mark.parametrize("option", [("--text-field", "two"), ("--no-html",), ("--format", "jsonl")])
def test_columns_are_of_a_collection(refused, tmp_path, option):
    assert "none is named: --collection PATH" in refused(tmp_path / "seen.ndx", *option)
    assert not (tmp_path / "seen.ndx").exists()
