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
from neardup.sketches.base import Sketcher
from neardup.sketches.both import BySiteSettings, CombinedSettings
from neardup.sketches.kinds import SketchSettings, kind_of, settings_of, sketcher_for
from neardup.sketches.minhash import MinHashSettings
from neardup.text.settings import TextSettings
from neardup.verify.settings import Method, VerifySettings

FORMAT = 3
"""Raised whenever the same settings would give other sketches: it is part of every recipe's id."""

_PARTS = {
    "text": TextSettings,
    "shingles": ShingleSettings,
    "sketch": None,
    "verify": VerifySettings,
    "clusters": ClusterSettings,
}


@dataclass(frozen=True)
class Recipe:
    """How documents are compared, from text to groups."""

    text: TextSettings = TextSettings()
    shingles: ShingleSettings = ShingleSettings()
    sketch: SketchSettings = MinHashSettings()
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

    def __post_init__(self) -> None:
        if self.shingles.repeats and kind_of(self.sketch) not in ("minhash", "one-permutation", "odd", "bottom", "mod"):
            raise RecipeError(
                f"[shingles] repeats = true numbers the copies of a shingle, for sketches of sets of shingles; kind "
                f"{kind_of(self.sketch)!r} looks at words in another way. Leave it away."
            )
        weight = getattr(self.sketch, "links", 0.0)
        if (weight > 0.0) != self.text.links:
            raise RecipeError(
                f"[sketch] links = {weight}, [text] links = {str(self.text.links).lower()}: a filter over links needs "
                'kind = "bloom", a weight above 0, and the links of the pages; give all of it or none.'
            )
        if self.verify.method == "none" and not isinstance(self.sketch, MinHashSettings):
            raise RecipeError(
                f'verify = "none" takes every candidate for a pair, and those of kind {kind_of(self.sketch)!r} are '
                'only worth a look; choose "sketch" or "exact".'
            )

    @cached_property
    def sketcher(self) -> Sketcher:
        """What makes its sketches."""
        return sketcher_for(self.text, self.shingles, self.sketch)

    @property
    def similar(self) -> float:
        """The score of the sketches from which on two documents are similar, in their own unit."""
        own = self.sketcher.comparison.similar
        return self.verify.threshold if own is None else own

    @property
    def thresholded(self) -> bool:
        """Whether verify.threshold has a say: it is a resemblance (or containment), exact or estimated."""
        return self.verify.method == "exact" or (
            self.verify.method == "sketch" and self.sketcher.comparison.similar is None
        )

    @cached_property
    def id(self) -> str:
        """16 hexadecimal digits of the settings' SHA-256."""
        canonical = json.dumps({"format": FORMAT, **self.to_dict()}, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    @property
    def filter(self) -> Filter | None:
        """The mathematics of the features; None where the sketch has none."""
        if isinstance(self.sketch, MinHashSettings | CombinedSettings | BySiteSettings):
            return Filter(self.sketch.k, self.sketch.s, self.sketch.r)
        return None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, a table per step."""
        values = asdict(self)
        if not values["sketch"].get("apart", True):  # recipes without it keep the ids that they had before there was it
            del values["sketch"]["apart"]
        return {**values, "sketch": {"kind": kind_of(self.sketch), **values["sketch"]}}

    @classmethod
    def from_dict(cls, values: dict[str, Any], *, checked: bool = False) -> "Recipe":
        """The inverse of `to_dict`; what is not named keeps its default, what is unknown is refused.

        checked: it was a recipe before. Else a threshold that nothing is held against is refused, for somebody gave it.
        """
        unknown = set(values) - set(_PARTS)
        if unknown:
            raise RecipeError(f"a recipe has no part {sorted(unknown)[0]!r}; its parts are {', '.join(_PARTS)}.")
        parts = {}
        for name, settings in values.items():
            if not isinstance(settings, dict):
                raise RecipeError(f"{name} = {settings!r}: it is a table of settings, [{name}].")
            settings = dict(settings)
            kind: Any = _PARTS[name] or settings_of(settings.pop("kind", "minhash"))
            known = {f.name: f for f in fields(kind)}
            for key, value in settings.items():
                if key not in known:
                    raise RecipeError(f"[{name}] has no setting {key!r}; its settings are {', '.join(sorted(known))}.")
                settings[key] = _fitting(name, key, value, known[key].default)
            parts[name] = kind(**settings)
        made = cls(**parts)
        threshold = values.get("verify", {}).get("threshold", made.verify.threshold)
        if not checked and not made.thresholded and threshold != VerifySettings().threshold:
            raise RecipeError(
                f"[verify] threshold = {threshold}: nothing is measured against it, for this recipe judges by "
                f'{made.sketcher.comparison.measure} alone. Leave it away, or give method = "exact".'
            )
        return made

    def changed(self, **settings: Any) -> "Recipe":
        """The same recipe with other settings, named part_setting: changed(sketch_k=8, verify_threshold=0.9)."""
        values = self.to_dict()
        for name, value in settings.items():
            part, _, key = name.partition("_")
            values.setdefault(part, {})[key] = value
        return Recipe.from_dict(values, checked="verify_threshold" not in settings)

    def to_toml(self) -> str:
        """As a file that people can read and edit."""
        lines = [f"# neardup recipe {self.id}"]
        for name, settings in self.to_dict().items():
            if name == "verify" and not self.thresholded:
                settings = {"method": settings["method"]}
            lines += ["", f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str) -> "Recipe":
        """Read such a file."""
        try:
            values = tomllib.loads(text)
            values.pop("about", None)
            return cls.from_dict(values)
        except (tomllib.TOMLDecodeError, TypeError, RecursionError) as error:
            raise RecipeError(f"this is not a recipe in TOML: {error}") from error


def _fitting(part: str, key: str, value: Any, default: Any) -> Any:
    """A setting has the type of its default; a whole number does for a fraction."""
    wanted = type(default)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if key == "polynomial" and isinstance(value, int):
        return hex(value)
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise RecipeError(f"[{part}] {key} = {value!r}: it must be {_KINDS_OF_VALUES[wanted]}, as in {default!r}.")
    return value


_KINDS_OF_VALUES = {int: "a whole number", float: "a number", bool: "true or false", str: "a string in quotes"}
