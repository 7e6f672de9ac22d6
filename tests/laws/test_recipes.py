"""Every published system, end to end, gives the answer of its naive twin: pair for pair, score for score."""

import json
import random
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

import neardup
from neardup.recipe import Recipe
from neardup.recipes import load_recipe, recipe_names
from tests.corpus import WORDS
from tests.naive import groups as naive_groups
from tests.naive.systems import Document, Odd, System

HOSTS = ["www.one.com", "shop.one.com", "www.two.co.uk", "www.three.co.uk", "two.org", "me.github.io", "you.github.io"]
COMMON = ["the", "of", "and", "to", "in", "a"]
SCRIPTS = [
    "自然言語処理では文書の重複を取り除くことが大切である。似た文書は何度も現れるからである。",
    "В начале всякого дела стоит слово, и слово это нужно сохранить в памяти надолго и без ошибок",
    "كان يا ما كان في قديم الزمان ملك يحب الكتب القديمة ويجمعها من كل مكان في البلاد البعيدة",
    "ภาษาไทยไม่มีช่องว่างระหว่างคำดังนั้นจึงต้องตัดคำก่อน",
]


def words(rng: random.Random, n: int) -> list[str]:
    """As in a language: a few words make up half of the text."""
    return [rng.choice(COMMON) if rng.random() < 0.5 else rng.choice(WORDS) for _ in range(n)]


def edited(rng: random.Random, original: list[str], changes: int) -> list[str]:
    made = list(original)
    for _ in range(changes):
        at = rng.randrange(len(made))
        made[at : at + rng.randint(0, 1)] = rng.choices(WORDS, k=rng.randint(0, 1)) or ["again"]
    return made


