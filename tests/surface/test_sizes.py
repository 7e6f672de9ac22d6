"""Numbers as people write them on the command line."""

import click
import pytest

from neardup.cli.sizes import Size


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("2GB", 2 * 10**9),
        ("500 MB", 500 * 10**6),
        ("2e9", 2 * 10**9),
        ("1.5GiB", 1536 << 20),
        ("20TB", 20 * 10**12),
        ("20e12", 20 * 10**12),
        ("1_000", 1000),
        ("1,000 b", 1000),
        ("8k", 8000),
    ],
)
def test_bytes(written, number):
    assert Size(of_bytes=True).convert(written, None, None) == number


@pytest.mark.parametrize(("written", "number"), [("1.6e9", 1_600_000_000), ("200_000", 200_000), ("7", 7)])
def test_documents(written, number):
    assert Size(of_bytes=False).convert(written, None, None) == number


@pytest.mark.parametrize("written", ["", "much", "-3", "2 XB", "GB", "1e", "nan", "inf", "0", "0.1"])
def test_what_is_no_size(written):
    with pytest.raises(click.BadParameter, match=r"at least 1|is no number of bytes; write 2GB"):
        Size(of_bytes=True).convert(written, None, None)


def test_documents_have_no_units():
    with pytest.raises(click.BadParameter, match="is no number of documents; write 200000"):
        Size(of_bytes=False).convert("2GB", None, None)
