"""/collection in a real browser: groups, the report and the audit of a finished run, by clicking and typing."""

import html
import json
import os
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from neardup import Result
from neardup.pipeline import dedup
from neardup.report import write_report
from neardup.report.page import read_data
from neardup.service.pages import collection
from neardup.service.pages.asking import Asked, Site
from tests.corpus import documents
from tests.service.serving import READ, WRITE, Service, serving

LARGEST = 200_000
"""Bytes of a first page."""

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)></script><!-- <svg onload=alert(3)> "
    "\u202egnp.exe\u202c \u2028 &lt;b&gt; ]]> \"' `${alert(4)}` "
)
NAMES = [  # id, URL
    ("\u202e<b onmouseover=alert(5)>1</b>'\"", "javascript:alert('url')"),
    ('"><img src=x onerror=alert(6)>', 'https://a.example/" onmouseover="alert(7)'),
    ("{{ 7 * 7 }}/../etc/passwd?a=b&c=d#e", "data:text/html,<script>alert(8)</script>"),
    ("i" * 20_000, "https://b.example/" + "u" * 20_000),
]
FILES = ["<img src=x onerror=alert(6)>.html", '" onmouseover="alert(7).html', "\u202egnp.{{ 7 * 7 }}&lt;b&gt;.html"]
CROWD = 70
ALIKE = "the very same words stand in all of these documents and nobody knows why they were copied so often " * 3


def rows() -> Iterator[dict]:
    for i, row in enumerate(documents(220, seed=5)):
        yield {**row, "url": f"https://www.site{i % 3}.example.org/{row['id']}", "title": f"Page {row['id']}"}
    for at, (id_, url) in enumerate(NAMES):
        words = " ".join(f"w{at}x{j}" for j in range(80))
        for copy in range(2):
            text = HOSTILE + words + f" changed{copy} " * copy + HOSTILE
            yield {"id": id_ + "!" * copy, "url": url, "title": HOSTILE, "text": text}
    for at in range(CROWD):
        yield {"id": f"crowd/{at}", "url": f"https://mirror{at}.example.net/", "text": f"{ALIKE} number{at % 4}"}


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    (folder / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()))
    result = dedup(str(folder / "pages.jsonl"), work=folder / "out" / "work", threshold=0.7)
    result.write(folder / "out")
    write_report(result, folder / "out" / "report.html")
    return folder / "out"


@pytest.fixture(scope="module")
def result(run) -> Result:
    return Result.open(run)


@pytest.fixture(scope="module")
def served(run, tmp_path_factory) -> Iterator[Service]:
    cache = {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}
    with serving(None, "--collection", str(run), environment=cache) as service:
        yield service


def opened(watched, service, path: str = "/collection"):
    watched.page.goto(f"{service.address}{path}")
    return watched.page


def quiet(watched, service) -> None:
    """Nothing ran that is not ours, and nothing was asked of anybody else."""
    assert watched.dialogs == []
    assert watched.errors == []
    assert {url for url in watched.requests if not url.startswith(service.address)} <= {"data:,"}


def said(page) -> str:
    return page.inner_text("p.said")


def where(page) -> list[str]:
    return page.locator(".groups .where").all_inner_texts()


def test_facts_and_groups(any_page, served, result):
    answer = any_page.page.goto(f"{served.address}/collection")
    page = any_page.page
    assert len(answer.body()) < LARGEST
    counts = result.counts
    names, values = (page.locator(f".figures {kind}").all_inner_texts() for kind in ("dt", "dd"))
    figures = dict(zip(names, values, strict=True))
    assert figures["Documents"] == str(counts["documents"])
    assert figures["Removed"].split()[0] == str(counts["removed"])
    assert figures["Groups"] == str(counts["groups"])
    assert figures["Largest"] == str(CROWD)
    page.get_by_text("How it was done").click()
    assert result.recipe.id in page.inner_text(".done")
    assert said(page) == f"{counts['groups']} groups."
    assert where(page)[0] == "https://mirror0.example.net/"
    any_page.screenshot(f"collection-{page.viewport_size['width']}")
    assert any_page.overflow == 0
    assert any_page.violations() == []
    quiet(any_page, served)


