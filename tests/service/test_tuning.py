"""What /tune says: the numbers of `neardup tune`, recipes that `dedup` takes, any address that somebody types."""

import html
import json
import re

import pytest
from click.testing import CliRunner

import neardup
from neardup.cli.app import cli
from neardup.errors import RecipeError
from neardup.recipe import Recipe
from neardup.recipes import load_recipe, published
from neardup.service.pages import tune
from neardup.service.pages.asking import Asked, Site
from neardup.service.pages.curves import small
from neardup.service.pages.tuning import IDENTITY, bloom_answer, filter_answer, wish_answer
from tests.corpus import documents

FILTERS = ["default", "web", "stream", "one-pass", "resemblance", "altavista", "alg-b", "combined", "by-site"]


def asked(**query: object) -> str:
    shown = tune.show(Site(), Asked({name.rstrip("_"): str(value) for name, value in query.items()}))
    assert shown.status == 200
    return shown.content.decode()


def said(page: str) -> str:
    return html.unescape(re.search(r'id="said"[^>]*>([^<]*)<', page)[1])


def recipe_of(page: str) -> Recipe:
    return Recipe.from_toml(html.unescape(re.search(r'<pre id="recipe"[^>]*>([^<]*)</pre>', page)[1]))


def cells_of(page: str) -> dict[float, tuple[str, ...]]:
    """The first table, as it is written."""
    table = page[page.index("<table") : page.index("</table>")]
    rows = re.findall(r'scope="row">([^<]*)</th>(.*?)</tr>', table)
    return {float(x): tuple(re.findall(r'number">([^<]*)<', cells)) for x, cells in rows}


def rows_of(page: str) -> dict[float, tuple[float, ...]]:
    """The same, as numbers."""
    return {x: tuple(map(number, cells)) for x, cells in cells_of(page).items()}


def number(text: str) -> float:
    digits, _, power = text.partition("·10")
    return float(digits) * 10.0 ** int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0)


def command(*options: str) -> dict:
    ended = CliRunner().invoke(cli, ["tune", *options, "--json"])
    assert ended.exit_code == 0, ended.output
    return json.loads(ended.stdout)


@pytest.mark.parametrize(("k", "s", "r"), [(20, 7, 1), (6, 14, 2), (14, 7, 3), (1, 1, 1), (100, 1, 1)])
def test_a_filter_is_what_the_command_says(k, s, r):
    page = asked(k=k, s=s, r=r, threshold=0.8)
    told = command("-k", str(k), "-s", str(s), "-r", str(r), "-t", "0.8")
    assert f"half of those at {told['half_point']:.3f}" in said(page)
    rows = cells_of(page)
    for row in told["probabilities"]:
        if row["resemblance"] in rows:
            assert rows[row["resemblance"]] == (small(row["found"]), small(row["missed"]))
    assert len(set(rows) & {row["resemblance"] for row in told["probabilities"]}) == 8


@pytest.mark.parametrize(
    ("threshold", "recall", "permutations", "r"),
    [(0.8, 0.99, 144, 1), (0.5, 0.9, 64, 1), (0.9, 0.999, 160, 3), (0.95, 0.5, 100, 2)],
)
def test_a_wish_is_chosen_as_the_command_chooses(threshold, recall, permutations, r):
    page = asked(form="wish", threshold=threshold, recall=recall, permutations=permutations, r=r)
    options = ("-t", threshold, "--recall", recall, "--permutations", permutations, "-r", r)
    told = command(*map(str, options))
    assert said(page).startswith(f"P[{told['k']},{told['s']},{told['r']}] finds ")
    made = recipe_of(page)
    assert (made.sketch.k, made.sketch.s, made.sketch.r) == (told["k"], told["s"], told["r"])
    assert (made.verify.threshold, made.verify.recall) == (threshold, recall)


