"""A recipe id names its sketches for good: the same id gives the same bytes on every machine and version."""

import json

import pytest

import neardup
from tests.golden.make import FILE, RECIPES, vectors


def test_sketches_are_those_of_the_recipe_id():
    assert vectors() == json.loads(FILE.read_text())


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_toml_and_back(recipe):
    again = neardup.Recipe.from_toml(recipe.to_toml())
    assert again == recipe
    assert again.id == recipe.id


OTHERS = {
    "tokens": "chars", "extract": "main", "width": 6, "repeats": True, "seed": 2, "threshold": 0.81, "recall": 0.98,
    "keep": "longest", "crowd": 7, "k": 7, "s": 8, "r": 3, "bits": 768, "similar": 300, "pieces": 24, "of": "shingles",
    "weight": "log", "same": 301, "different": 302, "sites": "public-suffix", "lists": 5, "repetitions": 2,
    "ordered": False, "m": 50, "n": 50, "measure": "containment", "chunk": 512, "longest": 70000, "window": 32,
    "grow": False, "hashes": 4, "per_chunk": 9, "polynomial": "0x1000000000000001b", "needed": 2,
    "same_site": 0.9, "sampled": 500, "odd": 13, "bins": 772, "rare": 50, "drops": 0.02, "measured": 7,
}  # fmt: skip
EITHER = {
    ("shingles", "fingerprint"): {"mixed", "rabin"},
    ("sketch", "samples"): {True, False},
    ("verify", "method"): {"exact", "sketch"},
    ("clusters", "method"): {"star", "components"},
}
SPECIAL = {
    ("web", "extract"): "all",
    ("stream", "extract"): "all",
    **{(name, "bits"): 4 for name in ("default", "web", "one-pass", "resemblance", "altavista", "alg-b")},
    ("bloom", "similar"): 0.6,
    ("bloom", "bits"): 4096,
    ("resemblance", "r"): 2,
}
NEEDS = {
    "polynomial": ("shingles", {"fingerprint": "rabin"}),
    "needed": ("sketch", {"repetitions": 2}),
    "tokens": ("text", {"extract": "all"}),
    "measure": ("sketch", {"grow": False}),
    "threshold": ("verify", {"method": "exact"}),
    "s": ("sketch", {"samples": True}),
    "sampled": ("sketch", {"samples": True}),
    "bits": ("sketch", {"samples": True}),
    "samples": ("sketch", {"sampled": 0, "bits": 8}),
}
"""What must change along with a setting."""


