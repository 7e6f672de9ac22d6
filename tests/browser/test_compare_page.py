"""The compare page in a real browser: typed, pasted, dropped and stored documents; passages that lead to each other."""

import re

import pytest

from neardup.recipes import recipe_names
from tests.browser.searched import HOSTILE, words
from tests.service.serving import serving

ONE, TWO, THREE = (words(seed, 30) for seed in (1, 2, 3))
FIRST = f"Only here. {ONE} {TWO}"
SECOND = f"{TWO} between. {ONE}"
"""Two passages, in another order."""


def compare(page, searching, first: str, second: str) -> None:
    page.goto(f"{searching.address}/compare")
    page.get_by_label("Text or HTML of the first document").fill(first)
    page.get_by_label("Text or HTML of the second document").fill(second)
    page.get_by_role("button", name="Compare").click()
    page.wait_for_selector("h1")


def figures(page) -> dict[str, str]:
    return {
        row.locator("dt").inner_text(): row.locator("dd b").inner_text() for row in page.locator(".figures > div").all()
    }


def quiet(watched, searching) -> None:
    assert watched.dialogs == []
    assert watched.errors == []
    assert {url for url in watched.requests if not url.startswith(searching.address)} <= {"data:,"}


def test_two_texts(any_page, searching):
    page = any_page.page
    compare(page, searching, FIRST, SECOND)
    assert page.inner_text("h1") == "Near-duplicates"
    assert page.url == f"{searching.address}/compare", "nothing of a document stands in an address"
    shown = figures(page)
    assert list(shown) == ["Resemblance", "First in second", "Second in first", "Match", "Words that differ"]
    assert float(shown["Resemblance"].rstrip("%")) == pytest.approx(100 * 52 / 63, abs=0.06)
    assert float(shown["First in second"].rstrip("%")) == pytest.approx(100 * 52 / 58, abs=0.06)
    systems = page.locator("tbody th[scope=row]").all_inner_texts()
    assert [name.split("\n")[0] for name in systems] == list(recipe_names())
    assert page.locator("tbody td.yes, tbody td.no").count() == len(recipe_names())
    assert page.locator(".pane >> nth=0").locator("mark").all_inner_texts() == [f"1{ONE}", f"2{TWO}"]
    assert page.locator(".pane >> nth=1").locator("mark").all_inner_texts() == [f"2{TWO}", f"1{ONE}"]
    page.get_by_text(re.compile(r"places? differ")).click()
    assert page.locator(".differences ins, .differences del").first.is_visible()
    any_page.screenshot(f"compared-{page.viewport_size['width']}")
    assert any_page.overflow == 0
    quiet(any_page, searching)


def test_the_texts_are_still_there(any_page, searching):
    page = any_page.page
    compare(page, searching, FIRST, SECOND)
    page.get_by_role("link", name="Change the documents").click()
    field = page.get_by_label("Text or HTML of the first document")
    field.wait_for(state="visible")
    assert field.input_value() == FIRST
    page.go_back()
    page.go_back()
    assert page.locator("h1").inner_text() == "Compare two documents"
    assert page.get_by_label("Text or HTML of the first document").input_value() == FIRST
    assert page.get_by_label("Text or HTML of the second document").input_value() == SECOND
    quiet(any_page, searching)


def test_a_passage_leads_to_its_twin(any_page, searching):
    page = any_page.page
    filling = "\n\n".join(words(50 + at, 400) for at in range(5))
    compare(page, searching, f"{ONE}\n\n{filling}", f"{words(90, 2000)}\n\n{ONE}")
    mark = page.locator("#a-1")
    twin = page.locator("#b-1")
    mark.click()
    page.wait_for_function("() => document.activeElement.id === 'b-1'")
    page.wait_for_function(
        "() => { const r = document.getElementById('b-1').getBoundingClientRect();"
        " return r.top < innerHeight && r.bottom > 0; }"
    )
    assert "here" in twin.get_attribute("class")
    assert "here" in mark.get_attribute("class")
    page.keyboard.press("Tab")  # the number in the passage: back by the keyboard
    assert page.inner_text(":focus") == "1"
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.id === 'a-1'")
    assert page.url == f"{searching.address}/compare"


