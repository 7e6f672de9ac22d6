"""The index gives the answers of its naive twin, and those of `dedup`; it does not matter how it is asked."""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pytest

from neardup import dedup, sample, sketch
from neardup.errors import StoreError, UsageError
from neardup.index import Document, Index, Verdict, arriving, postgres, rocks
from neardup.recipe import Recipe
from neardup.recipes import as_in_index, load_recipe, recipe_names
from tests.corpus import WORDS
from tests.laws.test_recipes import documents_of, twin
from tests.laws.test_recipes import recipe_of as compared_by
from tests.naive.index import NaiveIndex, Refused, Told, judged

RECIPES = [
    *recipe_names(),
    "combined, exact",
    "by-site, exact",
    "bloom with links",
    "mod-n containment, exact",
    "default by features",
    "default of 4 bits",
]
ON_PAGES = ("alg-b", "alg-c", "combined", "by-site", "combined, exact", "by-site, exact", "bloom with links")
NOTHING = [b"\xff\xfe undecodable", "\ud800 half a pair", None, "…"]
"""What has no words: not UTF-8, not Unicode, not there, punctuation. Documents beyond those of the collection."""


def recipe_of(name: str) -> Recipe:
    """Without the keys that crowds have beside those of a run: what these find is in test_crowds."""
    recipe = compared_by(name)
    return recipe.changed(sketch_rare=0) if hasattr(recipe.sketch, "rare") else recipe


def measured(name: str, keep: str) -> bool:
    """Whether more than the sketches decides: then the document that is named need not be the most similar of them."""
    recipe = recipe_of(name)
    return recipe.verify.method == "exact" and (keep == "text" or recipe.verify.by_place)


@cache
def collection(name: str) -> tuple[dict, ...]:
    kind = "pages" if name in ON_PAGES else "texts"
    made = [{"html" if d.html else "text": d.text, "url": d.url} for d in documents_of(kind)]
    return (*made, *({"text": content, "url": None} for content in NOTHING))


@cache
def naive(name: str, keep: str) -> NaiveIndex:
    system = twin(name, "pages" if name in ON_PAGES else "texts")
    return NaiveIndex(system, judged(system, texts=keep == "text"))


def fresh(name: str, keep: str) -> NaiveIndex:
    known = naive(name, keep)
    return NaiveIndex(known.system, known.pairs)


def agrees(verdict: Verdict, told: list[Told], *, best: bool) -> None:
    """Duplicate or not; the match is the most similar stored document or, where it was measured, a similar one."""
    assert (verdict.status == "duplicate") == bool(told), (verdict, told)
    if verdict.match is None:
        assert not told
        return
    expected = told[0] if best or told[0].identical else next(t for t in told if t.id == verdict.match.id)
    assert verdict.match.id == expected.id, (verdict, told)
    if expected.identical:
        assert (verdict.match.relation, verdict.match.measured) == ("identical", "identity")
    else:
        assert verdict.match.similarity == pytest.approx(expected.score, abs=1e-12)


