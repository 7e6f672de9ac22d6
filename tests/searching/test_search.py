"""Who is found, and in which order: against a twin that reads every document."""

import json
import random
import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import UsageError
from neardup.searching import Collection
from neardup.searching.queries import MOST, MOST_PHRASES, parse
from tests.naive import searching as naive
from tests.naive.text import words

FEW = ["a", "b", "ß", "東", "京", "ไ"]
RUNS = st.lists(st.sampled_from([word.casefold() for word in FEW]), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def few_words(tmp_path_factory):
    """Documents of so few words that every run is somewhere, and their words."""
    dice, folder = random.Random(5), tmp_path_factory.mktemp("few")
    texts = [" ".join(dice.choices(FEW, k=dice.randint(0, 12))) for _ in range(200)]
    (folder / "few.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    with Collection.open(folder / "few.jsonl", folder=folder) as collection:
        yield collection, [words(text) for text in texts]


def numbers(found) -> list[int]:
    return [hit.place for hit in found.hits]


def test_every_script_of_the_sample_is_found_as_the_twin_finds_it(made, rows):
    """Pieces of real texts, as they stand there: words, runs without spaces, phrases, and something left out."""
    languages: dict[str, list[str]] = {}
    for row in rows:
        languages.setdefault(row["language"], []).append(row["text"][:300])
    assert len(languages) == 13
    texts = [text for several in languages.values() for text in several[:4]]
    collection, tokens = made(texts), [words(text) for text in texts]
    dice = random.Random(3)
    for several in languages.values():
        pieces = [p.strip("-") for p in re.findall(r'[^\s"“”„«»|]+', several[0])]
        pieces = [p for p in pieces if words(p)]
        for _ in range(3):
            one, other, third = (dice.choice(pieces) for _ in range(3))
            at = dice.randrange(len(pieces) - 1)
            phrase = " ".join(pieces[at : at + 2])
            for wanted, without in (([one], []), ([one, other], []), ([phrase, one], []), ([one], [third])):
                typed = " ".join([f'"{run}"' if " " in run else run for run in wanted] + [f"-{run}" for run in without])
                expected = naive.found(tokens, [words(run) for run in wanted], [words(run) for run in without])
                answer = collection.search(typed)
                assert answer.total == len(answer.hits)
                if expected:
                    assert (sorted(numbers(answer)), answer.partial) == (expected, False), typed
                else:
                    assert answer.partial or not answer.hits, typed


@given(st.lists(RUNS, min_size=1, max_size=3), st.lists(RUNS, max_size=2))
def test_random_runs_are_found_as_the_twin_finds_them(few_words, wanted, without):
    collection, tokens = few_words
    typed = " ".join([f'"{" ".join(run)}"' for run in wanted] + [f'-"{" ".join(run)}"' for run in without])
    expected = naive.found(tokens, wanted, without)
    answer = collection.search(typed, most=len(tokens))
    if expected or len(wanted) == 1:
        assert sorted(numbers(answer)) == expected
        assert not answer.partial
    else:
        some = {n for run in wanted for n in naive.found(tokens, [run], without)}
        assert sorted(numbers(answer)) == sorted(some)
        assert answer.partial == bool(some)


def test_spelling_does_not_count(made):
    collection = made(["Straße nach Café Δίας", "ﬁnally x² ＡＢＣ", "नमस्ते दुनिया"])
    for typed, number in [("STRASSE", 0), ("café", 0), (unicodedata.normalize("NFD", "CAFÉ"), 0), ("δίασ", 0)]:
        assert numbers(collection.search(typed)) == [number], typed
    for typed, number in [("FINALLY", 1), ("abc", 1), ("x2", 1), ("दुनिया", 2)]:
        assert numbers(collection.search(typed)) == [number], typed
    assert not collection.search("cafe").hits
    assert not collection.search("Straß").hits


def test_a_script_without_spaces_is_found_as_a_run(made):
    collection = made(["東京大学の図書館", "京東大学", "大阪の東京タワー", "ภาษาไทยง่ายมาก"])
    assert numbers(collection.search("東京大学")) == [0]
    assert sorted(numbers(collection.search("東京"))) == [0, 2]
    assert numbers(collection.search("大学 京東")) == [1]
    assert numbers(collection.search("ไทยง่าย")) == [3]
    loosely = collection.search("東京学会")
    assert loosely.partial
    assert sorted(numbers(loosely)) == [0, 2], "東京 is a part of it; 学 alone is none"
    assert not collection.search("京会").hits


def test_all_words_or_else_any(made):
    collection = made(["red apple", "red pear", "green pear", "plum"])
    assert numbers(collection.search("red pear")) == [1]
    assert not collection.search("red pear").partial
    some = collection.search("green apple")
    assert some.partial
    assert sorted(numbers(some)) == [0, 2]
    assert some.total == 2
    assert numbers(collection.search("green apple -red")) == [2]
    assert not collection.search("fig").partial
    assert numbers(collection.search("red-plum")) == [3, 0, 1], "taken apart at the hyphen; plum is rarer"


def test_phrases_and_what_is_left_out(made):
    collection = made(["one two three", "two one three", "one two", "one one two"])
    assert numbers(collection.search('"one two three"')) == [0]
    assert sorted(numbers(collection.search('"one two"'))) == [0, 2, 3]
    assert sorted(numbers(collection.search('"one two" -three'))) == [2, 3]
    assert numbers(collection.search('"one one two"')) == [3]
    assert numbers(collection.search("two -“one two”")) == [1]
    assert numbers(collection.search('three "two one')) == [1], "a quote left open ends with the query"
    assert numbers(collection.search("“two one”")) == [1]
    assert sorted(numbers(collection.search('one"two one"'))) == [1]
    assert not collection.search('"three one"').hits
    assert not collection.search("-one").hits
    assert not collection.search("one -one").hits


@pytest.mark.parametrize(
    "typed",
    [
        "", " ", '"', '""', '" "', "-", "--", '-"', "...", "\0", "\x1b[31m", "()", "* ?", "\ud800", "\u202e",
        "!" * 10_000,
        "AND OR NOT", "+", "^2", "text:", "[a TO", "~", "\\", "/(/", "NEAR(", "{!func}", "' OR 1=1 --",
    ],
)  # fmt: skip
def test_whatever_is_typed_is_a_query(collection, typed):
    found = collection.search(typed)
    assert found.total >= len(found.hits) >= 0
    if not re.search(r"[A-Za-z0-9]", typed):
        assert (found.hits, found.total, found.partial) == ([], 0, False)


@given(st.text(st.characters(), max_size=60))
def test_nothing_typed_fails(collection, typed):
    found = collection.search(typed, most=3)
    assert len(found.hits) == min(3, found.total)


def test_a_very_long_query(made):
    text = " ".join(f"w{i}" for i in range(3000))
    collection = made([text, "w1 w0", "日" * 3000])
    assert numbers(collection.search(text)) == [0]
    assert numbers(collection.search(f'"{text}"')) == [0]
    assert numbers(collection.search("日" * 10_000)) == [2]
    assert len(parse(text).wanted) == MOST


@pytest.mark.parametrize(
    "typed",
    [
        " ".join(f'"a w{n}"' for n in range(100)),
        " ".join(f"a-w{n}" for n in range(100)),
        "x " + " ".join(f'-"a w{n}"' for n in range(100)),
        "".join(chr(0x4E00 + n) for n in range(200)),
    ],
    ids=["quoted", "hyphens", "without", "characters"],
)
def test_phrases_have_a_bound_of_their_own(typed):
    """The engine reads the positions of all their words, where a word costs its documents alone."""
    asked = parse(f"{typed} single")
    for runs in (asked.wanted, asked.without, asked.parts):
        assert sum(len(run) > 1 for run in runs) <= MOST_PHRASES
    assert max(sum(len(run) > 1 for run in runs) for runs in (asked.wanted, asked.without, asked.parts)) >= 1
    [single] = parse("single").wanted
    assert single in asked.wanted


def test_a_few_phrases_stay_as_they_are():
    typed = " ".join(f'"a w{n}" v{n}' for n in range(MOST_PHRASES))
    assert len(parse(typed).wanted) == len(parse(typed).parts) == 2 * MOST_PHRASES


def test_a_title_weighs_more(made):
    filler = "and then there were many other words in the text of it"
    texts = [{"text": f"harbour {filler}"}, {"text": filler, "title": "The harbour"}, {"text": filler, "title": "x"}]
    collection = made([{"id": str(i), **text} for i, text in enumerate(texts)])
    assert numbers(collection.search("harbour")) == [1, 0]
    assert numbers(collection.search("harbour many")) == [1, 0], "one word in the title, one in the text"


def test_equal_scores_are_in_the_order_of_the_collection(made):
    """More of them than are asked for, on pages that fit together; some of them by two threads, in two segments."""
    collection = made(["same words here" if i % 3 else f"same words here {i}" for i in range(900)])
    whole = collection.search("same words", most=900)
    assert numbers(whole) == [i for i in range(900) if i % 3] + [i for i in range(900) if i % 3 == 0]
    for start in (0, 100, 550, 598, 899, 900, 5000):
        page = collection.search("same words", most=50, start=start)
        assert (numbers(page), page.total) == (numbers(whole)[start : start + 50], 900)


def test_how_many(collection):
    everything = collection.search("example", most=10**12)
    assert len(everything.hits) == everything.total > 100
    none = collection.search("example", most=0)
    assert (none.hits, none.total) == ([], everything.total)
    assert len(collection.search("example").hits) == 100
    with pytest.raises(UsageError, match="most = -1"):
        collection.search("example", most=-1)
    with pytest.raises(UsageError, match="start = -2"):
        collection.search("example", start=-2)


def test_a_hit_says_who_it_is(collection, rows):
    hit = collection.search("mariners", most=1).hits[0]
    row = rows[hit.place]
    assert (hit.id, hit.url) == (row["id"], row["url"])
    assert hit.title == row["title"]
    assert ("mariners", True) in [(part.lower(), marked) for part, marked in hit.snippet]
    full = collection.get(hit.id)
    assert (full.id, full.url, full.title, full.text) == (hit.id, hit.url, hit.title, row["text"])


@pytest.mark.parametrize("typed", ["mariners harbour", "mariners nobodywrotethis", "example"])
def test_snippets_of_some_are_those_of_all(collection, typed):
    whole = collection.search(typed)
    bare = collection.search(typed, snippets=False)
    assert [hit.snippet for hit in bare.hits] == [[]] * len(whole.hits)
    assert [hit.id for hit in bare.hits] == [hit.id for hit in whole.hits]
    assert any(marked for hit in whole.hits for _, marked in hit.snippet)
    for places in (slice(0), slice(1), slice(3, 50, 7)):
        assert collection.snippets(bare, bare.hits[places]) == [hit.snippet for hit in whole.hits[places]]


def test_threads_may_share_one(collection, rows):
    typed = [" ".join(words(row["text"][:40])) for row in rows[::5]]
    alone = [[(hit.id, hit.score, hit.snippet) for hit in collection.search(query).hits] for query in typed]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(collection.search, typed))
    assert [[(hit.id, hit.score, hit.snippet) for hit in found.hits] for found in together] == alone