def test_groups_have_pages_and_are_filtered(desktop, served, result):
    page = opened(desktop, served)
    groups = result.counts["groups"]
    seen = [*where(page)]
    while page.get_by_role("link", name="Next").count():
        page.get_by_role("link", name="Next").click()
        page.wait_for_url(f"**page={len(seen) // 25 + 1}")
        seen += where(page)
    assert len(seen) == len(set(seen)) == groups
    page.get_by_role("searchbox").fill("SITE1.example")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=SITE1.example**")
    assert said(page).endswith(f" groups of {groups}.")
    assert int(said(page).split()[0]) == _with(result, "site1.example")
    page.get_by_label("Relation").select_option("near")
    page.get_by_label("Order").select_option("weakest")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url("**kind=near&order=weakest**")
    assert int(said(page).split()[0]) == _with(result, "site1.example", "near")
    assert all("near-duplicate" in kinds for kinds in page.locator(".kinds").all_inner_texts())
    margins = [float(words.partition("the least similar one is ")[2].split()[0]) for words in _kinds(page)]
    assert margins == sorted(margins)
    assert margins
    page.get_by_role("searchbox").fill("no such name")
    page.keyboard.press("Enter")
    page.get_by_text(f"0 groups of {groups}.").wait_for()
    page.go_back()
    assert page.get_by_role("searchbox").input_value() == "SITE1.example"
    page.go_back()
    assert page.get_by_label("Relation").input_value() == "any"
    quiet(desktop, served)


def _kinds(page) -> list[str]:
    """Of groups that have others than the same words."""
    return [words for words in page.locator(".kinds").all_inner_texts() if "all have the same words" not in words]


def _with(result: Result, words: str, relation: str | None = None) -> int:
    """Groups with these words in a URL, and with a member of this relation: counted over the tables."""
    removed = result.removed.to_pylist()
    named = {row["kept_id"] for row in removed if words in f"{row['url']} {row['kept_url']}"}
    return len({row["kept_id"] for row in removed if relation in (None, row["relation"])} & named)


def test_a_group_has_its_members_and_says_why(any_page, served, result):
    page = opened(any_page, served)
    page.locator(".groups a").first.click()
    page.wait_for_url("**/collection/group?kept=*")
    assert page.inner_text("h1") == f"{CROWD} documents, one kept"
    assert "Kept because it is the one that comes first in the input." in page.inner_text(".kept")
    table = page.locator(".members tbody tr")
    assert table.count() == 50
    first, last = table.first.inner_text(), table.last.inner_text()
    assert "same words" in first
    assert "near-duplicate" in last
    assert "measured" in last
    assert table.first.locator("td.less").all_text_contents()[:2] == ["100%", "100%"]
    any_page.screenshot(f"group-{page.viewport_size['width']}")
    assert any_page.overflow == 0
    assert any_page.violations() == []
    page.get_by_role("link", name="Next").click()
    page.wait_for_url("**page=2")
    assert table.count() == CROWD - 1 - 50
    page.locator(".compare").last.click()
    page.wait_for_url("**/compare?a=crowd%2F0&b=crowd%2F*")
    assert page.inner_text("h1") == "Near-duplicates"
    page.go_back()
    page.get_by_role("link", name="All groups").click()
    assert said(page) == f"{result.counts['groups']} groups."
    quiet(any_page, served)


def test_the_numbers_of_a_member_are_those_of_the_run(desktop, served, result):
    row = next(row for row in result.removed.to_pylist() if row["relation"] == "near" and row["id"].startswith("d"))
    page = opened(desktop, served, f"/collection?q={row['kept_id']}")
    page.locator(".groups a").first.click()
    shown = page.locator(".members tr", has_text=f"/{row['id']}").locator("td.number").all_inner_texts()
    assert shown[0] == f"{row['score']:.3f}"
    shares = [f"{100 * row[name]:.1f}%".replace("100.0%", "100%") for name in ("removed_in_kept", "kept_in_removed")]
    assert shown[1:3] == shares
    quiet(desktop, served)


@pytest.mark.parametrize("kept", ["-1", "1", "99999999", "x", "1e3", "%00", "9" * 400])
def test_there_is_no_such_group(served, kept, result):
    assert 1 in result.decision.removed
    answer = served.http.get(f"/collection/group?kept={kept}")
    assert answer.status_code == 404
    assert "<h1>There is no such group</h1>" in answer.text
    assert "The run has no group with this number" in answer.text