class Calls:
    """Random operations, on an index and its twin at once. Few ids, so that they meet again."""

    def __init__(self, index: Index, name: str, keep: str, seed: int) -> None:
        self.index, self.twin, self.rng = index, fresh(name, keep), random.Random(seed)
        self.contents, self.best = collection(name), not measured(name, keep)
        self.ids = [f"id {i}" for i in range(40)]

    def batch(self, size: int) -> tuple[list[int], list[str], list[dict]]:
        chosen = [self.rng.randrange(len(self.contents)) for _ in range(size)]
        ids = [self.rng.choice(self.ids) for _ in chosen]
        return chosen, ids, [{"id": id, **self.contents[i]} for id, i in zip(ids, chosen, strict=True)]

    def size(self) -> int:
        return self.rng.choice([1, 1, 2, 5, 12])

    def check(self) -> None:
        chosen, _, batch = self.batch(self.size())
        for verdict, i in zip(self.index.check_many(batch), chosen, strict=True):
            agrees(verdict, self.twin.duplicates(i), best=self.best)
            assert not verdict.added

    def check_and_add(self) -> None:
        """A copy of a duplicate in the same batch is one of the same document, though a nearer one came between."""
        chosen, ids, batch = self.batch(self.size())
        seen: dict[object, str | None] = {}
        for verdict, i, id in zip(self.index.check_and_add_many(batch), chosen, ids, strict=True):
            told, added = self.twin.check_and_add(id, i)
            words, match = self.twin.system.identity.get(i), verdict.match and verdict.match.id
            agrees(verdict, told, best=self.best and not (match and match == seen.get(words)))
            seen.setdefault(words, match)
            assert verdict.added == added

    def add(self) -> None:
        """All of a batch or, where one is refused, none."""
        chosen, ids, batch = self.batch(self.size())
        before = dict(self.twin.stored)
        try:
            expected = [self.twin.add(id, i) for id, i in zip(ids, chosen, strict=True)]
        except Refused:
            self.twin.stored = before
            with pytest.raises(UsageError, match="update"):
                self.index.add_many(batch)
        else:
            assert self.index.add_many(batch) == expected

    def update(self) -> None:
        """Of several under one id the last counts, and each is told what was there before the batch."""
        chosen, ids, batch = self.batch(self.size())
        expected = [id in self.twin for id in ids]
        assert self.index.update_many(batch) == expected
        last = dict(zip(ids, chosen, strict=True))
        for at, id in enumerate(ids):
            if id not in ids[at + 1 :]:
                self.twin.update(id, last[id])

    def remove(self) -> None:
        ids = [self.rng.choice(self.ids) for _ in range(self.size())]
        assert self.index.remove_many(ids) == [self.twin.remove(id) for id in ids]

    def look(self) -> None:
        assert len(self.index) == len(self.twin)
        assert self.index.contains_many(self.ids) == [id in self.twin for id in self.ids]
        assert [s and s.id for s in self.index.get_many(self.ids)] == [i if i in self.twin else None for i in self.ids]

    def similar(self) -> None:
        i = self.rng.randrange(len(self.contents))
        if self.contents[i].get("text", "") is None:  # batches may have such documents; one alone was forgotten
            with pytest.raises(UsageError, match="neither text nor html"):
                self.index.similar(**self.contents[i])
            return
        told = self.twin.similar(i)
        matches = self.index.similar(**self.contents[i], most=1000)
        assert [m.id for m in matches] == [t.id for t in told]
        assert [m.similarity for m in matches if m.relation != "identical"] == pytest.approx(
            [t.score for t in told if not t.identical], abs=1e-12
        )

    def run(self, steps: int) -> None:
        ways = [self.check, self.check_and_add, self.check_and_add, self.add, self.update, self.remove, self.similar]
        for _ in range(steps):
            self.rng.choice(ways)()
            self.look()


def kept_of(name: str) -> list[str]:
    """Texts matter to recipes that measure exactly, and to one other."""
    return ["sketch", "text"] if recipe_of(name).verify.method == "exact" or name == "stream" else ["sketch"]


KEEPING = [(name, keep) for name in RECIPES for keep in kept_of(name)]


@pytest.mark.parametrize(("name", "keep"), KEEPING)
def test_any_sequence_of_calls_is_answered_as_by_definition(name, keep, tmp_path):
    with Index.open(tmp_path / "seen.ndx", recipe_of(name), keep=keep) as index:
        Calls(index, name, keep, seed=len(name)).run(30)
        assert len(index) > 0


@pytest.mark.parametrize(("name", "keep"), [("stream", "sketch"), ("web", "text"), ("by-site", "sketch")])
def test_the_answers_are_the_same_from_a_server(name, keep, address):
    with Index.open(address, recipe_of(name), keep=keep) as index:
        Calls(index, name, keep, seed=len(name)).run(30)
        assert len(index) > 0


# The same as a collection.


@cache
def stream_of(kind: str) -> tuple[Document, ...]:
    """The sample in disorder, with copies of some pages at other addresses, in capitals, and with empty pages."""
    rng = random.Random(5)
    found = [Document(d.id, **{kind: getattr(d, kind)}, url=d.url) for d in sample.documents(scale=0.1)]
    copies = [Document(f"{d.id} again", d.text, d.html, f"https://mirror.org/{i}") for i, d in enumerate(found[::9])]
    louder = [Document(f"{d.id} louder", d.text.upper(), None, d.url) for d in found[::11] if isinstance(d.text, str)]
    empty = [Document(f"empty {i}", **{kind: ""}) for i in range(3)]
    together = [*found, *copies, *louder, *empty]
    rng.shuffle(together)
    return tuple(together)


