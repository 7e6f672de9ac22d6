"""What a request can be answered with instead of an answer: RFC 9457 problems, every kind of them in one table.

KINDS        name → status, title, and what to do about it
Problem      one of them, raised wherever it is found
Busy         the one for which there is no room
problem_of   an error of this package as a problem
let_go       what the frames of an error hold, which may be a request's body
"""

from traceback import clear_frames
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from neardup.errors import InputError, MissingExtra, NeardupError, OutputError, StoreError, Unreachable, UsageError
from neardup.refine.formats.verbatim import written

TYPE = "application/problem+json"


class Kind(NamedTuple):
    """A row of the table."""

    status: int
    title: str
    advice: str


KINDS: dict[str, Kind] = {
    "not-json": Kind(400, "This is not JSON", "Send one JSON object in UTF-8."),
    "not-http": Kind(400, "This is not HTTP", "Send HTTP/1.1."),
    "bad-path": Kind(400, "The address cannot be read", "Percent-encode ids as UTF-8, ? and # too."),
    "no-token": Kind(401, "A token is needed", "Send the header Authorization: Bearer TOKEN."),
    "forbidden": Kind(403, "This may not be done", "Use a token that may; a read-only service writes for nobody."),
    "forwarded": Kind(
        403,
        "A service without tokens answers this machine alone",
        "The request came through a proxy, so anybody may have sent it. Start the service with tokens: --tokens FILE "
        "or --write-token-file FILE.",
    ),
    "foreign-origin": Kind(
        403, "A page of another site asks", "Ask from a program, or from the service's own address."
    ),
    "not-found": Kind(404, "There is no such address", "See /docs for those that are there."),
    "no-index": Kind(404, "No index is served here", "Start the service with one: neardup serve INDEX."),
    "unknown-index": Kind(404, "No index of this name is served here", "GET /v1/indexes names those that are."),
    "no-job": Kind(404, "There is no such job", "The latest 20 of each index are remembered: see /v1/jobs."),
    "no-collection": Kind(404, "No collection is served here", "Start the service with one: --collection PATH."),
    "no-document": Kind(404, "There is no such document", "It was never added, or removed since."),
    "no-group": Kind(404, "There is no such group", "See /collection for those that the run has."),
    "method": Kind(405, "Another method is needed", "The header Allow names it."),
    "timeout": Kind(408, "The request came too slowly", "Send it within the time limit, or in smaller parts."),
    "conflict": Kind(409, "The id is taken by another content", "Replace it with /v1/update, or choose another id."),
    "job-running": Kind(409, "Another job is running", "One runs at a time on an index; wait for it: /v1/jobs."),
    "no-backup": Kind(409, "The backup cannot be made", "Choose another name; the service needs --backup-folder DIR."),
    "too-large": Kind(413, "It is too large", "Send less, or start the service with a higher limit."),
    "media-type": Kind(415, "Another content type is needed", "Send Content-Type: application/json, not compressed."),
    "wrong-host": Kind(421, "The service answers to this machine's own name alone", "Ask 127.0.0.1 or localhost."),
    "invalid": Kind(422, "The request does not fit", "The detail names the field and what it must be."),
    "head": Kind(431, "The request's head is too large", "Send fewer or shorter headers, or a shorter address."),
    "quota": Kind(429, "The token has reached its limit", "Try again after the seconds in Retry-After."),
    "failed": Kind(500, "The service made an error", "Report it, with the request's id."),
    "missing-part": Kind(501, "A part is not installed", "The detail says what installs it."),
    "busy": Kind(503, "There is too much to do", "Try again after the seconds in Retry-After."),
    "compiling": Kind(
        503, "It is being compiled", "This is once on a machine. Try again after the seconds in Retry-After."
    ),
    "stopping": Kind(503, "The service is stopping", "Try again when it is back; what was acknowledged is stored."),
    "run": Kind(503, "The run cannot be shown", "Put its folder back, or reload it: POST /v1/collection/reload."),
    "store": Kind(503, "The index cannot be used", "The detail says what is wrong with it."),
    "slow": Kind(
        503, "The answer takes too long", "Send less at once. A write may be done or not: look, or repeat it."
    ),
    "full": Kind(507, "The index cannot be written", "Make room on its disk."),
}

