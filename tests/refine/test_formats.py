"""Responses of search engines: read as they are, written as they came, refused where that cannot be right."""

import copy
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import group, sign
from neardup.errors import InputError, UsageError
from neardup.refine import formats
from neardup.refine.formats import FORMATS, Fields, read, records
from neardup.refine.formats.highlights import unmarked
from neardup.refine.formats.verbatim import dumps, loads

RESPONSES = Path(__file__).parent / "responses"
GROUPS = {"p01": ["p03", "p05", "p08"], "p02": ["p06"], "p04": ["p11"], "p07": ["p09"], "p10": [], "p12": []}
"""What the responses were made with."""

NAMES = {
    "elasticsearch": "elastic", "opensearch": "elastic", "solr": "solr", "meilisearch": "meilisearch",
    "searxng": "searxng", "plain": "plain",
}  # fmt: skip
AT = {"elastic": ("hits", "hits"), "solr": ("response", "docs"), "meilisearch": ("hits",), "searxng": ("results",)}
"""Where the results of each format are."""


def text_of(name: str) -> bytes:
    return (RESPONSES / f"{name}.json").read_bytes()


def response_of(name: str):
    return json.loads(text_of(name))


def records_of(name: str, response):
    for step in AT.get(NAMES[name], ()):
        response = response[step]
    return response


def fields_of(name: str) -> dict[str, str]:
    return {"text_field": "page.body"} if name == "elasticsearch" else {}


@pytest.fixture(params=NAMES)
def name(request) -> str:
    return request.param


def test_every_format_has_a_recorded_response():
    assert set(NAMES.values()) == set(FORMATS)


def test_responses_are_recognised(name):
    response = response_of(name)
    assert [known for known, format in FORMATS.items() if format.recognises(response)] == [NAMES[name]]


@pytest.mark.parametrize(
    "beside",
    [
        {"processingTimeMs": 1, "semanticHitCount": 0},
        {"estimatedTotalHits": 1, "query": "a"},
        {"estimatedTotalHits": 1, "processingTimeMs": 1, "query": "a", "limit": 20, "offset": 0},
        {"totalHits": 1, "totalPages": 1, "hitsPerPage": 20, "page": 1, "query": "a"},
        {"nbHits": 1, "exhaustiveNbHits": False, "processingTimeMs": 1, "query": "a"},
    ],
)
def test_meilisearch_is_recognised_by_any_of_its_names(beside):
    response = {"hits": [{"id": 1, "text": "a"}], **beside}
    assert [known for known, format in FORMATS.items() if format.recognises(response)] == ["meilisearch"]


@pytest.mark.parametrize(
    "beside",
    [
        {},
        {"query": "a"},
        {"page": 0, "nbHits": 1, "nbPages": 1, "hitsPerPage": 20, "processingTimeMS": 1, "query": "a"},  # Algolia's
        {"found": 1, "page": 1, "out_of": 1, "search_time_ms": 1},  # Typesense's
    ],
)
def test_hits_of_others_are_not_taken_for_it(beside):
    with pytest.raises(InputError, match=r"no known response format: it is an object with hits.*; name the format"):
        read({"hits": [{"id": 1, "text": "a"}], **beside})


@pytest.mark.parametrize("name", [name for name in NAMES if name != "searxng"])
def test_the_planted_groups_are_found(name):
    found = group(response_of(name), **fields_of(name))
    ids = [f"p{int(found.id(at)) - 400:02}" if name == "meilisearch" else found.id(at) for at in range(12)]
    assert {ids[one.anchor]: [ids[member.place] for member in one.members] for one in found.groups} == GROUPS
    relations = {ids[member.place]: member.relation for one in found.groups for member in one.members}
    assert (relations["p05"], relations["p06"], relations["p08"]) == ("identical", "contained", "contains")
    assert set(found.bases) == {"text"}


def test_where_there_is_no_text_snippets_are_compared():
    found = group(response_of("searxng"))
    assert found.bases == [*["snippet"] * 7, "nothing"]
    hosts = [found.id(at).split("/")[2].split(".")[0] for at in range(8)]
    folded = {hosts[one.anchor]: [hosts[member.place] for member in one.members] for one in found.groups}
    assert folded == {"harbour": ["travel", "mirror"], "kitchen": [], "garden": ["bees"], "valley": [], "physics": []}
    with_text = response_of("searxng")
    for result in with_text["results"]:
        result["raw_content"] = result["url"]
    assert len(group(with_text)) == 8


