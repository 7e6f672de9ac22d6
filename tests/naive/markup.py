"""A page without its markup, from the definition: one "<" after the other."""

import html
import re

_LONG_REFERENCE = re.compile(r"&#[xX]?[0-9a-fA-F]{8,};?")
_HIDDEN = re.compile(r"<(script|style|template|noscript|!--)", re.IGNORECASE | re.ASCII)


def strip_markup(markup: str) -> str:
    """Markup to white space, hidden elements and comments gone, character references decoded."""
    lowered = markup.lower() if markup.isascii() else re.sub("[A-Z]", lambda m: m.group().lower(), markup)
    pieces: list[str] = []
    at = 0
    while True:
        opened = markup.find("<", at)
        if opened < 0:
            pieces.append(markup[at:])
            break
        pieces.append(markup[at:opened])
        hidden = _HIDDEN.match(markup, opened)
        if hidden:
            name = hidden.group(1).lower()
            ending = "-->" if name == "!--" else f"</{name}"
            closed = lowered.find(ending, hidden.end())
            if closed < 0:
                break
            at = closed + len(ending) if name == "!--" else closed
        elif markup[opened + 1 : opened + 2].isalpha() or markup[opened + 1 : opened + 2] in ("/", "!", "?"):
            closed = markup.find(">", opened)
            if closed < 0:
                break
            at = closed + 1
        else:
            pieces.append("<")
            at = opened + 1
    return html.unescape(_LONG_REFERENCE.sub("\ufffd", " ".join(pieces)))
