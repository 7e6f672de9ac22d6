"""What all pages have in common: the look, the diff, and one way to put a page together that nothing can break.

asset      a file of this folder: style.css, dom.js (elements and text that is shown as text), diff.js (two documents)
embedded   a value as JSON that can stand inside a script element, whatever strings are in it
policy     the Content-Security-Policy of a page: its own scripts and style by their hashes, and nothing else
document   the page: title, body, style, scripts, data

Documents are untrusted. Their text reaches a page as JSON alone and is shown by `textContent`; if that should ever
fail, the policy lets no script run but those whose SHA-256 it names, and nothing be fetched.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

_UNSAFE = re.compile("[<>&\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
"""What an HTML parser, an old JavaScript parser or an encoder could stumble over."""

SHARED = ("dom.js", "diff.js")
"""The scripts that pages have in common, in the order in which they are needed."""


@cache
def asset(name: str) -> str:
    """The text of a file of this folder."""
    return files(__name__).joinpath(name).read_text("utf-8")


def embedded(data: Any) -> str:
    """JSON for a script element of type application/json. `JSON.parse` gives the value back, lone surrogates too."""
    made = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", made)


def policy(scripts: Iterable[str], style: str, *, connect: str = "'none'", forms: str = "'none'") -> str:
    """The Content-Security-Policy. `connect`, `forms`: where scripts may ask and forms may be sent to, such as 'self'
    where a server is behind it."""
    ours = " ".join(_hash(script) for script in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {ours}; style-src {_hash(style)}; img-src data:; connect-src {connect}; "
        f"base-uri 'none'; form-action {forms}"
    )


def document(
    title: str,
    body: str,
    *,
    style: str = "",
    scripts: Iterable[str] = (),
    data: Mapping[str, Any] | None = None,
    connect: str = "'none'",
    forms: str = "'none'",
) -> str:
    """A whole page. `body` is our own HTML; `data` are the values that scripts find by their id (see dom.js).

    The shared look and scripts come first; `style` and `scripts` are the page's own. A page with forms tells its own
    server where they are from (browsers would call their origin "null"), and no other one.
    """
    referrer = "no-referrer" if forms == "'none'" else "same-origin"
    looks = asset("style.css") + style
    code = [*map(asset, SHARED), *scripts]
    rules = policy(code, looks, connect=connect, forms=forms)
    values = "".join(
        f'<script type="application/json" id="{escape(name)}">{embedded(value)}</script>\n'
        for name, value in (data or {}).items()
    )
    code_elements = "".join(f"<script>{script}</script>\n" for script in code)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(rules)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta name="referrer" content="{referrer}">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(_encodable(title))}</title>\n'
        f"<style>{looks}</style>\n</head>\n<body>\n{body}\n{values}{code_elements}</body>\n</html>\n"
    )


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
