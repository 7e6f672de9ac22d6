"""The search page in a real browser: by typing and clicking, by the keyboard, at both widths, without script."""

import re

import pytest

from tests.browser.searched import DIFFERENT, KINDS, NAMES, THOUSAND, searched
from tests.service.serving import READ, serving

LARGEST = 200_000
"""Bytes of a first page."""


def search(watched, service, query: str) -> None:
    watched.page.goto(f"{service.address}/")
    watched.page.get_by_role("searchbox").fill(query)
    watched.page.keyboard.press("Enter")
    watched.page.wait_for_url("**/search?q=*")


def said(watched) -> str:
    return " ".join(watched.page.inner_text("[role=status]").split())


def titles(watched) -> list[str]:
    return watched.page.locator(".results h2").all_inner_texts()


def numbers(watched) -> list[int]:
    return watched.page.locator(".results > li").evaluate_all("all => all.map(one => one.value)")


def quiet(watched, service) -> None:
    """Nothing ran that is not ours, and nothing was asked of anybody else."""
    assert watched.dialogs == []
    assert watched.errors == []
    assert {url for url in watched.requests if not url.startswith(service.address)} <= {"data:,"}


def test_repeats_are_folded_behind_the_best(any_page, searching):
    page = any_page.page
    search(any_page, searching, "rose garden")
    assert said(any_page) == "6 results, 4 repeats folded."
    assert titles(any_page) == ["The rose garden, a rose garden", "A other one"]
    members = page.locator(".similar > li")
    assert not members.first.is_visible()
    any_page.screenshot(f"search-{page.viewport_size['width']}")
    page.get_by_text("4 similar results").click()
    assert members.count() == 4
    shown = {member.locator("h3").inner_text(): member.locator(".relation").inner_text() for member in members.all()}
    assert shown["A same one"].startswith("The same text.")
    assert re.match(r"(7|8|9)\d% of the passages are the same\.", shown["A near one"])
    ranks = sorted(int(rank) for text in shown.values() for rank in re.findall(r"Number (\d+) in the plain", text))
    assert len(set(ranks)) == 4
    assert {1, *ranks} < set(range(1, 7)), "where the plain list has them"
    assert shown["A part one"].startswith("Lies in it: ")
    assert shown["A whole one"].startswith("Holds it: has ")
    assert page.locator(".snippet mark").first.inner_text().lower() == "rose"
    any_page.screenshot(f"search-unfolded-{page.viewport_size['width']}")
    assert any_page.overflow == 0
    quiet(any_page, searching)


def test_why_leads_to_both_documents_and_back_leads_back(desktop, searching):
    page = desktop.page
    search(desktop, searching, "rose garden")
    page.get_by_text("4 similar results").click()
    page.locator(".similar > li", has_text="A near one").get_by_role("link", name="Why").click()
    page.wait_for_url("**/compare?a=best&b=near")
    assert page.locator("h3", has_text="First document").inner_text().endswith("The rose garden, a rose garden")
    assert page.locator("h3", has_text="Second document").inner_text().endswith("A near one")
    assert page.locator("mark[data-twin]").count() >= 2
    assert page.locator(".pane .where").all_inner_texts() == [
        f"https://www.example.org/{name}" for name in ("best", "near")
    ]
    page.get_by_role("link", name="Back to where you came from").click()
    page.wait_for_url("**/search?**")
    assert page.locator(".similar > li", has_text="A near one").is_visible(), "what was unfolded stays so"
    page.go_back()
    page.go_back()
    assert page.locator(".similar > li", has_text="A near one").is_visible()
    assert titles(desktop) == ["The rose garden, a rose garden", "A other one"]
    assert page.get_by_role("searchbox").input_value() == "rose garden"
    page.go_back()
    assert said(desktop).startswith(f"{THOUSAND + len(KINDS) + 2 * len(NAMES):,} documents")
    quiet(desktop, searching)


