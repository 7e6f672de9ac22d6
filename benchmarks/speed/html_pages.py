"""HTML pages around the corpus's texts.

Head, style, script, navigation, paragraphs with markup and entities, footer: what an extractor meets.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

_HEAD = (
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
    '<link rel="stylesheet" href="/static/site.css">\n'
    "<style>body {{ margin: 0 }} .nav li {{ float: left }}</style>\n"
    '<script>window.layer = window.layer || []; layer.push({{"page": {number}, "a<b": true}});</script>\n'
    '</head>\n<body class="page">\n<header><nav class="nav"><ul>\n'
)
_LINK = '<li><a href="/section/{number}" class="item" data-id="{number}">Section {number}</a></li>\n'
_FOOT = (
    '</main>\n<footer><p>&copy; 2024 Example&nbsp;Press &middot; <a href="/imprint">Imprint</a></p>'
    "<!-- rendered by frontend-7 --></footer>\n"
    '<script src="/static/site.js" async></script>\n</body>\n</html>\n'
)


def page(text: str, number: int) -> str:
    """One page: about 1.5 kB of frame around the text, a tag every ten words or so."""
    parts = [_HEAD.format(title=text[:40], number=number)]
    parts += [_LINK.format(number=link) for link in range(12)]
    parts.append('</ul></nav></header>\n<main id="content">\n')
    for paragraph in text.split("\n\n"):
        marked = paragraph.replace(", ", ', <em class="x">and</em> ').replace(". ", ".</span> <span>")
        parts.append(f'<p class="body"><span>{marked} &amp; so on</span></p>\n')
    parts.append(_FOOT)
    return "".join(parts)


def pages(texts: Iterable[str]) -> pa.StringArray:
    """The pages of a batch of texts."""
    return pa.array([page(text, number) for number, text in enumerate(texts)], pa.string())
