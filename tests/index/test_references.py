"""References that lead nowhere, or that promise more than there is."""

import os
from pathlib import Path

import pytest

from neardup.index.references import _content


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("", b"some words"),
        ("#5-9", b"word"),
        (f"#5-{10**15}", b"words"),
        (f"#{10**30}-{10**31}", b""),
        ("#0-" + "9" * 5000, None),
        ("#9-3", b""),
    ],
)
def test_a_range_ends_with_its_file(place: str, found: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"some words")
    assert _content(f"{path}{place}") == found


def test_only_files_are_read(tmp_path: Path) -> None:
    """A pipe would be waited for, and a device need not end."""
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", "/dev/zero", tmp_path, tmp_path / "nothing"):
        assert _content(str(place)) is None
