"""Responses that engines gave, to searches of the sample: read, grouped as the sample's labels say, and given back."""

import copy
import json
from pathlib import Path

import pytest

from neardup import group, sample, sign
from neardup.errors import InputError
from neardup.refine.formats import FORMATS, read
from neardup.refine.formats.verbatim import dumps, loads

RESPONSES = Path(__file__).parent / "responses"
HITS = ("hits", "hits")
DOCS = ("response", "docs")
RECORDED = {
    "elasticsearch-7": ("elastic", HITS),
    "elasticsearch-7-signatures": ("elastic", HITS),
    "elasticsearch-7-collapsed": ("elastic", HITS),
    "elasticsearch-8.12": ("elastic", HITS),
    "elasticsearch-8.12-signatures": ("elastic", HITS),
    "elasticsearch-8.12-collapsed": ("elastic", HITS),
    "elasticsearch-8.12-async": ("elastic", ("response", *HITS)),
    "opensearch-2.5": ("elastic", HITS),
    "opensearch-2.5-signatures": ("elastic", HITS),
    "opensearch-2.5-collapsed": ("elastic", HITS),
    "opensearch-2.5-async": ("elastic", ("response", *HITS)),
    "solr-4.4": ("solr", DOCS),
    "solr-4.4-signatures": ("solr", DOCS),
    "solr-4.4-simple": ("solr", ("grouped", "host_s", "doclist", "docs")),
    "meilisearch-1.21": ("meilisearch", ("hits",)),
    "meilisearch-1.21-signatures": ("meilisearch", ("hits",)),
    "meilisearch-1.21-federated": ("meilisearch", ("hits",)),
    "searx-0.17": ("searxng", ("results",)),
    "searxng-2026": ("searxng", ("results",)),
    "searxng-2026-answer": ("searxng", ("results",)),
    "searxng-2026-documents": ("searxng", ("results",)),
}
"""The format of each, and where its results are."""

SEVERAL = {
    "elasticsearch-8.12-msearch": ("elastic", "2 responses of one _msearch", ("responses",)),
    "opensearch-2.5-msearch": ("elastic", "2 responses of one _msearch", ("responses",)),
    "solr-4.4-grouped": ("solr", "Solr has grouped this response itself", ("grouped", "host_s", "groups")),
    "meilisearch-1.21-multi": ("meilisearch", "the responses of 2 searches", ("results",)),
}
"""Responses of several lists: their format, what is said of them, and where the lists are."""


def text_of(name: str) -> bytes:
    return (RESPONSES / f"{name}.json").read_bytes()


def response_of(name: str) -> dict:
    return json.loads(text_of(name))


def at(response: dict, path: tuple[str, ...]):
    for step in path:
        response = response[step]
    return response


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


@pytest.mark.parametrize("name", [*RECORDED, *SEVERAL])
def test_it_is_recognised(name):
    response = response_of(name)
    expected = RECORDED.get(name) or SEVERAL[name]
    assert [known for known, format in FORMATS.items() if format.recognises(response)] == [expected[0]]


@pytest.mark.parametrize(
    ("name", "basis", "folded"),
    [
        ("elasticsearch-7", "text", 8),
        ("elasticsearch-7-signatures", "signature", 8),
        ("elasticsearch-8.12", "text", 8),
        ("elasticsearch-8.12-signatures", "signature", 8),
        ("elasticsearch-8.12-async", "signature", 4),
        ("opensearch-2.5", "text", 8),
        ("opensearch-2.5-signatures", "signature", 8),
        ("opensearch-2.5-async", "signature", 4),
        ("solr-4.4", "text", 8),
        ("solr-4.4-signatures", "signature", 8),
        ("solr-4.4-simple", "text", 0),
        ("meilisearch-1.21", "text", 7),
        ("meilisearch-1.21-signatures", "signature", 7),
        ("meilisearch-1.21-federated", "text", 7),
        ("searx-0.17", "snippet", 8),
        ("searxng-2026", "snippet", 8),
        ("searxng-2026-answer", "snippet", 6),
    ],
)
def test_groups_are_pages_of_one_original(name, basis, folded, originals):
    found = group(response_of(name))
    assert set(found.bases) == {basis}
    groups = [[found.id(place) for place in (one.anchor, *(m.place for m in one.members))] for one in found.groups]
    assert groups == by_originals([found.id(place) for place in range(len(found.bases))], originals)
    assert found.folded == folded