def test_the_report_is_under_the_same_roof(any_page, served, run, result):
    page = opened(any_page, served)
    page.get_by_role("link", name="Report", exact=True).click()
    page.wait_for_url("**/collection/report")
    page.wait_for_function("document.documentElement.dataset.ready === 'true'")
    counts = result.counts
    assert page.inner_text("h1") == f"{counts['removed']} of {counts['documents']} documents removed"
    assert page.get_by_role("link", name="Collection", exact=True).get_attribute("aria-current") == "page"
    assert page.get_by_role("link", name="Report", exact=True).get_attribute("aria-current") == "true"
    page.get_by_role("searchbox").fill("crowd/")
    page.locator(".list button").first.click()
    assert "Group of 70 documents" in page.inner_text(".browser")
    page.locator("nav[aria-label=Sections] a", has_text="Similarity").click()
    assert page.locator("#similarity-title").is_visible()
    assert page.locator(".chart svg").count() >= 2
    any_page.screenshot(f"collection-report-{page.viewport_size['width']}")
    assert any_page.overflow == 0
    assert any_page.violations() == []
    shown = json.loads(page.locator("#report").text_content())
    assert shown == read_data(run / "report.html")
    page.locator(".parts").get_by_role("link", name="Groups").click()
    assert said(page) == f"{counts['groups']} groups."
    quiet(any_page, served)


def label_file(run: Path) -> list[dict]:
    path = run / "audit" / "labels.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def tally(page, words: str) -> None:
    page.wait_for_function("t => document.getElementById('tally').textContent.startsWith(t)", arg=words)


def test_the_audit_begins(any_page, served, run):
    page = opened(any_page, served, "/collection/audit")
    assert page.get_by_role("button", name="Draw pairs and begin").is_visible()
    any_page.screenshot(f"collection-audit-begin-{page.viewport_size['width']}")
    assert any_page.overflow == 0
    assert any_page.violations() == []
    assert not (run / "audit").exists()
    quiet(any_page, served)


def test_the_audit_is_under_the_same_roof(desktop, served, run):
    page = opened(desktop, served)
    page.get_by_role("link", name="Audit", exact=True).click()
    assert desktop.violations() == []
    page.get_by_label("Pairs to look at").fill("12")
    page.get_by_role("button", name="Draw pairs and begin").click()
    page.wait_for_selector(".diff")
    assert page.url == f"{served.address}/collection/audit"
    assert (run / "audit" / "pairs.jsonl").exists()
    assert page.text_content("#place") == "Pair 1 of 12"
    page.get_by_label("Your name").press_sequentially("cui bono")  # letters, and no verdicts
    page.keyboard.press("Tab")
    page.keyboard.press("c")
    tally(page, "1 of 12 labelled: 1 correct")
    said = [(label["verdict"], label["reason"], label["labeller"]) for label in label_file(run)]
    assert said == [("correct", None, "cui bono")]
    page.keyboard.press("2")
    page.wait_for_function("() => document.getElementById('place').textContent.startsWith('Pair 2 ')")
    page.get_by_role("button", name="Incorrect").click()
    tally(page, "2 of 12 labelled: 1 correct, 1 incorrect")
    page.get_by_label("Note").fill("c is a letter here")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.getElementById('place').textContent.startsWith('Pair 3 ')")
    assert label_file(run)[-1]["note"] == "c is a letter here"
    page.keyboard.press("w")
    page.wait_for_selector(".whole")
    desktop.screenshot("collection-audit")
    page.keyboard.press("z")
    tally(page, "1 of 12 labelled")
    page.goto(f"{served.address}/collection/audit#content")  # as the link that skips the header does
    page.reload()
    page.wait_for_selector(".diff")
    tally(page, "1 of 12 labelled: 1 correct")
    assert page.text_content("#place") == "Pair 2 of 12"
    assert page.get_by_label("Your name").input_value() == "cui bono"
    page.locator(".parts").get_by_role("link", name="Groups").click()
    page.go_back()
    page.wait_for_selector(".diff")
    quiet(desktop, served)


def test_the_audit_on_a_phone(phone, served, run):
    page = opened(phone, served, "/collection/audit")
    if page.get_by_role("button", name="Draw pairs").count():
        page.get_by_role("button", name="Draw pairs").click()
    page.wait_for_selector(".diff")
    assert page.locator(".parts").get_by_role("link", name="Groups").is_visible()
    before = len(label_file(run))
    page.get_by_role("button", name="Undecided").click()
    page.wait_for_selector("[data-verdict=undecided][aria-pressed=true]")
    assert label_file(run)[before]["verdict"] == "undecided"
    phone.screenshot("collection-audit-375")
    assert phone.overflow == 0
    assert phone.violations() == []
    quiet(phone, served)


