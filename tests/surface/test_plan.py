"""neardup plan: formulas by hand, what must grow with what, units, refusals, and every example of docs/plan.md."""

import json
import re
import shlex
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from neardup.cli import app
from neardup.errors import UsageError
from neardup.planning import Assumed, Collection, make_plan
from neardup.planning.cluster import FORMULAS, Expected, held_by_driver, steps
from neardup.planning.constants import Constants, constants
from neardup.planning.footprint import Footprint
from neardup.planning.machine import MOST_ENTRIES, resident
from neardup.recipes import load_recipe, recipe_names

PAGE = Path(__file__).parents[2] / "docs/plan.md"
KNOWN = Constants(
    measured={},
    collection={"bytes_per_word": 6.0, "standing": 0.5, "shared": 0.25, "pairs": 2.0, "removed": 0.75},
    sketching={"minhash": 2.0, "permutation": 0.1, "rabin": 5.0, "combined": 7.0},
    spark={formula.name: {"nanoseconds": 10.0, "shuffle": 1.0, "kept": 1.0} for formula in FORMULAS},
    local={
        "read_nanoseconds": 1.0,
        "again_nanoseconds": 2.0,
        "write_nanoseconds": 3.0,
        "key_nanoseconds": 4.0,
        "base_bytes": 100.0,
        "bytes_per_document": 5.0,
    },
)
"""Round numbers, to calculate with by hand."""


def test_every_step_has_been_measured():
    assert set(constants().spark) == {formula.name for formula in FORMULAS}


