"""Small collections for the tests: clusters of edited copies, over the whole range of resemblance."""

import random
from functools import cache

WORDS = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in ("n", "r", "l", "s", "th", "nd", "m", "x")]


def documents(n: int, *, seed: int = 1, length: int = 60, clusters: float = 0.6) -> list[dict]:
    """`clusters` of the documents are copies of earlier ones with a random share of their words changed."""
    rng = random.Random(seed)
    made: list[list[str]] = []
    for _ in range(n):
        if made and rng.random() < clusters:
            words = list(rng.choice(made))
            for _change in range(int(len(words) * rng.choice([0, 0, 0.01, 0.02, 0.05, 0.1, 0.3]))):
                at = rng.randrange(len(words))
                words[at : at + rng.randint(0, 1)] = [rng.choice(WORDS)]
            made.append(words)
        else:
            made.append(rng.choices(WORDS, k=rng.randint(3, 2 * length)))
    return [
        {"id": f"d{i:04d}", "text": " ".join(words), "score": rng.randint(0, 5), "source": rng.choice(["a", "b", "c"])}
        for i, words in enumerate(made)
    ]


JOINTS = [" ", ". ", ", ", " - "]
"""Texts that are joined otherwise have the same tokens, and other bytes: one identity set, several Bloom filters."""


@cache
def joined_text(family: int, edits: int, joint: str) -> str:
    """200 words of a family, so many of them changed, with the joint between them."""
    words = random.Random(family).choices(WORDS, k=200)
    for at in random.Random(family + edits).sample(range(200), edits):
        words[at] = f"new{at}"
    return joint.join(words)


def copies_on_hosts(n: int, seed: int) -> list[dict]:
    """Copies of a few texts and edited ones, joined by several joints, on several hosts, with values that tie."""
    rng = random.Random(seed)
    made = []
    for number in range(n):
        text = joined_text(rng.randint(1, 4), rng.choice([0, 0, 0, 3, 8, 15]), rng.choice(JOINTS))
        host = rng.choice(["one.org", "two.org", "three.org"])
        made.append({"id": f"d{number:03}", "text": text, "url": f"http://{host}/{rng.randint(1, 9)}"})
        made[-1] |= {"score": rng.randint(0, 2), "source": rng.choice("abc")}
    return made