def relatives(rng: random.Random, original: list[str]) -> list[list[str]]:
    """Copies, near copies, other orders, parts and larger ones."""
    half = len(original) // 2
    return [
        original,
        [w.upper() for w in original],
        edited(rng, original, 1),
        edited(rng, original, rng.randint(2, 6)),
        rng.sample(original, len(original)),
        original[half:] + original[:half],
        original[: len(original) * 9 // 10],
        [*original, *rng.choices(WORDS, k=2)],
        [*original, *original[:half]],
    ]


@cache
def texts() -> tuple[Document, ...]:
    rng = random.Random(11)
    made = []
    for length in (150, 110, 60, 20):
        original = words(rng, length)
        made += [" ".join(w) for w in rng.sample(relatives(rng, original), 7)]
    made += [" ".join(words(rng, rng.randint(20, 90))) for _ in range(5)]
    made += [s for script in SCRIPTS[:3] for s in (script, script.replace(script[9:12], "x"))] + SCRIPTS[3:]
    made += [
        "",
        "...",
        "one",
        "One!",
        "one two",
        "two one",
        "spam " * 80,
        "spam " * 81,
        "1. a\n2. b\n- c: 'd'",
        "a b c d",
    ]
    made += [
        "see http://www.one.com/a-b/c.html?d=1 and www.two.org.",
        "see HTTP://www.one.com/a-b/c.html?d=1, www.two.org",
    ]
    made += [" ".join(["alpha", *rng.sample(WORDS, rng.randint(1, 4))]) for _ in range(6)]  # most lists are empty
    rng.shuffle(made)
    hosts = [rng.choice([*HOSTS, None]) for _ in made]
    return tuple(Document(t, h and f"http://{h}/{i}") for i, (t, h) in enumerate(zip(made, hosts, strict=True)))


def page(rng: random.Random, content: list[str], host: str, *, menu: bool) -> str:
    """Paragraphs with formatting, entities, images of its own and of others; its site's menu where asked for."""
    cuts = sorted(rng.choices(range(len(content) + 1), k=2)) if menu else [min(20, len(content)), min(40, len(content))]
    first, second, third = content[: cuts[0]], content[cuts[0] : cuts[1]], content[cuts[1] :]
    own = rng.choice(["/img/logo.gif", f"http://{host}/pictures/logo.gif", "logo.gif"])
    links = [f"/{name}" for name in ("home", "news", "help", "about")] + [f"http://{rng.choice(HOSTS)}/x#top"]
    menus = " ".join(f'<a href="{target}">{target.strip("/")[:4]}</a>' for target in links)
    return (
        f"<html><!-- {host} --><body>{'<div>' + menus + '</div>' if menu else ''}"
        f"<p>{' '.join(first)}</p><img src='{own}' alt='a picture'><p>{' '.join(second)} R&amp;D co<b>py</b>right</p>"
        f"<script>var x = '{host}';</script><img src=\"http://ads.net/{len(content) % 3}.png\">"
        f"<p>{' '.join(third)}</p></body></html>"
    )


@cache
def pages() -> tuple[Document, ...]:
    """On several hosts: mirrors, templates with other contents, and what is hardly a page."""
    rng = random.Random(23)
    made: list[Document] = []
    for length in (150, 120, 80):
        original = words(rng, length)
        for content in [*relatives(rng, original), [*original, "indeed"], original[:-2]]:
            host = rng.choice(HOSTS)
            markup = page(rng, content, host, menu=rng.random() < 0.5)
            made.append(Document(markup, f"http://{host}/{len(made)}.html", html=True))
        for content in (edited(rng, original, 2), rng.sample(original, length), original):  # no images, nowhere from
            made.append(Document(f"<p>{' '.join(content)}</p>", None, html=True))
    for _ in range(8):
        host = rng.choice(HOSTS[:3])
        markup = page(rng, words(rng, rng.randint(3, 25)), host, menu=True)
        made.append(Document(markup, f"http://{host}/{len(made)}", html=True))
    for copied in (made[0], made[1]):
        made.append(Document(copied.text, copied.url, html=True))
    made += [Document(t, "http://www.one.com/", html=True) for t in ("", "<p></p>", "<p>short</p>", "<b>short</b>")]
    link = "<p>read http://www.two.org/a_b/c.d, then www.two.org/e-f</p>"
    made += [Document(link, "http://two.org/1", html=True), Document(link.upper(), "http://two.org/2", html=True)]
    made += [Document(f"<p>{script}</p>", f"http://two.org/{script[:2]}", html=True) for script in SCRIPTS]
    rng.shuffle(made)
    return tuple(made)


WEB = ("alg-b", "alg-c", "combined", "by-site")
VARIANTS: dict[str, tuple[str, dict]] = {
    "alg-c of shingles": (
        "alg-c",
        {"sketch_of": "shingles", "sketch_weight": "log", "sketch_bits": 64, "sketch_similar": 54, "sketch_pieces": 4},
    ),
    "alg-c once": (
        "alg-c",
        {
            "sketch_weight": "once",
            "shingles_fingerprint": "mixed",
            "sketch_bits": 192,
            "sketch_similar": 184,
            "sketch_pieces": 8,
        },
    ),
    "mod-n containment": ("mod-n", {"sketch_n": 4, "sketch_measure": "containment"}),
    "mod-n small": ("mod-n", {"sketch_n": 3, "verify_threshold": 0.5}),
    "bottom-m small": ("bottom-m", {"sketch_m": 16, "verify_threshold": 0.5, "shingles_fingerprint": "rabin"}),
    "bloom small": ("bloom", {"sketch_chunk": 16, "sketch_window": 8, "sketch_bits": 64, "sketch_grow": True}),
    "bloom fixed": ("bloom", {"sketch_chunk": 32, "sketch_window": 12, "sketch_bits": 256, "sketch_grow": False}),
    "bloom contained": (
        "bloom",
        {
            "sketch_chunk": 16,
            "sketch_window": 8,
            "sketch_bits": 512,
            "sketch_grow": False,
            "sketch_measure": "containment",
        },
    ),
    "lists repeated": ("lists", {"sketch_repetitions": 3, "sketch_needed": 2, "sketch_ordered": False}),
    "lists of pairs": ("lists", {"shingles_width": 2, "sketch_lists": 7}),
    "altavista [5,3,2]": ("altavista", {"sketch_k": 5, "sketch_s": 3}),
    "altavista [8,2,3]": ("altavista", {"sketch_k": 8, "sketch_s": 2, "sketch_r": 3, "shingles_width": 4}),
    "altavista of multisets": ("altavista", {"sketch_s": 3, "shingles_repeats": True, "shingles_width": 2}),
    "resemblance at 0.2": ("resemblance", {"verify_threshold": 0.2}),
    "default by estimate": ("default", {"verify_method": "sketch"}),
    "default of 4 bits": ("default", {"sketch_bits": 4}),
    "default by an estimate of 200": ("default", {"verify_method": "sketch", "sketch_sampled": 200}),
    "stream at 0.5": ("stream", {"sketch_s": 2, "sketch_bins": 392, "verify_threshold": 0.5}),
    "one-pass by estimate": ("one-pass", {"verify_method": "sketch", "sketch_sampled": 200, "sketch_bits": 4}),
    "one-pass by minima": (
        "one-pass",
        {"verify_method": "sketch", "sketch_k": 60, "sketch_s": 1, "sketch_samples": False, "verify_threshold": 0.5},
    ),
    "one-pass by features of multisets": (
        "one-pass",
        {"verify_method": "none", "sketch_s": 3, "shingles_repeats": True, "shingles_fingerprint": "rabin"},
    ),
    "default by features": ("default", {"verify_method": "none"}),
    "default of characters": ("default", {"text_tokens": "chars", "verify_threshold": 0.6}),
    "by-site, public suffixes": ("by-site", {"sketch_sites": "public-suffix", "sketch_s": 4, "sketch_same": 330}),
    "combined, strict": ("combined", {"sketch_s": 2, "sketch_similar": 380}),
    "combined, few minima": ("combined", {"sketch_s": 4, "sketch_similar": 340}),
}
LINKED = {"text_links": True, "sketch_links": 0.3, "sketch_chunk": 32, "sketch_window": 12}
PAGE_VARIANTS: dict[str, tuple[str, dict]] = {
    "bloom with links": ("bloom", {**LINKED, "sketch_similar": 0.6}),
    "bloom with links, fixed": ("bloom", {**LINKED, "sketch_grow": False, "sketch_bits": 128}),
    "bloom with links, contained": ("bloom", {**LINKED, "sketch_grow": False, "sketch_measure": "containment"}),
    "bloom of pages": ("bloom", {"sketch_chunk": 32, "sketch_window": 12}),
    "default of pages": ("default", {}),
}

CASES = [
    *((name, "texts") for name in recipe_names()),
    *((name, "texts") for name in VARIANTS),
    *((name, "pages") for name in (*WEB, *PAGE_VARIANTS)),
    *((name, "pages") for name, (of, _) in VARIANTS.items() if of in WEB),
]
EXACT = [
    (f"{name}, exact", kind)
    for name, kind in CASES
    if name in recipe_names() or name.endswith(("containment", "strict"))
]
ALL = [*CASES, *EXACT]


@cache
def recipe_of(name: str) -> Recipe:
    """Exact: the resemblance is measured on top, with a threshold that some similar pairs fail."""
    if name.endswith(", exact"):
        return recipe_of(name.removesuffix(", exact")).changed(verify_method="exact", verify_threshold=0.75)
    of, changes = {**VARIANTS, **PAGE_VARIANTS}.get(name, (name, {}))
    return load_recipe(of).changed(**changes)


def documents_of(kind: str) -> tuple[Document, ...]:
    return pages() if kind == "pages" else texts()


@cache
def twin(name: str, kind: str) -> System:
    if name.endswith(", exact"):
        return twin(name.removesuffix(", exact"), kind).judged_by(recipe_of(name))
    return System(recipe_of(name), documents_of(kind))


@cache
def expected(name: str, kind: str) -> dict[tuple[int, int], float]:
    return twin(name, kind).similar()


def rows_of(documents: tuple[Document, ...]) -> list[dict]:
    return [{"id": f"{i}", "text": d.text, "url": d.url} for i, d in enumerate(documents)]


def options(kind: str) -> dict:
    return {"html": kind == "pages", "url_field": "url"}


def told(table: pa.Table) -> list[tuple[tuple[int, int], float]]:
    return [((int(r["first"]), int(r["second"])), r["score"]) for r in table.to_pylist()]


def found(table: pa.Table) -> dict[tuple[int, int], float]:
    """Scores by the documents' numbers; no pair is told twice."""
    made = {(min(pair), max(pair)): score for pair, score in told(table)}
    assert len(made) == table.num_rows
    return made


def run_pairs(name: str, kind: str, **more) -> dict[tuple[int, int], float]:
    table = pa.Table.from_pylist(rows_of(documents_of(kind)))
    return found(neardup.pairs(table, recipe=recipe_of(name), **options(kind), **more).table())


@pytest.mark.parametrize(("name", "kind"), ALL)
def test_pairs_are_those_of_the_definition(name, kind):
    answer = run_pairs(name, kind, threads=1)
    assert answer == pytest.approx(expected(name, kind), abs=1e-12)
    assert len(answer) >= 3, "a test of nothing"


def run_dedup(name: str, kind: str, **more) -> neardup.Result:
    table = pa.Table.from_pylist(rows_of(documents_of(kind)))
    return neardup.dedup(table, recipe=recipe_of(name), **options(kind), **more)


def similar_or_identical(name: str, kind: str):
    system, pairs = twin(name, kind), expected(name, kind)
    return lambda i, j: system.identical(i, j) or (min(i, j), max(i, j)) in pairs


@pytest.mark.parametrize(("name", "kind"), ALL)
def test_a_star_is_the_greedy_answer(name, kind):
    """So every removed document is similar to a kept one, and no two kept ones that share a key are similar."""
    result = run_dedup(name, kind, cluster="star")
    system, pairs = twin(name, kind), expected(name, kind)
    kept = naive_groups.kept(system.size, similar_or_identical(name, kind))
    if isinstance(system.kind, Odd) and recipe_of(name).verify.method == "sketch":
        kept = naive_groups.strict_star(
            system.size, lambda i: system.keys.get(i, ()), system.score, system.identical, system.bar
        )
    assert [int(i) for i in result.kept["id"].to_pylist()] == [i for i, stays in enumerate(kept) if stays]
    for row in result.removed.to_pylist():
        i, j = int(row["id"]), int(row["kept_id"])
        if system.identical(i, j):
            assert row["relation"] == "identical"
        else:
            assert row["score"] == pytest.approx(pairs[min(i, j), max(i, j)], abs=1e-12)
    assert result.counts["removed"] >= 3


@pytest.mark.parametrize(("name", "kind"), ALL)
def test_components_are_those_of_the_naive_graph(name, kind):
    result = run_dedup(name, kind, cluster="components")
    labels = naive_groups.components(twin(name, kind).size, similar_or_identical(name, kind))
    expected_groups = {i: label for i, label in enumerate(labels) if labels.count(label) > 1}
    assert {int(g["id"]): int(g["group"]) for g in result.groups.to_pylist()} == expected_groups


def write_shuffled(folder: Path, kind: str, files: int) -> list[Path]:
    rows = rows_of(documents_of(kind))
    random.Random(7).shuffle(rows)
    paths = [folder / f"part{i}.jsonl" for i in range(files)]
    for i, path in enumerate(paths):
        path.write_text("".join(json.dumps(r) + "\n" for r in rows[i::files]))
    return paths


OWN = [(name, "pages" if name in WEB else "texts") for name in recipe_names()] + [
    ("bloom with links", "pages"),
    ("combined, exact", "pages"),
    ("by-site, exact", "pages"),
    ("mod-n containment, exact", "texts"),
]


@pytest.mark.parametrize(("name", "kind"), OWN)
def test_threads_files_and_order_do_not_matter_to_pairs(name, kind, tmp_path):
    paths = write_shuffled(tmp_path, kind, 4)
    answers = [
        found(neardup.pairs(paths, recipe=recipe_of(name), **options(kind), threads=threads).table())
        for threads in (1, 3)
    ]
    assert answers[0] == answers[1] == pytest.approx(expected(name, kind), abs=1e-12)


@pytest.mark.parametrize(("name", "kind"), OWN)
def test_a_resumed_run_gives_the_same(name, kind, tmp_path):
    """Once with everything done before, once with a part of it lost."""
    paths = write_shuffled(tmp_path, kind, 3)
    tables = []
    for lost in ((), (), ("sketches/00001.arrow",), ("measured.arrow",)):
        for file in lost:
            (tmp_path / "work" / file).unlink(missing_ok=True)
        result = neardup.dedup(paths, recipe=recipe_of(name), **options(kind), work=tmp_path / "work", threads=2)
        counts = {key: n for key, n in result.counts.items() if key != "pairs_measured"}  # also by the runs before
        tables.append((result.removed, result.groups, counts))
        del result  # the work folder is its own as long as it lives
    assert tables[0][0].num_rows >= 3
    assert all(t[0].equals(tables[0][0]) and t[1].equals(tables[0][1]) and t[2] == tables[0][2] for t in tables)


@pytest.mark.parametrize("kind", ["texts", "pages"])
def test_what_algorithm_c_promises(kind):
    """12 pieces: all pairs that differ in 11 bits or fewer; of those that differ in 12, the ones that share a piece."""
    system, answer = twin("alg-c", kind), run_pairs("alg-c", kind)
    scores = {pair: system.score(*pair) for pair in system.pairs()}
    assert set(answer) >= {pair for pair, bits in scores.items() if bits >= 384 - 11}
    assert min(answer.values()) >= 372
    assert all(answer[pair] == scores[pair] for pair in answer)
    assert len({bits for bits in answer.values() if 372 <= bits < 384}) >= 2


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("default", "texts"),
        ("mod-n containment, exact", "texts"),
        ("by-site, exact", "pages"),
        ("bloom, exact", "texts"),
    ],
)
def test_exact_pairs_tell_resemblance_and_both_containments(name, kind):
    table = pa.Table.from_pylist(rows_of(documents_of(kind)))
    listed = neardup.pairs(table, recipe=recipe_of(name), **options(kind)).table().to_pylist()
    system, documents = twin(name, kind), documents_of(kind)
    for row in listed:
        i, j = int(row["first"]), int(row["second"])
        a, b = system.shingles[i], system.shingles[j]
        assert i < j
        assert (row["first_url"], row["second_url"]) == (documents[i].url, documents[j].url)
        assert row["measured"] == ("identity" if system.identical(i, j) else "exact")
        numbers = (row["resemblance"], row["first_in_second"], row["second_in_first"])
        both = len(a & b)
        copies = system.identical(i, j)  # in canonical form, for bloom, where numberings and bullets do not count
        assert numbers == pytest.approx((1, 1, 1) if copies else (both / len(a | b), both / len(a), both / len(b)))


