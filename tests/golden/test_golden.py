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


def test_every_setting_is_in_the_id():
    default = neardup.Recipe().to_dict()
    ids = {neardup.Recipe().id}
    others = {
        "tokens": "chars", "extract": "main", "width": 6, "repeats": True, "k": 21, "s": 8, "seed": 2,
        "method": "sketch", "threshold": 0.81, "recall": 0.98, "keep": "longest", "crowd": 7,
    }  # fmt: skip
    settings = [(part, key) for part, values in default.items() for key in values]
    for part, key in settings:
        changed = {p: dict(v) for p, v in default.items()}
        changed[part][key] = "components" if (part, key) == ("clusters", "method") else others[key]
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
    ],
)
def test_a_recipe_that_cannot_work_is_refused(toml, message):
    with pytest.raises(neardup.RecipeError, match=message):
        neardup.Recipe.from_toml(toml)
