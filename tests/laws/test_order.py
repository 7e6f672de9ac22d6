"""The order of the input does not matter: an identity set is compared by the document that the keep policy prefers."""

from functools import cache

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup
from neardup.recipe import Recipe
from neardup.recipes import load_recipe, recipe_names
from tests.corpus import JOINTS, joined_text

HOSTS = ["www.one.org", "www.two.org", "three.co.uk", None]
EDITS = [0, 0, 0, 3, 8, 15, 40]
"""Of 200 words, so many are changed: resemblances of 1, and on both sides of every recipe's threshold."""

POLICIES = ["longest", "shortest", "max:score", "min:score,longest", "prefer:source=b,c"]
VARIANTS = {
    "bloom of small chunks": ("bloom", {"sketch_chunk": 32, "sketch_window": 12}),
    "bloom, exact": ("bloom", {"sketch_chunk": 32, "sketch_window": 12, "verify_method": "exact"}),
    "web by estimate": ("web", {"verify_method": "sketch", "verify_same_site": 0.0}),
    "by-site, exact": ("by-site", {"verify_method": "exact", "verify_threshold": 0.6}),
    "combined, exact": ("combined", {"verify_method": "exact", "verify_threshold": 0.6}),
}


@cache
def recipe_of(name: str) -> Recipe:
    of, changes = VARIANTS.get(name, (name, {}))
    return load_recipe(of).changed(**changes)


@st.composite
def collections(draw: st.DrawFn) -> list[dict]:
    rows = []
    for number in range(draw(st.integers(3, 10))):
        family, edits, joint = (draw(st.sampled_from(values)) for values in ([1, 1, 2], EDITS, JOINTS))
        host = draw(st.sampled_from(HOSTS))
        url = None if host is None else f"http://{host}/{draw(st.integers(0, 2))}"
        score, source = draw(st.integers(0, 2)), draw(st.sampled_from("abc"))
        made = {"text": joined_text(family, edits, joint), "url": url, "score": score, "source": source}
        rows.append({"id": f"d{number}", **made})
    return rows


def outcome(rows: list[dict], recipe: Recipe, **settings) -> dict[str, dict]:
    """All that is told of removed documents, by id."""
    result = neardup.dedup(pa.Table.from_pylist(rows), recipe=recipe, url_field="url", threads=1, **settings)
    return {row["id"]: row for row in result.removed.to_pylist()}


@pytest.mark.parametrize("name", [*recipe_names(), *VARIANTS])
@given(st.data())
@settings(max_examples=30)
def test_the_order_of_the_input_does_not_matter(name, data):
    rows = data.draw(collections())
    keep, cluster = data.draw(st.sampled_from(POLICIES)), data.draw(st.sampled_from(["star", "components"]))
    shuffled = data.draw(st.permutations(rows))
    recipe = recipe_of(name)
    assert outcome(shuffled, recipe, keep=keep, cluster=cluster) == outcome(rows, recipe, keep=keep, cluster=cluster)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize(("keep", "removed"), [("longest", {"a2"}), ("max:score", {"a1", "b"})])
def test_recipe_web_judges_a_page_by_the_host_of_the_copy_that_is_kept(order, keep, removed):
    """b resembles the copies by 0.7: too little for a page of one host, enough for pages of two."""
    rows = [
        {"id": "a1", "text": joined_text(1, 0, " "), "url": "http://one.org/1", "score": 1},
        {"id": "a2", "text": joined_text(1, 0, ". "), "url": "http://two.org/1", "score": 2},
        {"id": "b", "text": joined_text(1, 8, " "), "url": "http://one.org/2", "score": 0},
    ]
    found = outcome([rows[i] for i in order], load_recipe("web"), keep=keep)
    assert set(found) == removed
    assert 0.65 < neardup.resemblance(rows[0]["text"], rows[2]["text"]).resemblance < 0.85


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize(("keep", "kept"), [("longest", {"a1"}), ("max:score", {"a2", "b"})])
def test_recipe_bloom_compares_the_text_of_the_copy_that_is_kept(order, keep, kept):
    """The copies have the same words, and other bytes: b shares its chunks with the first of them alone."""
    rows = [
        {"id": "a1", "text": joined_text(1, 0, " "), "score": 1},
        {"id": "a2", "text": joined_text(1, 0, ", "), "score": 2},
        {"id": "b", "text": joined_text(1, 3, " "), "score": 0},
    ]
    found = outcome([{**rows[i], "url": None} for i in order], recipe_of("bloom of small chunks"), keep=keep)
    assert {"a1", "a2", "b"} - set(found) == kept