def test_selecting_text_leads_nowhere(desktop, searching):
    page = desktop.page
    compare(page, searching, ONE, f"{ONE} {TWO}")
    box = page.locator("#a-1").bounding_box()
    page.mouse.move(box["x"] + 30, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 5)
    page.mouse.up()
    assert page.evaluate("getSelection().toString().length") > 0
    assert page.locator("mark.here").count() == 0


@pytest.mark.parametrize("how", ["chosen", "dropped"])
def test_files_are_read_in_the_browser(desktop, searching, tmp_path, how):
    page = desktop.page
    page.goto(f"{searching.address}/compare")
    markup = f"<p>{ONE}</p><script>hidden()</script>"
    if how == "chosen":
        (tmp_path / "page.html").write_text(markup)
        page.locator("input[type=file][data-for=first]").set_input_files(tmp_path / "page.html")
    else:
        data = page.evaluate_handle(
            "markup => { const data = new DataTransfer();"
            " data.items.add(new File([markup], 'page.html')); return data; }",
            markup,
        )
        page.dispatch_event("#first", "dragover", {"dataTransfer": data})
        assert "over" in page.get_attribute("#first", "class")
        page.dispatch_event("#first", "drop", {"dataTransfer": data})
    page.wait_for_function("() => document.getElementById('first').value")
    assert page.input_value("#first") == markup
    assert page.input_value("[name=first_kind]") == "html"
    assert "page.html" in page.inner_text("[data-said=first]")
    asked = [url for url in desktop.requests if url.startswith(searching.address)]
    assert asked == [f"{searching.address}/compare"], "a file was sent before anybody pressed the button"
    page.fill("#second", ONE)
    page.get_by_role("button", name="Compare").click()
    page.wait_for_selector(".panes")
    assert page.inner_text("h1") == "The same words in the same order"
    assert "from HTML" in page.inner_text(".pane >> nth=0")
    assert "hidden" not in page.inner_text(".pane >> nth=0")
    quiet(desktop, searching)


def test_a_long_file_is_compared_whole_and_not_shown(desktop, tmp_path):
    """Of 7 MB each: browsers take half a minute to lay out a field of so much."""
    page = desktop.page
    long = "\n".join(words(at, 100) for at in range(17_600))
    other = long.replace(words(7, 100), words(99_999, 100))
    assert 7_000_000 < len(long) < 7_100_000
    with serving(tmp_path / "seen.ndx", "--timeout", "300") as service:
        page.goto(f"{service.address}/compare")
        for name, text in (("first", long), ("second", other)):
            (tmp_path / f"{name}.txt").write_text(text)
            page.locator(f"input[type=file][data-for={name}]").set_input_files(tmp_path / f"{name}.txt")
            page.locator(f"[data-said={name}]", has_text=f"{name}.txt, {len(text):,} bytes.").wait_for()
        assert page.locator("textarea:visible").count() == 0
        desktop.screenshot("compare-long")
        assert desktop.violations() == []
        page.set_default_timeout(300_000)
        page.get_by_role("button", name="Compare").click()
        page.wait_for_selector(".panes")
        assert page.inner_text("h1") == "Near-duplicates"
        assert page.inner_text(".pane >> nth=0").startswith("First document\n\n1,760,000 words")
        quiet(desktop, service)


