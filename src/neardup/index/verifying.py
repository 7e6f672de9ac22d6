"""Everything that a store holds, read and held against each other: what is damaged, and what to do about it.

Blocks have checksums, which their engine compares when it reads them. So every entry is read once, and then the parts
must agree: a record decodes, its id leads to its number, its number stands under the key of its identity and under as
many keys as its recipe makes, lists ascend, and as many documents are there as are counted. A document that is added,
replaced or removed meanwhile is looked up again before it is called damaged.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import NeardupError, RecipeError, StoreError, Unreachable
from neardup.index.answers import Keep
from neardup.index.rows import Layout, identity_keys
from neardup.index.store import Row, Store
from neardup.kernels import text as kernel
from neardup.recipe import Recipe

_AT_ONCE = 5_000
_NAMED = 3
"""Documents that a sentence names."""


@dataclass(frozen=True)
class Verification:
    """What was read, and what is damaged."""

    documents: int = 0
    keys: int = 0
    texts: int = 0
    problems: list[str] = field(default_factory=list)
    """A sentence each; nothing where all is well."""

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged."""
        return not self.problems


def made_by(store: Store) -> tuple[Recipe, Keep]:
    """Recipe and `keep`. The id of a recipe also says by which neardup the sketches compare with ours."""
    try:
        settings = store.settings
        recipe, id, keep = Recipe.from_dict(settings["recipe"], checked=True), settings["recipe_id"], settings["keep"]
        if keep not in ("sketch", "text", "reference"):
            raise ValueError(f"keep = {keep!r}")
    except (LookupError, TypeError, ValueError, RecipeError) as error:
        store.close()
        raise StoreError(f"{store.shown}: its settings cannot be read ({error}). Build the index again.") from error
    if recipe.id != id:
        store.close()
        raise StoreError(
            f"{store.shown}: the index was made by recipe {id}, which is {recipe.id} for this neardup: its sketches "
            "are others. Use the neardup that made the index, or build it again."
        )
    return recipe, keep


def verify(store: Store, layout: Layout, keep: Keep) -> Verification:
    """Read all of a store, beside those who use it, and return what is damaged.

    Raises:
        Unreachable: The store is not where it was, or its server does not answer, which tells nothing of damage.
    """
    try:
        beside = store.again()
    except Unreachable:
        raise
    except NeardupError as error:
        return Verification(problems=[str(error)])
    try:
        return read_all(beside, layout, keep)
    finally:
        if beside is not store:
            beside.close()


def read_all(store: Store, layout: Layout, keep: Keep) -> Verification:
    """Read all of a store that nobody else uses."""
    return _Reading(store, layout, keep).done()


