"""A crawler's loop with a memory: of every page that is fetched, is it new?

python examples/crawl_with_memory.py seen.ndx pages/html
"""

import sys
from collections import Counter
from pathlib import Path

import neardup


def crawl(memory: str, folder: str) -> None:
    found: Counter[str] = Counter()
    with neardup.Index.open(memory) as index:
        for page in sorted(Path(folder).rglob("*.html")):
            address = page.relative_to(folder).as_posix()  # a crawler has a URL here
            verdict = index.check_and_add(address, html=page.read_bytes())
            found["new" if verdict.match is None else verdict.match.relation] += 1
            if verdict.match is not None and verdict.match.relation == "near" and found["near"] <= 3:
                similar = f"{verdict.match.resemblance:.2f} ± {verdict.match.error:.2f}"
                print(f"{address} is like {verdict.match.id} ({similar})")
        print(f"{len(index):,} pages remembered: {dict(found)}")


if __name__ == "__main__":
    crawl(*sys.argv[1:])