def test_a_long_text_that_is_pasted_or_left_away(desktop, searching):
    page = desktop.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{searching.address}/compare")
    long = f"{ONE} " + "\n".join(words(300 + at, 100) for at in range(600))
    page.fill("#first", "begins here. ")
    page.focus("#first")
    page.keyboard.press("End")
    page.evaluate("text => navigator.clipboard.writeText(text)", long)
    page.keyboard.press("Control+v")
    page.locator("[data-said=first]", has_text=f"{len(long) + 13:,} characters.").wait_for()
    page.fill("#second", f"begins here. {ONE}")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_selector(".panes")
    assert page.inner_text("h1") == "The first holds the second"
    page.go_back()
    page.focus("#second")
    page.keyboard.press("Control+v")
    page.get_by_role("button", name="Leave it away").click()
    assert page.evaluate("document.activeElement.id") == "second"
    assert page.input_value("#second") == ""
    assert page.inner_text("[data-said=second]") == ""
    page.fill("#first", ONE)
    page.fill("#second", ONE)
    page.get_by_role("button", name="Compare").click()
    page.wait_for_selector(".panes")
    assert page.inner_text("h1") == "The same words in the same order"


def test_what_does_not_fit_into_a_form_is_said(desktop, searching, tmp_path):
    """Each is short enough, and both together are not."""
    page = desktop.page
    page.goto(f"{searching.address}/compare")
    (tmp_path / "long.txt").write_text("ü, " * 1_500_000)
    for name in ("first", "second"):
        page.locator(f"input[type=file][data-for={name}]").set_input_files(tmp_path / "long.txt")
        page.locator(f"[data-said={name}]", has_text="long.txt").wait_for()
    page.get_by_role("button", name="Compare").click()
    page.locator("[data-said=first]", has_text="Too long to be sent with the other one").wait_for()
    assert "and 16,777,216 are allowed" in page.inner_text("[data-said=first]")
    page.locator("#compare").evaluate("form => (form.dataset.body = '1e9')")  # as without script: the service says it
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("heading", name="It is too large").wait_for()
    assert "16,777,216 are allowed" in page.inner_text("main")


def test_a_short_text_says_why_its_match_is_low(desktop, searching):
    compare(desktop.page, searching, "the ferry leaves at nine in winter", "the ferry leaves at ten in winter")
    assert "texts of less than 30 words have few passages" in desktop.page.inner_text(".figures")
    compare(desktop.page, searching, FIRST, SECOND)
    assert "have few passages" not in desktop.page.inner_text(".figures")


def test_a_file_that_is_no_text(desktop, searching, tmp_path):
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    page = desktop.page
    page.goto(f"{searching.address}/compare")
    page.locator("input[type=file][data-for=second]").set_input_files(tmp_path / "picture.png")
    page.wait_for_function("() => document.querySelector('[data-said=second]').textContent")
    assert page.inner_text("[data-said=second]") == "picture.png is not a text in UTF-8."
    assert page.input_value("#second") == ""


def test_the_longest_file_is_what_the_service_takes(desktop, tmp_path):
    page = desktop.page
    with serving(tmp_path / "seen.ndx", "--max-document", "1000", "--max-body", "5000") as service:
        page.goto(f"{service.address}/compare")
        for size, says in ((1000, "It is sent when you press Compare."), (1001, "1,000 can be compared here.")):
            (tmp_path / f"{size}.txt").write_text("a" * size)
            page.locator("input[type=file][data-for=first]").set_input_files(tmp_path / f"{size}.txt")
            page.locator("[data-said=first]", has_text=says).wait_for()
        assert page.input_value("#first") == "a" * 1000


def test_html_is_recognised_or_told(desktop, searching):
    page = desktop.page
    whole = f"<!doctype html><meta charset=windows-1252><title>t</title><p>{ONE} Grüße</p>"
    compare(page, searching, whole, f"{ONE} Grüße")
    assert page.inner_text("h1") == "The same words in the same order", "what is pasted is UTF-8, whatever it says"
    page.get_by_role("link", name="Change the documents").click()
    assert page.input_value("#first") == whole
    page.select_option("[name=first_kind]", "text")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_selector(".panes >> text=doctype")
    assert page.inner_text("h1") != "The same words in the same order"
    page.get_by_role("link", name="Change the documents").click()
    assert page.input_value("[name=first_kind]") == "text"


