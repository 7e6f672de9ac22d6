"""/tune in a real browser: sliders by keyboard and mouse, both ends, back and reload, the curve read, the recipe
used."""

import json
import subprocess
import sys

import pytest

from neardup.analysis.filters import Filter, choose
from neardup.recipes import load_recipe, published
from tests.corpus import documents

LARGEST = 200_000
"""Bytes of a first page."""


def opened(watched, service, query: str = ""):
    watched.page.goto(f"{service.address}/tune{query}")
    return watched.page


def wait_for(page, words: str) -> None:
    page.wait_for_function("t => document.getElementById('said').textContent.startsWith(t)", arg=words)


def slider(page, name: str):
    return page.locator(f"input[data-for={name}]")


def quiet(watched, service) -> None:
    """Nothing ran that is not ours, and nothing was asked of anybody else."""
    assert watched.dialogs == []
    assert watched.errors == []
    assert {url for url in watched.requests if not url.startswith(service.address)} <= {"data:,"}


@pytest.mark.parametrize("query", ["?form=filter", "?form=wish", "?form=bloom&scale=log", "?k=3&r=5"])
def test_it_fits_and_can_be_used_by_everybody(any_page, searching, query):
    page = any_page.page
    answer = page.goto(f"{searching.address}/tune{query}")
    assert len(answer.body()) < LARGEST
    assert page.get_by_role("link", name="Tune", exact=True).get_attribute("aria-current") == "page"
    any_page.screenshot(f"tune-{query.strip('?')}-{page.viewport_size['width']}")
    assert any_page.overflow == 0
    assert any_page.violations() == []
    quiet(any_page, searching)


def test_there_is_contrast_in_the_dark(desktop, searching):
    desktop.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    opened(desktop, searching)
    desktop.screenshot("tune-dark")
    assert desktop.violations() == []


def test_sliders_by_the_keyboard(desktop, searching):
    page = opened(desktop, searching)
    wait_for(page, "P[20,7,1]")
    slider(page, "k").focus()
    page.keyboard.press("ArrowRight")
    wait_for(page, "P[21,7,1]")
    assert page.get_by_label("Features k", exact=True).input_value() == "21"
    page.wait_for_url("**k=21&s=7&r=1*")
    found = page.locator("tr.marked td").all_inner_texts()
    assert found == [f"{Filter(21, 7).probability(0.8):.4f}", f"{Filter(21, 7).missed(0.8):.4f}"]
    page.keyboard.press("End")
    wait_for(page, "P[100,7,1]")
    page.keyboard.press("Home")
    wait_for(page, "P[1,7,1]")
    page.keyboard.press("Tab")  # on to the next parameter
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    wait_for(page, "P[1,1,1] finds 0.8000 of the pairs at 0.8")
    slider(page, "threshold").focus()
    page.keyboard.press("End")
    wait_for(page, "P[1,1,1] finds 1.0000 of the pairs at 1,")
    page.keyboard.press("Home")
    wait_for(page, "P[1,1,1] finds 0.0500 of the pairs at 0.05")
    quiet(desktop, searching)


def test_sliders_by_the_mouse(any_page, searching):
    page = opened(any_page, searching)
    for name, (least, most) in {"s": (1, 40), "r": (1, 10)}.items():
        slider(page, name).scroll_into_view_if_needed()
        box = slider(page, name).bounding_box()
        middle = box["y"] + box["height"] / 2
        page.mouse.click(box["x"] + box["width"] - 2, middle)
        page.wait_for_function("([n, v]) => document.getElementById(n).value === v", arg=[name, str(most)])
        wait_for(page, {"s": "P[20,40,1]", "r": "P[20,1,10]"}[name])
        page.mouse.move(box["x"] + box["width"] - 8, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + 1, middle, steps=6)
        page.mouse.up()
        page.wait_for_function("([n, v]) => document.getElementById(n).value === v", arg=[name, str(least)])
        wait_for(page, {"s": "P[20,1,1]", "r": "P[20,1,1]"}[name])
    quiet(any_page, searching)


