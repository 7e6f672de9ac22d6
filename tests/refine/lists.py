"""Ranked lists for the tests: texts, edited copies, longer and shorter ones, over the whole range of match."""

import random

from tests.corpus import WORDS


def words(rng: random.Random, n: int) -> list[str]:
    return rng.choices(WORDS, k=n)


def edited(rng: random.Random, original: list[str], share: float) -> list[str]:
    """Some words replaced, a run of them at a time."""
    made = list(original)
    for _ in range(round(len(made) * share / 4)):
        at = rng.randrange(len(made))
        made[at : at + 4] = rng.choices(WORDS, k=4)
    return made


def ranked(seed: int, n: int, *, length: int = 250) -> list[str]:
    """Copies, near copies, parts, longer ones and others, in a random order."""
    rng = random.Random(seed)
    made: list[list[str]] = []
    while len(made) < n:
        original = words(rng, rng.randint(2, length))
        relatives = [
            original,
            [word.upper() for word in original],
            edited(rng, original, rng.choice([0.01, 0.05, 0.1, 0.2, 0.4])),
            original[: len(original) * rng.randint(1, 9) // 10],
            original + words(rng, rng.randint(1, 2 * length)),
        ]
        made += rng.sample(relatives, rng.randint(1, len(relatives)))
    rng.shuffle(made)
    return [" ".join(text) for text in made[:n]]
