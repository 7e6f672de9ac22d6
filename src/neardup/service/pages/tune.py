"""/tune: what a filter finds and what it costs, while its parameters move.

Three forms: k, s and r as they are; k and s for a threshold and a recall; Bloom filters. The address has all
parameters, so that going back, reloading and sending it to somebody work. Without a script a button does what moving a
slider does: it asks for this page again.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite

from neardup.analysis.filters import PERMUTATIONS, Filter
from neardup.errors import RecipeError
from neardup.recipes import published, recipe_names
from neardup.service.pages.asking import Asked, Shown, Site
from neardup.service.pages.curves import POINTS, Picture
from neardup.service.pages.layout import page
from neardup.service.pages.showing import address, clipped, plain
from neardup.service.pages.tuning import COLLECTIONS, Answer, bloom_answer, filter_answer, wish_answer

FORMS = (("filter", "k, s, r"), ("wish", "Threshold, recall"), ("bloom", "Bloom filter"))
SCALES = ("linear", "log")

WIDE, NARROW = (640, 380), (335, 290)
"""Width and height of the picture, in pixels."""


@dataclass(frozen=True)
class Field:
    """A parameter: a number with a slider beside it, or one of a few."""

    name: str
    label: str
    about: str
    value: float
    least: float = 1
    most: float = 1
    """That can be typed; the slider ends at `slider`."""
    slider: float = 1
    step: float = 1
    options: tuple[tuple[int, str], ...] = ()

    @property
    def text(self) -> str:
        """The value as it stands in the field."""
        return f"{self.value:.6g}"


@dataclass(frozen=True)
class Start:
    """A published recipe to begin with."""

    name: str
    title: str
    href: str
    here: bool


def show(site: Site, asked: Asked) -> Shown:
    """GET /tune."""
    form = asked.choice("form", tuple(name for name, _ in FORMS))
    scale = asked.choice("scale", SCALES)
    base = asked.choice("from", tuple(_bases()))
    fields, answer_of = _READ[form](asked, base, scale == "log")
    answer, trouble = None, ""
    try:
        answer = answer_of()
    except RecipeError as error:
        trouble = str(error)
    return page(
        "Tune",
        "tune.html",
        at="/tune",
        styles=["tune.css"],
        scripts=["tune.js"],
        forms=FORMS,
        form=form,
        scale=scale,
        base=base if form == "filter" else "",
        fields=fields,
        replaced=list(_replaced(asked, fields)),
        starts=_starts(form, base, fields),
        answer=answer,
        trouble=trouble,
        pictures=[] if answer is None else _pictures(answer),
        points="" if answer is None else json.dumps(_points(answer), ensure_ascii=False, separators=(",", ":")),
        heads="" if answer is None else json.dumps(answer.heads),
        last=POINTS - 1,
        collections=COLLECTIONS,
        size=size,
    )


def _filter(asked: Asked, base: str, logarithmic: bool) -> tuple[list[Field], Callable[[], Answer]]:
    recipe = published(base).recipe
    usual = recipe.filter or Filter(20, 7)
    k = asked.whole("k", usual.k, least=1, most=1000)
    s = asked.whole("s", usual.s, least=1, most=200)
    r = asked.whole("r", usual.r, least=1, most=10)
    threshold = _share(asked, "threshold", recipe.verify.threshold, least=0.05, most=1.0)
    judged = (
        "pairs from here on are near-duplicates"
        if recipe.thresholded
        else "a mark in the curve alone: shared features decide"
    )
    fields = [
        Field("k", "Features k", "each a fingerprint of s min-hashes", k, 1, 1000, 100),
        Field("s", "Min-hashes in one s", "all of them agree in a shared feature", s, 1, 200, 40),
        Field("r", "To share r", "features that a pair must have in common", r, 1, 10, 10),
        Field("threshold", "Threshold", judged, threshold, 0.05, 1, 1, 0.01),
    ]
    return fields, lambda: filter_answer(Filter(k, s, r), threshold, base, logarithmic=logarithmic)


def _wish(asked: Asked, base: str, logarithmic: bool) -> tuple[list[Field], Callable[[], Answer]]:
    threshold = _share(asked, "threshold", 0.8, least=0.05, most=0.99)
    recall = _share(asked, "recall", 0.99, least=0.5, most=0.999)
    permutations = asked.whole("permutations", PERMUTATIONS, least=1, most=512)
    r = asked.whole("r", 1, least=1, most=3)
    fields = [
        Field(
            "threshold", "Threshold", "resemblance from which on pairs are wanted", threshold, 0.05, 0.99, 0.99, 0.01
        ),
        Field("recall", "Recall", "share of the pairs at the threshold to be found", recall, 0.5, 0.999, 0.999, 0.001),
        Field("permutations", "Min-hashes", "at most, k × s", permutations, 1, 512, 512),
        Field("r", "To share r", "features that a pair must have in common", r, 1, 3, 3),
    ]
    return fields, lambda: wish_answer(threshold, recall, permutations, r, logarithmic=logarithmic)


def _bloom(asked: Asked, base: str, logarithmic: bool) -> tuple[list[Field], Callable[[], Answer]]:
    sizes = tuple((1 << power, f"{1 << power - 10:,} KB") for power in range(10, 21))
    cuts = tuple((1 << power, f"{1 << power:,} bytes") for power in range(5, 13))
    document = _among(asked, "document", sizes, 65536)
    chunk = _among(asked, "chunk", cuts, 256)
    per_chunk = asked.whole("bits", 8, least=1, most=64)
    hashes = asked.whole("hashes", 6, least=1, most=32)
    similar = _share(asked, "similar", 0.7, least=0.05, most=1.0)
    fields = [
        Field("bits", "Bits per chunk", "of the filter, before it is a power of two", per_chunk, 1, 64, 32),
        Field("hashes", "Hashes", "bits that each chunk sets", hashes, 1, 32, 16),
        Field("similar", "Similar from", "share of the set bits that must match", similar, 0.05, 1, 1, 0.01),
        Field("chunk", "Chunk", "expected size; cut by content", chunk, options=cuts),
        Field("document", "Document", "the largest that a filter is made for", document, options=sizes),
    ]
    return fields, lambda: bloom_answer(
        document=document, chunk=chunk, per_chunk=per_chunk, hashes=hashes, similar=similar, logarithmic=logarithmic
    )


_READ = {"filter": _filter, "wish": _wish, "bloom": _bloom}


def size(number: float) -> str:
    """Bytes as people say them: 160 bytes, 65.5 kB, 16 GB."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if number < 1000 or unit == "TB":
            break
        number /= 1000
    return f"{number:.3g} {unit}" if number < 1000 else f"{number:,.0f} {unit}"


