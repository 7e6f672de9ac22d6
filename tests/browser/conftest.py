"""A real Chromium without a screen. `make test` installs it where it is missing."""

import os
import shutil
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from tests.browser.searched import searched
from tests.service.serving import Service

DESKTOP: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 375, "height": 740}

_QUIET = [
    "--no-sandbox",  # as root, in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def _chromium() -> str:
    for name in (os.environ.get("NEARDUP_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise RuntimeError("these tests need Chromium: apt-get install chromium, or name one in NEARDUP_CHROMIUM")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=_QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def searching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service with a collection."""
    with searched(tmp_path_factory.mktemp("searched")) as made:
        yield made


class Watched:
    """A page, with everything it complained of, asked for and fell for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: self.requests.append(asked.url))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    @property
    def overflow(self) -> int:
        """Pixels that the page is wider than the window: 0 on a page that fits."""
        width: int = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return width

    def violations(self) -> list[str]:
        """What axe-core finds wrong for people with disabilities: each rule, and the elements that break it."""
        self.page.evaluate(_axe())
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [f"{rule['id']}: {node['html'][:200]}" for rule in found for node in rule["nodes"]]

    def screenshot(self, name: str) -> None:
        """To the folder NEARDUP_SCREENSHOTS, for people who want to look."""
        folder = os.environ.get("NEARDUP_SCREENSHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=Path(folder, f"{name}.png"), full_page=True)


@cache
def _axe() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


@pytest.fixture(params=["desktop", "phone"])
def any_page(request: pytest.FixtureRequest, chromium: Browser) -> Iterator[Watched]:
    """The same test at both widths."""
    yield from _page(chromium, DESKTOP if request.param == "desktop" else PHONE)


@pytest.fixture
def desktop(chromium: Browser) -> Iterator[Watched]:
    yield from _page(chromium, DESKTOP)


@pytest.fixture
def phone(chromium: Browser) -> Iterator[Watched]:
    yield from _page(chromium, PHONE)


def _page(chromium: Browser, size: ViewportSize) -> Iterator[Watched]:
    context = chromium.new_context(viewport=size)
    context.set_default_timeout(20_000)
    watched = Watched(context.new_page())
    yield watched
    context.close()
