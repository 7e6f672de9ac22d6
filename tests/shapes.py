"""Pages that try to cost more than their size: a shape makes a page of about as many bytes as it is asked for."""

import random
from collections.abc import Callable

Shape = Callable[[int], bytes]


def _numbered(start: str, between: str, end: str, share: float = 0.5) -> Shape:
    """`start` with a number in it, again and again, and then `end` as often."""

    def made(size: int) -> bytes:
        head, at = [], 0
        while sum(map(len, head[-1:])) + at < size * share:
            at += len(head[-1]) if head else 0
            head.append(start.replace("#", str(len(head))))
        return ("".join(head) + between + end * (int(size * (1 - share)) // max(len(end), 1))).encode()

    return made


def _repeated(piece: str, before: str = "", after: str = "") -> Shape:
    return lambda size: (before + piece * (size // len(piece.encode())) + after).encode()


def _attributes(size: int) -> bytes:
    return ("<div " + " ".join(f"a{i}=1" for i in range(size // 9)) + ">x").encode()


def _many_attributes(size: int) -> bytes:
    tag = "<i " + " ".join(f"a{i}" for i in range(900)) + ">x</i>"
    return (tag * (size // len(tag))).encode()


def _few_deep(size: int) -> bytes:
    return ("<div>" * 190 + "<i>x</i>" * 9_000 + "y" * max(0, size - 73_000)).encode()


def _lines_in_lists(size: int) -> bytes:
    return ("<ul><li>" * 30 + "<pre>" + "\n" * size).encode()


def _tables(size: int) -> bytes:
    return ("<table><tr><td><p><button><p>" * 95 + "<br>x" * 19_000 + "y" * max(0, size - 97_000)).encode()


def _letters(size: int) -> bytes:
    letters = "".join(f"<{chr(0x20000 + n)}>" for n in range(min(size // 20, 40_000)))
    return ("<div>" * 5_000 + letters + "<1" * (size // 4)).encode()


SHAPES: dict[str, Shape] = {
    "tags of letters beyond ASCII": _letters,
    "nested main": _repeated("<main>"),
    "nested main, hidden": _repeated("<main hidden>"),
    "nested role": _repeated("<div role=main>x"),
    "nested div": _repeated("<div>"),
    "nested div with text": _repeated("<div>x"),
    "nested lists": _repeated("<ul><li>x"),
    "nested tables": _repeated("<table><tr><td>x"),
    "nested spans": _repeated("<span>x"),
    "nested custom elements": _repeated("<x-y>x"),
    "nested rt": _repeated("<rt>x"),
    "nested optgroups": _repeated("<optgroup>x"),
    "items in items": _repeated("<li><dd>x"),
    "headings in items": _repeated("<h1><li>x"),
    "headings in options": _repeated("<h1><option>x"),
    "forms closed over divs": _repeated("<form><div></form>"),
    "end tags in comments": _repeated("<div><!--</div>-->"),
    "end tags in scripts": _repeated("<div><script></div></script>"),
    "end tags in escaped scripts": _repeated("<div><script><!--<script></script></div>--></script>"),
    "end tags in attributes": _repeated("<div title='</div>'>"),
    "end tags in select": _repeated("<div><select></div></select>"),
    "end tags behind a table": _repeated("<div><table></div></table>"),
    "end tags behind a cell": _repeated("<table><div></td>"),
    "end tags in noscript": _repeated("<noscript><div></noscript>"),
    "end tags of search": _repeated("<search><div></search>"),
    "end tags in CDATA": _repeated("<div><svg><![CDATA[></div>]]></svg>"),
    "end tags of others": _repeated("<ul></b><li></b>"),
    "raw text that select passes over": _repeated("<div>x", "<select><xmp></select>"),
    "style in svg": _repeated("<i a=1><b>", "<svg><style>"),
    "style in math": _repeated("<i a=1><b>", "<math><annotation-xml><style>"),
    "svg in svg": _repeated("<svg><foreignObject>"),
    "svg left by p": _repeated("<x/>", "<svg><p>"),
    "svg left by font": _repeated("<x/>", "<svg><font color=1>"),
    "cells in svg": _repeated("<td>x", "<svg>"),
    "p in formulas": _repeated("<math><annotation-xml encoding=text/html><p>x"),
    "templates": _repeated("<template>x"),
    "formatting opened again": _numbered("<b a=#>", "</p>", "<p>x", 0.3),
    "formatting opened again, in p": lambda size: b"<p>" + _numbered("<b a=#>", "</p>", "<p>x</p>", 0.3)(size),
    "formatting lost by its parent": _numbered("<div><b a=#>x</div>", "", "", 1.0),
    "formatting lost by a table": _numbered("<table><b a=#><td></td>", "", "", 1.0),
    "formatting lost by another": _numbered("<b><i a=#></b>x", "", "", 1.0),
    "large formatting opened again": lambda size: (
        ("<p>" + f"<b title='{'x' * 3000}'>" * 3 + "</p>").encode() + b"<p>x</p>" * min(size // 8, 9_000)
    ),
    "anchors": _numbered("<a name=#><div>x", "", "", 1.0),
    "attributes of one tag": _attributes,
    "attributes of many tags": _many_attributes,
    "long attribute": _repeated("x ", "<div class='", "'>x"),
    "long style": _repeated("display : ", "<div style='", "'>x"),
    "long name": _repeated("x", "<", ">x"),
    "many names": _numbered("<x#>y</x#>", "", "", 1.0),
    "deep and wide": _few_deep,
    "tables, deep and wide": _tables,
    "lines in lists": _lines_in_lists,
    "white space": _repeated(" \n", "<p>x"),
    "lines": _repeated("x\n", "<pre>"),
    "foster parents": _repeated("x<b>y</b>", "<table>"),
    "references": _repeated("&amp;&#38;&NotEqualTilde;"),
    "long reference": _repeated("9", "<p>&#", ";"),
    "references that are none": _repeated("&notit"),
    "ampersands": _repeated("&"),
    "less than": _repeated("<"),
    "open comments": _repeated("<!--"),
    "dashes": _repeated("-", "<!--"),
    "declarations": _repeated("<!doctype html><?x?>"),
    "open tags": _repeated("<div "),
    "open attributes": _repeated('<a href="'),
    "open scripts": _repeated("<script>"),
    "escaped scripts": _repeated("<!--<script>", "<script>"),
    "NUL": _repeated("\0"),
    "UTF-16": lambda size: "<div>x".encode("utf-16") * (size // 14),
    "ISO-2022-JP": _repeated("\x1b$B<<\x1b(B<div>", "<meta charset=iso-2022-jp>"),
    "bytes": lambda size: random.Random(1).randbytes(size),
    "text": _repeated("some words of a page "),
    "links": _repeated("<a href=/x/../y>z</a>"),
    "images and a long base": lambda size: (
        b"<base href='http://e.example/" + b"x" * (size // 2) + b"/'>" + b"<img src=y><a href=y>" * (size // 42)
    ),
}
