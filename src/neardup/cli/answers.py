"""What `neardup tune` has to say, form by form, in a shape that can be printed, drawn and written.

filter_answer   a filter of resemblances, chosen or given (Broder)
lists_answer    lists of words, chosen or given (Pugh)
bloom_answer    a Bloom filter of chunks (Jain, Dahlin and Tewari)
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from rich.table import Table

from neardup.analysis.drops import MARGIN, bar, dropped
from neardup.analysis.filters import LONGEST, PERMUTATIONS, Filter, choose, steepest_s
from neardup.analysis.lists import Lists, choose_lists
from neardup.cli.curve import Mark
from neardup.errors import RecipeError, UsageError

if TYPE_CHECKING:
    from neardup.recipe import Recipe

_USUAL = (0.3, 0.5, 0.6, 0.7, 0.77, 0.8, 0.9, 0.95, 0.975, 0.99)
"""Resemblances that are told for every filter; 0.5, 0.77, 0.975 and 0.99 are those of Broder's section 1."""


@dataclass
class Answer:
    """What a form has to say, in a shape that can be printed, drawn and written."""

    title: str
    why: str
    numbers: dict[str, Any]
    facts: list[tuple[str, str, str]]
    tables: list[Table]
    curve: Callable[[float], float]
    end: float
    points: list[tuple[float, float]]
    marks: list[Mark]
    x_title: str
    y_title: str = "probability that a pair is found"
    recipe: "Callable[[], Recipe | None]" = lambda: None
    """Makes the recipe, where there is one."""
    counted: bool = False


def flag(option: str) -> str:
    """As it is typed."""
    return f"-{option}" if len(option) == 1 else f"--{option.strip('_').replace('_', '-')}"


def filter_answer(given: dict[str, Any]) -> Answer:
    """-k and -s as given, or chosen for a threshold."""
    if given["k"] is None and given["s"] is None:
        return _wish(given)
    missing = [name for name in "ks" if given[name] is None]
    if missing:
        raise UsageError(f"-{missing[0]} is missing: a filter is k features of s min-hashes; add -{missing[0]} 7.")
    for option in ("recall", "reject", "bytes_"):
        if given[option] is not None:
            raise UsageError(
                f"{flag(option)} chooses a filter, and -k {given['k']} -s {given['s']} is one; drop one of them."
            )
    chosen = Filter(given["k"], given["s"], 1 if given["r"] is None else given["r"])
    allowed = _allowed(given, LONGEST)
    if chosen.permutations > allowed:
        more = f"raise --permutations to {chosen.permutations}, or " if chosen.permutations <= LONGEST else ""
        raise RecipeError(
            f"k × s = {chosen.k} × {chosen.s} = {chosen.permutations} > permutations = {allowed}; {more}choose "
            f"k = {max(1, allowed // chosen.s)}, s = {min(chosen.s, allowed)}."
        )
    threshold = given["threshold"]
    if threshold is not None and not 0.0 < threshold <= 1.0:
        raise RecipeError(f"threshold = {threshold}: a resemblance lies above 0 and is at most 1; 0.8 is usual.")
    return _describe(chosen, given, why="")


def _wish(given: dict[str, Any]) -> Answer:
    threshold, reject = given["threshold"], given["reject"]
    if threshold is None:
        raise UsageError("a filter is chosen for a threshold: add --threshold 0.8, or give it with -k and -s.")
    recall = given["recall"] = 0.99 if given["recall"] is None else given["recall"]
    allowed = _allowed(given, PERMUTATIONS)
    # Without a wish to reject, r = 1: it is what `dedup` takes, and needs no counting of shared features.
    rs = (given["r"],) if given["r"] is not None else (1, 2, 3) if reject else (1,)
    chosen = choose(threshold, recall, permutations=allowed, r=rs, reject=reject, bytes=given["bytes_"])
    if reject:
        why = (
            f"The cheapest filter of at most {allowed} permutations that finds {recall:g} of the pairs at "
            f"{threshold:g} and lets at most {reject[1]:g} pass at {reject[0]:g}."
        )
    else:
        why = (
            f"The sharpest filter of at most {allowed} permutations that finds {recall:g} of the pairs at "
            f"{threshold:g}."
        )
    answer = _describe(chosen, given, why=why)
    others = [chosen]
    for r in (1, 2, 3):
        try:
            other = choose(threshold, recall, permutations=allowed, r=(r,), reject=reject, bytes=given["bytes_"])
        except RecipeError:
            continue
        others += [other] if other != chosen else []
    answer.tables.append(_side_by_side(sorted(others, key=lambda f: f.r), chosen, threshold, reject))
    answer.numbers["alternatives"] = [{"k": f.k, "s": f.s, "r": f.r} for f in others[1:]]
    return answer


