"""A collection in which one feature is shared by a large part of all documents: pages of one template, each with so
much text of its own that most of them are not near-duplicates of each other.
"""

import random

import pyarrow as pa


def crowded(documents: int, share: float, seed: int = 3) -> pa.Table:
    """Of a template are `share` of the documents; a tenth of the others are edited copies of another one."""
    rng = random.Random(seed)
    words = [f"w{n}" for n in range(5000)]
    template = rng.choices(words, k=48)
    texts: list[str] = []
    while len(texts) < documents:
        if rng.random() < share:
            own = rng.randint(4, 12)
            texts.append(" ".join([*template, *rng.choices(words, k=own)]))
        elif texts and rng.random() < 0.1:
            copied = rng.choice(texts).split()
            copied[rng.randrange(len(copied))] = rng.choice(words)
            texts.append(" ".join(copied))
        else:
            texts.append(" ".join(rng.choices(words, k=rng.randint(40, 60))))
    return pa.table({"id": [f"d{n}" for n in range(documents)], "text": texts})
