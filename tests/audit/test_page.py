"""What docs/audit.md shows is what happens."""

import re
import shlex
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "audit.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


def test_commands_and_python_of_the_page(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [console] = blocks("console")
    for given in re.split(r"^\$ neardup ", console, flags=re.M)[1:]:
        line, _, shown = given.partition("\n")
        answer = command(*shlex.split(line))
        assert answer.code == 0, answer.stderr
        if shown:
            assert [said.rstrip() for said in answer.stdout.splitlines()] == shown.rstrip("\n").split("\n")
    names: dict = {}
    for code in blocks("python"):
        exec(compile(code, "audit.md", "exec"), names)
    assert names["session"].said(0).reason == "changing"
    assert names["audit"].missed[0].why == "no key in common"
    assert "1 of 50 pairs labelled: 1 correct" in command("audit", "clean", "--precision").stdout