def test_the_plain_list_says_what_repeats_what(any_page, searching):
    page = any_page.page
    search(any_page, searching, "rose garden")
    page.get_by_role("link", name="Plain").click()
    page.wait_for_url("**view=plain*")
    assert len(titles(any_page)) == 6
    assert said(any_page) == "6 results, 4 repeats among them."
    assert page.locator(".repeats").count() == 4
    assert "Repeats result 1, The rose garden" in page.locator(".repeats").first.inner_text()
    assert numbers(any_page) == [1, 2, 3, 4, 5, 6]
    any_page.screenshot(f"search-plain-{page.viewport_size['width']}")
    assert any_page.overflow == 0
    # What is searched for next is shown in the same way.
    page.get_by_role("searchbox").fill("rose")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**q=rose&**")
    assert page.get_by_role("link", name="Plain").get_attribute("aria-current") == "true"
    page.get_by_role("link", name="Grouped").click()
    page.wait_for_selector("details")
    quiet(any_page, searching)


def test_the_slider_groups_while_it_moves(desktop, searching):
    page = desktop.page
    search(desktop, searching, "rose garden")
    page.evaluate("window.same = true")
    slider = page.get_by_label("Similar from")
    slider.focus()
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('[role=status]').textContent.includes('1 repeat ')")
    assert page.inner_text("#threshold-shown") == "100%"
    assert said(desktop) == "6 results, 1 repeat folded."
    assert "A near one" in titles(desktop)
    page.keyboard.press("Home")
    page.wait_for_function("() => document.querySelector('[role=status]').textContent.includes('4 repeats')")
    assert page.inner_text("#threshold-shown") == "50%"
    page.wait_for_function("() => location.search.includes('threshold=50')")
    assert page.evaluate("window.same"), "the page was loaded anew"
    assert page.evaluate("document.activeElement.id") == "threshold"
    page.go_back()
    page.wait_for_function("() => !location.search.includes('threshold=50')")
    page.wait_for_function("() => document.getElementById('threshold').value === '70'")
    assert page.inner_text("#threshold-shown") == "70%"
    assert len(titles(desktop)) == 2
    quiet(desktop, searching)


def test_the_slider_by_the_mouse(desktop, searching):
    page = desktop.page
    search(desktop, searching, "rose garden")
    box = page.get_by_label("Similar from").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
    page.wait_for_function("() => location.search.includes('threshold=100')")
    assert page.inner_text("#threshold-shown") == "100%"
    assert said(desktop) == "6 results, 1 repeat folded."


@pytest.mark.parametrize("threshold", ["0", "-5", "1000", "x", "", "７５", "9" * 5000])
def test_thresholds_that_are_none(searching, threshold):
    answer = searching.http.get("/search", params={"q": "rose", "threshold": threshold, "page": threshold})
    assert answer.status_code == 200
    expected = {"0": 50, "-5": 50, "1000": 100, "9" * 5000: 100}.get(threshold, 70)
    assert f'step="1" value="{expected}"' in answer.text


def test_nothing_asked_and_nothing_found(any_page, searching):
    page = any_page.page
    page.goto(f"{searching.address}/search")
    assert page.get_by_role("searchbox").evaluate("e => e === document.activeElement")
    any_page.screenshot(f"search-empty-{page.viewport_size['width']}")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=&**")
    assert said(any_page).endswith("documents in the collection.")
    page.get_by_role("searchbox").fill("nobodywrotethis")
    page.keyboard.press("Enter")
    page.wait_for_url("**nobodywrotethis**")
    assert said(any_page) == "Nothing was found for nobodywrotethis."
    any_page.screenshot(f"search-nothing-{page.viewport_size['width']}")
    page.get_by_role("searchbox").fill("rose nobodywrotethis")
    page.keyboard.press("Enter")
    page.wait_for_url("**rose*nobodywrotethis**")
    assert said(any_page) == "6 results that have some of these words, and none has all, 4 repeats folded."
    assert any_page.overflow == 0
    quiet(any_page, searching)