def in_batches(rng: random.Random, documents: Sequence[Document]) -> Iterator[Sequence[Document]]:
    at = 0
    while at < len(documents):
        size = rng.choice([1, 2, 7, 40, 120])
        yield documents[at : at + size]
        at += size


def told(verdict: Verdict) -> tuple:
    match = verdict.match
    assert match is not None
    return match.id, match.relation, match.measured, match.similarity, match.resemblance


def copies(recipe: Recipe, documents: Sequence[Document]) -> set[str]:
    """Ids of the documents that have the same words as one before them."""
    identities = [tuple(row) for row in sketch([d.text or d.html or "" for d in documents], recipe).identities.tolist()]
    return {d.id for i, d in enumerate(documents) if identities[i] in identities[:i]}


AS_DEDUP = [(name, keep) for name in recipe_names() for keep in kept_of(name) if (name, keep) != ("web", "sketch")]
"""`dedup` has no recipe web that goes by sketches: what two pages of one host need is measured."""


@pytest.mark.parametrize(("name", "keep"), AS_DEDUP)
def test_a_stream_ends_with_what_dedup_keeps(name, keep, tmp_path):
    """Also which document each one is a duplicate of, and by how much.

    A copy of a removed document is removed by `dedup` for the same reason as that one, while a stream names the most
    similar document that it has by then. Chunks do not follow from the words alone: so for recipe bloom that one may
    be none, and there are no copies in its stream.
    """
    kind = "html" if name in ("web", *ON_PAGES) else "text"
    documents = stream_of(kind)
    recipe = recipe_of(name)
    if name == "bloom":
        again = copies(recipe, documents)
        documents = tuple(d for d in documents if d.id not in again)
    with Index.open(tmp_path / "seen.ndx", name, keep=keep) as index:
        verdicts = [v for b in in_batches(random.Random(1), documents) for v in index.check_and_add_many(list(b))]
        sketched_by = as_in_index(load_recipe(name), index.recipe)
    by_sketch = {"verify": "sketch"} if recipe.verify.method == "exact" and keep == "sketch" else {}
    result = dedup(
        pa.Table.from_pylist([{"id": d.id, kind: getattr(d, kind), "url": d.url} for d in documents]),
        recipe=sketched_by,
        cluster="star",
        keep="first",
        text_field=kind,
        html=kind == "html",
        **by_sketch,
    )
    assert [v.id for v in verdicts if v.added] == [v.id for v in verdicts if v.new] == result.kept["id"].to_pylist()
    expected = {
        r["id"]: (r["kept_id"], r["relation"], r["measured"], r["score"], r["resemblance"])
        for r in result.removed.to_pylist()
    }
    assert len(expected) >= 20, "a test of nothing"
    differing = {v.id: told(v) for v in verdicts if not v.new and told(v) != expected[v.id]}
    assert set(differing) <= copies(recipe, documents)
    assert all(nearer[3] > expected[id][3] for id, nearer in differing.items())


# It does not matter how it is asked.


_NAMES = count()
SAME = "the same words in every copy of this one text"


@pytest.fixture(params=["rocks", "postgres"])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Any]:
    """Makes up places for indexes, on either engine."""
    if request.param == "rocks":
        return lambda: tmp_path / f"{next(_NAMES)}.ndx"
    server = request.getfixturevalue("server")
    return lambda: f"{server.address}?index=laws_{next(_NAMES)}"


@pytest.mark.parametrize("compacted", [False, True], ids=["", "compacted"])
def test_a_stored_document_is_found_though_a_thousand_later_copies_were_removed(new_place, tmp_path, compacted):
    """Here, by whoever replaces them in one batch, and after moving."""
    ids = [f"copy {i}" for i in range(1_100)]
    with Index.open(new_place(), "stream") as index, Index.open(new_place(), "stream") as moved:
        index.add_many([Document(id, SAME) for id in ids])
        index.export(tmp_path / "all.parquet")
        if compacted:
            index.compact()
        index.remove_many(ids[76:])
        assert len(index) == 76
        assert index.check(SAME).status == "duplicate"
        assert index.check_and_add("another", SAME).match.relation == "identical"
        moved.add_export(tmp_path / "all.parquet")
        others = [Document(id, f"{id} has quite other words from now on {i}") for i, id in enumerate(ids[1:])]
        *_, last = moved.check_and_add_many([*others, Document("another", SAME)])
        assert last.match is not None
        assert last.match.id == ids[0]