@pytest.fixture
def plan(monkeypatch, capsys):
    """(exit code, stdout, stderr) of the command, in a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            app.main(["plan", *map(str, arguments)])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return call


def test_what_a_document_leaves_behind_follows_from_the_recipe():
    by_hand = {  # words and samples in bytes, keys
        "default": (20 * 8 + 140, 20),
        "altavista": (6 * 8, 15),  # 6 choose 2
        "alg-c": (48, 12),
        "lists": (4 * 8, 4),
        "bottom-m": (100 * 8, 100),
        "mod-n": (20 * 8, 20),  # 3,000 bytes of 6 are 500 words, 496 shingles, one in 25 of them
        "bloom": (12 * 8, 12),  # chunks of 256 bytes
    }
    for name, (sketch, keys) in by_hand.items():
        made = Footprint.of(load_recipe(name), 3000.0, replace(KNOWN, sketching=constants().sketching))
        assert (made.sketch, made.keys) == (sketch, keys), name
    made = Footprint.of(load_recipe("default"), 3000.0, KNOWN)
    assert (made.shingles, made.later, made.nanoseconds) == (496, 0, pytest.approx(2.0 + 140 * 0.1))
    assert Footprint.of(load_recipe("altavista"), 3000.0, KNOWN).nanoseconds == pytest.approx(2.0 + 84 * 0.1 + 5.0)
    assert Footprint.of(load_recipe("combined"), 3000.0, KNOWN).later == 384 // 8


def test_steps_by_hand():
    """1,000 documents of 3,000 bytes: 400 with company, 200 candidates, 1,000 entries, 400 pairs."""
    expected = Expected.of(load_recipe("default"), 1000, 3e6, 0.4, KNOWN)
    assert (expected.company, expected.standing, expected.entries) == (400, 200, 1000)
    assert (expected.pairs, expected.removed, expected.shelved) == (400, 300, 140 + 8 * 496)
    found = {step.name: step for step in steps(expected, KNOWN)}
    assert found["sketch"].read == found["texts again"].read == 3e6
    assert found["sketch"].core_seconds == pytest.approx(3e6 * (10 + 16) / 1e9)
    assert found["keys"].shuffled == 1000 * 20 * 16
    assert found["keys"].core_seconds == pytest.approx(1000 * 20 * 10 / 1e9)
    assert found["members"].shuffled == 1000 * 8 + 400 * 40 + 200 * (300 + 16)
    assert found["members"].kept == 200 * (140 + 16)
    assert found["buckets"].shuffled == (1000 + 200) * (140 + 16) + 1000 * 16
    assert found["measure"].shuffled == 2 * 400 * (140 + 8 * 496)
    assert found["write"].kept == pytest.approx(3e6 * 0.7)
    assert held_by_driver(expected) == 1000 / 8 + 400 / 8
    labels = Expected.of(load_recipe("default").changed(clusters_method="components"), 1000, 3e6, 0.4, KNOWN)
    assert held_by_driver(labels) == 1000 / 8 + 400 / 8 + 400 * 16
    many = {step.name: step for step in steps(Expected.of(load_recipe("default"), 2e6, 6e9, 0.4, KNOWN), KNOWN)}
    assert many["measure"].shuffled == (2 * 8e5 + 4e5) * (140 + 8 * 496)
    assert resident(expected, KNOWN) == 100 + 1000 * 5 + 20_000 + 200 * 140 + 1000 * 8


def test_texts_are_read_again_only_where_something_is_measured():
    for verify, again in (("exact", True), ("sketch", False)):
        expected = Expected.of(load_recipe("default").changed(verify_method=verify), 1000, 3e6, 0.4, KNOWN)
        found = {step.name: step for step in steps(expected, KNOWN)}
        assert (found["texts again"].read > 0) is (found["measure"].shuffled > 0) is again
    bits = Expected.of(load_recipe("combined"), 1000, 3e6, 0.4, KNOWN)
    assert (bits.again, bits.sets, bits.shelved) == (True, False, 48 + 48)


@pytest.mark.parametrize("name", recipe_names())
def test_everything_grows_with_the_collection(name):
    recipe = load_recipe(name)
    plans = [make_plan(Collection(n, 3e3 * n), recipe) for n in (1e6, 1e7, 1e9, 1e11)]
    for less, more in pairwise(plans):
        assert less.total_hours < more.total_hours
        assert less.money < more.money
        assert less.work_bytes < more.work_bytes
        assert less.driver_bytes < more.driver_bytes
        assert less.one.memory < more.one.memory
        for before, after in zip(less.steps, more.steps, strict=True):
            assert before.read <= after.read
            assert before.shuffled <= after.shuffled
        assert less.suffices == pytest.approx(more.suffices, rel=0.01)


def test_more_cores_take_less_time_and_more_duplicates_more():
    recipe, collection = load_recipe("default"), Collection(1.6e9, 20e12)
    hours = [make_plan(collection, recipe, Assumed(cores=n)).total_hours for n in (10, 100, 1000)]
    assert hours == pytest.approx([hours[2] * 100, hours[2] * 10, hours[2]])
    shares = [make_plan(replace(collection, duplicates=d), recipe).total_hours for d in (0.0, 0.3, 0.6)]
    assert shares == sorted(shares)
    assert len(set(shares)) == 3
    slow = make_plan(collection, recipe, Assumed(bandwidth=1e6))
    assert slow.total_hours > hours[2]
    moved = sum(step.read + 2 * step.shuffled + step.kept for step in slow.steps)
    assert slow.total_hours == pytest.approx(moved / 1e6 / 1000 / 3600, rel=0.05)
    assert make_plan(collection, recipe, Assumed(price=0.1)).money == pytest.approx(hours[2] * 1000 * 0.1)


def test_what_a_cluster_cannot_hold_is_said():
    recipe = load_recipe("default")
    assert make_plan(Collection(1.6e9, 20e12), recipe).warnings == []
    many = make_plan(Collection(100e9, 1.25e15), recipe).warnings
    assert many[0].startswith("A bit per document is 12.5 GB, and Spark sends 8.0 GB to everybody at the most")
    assert many[1].startswith("Every executor holds 16.2 GB of that, and has 16.0 GB")
    labels = make_plan(Collection(60e9, 180e12), recipe.changed(clusters_method="components")).warnings
    assert labels[-1].startswith("The driver holds 596 GB")  # 2 x (60e9 x 1.3 / 8 + 18e9 x 16)
    alone = make_plan(Collection(60e9, 180e12), load_recipe("altavista"))  # nothing is scored, so nothing is labelled
    assert alone.driver_bytes == pytest.approx(2 * 60e9 * 1.3 / 8)


def test_one_machine_does_up_to_what_is_said():
    recipe = load_recipe("default")
    most = make_plan(Collection(1e6, 3e9), recipe).suffices
    below, above = (make_plan(Collection(most * f, 3e3 * most * f), recipe) for f in (0.99, 1.01))
    assert not below.one.obstacles
    assert "local engine" in below.advice
    assert above.one.obstacles
    assert "--engine spark" in above.advice
    huge = Assumed(memory_per_core=1e15, patience=1e12)
    keys = make_plan(Collection(1e6, 3e9), recipe, huge)
    assert keys.suffices * keys.expected.entries / 1e6 == pytest.approx(MOST_ENTRIES, rel=0.01)
    assert "shared keys" in make_plan(Collection(1e12, 3e15), recipe, huge).advice


@pytest.mark.parametrize(
    ("documents", "size"),
    [("1.6e9", "20e12"), ("1_600_000_000", "20TB"), ("1,600,000,000", "20 tb"), ("1600000000", "20000GB")],
)
def test_numbers_as_people_write_them(plan, documents, size):
    code, out, err = plan("--documents", documents, "--bytes", size, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)["collection"]
    assert found == {"documents": 1.6e9, "text": 20e12, "duplicates": 0.3}


def test_binary_units(plan):
    assert json.loads(plan("--documents", "1e6", "--bytes", "3GiB", "--json")[1])["collection"]["text"] == 3 * 2**30


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--documents", "-5", "--bytes", "1TB"), "documents = -5: it must be above 0"),
        (("--documents", "0", "--bytes", "1TB"), "documents = 0: it must be above 0"),
        (("--documents", "1e400", "--bytes", "1TB"), "documents = inf: it must be above 0"),
        (("--documents", "many", "--bytes", "1TB"), "'many' is no number; write it as 1.6e9"),
        (("--documents", "16TB", "--bytes", "1TB"), "'16TB' is no number; write it as 1.6e9"),
        (("--documents", "1e9", "--bytes", "20QB"), "'20QB' is no number; write it as 20e12, 20TB or 20TiB"),
        (("--documents", "1e9", "--bytes", "1e6"), "less than a byte of text each"),
        (("--documents", "1e9"), "Missing option '--bytes'"),
        (("--documents", "1e9", "--bytes", "1TB", "--cores", "0"), "0 is not in the range x>=1"),
        (("--documents", "1e9", "--bytes", "1TB", "--duplicates", "30"), "duplicates = 30: it is a share"),
        (("--documents", "1e9", "--bytes", "1TB", "--busy", "0"), "busy = 0: it is a share of the time"),
        (("--documents", "1e9", "--bytes", "1TB", "--price", "-1"), "price = -1: it is what a core-hour costs"),
        (("--documents", "1e9", "--bytes", "1TB", "--bandwidth", "0"), "bandwidth = 0: it must be above 0"),
        (("--documents", "1e9", "--bytes", "1TB", "--recipe", "defalt"), "Did you mean 'default'?"),
    ],
)
def test_refusals(plan, given, said):
    code, out, err = plan(*given)
    assert (code, out) == (2, "")
    assert said in err


def test_python_is_refused_the_same():
    for bad in ({"cores": 0}, {"memory_per_core": -1.0}, {"busy": 1.5}, {"patience": float("nan")}):
        with pytest.raises(UsageError):
            Assumed(**bad)


def test_recipe_options_count(plan):
    def told(*given):
        return json.loads(plan("--documents", "1e9", "--bytes", "3TB", *given, "--json")[1])

    plain, few = told(), told("--recipe", "altavista")
    assert plain["recipe"] != few["recipe"]
    shuffled = [{s["name"]: s["shuffled"] for s in found["steps"]}["keys"] for found in (plain, few)]
    assert shuffled[1] == pytest.approx(shuffled[0] * 15 / 20)
    assert told("-t", "0.9")["expected"]["prints"]["keys"] < plain["expected"]["prints"]["keys"]
    assert told("--cluster", "components")["sum"]["driver_bytes"] > plain["sum"]["driver_bytes"]


def test_sums_are_sums(plan):
    found = json.loads(plan("--documents", "1e9", "--bytes", "3TB", "--json")[1])
    for name in ("read", "shuffled", "core_seconds", "hours"):
        assert found["sum"][name] == pytest.approx(sum(step[name] for step in found["steps"]))
    assert found["sum"]["executors"] == 250
    assert found["measured"]["cpu"]
    assert found["measured"]["commit"]


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_too_long(plan, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, _ = plan("--documents", "100e9", "--bytes", "1.25PB", "--cores", "20000")
    assert code == 0
    assert max(map(len, out.splitlines())) <= width


def test_every_example_of_the_page(plan):
    found = re.findall(r"```\n\$ (neardup plan [^\n]*)\n(.*?)```", PAGE.read_text(), re.S)
    assert len(found) == 2
    for command, promised in found:
        code, out, _ = plan(*shlex.split(command)[2:])
        assert code == 0
        assert [line.rstrip() for line in out.splitlines()] == promised.rstrip("\n").split("\n"), command
