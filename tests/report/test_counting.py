"""How much was removed, against counting one by one."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.report import removal
from neardup.report.facts import Facts, why_kept
from neardup.text.addresses import paths, places
from neardup.text.sites import host, site
from tests.naive import report as naive

urls = st.none() | st.text() | st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["http://", "https://", "//", "", "mailto:", "HTTP://", " http://", "http:/", "ftp://u:p@"]),
    st.sampled_from(["a.example.org", "www.Example.ORG.", "[::1]:8080", "10.0.0.1", "x:80", "ü.example", "", "a..b"]),
    st.sampled_from(["", "/", "/p/", "/index.html", "/a/index.htm", "/a b", "\n", "/é"]),
    st.sampled_from(["", "?q=1", "?a/", "?"]),
    st.sampled_from(["", "#f", "#/", "#\n"]),
)  # fmt: skip


@given(st.lists(urls, max_size=8))
def test_places_are_those_of_each_url(some):
    array = pa.array(some, pa.string())
    found = places(array)
    assert found.hosts.to_pylist() == [host(url) for url in some]
    assert found.sites.to_pylist() == [site(url) for url in some]
    for url, path in zip(some, paths(array).to_pylist(), strict=True):
        assert path == (None if url is None else naive.path(url))


@pytest.fixture(scope="session")
def facts(crawled):
    return Facts(crawled, 1)


def rows_of(found):
    return {row["name"]: (row["documents"], row["removed"]) for row in found["rows"]}


def test_by_site(facts, monkeypatch):
    monkeypatch.setattr(removal, "SLICE", 37)  # many slices, added up
    every = facts.collection.any_order("url", np.arange(len(facts))).to_pylist()
    expected = naive.removal(naive.sites(every), facts.gone.tolist())
    found = removal.by_site(facts)
    unknown = expected.pop(None)
    assert rows_of(found.sites) == expected
    assert (found.sites["unknown"]["documents"], found.sites["unknown"]["removed"]) == unknown
    hosts = naive.removal([host(url) for url in every], facts.gone.tolist())
    assert {row["name"]: (row["documents"], row["removed"]) for row in found.documents.to_pylist()} == hosts


def test_the_rest_is_added_up_and_nothing_is_lost(facts, monkeypatch):
    monkeypatch.setattr(removal, "TOP", 2)
    found = removal.by_site(facts).sites
    assert [row["removed"] for row in found["rows"]] == sorted((r["removed"] for r in found["rows"]), reverse=True)
    everything = [*found["rows"], found["others"], found["unknown"]]
    assert sum(row["documents"] for row in everything) == len(facts)
    assert sum(row["removed"] for row in everything) == len(facts.decision.removed)


def test_by_length_and_source_and_relation(facts):
    lengths = removal.by_length(facts)["rows"]
    for row in lengths:
        low, _, high = row["name"].replace(",", "").replace("none", "0–0").replace("+", "–999999999").partition("–")
        inside = (facts.tokens >= int(low)) & (facts.tokens <= int(high))
        assert (row["documents"], row["removed"]) == (inside.sum(), (inside & facts.gone).sum())
    assert sum(row["documents"] for row in lengths) == len(facts)
    [source] = removal.by_source(facts)["rows"]
    assert source == {"name": "rows.jsonl", "documents": len(facts), "removed": len(facts.decision.removed)}
    relations = removal.by_relation(facts)["rows"]
    assert {r["name"]: r["removed"] for r in relations} == {
        name: n for name, n in facts.result.counts["removed_by_relation"].items() if n
    }


def test_sources_are_files_whatever_splits_they_have(tmp_path):
    import neardup

    for name, text in (("a.txt", "one two three four five six\n" * 3), ("b.txt", "another line of six words here\n")):
        (tmp_path / name).write_text(text)
    result = neardup.dedup(str(tmp_path), format="lines")
    found = rows_of(removal.by_source(Facts(result, 1)))
    assert found == {"a.txt": (3, 2), "b.txt": (1, 0)}


def test_mirrors(facts, monkeypatch):
    monkeypatch.setattr(removal, "SLICE", 37)
    monkeypatch.setattr(removal, "LEAST_PAIRS", 0)
    decision = facts.decision
    pairs = [
        tuple(facts.collection.any_order("url", np.array([a, b])).to_pylist())
        for a, b in zip(decision.removed, decision.kept_for, strict=True)
    ]
    found = removal.mirrors(facts, removal.by_site(facts).documents)
    assert {frozenset((m["copy"], m["origin"])): (m["pairs"], m["same_path"]) for m in found} == naive.mirrors(pairs)


def test_a_mirrored_site_is_seen_with_its_copy_and_an_example(run):
    words = [f"{a} {b} {c}" for a in ("red", "blue", "green") for b in ("house", "boat") for c in ("sails", "burns")]
    rows = [
        {
            "id": f"{where}{i}",
            "url": f"https://{where}.example/docs/{i}/",
            "text": f"number {i} " + f"{text} here {i} " * 4,
        }
        for where in ("origin", "copy")
        for i, text in enumerate(words)
    ]
    rows.append(
        {"id": "alone", "url": "https://copy.example/own", "text": "nothing else is like this page at all, never"}
    )
    facts = Facts(run(rows), 1)
    [found] = removal.mirrors(facts, removal.by_site(facts).documents)
    assert (found["copy"], found["origin"]) == ("copy.example", "origin.example")
    assert (found["pairs"], found["same_path"]) == (12, 12)
    assert (found["copy_documents"], found["origin_documents"]) == (13, 12)
    assert found["example"] == {"removed": "https://copy.example/docs/0/", "kept": "https://origin.example/docs/0/"}


def test_the_keep_policy_in_words():
    assert why_kept("first") == "the one that comes first in the input"
    assert why_kept("prefer:source=wiki,news,max:score,longest") == (
        "the one whose source comes first in wiki, news; where that ties, the one with the largest score; where that "
        "ties, the longest; where that ties, the one with the smallest id"
    )


def test_neighbours_are_those_of_the_whole_collection(facts):
    """Of some documents, with URLs and without."""
    gathered = facts.result.gathered
    pairs = np.random.default_rng(4).integers(0, len(facts), (500, 2))
    found = gathered.neighbours(pairs)
    assert found.tolist() == gathered.places.neighbours(pairs).tolist()
    assert 0 < found.sum() < 500
