"""All kinds of sketches by the name that recipes use."""

from typing import Any

from neardup.errors import RecipeError
from neardup.shingles import ShingleSettings
from neardup.sketches.base import Sketcher
from neardup.sketches.bins import OnePermutation, OnePermutationSettings
from neardup.sketches.bloom import Bloom, BloomSettings
from neardup.sketches.both import BySite, BySiteSettings, Combined, CombinedSettings
from neardup.sketches.lists import Lists, ListSettings
from neardup.sketches.minhash import MinHash, MinHashSettings
from neardup.sketches.odd import Odd, OddSettings
from neardup.sketches.samples import Bottom, BottomSettings, Mod, ModSettings
from neardup.sketches.simhash import SimHash, SimHashSettings
from neardup.text.settings import TextSettings

SketchSettings = (
    MinHashSettings
    | OnePermutationSettings
    | OddSettings
    | SimHashSettings
    | CombinedSettings
    | BySiteSettings
    | ListSettings
    | BottomSettings
    | ModSettings
    | BloomSettings
)

_KINDS: dict[str, tuple[type[Any], type[Any]]] = {
    "minhash": (MinHashSettings, MinHash),
    "one-permutation": (OnePermutationSettings, OnePermutation),
    "odd": (OddSettings, Odd),
    "simhash": (SimHashSettings, SimHash),
    "combined": (CombinedSettings, Combined),
    "by-site": (BySiteSettings, BySite),
    "lists": (ListSettings, Lists),
    "bottom": (BottomSettings, Bottom),
    "mod": (ModSettings, Mod),
    "bloom": (BloomSettings, Bloom),
}


def kind_of(settings: SketchSettings) -> str:
    """The name of a sketch, by its settings."""
    return next(name for name, (known, _) in _KINDS.items() if type(settings) is known)


def settings_of(kind: str) -> type[Any]:
    """The class of settings of a kind."""
    if kind not in _KINDS:
        raise RecipeError(f"[sketch] kind = {kind!r}: choose {', '.join(_KINDS)}.")
    return _KINDS[kind][0]


def sketcher_for(text: TextSettings, shingles: ShingleSettings, settings: SketchSettings) -> Sketcher:
    """What makes such sketches."""
    made: Sketcher = _KINDS[kind_of(settings)][1](text, shingles, settings)
    return made
