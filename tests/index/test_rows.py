"""Records: what a store keeps of a document says the same as the document's sketch, for every recipe."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import StoreError, UsageError
from neardup.index import Document
from neardup.index.arriving import Arrivals, Arrived
from neardup.index.rows import Layout, Rows
from neardup.recipes import load_recipe, recipe_names
from tests.laws.test_recipes import documents_of, recipe_of

RECIPES = [*recipe_names(), "default of 4 bits", "bloom with links", "by-site, exact", "combined, exact"]
EVERY_KIND = ["stream", "default", "by-site", "combined", "bottom-m", "bloom"]
COLUMNS = ("status", "tokens", "identities", "samples", "words", "later")


def arrive(name: str, documents: list[Document]) -> Arrived:
    with ThreadPoolExecutor(2) as pool:
        return Arrivals(recipe_of(name), pool, 2)(documents)


def given_documents(kind: str) -> list[Document]:
    made = [
        Document(f"é{i}\0\ud83d", **{"html" if d.html else "text": d.text}, url=d.url)
        for i, d in enumerate(documents_of(kind))
    ]
    return [*made, Document("", b"\xff"), Document("empty", ""), Document("none")]


def same(one: Rows, other: Rows) -> None:
    assert one.ids == other.ids
    assert one.urls == other.urls
    for column in COLUMNS:
        a, b = getattr(one, column), getattr(other, column)
        assert a.dtype == b.dtype, column
        assert a.shape == b.shape, column
        assert (a == b).all(), column
    assert (one.ragged.offsets == other.ragged.offsets).all()
    assert (one.ragged.values == other.ragged.values).all()


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("kind", ["texts", "pages"])
def test_records_survive_being_written_and_read(name, kind):
    rows, layout = arrive(name, given_documents(kind)).rows, Layout(recipe_of(name))
    records = layout.encode(rows)
    same(layout.decode(records), layout.kept(rows))
    assert layout.encode(layout.decode(records)) == records
    assert all(len(record) >= layout.fixed for record in records)


@pytest.mark.parametrize("name", EVERY_KIND)
def test_parts_of_rows_are_encoded_as_the_whole(name):
    rows, layout = arrive(name, given_documents("texts")).rows, Layout(recipe_of(name))
    records = layout.encode(rows)
    order = np.random.default_rng(1).permutation(len(rows))
    assert layout.encode(rows.take(order)) == [records[i] for i in order.tolist()]
    same(Rows.together([rows.take(order[:20]), rows.take(order[20:])]), rows.take(order))
    assert layout.decode([]).ids == []


@pytest.mark.parametrize("name", EVERY_KIND)
def test_documents_are_found_by_their_words_first_and_by_nothing_where_they_have_none(name):
    rows, layout = arrive(name, given_documents("texts")).rows, Layout(recipe_of(name))
    keys = layout.keys(rows)
    sizes, compared = np.diff(keys.offsets), rows.compared
    assert (sizes[~compared] == 0).all()
    assert (sizes[compared] >= 1).all()
    first = keys.values[keys.offsets[:-1][compared]]
    words = [tuple(identity) for identity in rows.identities[compared].tolist()]
    assert len(set(zip(first.tolist(), words, strict=True))) == len(set(words)) == len(set(first.tolist()))


ANYTHING = st.text(st.characters(exclude_categories=()), max_size=40)


@given(ANYTHING, st.none() | ANYTHING)
def test_ids_and_urls_are_any_unicode(id, url):
    layout = Layout(load_recipe("by-site"))
    rows = arrive("by-site", [Document("before", "some words"), Document(id, "one two three", url=url)]).rows
    same(layout.decode(layout.encode(rows)), layout.kept(rows))


@given(st.binary(max_size=400), st.sampled_from(EVERY_KIND))
def test_what_is_no_record_is_refused_or_read_as_one(record, name):
    layout = Layout(recipe_of(name))
    try:
        rows = layout.decode([record])
    except StoreError:
        return
    assert len(rows) == 1


@pytest.mark.parametrize("name", EVERY_KIND)
def test_a_record_that_was_cut_is_refused(name):
    layout = Layout(recipe_of(name))
    document = Document("an id", "some words that make a document of more than eight words", url="http://a.org/")
    record = layout.encode(arrive(name, [document]).rows)[0]
    end = len(record) - len("http://a.org/") if layout.urls else len(record)
    for length in range(end):
        with pytest.raises(StoreError, match="damaged"):
            layout.decode([record, record[:length]])


def test_ids_have_65535_bytes_at_the_most():
    layout = Layout(load_recipe("stream"))
    longest = "ü" * 32_767 + "x"
    assert layout.decode(layout.encode(arrive("stream", [Document(longest, "words")]).rows)).ids == [longest]
    with pytest.raises(UsageError, match="65,535"):
        layout.encode(arrive("stream", [Document(longest + "x", "words")]).rows)