RETRY = {"busy": 1, "quota": 1, "compiling": 10, "stopping": 5, "slow": 5, "store": 5}
"""Seconds to wait, by kind."""


AILMENTS = {
    "full": "The disk of the index is full or nearly full: questions are answered, and writes may fail. Make room.",
    "moved": "The index is not where it was: it was moved, removed or replaced. Put it back, or restart the service.",
    "damaged": "A part of the index cannot be read. The log of the service says which: run neardup index verify.",
    "write": "A change to the index could not be written. The log of the service says why.",
    "away": "The index cannot be reached. The log of the service says why.",
}
"""What is wrong with a store, by kind, for everybody who may ask whether the service is ready."""


class ProblemOut(msgspec.Struct, omit_defaults=True, rename={"kind": "type"}):
    """What went wrong (RFC 9457)."""

    kind: str
    title: str
    status: int
    detail: str
    instance: str = ""


class Problem(Exception):
    """A request that is not answered."""

    def __init__(self, kind: str, detail: str = "", **headers: str) -> None:
        super().__init__(detail)
        self.kind, self.headers = kind, headers
        self.status, self.title, advice = KINDS[kind]
        self.detail = detail or advice
        if kind in RETRY:
            self.headers = {"retry-after": str(RETRY[kind]), **headers}

    def out(self, instance: str = "") -> ProblemOut:
        """As it is sent. `instance`: the request's id."""
        return ProblemOut(f"/docs#{self.kind}", self.title, self.status, self.detail, instance)


class Busy(Problem):
    """There is no room. `why`: what there is too much of."""

    def __init__(self, why: str, detail: str) -> None:
        super().__init__("busy", detail)
        self.why = why


def problem_of(error: Exception, *, adding: bool = False) -> Problem:
    """What an error of this package is for a client. `adding`: a refused document was one to add."""
    if isinstance(error, Problem):
        return error
    kind = "failed"
    if isinstance(error, UsageError):
        kind = "conflict" if adding else "invalid"
    elif isinstance(error, InputError):
        kind = "invalid"
    elif isinstance(error, StoreError):
        kind = "store"
    elif isinstance(error, OutputError):
        kind = "full"
    elif isinstance(error, MissingExtra):
        kind = "missing-part"
    if isinstance(error, Unreachable):  # clients can do nothing with a path of the server: that is for the log
        return Problem(kind, AILMENTS[error.ailment])
    return Problem(kind, str(error) if isinstance(error, NeardupError) and kind != "failed" else "")


def let_go(error: BaseException | None) -> None:
    """Clear the frames that an error and those before it came through, and cut them apart.

    A traceback holds its frames, these hold the request, and through a future or a local name they hold the error
    again: a cycle that waits for the collector, which is rarely run here. Eight refused requests of 11 MB kept 350 MB.
    Call this where an error ends, before anything is awaited: a frame that waits would be ended by it.
    """
    waiting = [error]
    while waiting:
        error = waiting.pop()
        if error is None:
            continue
        waiting += [error.__cause__, error.__context__]
        clear_frames(error.__traceback__)
        error.__traceback__ = error.__cause__ = error.__context__ = None


def validation_detail(error: Exception, shape: Any = None) -> str:
    """msgspec's sentence, which names the field by its path (`$.text`) and quotes nothing of the document; with the
    words that a field may have. `shape`: what was to be decoded."""
    said = f"{str(error).rstrip('.')}."
    name = said.rpartition("`$.")[2].removesuffix("`.")
    choices = _choices(get_type_hints(shape).get(name)) if said.startswith("Invalid enum value") and shape else []
    return f"{said} Choose one of {', '.join(choices)}." if choices else said


def _choices(hint: Any) -> list[str]:
    """The words that a field of this type may have."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    return [word for part in get_args(hint) for word in _choices(part)]


def plain(value: Any) -> bytes:
    """As JSON."""
    return msgspec.json.encode(value, enc_hook=written)
