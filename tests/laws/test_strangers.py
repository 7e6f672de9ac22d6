"""Texts of somebody who knows the hashes: words with one hash are made, and no document is called identical for it."""

import pyarrow as pa
import pytest

import neardup
from neardup import Index
from neardup.recipes import load_recipe
from neardup.text.batches import text_batch

WORD = "free"
SAME_HASH = ("\u119f\u1598\u2792\U0001128a\u01bb", "\u0d75\U0001080b\ua61e\u0cb2\u0882")
"""Other words with its 64 bits under the seed that recipes have by default: 2^26 beginnings of two letters and 2^26
endings of two met in the middle, which took seven seconds."""


def hashes(recipe: str, words: list[str]) -> list[int]:
    found, _ = load_recipe(recipe).sketcher.fingerprints(text_batch(pa.array(words, pa.large_string())), of_tokens=True)
    return [int(h) for h in found.values]


def pair(other: str) -> list[str]:
    """A victim's text, and a stranger's that no reader takes for it."""
    words = [WORD if i % 4 == 0 else f"word{i}" for i in range(120)]
    return [" ".join(words), " ".join(other if word == WORD else word for word in words)]


@pytest.mark.parametrize("other", SAME_HASH, ids=ascii)
def test_words_with_one_hash_make_no_identical_documents(other):
    assert len(set(hashes("default", [WORD, other]))) == 1, "the attack works no more: make another"
    one, two = neardup.sketch(pair(other), "default").identities.tolist()
    assert one != two
    assert one[0] != two[0]
    assert one[1] != two[1]


def test_nor_is_anything_measured_by_them(tmp_path):
    """What is measured exactly is measured under a seed that nobody knows."""
    victim, stranger = pair(SAME_HASH[0])
    told = neardup.resemblance(victim, stranger)
    assert not told.identical
    assert told.resemblance == 0.0, "each shingle of five words has one of them"
    rows = [{"id": "stranger", "text": stranger}, {"id": "victim", "text": victim}]
    assert neardup.dedup(rows).kept["id"].to_pylist() == ["stranger", "victim"]
    with Index.open(tmp_path / "seen.ndx", "default", keep="text") as index:
        index.add("stranger", stranger)
        assert index.check(victim).status == "new"
        assert index.check(stranger).match.relation == "identical"


def test_rabins_fingerprints_are_linear_and_identities_are_not():
    """Of 70 words that differ from one in a letter each, some differences add up to nothing."""
    size = 70
    plain = "a" * size
    words = [plain[:i] + "b" + plain[i + 1 :] for i in range(size)]
    first, *found = hashes("alg-b", [plain, *words])
    rows = [(h ^ first, 1 << i) for i, h in enumerate(found)]
    basis: dict[int, tuple[int, int]] = {}
    for difference, letters in rows:
        while difference and (top := difference.bit_length()) in basis:
            difference, letters = difference ^ basis[top][0], letters ^ basis[top][1]
        if not difference:
            break
        basis[difference.bit_length()] = difference, letters
    other = "".join("b" if letters >> i & 1 else "a" for i in range(size))
    assert other != plain
    assert hashes("alg-b", [plain]) == hashes("alg-b", [other])
    one, two = neardup.sketch([plain, other], "alg-b").identities.tolist()
    assert one != two
