"""An index that keeps where texts are measures exactly, for as long as they are there."""

import random

import pytest

import neardup
from neardup import Index


@pytest.fixture
def pair():
    """A text, and the same with some words changed: resemblance above 0.8."""
    rng = random.Random(5)
    words = [f"word{i}" for i in range(400)]
    text = [rng.choice(words) for _ in range(400)]
    other = [*text]
    for place in (50, 150, 250, 350):
        other[place] = "changed"
    return " ".join(text), " ".join(other)


@pytest.fixture
def index(tmp_path):
    with Index.open(tmp_path / "seen.ndx", "default", keep="reference") as opened:
        yield opened


def test_a_pair_is_measured_by_the_file(tmp_path, index, pair):
    text, other = pair
    file = tmp_path / "page.txt"
    file.write_text(text)
    assert index.check_and_add("page", text, reference=str(file)).new
    match = index.check(other).match
    assert match.measured == "exact"
    assert match.resemblance == pytest.approx(neardup.resemblance(other, text).resemblance)
    assert index.similar(other) == [match]
    assert index.get("page").reference == str(file)
    assert index.get("page").text is None


def test_a_part_of_a_file(tmp_path, index, pair):
    text, other = pair
    file = tmp_path / "many#pages.txt"
    file.write_bytes(b"before " + text.encode() + b" behind")
    index.add("page", text, reference=f"{file}#7-{7 + len(text)}")
    assert index.check(other).match.measured == "exact"


def test_a_page_is_extracted_again(tmp_path, index, pair):
    text, other = pair
    page = f"<html><body><p>{text}</p></body></html>"
    (tmp_path / "page.html").write_text(page)
    index.add("page", html=page, reference=str(tmp_path / "page.html"))
    assert index.check(other).match.measured == "exact"


@pytest.mark.parametrize("spoil", ["changed", "gone", "folder"])
def test_a_text_that_is_not_there_any_more_is_judged_by_its_sketch(tmp_path, index, pair, spoil):
    text, other = pair
    file = tmp_path / "page.txt"
    file.write_text(text)
    index.add("page", text, reference=str(file))
    if spoil == "changed":
        file.write_text(text + " and more of it")
    else:
        file.unlink()
        if spoil == "folder":
            file.mkdir()
    [match] = index.similar(other)
    assert match == index.check(other).match
    assert match.measured == "estimate"
    assert match.error > 0
    assert match.resemblance == pytest.approx(neardup.resemblance(other, text).resemblance, abs=5 * match.error)
    assert index.check(text).match.relation == "identical"


def test_a_reference_is_needed(index, pair):
    with pytest.raises(neardup.UsageError, match="no reference is given"):
        index.add("page", pair[0])
    assert len(index) == 0
