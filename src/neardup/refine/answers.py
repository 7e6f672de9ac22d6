"""What grouping answers: groups with the evidence, and the results as they are to be shown."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

from neardup.errors import UsageError
from neardup.model import Relation
from neardup.refine.formats.page import NOTE_FIELD, Counts, Id, Page

View = Literal["mark", "fold", "collapse", "drop"]
VIEWS: tuple[View, ...] = get_args(View)

Basis = Literal["signature", "text", "html", "snippet", "nothing"]
"""What of a result was compared."""


class Member(NamedTuple):
    """A result that is similar to the best-ranked one of its group, the anchor."""

    place: int
    """In the list of results, counted from 0."""
    relation: Relation
    """To the anchor. contained: it lies in the anchor; contains: the anchor lies in it."""
    match: float
    """The share of the longer one's passages that the other has too, estimated."""
    containment: float | None
    """The same of the shorter one's passages; None where the signatures cannot tell."""


class Group(NamedTuple):
    """The best-ranked one, and those that are similar to it, in their order."""

    anchor: int
    """Its place in the list of results, counted from 0."""
    members: list[Member]
    """The others. Empty for a result that is similar to no anchor."""


@dataclass(frozen=True)
class Grouped:
    """A ranked list of results in groups. Every result is in one; groups stand in the order of their anchors."""

    groups: list[Group]
    bases: list[Basis]
    """By what each result was compared."""
    passages: bool
    """Whether the passages around the query's terms were compared, and not whole texts."""
    page: Page = field(repr=False)
    """The results as they were read."""

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def folded(self) -> int:
        """How many results stand behind an anchor."""
        return len(self.page.results) - len(self.groups)

    @property
    def counts(self) -> Counts:
        """What a whole response is told of its grouping."""
        return {"results": len(self.page.results), "groups": len(self.groups), "folded": self.folded}

    @property
    def alone(self) -> list[int]:
        """The places of results that had nothing to compare: no signature, and no words in a text, page or snippet."""
        return [place for place, basis in enumerate(self.bases) if basis == "nothing"]

    def id(self, place: int) -> Id:
        """Of a result: its id, its URL where it has none, else its rank, counted from 1."""
        result = self.page.results[place]
        if result.id is not None:
            return result.id
        return place + 1 if result.url is None else result.url

    @cached_property
    def names(self) -> list[Id]:
        """Of every group: the id of its anchor, with its rank where an earlier anchor has the same id."""
        taken: set[Id] = set()
        names: list[Id] = []
        for group in self.groups:
            name = self.id(group.anchor)
            while name in taken:
                name = f"{name}#{group.anchor + 1}"
            taken.add(name)
            names.append(name)
        return names

    def shown(self, view: View = "mark") -> Any:
        """The response as it came in, with its results in one of four ways. The input is not changed.

        mark       all results in their order, each with a `neardup` object: its group, its rank in it, and for an
                   anchor how many are similar, for others relation, match and containment
        fold       anchors alone; neardup.similar are the others in full, each with its own `neardup`
        collapse   anchors alone, with the number of the others and their ids
        drop       anchors alone, as they came
        """
        if view not in VIEWS:
            raise UsageError(f"view = {view!r}: choose one of {', '.join(VIEWS)}.")
        return self.page.write(getattr(self, f"_{view}")(), None if view == "drop" else self.counts)

    def _mark(self) -> list[dict[str, Any]]:
        marked: list[Any] = [None] * len(self.page.results)
        for name, group in zip(self.names, self.groups, strict=True):
            marked[group.anchor] = self._noted(group.anchor, {"group": name, "rank": 1, "similar": len(group.members)})
            for rank, member in enumerate(group.members, 2):
                marked[member.place] = self._member(member, name, rank)
        return marked

    def _fold(self) -> list[dict[str, Any]]:
        return [
            self._noted(
                group.anchor,
                {
                    "group": name,
                    "rank": 1,
                    "similar": [self._member(member, name, rank) for rank, member in enumerate(group.members, 2)],
                },
            )
            for name, group in zip(self.names, self.groups, strict=True)
        ]

    def _collapse(self) -> list[dict[str, Any]]:
        return [
            self._noted(
                group.anchor,
                {
                    "group": name,
                    "rank": 1,
                    "similar": len(group.members),
                    "ids": [self.id(member.place) for member in group.members],
                },
            )
            for name, group in zip(self.names, self.groups, strict=True)
        ]

    def _drop(self) -> list[dict[str, Any]]:
        return [self.page.results[group.anchor].raw for group in self.groups]

    def _member(self, member: Member, name: Id, rank: int) -> dict[str, Any]:
        note: dict[str, Any] = {"group": name, "rank": rank, "relation": member.relation}
        note["match"] = round(member.match, 4)
        if member.containment is not None:
            note["containment"] = round(member.containment, 4)
        return self._noted(member.place, note)

    def _noted(self, place: int, note: dict[str, Any]) -> dict[str, Any]:
        return {**self.page.results[place].raw, NOTE_FIELD: note}