def test_hostile_documents(desktop, served, result):
    page = opened(desktop, served, "/collection?q=alert")
    assert page.locator(".groups li").count() == 3
    page.get_by_role("searchbox").fill("iiiiiiiiii")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=iiii**")
    page.locator(".groups a").click()
    page.wait_for_url("**/collection/group?**")
    assert page.locator(".compare, .kept a").count() == 0  # the id is longer than an address may be
    kept = [row["kept_id"] for row in result.removed.to_pylist() if "alert" in f"{row['id']} {row['url']}"]
    numbers = {id_: number for number, id_ in enumerate(row["id"] for row in rows())}
    for id_ in kept:
        page = opened(desktop, served, f"/collection/group?kept={numbers[id_]}")
        shown = page.inner_text("main")
        assert "<script>alert(1)</script>" in shown
        assert "⟨U+202E⟩" in shown
        assert page.locator("main :is(script, img, svg, [onmouseover])").count() == 0
        assert page.locator("main a[href^='javascript:'], main a[href^='data:']").count() == 0
        page.locator(".compare").click()
        page.wait_for_url("**/compare?**")
        assert page.locator("mark").count() > 0
    quiet(desktop, served)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such file names")
def test_hostile_files_and_their_html(desktop, tmp_path):
    """In the list, a group, the audit and the report: scripts in names of files, in titles and in pages."""
    folder = tmp_path / "<svg onload=alert(1)>"
    folder.mkdir()
    body = " ".join(f"w{n}" for n in range(120))
    for at, name in enumerate(FILES):
        title = "&lt;script&gt;alert(2)&lt;/script&gt;<img src=x onerror=alert(3)>"
        page = (
            f"<title>{title}</title><script>alert(4)</script><p onclick=alert(5)>{html.escape(HOSTILE)} {body} {at}</p>"
        )
        (folder / name).write_text(page)
    found = dedup(str(folder), work=tmp_path / "out" / "work")
    found.write(tmp_path / "out")
    assert found.counts["removed"] == len(FILES) - 1
    names = [name.replace("\u202e", "⟨U+202E⟩") for name in FILES]
    with serving(None, "--collection", str(tmp_path / "out"), environment={"XDG_CACHE_HOME": str(tmp_path)}) as service:
        page = opened(desktop, service)
        assert "<script>alert(2)</script><img src=x onerror=alert(3)>" in page.inner_text(".groups h3")
        page.get_by_text("How it was done").click()
        assert "<svg onload=alert(1)>" in page.inner_text(".done")
        page.locator(".groups a").click()
        page.wait_for_url("**/group?**")
        assert all(name in page.inner_text("main") for name in names)
        page.get_by_role("link", name="Audit", exact=True).click()
        page.get_by_role("button", name="Draw pairs").click()
        page.wait_for_selector(".diff")
        page.keyboard.press("w")
        page.wait_for_selector(".whole")
        assert "<script>alert(1)</script>" in page.inner_text(".whole")
        assert page.inner_text(".who .name >> nth=0") in names
        for path in ("", "/group?kept=0", "/audit", "/report"):
            opened(desktop, service, f"/collection{path}")
            page.wait_for_load_state("networkidle")
            assert page.locator("main :is(img, [onclick], [onerror], [onload])").count() == 0
        assert page.locator("#report").count() == 1
        quiet(desktop, service)


def test_a_collection_that_is_no_run_says_how_to_make_one(any_page, searching):
    page = opened(any_page, searching)
    assert "neardup dedup pages.jsonl -o clean/" in page.inner_text("pre")
    assert "is not a finished run" in page.inner_text("main")
    assert any_page.overflow == 0
    for path in ("group?kept=0", "report", "audit", "audit/api/state", "audit/api/pairs/0"):
        answer = searching.http.get(f"/collection/{path}")
        assert answer.status_code == 404
        assert "No finished run is served here" in answer.text
    assert "No collection is served here" in collection.show(Site(), Asked()).content.decode()
    quiet(any_page, searching)


