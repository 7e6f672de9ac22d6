"""Recipe web: main content, another rule within one site; and when it is the default."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup.errors import RecipeError
from neardup.text.extract import visible_text
from neardup.verify.places import Places
from tests.surface.conftest import run

NAV = "<nav>Home News Prices Jobs About Contact Imprint Privacy</nav>"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (f"{NAV}<main>The one that the page names, whatever stands around it.</main>", "The one that the page names,"),
        (f'{NAV}<div role="main">The one by its role, whatever stands around it.</div>', "The one by its role,"),
        (f"{NAV}<main></main><p>{'A script would fill it, so it is not believed. ' * 3}</p>", "A script would fill it"),
    ],
)
def test_main_content_is_what_the_page_calls_so(page, text):
    shown = visible_text(f"<html><body>{page}</body></html>", main=True)
    assert shown.strip().startswith(text)
    assert "Imprint" not in shown


@pytest.mark.parametrize(
    "hidden",
    [
        "<noscript><main>Please enable JavaScript to see this page, thank you.</main></noscript>",
        "<div hidden><main>Please enable JavaScript to see this page, thank you.</main></div>",
        '<main style="color: red; DISPLAY : none">Please enable JavaScript to see this page, thank you.</main>',
    ],
)
def test_what_is_hidden_is_no_main_content(hidden):
    shown = visible_text(f"<body>{hidden}<p>{'What the page is really about is told here. ' * 5}</p></body>", main=True)
    assert "really about" in shown


def test_two_of_them_are_none():
    page = (
        f"<body>{NAV}<main>First of two elements of that name.</main><main>Second of two elements of that name.</main>"
    )
    shown = visible_text(page, main=True)
    assert "First" in shown
    assert "Second" in shown


def test_a_page_without_any_is_compared_as_a_whole():
    assert "Home" in visible_text(f"<body>{NAV}</body>", main=True)


PAGES = [{"id": str(i), "html": f"<main>{f'A page of its own, number {i}. ' * 5}</main>"} for i in range(4)]


def test_web_pages_get_it_and_texts_do_not(tmp_path):
    def name(**given):
        result = neardup.dedup(**given)
        return neardup.recipes.name_of(result.recipe), result.recipe.verify.threshold

    assert name(source=PAGES) == ("web", 0.65)
    assert name(source=[{"id": "1", "text": "no page"}]) == ("default", 0.8)
    assert name(source=PAGES, recipe="default") == ("default", 0.8)
    (tmp_path / "a.html").write_text(PAGES[0]["html"])
    assert name(source=tmp_path) == ("web", 0.65)
    (tmp_path / "b.txt").write_text("a text")
    assert name(source=tmp_path) == ("default", 0.8)
    chosen = neardup.dedup(PAGES, threshold=0.8, extract="all").recipe
    assert (chosen.sketch.k, chosen.sketch.s) == (20, 7)
    assert (chosen.text.extract, chosen.verify.same_site) == ("all", 0.85)
    for method in ("sketch", "none"):
        assert name(source=PAGES, verify=method)[1] == 0.8
    assert neardup.pairs(PAGES).recipe == neardup.load_recipe("web")


def some_site(folder: Path) -> Path:
    """Different pages of a template: resemblance 0.77 of what they say, and more with all that is around it."""
    folder.mkdir()
    menu = " ".join(f"item{i}" for i in range(200))
    for name in "abcdef":
        page = f"<nav>{menu}</nav><main>{text_of(104, 15, name)}</main>"
        (folder / f"{name}.html").write_text(f"<html><body>{page}</body></html>")
    return folder


def test_a_few_other_files_do_not_decide_how_pages_are_compared(tmp_path):
    site = some_site(tmp_path / "site")
    alone = neardup.dedup(site)
    (site / "robots.txt").write_text("User-agent: *\nDisallow: /private and nothing else at all\n")
    beside = neardup.dedup(site)
    assert beside.recipe == alone.recipe == neardup.load_recipe("web")
    assert (alone.counts["removed"], beside.counts["removed"], beside.counts["documents"]) == (0, 0, 7)
    assert any(s.startswith("6 of 7 documents are web pages: recipe web") for s in beside.said)
    assert neardup.dedup(site, recipe="default").counts["removed"] == 5
    for n in range(6):
        (site / f"{n}.txt").write_text(f"a text of its own, number {n}, that nobody takes for a page")
    texts = neardup.dedup(site)
    assert neardup.recipes.name_of(texts.recipe) == "default"
    assert any(s.startswith("6 of 13 documents are web pages, which is not most of them: recipe d") for s in texts.said)
    assert not any("web pages" in s for s in neardup.dedup(site, recipe="web").said)


def test_tables_beside_pages_are_weighed_by_their_bytes(tmp_path):
    site = some_site(tmp_path / "site")
    (site / "index.jsonl").write_text('{"id": "1", "text": "what a crawler remembers"}\n')
    few = neardup.dedup(site)
    assert neardup.recipes.name_of(few.recipe) == "web"
    assert any("% of the bytes are web pages: recipe web" in s for s in few.said)
    (site / "index.jsonl").write_text("".join(f'{{"id": "{n}", "text": "{n} {"x " * 500}"}}\n' for n in range(20)))
    assert neardup.recipes.name_of(neardup.dedup(site).recipe) == "default"


def test_texts_beside_pages_are_of_their_host(tmp_path):
    site = some_site(tmp_path / "site")
    (site / "a.txt").write_text(text_of(104, 15, "t"))  # 0.77 to each of the pages
    assert neardup.dedup(site).counts["removed"] == 0
    (tmp_path / "other").mkdir()
    (site / "a.txt").rename(tmp_path / "other/a.txt")
    assert neardup.dedup([site, tmp_path / "other"]).counts["removed"] == 1


@pytest.mark.parametrize(
    ("file", "expected"),
    [("a.warc", "web"), ("www.wetter.example.warc", "web"), ("a.warc.wet", "default"), ("a.wet", "default")],
)
def test_archives_of_extracted_text_are_no_pages(tmp_path, file, expected):
    head = ["WARC/1.0", "WARC-Type: conversion", "WARC-Record-ID: <urn:uuid:1>", "Content-Length: 9", "", "some text"]
    (tmp_path / file).write_bytes("\r\n".join([*head, "", ""]).encode())
    assert neardup.recipes.name_of(neardup.dedup(tmp_path / file).recipe) == expected


def test_not_verified_pages_from_the_command(tmp_path):
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(p) + "\n" for p in PAGES))
    done = run("dedup", tmp_path / "pages.jsonl", "-o", tmp_path / "out", "--verify", "none", "--no-report")
    assert done.returncode == 0, done.stderr
    done = run("dedup", tmp_path / "pages.jsonl", "-o", tmp_path / "web", "--no-report")
    assert "0.85 for two pages of one host" in done.stderr


def test_it_says_what_it_did_and_what_it_lacks():
    assert any("recipe web" in s for s in neardup.dedup(PAGES).said)
    assert any("No URLs" in s for s in neardup.dedup(PAGES).said)
    with_urls = [{**p, "url": f"https://example.org/{p['id']}"} for p in PAGES]
    assert not any("No URLs" in s for s in neardup.dedup(with_urls).said)


def text_of(common: int, own: int, name: str) -> str:
    return " ".join([*(f"common{i}" for i in range(common)), *(f"{name}{i}" for i in range(own))])


def verdicts(urls: list[str | None], common: int, own: int, **settings) -> bool:
    rows = [{"id": str(i), "url": url, "text": text_of(common, own, "ab"[i])} for i, url in enumerate(urls)]
    recipe = neardup.load_recipe("web").changed(**settings) if settings else "web"
    return bool(len(neardup.pairs(pa.Table.from_pylist(rows), recipe=recipe, url_field="url").table()))


def test_two_pages_of_one_host_need_more():
    # 100 shared shingles of 130: resemblance 0.77
    for urls in (
        ["https://a.example/1", "https://b.example/1"],
        ["https://a.example/1", "https://a.example/1"],
        ["https://a.example/1", None],
        [None, None],
        ["https://a.example/1", "urn:isbn:1"],
    ):
        assert verdicts(urls, 104, 15), urls
    for urls in (
        ["https://a.example/1", "https://a.example/2"],
        ["https://www.a.example/1", "http://A.example/2"],
        ["https://user@a.example/1?x#y", "https://a.example/2"],
    ):
        assert not verdicts(urls, 104, 15), urls
        assert verdicts(urls, 200, 10), urls
        assert verdicts(urls, 104, 15, verify_same_site=0.0), urls


HOSTS = [
    ("https://a.example/1", "https://a.example:443/2"),
    ("https://a.example/1", "https://www.A.example./2"),
    ("a.example/1", "https://a.example/2"),
    ("//a.example/1", " https://a.example/2"),
    ("https://münchen.example/1", "https://xn--mnchen-3ya.example/2"),
    ("https://a.example/1", "https://a.example:8443/2"),
    ("https://a.example/1", "http://www.a.example/1#top"),
    ("https://a.example/1", "https://b.example/1"),
]


@pytest.mark.parametrize("urls", HOSTS)
def test_dedup_and_compare_mean_the_same_host(urls):
    texts = [text_of(104, 15, name) for name in "ab"]
    system = next(s for s in neardup.compare(*texts, url_a=urls[0], url_b=urls[1]).systems if s.name == "web")
    assert all(score.similar for score in system.scores) == verdicts(list(urls), 104, 15)


def test_a_port_is_part_of_a_host():
    assert verdicts(["https://a.example/1", "https://a.example:8443/2"], 104, 15)


@pytest.mark.parametrize("n", [9, 10, 30])
def test_many_near_duplicates_on_one_host_are_found(n):
    """Session ids and counters: the more of them there are, the more go."""
    words = " ".join(f"word{i}" for i in range(400))
    rows = [{"id": str(i), "url": f"https://a.example/?s={i}", "text": f"{words} visitor {i}"} for i in range(n)]
    assert len(neardup.dedup(rows, recipe="web").removed) == n - 1


def test_files_of_a_folder_are_pages_of_the_host_that_it_is_named_by(tmp_path):
    def verdict(*names):
        folder = tmp_path / "-".join(names).replace("/", "_")
        for name, own in zip(names, "ab", strict=True):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"<p>{text_of(104, 15, own)}</p>")
        return bool(len(neardup.pairs(folder).table()))

    assert verdict("one.example.org/a.html", "two.example.org/a.html")
    assert not verdict("one.example.org/a.html", "one.example.org/b.html")
    assert not verdict("crawl/one.example.org/a.html", "crawl/one.example.org/x/b.html")
    assert verdict("crawl/one.example.org/a.html", "crawl/two.example.org/b.html")
    assert not verdict("a.html", "b.html")


def test_hosts_and_pages(tmp_path):
    urls = [
        "https://www.A.example/x",
        "http://a.example/y",
        None,
        "no url",
        "https://b.example:81/",
        "https://a.example/y",
    ]
    rows = [{"id": str(i), "url": u, "text": f"text {i}"} for i, u in enumerate(urls)]
    result = neardup.dedup(pa.Table.from_pylist(rows), url_field="url")
    places = Places.of(result.gathered.collection)
    assert places.hosts.tolist() == [0, 0, -1, -1, 1, 0]
    assert places.count == 2
    pairs = [(0, 1), (0, 4), (1, 5), (2, 3), (0, 2)]
    assert places.neighbours(np.array(pairs)).tolist() == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"verify_same_site": 1.5}, "same_site = 1.5"),
        ({"verify_method": "sketch"}, 'give method = "exact"'),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(RecipeError, match=message):
        neardup.load_recipe("web").changed(**settings)
