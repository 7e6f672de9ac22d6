"""`python -m benchmarks.refine.speed`: how long grouping a page of results takes, as a caller sees it.

Every figure is of whole calls, `group(results).shown("mark")`, from Python objects to Python objects: best and median
of many, by the wall clock, and the best by the thread's own clock, on which other load of the machine has less
influence.
Results have an id, a URL, a title, a score, and a signature, a text or HTML. A third of them are near-duplicates.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.index.processes import facts, table
from benchmarks.refine.quality import RESULTS
from neardup import sample
from neardup.refine import group, sign_many

COLUMNS = {"results": "{:,}", "groups": "{:,}", "best, ms": "{:.2f}", "median, ms": "{:.2f}", "best, CPU ms": "{:.2f}"}


def texts(n: int, size: int) -> list[str]:
    """Words of the sample in random order; a third are earlier ones with 5 % of their sentences replaced."""
    rng = random.Random(1)
    words = [word for d in sample.documents() if d.language.startswith("en") for word in d.text.split()]
    length = size * len(words) // sum(len(word) + 1 for word in words)
    made: list[list[str]] = []
    for _ in range(n):
        if made and rng.random() < 1 / 3:
            text = list(rng.choice(made))
            for _ in range(length // 200):
                at = rng.randrange(length)
                text[at : at + 10] = rng.choices(words, k=10)
            made.append(text)
        else:
            made.append(rng.choices(words, k=length))
    return [" ".join(text) for text in made]


def listed(field: str, contents: list[str]) -> list[dict[str, Any]]:
    """As an engine would give them."""
    return [
        {"id": f"r{i}", "url": f"https://h{i}.example/", "title": f"Result {i}", "score": 100 - i / 10, field: content}
        for i, content in enumerate(contents)
    ]


def page(text: str, size: int) -> str:
    """A page of so many bytes around a text: a menu, and a script that takes up the rest."""
    menu = "".join(f'<li><a href="/section/{i}">Section {i}</a></li>' for i in range(60))
    lines = "".join(f"<p>{text[i : i + 400]}</p>\n" for i in range(0, len(text), 400))
    body = f"<title>x</title><nav><ul>{menu}</ul></nav><main>{lines}</main><footer>About us</footer>"
    return (
        f"<!doctype html><html><body>{body}<script>{'var x = 1; ' * ((size - len(body)) // 11)}</script></body></html>"
    )


def timed(call: Callable[[], Any], seconds: float) -> dict[str, float]:
    """After one call that does not count."""
    call()
    wall, cpu = [], []
    end = time.perf_counter() + seconds
    while len(wall) < 5 or time.perf_counter() < end:
        begin, own = time.perf_counter(), time.thread_time()
        call()
        wall.append(time.perf_counter() - begin)
        cpu.append(time.thread_time() - own)
    return {"best, ms": 1e3 * min(wall), "median, ms": 1e3 * median(wall), "best, CPU ms": 1e3 * min(cpu)}


def cases(scale: float = 1.0) -> dict[str, tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Results, and options of the call."""
    few, many = round(100 * scale), round(1000 * scale)
    ten, thousand = texts(few, 10_000), texts(many, 2_000)
    return {
        "signatures": (listed("neardup_signature", sign_many(ten)), {}),
        "signatures, many": (listed("neardup_signature", sign_many(thousand)), {}),
        "texts of 10 KB": (listed("text", ten), {}),
        "texts of 10 KB, by passages": (listed("text", ten), {"query": "harbour water"}),
        "snippets of 200 characters": (listed("snippet", [text[:200] for text in ten]), {}),
        "pages of 30 KB": (listed("html", [page(text, 30_000) for text in ten]), {}),
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=RESULTS / "speed.json")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each row")
    parser.add_argument("--scale", type=float, default=1.0, help="results, of 100 and 1,000")
    asked = parser.parse_args(arguments)
    found: dict[str, Any] = facts()
    found["rows"] = [
        {"what": name, "results": len(results), "groups": len(group(results, **options))}
        | timed(lambda results=results, options=options: group(results, **options).shown("mark"), asked.seconds)
        for name, (results, options) in cases(asked.scale).items()
    ]
    print(table(found["rows"], COLUMNS, "what", across=True))
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    asked.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
