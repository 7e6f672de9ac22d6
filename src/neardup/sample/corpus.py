"""The plan of the corpus: which documents there are, and in which order.

Every document draws from a stream of its own, keyed by the seed and its id, so a larger scale adds
documents and leaves the others as they were.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from neardup.errors import UsageError
from neardup.sample import frames_east_asia, frames_english, frames_europe, frames_west_asia
from neardup.sample.changes import (
    EDIT_SHARES,
    edited,
    mirrored,
    quoted,
    reformatted,
    shortened,
    styles_for,
    time_stamped,
    with_session,
)
from neardup.sample.grammar import Draw, Teller, Topic
from neardup.sample.model import SampleDocument
from neardup.sample.page import Block, Page, Site
from neardup.sample.templates import FAMILIES, template_page, template_site
from neardup.sample.wording import WORDING

__all__ = ["TOPICS", "documents"]

#: Every subject of the sample, by language; English comes first and is the largest.
TOPICS: tuple[Topic, ...] = (
    frames_english.TOPICS + frames_europe.TOPICS + frames_west_asia.TOPICS + frames_east_asia.TOPICS
)

_FIRST_FETCH = datetime(2024, 3, 1, 6, 0, tzinfo=UTC)
_ORIGINALS = {"en": 8, "de": 4, "fr": 4, "ru": 4, "el": 4, "zh": 4, "ja": 4}
_ORIGINALS_ELSEWHERE = 5
_TEMPLATE_PAGES = 6
_PORTAL_SITES = 5
_PORTAL_PAGES = 5
_CHAPTER_PARAGRAPHS = 248
_MIRRORS = ("mirror-north.example.net", "copy.archive.example", "www2.example.org")


@dataclass(frozen=True)
class _Draft:
    """A document before it has a date: its id, where it is served and what is on it."""

    id: str
    kind: str
    page: Page
    path: str
    original: str

    def document(self, fetched: datetime) -> SampleDocument:
        page, host = self.page, self.page.site.host
        return SampleDocument(
            id=self.id,
            url=f"https://{host}/{self.path}{page.query}",
            site=host,
            title=page.title,
            text=page.text(),
            html=page.html(),
            language=page.site.language,
            fetched=fetched.strftime("%Y-%m-%dT%H:%M:%SZ"),
            original=self.original,
            kind=self.kind,
        )


def documents(*, seed: int = 1, scale: float = 1.0) -> Iterator[SampleDocument]:
    """The documents of the sample, originals before what was derived from them.

    `scale` multiplies the number of originals and of template pages; it must be positive.
    """
    if not (scale > 0 and math.isfinite(scale)):
        raise UsageError(f"scale = {scale}; give a number above 0, 1.0 for about 700 documents")
    fetched = _FIRST_FETCH
    clock = Draw(seed, "clock")
    for draft in _drafts(seed, scale):
        fetched += timedelta(seconds=clock.between(40, 5400))
        yield draft.document(fetched)


def _drafts(seed: int, scale: float) -> Iterator[_Draft]:
    for subject in TOPICS:
        yield from _topic_drafts(subject, seed, scale)
    yield from _chapter_drafts(seed)
    yield from _template_drafts(seed, scale)
    yield from _portal_drafts(seed, scale)
    yield from _short_drafts()


def _scaled(count: int, scale: float) -> int:
    return max(2, round(count * scale))


def _topic_drafts(subject: Topic, seed: int, scale: float) -> Iterator[_Draft]:
    for number in range(1, _scaled(_ORIGINALS.get(subject.language, _ORIGINALS_ELSEWHERE), scale) + 1):
        name = f"{subject.language}-{subject.name}-{number:03d}"
        page = _told_page(_topic_site(subject), Teller(subject, Draw(seed, name)))
        original = _Draft(name, "original", page, f"{subject.name}/{number:03d}.html", name)
        yield original
        yield from _derived(original, subject, number, seed)


def _topic_site(subject: Topic) -> Site:
    wording = WORDING[subject.language]
    host = f"{subject.name}.{subject.language}.example.org"
    return Site(
        host=host,
        name=subject.site_name,
        language=subject.language,
        navigation=wording.navigation,
        footer=(wording.footer.format(host=host),),
        skin="table" if subject.name in {"harbour", "hafen", "port", "khao"} else "article",
    )


def _told_page(site: Site, teller: Teller, *, paragraphs: int = 0) -> Page:
    """A page of the teller's topic: paragraphs of three or four sentences, a list after the first."""
    draw = teller.draw
    title = teller.title()
    blocks = []
    for number in range(paragraphs or 4):
        blocks.append(Block("paragraph", tuple(teller.sentence() for _ in range(draw.between(3, 4)))))
        if number == 0 and teller.subject.items:
            blocks.append(Block("list", tuple(teller.item() for _ in range(len(teller.subject.items)))))
    return Page(site=site, title=title, blocks=tuple(blocks))