def _allowed(given: dict[str, Any], usual: int) -> int:
    allowed: int = usual if given["permutations"] is None else given["permutations"]
    if allowed > LONGEST:
        raise RecipeError(f"permutations = {allowed}: a sketch has at most {LONGEST}.")
    return allowed


def _describe(chosen: Filter, given: dict[str, Any], why: str) -> Answer:
    from neardup.tuning import filter_recipe

    threshold, documents = given["threshold"], 200e6 if given["documents"] is None else given["documents"]
    half, collisions = chosen.half_point, chosen.collision_bound(documents)
    facts = [
        ("features k", f"{chosen.k}", "each the fingerprint of a group of min-hashes"),
        ("min-hashes in one s", f"{chosen.s}", f"{chosen.permutations} permutations in all"),
        ("to share r", f"{chosen.r}", _joined(chosen)),
        ("half point", f"{half:.4f}", "found with probability 1/2; least total error"),
        ("steepest", f"{chosen.steepest:.4f}", f"s = {chosen.s} makes x^s steepest at this resemblance"),
        ("total error", f"{chosen.total_error(half):.4f}", "at the half point, were resemblances uniform"),
    ]
    if threshold is not None:
        at_best = f"s = {steepest_s(threshold):.1f} is" if threshold < 1 else "no s is"
        facts += [
            ("", f"{chosen.total_error(threshold):.4f}", f"at the threshold {threshold:g}; {at_best} steepest there"),
        ]
    facts += [
        ("bytes", f"{chosen.bytes_per_document()}", "of features per document, 64 bits each"),
        (
            "collisions",
            _short(collisions.pairs),
            f"pairs that share {chosen.r} by accident, of {documents:,.0f}",
        ),
    ]
    told = sorted({*_USUAL, *([threshold] if threshold else []), *(given["reject"] or ())[:1]})
    table = _table("resemblance", "found", "missed")
    for x in told:
        style = "yellow" if x == threshold else ""
        table.add_row(f"{x:g}", _short(chosen.probability(x)), _short(chosen.missed(x)), style=style)
    estimated = _estimated(threshold) if threshold is not None else []
    marks = [Mark(threshold, f"threshold {threshold:g}")] if threshold is not None else []
    if given["reject"]:
        marks.append(Mark(given["reject"][0], f"reject {given['reject'][0]:g}", "magenta"))
    marks.append(Mark(half, f"half {half:.3f}", "green"))
    return Answer(
        title=f"P[{chosen.k},{chosen.s},{chosen.r}]",
        why=why,
        numbers={
            "kind": "filter",
            "k": chosen.k,
            "s": chosen.s,
            "r": chosen.r,
            "permutations": chosen.permutations,
            "threshold": threshold,
            "recall": given["recall"],
            "reject": given["reject"],
            "half_point": half,
            "steepest": chosen.steepest,
            "total_error": {f"{x:.6g}": chosen.total_error(x) for x in ([threshold] if threshold else []) + [half]},
            "super_features": chosen.super_features,
            "bytes_per_document": chosen.bytes_per_document(),
            "collisions": {
                "documents": documents,
                "bits": collisions.bits,
                "pair": collisions.pair,
                "pairs": collisions.pairs,
                "bits_by_rule": collisions.bits_by_rule,
            },
            "probabilities": [
                {"resemblance": x, "found": chosen.probability(x), "missed": chosen.missed(x)} for x in told
            ],
            "curve": [[x, p] for x, p in chosen.curve()],
            "estimated": estimated,
        },
        facts=facts,
        tables=[table, *([_without_texts(threshold, estimated)] if estimated else [])],
        curve=chosen.probability,
        end=1.0,
        points=chosen.curve(401),
        marks=marks,
        x_title="resemblance",
        recipe=lambda: None
        if threshold is None
        else filter_recipe(chosen, threshold, recall=given["recall"], base=given["base"] or "default"),
    )  # fmt: skip


def _estimated(threshold: float) -> list[dict[str, float]]:
    """What an index loses and finds that keeps no texts and judges by estimates, for some lengths of odd sketches."""
    from neardup.recipes import stream_recipe
    from neardup.sketches.odd import THROWS, OddSettings

    if not 2 * MARGIN < threshold < 1 - MARGIN - 1e-9:
        return []
    try:
        stream = stream_recipe(threshold)
    except RecipeError:  # no features for so low a threshold
        return []
    found, looked_at, sketch = [], stream.filter, stream.sketch
    assert looked_at is not None
    assert isinstance(sketch, OddSettings)
    above = threshold + MARGIN
    for words in _ODD_WORDS:
        bins = sketch.bins * words // sketch.odd // THROWS * THROWS
        sketcher = stream.changed(sketch_odd=words, sketch_bins=bins).sketcher
        error, drops, keys = sketcher.error, sketch.drops, sketch.k
        least = bar(threshold, error, drops, keys, 1)
        found.append(
            {
                "bytes": 8 * words,
                "error": error(threshold),
                "dropped": dropped(threshold - MARGIN, threshold, error, drops, keys, stream.clusters.crowd),
                "dropped_uncorrected": dropped(threshold - MARGIN, threshold, error, 0.0, keys, stream.clusters.crowd),
                "found": looked_at.probability(above) * (1 - NormalDist(above, error(above)).cdf(least)),
            }
        )
    return found