@pytest.mark.parametrize("k", [49, 98, 103])
def test_equal_sketches_have_a_resemblance_of_1(k):
    """Not of k times 1/k, which is less for these."""
    recipe = load_recipe("resemblance").changed(sketch_k=k, verify_threshold=1.0)
    chorus = " ".join(f"w{i}" for i in range(20))
    rows = [" ".join([chorus] * 3), " ".join([chorus] * 4)]  # the same shingles, and not the same tokens
    same = neardup.sketch(rows, recipe).words
    assert (same[0] == same[1]).all()
    assert neardup.pairs(rows, recipe=recipe).table()["score"].to_pylist() == [1.0]


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 0, 3, 1], [0, 2, 3, 1], [3, 1, 0, 2]])
def test_pairs_and_then_dedup_may_share_a_work_folder(order, tmp_path):
    """Pairs measures all copies, dedup one of them: what it finds measured is also of documents that it does not ask
    about."""
    words = [f"w{i}" for i in range(60)]
    near, nearer = ["y", "z", *words[2:]], ["x", *words[1:]]
    made = [" ".join(words), " ".join(words).upper(), " ".join(nearer), " ".join(near)]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": f"{i}", "text": made[i]}) + "\n" for i in order))
    expected = neardup.dedup(path)
    neardup.pairs(path, work=tmp_path / "work").table()
    result = neardup.dedup(path, work=tmp_path / "work")
    assert result.kept["id"].equals(expected.kept["id"])
    assert expected.counts["removed"] == 3