def _derived(original: _Draft, subject: Topic, number: int, seed: int) -> Iterator[_Draft]:
    """What is derived from the n-th original of a topic: two of ten recipes, in turn."""
    for recipe in _RECIPES[(2 * number + len(subject.name)) % len(_RECIPES)]:
        kind = recipe
        if recipe == "reformatted":
            kind = f"reformatted/{Draw('style', original.id).pick(styles_for(subject.language))}"
        yield _derive(original, kind, subject, seed)
        if recipe in {"session-id", "time-stamp"} and number % 2:
            yield _derive(original, kind, subject, seed, again="-b")


_RECIPES = (
    ("mirror", "edited/light"),
    ("reformatted", "time-stamp"),
    ("session-id", "edited/medium"),
    ("exact", "reformatted", "edited/light"),
    ("excerpt/most", "mirror", "edited/heavy"),
    ("edited/light", "reformatted", "excerpt/passage"),
    ("mirror", "time-stamp"),
    ("edited/medium", "edited/heavy", "reformatted"),
    ("exact", "session-id"),
    ("edited/light", "excerpt/most", "excerpt/passage"),
    ("mirror", "reformatted"),
)


def _derive(original: _Draft, kind: str, subject: Topic, seed: int, *, again: str = "") -> _Draft:
    name = f"{original.id}-{kind.replace('/', '-')}{again}"
    draw = Draw(seed, name)
    page = _changed(original.page, kind, draw, subject)
    same_path = kind in {"mirror", "session-id"}
    path = original.path if same_path else f"{subject.name}/{name}.html"
    return _Draft(name, kind, page, path, original.id)


def _changed(page: Page, kind: str, draw: Draw, subject: Topic) -> Page:
    change, _, grade = kind.partition("/")
    match change:
        case "exact":
            return page
        case "mirror":
            return mirrored(page, f"{subject.name}.{draw.pick(_MIRRORS)}")
        case "session-id":
            return with_session(page, draw)
        case "time-stamp":
            return time_stamped(page, draw)
        case "edited":
            return edited(page, draw, share=EDIT_SHARES[grade], teller=Teller(subject, draw))
        case "reformatted":
            return reformatted(page, draw, style=grade)
        case "excerpt" if grade == "most":
            return shortened(page, keep=0.9)
        case "excerpt":
            return quoted(page, draw, sentences=6, site=_quoting_site(page.site), title=page.title)
    raise AssertionError(f"no change is called {kind}")


def _quoting_site(quoted_site: Site) -> Site:
    wording = WORDING[quoted_site.language]
    host = f"notes-{quoted_site.language}.example"
    return Site(host, host, quoted_site.language, wording.navigation[:2], (wording.footer.format(host=host),))


