"""A collection that one can search: opened in a moment where it was built before, built where it was not."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from neardup.atomic import appearing
from neardup.errors import OutputError, UsageError
from neardup.gather import Reading
from neardup.result import Result
from neardup.searching.answers import Called, Found, Full, Hit, Snippet
from neardup.searching.building import TERMS, build
from neardup.searching.documents import Documents
from neardup.searching.engine import Engine, library
from neardup.searching.inputs import Inputs, Paths, State, find
from neardup.searching.keeping import ABOUT, Say, building, forget_earlier, forget_unused, used, usual_folder
from neardup.searching.queries import Run, parse
from neardup.searching.snippets import snippets as cut


class Collection:
    """Documents and an index of their words. Threads may share one."""

    def __init__(
        self, name: str, documents: Documents, engine: Engine, run: Result | None, state: State | None = None
    ) -> None:
        self.name = name
        self.run = run
        """The run whose folder was opened; None where documents were."""
        self.run_state = state
        """Of that folder when it was opened; see `state_of`."""
        self._documents, self._engine = documents, engine

    @classmethod
    def open(
        cls,
        path: Paths,
        *,
        folder: str | Path | None = None,
        say: Callable[[str], None] | None = None,
        reading: Reading | None = None,
    ) -> "Collection":
        """The documents of files, folders, globs and URLs (one or a list of them), or those of a finished run.

        What is built is kept in `folder`, by default the user's cache folder, and used again while the inputs are the
        same. `say` is told what was guessed and how far it is, where something is built. `reading` names columns, where
        a guess would be wrong; a run has its own, and takes none.
        """
        library()
        tell: Say = say or (lambda sentence: None)
        inputs = find(path, reading or Reading())
        home = Path(folder) if folder is not None else usual_folder()
        whose, which = inputs.whose, inputs.which
        place = home / f"{whose}-{which}"
        opened = _opened(place, inputs)
        if opened is not None:
            return opened
        with building(home, whose, tell):
            opened = _opened(place, inputs)
            if opened is not None:
                return opened
            if place.exists():
                tell(f"{place} is damaged, and is built again.")
            for sentence in inputs.said:
                tell(sentence)
            with appearing(place) as draft:
                build(inputs, draft, tell)
            forget_earlier(home, whose, which)
            forget_unused(home, tell)
            opened = _opened(place, inputs)
        if opened is None:
            raise OutputError(f"{place}: cannot be read, though it was just written. Name another folder.")
        return opened

    @property
    def documents(self) -> int:
        """How many there are."""
        return len(self._documents)

    def search(self, query: str, *, most: int = 100, start: int = 0, snippets: bool = True) -> Found:
        """The documents that have all that was typed, or, where none has, those that have any of it.

        `start` leaves out so many of the best. See `neardup.searching.queries` for what can be typed: anything. A
        snippet costs more than finding its document: without them, `snippets` makes those of the few that are shown.
        """
        if most < 0 or start < 0:
            raise UsageError(f"most = {most}, start = {start}: neither is less than 0.")
        began = time.perf_counter()
        asked = parse(query)
        if not asked.wanted:
            return Found([], 0, time.perf_counter() - began)
        runs, partial = asked.wanted, False
        ranked, total = self._engine.search(runs, asked.without, every=True, start=start, most=most)
        if not total and (len(runs) > 1 or asked.parts != runs):
            runs, partial = asked.parts, True
            ranked, total = self._engine.search(runs, asked.without, every=False, start=start, most=most)
        shown = self._snippets([number for _, number in ranked], runs) if snippets else [[] for _ in ranked]
        hits = self._hits(ranked, shown)
        return Found(hits, total, time.perf_counter() - began, partial and total > 0, runs)

    def snippets(self, found: Found, hits: Iterable[Hit]) -> list[Snippet]:
        """The snippets of some of the hits that were found."""
        return self._snippets([hit.place for hit in hits], found.runs)

    def get(self, id: str, place: int | None = None) -> Full | None:
        """The document with this id; where ids are not unique, the one at this place, else the first of them."""
        number = self._documents.numbered(id, place)
        return None if number is None else self._documents.full(number)

    def called(self, id: str, place: int | None = None) -> Called | None:
        """What the same document is called. Its text, which may be long, is not read."""
        number = self._documents.numbered(id, place)
        if number is None:
            return None
        return Called(self._documents.about(number)[2], number if self._documents.repeated([id])[0] else None)

    def texts(self, ids: Iterable[str]) -> list[str | None]:
        """The texts of documents, None for an id that there is not."""
        found = (self.get(id) for id in ids)
        return [None if full is None else full.text for full in found]

    def close(self) -> None:
        """Let go of the files."""
        self._documents.close()

    def _snippets(self, numbers: Iterable[int], runs: Sequence[Run]) -> list[Snippet]:
        return cut([self._documents.text(number) for number in numbers], runs)

    def _hits(self, ranked: Sequence[tuple[float, int]], shown: Sequence[Snippet]) -> list[Hit]:
        about = [self._documents.about(number) for _, number in ranked]
        repeated = self._documents.repeated([id for id, *_ in about])
        return [
            Hit(id, url, title, score, snippet, signature, number, number if again else None)
            for (score, number), (id, url, title, signature), snippet, again in zip(
                ranked, about, shown, repeated, strict=True
            )
        ]

    def __len__(self) -> int:
        return self.documents

    def __enter__(self) -> "Collection":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<neardup.searching.Collection {self.name!r}: {self.documents:,} documents>"


def _opened(place: Path, inputs: Inputs) -> Collection | None:
    """What was built, if it is there and whole."""
    try:
        about = json.loads((place / ABOUT).read_text())
        documents, engine = Documents(place, about["starts"]), Engine(place / TERMS)
        whole = len(documents) == len(engine) == about["documents"]
    except (OSError, ValueError, KeyError):
        return None
    if not whole:
        return None
    used(place)
    return Collection(inputs.name, documents, engine, inputs.run, inputs.state)
