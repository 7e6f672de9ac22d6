"""One frozen object that says how: each step's own settings, composed. It is written into every artefact.

recipe = Recipe.for_threshold(0.8, recall=0.99)
recipe.id                      # names the recipe; artefacts of two ids are never mixed
Recipe.from_toml(recipe.to_toml()) == recipe
"""

import hashlib
import json
import tomllib
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

from neardup.analysis.filters import PERMUTATIONS, Filter, choose_filter
from neardup.clusters.settings import ClusterSettings
from neardup.errors import RecipeError
from neardup.shingles import ShingleSettings
from neardup.sketches.minhash import MinHashSettings
from neardup.text.settings import TextSettings
from neardup.verify.settings import Method, VerifySettings

FORMAT = 1
"""Raised whenever the same settings would give other sketches: it is part of every recipe's id."""

_PARTS = {
    "text": TextSettings,
    "shingles": ShingleSettings,
    "sketch": MinHashSettings,
    "verify": VerifySettings,
    "clusters": ClusterSettings,
}


@dataclass(frozen=True)
class Recipe:
    """How documents are compared, from text to groups."""

    text: TextSettings = TextSettings()
    shingles: ShingleSettings = ShingleSettings()
    sketch: MinHashSettings = MinHashSettings()
    verify: VerifySettings = VerifySettings()
    clusters: ClusterSettings = ClusterSettings()

    @classmethod
    def for_threshold(
        cls,
        threshold: float = 0.8,
        *,
        recall: float = 0.99,
        permutations: int = PERMUTATIONS,
        seed: int = 1,
        text: TextSettings | None = None,
        shingles: ShingleSettings | None = None,
        verify: Method = "exact",
        clusters: ClusterSettings | None = None,
    ) -> "Recipe":
        """The recipe whose sketch finds pairs at the threshold with this recall."""
        chosen = choose_filter(threshold, recall, permutations)
        return cls(
            text=text or TextSettings(),
            shingles=shingles or ShingleSettings(),
            sketch=MinHashSettings(chosen.k, chosen.s, seed),
            verify=VerifySettings(verify, threshold, recall),
            clusters=clusters or ClusterSettings(),
        )

    @cached_property
    def id(self) -> str:
        """16 hexadecimal digits of the settings' SHA-256."""
        canonical = json.dumps({"format": FORMAT, **asdict(self)}, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    @property
    def filter(self) -> Filter:
        """The mathematics of the sketch."""
        return Filter(self.sketch.k, self.sketch.s)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, a table per step."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Recipe":
        """The inverse of `to_dict`; what is not named keeps its default, what is unknown is refused."""
        unknown = set(values) - set(_PARTS)
        if unknown:
            raise RecipeError(f"a recipe has no part {sorted(unknown)[0]!r}; its parts are {', '.join(_PARTS)}.")
        parts = {}
        for name, settings in values.items():
            kind: Any = _PARTS[name]
            known = {f.name for f in fields(kind)}
            if not isinstance(settings, dict) or set(settings) - known:
                wrong = sorted(set(settings) - known)[0] if isinstance(settings, dict) else settings
                raise RecipeError(f"[{name}] has no setting {wrong!r}; its settings are {', '.join(sorted(known))}.")
            parts[name] = kind(**settings)
        return cls(**parts)

    def to_toml(self) -> str:
        """As a file that people can read and edit."""
        lines = [f"# neardup recipe {self.id}"]
        for name, settings in self.to_dict().items():
            lines += ["", f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str) -> "Recipe":
        """Read such a file."""
        try:
            return cls.from_dict(tomllib.loads(text))
        except (tomllib.TOMLDecodeError, TypeError) as error:
            raise RecipeError(f"this is not a recipe in TOML: {error}") from error
