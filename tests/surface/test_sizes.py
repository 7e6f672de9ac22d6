"""Numbers as people write them on the command line."""

import click
import pytest

from neardup.cli.sizes import bytes_in, number_in


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("2GB", 2 * 10**9),
        ("500 MB", 500 * 10**6),
        ("2e9", 2 * 10**9),
        ("1.5GiB", 1536 << 20),
        ("20TB", 20 * 10**12),
        ("1_000", 1000),
        ("1,000 b", 1000),
        ("8kB", 8000),
    ],
)
def test_bytes(written, number):
    assert bytes_in(written) == number


@pytest.mark.parametrize(("written", "number"), [("1.6e9", 1_600_000_000), ("200_000", 200_000), ("7", 7)])
def test_documents(written, number):
    assert number_in(written) == number


@pytest.mark.parametrize("written", ["", "much", "2 XB", "GB", "1e", "nan", "inf"])
def test_what_is_no_number(written):
    with pytest.raises(click.BadParameter, match="is no number; write it as 20e12, 20TB or 20TiB"):
        bytes_in(written)


def test_documents_have_no_units():
    with pytest.raises(click.BadParameter, match=r"is no number; write it as 1\.6e9"):
        number_in("2GB")
