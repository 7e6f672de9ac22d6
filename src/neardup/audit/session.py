"""A labelling session: the drawn pairs with their texts, what people said so far, and what that amounts to.

OUT/audit/pairs.jsonl    first line: the run, the seed, the strata; then a pair a line, with both texts
OUT/audit/labels.jsonl   see audit.labels

A session that was begun goes on: pairs are drawn once, and belong to one run.
"""

import json
from copy import copy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup._version import __version__
from neardup.atomic import appearing
from neardup.audit.judging import Truth, check_inputs, digest_of
from neardup.audit.labels import LONGEST_NAME, REASONS, Label, Labels
from neardup.audit.precision import Precision, precision_of
from neardup.audit.strata import Stratum, draw
from neardup.comparing.marked import Segment, segments
from neardup.errors import InputError, UsageError
from neardup.model import MEASURED, RELATIONS
from neardup.result import Result

PAIRS = 200
LONGEST = 50_000
"""Characters of a text that a pair carries."""
LARGEST = 1 << 20
"""Bytes of a text that is read for that; longer ones are left out."""
_AT_ONCE = 32 << 20
"""Bytes of texts that are read together, so that memory is bounded."""


@dataclass(frozen=True)
class DrawnPair:
    """A removed document and the kept one."""

    first: str
    second: str
    first_url: str | None
    second_url: str | None
    relation: str
    sites: str
    measured: str
    score: float
    resemblance: float | None
    first_in_second: float | None
    second_in_first: float | None
    stratum: int
    first_text: str | None
    """None: too long to be read for this."""
    second_text: str | None
    first_length: int
    """In characters: more than are in the text where it was cut. In bytes where there is none."""
    second_length: int


class LabellingSession:
    """Pairs to look at, and what was said of them. Threads may share one."""

    def __init__(self, folder: Path, *, labeller: str = "") -> None:
        """Go on with what is in a folder."""
        self.folder, self.labeller, self.token = folder, labeller, ""
        path = folder / "pairs.jsonl"
        try:
            with path.open(encoding="utf-8") as file:
                self.head: dict[str, Any] = json.loads(next(file))
                self.pairs = [DrawnPair(**json.loads(line)) for line in file]
            self.strata = [Stratum(**s) for s in self.head["strata"]]
        except FileNotFoundError as error:
            raise InputError(
                f"{path} is not there: no pairs have been drawn. Begin with `neardup audit OUT --label`."
            ) from error
        except (ValueError, TypeError, KeyError, StopIteration, OSError) as error:
            raise InputError(f"{path}: cannot be read ({error}). Delete it; the same pairs are drawn again.") from error
        self.labels = Labels(folder / "labels.jsonl")

    @classmethod
    def begin(
        cls, result: Result, folder: Path, *, pairs: int | None = None, seed: int | None = None, labeller: str = ""
    ) -> "LabellingSession":
        """Draw pairs of a run (200 by default), or go on with those that were drawn of it."""
        if pairs is not None and pairs < 1:
            raise UsageError(f"pairs = {pairs}: at least 1.")
        if seed is not None and seed < 0:
            raise UsageError(f"seed = {seed}: choose 0 or a larger one.")
        if not (folder / "pairs.jsonl").exists():
            _write_pairs(result, folder, PAIRS if pairs is None else pairs, 1 if seed is None else seed)
        session = cls(folder, labeller=labeller)
        session.check_run(result)
        head = session.head
        asked = {"pairs": pairs, "seed": seed}
        for name, value in asked.items():
            if value is not None and value != head[name]:
                raise UsageError(
                    f"{name} = {value}: pairs were drawn before with {name} = {head[name]}. Leave it away to go on "
                    f"with them, or move {folder} away to draw new ones."
                )
        return session

    def by(self, labeller: str, token: str = "") -> "LabellingSession":
        """The same session, with the same labels, as another person goes on with it.

        Args:
            labeller: The person's name, as given.
            token: The name of the token that a service was asked with; unlike the person's it is known for certain.
        """
        other = copy(self)
        other.labeller, other.token = labeller, token or self.token
        return other

    def of_run(self, result: Result) -> bool:
        """Whether its pairs are removals of this run, and not of another one in the same folder."""
        return bool(self.head["run"] == digest_of(result))

    def check_run(self, result: Result) -> None:
        """Refuse labels of another run."""
        if not self.of_run(result):
            raise UsageError(f"{self.folder} {self.of_another_run}")

    @property
    def of_another_run(self) -> str:
        """What to say of it then."""
        return (
            f"holds pairs and labels of another run (recipe {self.head['recipe']}), which say nothing about this one. "
            "--export them for `neardup evaluate`, and move the folder away to draw new ones."
        )

    @property
    def first_open(self) -> int | None:
        """The number of the first pair without a label."""
        return next((i for i in range(len(self.pairs)) if self.said(i) is None), None)

    def said(self, number: int) -> Label | None:
        """What counts of a pair."""
        pair = self.pairs[number]
        return self.labels.current.get((pair.first, pair.second))

    def label(self, number: int, verdict: str | None, reason: str | None = None, note: str = "") -> Label:
        """Say something of a pair, or take it back (None). It is on disk when this returns."""
        pair = self.pairs[number]
        return self.labels.add(Label(pair.first, pair.second, verdict, reason, note, self._signed))

    @property
    def _signed(self) -> str:
        """The labeller, with the token in brackets where one was used."""
        if not self.token or not self.labeller:
            return self.labeller or self.token
        return f"{self.labeller[: LONGEST_NAME - len(self.token) - 3]} ({self.token})"

    def segments(self, number: int) -> list[Segment]:
        """Both texts with their differences, for display; nothing where a text was left out."""
        pair = self.pairs[number]
        if pair.first_text is None or pair.second_text is None:
            return []
        return segments(pair.first_text, pair.second_text, tokens=self.head["tokens"])

    def precision(self, *, confidence: float = 0.95) -> Precision:
        """What the labels amount to so far."""
        self.labels.refresh()
        labels = [self.said(i) for i in range(len(self.pairs))]
        return precision_of(self.strata, [p.stratum for p in self.pairs], labels, confidence=confidence)

    def agreement(self) -> tuple[int, int]:
        """Of the pairs that two people or more have judged, how many they agree on; and how many there are."""
        latest: dict[tuple[str, str], dict[str, str]] = {}
        for label in self.labels.history:
            by = latest.setdefault((label.first, label.second), {})
            by.pop(label.labeller, None)
            if label.verdict is not None:
                by[label.labeller] = label.verdict
        several = [set(by.values()) for by in latest.values() if len(by) > 1]
        return sum(len(verdicts) == 1 for verdicts in several), len(several)

    def export(self, path: Path) -> int:
        """Write the labelled pairs as truth for `neardup evaluate`, and how many they are.

        weight: how many removed documents of the run a pair stands for.
        """
        self.labels.refresh()
        labelled = [(pair, label) for i, pair in enumerate(self.pairs) if (label := self.said(i)) is not None]
        per_stratum = np.bincount([pair.stratum for pair, _ in labelled], minlength=len(self.strata))
        with appearing(path) as draft, draft.open("w", encoding="utf-8") as file:
            for pair, label in labelled:
                stratum = self.strata[pair.stratum]
                truth = {
                    "first": pair.first,
                    "second": pair.second,
                    "verdict": label.verdict,
                    "reason": label.reason,
                    "note": label.note,
                    "labeller": label.labeller,
                    "time": label.time,
                    "stratum": stratum.name,
                    "weight": stratum.size / int(per_stratum[pair.stratum]),
                    "relation": pair.relation,
                    "sites": pair.sites,
                    "measured": pair.measured,
                    "score": pair.score,
                    "resemblance": pair.resemblance,
                }
                file.write(json.dumps(truth) + "\n")
        return len(labelled)

    def state(self) -> dict[str, Any]:
        """All that a page needs but the pairs themselves."""
        self.labels.refresh()
        said = [self.said(i) for i in range(len(self.pairs))]
        shown = ("verdict", "reason", "note", "labeller")
        return {
            "labeller": self.labeller,
            "labels": [None if label is None else {n: getattr(label, n) for n in shown} for label in said],
            "open": self.first_open,
            "reasons": {verdict: list(reasons.items()) for verdict, reasons in REASONS.items()},
            "recipe": self.head["recipe"],
            "truth": self.head["truth"],
            "precision": self.precision().to_dict(),
        }


