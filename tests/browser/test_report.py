"""The report in a real browser, by clicking."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

import neardup
from neardup import sample
from neardup.report import part, write_report
from tests.browser.conftest import Watched


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the sample collection."""
    folder = tmp_path_factory.mktemp("report")
    sample.write(folder / "pages", scale=0.6)
    write_report(neardup.dedup(str(folder / "pages" / "pages.jsonl")), folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the same pages in a WARC file, whose records are named by numbers; with the part that is read cut small."""
    folder = tmp_path_factory.mktemp("archive")
    sample.write(folder / "pages", scale=0.4)
    result = neardup.dedup(str(folder / "pages" / "pages.warc.gz"), work=folder / "an out" / "work")
    result.write(folder / "an out", report=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(part, "ROOM", result.counts["text_bytes"] // 6)
        patch.setattr(part, "ENOUGH", 5)
        write_report(result, folder / "report.html")
    return folder / "report.html"


def opened(watched: Watched, path: Path) -> Watched:
    watched.page.goto(path.as_uri())
    watched.page.wait_for_selector("html[data-ready]")
    return watched


def fine(watched: Watched, path: Path) -> None:
    """Nothing ran that should not, nothing was asked for but the file, nothing is wider than the window."""
    assert watched.errors == []
    assert watched.dialogs == []
    assert [url for url in watched.requests if not url.startswith("data:")] == [path.as_uri()]
    assert watched.overflow <= 0


def data_of(watched: Watched) -> dict:
    return json.loads(watched.page.text_content("#report"))


def test_it_opens_and_says_first_whether_to_trust_the_run(any_page, report):
    page = opened(any_page, report).page
    data = data_of(any_page)
    counts = data["counts"]
    assert page.text_content("h1") == f"{counts['removed']:,} of {counts['documents']:,} documents removed"
    expect(page.locator("#judgement")).to_contain_text("check before you use the result")
    checks = page.locator("#checks li")
    assert checks.count() == len(data["checks"])
    box = checks.nth(2).bounding_box()
    assert box["y"] + box["height"] <= page.viewport_size["height"]  # without scrolling
    any_page.screenshot(f"report-{page.viewport_size['width']}")
    fine(any_page, report)


def test_a_check_leads_to_what_it_is_about(desktop, report):
    page = opened(desktop, report).page
    page.locator("#checks a").first.click()
    page.wait_for_timeout(600)
    target = page.locator("#checks a").first.get_attribute("href")
    assert abs(page.locator(target).bounding_box()["y"]) < 200


@pytest.mark.parametrize(
    ("words", "tab"), [("within 0.05 of", "Near the threshold"), ("filled in twice", "Pages of one")]
)
def test_a_check_about_removals_shows_their_groups(any_page, report, words, tab):
    page = opened(any_page, report).page
    [check] = [c for c in data_of(any_page)["checks"] if words in c["text"]]
    page.get_by_role("searchbox").fill("nothing has these words 12345")
    page.locator("#checks li", has_text=words).get_by_role("link", name="Show").click()
    expect(page.get_by_role("button", name=tab)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="All ")).to_have_attribute("aria-pressed", "false")
    there = [g for g in data_of(any_page)["groups"] if check["groups"] in g["strata"]]
    expect(page.locator(".list li")).to_have_count(len(there))
    assert there
    expect(page.locator("#browser-title")).to_be_in_viewport()
    page.wait_for_timeout(600)
    any_page.screenshot(f"report-{check['groups']}-{page.viewport_size['width']}")
    fine(any_page, report)


def test_things_to_check_are_counted_and_come_first(desktop, tmp_path):
    """Where texts are gone too."""
    sample.write(tmp_path / "pages", scale=0.3)
    neardup.dedup(str(tmp_path / "pages" / "pages.jsonl"), work=tmp_path / "out" / "work").write(tmp_path / "out")
    (tmp_path / "pages" / "pages.jsonl").unlink()
    write_report(neardup.Result.open(tmp_path / "out"), tmp_path / "report.html")
    page = opened(desktop, tmp_path / "report.html").page
    badges = page.locator("#checks .level").all_inner_texts()
    n = badges.count("check")
    assert n > 1
    assert badges[:n] == ["check"] * n
    expect(page.locator("#judgement")).to_have_text(f"{n} things to check before you use the result.")
    expect(page.locator("#checks li", has_text="could not be read again")).to_have_count(1)
    fine(desktop, tmp_path / "report.html")


def test_the_slider_tells_what_other_thresholds_do(any_page, report):
    page = opened(any_page, report).page
    data = data_of(any_page)
    slider, answer = page.locator("#threshold"), page.locator("#threshold-answer")
    own = len(data["thresholds"]["lower"])
    assert slider.input_value() == str(own)
    expect(page.locator("output")).to_have_text("0.80 (this run)")
    expect(answer).to_contain_text(f"{data['counts']['removed']:,} removed")

    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    threshold, n = data["thresholds"]["higher"][10]
    expect(page.locator("output")).to_have_text(f"{threshold:.2f}")
    expect(answer).to_contain_text(f"about {n:,} removed")
    expect(answer).to_contain_text("counted")

    slider.fill(str(own - 10))
    threshold, more, low, high = data["thresholds"]["lower"][9]
    expect(page.locator("output")).to_have_text(f"{threshold:.2f}")
    expect(answer).to_contain_text(f"{more:,} more ({low:,} to {high:,})")
    expect(answer).to_contain_text("estimated")
    fine(any_page, report)


def test_the_slider_shows_the_groups_that_it_changes(desktop, report):
    page = opened(desktop, report).page
    data = data_of(desktop)
    page.locator("#threshold").fill(str(len(data["thresholds"]["lower"]) + 5))
    page.get_by_role("button", name="Show groups with documents below 0.85").click()
    scores = [min((m["score"] for m in g["members"] if m["measured"] != "identity"), default=2) for g in data["groups"]]
    expect(page.locator(".list li")).to_have_count(sum(score < 0.85 for score in scores))
    expect(page.locator("#browser")).to_contain_text("with a document below 0.85")


def test_groups_are_searched_opened_and_turned_over(any_page, report):
    page = opened(any_page, report).page
    data = data_of(any_page)
    rows = page.locator(".list li")
    expect(rows).to_have_count(len(data["groups"]))
    wanted = data["groups"][5]["members"][0]["id"]
    page.get_by_role("searchbox").fill(wanted.upper())
    expect(rows).not_to_have_count(len(data["groups"]))
    shown = page.locator(".shown")
    expect(shown).to_contain_text(wanted)
    page.get_by_role("searchbox").fill("nothing has these words 12345")
    expect(rows).to_have_count(0)
    expect(shown).to_contain_text("No group matches")
    page.get_by_role("searchbox").fill("")

    page.get_by_role("button", name="Near the threshold").click()
    edge = [g for g in data["groups"] if "edge" in g["strata"]]
    expect(rows).to_have_count(len(edge))
    first = rows.nth(0).locator(".name").text_content()
    expect(shown).to_contain_text(first)
    expect(shown.get_by_role("button", name="Previous")).to_be_disabled()
    shown.get_by_role("button", name="Next").click()
    expect(shown).to_contain_text(rows.nth(1).locator(".name").text_content())
    expect(rows.nth(1).locator("button")).to_have_attribute("aria-current", "true")
    expect(shown).to_contain_text("Kept because it is the one that comes first in the input.")
    fine(any_page, report)


def test_documents_are_called_by_their_address_and_found_by_both_names(any_page, archive):
    page = opened(any_page, archive).page
    data = data_of(any_page)
    group = next(g for g in data["groups"] if any(m["diff"] for m in g["members"]))
    kept, member = group["kept"], next(m for m in group["members"] if m["diff"])
    assert kept["id"].startswith("urn:uuid:")
    for wanted in (member["id"], member["url"]):
        page.get_by_role("searchbox").fill(wanted)
        row = page.locator(".list button", has_text=kept["id"]).first
        expect(row.locator(".name")).to_have_text(kept["url"].removeprefix("https://"))
        row.click()
        expect(page.locator(".shown .kept a")).to_have_text(kept["url"])
        opener = page.locator(".members button").filter(has=page.get_by_text(member["id"], exact=True))
        expect(opener.locator(".name")).to_have_text(member["url"])
        sizes = [
            opener.locator(c).evaluate("(e) => parseFloat(getComputedStyle(e).fontSize)") for c in (".name", ".id")
        ]
        assert sizes[0] > sizes[1]
    heads = page.locator(".diff-heads")
    for name in (kept["url"], kept["id"], member["url"], member["id"]):
        expect(heads).to_contain_text(name)
    first = page.locator("#biggest tr").nth(1)
    assert first.locator("a").text_content().startswith("http")
    assert first.locator(".id").text_content().startswith("urn:uuid:")
    assert page.locator(".examples .name").first.text_content().startswith("http")
    any_page.screenshot(f"report-archive-{page.viewport_size['width']}")
    fine(any_page, archive)


def test_the_page_says_which_part_was_read(desktop, archive):
    page = opened(desktop, archive).page
    data = data_of(desktop)
    read = f"{data['part']['documents']:,} of {data['counts']['documents']:,} documents"
    expect(page.locator("#browser")).to_contain_text(f"Texts are read from the beginning of the input: {read}.")
    expect(page.locator("#passages")).to_contain_text(read)
    beyond = [(g, m) for g in data["groups"] for m in g["members"] if m["beyond"] and m["measured"] != "identity"]
    group, member = beyond[0]
    page.get_by_role("searchbox").fill(member["id"])
    page.locator(".list button", has_text=group["kept"]["id"]).first.click()
    opener = page.locator(".members button").filter(has=page.get_by_text(member["id"], exact=True))
    if opener.get_attribute("aria-expanded") == "false":
        opener.click()
    expect(page.locator(".difference")).to_contain_text("Not in the part of the input whose texts were read")


def test_the_slider_of_a_recipe_by_hosts_has_a_lower_end(desktop, archive):
    page = opened(desktop, archive).page
    data = data_of(desktop)["thresholds"]
    assert data["same_site"] == 0.85
    page.locator("#threshold").fill("0")
    threshold, more, low, high = data["lower"][-1]
    expect(page.locator("output")).to_have_text(f"{threshold:.2f}")
    expect(page.locator("#threshold-answer")).to_contain_text(f"{more:,} more ({low:,} to {high:,})")
    expect(page.locator("#threshold-answer")).to_contain_text("Two pages of one host need 0.85 at any threshold")


def test_commands_to_go_on_with_are_copied(desktop, archive):
    page = opened(desktop, archive).page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    out = f"'{archive.parent / 'an out'}'"
    expect(page.locator("#next code")).to_have_text(
        [f"neardup audit {out}", f"neardup audit {out} --label", f"neardup explain {out} ID"]
    )
    page.locator("#next button").first.click()
    expect(page.locator("#next button").first).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"neardup audit {out}"
    assert page.evaluate("getSelection().toString()") == f"neardup audit {out}"


def test_no_table_is_cut_on_a_phone(phone, archive):
    page = opened(phone, archive).page
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    wide = page.evaluate(
        """[...document.querySelectorAll(".scroll")].filter((e) => e.scrollWidth > e.clientWidth + 1)
             .map((e) => e.textContent.slice(0, 60))"""
    )
    assert wide == []


def test_the_keyboard_walks_through_groups(desktop, report):
    page = opened(desktop, report).page
    names = page.locator(".list .name").all_text_contents()
    page.locator(".list button").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".shown .kept")).to_contain_text(names[2])
    page.keyboard.press("k")
    expect(page.locator(".shown .kept")).to_contain_text(names[1])
    assert page.evaluate("document.activeElement.closest('.list') !== null")


def test_every_control_has_a_name_and_can_be_reached(desktop, report):
    page = opened(desktop, report).page
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none"
    assert {"A", "INPUT"} <= reached
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, input, a")].filter(
             (e) => !(e.textContent.trim() || e.getAttribute("aria-label") || (e.labels && e.labels.length))).length"""
    )
    assert unnamed == 0


