"""Every promise of the threat model names tests that are there."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/threat-model.md").read_text()
NAMED = re.compile(r"`((?:tests|benchmarks)/[\w/]+\.py)::(\w+)`")


def _promises() -> list[list[str]]:
    """The cells of all rows of tables whose last column is the test."""
    rows, inside = [], False
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            inside = False
        elif cells[-1] == "test":
            inside = True
        elif inside and set(cells[0]) != {"-"}:
            rows.append(cells)
    return rows


@cache
def _tests(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_promise_has_a_test():
    assert len(_promises()) > 30
    for row in _promises():
        assert len(row) == 3, row
        assert all(row), row
        named = NAMED.findall(row[-1])
        assert named, row
        assert NAMED.sub("", row[-1]).strip(", ") == "", row


def test_every_named_test_is_there():
    named = NAMED.findall(PAGE)
    missing = [f"{path}::{name}" for path, name in named if not (ROOT / path).exists() or name not in _tests(path)]
    assert missing == []
    assert all(name.startswith("test_") for _, name in named)