def test_labels_come_from_the_page_itself(served, run):
    ours = {"Origin": served.address}
    assert served.http.post("/collection/audit", data={"pairs": "12"}, headers=ours).status_code == 303
    before = label_file(run)
    label = {"pair": 0, "verdict": "correct"}
    for headers in (
        {},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {**ours, "Sec-Fetch-Site": "cross-site"},
    ):
        assert served.http.post("/collection/audit/api/labels", json=label, headers=headers).status_code == 403
        assert served.http.post("/collection/audit", data={"pairs": "5"}, headers=headers).status_code == 403
    assert served.http.post("/collection/audit/api/labels", data={"pair": "0"}, headers=ours).status_code == 415
    assert label_file(run) == before
    for number in ("-1", "10000", "x", "%2e%2e", "1%00"):
        answer = served.http.get(f"/collection/audit/api/pairs/{number}")
        assert answer.status_code == (400 if "%" in number else 404)
        assert answer.headers["content-type"] == "application/problem+json"
    for pairs in ("0", "-1", "", "2001", "9" * 5000, "x"):
        assert served.http.post("/collection/audit", data={"pairs": pairs}, headers=ours).status_code == 422
    for body in (
        b"",
        b"[]",
        b"{",
        b'{"pair": 99999}',
        b'{"pair": 0, "verdict": 1}',
        b'{"pair": 0, "verdict": "fine"}',
        b'{"pair": 0, "verdict": "correct", "labeller": 7}',
        b'{"pair": 0, "verdict": "correct", "labeller": "%s"}' % (b"x" * 101),
    ):
        sent = {**ours, "Content-Type": "application/json"}
        answer = served.http.post("/collection/audit/api/labels", content=body, headers=sent)
        assert answer.status_code in (404, 422), body
        assert answer.json()["detail"]
    huge = json.dumps({"pair": 0, "verdict": "correct", "note": "x" * 20_000}).encode()
    sent = {**ours, "Content-Type": "application/json"}
    assert served.http.post("/collection/audit/api/labels", content=huge, headers=sent).status_code == 413
    assert label_file(run) == before


def test_who_may_read_may_not_label(chromium, run, tmp_path_factory):
    cache = str(tmp_path_factory.mktemp("cache"))
    environment = {"NEARDUP_READ_TOKEN": READ, "NEARDUP_WRITE_TOKEN": WRITE, "XDG_CACHE_HOME": cache}
    with serving(None, "--collection", str(run), environment=environment) as guarded:
        assert httpx.get(f"{guarded.address}/collection").status_code == 401
        assert httpx.get(f"{guarded.address}/collection/audit/api/state").status_code == 401
        sent = {"data": {"pairs": "12"}, "headers": {"Origin": guarded.address}}
        assert httpx.post(f"{guarded.address}/collection/audit", auth=("ann", READ), **sent).status_code == 403
        begun = httpx.post(f"{guarded.address}/collection/audit", auth=("ann", WRITE), **sent)
        assert (begun.status_code, begun.headers["location"]) == (303, "/collection/audit")
        before = len(label_file(run))
        for token, may in ((READ, False), (WRITE, True)):
            context = chromium.new_context(http_credentials={"username": "ann", "password": token})
            page = context.new_page()
            page.goto(f"{guarded.address}/collection/audit")
            page.wait_for_selector(".diff")
            page.keyboard.press("u")
            assert not page.get_by_label("Your name").is_visible()
            if may:
                page.wait_for_selector("[data-verdict=undecided][aria-pressed=true]")
                assert label_file(run)[-1]["labeller"] == "ann (write)"
                assert page.inner_text("#tally").endswith(" · ann")
            else:
                page.get_by_text("The token read has the right to read; this needs write or admin.").wait_for()
            assert len(label_file(run)) == before + may
            context.close()
        _many_label_at_once(guarded, run)


def _many_label_at_once(guarded, run) -> None:
    """Every label is in the file, whole, under the name beside the token and the token's own; one in the label itself
    is passed over."""
    before = len(label_file(run))
    given = [(pair, f"Ünal {person}") for person in range(4) for pair in range(12)]

    def label(each: tuple[int, str]) -> int:
        pair, person = each
        sent = {"pair": pair, "verdict": "correct", "note": person, "labeller": "somebody else"}
        headers = {
            "Origin": guarded.address,
            "Authorization": f"Basic {b64encode(f'{person}:{WRITE}'.encode()).decode()}",
        }
        return guarded.http.post("/collection/audit/api/labels", json=sent, headers=headers).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(label, given)) == {200}
    written = label_file(run)[before:]
    assert sorted(each["labeller"] for each in written) == sorted(f"{person} (write)" for _, person in given)
    assert all(each["labeller"] == f"{each['note']} (write)" for each in written)


