"""What docs/spark.md shows works."""

import re
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import neardup
from tests.spark.pages import some_pages

PAGE = (Path(__file__).parents[2] / "docs/spark.md").read_text()


def test_the_examples(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, folder = str(tmp_path / "pages.parquet"), str(tmp_path / "work")
    pq.write_table(some_pages(), source)
    submitted, in_a_notebook = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    monkeypatch.setattr(sys, "argv", ["dedup.py", source, str(tmp_path / "out")])
    exec(compile(submitted, "dedup.py", "exec"), {})
    kept = pq.read_table(tmp_path / "out" / "kept").column("url").to_pylist()
    assert sorted(kept) == sorted(neardup.dedup(source).kept.column("url").to_pylist())
    given = {"spark": spark, "source": source, "folder": folder, "neardup": neardup}
    exec(compile(in_a_notebook, "docs/spark.md", "exec"), given)
    clean = pq.read_table(Path(folder) / "clean").column("url").to_pylist()
    expected = neardup.dedup(source, keep="longest", text_field="text")
    assert len(clean) == expected.counts["kept"]


def test_what_it_says_of_errors_is_what_they_say() -> None:
    """The table's first column is made of sentences of the code."""
    code = "".join(path.read_text() for path in Path(neardup.__file__).parent.rglob("*.py"))
    plain = re.sub(r'"\s*\n\s*f?"', "", code)
    table = PAGE.partition("## When something is wrong")[2]
    told = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")][2:]
    assert len(told) > 10
    for sentence in told[:-1]:
        pieces = [
            p.strip() for p in re.split(r"…|\d[\d.]*|OUT/kept|--threshold.*|csv|or newer, and|: on host", sentence)
        ]
        longest = max(pieces, key=len)
        assert longest in plain, longest