def test_a_bloom_filter_is_what_the_command_says():
    page = asked(form="bloom")
    told = command("--bloom-error", "0.03", "--document-bytes", "65536", "--chunk", "256")
    assert (told["bits"], told["hashes"]) == (2048, 6)
    assert "Bloom filter of 2,048 bits, 6 hashes" in page
    assert rows_of(page) == {
        row["common"]: pytest.approx((row["both"], row["inferred"]), abs=5e-5) for row in told["matches"]
    }
    made = recipe_of(page).sketch
    assert (made.bits, made.hashes, made.chunk, made.per_chunk) == (2048, 6, 256, 8)


def test_the_command_that_is_named_says_the_same():
    for query in ({}, {"form": "wish", "r": 2}, {"form": "bloom", "chunk": 512}):
        page = asked(**query)
        words = html.unescape(re.search(r"The same in a terminal: <code>neardup tune ([^<]*)</code>", page)[1]).split()
        told = command(*words)
        if told["kind"] == "bloom":
            assert f"Bloom filter of {told['bits']:,} bits, {told['hashes']} hashes" in page
        else:
            assert said(page).startswith(f"P[{told['k']},{told['s']},{told['r']}] ")
    assert "in a terminal" not in asked(form="bloom", hashes=3)  # the command would choose another number


@pytest.mark.parametrize(
    "query",
    [
        {"k": 20, "s": 7, "r": 1, "threshold": 0.8},
        {"k": 20, "s": 7, "r": 1, "threshold": 0.9},
        {"k": 12, "s": 5, "r": 1, "threshold": 0.7},
        {"k": 14, "s": 6, "r": 2, "threshold": 0.85},
        {"k": 100, "s": 1, "r": 1, "threshold": 1},
        *({"from_": name} for name in FILTERS),
        {"k": 8, "s": 4, "r": 2, "from_": "altavista"},
        {"k": 10, "s": 3, "from_": "stream", "threshold": 0.75},
        {"form": "wish"},
        {"form": "wish", "threshold": 0.6, "recall": 0.95, "r": 2},
        {"form": "wish", "threshold": 0.913, "recall": 0.999, "permutations": 300},
        {"form": "bloom"},
        {"form": "bloom", "chunk": 512},
        {"form": "bloom", "chunk": 4096, "document": 1048576},
    ],
    ids=str,
)
def test_the_command_that_is_named_writes_the_recipe_of_the_page(query, tmp_path):
    """Artefacts of two ids refuse to mix: so both have one."""
    page = asked(**query)
    words = html.unescape(re.search(r"The same in a terminal: <code>neardup tune ([^<]*)</code>", page)[1]).split()
    command(*words, "--recipe-out", str(tmp_path / "made.toml"))
    assert load_recipe(tmp_path / "made.toml").id == recipe_of(page).id


def test_a_command_that_would_make_another_recipe_is_not_named():
    for query in ({"hashes": 3}, {"similar": 0.9}):
        assert "in a terminal" not in asked(form="bloom", **query)


@pytest.mark.parametrize("name", [*FILTERS, "bloom"])
def test_a_published_recipe_is_a_start_and_comes_back_as_it_is(name):
    links = re.findall(r'<li><a href="/tune\?([^"]*)" title="[^"]*"[^>]*>([^<]*)</a>', asked())
    assert [words for _, words in links] == [*FILTERS, "bloom"]
    query = {words: html.unescape(found) for found, words in links}[name]
    page = asked(**{key + "_" * (key == "from"): value for key, value in (f.split("=") for f in query.split("&"))})
    assert recipe_of(page).id == published(name).recipe.id
    assert re.findall(r'aria-current="true">([^<]*)</a></li>', page)[-1] == name
    assert 'aria-current="true">altavista' not in asked(k=7, s=14, r=2, from_="altavista")


@pytest.mark.parametrize(
    "query",
    [
        {"k": 12, "s": 5, "r": 1, "threshold": 0.7},
        {"k": 8, "s": 4, "r": 2, "from_": "altavista"},
        {"k": 10, "s": 3, "from_": "stream", "threshold": 0.75},
        {"k": 30, "s": 2, "from_": "resemblance"},
        {"form": "wish", "threshold": 0.6, "recall": 0.95},
        {"form": "bloom", "bits": 16, "hashes": 4, "chunk": 64, "document": 8192, "similar": 0.8},
    ],
)
def test_recipes_run(query, tmp_path):
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents(60, seed=3)))
    (tmp_path / "recipe.toml").write_text(recipe_of(asked(**query)).to_toml())
    result = neardup.dedup(str(tmp_path / "pages.jsonl"), recipe=tmp_path / "recipe.toml")
    assert result.counts["removed"] > 0
    if "threshold" in query:
        assert result.recipe.verify.threshold == query["threshold"]
    else:
        assert result.recipe.sketch.k == query["k"] if "k" in query else result.recipe.sketch.hashes == query["hashes"]


