"""All that is on the page, as plain values: what is counted over the whole collection, what is made from samples."""

import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.charts import draw_svg
from neardup.errors import MissingExtra, NeardupError
from neardup.recipe import Recipe
from neardup.recipes import PUBLIC_SEED, name_of
from neardup.report import below, browsing, drawing, passages, removal, similarity
from neardup.report.facts import Facts, why_kept
from neardup.report.part import LONGEST, Part, choose_part
from neardup.report.verdict import checks, proof, twins
from neardup.result import Result

SEED = 1

TEMPLATES_SAMPLE = 2_000
"""Documents that are searched for templates."""
TEMPLATES_READ = 64 << 20
"""Bytes of their texts."""

_POINTS = 201
"""Of the filter's curve."""


def report_data(result: Result, *, seed: int = SEED) -> dict[str, Any]:
    """What the page shows. The same run and seed give the same values, but for times."""
    facts = Facts(result, seed)
    part = choose_part(facts)
    chosen = browsing.choose_groups(facts, part)
    sample = _sample(facts, part)
    with ThreadPoolExecutor(1, "neardup-count") as pool:  # reading and searching leave room for counting beside them
        counted = pool.submit(_hosts, facts)
        found = below.find_neighbours(facts)
        asked = None if isinstance(found, str) else below.to_measure(facts, found, part)
        numbers = [browsing.wanted(facts, part, chosen), sample, *([] if asked is None else [asked.pairs.reshape(-1)])]
        texts, trouble = _texts(result, np.unique(np.concatenate(numbers)))
        hosts, mirrors = counted.result()
    if not isinstance(found, str) and asked is not None:
        found = below.measured(facts, found, asked, texts)
    parts: dict[str, Any] = {
        "version": result.run()["neardup"],
        "seed": seed,
        "counts": result.counts,
        "proof": proof(facts),
        "by_source": removal.by_source(facts),
        "by_site": hosts.sites,
        "by_length": removal.by_length(facts),
        "by_relation": removal.by_relation(facts),
        "group_sizes": similarity.group_sizes(facts),
        "histogram": similarity.histogram(facts),
        "thresholds": _thresholds(facts, found),
        "groups": browsing.groups_data(facts, part, _of_one_site(facts, chosen), texts),
        "kept_because": why_kept(result.recipe.clusters.keep),
        "templates": _templates(facts, sample, texts),
        "mirrors": mirrors,
        "texts": trouble,
        "part": None if part.whole else {"parts": part.splits, "of": part.of, "documents": part.size},
        "out": _out(result),
        "run": _done(facts),
    }
    parts["checks"] = [check._asdict() for check in checks(facts, parts)]
    return parts