def _replaced(asked: Asked, fields: list[Field]) -> Iterator[str]:
    """What the address asks for and cannot have, in sentences."""
    for field in fields:
        given = asked.query.get(field.name, "").strip()
        try:
            same = not given or abs(float(given) - field.value) < 1e-4
        except ValueError:
            same = False
        if not same:
            may = "one of the listed" if field.options else f"a number from {field.least:g} to {field.most:g}"
            yield f"{field.label} is {may}: {field.text} in place of {plain(clipped(given, 20))}."


def _share(asked: Asked, name: str, otherwise: float, *, least: float, most: float) -> float:
    """A fraction in the address: the nearest that is allowed."""
    try:
        given = float(asked.query.get(name, "")[:20].replace("_", "x"))
    except ValueError:
        return otherwise
    return round(max(least, min(most, given)), 4) if isfinite(given) else otherwise


def _among(asked: Asked, name: str, options: tuple[tuple[int, str], ...], otherwise: int) -> int:
    """One of some numbers: the nearest below what is asked for."""
    given = asked.whole(name, otherwise, least=options[0][0], most=options[-1][0])
    return max(value for value, _ in options if value <= given)


def _bases() -> list[str]:
    """Published recipes with features."""
    return [name for name in recipe_names() if published(name).recipe.filter is not None]


def _starts(form: str, base: str, fields: list[Field]) -> list[Start]:
    """Where to begin; `here`: the form has just this."""
    now = {field.name: field.text for field in fields}
    starts = []
    for name in _bases():
        filter, threshold = published(name).recipe.filter, published(name).recipe.verify.threshold
        assert filter is not None
        given = {"k": f"{filter.k}", "s": f"{filter.s}", "r": f"{filter.r}", "threshold": f"{threshold:g}"}
        here = form == "filter" and name == base and now == given
        starts.append(Start(name, published(name).title, address("/tune", **{"from": name}, **given), here))
    sketch = published("bloom").recipe.to_dict()["sketch"]
    values = {"bits": sketch["per_chunk"], "hashes": sketch["hashes"], "similar": sketch["similar"]}
    values |= {"chunk": sketch["chunk"], "document": 65536}
    given = {name: f"{value:.6g}" for name, value in values.items()}
    here = form == "bloom" and now == given
    return [*starts, Start("bloom", published("bloom").title, address("/tune", form="bloom", **given), here)]


def _pictures(answer: Answer) -> list[tuple[str, Picture]]:
    """For wide pages and for narrow ones."""
    label = f"{answer.curve.y_title} by {answer.curve.x_title}. {answer.said}"
    return [(name, Picture(answer.curve, *room, label)) for name, room in (("wide", WIDE), ("narrow", NARROW))]


def _points(answer: Answer) -> list[list[object]]:
    """What can be read at every point: its height in the picture, x, and what the table would say of it."""
    made: list[list[object]] = []
    for i in range(POINTS):
        x = i / (POINTS - 1)
        height = answer.curve.height(answer.curve.value(x))
        made.append([None if height is None else round(height, 4), f"{x:.2f}", *answer.values(x)])
    return made
