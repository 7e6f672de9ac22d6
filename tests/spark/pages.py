"""A small collection for both engines: copies, edited copies, templates, chains, empty and short pages."""

import random

import pyarrow as pa


def some_pages(seed: int = 7) -> pa.Table:
    """About 150 pages with URLs, and columns for keep policies."""
    rng = random.Random(seed)
    words = [f"word{n}" for n in range(400)]
    texts: list[str] = []
    for _ in range(20):
        original = [rng.choice(words) for _ in range(rng.randint(40, 160))]
        texts.append(" ".join(original))
        for _ in range(rng.randint(0, 4)):
            edited = list(original)
            for _ in range(rng.randint(0, 3)):
                edited[rng.randrange(len(edited))] = rng.choice(words)
            texts.append(" ".join(edited).upper() if rng.random() < 0.2 else " ".join(edited))
    template = [rng.choice(words) for _ in range(80)]
    for n in range(25):
        texts.append(" ".join([*template[: 70 - n], *(rng.choice(words) for _ in range(10)), *template[70 - n :]]))
    drifting = [rng.choice(words) for _ in range(100)]
    for _ in range(25):
        drifting = drifting[3:] + [rng.choice(words) for _ in range(3)]
        texts.append(" ".join(drifting))
    texts += [
        "",
        "...",
        "two words",
        "Two  words!",
        "другой язык, и ещё одна страница",
        "另一种语言的网页 另一种语言的网页",
    ]
    texts += rng.choices(texts[:60], k=15)
    rng.shuffle(texts)
    n = len(texts)
    return pa.table(
        {
            "url": [f"http://{'abc'[i % 3]}.example.org/{i}" for i in range(n)],
            "text": texts,
            "score": [rng.choice([None, float("nan"), -0.0, 0.0, 1.5, 2.0, 1e300]) for _ in range(n)],
            "rank": [rng.choice([None, 1, 2, 3]) for _ in range(n)],
            "name": [rng.choice([None, "a", "b", "ä", "aa"]) for _ in range(n)],
            "source": [rng.choice(["wiki", "news", "blog", None]) for _ in range(n)],
        }
    )