def test_numbers_are_typed(desktop, searching):
    page = opened(desktop, searching)
    page.get_by_label("Features k", exact=True).fill("250")  # beyond the slider
    wait_for(page, "P[250,7,1]")
    assert slider(page, "k").input_value() == "100"
    page.get_by_label("Features k", exact=True).fill("6")
    page.get_by_label("Threshold", exact=True).fill("0.805")
    wait_for(page, f"P[6,7,1] finds {Filter(6, 7).probability(0.805):.4f} of the pairs at 0.805")
    page.get_by_label("To share r", exact=True).fill("9")
    page.get_by_role("alert").wait_for()
    assert page.get_by_role("alert").inner_text().startswith("r = 9 of k = 6 features")
    assert page.locator("#answer").inner_text().strip() == ""
    page.get_by_label("To share r", exact=True).fill("2")
    wait_for(page, "P[6,7,2]")
    page.get_by_label("Scale").select_option("log")
    page.locator(".curve text", has_text="10⁻¹²").first.wait_for(state="attached")
    page.reload()
    wait_for(page, "P[6,7,2]")
    assert page.get_by_label("Scale").input_value() == "log"
    assert page.get_by_label("Threshold", exact=True).input_value() == "0.805"
    quiet(desktop, searching)


def test_back_leads_to_what_was_there_before(desktop, searching):
    page = opened(desktop, searching)
    began = page.evaluate("performance.timeOrigin")
    wait_for(page, "P[20,7,1]")
    slider(page, "k").focus()
    for k in (21, 22, 23):
        page.keyboard.press("ArrowRight")
        wait_for(page, f"P[{k},7,1]")
    page.wait_for_url("**k=23&s=7**")
    slider(page, "s").focus()
    page.keyboard.press("ArrowLeft")
    wait_for(page, "P[23,6,1]")
    page.wait_for_url("**k=23&s=6**")
    page.go_back()
    wait_for(page, "P[23,7,1]")
    assert page.get_by_label("Min-hashes in one s", exact=True).input_value() == slider(page, "s").input_value() == "7"
    page.go_back()
    wait_for(page, "P[20,7,1]")
    assert page.url == f"{searching.address}/tune"
    page.go_forward()
    wait_for(page, "P[23,7,1]")
    assert slider(page, "k").is_visible()
    slider(page, "k").focus()
    page.keyboard.press("ArrowRight")
    wait_for(page, "P[24,7,1]")
    assert page.evaluate("performance.timeOrigin") == began  # the page itself was never left
    quiet(desktop, searching)


def test_parameters_for_a_threshold_and_a_recall(any_page, searching):
    page = opened(any_page, searching)
    page.get_by_role("link", name="Threshold, recall").click()
    wait_for(page, "P[20,7,1]")
    page.get_by_label("Threshold", exact=True).fill("0.9")
    page.get_by_label("Recall", exact=True).fill("0.95")
    chosen = choose(0.9, 0.95, r=(1,))
    wait_for(page, f"P[{chosen.k},{chosen.s},1] finds {chosen.probability(0.9):.4f} of the pairs at 0.9")
    page.get_by_label("Min-hashes", exact=True).fill("1")
    page.get_by_role("alert").wait_for()
    assert "needs at least 2 permutations" in page.get_by_role("alert").inner_text()
    page.get_by_label("Min-hashes", exact=True).fill("64")
    chosen = choose(0.9, 0.95, permutations=64, r=(1,))
    wait_for(page, f"P[{chosen.k},{chosen.s},1]")
    page.get_by_role("link", name="Move k, s and r by hand").click()
    page.wait_for_url(f"**/tune?k={chosen.k}&s={chosen.s}&r=1&threshold=0.9")
    assert page.get_by_label("Features k", exact=True).input_value() == str(chosen.k)
    quiet(any_page, searching)


def test_bloom_filters(any_page, searching):
    page = opened(any_page, searching)
    page.get_by_role("link", name="Bloom filter").click()
    wait_for(page, "Filters match by 0.7 from 0.456 common chunks on; 0.5277 of the bits are set.")
    assert "272 bytes" in page.locator("#answer").inner_text()
    slider(page, "bits").focus()
    page.keyboard.press("End")
    wait_for(page, "Filters match by 0.7 from 0.6")
    page.get_by_label("Chunk", exact=True).select_option("1024")
    page.locator("#answer", has_text="80 bytes").or_(page.locator("#answer", has_text="272 bytes")).wait_for()
    page.wait_for_url("**chunk=1024**")
    slider(page, "similar").focus()
    page.keyboard.press("Home")
    page.wait_for_function("() => document.getElementById('said').textContent.endsWith('too full.')")
    quiet(any_page, searching)