def test_costs_are_what_sketches_have():
    for k, s, base in ((20, 7, "default"), (6, 14, "altavista"), (6, 4, "stream"), (6, 14, "by-site")):
        answer = filter_answer(published(base).recipe.filter, 0.8, base)
        sketcher = published(base).recipe.sketcher
        blank = sketcher.blank(1)
        assert answer.bytes == blank.words.nbytes + blank.samples.nbytes + blank.identities.nbytes
        assert (sketcher.settings.k if base != "by-site" else k, s) == (k, s)
    assert bloom_answer(document=65536, chunk=256, per_chunk=8, hashes=6, similar=0.7).bytes == 256 + IDENTITY


def test_what_cannot_be_is_said():
    for query, words in (
        ({"k": 5, "r": 9}, "r = 9 of k = 5 features"),
        ({"k": 1000, "s": 200}, "k × s = 1000 × 200 = 200,000 min-hashes"),
        ({"form": "wish", "threshold": 0.05, "permutations": 1}, "needs at least 90 permutations"),
        ({"k": 1000, "s": 4, "r": 10}, "There is no such recipe: r = 10 of k = 1000"),
    ):
        page = html.unescape(asked(**query))
        assert words in page
        assert "--" not in page[page.index(words) : page.index(words) + 300].partition("<")[0], (
            "an option of the command"
        )
    with pytest.raises(RecipeError):
        wish_answer(0.05, 0.99, 1, 1)


@pytest.mark.parametrize(
    "query",
    [
        {"k": "<script>alert(1)</script>", "s": "", "r": "-5", "threshold": "nan"},
        {"k": "9" * 5000, "s": "0", "threshold": "1e999"},
        {"threshold": "-inf", "scale": "'\"><img src=x onerror=alert(1)>", "from_": "../../etc/passwd"},
        {"form": "wish", "threshold": "2", "recall": "1", "permutations": "-1", "r": "99"},
        {"form": "wish", "threshold": "0", "recall": "0", "permutations": "9e9"},
        {"form": "bloom", "bits": "0", "hashes": "1_000", "similar": "１", "chunk": "257", "document": "1"},
        {"form": "\u202e"},
        {"form": "bloom", "bits": 64, "hashes": 32, "chunk": 32, "document": 1 << 20, "similar": 1, "scale": "log"},
        {"form": "bloom", "bits": 1, "hashes": 32, "similar": 0.05},
    ],
)
def test_any_address_has_an_answer(query):
    page = asked(**query)
    assert len(page.encode()) < 100_000
    assert "<script>alert" not in page
    assert "<img" not in page
    assert said(page) or 'role="alert"' in page


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"k": 5000}, "Features k is a number from 1 to 1000: 1000 in place of 5000."),
        ({"k": "many"}, "Features k is a number from 1 to 1000: 20 in place of many."),
        ({"threshold": "1.5"}, "Threshold is a number from 0.05 to 1: 1 in place of 1.5."),
        ({"form": "bloom", "chunk": 100}, "Chunk is one of the listed: 64 in place of 100."),
        ({"r": "<b>\u202e"}, "To share r is a number from 1 to 10: 1 in place of <b>⟨U+202E⟩."),
    ],
)
def test_a_number_that_cannot_be_is_told(query, says):
    assert html.escape(says, quote=False) in asked(**query)


@pytest.mark.parametrize("query", [{}, {"k": "20", "threshold": "0.80"}, {"form": "bloom", "chunk": 64}, {"k": ""}])
def test_numbers_that_can_be_are_not(query):
    assert 'class="trouble"' not in asked(**query)