def charts(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The specifications, by name; each for a wide and a narrow page."""
    made = {}
    plain = data["histogram"]["unit"] == "resemblance"
    curve = data["run"]["curve"] if plain else None
    for size, width in (("wide", drawing.WIDE), ("narrow", drawing.NARROW)):
        if data["group_sizes"]:
            made[f"sizes-{size}"] = drawing.sizes_chart(data["group_sizes"], width=width)
        made[f"similarity-{size}"] = drawing.similarity_chart(
            data["histogram"], curve=curve, below=data["thresholds"]["nearest"], width=width
        )
    return made


def drawn(data: dict[str, Any]) -> dict[str, str] | str:
    """The charts as SVG; or what to install."""
    try:
        return {name: draw_svg(specification) for name, specification in charts(data).items()}
    except MissingExtra as error:
        return str(error)


def _hosts(facts: Facts) -> tuple[removal.Hosts, list[dict[str, Any]] | None]:
    """What URLs tell: by site, and mirrors; None where there are no hosts."""
    hosts = removal.by_site(facts)
    return hosts, removal.mirrors(facts, hosts.documents) if hosts.sites else None


def _of_one_site(facts: Facts, chosen: list[browsing.Chosen]) -> list[browsing.Chosen]:
    """The same groups; those that list two pages of one host near the threshold are of a kind more."""
    near = twins(facts)
    return [replace(one, strata=(*one.strata, "site")) if near[one.rows].any() else one for one in chosen]


def _sample(facts: Facts, part: Part) -> NDArray[np.int64]:
    """Documents drawn at random from those that were compared and can be read, as many as fit."""
    compared = np.flatnonzero(facts.result.gathered.compared & part.documents)
    drawn = facts.random(3).choice(compared, min(TEMPLATES_SAMPLE, len(compared)), replace=False)
    drawn = drawn[facts.bytes[drawn] <= LONGEST]
    return np.sort(drawn[np.cumsum(facts.bytes[drawn]) <= TEMPLATES_READ])


def _out(result: Result) -> str | None:
    """The folder that the run was written to, as a word of a command; None where that is not known or not printable."""
    out = str(result.folder)
    return shlex.quote(out) if result.folder is not None and out.isprintable() else None


def _texts(result: Result, numbers: NDArray[np.int64]) -> tuple[dict[int, str], str | None]:
    """The texts; or none, and the reason: inputs may be gone or changed since."""
    if not len(numbers):
        return {}, None
    try:
        return result.texts(numbers.tolist()), None
    except (NeardupError, OSError) as error:
        return {}, f"The documents could not be read again, so there are no texts and no templates here. {error}"


def _thresholds(facts: Facts, found: below.Neighbours | str) -> dict[str, Any]:
    """What other thresholds do: counted above, estimated below."""
    made: dict[str, Any] = {
        "unit": facts.unit,
        "threshold": facts.threshold,
        "same_site": facts.recipe.verify.same_site if facts.stricter else None,
        "higher": similarity.higher(facts) if facts.threshold else [],
        "lower": [],
        "nearest": None,
        "sample": 0,
        "measured": 0.0,
        "why_not_lower": None,
    }
    if isinstance(found, str):
        return {**made, "why_not_lower": found}
    return {
        **made,
        "lower": below.lower(facts, found),
        "nearest": _nearest(facts, found),
        "sample": len(found.sample),
        "kept": found.kept,
        "measured": round(float(found.measured.mean()), 4) if len(found.of) else 1.0,
    }


def _nearest(facts: Facts, found: below.Neighbours) -> list[list[float]]:
    """[from, to, kept documents per hundredth]: by their nearest kept one, scaled up from the sample. Where that is a
    small part, over wider steps: single documents of it would stand for thousands."""
    best = below.nearest_kept(found)
    step = similarity.STEP if len(found.sample) == found.kept else 5 * similarity.STEP
    bounds = np.arange(round(found.floor / step), round(facts.threshold / step) + 1) * step
    bounds = np.unique(np.append(bounds[bounds < facts.threshold - 1e-9], facts.threshold))
    counts, _ = np.histogram(best[(best > 0) & (best < facts.threshold)], bounds)
    scale = found.kept / len(found.sample) * similarity.STEP
    return [
        [round(float(a), 6), round(float(b), 6), round(n * scale / float(b - a), 1)]
        for a, b, n in zip(bounds[:-1], bounds[1:], counts.tolist(), strict=True)
        if n
    ]


def _templates(facts: Facts, sample: NDArray[np.int64], texts: dict[int, str]) -> dict[str, Any] | None:
    """Passages of the sample; None without texts."""
    there = [n for n in sample.tolist() if n in texts]
    if not there:
        return None
    numbers = np.array(there, np.int64)
    found = passages.find_passages({n: texts[n] for n in there}, facts.group_of(numbers))
    shown = np.array([n for p in found.passages for n in p.examples], np.int64)
    names = dict(zip(shown.tolist(), browsing.called(facts, shown), strict=True))
    return {
        "sample": len(there),
        "passages": [{**asdict(p), "examples": [names[n] for n in p.examples]} for p in found.passages],
        "main": facts.recipe.text.extract == "main",
        "covered": found.covered,
        "mostly": found.mostly,
    }


def _shown(recipe: Recipe) -> str:
    """Return the recipe for people who may be strangers: an index may have drawn its seed to keep it from them."""
    toml = recipe.to_toml()
    return toml if recipe.sketch.seed == PUBLIC_SEED else re.sub(r"(?m)^seed = \d+$", "# seed: see run.json", toml)


def _done(facts: Facts) -> dict[str, Any]:
    """The recipe, the curve and what each step cost."""
    recipe, run = facts.recipe, facts.result.run()
    filter = recipe.filter
    return {
        "recipe_name": name_of(recipe, any_seed=True),
        "recipe_id": recipe.id,
        "toml": _shown(recipe),
        "filter": None if filter is None else {"k": filter.k, "s": filter.s, "r": filter.r},
        "curve": None if filter is None else [(x, round(p, 6)) for x, p in filter.curve(_POINTS)],
        "steps": run["steps"],
        "inputs": [
            {"path": browsing.short(file["path"]), "format": file["format"], "bytes": file["bytes"]}
            for file in run["inputs"][:200]
        ],
        "inputs_in_all": len(run["inputs"]),
        "threads": run["threads"],
        "rounds": run["rounds"],
    }


def in_parallel(result: Result, *, seed: int = SEED) -> tuple[dict[str, Any], dict[str, str] | str]:
    """Data and charts. The drawing engine takes most of a second to wake up, which it does while texts are read."""
    with ThreadPoolExecutor(1, "neardup-draw") as pool:
        awake = pool.submit(_wake)
        data = report_data(result, seed=seed)
        awake.result()
    return data, drawn(data)


def _wake() -> None:
    try:
        draw_svg({"mark": "point", "data": {"values": []}})
    except MissingExtra:
        return