@pytest.mark.parametrize(
    "engine", ["elasticsearch-7", "elasticsearch-8.12", "opensearch-2.5", "solr-4.4", "meilisearch-1.21"]
)
def test_an_engine_keeps_signatures_as_they_are(engine):
    """In a field of the type that the documentation says."""
    texts = {result.id: result.text for result in read(response_of(engine)).results}
    kept = {result.id: result.signature for result in read(response_of(f"{engine}-signatures")).results}
    assert len(kept) >= 12
    assert kept == {name: sign(text) for name, text in texts.items()}


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("elasticsearch-8.12-signatures", "Removal of an old mooring chain near Lantern Point, February 28"),
        ("opensearch-2.5", "Removal of an old mooring chain near Lantern Point, February 28"),
        ("solr-4.4", "Harbour notice no. 89 - a loose pontoon off Widow's Shoal"),
        ("meilisearch-1.21", "Harbour notice no. 89 - a loose pontoon off Widow's Shoal"),
        ("searxng-2026", "Removal of an old mooring chain near Lantern Point, February 28"),
    ],
)
def test_what_is_known_of_the_best_result(name, title):
    first = read(response_of(name)).results[0]
    assert first.title == title
    assert first.url.startswith("https://harbour.en.example.org/harbour/en-harbour-00")


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("elasticsearch-8.12", "_source"),
        ("opensearch-2.5", "fields"),
        ("solr-4.4", "body_txt_en"),
        ("meilisearch-1.21", "text"),
    ],
)
def test_where_the_text_is_missing_highlighting_is_read(name, field):
    """With the marks around words taken out."""
    response = response_of(name)
    for record in at(response, RECORDED[name][1]):
        del record[field]
    found = group(response)
    assert set(found.bases) == {"snippet"}
    snippets = [result.snippet.lower() for result in found.page.results]
    assert all("ferry" in snippet or "harbour" in snippet for snippet in snippets)
    assert not any("<em>" in snippet for snippet in snippets)


@pytest.mark.parametrize("name", RECORDED)
def test_all_is_given_back(name):
    """To the digit, and to the byte where the engine puts no spaces and line ends between values."""
    format, path = RECORDED[name]
    whole = loads(text_of(name), name)
    before = dumps(whole)
    assert json.loads(before) == response_of(name)
    if format in ("elastic", "meilisearch"):
        assert before == text_of(name)
    found = group(whole, threshold=1.0, contained=False)
    shown = found.shown("mark")
    assert dumps(whole) == before
    assert shown.pop("neardup") == found.counts
    for record in at(shown, path):
        del record["neardup"]
    assert dumps(shown) == before


@pytest.mark.parametrize("name", RECORDED)
def test_dropping_takes_results_away_and_nothing_else(name):
    response = response_of(name)
    path = RECORDED[name][1]
    found = group(response)
    without = copy.deepcopy(response)
    at(without, path)[:] = [at(response, path)[one.anchor] for one in found.groups]
    assert found.shown("drop") == without


@pytest.mark.parametrize(
    ("name", "hits"),
    [("elasticsearch-7-collapsed", 8), ("elasticsearch-8.12-collapsed", 5), ("opensearch-2.5-collapsed", 5)],
)
def test_what_the_engine_collapsed_stays_within_its_hit(name, hits):
    response = response_of(name)
    within = [hit["inner_hits"] for hit in response["hits"]["hits"]]
    assert len(within) == hits
    marked = group(response).shown("mark")["hits"]["hits"]
    assert [hit["inner_hits"] for hit in marked] == within


@pytest.mark.parametrize("name", SEVERAL)
def test_several_lists_are_refused(name):
    """And each of them can be grouped."""
    _, says, path = SEVERAL[name]
    response = response_of(name)
    with pytest.raises(InputError, match=says):
        group(response)
    for one in at(response, path):
        assert len(group(one["doclist"]["docs"] if "doclist" in one else one).bases) in (1, 2)


def test_documents_behind_a_metasearch(originals):
    """SearXNG's engines for one's own documents leave a result empty and give the document's fields in `kvmap`."""
    response = response_of("searxng-2026-documents")
    own = [place for place, result in enumerate(response["results"]) if result["engine"] == "own pages"]
    assert [response["results"][place]["url"] for place in own] == [None] * 10
    found = group(response)
    assert {found.bases[place] for place in own} == {"signature"}
    assert {found.bases[place] for place in range(20) if place not in own} == {"snippet"}
    groups = [[one.anchor, *(member.place for member in one.members)] for one in found.groups]
    of_documents = [[found.id(place) for place in places] for places in groups if places[0] in own]
    assert of_documents == by_originals([found.id(place) for place in own], originals)
    first = found.page.results[own[0]]
    assert (first.id, first.title) == (
        "en-harbour-004-edited-heavy",
        "Harbour notice no. 89 - a loose pontoon off Widow's Shoal",
    )
    for result in response["results"]:
        if "kvmap" in result:
            del result["kvmap"]["neardup_signature"]
    assert {group(response).bases[place] for place in own} == {"text"}


def test_a_document_whose_text_is_called_content():
    """It is compared as a snippet, which is what `content` is of all other results."""
    text = "The ferry to the island leaves at nine, at noon and at six in the evening."
    empty = {"url": None, "title": "", "content": "", "engine": "own pages", "template": "keyvalue.html"}
    results = [{**empty, "kvmap": {"id": str(number), "content": text}} for number in (1, 2)]
    found = group({"query": "ferry", "results": results, "suggestions": []})
    assert (found.bases, found.folded, found.id(0)) == (["snippet", "snippet"], 1, "1")


def test_an_answer_stays_beside_the_results():
    response = response_of("searxng-2026-answer")
    assert response["answers"][0]["answer"].startswith("md5 hash digest: ")
    assert group(response).shown("fold")["answers"] == response["answers"]