@pytest.mark.parametrize(("name", "keep"), [("stream", "sketch"), ("default", "text"), ("by-site", "sketch")])
def test_the_size_of_batches_does_not_matter(name, keep, new_place):
    """But for the copies of duplicates, as above."""
    documents = stream_of("text")[:150]
    answers = []
    for size in (1, 7, 150):
        with Index.open(new_place(), name, keep=keep) as index:
            batches = [documents[at : at + size] for at in range(0, len(documents), size)]
            answers.append([v for b in batches for v in index.check_and_add_many(list(b))])
    again = copies(recipe_of(name), documents)
    ones = [[v for v in verdicts if v.id not in again or v.new] for verdicts in answers]
    assert ones[0] == ones[1] == ones[2]
    assert [[v.status for v in verdicts] for verdicts in answers[1:]] == [[v.status for v in answers[0]]] * 2


@pytest.mark.parametrize(("name", "keep"), [("stream", "sketch"), ("default", "text"), ("combined", "sketch")])
def test_batches_one_after_the_other_are_calls_one_after_the_other(name, keep, new_place):
    documents = stream_of("text")[:150]
    batches = [list(b) for b in in_batches(random.Random(5), documents)]
    batches.insert(1, [])
    with Index.open(new_place(), name, keep=keep) as one, Index.open(new_place(), name, keep=keep) as other:
        assert [one.check_and_add_many(b) for b in batches] == list(other.check_and_add_batches(iter(batches)))
        assert state(one, documents) == state(other, documents)


def test_batches_are_stored_up_to_the_one_that_was_answered_last(new_place):
    documents = [Document(f"n-{i}", " ".join(random.Random(i).choices(WORDS, k=30))) for i in range(9)]
    place = new_place()
    with Index.open(place, "stream") as index:
        answers = index.check_and_add_batches([documents[:2], documents[2:4], documents[4:]])
        assert [v.id for v in next(answers)] == ["n-0", "n-1"]
        assert len(index) == 2
        answers.close()
        assert len(index) == 2

        def failing() -> Iterator[list[Document]]:
            yield documents[2:4]
            raise OSError("no more")

        with pytest.raises(OSError, match="no more"):
            list(index.check_and_add_batches(failing()))
        with pytest.raises(UsageError, match="has text and html"):
            list(index.check_and_add_batches([documents[4:6], [Document("x", "a", html="b")], documents[6:]]))
    with Index.open(place) as index:
        assert index.contains_many([d.id for d in documents]) == [True] * 6 + [False] * 3


def test_whoever_stops_does_not_wait_for_the_next_batch(new_place):
    more, asked = Event(), Event()

    def waiting() -> Iterator[list[Document]]:
        yield [Document("a", "one two three")]
        asked.set()
        more.wait()
        yield [Document("b", "four five six")]

    with Index.open(new_place(), "stream") as index:
        answers = index.check_and_add_batches(waiting())
        assert [v.id for v in next(answers)] == ["a"]
        assert asked.wait(60)
        stopping = Thread(target=answers.close, daemon=True)
        stopping.start()
        stopping.join(60)
        assert not stopping.is_alive()
        more.set()
        assert len(index) == 1


def test_what_has_arrived_is_a_batch_too(new_place):
    documents = [Document("a", "one two three"), Document("b", "one two three")]
    with Index.open(new_place(), "stream") as index:
        answers = list(index.check_and_add_batches([index.arrive(documents[:1]), documents[1:]]))
    assert [[v.status for v in verdicts] for verdicts in answers] == [["new"], ["duplicate"]]


@pytest.mark.parametrize("given", [{"text": "a b c"}, {"text": "word " * 200_000}, {"html": "<p>a b c"}])
def test_a_closed_index_says_so_whatever_it_is_asked(new_place, given):
    index = Index.open(new_place(), "stream")
    index.close()
    documents = [Document(id, **given) for id in "ab"]
    for ask in (index.check_many, index.check_and_add_many, index.add_many, index.update_many):
        with pytest.raises(StoreError, match="closed"):
            ask(documents)
    with pytest.raises(StoreError, match="closed"):
        list(index.check_and_add_batches([documents]))


def state(index: Index, asked: Sequence[Document]) -> tuple:
    """All that can be asked."""
    ids = [d.id for d in asked]
    return len(index), index.get_many(ids), index.contains_many(ids), index.check_many(list(asked))


