"""Two documents side by side: the numbers against their definitions, every input, and what is shown."""

import bz2
import gzip
import json
import lzma
import os
import random
import re
from collections import Counter
from math import acos, comb, pi, sqrt
from pathlib import Path
from types import SimpleNamespace

import fsspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup import sample
from neardup.analysis import bins
from neardup.cli.options import Given
from neardup.comparing import PairReport, compare, difference, tokens
from neardup.comparing.difference import align, passages, rolling
from neardup.comparing.documents import inert
from neardup.comparing.tokens import places, tokens_of
from neardup.errors import InputError, RecipeError, UsageError
from neardup.recipe import Recipe
from neardup.recipes import published, recipe_names
from neardup.shingles import ShingleSettings
from tests.corpus import WORDS
from tests.naive import diff as naive
from tests.naive import text as naive_text
from tests.surface.conftest import run

PAGE = Path(__file__).parents[2] / "docs/compare.md"


def words(n: int, seed: int = 1) -> list[str]:
    return random.Random(seed).choices(WORDS, k=n)


def pair(n: int = 400) -> tuple[str, str]:
    """A text, and the same with three words for two, and one at the end."""
    first = words(n)
    second = [*first[: n // 2], "drei", "andere", "wörter", *first[n // 2 + 2 :], "ende"]
    return " ".join(first), " ".join(second)


# Tokens with their places.

HARD = [
    "Ein Straßenname — ǅ, ﬁne, ⅷ",
    "日本語の文章 and words 123 混ざり",
    "ภาษาไทย กำลัง",
    "\u0301leading mark, e\u0301 a\u0323\u0307",
    "soft\u00adhyphen zero\u200bwidth \ufeff",
    "ﷺ one character, four words ﷽",
    "line\r\nline two\n\n...\nthree",
    "नमस्ते دنیا مى\u200cشود",
    "①② ㍿ ㌔x",
    "",
    " . ",
]


@pytest.mark.parametrize("kind", ["words", "chars", "lines"])
def test_tokens_stand_where_the_kernel_found_them(kind):
    texts = [*HARD, *(d.text for d in sample.documents(scale=0.2))]
    assert len({d.language for d in sample.documents(scale=0.2)}) >= 13
    for text in texts:
        starts, ends = places(text, kind)
        assert len(starts) == len(ends) == len(tokens_of(text, kind).hashes) == len(naive_text.tokens(text, kind))
        assert (starts < ends).all()
        assert (np.diff(starts) >= 0).all()


def test_a_token_is_the_text_at_its_place():
    """A character that unfolds to parts of several tokens (ำ, ﷺ) stands in all of them."""
    for text in [*HARD, *(d.text for d in sample.documents(scale=0.1))]:
        found = [naive_text.words(text[a:b]) for a, b in zip(*places(text), strict=True)]
        expected = naive_text.words(text)
        assert all(token in here for token, here in zip(expected, found, strict=True))
        if not any(c in text for c in "\u0e33ﷺ﷽㍿㌔"):
            assert found == [[token] for token in expected]


@given(st.text(max_size=60))
def test_any_text_has_as_many_places_as_tokens(text):
    for kind in ("words", "chars", "lines"):
        whole = tokens_of(text, kind)
        assert len(whole.places[0]) == len(whole)


def test_blocks_leave_no_trace(monkeypatch):
    text = "Ein paar Wörter 日本語\nmore\u00ad of\n them " * 20
    for kind in ("words", "chars", "lines"):
        whole = places(text, kind)
        monkeypatch.setattr(tokens, "_BLOCK", 7)
        assert all((a == b).all() for a, b in zip(whole, places(text, kind), strict=True))
        monkeypatch.undo()


# The diff.

SEQUENCES = st.lists(st.integers(0, 5), max_size=40)


def as_tokens(values) -> np.ndarray:
    return np.array(values, np.uint64) * np.uint64(0x9E3779B97F4A7C15)


@given(SEQUENCES, SEQUENCES)
def test_the_diff_is_a_shortest_one_and_makes_b_of_a(a, b):
    found = align(as_tokens(a), as_tokens(b))
    assert found.minimal
    assert found.term_difference == naive.term_difference(a, b)
    assert naive.applied(found.matches.tolist(), a, b) == b
    assert found.deleted == len(a) - naive.common_subsequence(a, b)
    for a0, a1, b0, b1 in found.gaps.tolist():
        assert a1 > a0 or b1 > b0
    rows = found.matches
    assert not ((rows[1:, :2] == rows[:-1, :2] + rows[:-1, 2:]).all(axis=1)).any(), "runs are as long as can be"


@given(st.lists(st.integers(0, 50), max_size=80), st.lists(st.integers(0, 50), max_size=80), st.integers(1, 3))
def test_an_anchored_diff_makes_b_of_a(a, b, copies):
    b = b + a[10:60] * copies
    found = align(as_tokens(a), as_tokens(b), exact=0)
    assert naive.applied(found.matches.tolist(), a, b) == b
    assert found.term_difference >= naive.term_difference(a, b)
    assert found.term_difference == naive.term_difference(a, b) or not found.minimal


def test_without_anchors_pieces_are_compared_in_step(monkeypatch):
    monkeypatch.setattr(difference, "_STEP", 50)
    monkeypatch.setattr(difference, "_ANCHORS", ())
    rng = random.Random(1)
    a, b = rng.choices([0, 1], k=300), rng.choices([0, 1], k=260)
    found = align(as_tokens(a), as_tokens(b), exact=0)
    assert not found.minimal
    assert naive.applied(found.matches.tolist(), a, b) == b
    shortest = naive.term_difference(a, b)
    assert shortest <= found.term_difference < 2 * shortest


def test_an_anchored_diff_of_edits_is_nearly_a_shortest_one():
    rng = random.Random(2)
    a = rng.choices(range(300), k=3000)
    b = [rng.randrange(300) if rng.random() < 0.02 else x for x in a if rng.random() > 0.02]
    shortest = align(as_tokens(a), as_tokens(b))
    anchored = align(as_tokens(a), as_tokens(b), exact=0)
    assert shortest.minimal
    assert not anchored.minimal
    assert shortest.term_difference <= anchored.term_difference <= 1.05 * shortest.term_difference


def test_the_longest_ascending_sequence_of_anchors_is_taken():
    rng = random.Random(3)
    for _ in range(200):
        places_ = rng.sample(range(12), 12)
        rows = difference._ascending(np.array(list(enumerate(places_)), np.int64))
        best = naive.common_subsequence(places_, sorted(places_))
        assert len(rows) == best
        assert (np.diff(rows[:, 1]) > 0).all()


@given(st.lists(st.integers(0, 3), max_size=30), st.lists(st.integers(0, 3), max_size=30), st.integers(2, 5))
def test_passages_are_runs_that_both_have(a, b, least):
    x, y = as_tokens(a), as_tokens(b)
    found = passages(align(x, y), x, y, least)
    assert (len(found) > 0) == (naive.shared_run(a, b) >= least)
    covered: list[int] = []
    for start, other, length in found.tolist():
        assert length >= least
        assert a[start : start + length] == b[other : other + length]
        covered += range(start, start + length)
    assert len(covered) == len(set(covered)), "a token of the first document is in one passage"
    assert found[:, 2].tolist() == sorted(found[:, 2].tolist(), reverse=True)


def test_rolling_hashes_tell_runs_apart():
    a = as_tokens([1, 2, 3, 1, 2, 3, 2, 1])
    assert len(rolling(a, 9)) == 0
    assert len(rolling(a, 8)) == 1
    two = rolling(a, 2)
    assert two[0] == two[3]
    assert len(set(two.tolist())) == 5


# The report.


def test_exact_numbers_are_those_of_the_definition():
    a, b = pair()
    found = compare(a, b)
    assert isinstance(found, PairReport)
    x, y = naive_text.words(a), naive_text.words(b)
    assert found.resemblance == naive_text.resemblance(a, b)
    assert (found.first.tokens, found.second.tokens) == (len(x), len(y))
    one, other = set(naive_text.shingles(x, 5)), set(naive_text.shingles(y, 5))
    assert (found.first.shingles, found.second.shingles) == (len(one), len(other))
    assert found.first_in_second == len(one & other) / len(one)
    assert found.second_in_first == len(one & other) / len(other)
    assert found.term_difference == naive.term_difference(x, y) == found.deleted + found.inserted
    counts = Counter(x), Counter(y)
    assert found.edits == sum(counts[0][w] != counts[1][w] for w in set(x) | set(y))
    assert found.minimal
    assert compare(a, b, width=3).resemblance == naive_text.resemblance(a, b, w=3)
    assert compare(a, b, recipe="altavista").resemblance == naive_text.resemblance(a, b, w=10)
    assert compare(a, b, tokens="chars", recipe="default").resemblance == naive_text.resemblance(a, b, kind="chars")


def test_places_point_into_the_texts():
    a, b = pair()
    found = compare(a.upper(), b)
    (first, last) = found.differences
    assert (first.gone.lower(), first.new) == (" ".join(a.split()[200:202]), "drei andere wörter")
    assert (last.gone, last.new, last.after) == ("", "ende", "")
    assert first.before.lower() == " ".join(a.split()[196:200])
    assert first.after.lower() == " ".join(a.split()[202:206])
    for passage in found.passages:
        one = found.first.text[passage.first.start : passage.first.end]
        other = found.second.text[passage.second.start : passage.second.end]
        assert one.lower() == other
        assert len(one.split()) == passage.tokens == passage.first.tokens == passage.second.tokens
        assert not passage.moved


def test_a_passage_that_moved_is_found():
    block, rest = words(60, 2), words(200, 3)
    found = compare(" ".join([*block, *rest]), " ".join([*rest, *block]))
    assert [(p.tokens, p.moved) for p in found.passages] == [(200, False), (60, True)]
    assert found.passages[1].second.token_start == 200
    assert found.term_difference == 120


TEXT = " ".join(words(300))
RELATIONS = {
    "identical": (TEXT, TEXT.upper().replace(" ", " — ")),
    "near": pair(),
    "contains": (" ".join(words(300)), " ".join(words(300)[100:180])),
    "contained": (" ".join(words(300)[100:180]), " ".join(words(300))),
    "passage": (" ".join(words(300)), " ".join([*words(200, 5), *words(300)[50:75], *words(90, 6)])),
    "different": (" ".join(words(300)), " ".join(words(300, 7))),
}


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_relation(relation):
    found = compare(*RELATIONS[relation])
    assert found.relation == relation
    assert (found.term_difference == 0) == (relation == "identical")


def test_the_bounds_of_relations_are_the_users():
    assert compare(*RELATIONS["near"], threshold=0.99).relation == "contained"
    assert compare(*RELATIONS["near"], threshold=0.99, contained=1.0).relation == "passage"
    assert compare(*RELATIONS["passage"], passage=26).relation == "different"
    assert compare(*RELATIONS["passage"], passage=25).passages[0].tokens == 25
    for settings in ({"threshold": 0.0}, {"contained": 1.5}, {"passage": 1}, {"most": -1}, {"max_document_bytes": 0}):
        with pytest.raises(UsageError, match=str(next(iter(settings)))):
            compare("a b", "a c", **settings)
    with pytest.raises(RecipeError, match="Did you mean 'bloom'"):
        compare("a b", "a c", recipe="bloon")


def test_most_bounds_what_is_listed_and_not_what_is_counted():
    a = words(300)
    b = [w if i % 30 else "neu" for i, w in enumerate(a)]
    found = compare(" ".join(a), " ".join(b), most=3)
    assert (len(found.passages), len(found.differences)) == (3, 3)
    assert (found.passages_found, found.differences_found) == (10, 10)
    assert found.differences[2].after == " ".join(a[61:65])


# Systems.


def systems(a: str, b: str, **options) -> dict:
    return {system.name: system for system in compare(a, b, **options).systems}


def test_equal_documents_are_similar_to_every_system():
    text = " ".join(words(3000))
    for name, system in systems(text, text.upper()).items():
        assert system.similar, name
        assert system.candidate, name
        for score in system.scores:
            assert score.value == pytest.approx(score.full), name
            assert score.expected == pytest.approx(score.full), name
            assert score.passes in (None, 1.0), name


def test_unrelated_documents_are_similar_to_no_system():
    first = " ".join(f"a{w}" for w in words(3000))
    second = " ".join(f"b{w}" for w in words(3000, 8))
    for name, system in systems(first, second).items():
        assert not system.similar, name
        for score in system.scores:
            assert score.exact_value == 0.0 or score.exact == "Pugh's edits", name
            assert score.passes is None or score.passes < 1e-3, name


def test_what_compare_says_is_what_a_collection_finds():
    """pairs() looks at the candidates and judges by the sketches; compare() must come to the same."""
    rng = random.Random(5)
    base = words(400, 9)
    texts = [" ".join(base)]
    for changes in (1, 2, 4, 10, 30):
        copy = list(base)
        for _ in range(changes):
            copy[rng.randrange(len(copy))] = rng.choice(WORDS)
        texts.append(" ".join(copy))
    texts.append(" ".join(base[:350]))
    urls = [f"http://{'www' if i % 2 else 'pages'}.site{i // 3}.org/{i}" for i in range(len(texts))]
    ids = [str(i) for i in range(len(texts))]
    table = pa.table({"id": ids, "text": texts, "url": urls})
    found = {name: set() for name in recipe_names()}
    for name in found:
        rows = neardup.pairs(table, recipe=name, url_field="url").table()
        found[name] = {
            tuple(sorted(p)) for p in zip(*(rows.column(c).to_pylist() for c in rows.column_names[:2]), strict=True)
        }
    said = {name: set() for name in found}
    for i in range(len(texts)):
        for j in range(i + 1, len(texts)):
            for name, system in systems(texts[i], texts[j], url_a=urls[i], url_b=urls[j]).items():
                if system.similar and system.candidate:
                    said[name].add((ids[i], ids[j]))
    assert said == found
    assert any(found["alg-b"])
    assert found["alg-b"] != found["lists"]


def test_expected_values_are_those_of_the_formulas():
    a, b = pair(600)
    found = systems(a, b)
    rho = naive_text.resemblance(a, b, w=8)
    [features] = found["alg-b"].scores
    assert features.exact_value == pytest.approx(rho)
    agree = rho**14
    assert features.expected == pytest.approx(6 * agree)
    assert features.passes == pytest.approx(sum(comb(6, i) * agree**i * (1 - agree) ** (6 - i) for i in range(2, 7)))
    [bits] = found["alg-c"].scores
    x, y = Counter(naive_text.words(a)), Counter(naive_text.words(b))
    cosine = sum(x[w] * y[w] for w in x) / sqrt(sum(v * v for v in x.values()) * sum(v * v for v in y.values()))
    assert bits.exact_value == pytest.approx(cosine)
    assert bits.expected == pytest.approx(384 * (1 - acos(cosine) / pi))
    assert bits.deviation == pytest.approx(sqrt(bits.expected * (1 - bits.expected / 384)))
    assert abs(bits.value - bits.expected) < 5 * bits.deviation
    [lists] = found["lists"].scores
    edits = sum(x[w] != y[w] for w in x | y)
    assert lists.exact_value == edits
    untouched = 1 - sum((-1) ** j * comb(4, j) * (1 - j / 4) ** edits for j in range(5))
    assert lists.passes == pytest.approx(untouched)
    [estimate] = found["resemblance"].scores
    r10 = naive_text.resemblance(a, b, w=10)
    assert estimate.deviation == pytest.approx(sqrt(r10 * (1 - r10) / 100))
    assert abs(estimate.value - r10) < 5 * estimate.deviation + 1e-9
    r5, union = (
        naive_text.resemblance(a, b),
        len({*naive_text.fingerprints(a, w=5, seed=1), *naive_text.fingerprints(b, w=5, seed=1)}),
    )
    told = float(re.search(r"standard error is (\S+)", found["one-pass"].note)[1].rstrip("."))
    assert told == pytest.approx(bins.error(r5, 140, union, bits=8), abs=5e-5)
    assert told < float(re.search(r"standard error is (\S+)", found["default"].note)[1].rstrip("."))
    [chunks] = found["bloom"].scores
    assert 0 < chunks.exact_value < 1
    assert chunks.value == pytest.approx(chunks.expected, abs=0.1)


def test_sites_choose_the_rule():
    a, b = pair()
    unknown = systems(a, b)["by-site"]
    assert unknown.note == "sites unknown: the rule for one site"
    assert [s.similar_from for s in unknown.scores] == [2, 355]
    two = systems(a, b, url_a="http://www.a.org/x", url_b="http://www.b.org/x")["by-site"]
    assert two.note == "two sites: a.org and b.org"
    assert [s.similar_from for s in two.scores] == [372]
    one = systems(a, b, url_a="http://www.a.org/x", url_b="http://pages.a.org/x")["by-site"]
    assert one.note == "one site: a.org"


def test_a_recipe_of_ones_own_is_judged_too(tmp_path):
    a, b = pair()
    own = published("lists").recipe.changed(sketch_lists=64)
    file = tmp_path / "mine.toml"
    file.write_text(own.to_toml())
    assert compare(a, b, recipe=own).systems[-1].name == "this recipe"
    assert systems(a, b, recipe=str(file))["mine.toml"].scores[0].full == 1
    assert len(compare(a, b, recipe="lists").systems) == len(recipe_names())
    for method in ("none", "sketch"):
        assert compare(a, b, recipe=Recipe().changed(verify_method=method)).systems[-1].similar
    contained = published("mod-n").recipe.changed(sketch_measure="containment", sketch_n=2)
    assert compare(b, a, recipe=contained).systems[-1].scores[0].exact == "containment"
    repeated = Recipe(shingles=ShingleSettings(5, repeats=True))
    assert compare("a " * 50, "a " * 40, recipe=repeated).resemblance == pytest.approx(36 / 46)


def test_documents_too_short_to_be_sampled_say_so():
    found = [systems(" ".join(words(6, seed)), " ".join(words(6, seed + 50)))["mod-n"] for seed in range(12)]
    silent = [system for system in found if "no shingle was sampled" in system.note]
    assert len(silent) > 3, "(1 - 1/25)^6 = 78 % of such pairs"
    assert not any(system.similar for system in silent)
    assert systems("one two three four five", "one two three four six")["bottom-m"].note == ""


def test_pages_are_compared_by_what_each_system_reads_of_them():
    a, b = pair()
    page = "<!doctype html><title>t</title><p>{}</p><img src='{}.png'>"
    found = compare(page.format(a, "x").encode(), page.format(b, "y").encode(), url_a="http://a.org/1")
    assert found.first.html
    assert found.second.html
    assert "png" not in found.first.text
    assert "ximg" in compare(page.format(a, "x").encode(), b, extract="web").first.text
    assert not compare(page.format(a, "x"), b).first.html, "a string is a text"
    assert compare(page.format(a, "x"), b, html=True).first.html


# Inputs.


def test_files_of_every_kind(tmp_path):
    a, b = pair()
    plain = compare(a, b).resemblance
    (tmp_path / "b.txt").write_text(b)
    packed = {
        "a.txt.gz": gzip.compress(a.encode(), mtime=0),
        "a.txt.bz2": bz2.compress(a.encode()),
        "a.txt.xz": lzma.compress(a.encode()),
        "a.zst": pa.Codec("zstd").compress(a.encode(), asbytes=True),
        "a.htm": f"<html><p>{a}</p></html>".encode(),
        "a.html.gz": gzip.compress(f"<p>{a}</p>".encode(), mtime=0),
        "page": f"\n<!-- x --><!DOCTYPE html><p>{a}</p>".encode(),
        "bom.txt": b"\xef\xbb\xbf" + a.encode(),
    }
    for name, data in packed.items():
        (tmp_path / name).write_bytes(data)
        found = compare(tmp_path / name, tmp_path / "b.txt")
        assert found.resemblance == plain, name
        assert found.first.html == ("htm" in name or name == "page")
    assert not compare(tmp_path / "a.htm", b, html=False).first.html


def test_urls_are_read_and_name_the_site():
    a, b = pair()
    with fsspec.open("memory://compare/a.txt", "wb") as file:
        file.write(a.encode())
    found = compare(Given("memory://compare/a.txt"), b)
    assert found.relation == "near"
    assert found.first.url == "memory://compare/a.txt"
    assert compare(Given("memory://compare/a.txt"), b, url_a="http://x.org/").first.url == "http://x.org/"
    with pytest.raises(InputError, match="cannot be read"):
        compare(Given("memory://compare/none.txt"), b)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("empty.txt", b" \n", "is empty"),
        ("dots.txt", b"... !!", "no letters and digits"),
        ("bare.html", b"<html><script>x</script></html>", "--extract web"),
        ("nul.dat", b"abc\0def", "binary data"),
        ("latin.txt", "Straße".encode("latin-1"), "iconv -f WINDOWS-1252"),
        ("wide.txt", "words".encode("utf-16"), "iconv -f UTF-16"),
        ("paper.pdf", b"%PDF-1.4 ...", "pdftotext"),
        ("table.parquet", b"PAR1....", "neardup pairs"),
        ("zipped.txt", gzip.compress(b"words", mtime=0), "the ending .gz"),
        ("cut.txt.gz", gzip.compress(b"words " * 100, mtime=0)[:-9], "Fetch it again"),
        ("large.txt", b"word " * 300, "--max-document-bytes"),
        ("bomb.txt.gz", gzip.compress(b"word " * 10_000_000, mtime=0), "--max-document-bytes"),
    ],
)
def test_wrong_inputs_get_a_sentence_and_the_next_move(tmp_path, name, data, said):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=re.escape(said)) as error:
        compare("some words", tmp_path / name, max_document_bytes=1000)
    assert name in str(error.value)


