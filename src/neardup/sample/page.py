"""A page as its author sees it, and the two ways the world sees it: visible text and HTML.

    Block   a heading, a paragraph (as sentences), a list or a table of facts
    Site    a host with its name, navigation and footer, and the skin of its pages
    Page    title, blocks and the lines that a site adds on request; `text()` and `html()`

Whatever `text()` shows is in the HTML and the other way round, word for word, so that an extractor of
visible text can be checked against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Literal

from neardup.sample.wording import RIGHT_TO_LEFT, UNSPACED

__all__ = ["Block", "Page", "Site"]


@dataclass(frozen=True)
class Block:
    """A run of the page: for a paragraph `parts` are its sentences, for a list its items."""

    kind: Literal["heading", "paragraph", "list", "facts"]
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Site:
    """A host and everything that all its pages have in common."""

    host: str
    name: str
    language: str
    navigation: tuple[str, ...] = ()
    footer: tuple[str, ...] = ()
    skin: Literal["article", "table", "plain"] = "article"


@dataclass(frozen=True)
class Page:
    """A page of a site. `notes` are lines below the main text, `query` is added to every link."""

    site: Site
    title: str
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()
    query: str = ""

    def text(self) -> str:
        """The visible text: header, navigation, main text and footer, blank lines between blocks."""
        main = [self.title, *(self._block_text(block) for block in self.blocks)]
        around = self._header(), " | ".join(self.site.navigation)
        runs = [*around, *main, *self.notes, "\n".join(self.site.footer)]
        return "".join(f"{run}\n\n" for run in runs if run).removesuffix("\n")

    def html(self) -> str:
        """The page as a file: one of three skins around the same visible text."""
        direction = ' dir="rtl"' if self.site.language in RIGHT_TO_LEFT else ""
        opening = f'<!DOCTYPE html>\n<html lang="{self.site.language}"{direction}>\n'
        return f"{opening}{self._head()}<body>\n{_SKINS[self.site.skin](self)}</body>\n</html>\n"

    def _header(self) -> str:
        return f"{self.site.name} – {self.site.host}" if self.site.name else ""

    def _head(self) -> str:
        return (
            '<head>\n<meta charset="utf-8">\n'
            f"<title>{escape(self.title)} – {escape(self.site.name)}</title>\n"
            '<link rel="stylesheet" href="/static/site.css">\n</head>\n'
        )

    def _block_text(self, block: Block) -> str:
        if block.kind == "list":
            return "\n".join(f"- {part}" for part in block.parts)
        if block.kind == "facts":
            return "\n".join(block.parts)
        return ("" if self.site.language in UNSPACED else " ").join(block.parts)

    def _block_html(self, block: Block) -> str:
        if block.kind == "heading":
            return f"<h2>{escape(self._block_text(block))}</h2>\n"
        if block.kind == "paragraph":
            return f"<p>{escape(self._block_text(block), quote=False)}</p>\n"
        if block.kind == "facts":
            rows = "".join(f"<tr><td>{escape(part, quote=False)}</td></tr>\n" for part in block.parts)
            return f"<table>\n{rows}</table>\n"
        # The dash is part of the visible text, so the style sheet hides the bullet.
        items = "".join(f"<li>- {escape(part, quote=False)}</li>\n" for part in block.parts)
        return f'<ul class="dashes">\n{items}</ul>\n'

    def _main_html(self) -> str:
        return f"<h1>{escape(self.title)}</h1>\n" + "".join(map(self._block_html, self.blocks))

    def _navigation_html(self) -> str:
        links = (
            f'<a href="/section/{number}{escape(self.query)}">{escape(name)}</a>'
            for number, name in enumerate(self.site.navigation, start=1)
        )
        return " | ".join(links)

    def _notes_html(self) -> str:
        return "".join(f'<p class="note">{escape(note, quote=False)}</p>\n' for note in self.notes)

    def _footer_html(self) -> str:
        return "<br>\n".join(escape(line, quote=False) for line in self.site.footer)


def _article_skin(page: Page) -> str:
    return (
        f'<header><a href="/{escape(page.query)}">{escape(page._header())}</a></header>\n'
        f"<nav>{page._navigation_html()}</nav>\n"
        f"<main>\n<article>\n{page._main_html()}</article>\n{page._notes_html()}</main>\n"
        f"<footer>{page._footer_html()}</footer>\n"
    )


def _table_skin(page: Page) -> str:
    return (
        '<table width="760" align="center" cellpadding="6">\n'
        f'<tr><td bgcolor="#003366"><font color="white"><b>{escape(page._header())}</b></font></td></tr>\n'
        f"<tr><td>{page._navigation_html()}</td></tr>\n"
        f"<tr><td>\n{page._main_html()}{page._notes_html()}</td></tr>\n"
        f"<tr><td><small>{page._footer_html()}</small></td></tr>\n</table>\n"
    )


def _plain_skin(page: Page) -> str:
    return f"<pre>\n{escape(page.text(), quote=False)}</pre>\n"


_SKINS = {"article": _article_skin, "table": _table_skin, "plain": _plain_skin}