def test_hostile_documents(any_page, searching):
    page = any_page.page
    compare(page, searching, HOSTILE + ONE, f"<html><body><h1>{ONE}</h1>{HOSTILE}</body></html>")
    page.wait_for_selector(".panes")
    assert "<script>alert('text')</script>" in page.inner_text(".pane >> nth=0")
    assert "⟨U+202E⟩gnp.exe" in page.inner_text(".pane >> nth=0")
    assert page.locator(".panes :is(img, script, b, i)").count() == 0
    page.get_by_role("link", name="Change the documents").click()
    assert page.input_value("#first").startswith("hostile </script><script>alert('text')</script>")
    any_page.screenshot(f"compared-hostile-{page.viewport_size['width']}")
    assert any_page.overflow == 0
    quiet(any_page, searching)


@pytest.mark.parametrize(
    ("first", "kind", "says"),
    [
        (" ", "auto", "The first document is empty"),
        ("?! …", "auto", "The first document: has no words"),
        ("<!-- nothing -->", "html", "The first document: there are no words in what is extracted of this page"),
    ],
)
def test_what_cannot_be_compared_is_said_and_kept(chromium, searching, first, kind, says):
    """Without script and without the browser's own check."""
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{searching.address}/compare")
    page.fill("#first", first)
    page.select_option("[name=first_kind]", kind)
    page.fill("#second", ONE)
    page.get_by_role("button", name="Compare").click()
    said = page.get_by_role("alert").inner_text()
    assert says in said
    assert "--" not in said
    assert page.input_value("#second") == ONE
    assert page.input_value("[name=first_kind]") == kind
    context.close()


def test_without_script(chromium, searching):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{searching.address}/compare")
    assert page.locator("input[type=file]").first.is_hidden()
    page.fill("#first", FIRST)
    page.fill("#second", SECOND)
    page.get_by_role("button", name="Compare").click()
    page.locator(".pane >> nth=0").get_by_role("link", name="Passage 2").click()
    assert page.url.endswith("/compare#b-2")
    assert page.locator("mark:target").inner_text() == f"2{TWO}"
    page.reload()
    context.close()


def test_documents_of_the_collection(any_page, searching):
    page = any_page.page
    page.goto(f"{searching.address}/compare?a=best&b=whole")
    assert page.inner_text("h1") == "The second holds the first"
    assert page.get_by_role("link", name="A whole one").get_attribute("href") == "/document?id=whole"
    assert any_page.overflow == 0
    for query in ("a=best&b=nobody", "a=best", "b=best", f"a=best&b={'i' * 20_000}"):
        answer = page.goto(f"{searching.address}/compare?{query}")
        assert answer.status == 404
        assert page.inner_text("h1") == "There is no such document"


def test_long_documents(desktop, searching):
    """What is not shown is told."""
    page = desktop.page
    long = "\n".join(words(200 + at, 100) for at in range(400))
    compare(page, searching, long, long.replace(words(300, 100), words(999, 100)))
    page.wait_for_selector(".panes")
    assert page.inner_text("h1") == "Near-duplicates"
    assert re.search(r"\d[\d,]+ more characters not shown", page.inner_text(".pane >> nth=0"))
    assert page.locator("details.again").count() == 0
    assert page.get_by_role("link", name="Compare two others").is_visible()


@pytest.mark.parametrize("state", ["form", "trouble", "answer"])
def test_everybody_can_use_it(any_page, searching, state):
    """In the light on a desk, in the dark on a phone."""
    page = any_page.page
    narrow = page.viewport_size["width"] < 500
    page.emulate_media(color_scheme="dark" if narrow else "light", reduced_motion="reduce")
    if state == "form":
        page.goto(f"{searching.address}/compare")
        any_page.screenshot(f"compare-{page.viewport_size['width']}")
    else:
        compare(page, searching, FIRST, SECOND if state == "answer" else "?!")
    for summary in page.locator("summary").all():
        summary.click()
    if state == "answer":
        page.locator("#a-1").click()
    assert any_page.violations() == []
    assert any_page.overflow == 0