def test_checking_changes_nothing_and_adding_twice_is_adding_once(new_place):
    documents = stream_of("text")[:100]
    with Index.open(new_place(), "stream", keep="text") as index:
        first = index.check_and_add_many(list(documents))
        before = state(index, documents)
        index.check_many([Document("other", d.text, url=d.url) for d in stream_of("text")[100:150]])
        assert index.similar(documents[1].text)
        assert state(index, documents) == before
        again = index.check_and_add_many(list(documents))
        assert state(index, documents) == before
        assert not any(v.added for v in again)
        stored = [d for d, v in zip(documents, first, strict=True) if v.added]
        assert index.add_many(stored) == [False] * len(stored)
        assert index.update_many(stored) == [True] * len(stored)
        assert len(index) == before[0]
        assert [s.text for s in index.get_many([d.id for d in stored])] == [d.text for d in stored]


def test_what_was_written_is_there_when_it_is_opened_again(new_place):
    place, documents = new_place(), stream_of("text")[:120]
    with Index.open(place, "default", keep="text") as index:
        index.check_and_add_many(list(documents[:80]))
        index.remove_many([d.id for d in documents[:10]])
        before = state(index, documents)
    with Index.open(place) as index:
        assert state(index, documents) == before
        index.compact()
        assert state(index, documents) == before
        index.check_and_add_many(list(documents[80:]))
        after = state(index, documents)
    with Index.open(place, read_only=True) as index:
        assert state(index, documents) == after


def test_a_reader_sees_what_was_written_when_it_refreshes(new_place):
    place, documents = new_place(), stream_of("text")[:90]
    with Index.open(place, "stream") as index, Index.open(place, read_only=True) as reader:
        assert len(reader) == 0
        for batch in in_batches(random.Random(3), documents):
            index.check_and_add_many(list(batch))
            index.remove(batch[0].id)
            reader.refresh()
            assert state(reader, documents) == state(index, documents)
        index.compact()
        reader.refresh()
        assert state(reader, documents) == state(index, documents)
        for change in (
            lambda: reader.add("x", "a b c"),
            lambda: reader.remove("x"),
            lambda: reader.check_and_add("x", "y"),
        ):
            with pytest.raises(StoreError, match="reading only"):
                change()


def test_what_is_delivered_is_stored_afterwards_or_not_at_all(new_place):
    documents = stream_of("text")[:30]
    with Index.open(new_place(), "stream") as index:
        delivered: list[Verdict] = []

        def broken(verdicts: list[Verdict]) -> None:
            delivered.extend(verdicts)
            raise OSError("the pipe is closed")

        with pytest.raises(OSError, match="pipe"):
            index.check_and_add_many(list(documents), broken)
        assert len(delivered) == 30
        assert len(index) == 0
        assert not index.contains_many([documents[0].id])[0]
        assert index.check_and_add_many(list(documents)) == delivered


IDS = [
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "🜂" * 300,
    "e\u0301",
    "\u00e9",
    "'; drop table x; --",
    "\\x00",
    "\n",
    "x" * 65_535,
    "ü" * 32_767,
]


def test_ids_and_urls_are_any_unicode(new_place):
    """They are told apart by their code points; a URL is what was given."""
    rng = random.Random(9)
    documents = [Document(id, " ".join(rng.choices(WORDS, k=30)), url=f"http://a.com/{id}") for id in IDS]
    place = new_place()
    with Index.open(place, "by-site") as index:
        assert all(v.added for v in index.check_and_add_many(documents))
    with Index.open(place) as index:
        assert [(s.id, s.url) for s in index.get_many(IDS)] == [(d.id, d.url) for d in documents]
        assert [v.match.id for v in index.check_many(documents)] == IDS
        assert index.remove_many(IDS) == [True] * len(IDS)
        assert len(index) == 0


@pytest.mark.parametrize("name", ["web", "by-site", "stream"])
@pytest.mark.parametrize("kind", ["text", "html"])
def test_an_address_that_is_none_does_no_harm(name, kind, tmp_path):
    """Half a surrogate pair, an unfinished IPv6 address, a NUL, none of a scheme, very long."""
    places = ["http://a.org/\ud800", "\ud800", "http://[::1", "http://a.org/\0", "//", "x" * 100_000, "", None]
    words = {kind: "some words of a page that is there under all of these addresses"}
    with Index.open(tmp_path / "seen.ndx", name) as index:
        for i, url in enumerate(places):
            assert index.add(f"{i}", **words, url=url)
        for url in places:
            assert index.check(**words, url=url).match is not None
            assert index.similar(**words, url=url)