def test_what_is_known_of_a_result():
    """By dynamic fields, and by the highlighting that stands apart from the documents."""
    first = read(response_of("solr")).results[0]
    assert (first.id, first.url, first.title) == ("p01", "https://harbour.example/ferry", "Ferry to the island")
    assert first.text.startswith("The ferry to the island leaves")
    response = response_of("solr")
    del response["response"]["docs"][0]["body_txt_en"]
    first = read(response).results[0]
    assert first.snippet == "The ferry to the island leaves from the eastern pier at nine, at noon"


def test_a_text_where_nobody_looks():
    """Without being told, the snippets are what is compared."""
    found = group(response_of("elasticsearch"))
    assert set(found.bases) == {"snippet"}
    assert found.page.results[0].snippet == "The ferry to the island leaves from the eastern pier at nine, at noon"


def test_grouping_again_changes_nothing(name):
    once = group(response_of(name), **fields_of(name)).shown("mark")
    assert json.dumps(group(once, **fields_of(name)).shown("mark")) == json.dumps(once)


def test_a_primary_key_of_any_name():
    page = read({"hits": [{"isbnId": "x", "valid": 1, "title": "a"}], "processingTimeMs": 1})
    assert page.results[0].id is None  # two names end in id: valid, isbnId
    assert read({"hits": [{"isbnId": "x", "title": "a"}], "processingTimeMs": 1}).results[0].id == "x"
    cropped = {"hits": [{"id": 7, "_formatted": {"id": "7", "content": "…one <em>two</em>…"}}], "processingTimeMs": 1}
    assert read(cropped).results[0].snippet == "…one two…"


def test_all_is_given_back_as_it_came(name):
    """To the digit, in the order of the fields."""
    response = loads(text_of(name), name)
    before = dumps(response)
    assert json.loads(before) == response_of(name)
    found = group(response, threshold=1.0, contained=False, **fields_of(name))
    marked = found.shown("mark")
    assert dumps(response) == before
    counts = marked.pop("neardup") if isinstance(marked, dict) else None
    assert counts in (None, {"results": len(found.bases), "groups": len(found), "folded": found.folded})
    for record in records_of(name, marked):
        assert list(record)[-1] == "neardup"
        del record["neardup"]
    assert dumps(marked) == before


def test_dropping_takes_results_away_and_nothing_else(name):
    response = loads(text_of(name), name)
    found = group(response, **fields_of(name))
    without = copy.deepcopy(response)
    anchors = [one.anchor for one in found.groups]
    records_of(name, without)[:] = [records_of(name, without)[place] for place in anchors]
    assert dumps(found.shown("drop")) == dumps(without)
    assert len(anchors) < len(found.bases)


def test_folding_hides_nothing(name):
    found = group(response_of(name), **fields_of(name))
    shown = records_of(name, found.shown("fold"))
    all_of_them = [record for anchor in shown for record in (anchor, *anchor["neardup"]["similar"])]
    bare = [{key: value for key, value in record.items() if key != "neardup"} for record in all_of_them]
    assert sorted(map(json.dumps, bare)) == sorted(map(json.dumps, records_of(name, response_of(name))))
    collapsed = records_of(name, found.shown("collapse"))
    assert [anchor["neardup"]["similar"] for anchor in collapsed] == [len(a["neardup"]["similar"]) for a in shown]


@pytest.mark.parametrize("where", ["_source", "fields"])
def test_signatures_are_as_good_as_texts(where):
    """In a hit's source, or in a list of one as `fields` has it."""
    response = response_of("opensearch")
    by_text = group(response)
    for hit in response["hits"]["hits"]:
        [text] = hit.pop("fields")["content"]
        hit[where] = {"neardup_signature": sign(text) if where == "_source" else [sign(text)]}
    by_signature = group(response)
    assert by_signature.groups == by_text.groups
    assert set(by_signature.bases) == {"signature"}


@pytest.mark.parametrize("path", ["page.body", "_source.page.body"])
def test_a_path_leads_inwards(path):
    page = read(response_of("elasticsearch"), fields=Fields(text=path))
    assert page.results[1].text.startswith("A loaf of rye")


def test_a_path_leads_through_lists():
    sections = [{"body": "one two three"}, {"title": "x"}, {"body": ["four five", "six"]}, "no object"]
    page = read([{"id": 1, "sections": sections}, {"id": 2, "sections": []}], fields=Fields(text="sections.body"))
    assert [result.text for result in page.results] == ["one two three\nfour five\nsix", None]
    with pytest.raises(UsageError, match=r"text_field = 'sections.text': none of the 1 results has that field"):
        read([{"id": 1, "sections": sections}], fields=Fields(text="sections.text"))