def test_the_curve_is_read_by_the_keyboard_and_under_the_pointer(any_page, searching):
    page = opened(any_page, searching)
    reader = page.get_by_label("Read the curve at")
    assert page.inner_text("#read") == "resemblance 0.80, found 0.9910, missed 0.0090"
    reader.focus()
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#read") == f"resemblance 0.79, found {Filter(20, 7).probability(0.79):.4f}, missed " + (
        f"{Filter(20, 7).missed(0.79):.4f}"
    )
    assert reader.get_attribute("aria-valuetext") == page.inner_text("#read")
    page.keyboard.press("End")
    assert page.inner_text("#read") == "resemblance 1.00, found 1.0000, missed 0.0000"
    picture = page.locator(".curve:visible")
    picture.scroll_into_view_if_needed()
    box, view = picture.bounding_box(), picture.evaluate("svg => svg.dataset.box.split(' ').map(Number)")
    scale = box["width"] / picture.evaluate("svg => svg.viewBox.baseVal.width")
    page.mouse.move(box["x"] + scale * (view[0] + view[2] * 0.6), box["y"] + 80)
    assert page.inner_text("#read").startswith("resemblance 0.60, found 0.4333")
    assert reader.input_value() == "60"
    page.mouse.move(box["x"] + 1, box["y"] + 80)  # left of the axis
    assert page.inner_text("#read").startswith("resemblance 0.00, found 0.0000")
    # The place stays while the curve moves.
    page.keyboard.press("ArrowRight")
    slider(page, "k").focus()
    page.keyboard.press("End")
    wait_for(page, "P[100,7,1]")
    page.wait_for_function("() => document.getElementById('read').textContent.startsWith('resemblance 0.01')")
    quiet(any_page, searching)


def test_a_published_recipe_is_copied_and_used(chromium, searching, tmp_path):
    context = chromium.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{searching.address}/tune")
    page.get_by_role("link", name="altavista").click()
    wait_for(page, "P[6,14,2]")
    page.get_by_role("button", name="Copy as a recipe").click()
    page.get_by_text("Copied.").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    (tmp_path / "altavista.toml").write_text(copied)
    assert load_recipe(tmp_path / "altavista.toml") == published("altavista").recipe
    slider(page, "s").focus()
    page.keyboard.press("Home")
    wait_for(page, "P[6,1,2]")
    page.get_by_role("button", name="Copy as a recipe").click()
    page.get_by_text("Copied.").wait_for()
    (tmp_path / "own.toml").write_text(page.evaluate("navigator.clipboard.readText()"))
    context.close()
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents(40)))
    options = ["-o", "out", "--recipe", "own.toml", "--no-report", "--quiet"]
    command = [sys.executable, "-m", "neardup", "dedup", "pages.jsonl", *options]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    sketch = json.loads((tmp_path / "out" / "run.json").read_text())["recipe"]["sketch"]
    assert (sketch["k"], sketch["s"], sketch["r"]) == (6, 1, 2)


def test_where_copying_is_not_allowed_the_recipe_is_selected(desktop, searching):
    desktop.page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page = opened(desktop, searching)
    page.get_by_role("button", name="Copy as a recipe").click()
    page.get_by_text("Selected: copy it with Ctrl-C.").wait_for()
    assert page.evaluate("getSelection().toString()").startswith("# neardup recipe ")
    quiet(desktop, searching)


def test_without_script(chromium, searching):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{searching.address}/tune")
    assert not slider(page, "k").is_visible()
    page.get_by_label("Features k", exact=True).fill("6")
    page.get_by_label("Min-hashes in one s", exact=True).fill("14")
    page.get_by_label("To share r", exact=True).fill("2")
    page.get_by_label("Threshold", exact=True).fill("0.955")
    page.get_by_role("button", name="Draw").click()
    page.wait_for_url("**k=6&s=14&r=2&threshold=0.955&scale=linear")
    assert page.inner_text("#said").startswith("P[6,14,2] finds ")
    assert page.locator(".curve:visible .line").count() == 1
    assert not page.get_by_role("button", name="Copy").is_visible()
    assert "k = 6" in page.inner_text("#recipe")
    context.close()


def test_hostile_addresses(desktop, searching):
    for query in (
        "?k=<script>alert(1)</script>&from=%22%3E%3Cimg%20src=x%20onerror=alert(2)%3E",
        "?form=wish&threshold=%27%22%3E%3Csvg%20onload=alert(3)%3E&recall=%00",
        "?form=bloom&chunk=%E2%80%AE&similar={{7*7}}",
    ):
        page = opened(desktop, searching, query)
        assert page.locator("#said").inner_text() != ""
        assert page.locator("main :is(script, img, figcaption b)").count() == 0
        assert page.locator("main *").evaluate_all("all => all.some(one => one.onload || one.onerror)") is False
    quiet(desktop, searching)
