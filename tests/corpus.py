"""Small collections for the tests: clusters of edited copies, over the whole range of resemblance."""

import random

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