def test_a_document_that_changes_often_does_not_push_others_out(new_place, monkeypatch):
    """Removed documents leave their numbers under their keys, and of those the latest stay: 8 here."""
    monkeypatch.setattr(rocks, "MOST", 8)
    monkeypatch.setattr(postgres, "MOST", 8)
    words = [f"w{i}" for i in range(200)]
    with Index.open(new_place(), "stream") as index:
        index.add("stays", " ".join(words))
        for i in range(20):
            index.update("changes", " ".join([*words, f"v{i}"]))
        index.remove("changes")
        verdict = index.check(" ".join([*words, "more"]))
        assert verdict.match is not None
        assert verdict.match.id == "stays"


def test_a_document_that_is_replaced_during_a_question_is_found(new_place, monkeypatch):
    """By what it said or by what it says, though its number had no record any more when that was asked for."""
    old, new = (" ".join(f"{word}{i}" for i in range(50)) for word in ("old", "new"))
    with Index.open(new_place(), "stream") as index:
        index.add("a", old)
        records = index.store.records

        def replaced(numbers: Any) -> list[bytes | None]:
            monkeypatch.undo()
            index.update("a", new)
            return records(numbers)

        monkeypatch.setattr(index.store, "records", replaced)
        assert [v.new for v in index.check_many([Document("", old), Document("", new)])] == [True, False]


def test_what_was_removed_before_costs_no_second_look(new_place, monkeypatch):
    words = [f"w{i}" for i in range(50)]
    with Index.open(new_place(), "stream") as index:
        index.add_many([Document("stays", " ".join(words)), Document("goes", " ".join([*words, "more"]))])
        index.remove("goes")
        holders, looks = index.store.holders, []

        def counted(keys, gone=frozenset()) -> Any:
            looks.append(len(keys))
            return holders(keys, gone)

        monkeypatch.setattr(index.store, "holders", counted)
        assert index.check(" ".join([*words, "more"])).match.id == "stays"
        assert index.check_and_add("again", " ".join([*words, "more"])).match.id == "stays"
        assert len(looks) == 2


@pytest.mark.parametrize("id", [None, ""])
def test_what_is_stored_has_an_id_and_a_text(new_place, id):
    with Index.open(new_place(), "stream") as index:
        for store in (index.add_many, index.check_and_add_many, index.update_many):
            with pytest.raises(UsageError, match="has no id"):
                store([{"id": "fine", "text": "some words"}, {"id": id, "text": "some other words"}])
        for store in (index.add, index.check_and_add, index.update):
            with pytest.raises(UsageError, match="neither text nor html"):
                store("forgotten")
        assert len(index) == 0
        assert index.check_many([{"id": id, "text": "some words"}])[0].id == ""
    assert "closed" in repr(index)


def test_what_is_fetched_in_vain_does_not_make_forget(new_place):
    with Index.open(new_place(), "stream") as index:
        assert index.check_and_add("page", "words of a page that are worth remembering").added
        for nothing in ("", "…", b"\xff"):
            assert not index.check_and_add("page", nothing).added
        assert index.check("words of a page that are worth remembering").match.id == "page"
        assert index.check_and_add("empty", "").added
        assert not index.check_and_add("empty", "").added


def test_nothing_is_delivered_that_cannot_be_stored(tmp_path):
    delivered: list[Verdict] = []
    with Index.open(tmp_path / "seen.ndx", "default", keep="reference") as index:
        for documents in (
            [Document("page", "some words without a reference")],
            [Document("x" * 70_000, "some", reference="f")],
        ):
            with pytest.raises(UsageError):
                index.check_and_add_many(documents, delivered.extend)
    assert delivered == []


def test_hostile_pages_hold_up_nobody_for_long(tmp_path, monkeypatch):
    """They are read without a tree, and not by a clock."""
    monkeypatch.setattr(arriving, "_PAGES_TOGETHER", 2)
    pages = ["<p>words of a page that is as it should be</p>", "<div>" * 16_000 + "text"] * 3
    with Index.open(tmp_path / "seen.ndx", "stream") as index:
        found = index.check_many([{"html": page} for page in pages])
    assert {verdict.status for verdict in found} == {"new"}