def test_a_diff_shows_what_each_has(desktop, report):
    page = opened(desktop, report).page
    data = data_of(desktop)
    number, member = next(
        (g, m) for g in data["groups"] for m in g["members"] if m["diff"] and any(s[0] == "differs" for s in m["diff"])
    )
    page.get_by_role("searchbox").fill(member["id"])
    page.locator(".list button", has_text=number["kept"]["id"]).first.click()
    opener = page.locator(".members button").filter(has=page.get_by_text(member["id"], exact=True))
    if opener.get_attribute("aria-expanded") == "false":
        opener.click()
    differs = [s for s in member["diff"] if s[0] == "differs"]
    left, right = page.locator(".diff-side").nth(0), page.locator(".diff-side").nth(1)
    assert left.is_visible()
    assert not page.locator(".diff-inline").first.is_visible()
    only_kept = "".join(page.locator(".diff-side del").all_text_contents())
    only_removed = "".join(page.locator(".diff-side ins").all_text_contents())
    assert only_kept == "".join(s[1].rstrip() or s[1] for s in differs)
    assert only_removed == "".join(s[2].rstrip() or s[2] for s in differs)
    assert right.bounding_box()["x"] > left.bounding_box()["x"]
    decorations = page.evaluate(
        """["del", "ins"].map((t) => document.querySelector(`.diff-side ${t}`)).filter(Boolean)
             .map((e) => getComputedStyle(e)).map((s) => s.textDecorationLine + s.textDecorationStyle)"""
    )
    assert len(set(decorations)) == len(decorations)
    assert all("none" not in d for d in decorations)
    opener.click()
    expect(page.locator(".diff")).to_have_count(0)