_ODD_WORDS = (6, 12, 16, 32, 64)


def _without_texts(threshold: float, estimated: list[dict[str, float]]) -> Table:
    """dropped: of all documents, where any two resemble by so much; uncorrected: by the threshold alone."""
    below, above = f"{threshold - MARGIN:g}", f"{threshold + MARGIN:g}"
    heads = ("by estimate: bytes", f"± at {threshold:g}", f"dropped at {below}", "uncorrected", f"found at {above}")
    table = _table(*heads)
    for row in estimated:
        cells = (f"{row['error']:.3f}", *(_short(row[name]) for name in ("dropped", "dropped_uncorrected", "found")))
        table.add_row(f"{row['bytes']}", *cells)
    return table


def _joined(chosen: Filter) -> str:
    if chosen.r == 1:
        return "sharing one is enough; nothing is counted"
    kind = {2: "pairs", 3: "triples"}.get(chosen.r, f"sets of {chosen.r}")
    return f"or 1 of {chosen.super_features:,} super-features: all {kind} joined"


def _side_by_side(filters: list[Filter], chosen: Filter, threshold: float, reject: tuple[float, float] | None) -> Table:
    """The best for each r, with what it costs and what it does."""
    low = reject[0] if reject else round(threshold * 0.75, 3)
    found = (f"P({threshold:g})", f"P({low:g})")
    table = _table("", "r", "k", "s", "permutations", "bytes", "joined", *found, "half")
    for f in filters:
        table.add_row(
            "→" if f == chosen else "", f"{f.r}", f"{f.k}", f"{f.s}", f"{f.permutations}", f"{f.bytes_per_document()}",
            f"{f.bytes_per_document(joined=True):,}", _short(f.probability(threshold)), _short(f.probability(low)),
            f"{f.half_point:.3f}", style="bold" if f == chosen else "",
        )  # fmt: skip
    return table


