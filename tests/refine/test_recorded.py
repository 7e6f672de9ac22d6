"""Responses that engines gave, to searches of the sample: read, grouped as the sample's labels say, and given back."""

import json
from pathlib import Path

import pytest

from neardup import group, sample, sign
from neardup.refine.formats import FORMATS
from neardup.refine.formats.verbatim import dumps, loads

RESPONSES = Path(__file__).parent / "responses"
RECORDED = {
    "elasticsearch-7": "elastic",
    "elasticsearch-7-signatures": "elastic",
    "elasticsearch-7-collapsed": "elastic",
    "searx-0.17": "searxng",
}


def text_of(name: str) -> bytes:
    return (RESPONSES / f"{name}.json").read_bytes()


def response_of(name: str) -> dict:
    return json.loads(text_of(name))


@pytest.fixture(scope="module")
def originals() -> dict[str, str]:
    """Of every page of the sample, by its id and its address, which page it was made of."""
    pages = list(sample.documents())
    return {name: page.original for page in pages for name in (page.id, page.url)}


def by_originals(found: list[str], originals: dict[str, str]) -> list[list[str]]:
    groups: dict[str, list[str]] = {}
    for name in found:
        groups.setdefault(originals[name], []).append(name)
    return list(groups.values())


@pytest.mark.parametrize("name", RECORDED)
def test_it_is_recognised(name):
    response = response_of(name)
    assert [known for known, format in FORMATS.items() if format.recognises(response)] == [RECORDED[name]]


@pytest.mark.parametrize(
    ("name", "basis", "folded"),
    [("elasticsearch-7", "text", 8), ("elasticsearch-7-signatures", "signature", 8), ("searx-0.17", "snippet", 8)],
)
def test_groups_are_pages_of_one_original(name, basis, folded, originals):
    found = group(response_of(name))
    assert set(found.bases) == {basis}
    groups = [[found.id(place) for place in (one.anchor, *(m.place for m in one.members))] for one in found.groups]
    assert groups == by_originals([found.id(place) for place in range(len(found.bases))], originals)
    assert found.folded == folded


def test_an_engine_keeps_signatures_as_they_are():
    """In a field of the type that the documentation says."""
    texts = {hit["_id"]: hit["_source"]["text"] for hit in response_of("elasticsearch-7")["hits"]["hits"]}
    kept = {hit["_id"]: hit["_source"] for hit in response_of("elasticsearch-7-signatures")["hits"]["hits"]}
    assert {name: source["neardup_signature"] for name, source in kept.items()} == {
        name: sign(text) for name, text in texts.items()
    }


@pytest.mark.parametrize("name", [name for name in RECORDED if RECORDED[name] == "elastic"])
def test_all_is_given_back_to_the_byte(name):
    whole = loads(text_of(name), name)
    found = group(whole, threshold=1.0, contained=False)
    shown = found.shown("mark")
    assert shown.pop("neardup") == found.counts
    for hit in shown["hits"]["hits"]:
        del hit["neardup"]
    assert dumps(shown) == text_of(name)


def test_what_the_engine_collapsed_stays_within_its_hit():
    response = response_of("elasticsearch-7-collapsed")
    within = [hit["inner_hits"] for hit in response["hits"]["hits"]]
    assert len(within) == 8
    marked = group(response).shown("mark")["hits"]["hits"]
    assert [hit["inner_hits"] for hit in marked] == within