def test_on_a_phone_a_diff_is_one_text(phone, report):
    page = opened(phone, report).page
    page.get_by_role("button", name="Near the threshold").click()
    assert page.locator(".diff-inline").first.is_visible()
    assert not page.locator(".diff-side").first.is_visible()
    phone.screenshot("report-phone-diff")
    assert phone.overflow <= 0


def test_the_biggest_open_in_the_browser(desktop, report):
    page = opened(desktop, report).page
    third = page.locator("#biggest a").nth(2)
    name = third.text_content()
    third.click()
    expect(page.locator(".shown .kept")).to_contain_text(name)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_charts_have_contrast(scheme, chromium, report):
    context = chromium.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    watched = opened(Watched(context.new_page()), report)
    low = watched.page.evaluate(_CONTRAST)
    watched.screenshot(f"report-{scheme}")
    context.close()
    assert low == []


_CONTRAST = """
(() => {
  const parse = (c) => (c.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = (c) => {
    const part = (x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = parse(c).map((x) => part(x / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const c = parse(getComputedStyle(at).backgroundColor);
      if (c.length < 4 || c[3] > 0) return getComputedStyle(at).backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const bad = [];
  const kinds = "p, td, th, h1, h2, h3, h4, a, button, li span, del, ins, summary, .chart text";
  for (const e of document.querySelectorAll(kinds)) {
    if (!e.getClientRects().length || !e.textContent.trim() || e.disabled) continue;
    const style = getComputedStyle(e);
    const colour = e.closest("svg") ? style.fill : style.color;
    const [a, b] = [light(colour), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) bad.push([e.tagName, e.textContent.slice(0, 30), colour, behind(e)]);
  }
  return bad.slice(0, 5);
})()
"""


