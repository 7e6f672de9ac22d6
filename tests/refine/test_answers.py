"""Results as they are shown: four ways, ids of every kind, and an input that stays what it was."""

import copy
import json

import pytest

from neardup.errors import UsageError
from neardup.refine import Group, Member, group

SAME = "one and the same text in several places"


def results() -> list[dict]:
    return [
        {"id": "a", "text": SAME, "score": 9.5, "nested": {"kept": [1, 2]}},
        {"id": "b", "text": "something else altogether", "score": 9.0},
        {"id": "c", "text": SAME + "!", "score": 8.0},
        {"id": "d", "text": SAME.upper(), "extra": None},
    ]


def notes(shown: list[dict]) -> list[dict]:
    return [result["neardup"] for result in shown]


class TestViews:
    def test_groups(self):
        members = [Member(2, "identical", 1.0, 1.0), Member(3, "identical", 1.0, 1.0)]
        assert group(results()).groups == [Group(0, members), Group(1, [])]

    def test_the_same_answer_is_equal(self):
        response = {"hits": {"hits": [{"_id": r["id"], "_source": r} for r in results()]}}
        assert group(results()) == group(results())
        assert group(response) == group(copy.deepcopy(response))
        assert group(results()) != group(results()[::-1])
        assert group(results()) != group([*results()[:3], {"id": "d", "text": SAME}])

    def test_mark(self):
        shown = group(results()).shown("mark")
        assert [{k: v for k, v in r.items() if k != "neardup"} for r in shown] == results()
        same = {"group": "a", "relation": "identical", "match": 1.0, "containment": 1.0}
        assert notes(shown) == [
            {"group": "a", "rank": 1, "similar": 2},
            {"group": "b", "rank": 1, "similar": 0},
            {**same, "rank": 2},
            {**same, "rank": 3},
        ]

    def test_fold(self):
        first, second = group(results()).shown("fold")
        marked = group(results()).shown("mark")
        assert first == {**results()[0], "neardup": {"group": "a", "rank": 1, "similar": marked[2:]}}
        assert second == {**results()[1], "neardup": {"group": "b", "rank": 1, "similar": []}}

    def test_collapse(self):
        shown = group(results()).shown("collapse")
        assert notes(shown) == [
            {"group": "a", "rank": 1, "similar": 2, "ids": ["c", "d"]},
            {"group": "b", "rank": 1, "similar": 0, "ids": []},
        ]

    def test_drop(self):
        assert group(results()).shown("drop") == results()[:2]

    def test_another_view(self):
        with pytest.raises(UsageError, match="choose one of mark, fold, collapse, drop"):
            group(results()).shown("hide")

    @pytest.mark.parametrize("view", ["mark", "fold", "collapse", "drop"])
    def test_the_input_is_not_changed(self, view):
        given = results()
        before = copy.deepcopy(given)
        json.dumps(group(given).shown(view))
        assert given == before

    def test_a_note_of_an_earlier_grouping_is_replaced(self):
        once = group(results()).shown("mark")
        assert group(once).shown("mark") == once

    def test_counts(self):
        grouped = group(results())
        assert (len(grouped), grouped.folded, grouped.alone) == (2, 2, [])


class TestIds:
    def test_missing_ones_are_addresses_or_ranks(self):
        shown = group([{"url": "http://x/", "text": SAME}, {"text": SAME}, {"text": "other"}]).shown("collapse")
        assert notes(shown) == [
            {"group": "http://x/", "rank": 1, "similar": 1, "ids": [2]},
            {"group": 3, "rank": 1, "similar": 0, "ids": []},
        ]

    def test_repeated_ones_are_told_apart(self):
        shown = group([{"id": "a", "text": text} for text in ("one", "two", "one", "three")]).shown("mark")
        assert [note["group"] for note in notes(shown)] == ["a", "a#2", "a", "a#4"]

    def test_told_apart_from_those_that_look_so(self):
        ids = ("a#3", "a", "a", 4, None)
        shown = group([{"id": id_, "text": str(place)} for place, id_ in enumerate(ids)]).shown("mark")
        assert [note["group"] for note in notes(shown)] == ["a#3", "a", "a#3#3", 4, 5]

    def test_numbers_stay_numbers(self):
        shown = group([{"id": 0, "text": SAME}, {"id": 7, "text": SAME}]).shown("collapse")
        assert notes(shown) == [{"group": 0, "rank": 1, "similar": 1, "ids": [7]}]