@pytest.mark.parametrize(
    "query", ['"', "-", "<script>alert(1)</script>", "' OR 1=1 --", "a" * 5000, "\u202e", "{{ 7 * 7 }}", "rose AND ("]
)
def test_whatever_is_typed_is_a_query(desktop, searching, query):
    page = desktop.page
    page.goto(f"{searching.address}/search")
    page.get_by_role("searchbox").evaluate("(e, q) => { e.removeAttribute('maxlength'); e.value = q; }", query)
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**/search?q=*")
    assert page.get_by_role("searchbox").input_value() == query.strip()
    assert "49" not in said(desktop)
    quiet(desktop, searching)


def test_a_thousand_results(desktop, searching):
    page = desktop.page
    search(desktop, searching, "thousand")
    assert said(desktop) == f"1,000 results, {THOUSAND - DIFFERENT} repeats folded."
    assert len(titles(desktop)) == 20
    pages = DIFFERENT // 20
    assert f"Page 1 of {pages}" in page.inner_text(".pager")
    assert numbers(desktop) == list(range(1, 21))
    page.get_by_role("link", name="Next").click()
    page.wait_for_url("**page=2*")
    assert f"Page 2 of {pages}" in page.inner_text(".pager")
    assert numbers(desktop) == list(range(21, 41))
    desktop.screenshot(f"search-thousand-{page.viewport_size['width']}")
    page.go_back()
    page.goto(f"{searching.address}/search?q=thousand&view=plain&page=50")
    assert "Page 50 of 50" in page.inner_text(".pager")
    assert page.get_by_role("link", name="Next").count() == 0
    page.goto(f"{searching.address}/search?q=thousand&page=999")
    assert f"Page {pages} of {pages}" in page.inner_text(".pager")
    assert desktop.overflow == 0


def test_pages_are_light(searching):
    for path in ("/", "/search?q=rose+garden", "/search?q=thousand", "/compare"):
        answer = searching.http.get(path)
        assert len(answer.content) < LARGEST
        assert not re.search(r"""(?:src|href|action)=["'](?!/[a-z]|/"|#|data:,|https?://[a-z.]+example)""", answer.text)
        assert not re.search(r"""<[^>]+\s(?:on[a-z]+|style)=""", answer.text)


def test_hostile_documents_are_shown_and_do_nothing(any_page, searching):
    page = any_page.page
    search(any_page, searching, "hostile")
    assert said(any_page) == f"{2 * len(NAMES)} results, {len(NAMES)} repeats folded."
    shown = titles(any_page)
    assert "<script>alert('title')</script>" in shown
    assert "⟨U+202E⟩eltit desrever" in shown
    assert "{{ 7 * 7 }}" in shown
    assert max(map(len, shown)) <= 161
    for summary in page.locator("summary").all():
        summary.click()
    for link in page.locator("main a").all():
        href = link.get_attribute("href")
        assert re.match(r"https://[abc]\.example/|/document\?id=|/compare\?|/search\?", href), href
        if href.startswith("http"):
            assert link.get_attribute("rel") == "noreferrer noopener nofollow"
    assert page.locator("main img, main svg, main script, main b").count() == 0
    any_page.screenshot(f"search-hostile-{page.viewport_size['width']}")
    assert any_page.overflow == 0
    page.mouse.move(200, 300)
    quiet(any_page, searching)


@pytest.mark.parametrize("place", range(len(NAMES) - 1))
def test_hostile_documents_are_read_and_compared(desktop, searching, place):
    page = desktop.page
    title = NAMES[place][2]
    page.goto(f"{searching.address}/search?q=hostile&view=plain")
    first = page.locator(".results > li", has=page.locator(".repeats")).filter(
        has_text=title[:50].replace("\u202e", "⟩")
    )
    first.get_by_role("link", name="why").click()
    page.wait_for_selector(".panes")
    assert "<script>alert('text')</script>" in page.inner_text(".pane >> nth=0")
    assert page.locator(".panes :is(img, svg, script, b)").count() == 0
    page.locator(".pane h3 a").first.click()
    page.wait_for_url("**/document?id=*")
    assert "<script>alert('text')</script>" in page.inner_text(".text")
    assert desktop.overflow == 0
    quiet(desktop, searching)


