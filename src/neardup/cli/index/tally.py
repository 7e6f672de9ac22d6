"""What came of documents, counted, in one line."""

import time
from collections import Counter
from collections.abc import Iterable

from neardup.cli.show import Talk, many
from neardup.index import Verdict
from neardup.kernels import when_compiling


class Tally:
    """Counts verdicts and the time."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._since = time.perf_counter()

    def starts(self, talk: Talk) -> None:
        """The clock; and says when the first seconds go into compiling."""
        when_compiling(lambda: talk.say("Compiling for this recipe, once on this machine: up to half a minute."))
        self._since = time.perf_counter()

    def count(self, verdicts: Iterable[Verdict]) -> None:
        """Each under one name."""
        for verdict in verdicts:
            self.counts["documents"] += 1
            if verdict.match is None:
                self.counts["new"] += 1
                self.counts["empty"] += verdict.status != "new"
            else:
                self.counts["identical" if verdict.match.relation == "identical" else "near"] += 1

    @property
    def rate(self) -> str:
        """Documents per second."""
        elapsed = max(1e-9, time.perf_counter() - self._since)
        return f"{many(round(self.counts['documents'] / elapsed), 'document')}/s"

    def sentence(self, passed: str, *, skipped: int, skipped_how: str = "left out") -> str:
        """passed: what is said of new documents."""
        c = self.counts
        parts = [f"{many(c['documents'], 'document')}: {c['new']:,} {passed}"]
        if c["empty"]:
            parts[0] += f" ({c['empty']:,} of them without words)"
        parts += [many(c["near"], "near-duplicate"), f"{c['identical']:,} identical"]
        if skipped:
            parts.append(f"{skipped:,} that cannot be read, {skipped_how}")
        return ", ".join(parts) + f" · {self.rate}"
