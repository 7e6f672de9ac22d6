"""URLs are cut as the regular expression says."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import addresses as kernel
from neardup.text.sites import PLACE_AND_PATH

pieces = st.sampled_from(
    ["http:", "HTTPS:", "a+b-c.1:", "1a:", ":", "//", "/", "?", "#", "é", "host.example", "x", "-", "1", " ", "\n", "@"]
)


def cut(urls: list[str]) -> list[tuple[str, str]]:
    data = "".join(urls).encode()
    offsets = np.concatenate([[0], np.cumsum([len(url.encode()) for url in urls])]).astype(np.int64)
    hosts, paths = np.empty(len(urls), np.int64), np.empty(len(urls), np.int64)
    kernel.cut(np.frombuffer(data, np.uint8), offsets, hosts, paths)
    return [
        (data[a:b].decode(), data[b:c].decode())
        for a, b, c in zip(offsets.tolist(), hosts.tolist(), paths.tolist(), strict=False)
    ]


@given(st.lists(st.lists(pieces, max_size=8).map("".join), max_size=5))
def test_as_the_regular_expression_says(urls):
    urls = [url.strip() for url in urls]
    found = (re.match(PLACE_AND_PATH, url) for url in urls)
    assert cut(urls) == [(one["host"], one["path"]) for one in found if one is not None]


@pytest.mark.parametrize(
    ("url", "host", "path"),
    [
        ("https://a.example/b?c#d", "https://a.example", "/b?c"),
        ("//a.example?c/d", "//a.example", "?c/d"),
        ("a.example:80/b", "a.example:80", "/b"),
        ("mailto:x@a.example", "mailto:x@a.example", ""),
        ("", "", ""),
    ],
)
def test_examples(url, host, path):
    assert cut([url]) == [(host, path)]


def test_pieces_are_put_side_by_side():
    data = np.frombuffer(b"abcdefgh", np.uint8)
    begins, ends = np.array([6, 0, 3]), np.array([8, 0, 6])
    out = np.empty(5, np.uint8)
    kernel.gathered(data, begins, ends, np.array([0, 2, 2, 5]), out)
    assert out.tobytes() == b"ghdef"
