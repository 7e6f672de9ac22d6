"""A collection to be searched in a browser: repeats of every kind, hostile documents, a thousand results."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.service.serving import Service, serving

_WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "lmnrstx"]


def words(seed: int, number: int = 150) -> str:
    """A text that is like no other."""
    return " ".join(random.Random(seed).choices(_WORDS, k=number))


BEST = f"rose garden. {words(1)}"
KINDS = {
    "best": BEST,
    "same": BEST.upper(),
    "near": BEST.replace(words(1)[-120:], words(2, 20)),
    "part": " ".join(BEST.split()[:90]),
    "whole": f"{BEST} {words(3, 200)}",
    "other": f"rose garden. {words(4)}",
}
"""Of the best one: the same words, most of them, a part of them, more than them; and one that has nothing of it."""

HOSTILE = (
    "hostile </script><script>alert('text')</script><img src=x onerror=alert('image')> <b>bold</b> &lt;i&gt; "
    "\u202egnp.exe\u202c \u2028 ]]> \"' `${alert('template')}` "
)
NAMES = [  # id, URL, title
    ('"><img src=x onerror=alert(1)>', "javascript:alert('url')", "<script>alert('title')</script>"),
    ("'; alert(2); '", "data:text/html,<script>alert('data')</script>", "\u202eeltit desrever"),
    ("../../etc/passwd?a=b&c=d#e", 'https://a.example/" onmouseover="alert(3)', '"><svg onload=alert(4)>'),
    ("\u202e\u0007 id with what cannot be seen", " javascript:alert(5)", "T" * 100_000),
    ("{{ 7 * 7 }}{% raw %}", "https://b.example/{{ config }}", "{{ 7 * 7 }}"),
    ("i" * 30_000, "https://c.example/" + "u" * 30_000, ""),
]

THOUSAND, DIFFERENT = 1000, 600


def documents() -> Iterator[dict[str, str]]:
    for name, text in KINDS.items():
        title = "The rose garden, a rose garden" if name == "best" else f"A {name} one"
        yield {"id": name, "url": f"https://www.example.org/{name}", "title": title, "text": text}
    for at, (id_, url, title) in enumerate(NAMES):
        for copy in range(2):  # each has one of its own kind behind it
            text = HOSTILE + words(100 + at) + " X" * copy
            yield {"id": id_ + "!" * copy, "url": url, "title": title, "text": text}
    for at in range(THOUSAND):
        yield {
            "id": f"t{at}",
            "url": "",
            "title": f"Number {at}",
            "text": f"thousand {words(1000 + at % DIFFERENT, 40)}",
        }


@contextmanager
def searched(folder: Path, *options: str, **environment: str) -> Iterator[Service]:
    """The service with this collection, for as long as the block lasts."""
    source = folder / "pages.jsonl"
    source.write_text("".join(json.dumps(document) + "\n" for document in documents()))
    ours = {"XDG_CACHE_HOME": str(folder / "cache"), **environment}
    with serving(None, "--collection", str(source), *options, environment=ours) as service:
        yield service
