"""How much each caller may have: rates, and places that callers share.

Caller   a token and what is done for it; without tokens, everybody together
Rate     so much a second, and more after a pause
Places   requests, streams or bytes at the same time, of which every caller has some to itself
"""

from collections.abc import Collection
from math import ceil
from time import monotonic

from neardup.service.problems import Busy, Problem
from neardup.service.tokens import Token


class Rate:
    """An amount a second (a token bucket, in the field's words: a full one holds `burst`)."""

    def __init__(self, per_second: float, burst: float) -> None:
        self.per_second, self.burst = per_second, burst
        self._left, self._then = burst, monotonic()

    def wait(self) -> float:
        """Return the seconds until something may be taken; 0.0: now."""
        now = monotonic()
        self._left = min(self.burst, self._left + (now - self._then) * self.per_second)
        self._then = now
        return max(0.0, (1.0 - self._left) / self.per_second)

    def take(self, amount: float = 1.0) -> None:
        """Take it, also where it is more than there is: `wait` grows by the difference."""
        self._left -= amount


class Caller:
    """A token in use."""

    def __init__(self, token: Token | None = None) -> None:
        self.token = token
        self.name = "" if token is None else token.name
        self.revoked = False
        self._requests: Rate | None = None
        self._documents: Rate | None = None
        self._set_rates()

    def use(self, token: Token) -> None:
        """Go on with what was read again of the same token."""
        assert self.token is not None
        same, self.token = token.quota == self.token.quota, token
        if not same:
            self._set_rates()

    def _set_rates(self) -> None:
        quota = None if self.token is None else self.token.quota
        self._requests = self._documents = None
        if quota is not None and quota.requests_per_second is not None:
            burst = quota.burst or max(1.0, 2 * quota.requests_per_second)
            self._requests = Rate(quota.requests_per_second, burst)
        if quota is not None and quota.documents_per_second is not None:
            self._documents = Rate(quota.documents_per_second, max(1.0, 2 * quota.documents_per_second))

    def admit(self) -> None:
        """Count a request, or refuse it because there were too many of them, or too many documents in them."""
        for rate, what in ((self._requests, "requests"), (self._documents, "documents")):
            if rate is not None and (seconds := rate.wait()) > 0:
                raise Problem(
                    "quota",
                    f"The token {self.name} may send {rate.per_second:g} {what} a second.",
                    **{"retry-after": str(ceil(seconds))},
                )
        if self._requests is not None:
            self._requests.take()

    def spend(self, documents: int) -> float:
        """Count documents. Return the seconds until there may be more."""
        if self._documents is None:
            return 0.0
        self._documents.take(documents)
        return self._documents.wait()

    def most(self, kind: str) -> int | None:
        """Return the most places of a kind that this one may take; None: no limit of its own."""
        found: int | None = None if self.token is None else getattr(self.token.quota, kind)
        return found


class Places:
    """Places that callers share: requests, streams, or bytes that are held.

    Half of them are for everybody. The other half is divided evenly, and nobody else is given a caller's part: so the
    busiest one cannot take all from the others. A single caller has all of them.
    """

    def __init__(self, kind: str, total: int, least: int = 1) -> None:
        """kind: the name in Quota and in the metrics. least: as many are for everybody, also where that is more than
        half."""
        self.kind, self.total, self.taken = kind, total, 0
        self._for_all = min(total, max(least, total // 2))
        self._by: dict[Caller, int] = {}
        self._callers: Collection[Caller] = ()
        self._own = self._reserved = 0

    def divide(self, callers: Collection[Caller]) -> None:
        """Give every one of these its part."""
        self._callers = frozenset(callers)
        self._own = (self.total - self._for_all) // len(callers) if len(callers) > 1 else 0
        self._reserved = sum(max(0, self._own - self._by.get(caller, 0)) for caller in callers)

    def take(self, caller: Caller, number: int = 1) -> None:
        """Take places, or say that there are none."""
        mine = self._by.get(caller, 0)
        most = caller.most(self.kind)
        if most is not None and mine + number > most:
            raise Problem("quota", _OWN[self.kind].format(caller.name, most))
        own = max(0, self._own - mine) if caller in self._callers else 0
        if self.taken + number + self._reserved - own > self.total:
            words = _ALL[self.kind] if self.taken + number > self.total else _OTHERS
            raise Busy(_WHY[self.kind], words.format(self.taken, self.total))
        self._move(caller, mine, number)

    def give_back(self, caller: Caller, number: int = 1) -> None:
        """Take no longer."""
        self._move(caller, self._by.get(caller, 0), -number)

    def _move(self, caller: Caller, mine: int, number: int) -> None:
        self.taken += number
        if mine + number:
            self._by[caller] = mine + number
        else:
            self._by.pop(caller, None)
        if caller in self._callers:
            self._reserved += max(0, self._own - mine - number) - max(0, self._own - mine)


_WHY = {"requests": "concurrency", "streams": "streams", "held": "held"}
_OWN = {
    "requests": "At most {1:,} requests of the token {0} are answered at the same time.",
    "streams": "At most {1:,} streams of the token {0} are open at the same time.",
    "held": "Requests of the token {0} may have {1:,} bytes together while they wait.",
}
_OTHERS = "What is left of the room is kept for others."
_ALL = {
    "requests": "{0:,} requests are being answered already.",
    "streams": "{0:,} streams are open already.",
    "held": "Requests of {0:,} bytes wait already, and {1:,} are allowed.",
}