def lists_answer(given: dict[str, Any]) -> Answer:
    """Lists as given, or chosen for a number of edits."""
    from neardup.recipes import load_recipe

    edits, reject, recall = given["edits"], given["reject"], given["recall"]
    if reject and reject[0].is_integer():
        reject = (int(reject[0]), reject[1])
    if recall is None and reject is None and given["lists"] is not None:
        chosen = Lists(given["lists"], *(1 if given[x] is None else given[x] for x in ("repetitions", "needed")))
        why = ""
    else:
        if edits is None:
            raise UsageError("lists are chosen for a number of edits: add --edits 10.")
        if given["needed"] is not None:
            raise UsageError(
                f"--needed {given['needed']} is of given lists, and --recall or --reject choose it; drop one."
            )
        recall = 0.9 if recall is None else recall
        chosen = choose_lists(edits, recall, reject=reject, lists=given["lists"], repetitions=given["repetitions"])
        why = f"The fewest fingerprints that find {recall:g} of the pairs {edits} edits apart" + (
            f" and let at most {reject[1]:g} pass at {reject[0]}." if reject else "."
        )
    half = chosen.half_point
    told = sorted({1, 2, 3, 5, 10, 20, 40, half, *([edits] if edits else []), *((reject[0],) if reject else ())})
    end = max(10, 3 * half, *(x + x // 4 for x in (edits or 0, reject[0] if reject else 0)))
    curve = chosen.curve(end)
    facts = [
        ("lists", f"{chosen.lists}", "of words in a document, one fingerprint each"),
        ("repetitions", f"{chosen.repetitions}", "with another hash each"),
        ("needed", f"{chosen.needed}", "repetitions in which a pair must share a fingerprint"),
        ("half point", f"{half}", "edits; with one more, fewer than 1/2 are found"),
        ("bytes", f"{chosen.bytes_per_document()}", f"{chosen.fingerprints} fingerprints per document, 64 bits each"),
    ]
    table = _table("edits", "found", "missed")
    for e in told:
        table.add_row(
            f"{e}", _short(chosen.probability(e)), _short(chosen.missed(e)), style="yellow" if e == edits else ""
        )
    marks = [Mark(edits, f"{edits} edits")] if edits is not None else []
    if reject:
        marks.append(Mark(reject[0], f"reject {reject[0]}", "magenta"))
    marks.append(Mark(half, f"half {half}", "green"))

    def between(x: float) -> float:
        below = min(int(x), end - 1)
        return curve[below][1] + (x - below) * (curve[below + 1][1] - curve[below][1])

    return Answer(
        title=f"{chosen.lists} lists, {chosen.needed} of {chosen.repetitions} repetitions",
        why=why,
        numbers={
            "kind": "lists",
            "lists": chosen.lists,
            "repetitions": chosen.repetitions,
            "needed": chosen.needed,
            "edits": edits,
            "recall": recall,
            "reject": reject,
            "half_point": half,
            "fingerprints": chosen.fingerprints,
            "bytes_per_document": chosen.bytes_per_document(),
            "probabilities": [{"edits": e, "found": chosen.probability(e), "missed": chosen.missed(e)} for e in told],
            "curve": [[e, p] for e, p in curve],
        },
        facts=facts,
        tables=[table],
        curve=between,
        end=float(end),
        points=[(float(e), p) for e, p in curve],
        marks=marks,
        x_title="edits",
        counted=True,
        recipe=lambda: load_recipe("lists").changed(
            sketch_lists=chosen.lists, sketch_repetitions=chosen.repetitions, sketch_needed=chosen.needed
        ),
    )


def bloom_answer(given: dict[str, Any]) -> Answer:
    """The filter for an error, a document size and a chunk size."""
    from neardup.analysis import bloom
    from neardup.tuning import bloom_recipe

    if given["bloom_error"] is None:
        raise UsageError("a Bloom filter is chosen for an error: add --bloom-error 0.03, the paper's.")
    document = 65536 if given["document_bytes"] is None else given["document_bytes"]
    chunk = 256 if given["chunk"] is None else given["chunk"]
    per_chunk, hashes = bloom.bits_per_element_for(given["bloom_error"])
    size = bloom.size_for(document, chunk_bytes=chunk, bits_per_chunk=per_chunk)
    fill = bloom.fill_ratio(size.chunks, size.bits, size.hashes)

    def anded(common: float) -> float:
        both = bloom.shared_bits(common * size.chunks, size.chunks, size.chunks, size.bits, size.hashes)
        return both / (size.bits * fill)

    def inferred(common: float) -> float:
        return bloom.matched_ratio(common * size.chunks, size.chunks, size.bits / size.chunks, size.hashes)

    facts = [
        (
            "bits per chunk",
            f"{per_chunk}",
            f"at {hashes} hashes {_short(bloom.false_ratio(per_chunk))} match by accident",
        ),
        ("chunks", f"{size.chunks}", f"of {chunk} bytes expected in {document:,}"),
        ("bits", f"{size.bits}", f"the next power of two; {size.hashes} hashes fit it best"),
        ("bytes", f"{size.bits // 8}", f"per document, {size.bits / 8 / document:.2%} of the largest"),
        ("filled", f"{fill:.4f}", "of the bits, by the largest document"),
    ]
    table = _table("common chunks", "bits of inferred matches", "bits set in both")
    told = (0.0, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
    for x in told:
        table.add_row(f"{x:g}", _short(inferred(x)), _short(anded(x)))
    return Answer(
        title=f"Bloom filter of {size.bits} bits, {size.hashes} hashes",
        why="Two full filters: the share of set bits that are expected to match, by the share of common chunks.",
        numbers={
            "kind": "bloom",
            "error": given["bloom_error"],
            "bits_per_chunk": per_chunk,
            "false_ratio": bloom.false_ratio(per_chunk),
            "document_bytes": document,
            "chunk_bytes": chunk,
            "chunks": size.chunks,
            "bits": size.bits,
            "hashes": size.hashes,
            "bytes_per_document": size.bits // 8,
            "fill": fill,
            "matches": [{"common": x, "inferred": inferred(x), "both": anded(x)} for x in told],
            "curve": [[i / 100, anded(i / 100)] for i in range(101)],
        },
        facts=facts,
        tables=[table],
        curve=anded,
        end=1.0,
        points=[(i / 200, anded(i / 200)) for i in range(201)],
        marks=[],
        x_title="share of chunks that are common",
        y_title="share of set bits that are set in both",
        recipe=lambda: bloom_recipe(size, chunk=chunk, per_chunk=per_chunk),
    )  # fmt: skip


def _short(p: float) -> str:
    """A probability in a few digits: plain where it can be read, with a power of ten where it is small."""
    return f"{p:.4f}" if p == 0 or p >= 5e-4 else f"{p:.2g}"


def _table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for head in heads:
        table.add_column(head, justify="right")
    return table