class _Reading:
    """One reading of a store."""

    def __init__(self, store: Store, layout: Layout, keep: Keep) -> None:
        self.store, self.layout, self.keep = store, layout, keep
        self.problems: list[str] = []
        self.numbers, self.marks = np.empty(0, np.int64), np.empty(0, np.uint64)
        self.keys = self.texts = 0

    def done(self) -> Verification:
        for read in (self._documents, self._lists, lambda: self.problems.extend(self.store.problems())):
            self._guarded(read)
        return Verification(len(self.numbers), self.keys, self.texts, list(dict.fromkeys(self.problems)))

    def _guarded(self, read: Callable[[], Any]) -> None:
        """Note as a problem what cannot be read, and go on. A store that cannot be reached is an error instead."""
        try:
            read()
        except Unreachable:
            raise
        except NeardupError as error:
            self.problems.append(str(error))

    def _documents(self) -> None:
        counted, last = len(self.store), -1
        numbers, marks = [np.empty(0, np.int64)], [np.empty(0, np.uint64)]
        lost: dict[str, list[int]] = {}
        for some in _batched(self.store.rows(texts=self.keep != "sketch")):
            theirs = np.array([row.number for row in some], np.int64)
            if theirs[0] <= last or (np.diff(theirs) <= 0).any():
                self.problems.append(f"documents are out of order around number {theirs[0]:,}.")
            last = int(theirs[-1])
            numbers.append(theirs)
            marks.append(self._records(some, lost))
        self.numbers, self.marks = np.concatenate(numbers), np.concatenate(marks)
        for what, found in lost.items():
            there = self._still_there(found)
            if there:
                self.problems.append(f"{_documents(there)}: {what}.")
        if counted != len(self.numbers) and len(self.store) == counted:
            self.problems.append(f"{counted:,} documents are counted, and {len(self.numbers):,} are there.")

    def _records(self, some: list[Row], lost: dict[str, list[int]]) -> NDArray[np.uint64]:
        """Return the keys of the documents' identities, 0 where there is none to look for."""
        marks = np.zeros(len(some), np.uint64)
        readable = []
        for place, row in enumerate(some):
            try:
                self.layout.decode([row.record])
                readable.append(place)
            except StoreError:
                lost.setdefault("the record cannot be decoded", []).append(row.number)
        rows = self.layout.decode([some[place].record for place in readable]) if readable else None
        if rows is None:
            return marks
        found = self.store.numbers(rows.ids)
        for place, number in zip(readable, found.tolist(), strict=True):
            if number != some[place].number:
                lost.setdefault("the id does not lead there", []).append(some[place].number)
        known = np.isin(rows.status, (kernel.FINE, kernel.SHORT, kernel.EMPTY, kernel.INVALID))
        for place in np.flatnonzero(~known).tolist():
            lost.setdefault("the record has no known status", []).append(some[readable[place]].number)
        marks[np.array(readable)[rows.compared]] = identity_keys(rows.identities[rows.compared])
        if self.keep != "sketch":
            self.texts += sum(row.text is not None for row in some)
            for row in some:
                if row.text is None:
                    lost.setdefault("its text is missing", []).append(row.number)
        return marks

    def _lists(self) -> None:
        standing = np.zeros(len(self.numbers), np.int64)
        marked = self.marks == 0
        disorder = 0
        for some in _batched(self.store.postings()):
            keys = np.array([key for key, _ in some], np.uint64)
            sizes = [len(found) for _, found in some]
            flat = np.concatenate([found for _, found in some])
            owners = np.repeat(np.arange(len(keys)), sizes)
            disorder += int(((np.diff(flat) < 0) & (np.diff(owners) == 0)).sum())
            self.keys += len(flat)
            place = np.searchsorted(self.numbers, flat)
            there = np.flatnonzero(place < len(self.numbers))
            there = there[self.numbers[place[there]] == flat[there]]
            np.add.at(standing, place[there], 1)
            hit = there[keys[owners[there]] == self.marks[place[there]]]
            marked[place[hit]] = True
        if disorder:
            self.problems.append(f"{disorder:,} lists of documents under a key are out of order.")
        unmarked = self._still_there(self.numbers[~marked].tolist())
        if unmarked:
            self.problems.append(f"{_documents(unmarked)}: cannot be found by their words.")
        fewest = self.layout.fewest_keys
        few = self._still_there(self.numbers[(standing < fewest) & (self.marks != 0) & marked].tolist())
        if few:
            self.problems.append(f"{_documents(few)}: under fewer than {fewest} keys.")

    def _still_there(self, numbers: list[int]) -> list[int]:
        """Return those that were not removed meanwhile."""
        distinct = np.unique(np.array(numbers, np.int64))
        found: list[int] = []
        for start in range(0, len(distinct), _AT_ONCE):
            some = distinct[start : start + _AT_ONCE]
            records = self.store.records(some)
            found += [n for n, record in zip(some.tolist(), records, strict=True) if record is not None]
        return found


def _documents(numbers: list[int]) -> str:
    named = ", ".join(f"{number:,}" for number in numbers[:_NAMED]) + (", …" if len(numbers) > _NAMED else "")
    return f"{len(numbers):,} documents (numbers {named})" if len(numbers) > 1 else f"document {named}"


def _batched(items: Iterable[Any]) -> Iterator[list[Any]]:
    ahead = iter(items)
    while some := list(islice(ahead, _AT_ONCE)):
        yield some
