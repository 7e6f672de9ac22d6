"""Templates, against the same rule applied to tuples of words."""

import numpy as np
import pytest

from neardup.report import passages
from neardup.report.passages import find_passages
from tests.corpus import WORDS
from tests.naive import report as naive


def corpus(n: int, seed: int) -> list[str]:
    """Texts of own words around templates: one on most pages, one on some, one inside another."""
    random = np.random.default_rng(seed)
    header, footer, inner = (" ".join(f"{name}{i}" for i in range(k)) for name, k in (("h", 25), ("f", 12), ("x", 10)))
    texts = []
    for i in range(n):
        own = [f"{word}{i}n{j}" for j, word in enumerate(random.choice(WORDS, 30))]
        parts = [header if random.random() < 0.7 else "", *own[:15]]
        if random.random() < 0.2:
            parts.append(inner)
        parts += [*own[15:], footer if i % 4 else "", f"f3 f4 f5 f6 f7 f8 f9 f10 z{i}" if i % 3 == 0 else ""]
        texts.append(" ".join(parts))
    return texts


@pytest.mark.parametrize("seed", range(4))
def test_passages_are_those_of_the_definition(seed, monkeypatch):
    monkeypatch.setattr(passages, "TOP", 1000)
    texts = corpus(150, seed)
    groups = np.arange(150) // 2
    found = find_passages(dict(enumerate(texts)), groups)
    expected = naive.passages(texts, groups.tolist())
    assert {(tuple(naive.words(p.text)), p.documents) for p in found.passages} == expected
    assert len(expected) >= 3
    room = [p.words * p.documents for p in found.passages]
    assert room == sorted(room, reverse=True)
    for passage in found.passages:
        assert passage.words == len(naive.words(passage.text))
        assert passage.share[0] == passage.documents / 150
        assert passage.share[1] <= passage.share[0] <= passage.share[2]
        assert len({groups[n] for n in passage.examples}) == len(passage.examples) <= 3
        rarest = naive.words(passage.text)
        assert all(any(w in naive.words(texts[n]) for w in rarest) for n in passage.examples)


def test_coverage(monkeypatch):
    texts = corpus(60, 9)
    found = find_passages(dict(enumerate(texts)), np.arange(60))
    frequent = [w for w, _ in naive.passages(texts, list(range(60)))]
    shingles = {tuple(w[i : i + 8]) for w in frequent for i in range(len(w) - 7)}
    covered, mostly, total = 0, 0, 0
    for text in texts:
        words = naive.words(text)
        inside = set()
        for i in range(len(words) - 7):
            if tuple(words[i : i + 8]) in shingles:
                inside |= set(range(i, i + 8))
        covered, total = covered + len(inside), total + len(words)
        mostly += 2 * len(inside) > len(words)
    assert found.covered == pytest.approx(covered / total)
    assert found.mostly == pytest.approx(mostly / 60)


def test_copies_of_one_document_are_no_template():
    same = "one document of more than eight words that was copied many times"
    texts = dict.fromkeys(range(50), same)
    assert find_passages(texts, np.zeros(50, np.int64)).passages == []
    assert len(find_passages(texts, np.arange(50)).passages) == 1


def test_a_passage_that_repeats_itself_is_found_once():
    texts = dict.fromkeys(range(20), "a b c d e f g h i j " * 6)
    [found] = find_passages(texts, np.arange(20)).passages
    assert found.documents == 20
    assert find_passages(texts, np.arange(20)).covered == 1.0


@pytest.mark.parametrize(
    "texts", [{}, {0: ""}, {0: "short", 1: "text"}, {5: "x" * 200_000}, {1: "\ud800 \x00 </script>"}]
)
def test_texts_without_passages(texts):
    found = find_passages(texts, np.arange(len(texts)))
    assert found.passages == []
    assert found.mostly == 0.0


def test_unspaced_scripts_have_words_too():
    texts = {i: "本站所有内容均受版权保护未经许可不得转载" + chr(0x4E00 + 7 * i) * 3 + "文章" for i in range(30)}
    [found] = find_passages(texts, np.arange(30)).passages
    assert found.text == "本站所有内容均受版权保护未经许可不得转载"