@pytest.mark.parametrize("name", neardup.recipe_names())
def test_every_setting_is_in_the_id(name):
    recipe = neardup.load_recipe(name)
    default = recipe.to_dict()
    ids = {recipe.id}
    of_sets = default["sketch"]["kind"] in ("minhash", "one-permutation", "odd", "bottom", "mod")
    left = {"kind", "links"} if of_sets else {"kind", "links", "repeats"}
    left |= {"samples", "sampled", "bits"} if default["sketch"]["kind"] == "odd" else set()  # it has none
    settings = [(part, key) for part, values in default.items() for key in values if key not in left]
    for part, key in settings:
        changed = {p: dict(v) for p, v in default.items()}
        without_samples = default["sketch"]["kind"] == "odd" and "samples" in NEEDS.get(key, ("", {}))[1]
        if key in NEEDS and not without_samples and set(NEEDS[key][1]) <= set(default[NEEDS[key][0]]):
            also, values = NEEDS[key]
            changed[also].update(values)
        if key == "same_site":
            changed["verify"]["method"] = "exact"
        if key == "method" and part == "verify":
            changed["verify"]["same_site"] = 0.0
        if (part, key) in EITHER:
            [other] = EITHER[part, key] - {default[part][key]}
        else:
            other = SPECIAL.get((name, key), OTHERS[key])
        assert default[part][key] != other
        changed[part][key] = other
        ids.add(neardup.Recipe.from_dict(changed).id)
    assert len(ids) == len(settings) + 1


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[shingle]\nwidth = 3", "no part 'shingle'"),
        ("[shingles]\nwith = 3", "no setting 'with'"),
        ("[shingles]\nwidth = 0", "width = 0"),
        ("[sketch]\nk = 100\ns = 100", "100 × 100 = 10000"),
        ("[clusters]\nkeep = 'best'", "'best' is no rule"),
        ("[clusters]\nkeep = 'first,longest'", "nothing ties after 'first'"),
        ("[verify]\nthreshold = 2.0", "threshold = 2.0"),
        ("not toml", "not a recipe in TOML"),
        ("[sketch]\nk = 'six'", "k = 'six': it must be a whole number"),
        ("[sketch]\nk = true", "k = True: it must be a whole number"),
        ("[sketch]\nkind = 'minhsh'", "kind = 'minhsh': choose minhash"),
        ("[sketch]\nk = 6\nr = 7", "r = 7 of k = 6"),
        ("[sketch]\nk = 6\ns = 4\nsampled = 23", "sampled = 23 .* 6 × 4 = 24 .* give 24 to 4096"),
        ("[sketch]\nsampled = 4097", "sampled = 4097 .* give 140 to 4096"),
        ("[sketch]\nsampled = -1", "sampled = -1"),
        ("[sketch]\nsamples = false\nsampled = 200", "sampled = 200, bits = 8 with samples = false"),
        ("[sketch]\nsamples = false\nbits = 4", "sampled = 0, bits = 4 with samples = false"),
        ("[sketch]\nbits = 5", "bits = 5: 8 or 4"),
        ("[sketch]\nk = 100\ns = 1\nr = 5", "75,287,520 subsets"),
        ("[shingles]\nfingerprint = 'rabin'\npolynomial = '0x10000000000000001'", "0x10000000000000001"),
        ("[shingles]\nfingerprint = 'rabin'\npolynomial = '0x11b'", "degree is 8"),
        ("[shingles]\nfingerprint = 'rabin'\npolynomial = 'x'", "hexadecimal"),
        ("[shingles]\npolynomial = '0x1000000000000001b'", "choose rabin"),
        ("[sketch]\nkind = 'odd'\nsamples = true", "kind odd estimates from its odd sketch"),
        ("[sketch]\nkind = 'odd'\nodd = 0", "odd = 0: an odd sketch has 1 to 256 words"),
        ("[sketch]\nkind = 'odd'\nbins = 1022", "bins = 1022: a multiple of 4"),
        ("[sketch]\nkind = 'odd'\nrare = 47", "rare = 47: an even number"),
        ("[sketch]\nkind = 'odd'\ndrops = 0.0", "drops = 0.0: a share"),
        ("[sketch]\nkind = 'simhash'\npieces = 7", "pieces = 7 of bits = 384.*choose 6, 8, 12, 16"),
        ("[sketch]\nkind = 'simhash'\nsimilar = 385", "similar = 385 of bits = 384"),
        ("[sketch]\nkind = 'simhash'\nbits = 0", "bits = 0"),
        ("[sketch]\nkind = 'lists'\nneeded = 2", "needed = 2 of repetitions = 1"),
        ("[sketch]\nkind = 'bottom'\nm = 0", "m = 0"),
        ("[sketch]\nkind = 'mod'\nn = 0", "n = 0"),
        ("[sketch]\nkind = 'bloom'\nchunk = 300", "chunk = 300: a power of two"),
        ("[sketch]\nkind = 'bloom'\nbits = 2000", "bits = 2000: a power of two"),
        ("[sketch]\nkind = 'bloom'\nlinks = 0.3", "links = 0.3"),
        ("[sketch]\nkind = 'bloom'\nmeasure = 'containment'", "needs filters of one size"),
        ("[sketch]\nkind = 'simhash'\n[verify]\nmethod = 'none'", "only worth a look"),
        ("[text]\nlinks = true", "give all of it or none"),
        ("[shingles]\nrepeats = true\n[sketch]\nkind = 'lists'", "looks at words in another way"),
    ],
)
def test_a_recipe_that_cannot_work_is_refused(toml, message):
    with pytest.raises(neardup.RecipeError, match=message):
        neardup.Recipe.from_toml(toml)