def test_what_was_measured_of_a_copy_is_not_taken_for_another(tmp_path):
    """A and C are measured by pairs() and below the threshold, also for A's copy; B and C are above it."""
    c = [f"w{i}" for i in range(400)]
    a, b = [*c[:346], *(f"a{i}" for i in range(30))], ["b", "b", "b", *c[3:]]
    texts = {"A": " ".join(a), "copy": " ".join(a).upper(), "B": " ".join(b), "C": " ".join(c)}
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items()))
    assert neardup.dedup(path, threshold=0.82).kept["id"].to_pylist() == ["A", "B"]
    neardup.pairs(path, threshold=0.82, work=tmp_path / "work").table()
    assert neardup.dedup(path, threshold=0.82, work=tmp_path / "work").kept["id"].to_pylist() == ["A", "B"]


@pytest.mark.parametrize(("host", "more"), [("www.two.com", []), ("www.one.com", ["q"])])
@pytest.mark.parametrize(("cluster", "keep"), [("star", "first"), ("star", "longest"), ("star", "last")])
def test_copies_on_two_sites_are_judged_each_by_its_own(cluster, keep, host, more):
    """Algorithm C says no between sites, the combined one yes within a site: which copy stands for both matters."""
    words = random.Random(3).sample(WORDS, 400)
    changed = [*words[:200], *(f"new{i}" for i in range(6)), *words[206:], *more]
    rows = [
        {"id": "c", "text": " ".join(words), "url": "http://www.one.com/1"},
        {"id": "b", "text": " ".join(words), "url": "http://www.two.com/1"},
        {"id": "a", "text": " ".join(changed), "url": f"http://{host}/2"},
    ]
    recipe = load_recipe("by-site").changed(clusters_keep=keep, clusters_method=cluster)
    listed = neardup.pairs(rows, recipe=recipe).table().to_pylist()
    pairs = {frozenset((r["first"], r["second"])) for r in listed}
    assert len(pairs) == 2, "the copies, and the third with one of them"
    result = neardup.dedup(rows, recipe=recipe)
    kept = set(result.kept["id"].to_pylist())
    assert not any(pair <= kept for pair in pairs)
    assert all(frozenset((r["id"], r["kept_id"])) in pairs for r in result.removed.to_pylist())