def test_a_document_without_an_address_of_its_own(desktop, searching):
    """It leads to our own view of its text; and an id that there is not says so."""
    page = desktop.page
    search(desktop, searching, "thousand")
    first = titles(desktop)[0]
    page.get_by_role("link", name=first).click()
    page.wait_for_url("**/document?id=t*")
    assert page.inner_text("h1") == first
    assert page.inner_text(".text").startswith("thousand ")
    answer = page.goto(f"{searching.address}/document?id=nobody")
    assert answer.status == 404
    assert page.inner_text("h1") == "There is no such document"


def test_without_script(chromium, searching):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{searching.address}/")
    page.get_by_role("searchbox").fill("rose garden")
    slider = page.get_by_label("Similar from")
    slider.focus()
    page.keyboard.press("End")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**threshold=100**")
    assert "1 repeat folded" in page.inner_text("[role=status]")
    page.get_by_text("1 similar result").click()
    page.get_by_role("link", name="Why").click()
    page.wait_for_url("**/compare?a=best&b=same")
    assert page.inner_text("h1") == "The same words in the same order"
    context.close()


@pytest.mark.parametrize("path", ["/", "/search?q=rose+garden", "/search?q=rose&view=plain", "/document?id=best"])
def test_everybody_can_use_it(any_page, searching, path):
    """In the light on a desk, in the dark on a phone."""
    narrow = any_page.page.viewport_size["width"] < 500
    any_page.page.emulate_media(color_scheme="dark" if narrow else "light", reduced_motion="reduce")
    any_page.page.goto(f"{searching.address}{path}")
    for summary in any_page.page.locator("summary").all():
        summary.click()
    if path.startswith("/document"):
        any_page.screenshot(f"document-{any_page.page.viewport_size['width']}")
    assert any_page.violations() == []
    assert any_page.overflow == 0


def test_the_description_has_the_same_roof(any_page, searching):
    page = any_page.page
    page.goto(f"{searching.address}/docs")
    any_page.screenshot(f"docs-{page.viewport_size['width']}")
    assert any_page.overflow == 0
    assert any_page.violations() == []
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Compare").click()
    page.wait_for_url("**/compare")
    quiet(any_page, searching)


def test_by_the_keyboard_alone(desktop, searching):
    page = desktop.page
    search(desktop, searching, "rose garden")
    page.keyboard.press("Tab")
    assert page.inner_text(":focus") == "Skip to the content"
    page.keyboard.press("Enter")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    page.keyboard.press("Enter")
    assert page.locator(".similar > li").first.is_visible()


def test_a_token_is_the_password(chromium, tmp_path):
    with searched(tmp_path, NEARDUP_READ_TOKEN=READ) as service:
        assert service.http.get("/search?q=rose").status_code == 401
        context = chromium.new_context(http_credentials={"username": "anybody", "password": READ})
        page = context.new_page()
        page.goto(f"{service.address}/search?q=rose+garden")
        assert "4 repeats" in page.inner_text("[role=status]")
        page.get_by_label("Similar from").focus()
        page.keyboard.press("End")
        page.wait_for_function("() => document.querySelector('[role=status]').textContent.includes('1 repeat ')")
        page.goto(f"{service.address}/compare")
        page.fill("#first", "one text")
        page.fill("#second", "another text")
        page.get_by_role("button", name="Compare").click()
        page.wait_for_selector(".panes")
        context.close()


def test_without_a_collection(desktop, tmp_path):
    with serving(tmp_path / "seen.ndx") as service:
        page = desktop.page
        page.goto(f"{service.address}/")
        desktop.screenshot("home")
        assert desktop.violations() == []
        page.get_by_role("navigation").get_by_role("link", name="Search").click()
        page.wait_for_url("**/search")
        assert "neardup serve --collection" in page.inner_text("main")
        assert page.goto(f"{service.address}/document?id=a").status == 404
        assert page.goto(f"{service.address}/compare?a=a&b=b").status == 404
