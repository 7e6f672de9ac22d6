"""neardup over the course: an index in a folder, in batches as they come or document by document."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

from benchmarks.index import racing
from benchmarks.index.speed import Sketching
from neardup import Index, Verdict, __version__
from neardup.index.arriving import Arrived
from neardup.recipes import load_recipe


class Neardup:
    """A filter around Index. `single`: a call and a commit for every document."""

    def __init__(self, folder: str, *, single: bool) -> None:
        self.index = Index.open(folder, load_recipe("stream"))
        self._sketch = Sketching(self.index)
        self.single = single

    @property
    def sketching(self) -> float:
        return self._sketch.seconds

    def check_and_add(self, documents: list[dict[str, str]]) -> list[str | None]:
        return self._asked(self.index.check_and_add_many, documents)

    def check(self, documents: list[dict[str, str]]) -> list[str | None]:
        return self._asked(self.index.check_many, documents)

    def _asked(self, ask: Callable[[Arrived], list[Verdict]], documents: list[dict[str, str]]) -> list[str | None]:
        batches = [[document] for document in documents] if self.single else [documents]
        verdicts = [verdict for batch in batches for verdict in ask(self._sketch(batch))]
        return [None if verdict.match is None else verdict.match.id for verdict in verdicts]

    def remove(self, ids: list[str]) -> None:
        if self.single:
            for id in ids:
                self.index.remove(id)
        else:
            for first in range(0, len(ids), racing.BATCH):
                self.index.remove_many(ids[first : first + racing.BATCH])

    def contains(self, ids: list[str]) -> list[bool]:
        return self.index.contains_many(ids)

    def facts(self) -> dict[str, Any]:
        settings = {"recipe": "stream", "threads": len(os.sched_getaffinity(0))}
        return {"settings": settings, "version": f"neardup {__version__}", "bytes": self.index.info()["bytes"]}


def main() -> None:
    """Run."""

    def made(options: argparse.Namespace) -> Neardup:
        return Neardup(options.folder, single=options.single is not None)

    racing.run(made, "--folder", "--single")


if __name__ == "__main__":
    main()