def _chapter_drafts(seed: int) -> Iterator[_Draft]:
    """One long text, its light edit and a passage quoted elsewhere."""
    subject = frames_english.CHAPTER
    name = "en-chapter-001"
    teller = Teller(subject, Draw(seed, name))
    site = Site("texts.example.org", subject.site_name, "en", skin="plain")
    page = _told_page(site, teller, paragraphs=_CHAPTER_PARAGRAPHS)
    original = _Draft(name, "long", page, "chapter/001.html", name)
    yield original
    for kind in ("edited/light", "excerpt/passage"):
        yield _derive(original, kind, subject, seed)


def _template_drafts(seed: int, scale: float) -> Iterator[_Draft]:
    for family, sites in FAMILIES:
        for number in range(1, sites + 1):
            site, shared = template_site(family, number, seed=seed)
            for item in range(1, _scaled(_TEMPLATE_PAGES, scale) + 1):
                name = f"{family.language}-{family.name}{number}-{item:03d}"
                page = template_page(family, site, shared, Draw(seed, name), item=item)
                yield _Draft(name, f"template/{family.name}", page, f"item/{item:03d}.html", name)


def _portal_drafts(seed: int, scale: float) -> Iterator[_Draft]:
    """Sites whose navigation and legal lines are about as long as the articles between them."""
    for number in range(1, _PORTAL_SITES + 1):
        for item in range(1, _scaled(_PORTAL_PAGES, scale) + 1):
            subject = frames_english.TOPICS[(number + item) % len(frames_english.TOPICS)]
            name = f"en-portal{number}-{item:03d}"
            page = _told_page(_portal_site(number, seed), Teller(subject, Draw(seed, name)), paragraphs=2)
            yield _Draft(name, "boilerplate", page, f"{subject.name}/{item:03d}.html", name)


def _portal_site(number: int, seed: int) -> Site:
    draw = Draw(seed, "portal", number)
    host = f"portal{number}.example"
    sections = draw.shuffled(_PORTAL_SECTIONS.split("/"))[:22]
    footer = (*draw.shuffled(_PORTAL_FOOTER)[:4], WORDING["en"].footer.format(host=host))
    return Site(host, f"County Portal {number}", "en", tuple(sections), footer, "article")


_PORTAL_SECTIONS = (
    "Home/Local news/Council minutes/Births and marriages/Tide tables/Bus timetable/Ferries/Schools/"
    "Libraries/Museums/Recipes/Gardening/Small ads/Lost and found/Jobs/Flats to let/Weather/Roadworks/"
    "Letters to the editor/Crossword/Sports results/Church services/Allotments/Fishing licences/"
    "Planning applications/Recycling/Emergency numbers/Archive/Contact us/Log in"
)

_PORTAL_FOOTER = (
    "The county is not liable for the accuracy of pages supplied by clubs, traders and private persons.",
    "This site uses cookies to remember your settings; you can switch them off in your browser at any time.",
    "Reproduction of notices is permitted if the source is named and the wording is left unchanged.",
    "If you have difficulty reading this page, ask for a version in large print at any branch library.",
    "Advertisements must reach us by noon on Wednesday and are published in the order in which they arrive.",
    "Report a broken link or an offensive comment to the editors, who will answer within two working days.",
)

_SHORT_PAGES = (
    ("404 Not Found", 4),
    ("OK", 3),
    ("It works!", 2),
    ("Access denied.", 2),
    ("Redirecting to the new address …", 2),
    ("Seite nicht gefunden", 2),
    ("ページが見つかりません", 2),
    ("", 6),
)


def _short_drafts() -> Iterator[_Draft]:
    """Pages with next to nothing on them, and pages with nothing at all."""
    number = 0
    for text, copies in _SHORT_PAGES:
        for _ in range(copies):
            number += 1
            name = f"short-{number:03d}"
            site = Site(f"host{number}.example.net", "", _short_language(text))
            page = Page(site, text, ())
            yield _Draft(name, "short" if text else "empty", page, "index.html", name)


def _short_language(text: str) -> str:
    if text.startswith("Seite"):
        return "de"
    return "ja" if text.startswith("ペ") else "en"
