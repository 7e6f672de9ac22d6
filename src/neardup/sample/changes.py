"""The changes that turn a page into its near-duplicates.

    mirrored, with_session, time_stamped   what is printed around the main text changes
    edited                                 sentences are replaced, inserted and deleted
    shortened, quoted                      a part of the page, on its own site or on another
    reformatted                            the same words in other characters: STYLES names the ways

Each takes a page and a `Draw` and returns a page; nothing here knows about ids, labels or files.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace

from neardup.sample.grammar import Draw, Teller
from neardup.sample.page import Block, Page, Site
from neardup.sample.wording import WORDING

__all__ = [
    "EDIT_SHARES",
    "STYLES",
    "edited",
    "mirrored",
    "quoted",
    "reformatted",
    "shortened",
    "styles_for",
    "time_stamped",
    "with_session",
]

#: Share of the sentences that an edit of each grade touches (at least one).
EDIT_SHARES = {"light": 0.05, "medium": 0.2, "heavy": 0.65}


def mirrored(page: Page, host: str) -> Page:
    """The page as another host serves it, with that host's name in the header and the footer."""
    wording = WORDING[page.site.language]
    footer = (wording.mirror.format(host=host), wording.footer.format(host=host))
    return replace(page, site=replace(page.site, host=host, footer=footer))


def with_session(page: Page, draw: Draw) -> Page:
    """A session id in every link and in a visible line."""
    session = draw.hexadecimal(32)
    note = WORDING[page.site.language].session.format(id=session[:12])
    return replace(page, notes=(*page.notes, note), query=f"?sid={session}")


def time_stamped(page: Page, draw: Draw) -> Page:
    """A printed date and time, and a visitor counter."""
    wording = WORDING[page.site.language]
    date = f"2024-{draw.between(1, 12):02d}-{draw.between(1, 28):02d}"
    time = f"{draw.between(0, 23):02d}:{draw.between(0, 59):02d}"
    count = f"{draw.between(1_000, 999_999)}"
    notes = (wording.stamp.format(date=date, time=time), wording.counter.format(count=count))
    return replace(page, notes=(*page.notes, *notes))


def edited(page: Page, draw: Draw, *, share: float, teller: Teller) -> Page:
    """The page with a share of its sentences replaced, deleted or given a new neighbour."""
    paragraphs = [(b, block) for b, block in enumerate(page.blocks) if block.kind == "paragraph"]
    places = [(b, s) for b, block in paragraphs for s in range(len(block.parts))]
    chosen = set(draw.shuffled(places)[: max(1, round(share * len(places)))])
    blocks = []
    for b, block in enumerate(page.blocks):
        parts: list[str] = []
        for s, sentence in enumerate(block.parts):
            parts += _edit(sentence, draw, teller) if (b, s) in chosen else [sentence]
        if parts:
            blocks.append(replace(block, parts=tuple(parts)))
    return replace(page, blocks=tuple(blocks))


def _edit(sentence: str, draw: Draw, teller: Teller) -> list[str]:
    action = draw.between(1, 4)
    if action == 1:
        return []
    if action == 2:
        return [sentence, teller.sentence()]
    return [teller.sentence()]


def shortened(page: Page, *, keep: float) -> Page:
    """The page without its end: the first `keep` of its sentences and list items."""
    left = round(keep * sum(len(block.parts) for block in page.blocks))
    blocks: list[Block] = []
    for block in page.blocks:
        if left > 0:
            blocks.append(replace(block, parts=block.parts[:left]))
        left -= len(block.parts)
    return replace(page, blocks=tuple(blocks))


def quoted(page: Page, draw: Draw, *, sentences: int, site: Site, title: str) -> Page:
    """A passage of consecutive sentences, quoted on a page of another site."""
    running = [part for block in page.blocks if block.kind == "paragraph" for part in block.parts]
    start = draw.between(0, max(0, len(running) - sentences))
    passage = Block("paragraph", tuple(running[start : start + sentences]))
    return Page(site=site, title=title, blocks=(passage,))


def reformatted(page: Page, draw: Draw, *, style: str) -> Page:
    """The main text passed through one of STYLES; the surroundings stay as they are."""
    change = STYLES[style]
    blocks = (replace(block, parts=tuple(change(part, draw) for part in block.parts)) for block in page.blocks)
    return replace(page, title=change(page.title, draw), blocks=tuple(blocks))


def styles_for(language: str) -> tuple[str, ...]:
    """The styles that change anything in a language and that its printers really use."""
    return _STYLES_BY_LANGUAGE.get(language, ("punctuation", "whitespace"))


_OTHER_MARKS = {", ": "; ", "، ": "؛ ", "，": "；", "。": "！", "।": "!", "။": "!", ": ": " — ", " - ": " – "}


def _upper_case(text: str, draw: Draw) -> str:
    return text.upper()


def _punctuation(text: str, draw: Draw) -> str:
    """Other marks, the same words: dashes, semicolons, ellipses, exclamations."""
    for old, new in _OTHER_MARKS.items():
        text = text.replace(old, new)
    return text[:-1] + "…" if text.endswith(".") else text


def _typographic_quotes(text: str, draw: Draw) -> str:
    text = re.sub(r'(^|[\s(])"', r"\1“", text).replace('"', "”")
    return text.replace("'", "’").replace("-", "\u2011")


def _whitespace(text: str, draw: Draw) -> str:
    """Wide, no-break and doubled spaces and hard line ends; in unspaced scripts breaks after marks."""
    if " " not in text:
        return re.sub(r"(?<=[，。、；：])", "\n", text).strip()
    return re.sub(" ", lambda _: draw.pick((" ", " ", "  ", "\u00a0", "\n", "\t", "\u2003")), text)


def _decomposed(text: str, draw: Draw) -> str:
    return unicodedata.normalize("NFD", text)


def _soft_hyphens(text: str, draw: Draw) -> str:
    """A soft hyphen between a vowel and a consonant in the middle of long words."""
    breaks = r"(?<=\w\w[aeiouyäöüéèаеиоуыэюя])(?=[^\W\d_aeiouyäöüéèаеиоуыэюя]\w\w)"
    return re.sub(breaks, lambda _: "\u00ad" if draw.chance(0.7) else "", text)


def _full_width(text: str, draw: Draw) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c for c in text)


STYLES: dict[str, Callable[[str, Draw], str]] = {
    "case": _upper_case,
    "punctuation": _punctuation,
    "quotes": _typographic_quotes,
    "whitespace": _whitespace,
    "nfd": _decomposed,
    "soft-hyphens": _soft_hyphens,
    "full-width": _full_width,
}

_EUROPEAN = ("case", "punctuation", "whitespace", "nfd", "soft-hyphens")
_STYLES_BY_LANGUAGE = {
    "en": ("case", "punctuation", "quotes", "whitespace", "soft-hyphens", "full-width"),
    "de": _EUROPEAN,
    "fr": (*_EUROPEAN, "quotes"),
    "ru": _EUROPEAN,
    "el": ("case", "punctuation", "whitespace", "nfd"),
    "he": ("punctuation", "whitespace", "quotes"),
    "th": ("whitespace",),
    "zh": ("punctuation", "whitespace", "full-width"),
    "ja": ("whitespace", "nfd", "full-width"),
    "ko": ("punctuation", "whitespace", "nfd", "full-width"),
}
