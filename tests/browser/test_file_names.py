"""Files whose names are hostile: in a collection that is searched, and chosen on the compare page."""

import os
import re

import pytest

from tests.browser.searched import words
from tests.service.serving import serving

NAMES = ["<img src=x onerror=alert(1)>.txt", '" onmouseover="alert(2).txt', "\u202egnp.{{ 7 * 7 }}&lt;b&gt;.txt"]
"""Without a slash, which no file name has."""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such file names")


def unharmed(watched) -> None:
    assert watched.dialogs == []
    assert watched.errors == []
    assert watched.page.locator("main img, main svg, main script, main [onmouseover], main bdi b").count() == 0


def test_in_a_collection(desktop, tmp_path):
    page, folder = desktop.page, tmp_path / "<svg onload=alert(3)>"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text(f"hostile {words(1)}")
    with serving(None, "--collection", str(folder), environment={"XDG_CACHE_HOME": str(tmp_path)}) as service:
        page.goto(f"{service.address}/search?q=hostile")
        assert "2 repeats folded" in page.inner_text("[role=status]")
        page.locator("summary").click()
        shown = page.inner_text("main")
        for name in NAMES:
            assert name.replace("\u202e", "⟨U+202E⟩") in shown
        unharmed(desktop)
        compared, text = (page.locator(f"main a[href^='{path}']").first for path in ("/compare?", "/document?"))
        addresses = [link.get_attribute("href") for link in (compared, text)]
        for address in addresses:
            page.goto(service.address + address)
            page.wait_for_selector("main h1")
            unharmed(desktop)
        assert any(name.replace("\u202e", "⟨U+202E⟩") in page.inner_text("main") for name in NAMES)


@pytest.mark.parametrize(
    "content", [b"a rose is a rose", b"\xff\xfe", b"a" * (16 << 20) + b"a"], ids=["fine", "no text", "long"]
)
def test_on_the_compare_page(desktop, searching, tmp_path, content):
    """Whatever is said of it."""
    page = desktop.page
    page.goto(f"{searching.address}/compare")
    for name in NAMES:
        (tmp_path / name).write_bytes(content)
        page.locator("input[type=file][data-for=first]").set_input_files(tmp_path / name)
        page.wait_for_function(
            "name => document.querySelector('[data-said=first]').textContent.startsWith(name)",
            arg=re.sub("\u202e", "⟨U+202E⟩", name),
        )
        unharmed(desktop)
