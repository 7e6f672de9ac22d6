"""Make golden.json: python -m tests.golden.make. Only when recipe.FORMAT is raised on purpose."""

import json
from itertools import pairwise
from pathlib import Path

import neardup

TEXTS = [
    "a rose is a rose is a rose",
    "My name is Inigo Montoya. You killed my father. Prepare to die.",
    "Straße, ΣΊΣΥΦΟΣ, İstanbul: naïve café \u2014 ﬁn de siècle",
    "自然言語処理では文書の重複を取り除くことが大切である。",
    "ภาษาไทยไม่มีการเว้นวรรคระหว่างคำ",
    "мороз и солнце; день чудесный, ещё ты дремлешь",
    "τῷ Ἅιδῃ, ΤΩ͂Ι ἍΙΔΗΙ: ᾳ ᾼ α\u0345\u0301 ก\u0345",
    "word",
    "line one\nline two\r\nline one\n",
]
RECIPES = {
    "default": neardup.Recipe(),
    "chosen for 0.8": neardup.Recipe.for_threshold(0.8),
    "chosen for 0.5": neardup.Recipe.for_threshold(0.5),
    "multiset of characters": neardup.Recipe.for_threshold(
        0.9, text=neardup.TextSettings("chars"), shingles=neardup.ShingleSettings(9, repeats=True)
    ),
    "lines": neardup.Recipe.for_threshold(
        0.7, text=neardup.TextSettings("lines"), shingles=neardup.ShingleSettings(1), seed=42
    ),
    **{f"recipe {name}": neardup.load_recipe(name) for name in neardup.recipe_names()},
}
FILE = Path(__file__).with_name("golden.json")


def vectors() -> dict:
    answer = {}
    for name, recipe in RECIPES.items():
        made = neardup.sketch(TEXTS, recipe)
        rows = made.words.tolist()
        if not made.words.shape[1]:
            values, offsets = made.ragged
            rows = [values[a:b].tolist() for a, b in pairwise(offsets)]
        answer[name] = {
            "id": recipe.id,
            "tokens": made.tokens.tolist(),
            "identities": [f"{a:016x}{b:016x}" for a, b in made.identities.tolist()],
            "first_words": [f"{row[0]:016x}" if row else None for row in rows],
            "last_words": [f"{row[-1]:016x}" if row else None for row in rows],
            "samples": [s[:8].tobytes().hex() for s in made.samples],
        }
    return answer


if __name__ == "__main__":
    FILE.write_text(json.dumps(vectors(), indent=1) + "\n")