def test_an_asynchronous_search_has_its_response_within():
    response = {"id": "x", "is_partial": False, "is_running": False, "response": response_of("opensearch")}
    before = copy.deepcopy(response)
    found, plain = group(response), group(response_of("opensearch"))
    assert found.groups == plain.groups
    assert found.shown("drop") == {**before, "response": plain.shown("drop")}
    assert found.shown("mark")["neardup"] == plain.counts
    assert response == before


def test_one_flat_list_of_a_grouped_response_is_read():
    """group.format=simple; group.main=true gives a response as without groups, beside none."""
    assert group({**response_of("solr"), "grouped": {}}).groups == group(response_of("solr")).groups
    whole = response_of("solr")
    doclist = whole.pop("response")
    response = {**whole, "grouped": {"host_s": {"matches": 431, "doclist": doclist}}}
    before = copy.deepcopy(response)
    found = group(response)
    assert found.groups == group(response_of("solr")).groups
    shown = found.shown("drop")
    assert [doc["id"] for doc in shown["grouped"]["host_s"].pop("doclist")["docs"]] == list(GROUPS)
    assert shown.pop("grouped") == {"host_s": {"matches": 431}}
    assert shown == whole
    assert response == before


@pytest.mark.parametrize(
    "grouped",
    [
        {"host_s": {"matches": 3, "groups": [{"groupValue": "a", "doclist": {"numFound": 1, "docs": []}}]}},
        {"host_s": {"matches": 3, "doclist": {"docs": []}}, "lang_s": {"matches": 3, "doclist": {"docs": []}}},
        {},
        [],
    ],
)
def test_several_lists_of_a_grouped_response_are_refused(grouped):
    with pytest.raises(InputError, match=r"ranked each for itself. Ask without it, or with group.format=simple"):
        group({"responseHeader": {"status": 0}, "grouped": grouped})


def test_highlighting_by_a_unique_key_of_another_name():
    docs = [{"score": 1.0, "sku": "a1", "title_t": "A"}, {"score": 1.0, "sku": "a2", "title_t": "B"}]
    marked = {"a1": {"body_txt_en": ["one <em>two</em>"]}, "a2": {}}
    page = read({"response": {"docs": docs}, "highlighting": marked})
    assert [result.snippet for result in page.results] == ["one two", None]


@pytest.mark.parametrize("ending", ["_t", "_txt", "_txt_en", "_txt_en_split", "_txt_en_split_tight", "_txt_cjk", "_s"])
def test_endings_of_dynamic_fields(ending):
    page = read({"response": {"docs": [{"id": 1, f"body{ending}": "one two"}]}})
    assert page.results[0].text == "one two"


def test_a_federated_search_is_one_list():
    text = "one and the same text of two indexes, and more than a few words of it"
    federation = {"queriesPosition": 0, "weightedRankingScore": 0.98}
    response = {
        "hits": [
            {"isbn_id": "b1", "content": text, "_federation": {"indexUid": "books", **federation}},
            {"film_id": 7, "content": text.upper(), "_federation": {"indexUid": "films", **federation}},
        ],
        "processingTimeMs": 1,
        "limit": 20,
        "offset": 0,
        "estimatedTotalHits": 2,
        "remoteErrors": {},
    }
    found = group(response)
    assert found.shown("collapse")["hits"] == [
        {**response["hits"][0], "neardup": {"group": 1, "rank": 1, "similar": 1, "ids": [2]}}
    ]


def test_an_empty_response_stays_empty(name):
    response = response_of(name)
    records_of(name, response).clear()
    for view in ("mark", "fold", "collapse", "drop"):
        shown = group(response).shown(view)
        assert records_of(name, shown) == []


@pytest.mark.parametrize(
    ("response", "says"),
    [
        ({"took": 3, "responses": [{}, {}]}, "2 responses of one _msearch"),
        ({"hits": {"total": 3}}, "hits.hits: is NoneType"),
        ({"hits": {"hits": ["a"]}}, "result 1 is str"),
        ({"responseHeader": {}, "grouped": {"host": {}}}, "group=true"),
        ({"response": {"docs": {}}}, "response.docs: is dict"),
        ({"results": [{"indexUid": "a", "hits": []}, {"indexUid": "b", "hits": []}]}, "2 searches"),
        ({"query": "a", "results": [None], "suggestions": []}, "result 1 is NoneType"),
        ({"error": {"type": "parsing_exception", "reason": "no [match]"}, "status": 400}, "no \\[match\\]"),
        ({"items": [], "kind": "customsearch"}, "an object with items, kind"),
        ({}, "without fields"),
        ("text", "it is str"),
    ],
)
def test_what_is_no_list_of_results_is_refused(response, says):
    with pytest.raises(InputError, match=says):
        group(response)