def test_wrong_names_get_a_sentence_too(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        compare(tmp_path / "none.txt", "x")
    with pytest.raises(InputError, match="there is no folder"):
        compare(tmp_path / "none" / "a.txt", "x")
    with pytest.raises(InputError, match="neardup pairs"):
        compare(tmp_path, "x")
    with pytest.raises(InputError, match="more than 10 bytes"):
        compare("x" * 11, "x", max_document_bytes=10)
    with pytest.raises(UsageError, match=r"pathlib\.Path"):
        compare(3, "x")
    with pytest.raises(UsageError, match="standard input holds one"):
        compare(Path("-"), Path("-"))


# The command.


@pytest.fixture
def files(tmp_path) -> tuple[Path, Path]:
    a, b = pair()
    for name, text in (("a.txt", a), ("b.txt", b)):
        (tmp_path / name).write_text(text)
    return tmp_path / "a.txt", tmp_path / "b.txt"


def test_the_command_says_it_in_a_sentence_and_in_tables(files):
    ran = run("compare", *files, env={**os.environ, "COLUMNS": "80"})
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Near-duplicates: resemblance 0.9" in ran.stdout
    assert "\x1b" not in ran.stdout
    assert "{+drei andere wörter+}" in ran.stdout
    assert all(name in ran.stdout for name in recipe_names())
    assert all(len(line) <= 80 and line == line.rstrip() for line in ran.stdout.splitlines())
    wide = run("compare", *files, "--show", 0, env={**os.environ, "COLUMNS": "120"})
    assert max(map(len, wide.stdout.splitlines())) <= 120
    assert "not similar" in wide.stdout
    assert "… and 2 more" in wide.stdout
    coloured = run("compare", *files, env={**os.environ, "FORCE_COLOR": "1"})
    assert "\x1b[" in coloured.stdout


def test_json_has_everything(files):
    ran = run("compare", *files, "--json", "--passage", 30)
    facts = json.loads(ran.stdout)
    assert facts == json.loads(json.dumps(compare(*files, passage=30).to_dict()))
    assert facts["relation"] == "near"
    assert facts["passages"][0]["first"]["token_end"] == 200
    assert [s["name"] for s in facts["systems"]] == recipe_names()
    rows = re.findall(r"^\| (`[^|]*`) \|", PAGE.read_text(), re.M)
    documented = {key for row in rows for key in re.findall("`([a-z_]+)`", row)}
    assert set(facts) <= documented
    assert set(facts["systems"][0]) | set(facts["systems"][0]["scores"][0]) <= documented


def test_standard_input_and_exit_codes(files):
    text = files[0].read_text()
    assert "Identical" in run("compare", "-", files[0], input=text).stdout
    assert run("compare", "-", "-", input=text).returncode == 2
    assert run("compare", *files, "--threshold", "7").returncode == 2
    different = run("compare", files[0], "-", input="something else altogether")
    assert different.returncode == 0
    assert different.stdout.count("Different") == 1
    missing = run("compare", files[0], "none.txt")
    assert missing.returncode == 1
    assert "no such file" in missing.stderr
    assert missing.stdout == ""


HOSTILE = "\x1b[31mred\x1b]0;title\x07 [red]markup[/red] [/] \u202eevil\u2066 \x9b2J :smile: \x00"


def test_hostile_text_is_shown_and_not_obeyed(tmp_path):
    shared = " ".join(words(30))
    (tmp_path / "a.txt").write_text(f"{shared} {HOSTILE[:-1]} {shared}")
    (tmp_path / "b\x1b[2J.txt").write_text(f"{shared} [bold]other[/bold] \x1b[5m {shared}")
    for options in ((), ("--json",)):
        ran = run("compare", tmp_path / "a.txt", tmp_path / "b\x1b[2J.txt", *options)
        assert ran.returncode == 0, ran.stderr
        assert not set(ran.stdout) & {*map(chr, [*range(10), *range(11, 32), *range(127, 160)]), "\u202e", "\u2066"}
        assert "[red]markup[/red]" in ran.stdout
        assert ":smile" in ran.stdout
    gone = run("compare", tmp_path / "none\x1b[2J", tmp_path / "a.txt")
    assert "\x1b" not in gone.stderr


def test_inert_text_keeps_what_scripts_need():
    assert inert("می\u200cشود  \n नमस्ते") == "می\u200cشود नमस्ते"
    assert inert("a\x1b[0m\u202eb") == "a\\x1b[0m\\u202eb"
    assert inert("so\xadft\ue000") == "soft\\ue000"


def test_a_long_pair_is_bounded_and_says_that_its_diff_is_approximate():
    rng = random.Random(4)
    vocabulary = [a + b for a in WORDS for b in WORDS[:20]]
    a = rng.choices(vocabulary, k=120_000)
    b = [rng.choice(vocabulary) if rng.random() < 0.01 else w for w in a]
    found = compare(" ".join(a), " ".join(b))
    assert not found.minimal
    assert found.relation == "near"
    changed = sum(x != y for x, y in zip(a, b, strict=True))
    assert 0.97 * 2 * changed < found.term_difference <= 2 * changed


# The documentation.


def test_the_page_shows_what_the_command_prints(tmp_path):
    page = PAGE.read_text()
    blocks = dict(re.findall(r"<!-- (\S+) -->\n```[a-z]*\n(.*?)```", page, re.S))
    for name in ("old.txt", "new.txt"):
        (tmp_path / name).write_text(blocks[name])
    ran = run("compare", "old.txt", "new.txt", cwd=tmp_path, env={**os.environ, "COLUMNS": "80"})
    assert ran.stdout == blocks["output"].partition("\n")[2]
    code = blocks["python"].replace("import neardup\n", "")
    printed: list[str] = []
    space = {
        "neardup": SimpleNamespace(compare=compare),
        "print": lambda *said: printed.append(" ".join(map(str, said))),
    }
    space["Path"] = lambda name: tmp_path / name
    exec(compile(code.replace("from pathlib import Path\n", ""), str(PAGE), "exec"), space)
    promised = [line.split("# ")[1] for line in code.splitlines() if "print(" in line]
    assert printed == promised