def test_a_read_only_service_takes_no_labels(run, tmp_path_factory):
    cache = {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}
    before = label_file(run)
    with serving(None, "--collection", str(run), "--read-only", environment=cache) as service:
        answer = service.http.post(
            "/collection/audit/api/labels", json={"pair": 0, "verdict": "correct"}, headers={"Origin": service.address}
        )
        assert answer.status_code == 403
        assert answer.json()["detail"] == "The service is read-only."
    assert label_file(run) == before


def test_a_report_that_is_not_there_is_made(tmp_path):
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents(60, seed=2)))
    found = dedup(str(tmp_path / "pages.jsonl"), work=tmp_path / "out" / "work")
    found.write(tmp_path / "out", report=False)
    assert read_data(tmp_path / "out" / "report.html") is None
    with serving(
        None, "--collection", str(tmp_path / "out"), environment={"XDG_CACHE_HOME": str(tmp_path / "cache")}
    ) as service:
        shown = ""
        while 'id="report"' not in shown:
            answer = service.http.get("/collection/report")
            assert answer.status_code == 200
            shown = answer.text
            assert 'id="report"' in shown or "The report is being made" in shown
        assert f"{found.counts['removed']} of 60 documents removed" in shown
        assert not (tmp_path / "out" / "report.html").exists()
        nothing = service.http.get("/collection/audit")
        assert "Draw pairs and begin" in nothing.text


MOVING = """() => {
    for (const each of document.querySelectorAll("main, main *")) each.setAttribute("aria-busy", "true");
    const moves = ({ transitionDuration, animationName, scrollBehavior }) =>
        transitionDuration.split(",").some(parseFloat) || animationName !== "none" || scrollBehavior === "smooth";
    const found = [...document.querySelectorAll("*")].filter((each) => moves(getComputedStyle(each)));
    return [...found.map((each) => each.outerHTML.slice(0, 80)), ...document.getAnimations().map(String)];
}"""
"""What would move, or does, while everything is being waited for: that is when pages fade."""

PAGES = [
    "/",
    "/search?q=page",
    "/document?id=crowd/0",
    "/compare",
    "/compare?a=crowd/0&b=crowd/1",
    "/tune",
    "/tune?form=bloom",
    "/collection",
    "/collection/group?kept={crowd}",
    "/collection/report",
    "/collection/audit",
    "/docs",
]


@pytest.mark.parametrize("path", PAGES)
def test_nothing_moves_for_who_wants_it_so_and_it_is_light_and_dark(desktop, served, result, path):
    page = desktop.page
    page.emulate_media(color_scheme="dark", reduced_motion="no-preference")
    answer = page.goto(served.address + path.format(crowd=result.decision.kept_for[-1]))
    assert answer.status == 200
    assert len(answer.body()) < LARGEST or path == "/collection/report"  # which carries texts
    if path.startswith("/collection"):
        page.wait_for_load_state("networkidle")
        assert desktop.violations() == []
    assert page.evaluate(MOVING) != []
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.reload()
    assert page.evaluate(MOVING) == []
    quiet(desktop, served)


def test_a_passage_is_there_at_once_for_who_wants_nothing_to_move(desktop, served):
    filling = " ".join(f"w{n}" for n in range(4000))
    page = desktop.page
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{served.address}/compare")
    page.fill("#first", f"{ALIKE} {filling[:9000]}")
    page.fill("#second", f"{filling[9000:]} {ALIKE}")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_selector(".panes")
    where = "const { top, bottom } = document.getElementById('b-1').getBoundingClientRect();"
    inside = f"{where} const pane = document.getElementById('b-1').closest('.body').getBoundingClientRect();"
    inside += " return top < pane.bottom && bottom > pane.top;"
    assert page.evaluate(f"() => {{ {inside} }}") is False
    assert page.evaluate(f"() => {{ document.getElementById('a-1').click(); {inside} }}") is True
    quiet(desktop, served)
