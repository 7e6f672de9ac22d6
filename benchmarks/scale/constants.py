"""results/engines.json → src/neardup/planning/constants.toml: what `neardup plan` calculates with.

What a unit costs is task time, the seconds that tasks had a core: so much per job and so much per unit. Two collections
give both, and the former is left out, for it does not grow with the collection (rounds, and with them jobs, do a
little).

Bytes are of the larger case, of the engine `spark-wide`, whose joins are those of a large collection: both sides
travel. The speed of sketches is that of benchmarks.recipes.sketching, on one core, by thread time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import neardup
from benchmarks.recipes import sketching
from neardup.planning.cluster import FORMULAS, Expected
from neardup.planning.constants import Constants
from neardup.recipe import Recipe
from neardup.sketches.kinds import kind_of
from neardup.sketches.minhash import MinHashSettings

PLACE = Path(neardup.__file__).parent / "planning" / "constants.toml"
STAGES = {
    "sketch": ("sketches",),
    "copies": ("copies",),
    "keys": ("entries",),
    "order": ("order",),
    "members": ("members",),
    "texts again": ("shelf",),
    "buckets": ("crowd", "round"),
    "measure": ("measured", "centres"),
    "decide": ("decided",),
    "write": ("removed", "groups", "kept"),
}
"""The steps of the plan, and the stages of the engine that they are."""


class NothingMeasuredError(RuntimeError):
    """Two collections do not tell what a unit costs: chance is more than their difference."""


def write(found: dict[str, Any], place: Path = PLACE) -> str:
    """Calculate them, and write them down."""
    text = toml(calculated(found))
    place.write_text(text)
    return f"{place}:\n{text}"


def calculated(found: dict[str, Any]) -> dict[str, Any]:
    """The tables of constants.toml."""
    wide = sorted((row for row in found["rows"] if row["engine"] == "spark-wide"), key=lambda row: row["documents"])
    local = sorted((row for row in found["rows"] if row["engine"] == "local"), key=lambda row: row["documents"])
    if len(wide) < 2 or len(local) < 2:
        raise SystemExit("constants need two sizes each of the engines local and spark-wide: run those first.")
    small, large = wide[-2], wide[-1]
    recipe = neardup.Recipe.from_dict({k: v for k, v in large["recipe"].items() if k != "id"}, checked=True)
    speeds = _sketching()
    known = Constants({}, likeness(large, recipe), speeds, {}, {})
    least, most = (_as_it_was(row, recipe, known) for row in (small, large))
    text = most.prints.nanoseconds
    spark = {}
    for formula in FORMULAS:
        names = STAGES[formula.name]
        before, after = _sums(small, names), _sums(large, names)
        each = _per_unit(before, after, formula.units(least), formula.units(most))
        if formula.name == "sketch":
            each -= text
        if each <= 0:
            raise NothingMeasuredError(
                f"{formula.name}: {before['task_seconds']:.1f} s of tasks in {before['jobs']:.0f} jobs at "
                f"{small['documents']:,} documents, {after['task_seconds']:.1f} s in {after['jobs']:.0f} at "
                f"{large['documents']:,}: the collection's share of it does not show. Measure a larger one."
            )
        spark[formula.name] = {
            "nanoseconds": each,
            "shuffle": after["shuffle_bytes"] / formula.shuffled(most),
            "kept": after["written_bytes"] / formula.kept(most),
        }
    return {
        "measured": {
            "time": large["time"],
            "commit": large["commit"] or "",
            "cpu": found["machine"]["cpu"],
            "cores": found["machine"]["cores"],
            "documents": [row["documents"] for row in (small, large)],
            "collection": "benchmarks.speed.corpus, latin",
            "document_bytes": round(large["text_bytes"] / large["documents"]),
            "recipe": recipe.id,
        },
        "collection": known.collection,
        "sketching": speeds,
        "spark": spark,
        "local": _local(local[-2], local[-1], recipe, known, text),
    }


def likeness(row: dict[str, Any], recipe: Recipe) -> dict[str, float]:
    """What the documents of a collection were like, as the formulas ask for it."""
    rows, counts = row["rows"], row["counts"]
    keys = Expected.of(recipe, 1.0, 3000.0, 0.0, _BLANK).prints.keys
    return {
        "bytes_per_word": row["text_bytes"] / row["tokens"],
        "duplicates": rows["order"] / counts["documents"],
        "standing": counts["candidates"] / rows["order"],
        "shared": rows["entries"] / (counts["candidates"] * keys),
        "pairs": rows["measured"] / counts["candidates"],
        "removed": counts["removed"] / rows["order"],
    }


_BLANK = Constants(
    {},
    dict.fromkeys(("bytes_per_word", "standing", "shared", "pairs", "removed"), 1.0),
    {"minhash": 0.0, "permutation": 0.0, "rabin": 0.0},
    {},
    {},
)
"""For what does not depend on any of it: the keys of a recipe."""


def _as_it_was(row: dict[str, Any], recipe: Recipe, known: Constants) -> Expected:
    share = row["rows"]["order"] / row["documents"]
    return Expected.of(recipe, row["documents"], row["text_bytes"], share, known)


def _sums(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, float]:
    chosen = [stage for stage in row["stages"] if stage["name"] in names]
    keys = ("jobs", "task_seconds", "shuffle_bytes", "written_bytes")
    return {key: sum(stage[key] for stage in chosen) for key in keys}


def _per_unit(small: dict[str, float], large: dict[str, float], few: float, many: float) -> float:
    """Nanoseconds a unit, of task time = jobs x a + units x b in both."""
    more = large["jobs"] / small["jobs"]
    return (large["task_seconds"] - more * small["task_seconds"]) / (many - more * few) * 1e9


def _permutations(recipe: Recipe) -> int:
    assert isinstance(recipe.sketch, MinHashSettings)
    return recipe.sketch.permutations


def _sketching() -> dict[str, float]:
    """Nanoseconds a byte: of min-hashes so much each, and so much more with Rabin's fingerprints; of other kinds what
    their published recipe costs."""
    minhash: list[tuple[float, float, float]] = []
    speeds: list[float] = []
    others: dict[str, float] = {}
    for name, figures in sketching.measure().items():
        recipe, each = neardup.load_recipe(name), 1e3 / figures["MB/s"]
        kind = kind_of(recipe.sketch)
        if kind == "minhash":
            minhash.append((1.0, _permutations(recipe), float(recipe.sketcher.polynomial is not None)))
            speeds.append(each)
        else:
            others.setdefault(kind, each)
    base, slope, rabin = np.linalg.lstsq(np.array(minhash), np.array(speeds))[0]
    return {"minhash": float(base), "permutation": float(slope), "rabin": float(rabin), **others}


def _local(
    small: dict[str, Any], large: dict[str, Any], recipe: Recipe, known: Constants, text: float
) -> dict[str, float]:
    """CPU time of steps per byte of text or key, and memory beside what the formulas tell."""
    least, most = (_local_expected(row, recipe, known) for row in (small, large))
    of_text, of_keys = most.text - least.text, (most.documents - least.documents) * most.prints.keys

    def slope(units: float, *names: str) -> float:
        spent = [sum(row["step_cpu"].get(name, 0.0) for name in names) for row in (small, large)]
        return max(0.0, (spent[1] - spent[0]) / units * 1e9)

    counted = [_counted(one) for one in (least, most)]
    memory = [row["peak_mb"] * 1e6 - of_formula for row, of_formula in zip((small, large), counted, strict=True)]
    each = max(0.0, (memory[1] - memory[0]) / (most.documents - least.documents))
    return {
        "read_nanoseconds": max(0.0, slope(of_text, "sketch") - text),
        "again_nanoseconds": slope(of_text, "verify"),
        "write_nanoseconds": slope(of_text, "write", "decide"),
        "key_nanoseconds": slope(of_keys, "candidates", "order"),
        "base_bytes": max(0.0, memory[0] - each * least.documents),
        "bytes_per_document": each,
    }


def _local_expected(row: dict[str, Any], recipe: Recipe, known: Constants) -> Expected:
    return Expected.of(recipe, row["documents"], row["text_bytes"], known.collection["duplicates"], known)


def _counted(expected: Expected) -> float:
    """What planning.machine.resident says without constants."""
    from neardup.planning.machine import resident

    nothing = {"base_bytes": 0.0, "bytes_per_document": 0.0}
    return resident(expected, Constants({}, {}, {}, {}, nothing))


def toml(tables: dict[str, Any]) -> str:
    """As a file that people can read."""
    lines = [
        "# Made by `python -m benchmarks.scale.engines --constants` from what it measured; read by `neardup plan`."
    ]
    for name, values in tables.items():
        nested = {key: value for key, value in values.items() if isinstance(value, dict)}
        plain = {key: value for key, value in values.items() if key not in nested}
        lines += ["", f"[{name}]", *_entries(plain)] if plain else []
        for key, inner in nested.items():
            lines += ["", f'[{name}."{key}"]', *_entries(inner)]
    return "\n".join(lines) + "\n"


def _entries(values: dict[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in values.items()]


def _key(name: str) -> str:
    return name if name.replace("_", "").isalnum() else f'"{name}"'


def _value(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return (
        f"{value:.4g}"
        if isinstance(value, float) and value < 1e6
        else f"{value:.0f}"
        if isinstance(value, float)
        else str(value)
    )