def test_it_prints(desktop, report, tmp_path):
    page = opened(desktop, report).page
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert not page.locator(".list").is_visible()
    assert page.locator("#checks").is_visible()
    made = page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert made.startswith(b"%PDF")
    desktop.screenshot("report-print")


def test_without_charts_there_are_numbers(desktop, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "vl_convert", None)
    rows = [{"id": str(i), "text": "the same words in all of these " + "x " * (i // 20)} for i in range(40)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_report(neardup.dedup(str(tmp_path / "rows.jsonl")), tmp_path / "report.html")
    page = opened(desktop, tmp_path / "report.html").page
    expect(page.locator("#similarity")).to_contain_text("pip install 'neardup[charts]'")
    expect(page.locator("#groups table").first).to_contain_text("documents in a group")
    fine(desktop, tmp_path / "report.html")


@pytest.mark.parametrize("texts", [[], ["one document"], ["some words that are here", "other words that are there"]])
def test_a_run_without_groups_has_a_page(any_page, texts, tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    result = neardup.dedup(str(tmp_path / "rows.jsonl")) if texts else neardup.dedup([])
    write_report(result, tmp_path / "report.html")
    page = opened(any_page, tmp_path / "report.html").page
    expect(page.locator("h1")).to_contain_text("Nothing removed")
    expect(page.locator("#browser")).to_contain_text("There are no groups")
    fine(any_page, tmp_path / "report.html")


EVIL = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "<!--<script>",
    "]]><svg onload=alert(4)>",
    "\u202eevil \u2066\u200f text\u2028\u2029 with \x00 \x07 \x1b[31m controls \ufeff",
    "<style>body{display:none}</style><iframe src=https://example.org></iframe>",
    "<base href=https://example.org/><meta http-equiv=refresh content='0;url=https://example.org/'>",
    "' onmouseover='alert(5)' \" onfocus=\"alert(6)\" `${alert(7)}` {{constructor.constructor('alert(8)')()}}",
    "&lt;script&gt; &amp; &#x3c;b&#x3e; <b><i><table><td></div>",
    "A" * 1_000_000,
    "ﷺ" * 3000,
]


def test_documents_cannot_run_or_break_anything(any_page, tmp_path):
    rows = []
    for i, evil in enumerate(EVIL):
        words = " ".join(f"word{i}x{j}" for j in range(80))
        for copy in range(3):
            rows.append(
                {
                    "id": f"{evil[:60]}{i}-{copy}",
                    "url": ["javascript:alert(9)//", 'https://a.example/"><script>alert(1)</script>', evil[:200]][copy],
                    "text": f"{evil} {words} {evil[:2000]} copy{copy}",
                }
            )
    source = tmp_path / "<img src=x onerror=alert(1)>.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = neardup.dedup(source)
    assert result.counts["removed"] >= 2 * len(EVIL) - 4
    path = tmp_path / "report.html"
    write_report(result, path)
    page = opened(any_page, path).page
    for i in range(page.locator(".list button").count()):
        page.locator(".list button").nth(i).click()
        for member in page.locator(".members button").all():
            member.click()
        assert any_page.overflow <= 0, i
    for link in page.locator(".shown a, #hosts a").all():
        assert link.get_attribute("href").startswith(("http://", "https://"))
        assert link.get_attribute("rel") == "noreferrer noopener"
    assert page.locator("main script, main img, main iframe, main style, main base, #checks img").count() == 0
    expect(page.locator("#breakdowns")).to_contain_text("<img src=x onerror=alert(1)>.jsonl")
    expect(page.locator("h1")).to_be_visible()
    any_page.screenshot(f"report-hostile-{page.viewport_size['width']}")
    fine(any_page, path)


def test_names_show_what_cannot_be_seen(desktop, tmp_path):
    rows = [{"id": f"cod\u202etxt\x00{i}", "text": "the same words in all of these"} for i in range(3)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_report(neardup.dedup(str(tmp_path / "rows.jsonl")), tmp_path / "report.html")
    page = opened(desktop, tmp_path / "report.html").page
    expect(page.locator(".shown .kept")).to_contain_text("cod⟨U+202E⟩txt⟨U+0000⟩0")


def test_the_policy_would_stop_a_script(desktop, report, tmp_path):
    """If a document's text ever became HTML, nothing would run: proven by putting some into the page by hand."""
    broken = report.read_text().replace("<main>", "<main><script>alert(1)</script><img src=x onerror=alert(2)>", 1)
    path = tmp_path / "broken.html"
    path.write_text(broken)
    opened(desktop, path).page.wait_for_timeout(300)
    assert desktop.dialogs == []
    assert any("Content Security Policy" in error for error in desktop.errors)