@pytest.mark.parametrize("format", FORMATS)
def test_a_response_is_not_taken_for_another(format):
    with pytest.raises(InputError, match=r"hits|docs|results"):
        group({"items": [{"text": "a"}]}, format=format)


def test_a_format_that_there_is_not():
    with pytest.raises(UsageError, match="choose one of elastic, solr"):
        group([], format="lucene")


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("a <em>b</em> c", "a b c"),
        ("1 < 2 &amp; <span class='x'>3</span> &gt; 2", "1 < 2 & 3 > 2"),
        (["a <b>b</b>", "", "c"], "a b\nc"),
        ({"title": ["<em>a</em>"], "body": ["b"]}, "a\nb"),
        ("<em></em> ", None),
        ([], None),
        (7, None),
    ],
)
def test_marks_are_taken_out_of_snippets(marked, plain):
    assert unmarked(marked) == plain


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1.0,"b":1e3,"c":0.10,"d":-0,"e":12345678901234567890,"f":1E+2}',
        '[0.1234567890123456789012345,1e400,NaN,"ü\u2028",{"z":null,"a":true,"":[]}]',
        f"[{'9' * 5000},-{'1' * 5000}]",
        '["cut through \\ud83d","",{"k":["\\ud83d",1.50]}]',
    ],
)
def test_json_comes_out_as_it_went_in(text):
    assert dumps(loads(text.encode(), "it")) == text.encode()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"a": 1,}', "it: is no JSON: .* at line 1, column 9"),
        (b'"\xff"', "it: is not UTF-8 \\(byte 1\\)"),
        (b"[" * 200_000, "it: is nested too deeply"),
    ],
)
def test_what_is_no_json_is_refused(data, says):
    with pytest.raises(InputError, match=says):
        loads(data, "it")


def test_what_is_nested_too_deeply_to_be_escaped_is_refused():
    value = loads(b"[" * 900 + b'"\\ud83d"' + b"]" * 900, "it")
    with pytest.raises(InputError, match="nested too deeply to be written"):
        dumps(value)


def test_a_field_of_spaces_is_empty():
    words = "a snippet of some words, where the text has none"
    results = [{"text": " \n", "snippet": words}, {"text": [" ", ""], "html": b"\t", "snippet": words}]
    grouped = group(results)
    assert (grouped.bases, grouped.folded) == (["snippet", "snippet"], 1)


def test_the_formats_are_those_of_the_command_and_the_service():
    from typing import get_args

    from neardup.cli import group as command
    from neardup.refine.answers import VIEWS
    from neardup.service.shapes import Grouping

    assert tuple(formats.FORMATS) == command._FORMATS
    assert command._VIEWS == VIEWS
    hints = Grouping.__annotations__
    assert set(get_args(get_args(get_args(hints["format"])[0])[0])) == set(formats.FORMATS)
    assert set(get_args(get_args(get_args(hints["show"])[0])[0])) == set(VIEWS)


def _followed(record, parts):
    """What a path leads to, from the definition."""
    if not parts:
        return record
    if isinstance(record, list):
        found = [value for one in record if (value := _followed(one, parts)) is not None]
        return [text for value in found for text in (value if isinstance(value, list) else [value])] or None
    return _followed(record.get(parts[0]), parts[1:]) if isinstance(record, dict) else None


VALUES = st.recursive(
    st.none() | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
)


@given(st.dictionaries(st.sampled_from("xyz"), VALUES), st.lists(st.sampled_from("xyz"), min_size=1, max_size=4))
def test_a_path_leads_where_the_definition_says(record, parts):
    assert records._follow(record, parts) == _followed(record, parts)


def test_names_that_take_long_to_compare_are_not_compared():
    """One such name took 0.25 s."""
    record = {"text": "a rose", **{"aabb" * 100 + format(n, "x"): 1 for n in range(580)}}
    for path in ("ab" * 99, "ab" * 20):
        began = time.process_time()
        with pytest.raises(records.MissingField, match="none of the 1 results has that field"):
            read([record], fields=Fields(text=path))
        assert time.process_time() - began < 0.5