def _write_pairs(result: Result, folder: Path, pairs: int, seed: int) -> None:
    decision, collection = result.decision, result.gathered.collection
    if not len(decision.removed):
        raise UsageError("nothing was removed in this run, so there are no pairs to look at.")
    check_inputs(result)
    drawn = draw(result, pairs, seed)
    first, second = decision.removed[drawn.rows], decision.kept_for[drawn.rows]
    steps = result.gathered.engine.steps
    with steps.step("texts", sum(s.size for s in result.gathered.engine.splits)):
        texts = _beginnings(result, np.union1d(first, second))
    ids, urls = (collection.any_order(c, np.concatenate([first, second])).to_pylist() for c in ("id", "url"))
    head = {
        "neardup": __version__,
        "run": digest_of(result),
        "recipe": result.recipe.id,
        "pairs": pairs,
        "seed": seed,
        "removed": len(decision.removed),
        "tokens": result.recipe.text.tokens,
        "truth": Truth.of(result.recipe).to_dict(),
        "strata": [asdict(s) for s in drawn.strata],
    }
    with appearing(folder / "pairs.jsonl") as draft, draft.open("w", encoding="utf-8") as file:
        file.write(json.dumps(head) + "\n")
        for i, row in enumerate(drawn.rows.tolist()):
            (one, length), (other, other_length) = texts[int(first[i])], texts[int(second[i])]
            pair = DrawnPair(
                first=ids[i],
                second=ids[len(first) + i],
                first_url=urls[i],
                second_url=urls[len(first) + i],
                relation=RELATIONS[decision.relation[row]],
                sites=drawn.sites[i],
                measured=MEASURED[decision.measured[row]],
                score=float(decision.score[row]),
                resemblance=_known(decision.resemblance[row]),
                first_in_second=_known(decision.removed_in_kept[row]),
                second_in_first=_known(decision.kept_in_removed[row]),
                stratum=int(drawn.stratum[i]),
                first_text=one,
                second_text=other,
                first_length=length,
                second_length=other_length,
            )
            file.write(json.dumps(asdict(pair)) + "\n")


def _beginnings(result: Result, documents: NDArray[np.int64]) -> dict[int, tuple[str | None, int]]:
    """The texts of documents (ascending) as a pair carries them, and how long they are.

    Documents may be large. Few are read at once, and very long ones not at all: each portion reads the inputs again.
    """
    sizes = result.gathered.collection.numbers("bytes")[documents].astype(np.int64)
    found: dict[int, tuple[str | None, int]] = {
        int(document): (None, int(size)) for document, size in zip(documents, sizes, strict=True)
    }
    short = documents[sizes <= LARGEST]
    portion = np.cumsum(sizes[sizes <= LARGEST]) // _AT_ONCE
    for number in np.unique(portion):
        texts = result.texts(short[portion == number].tolist())
        found.update({document: (text[:LONGEST], len(text)) for document, text in texts.items()})
    return found


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
