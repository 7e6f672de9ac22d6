"""Every address of the service: one table, from which requests are led, and from which the documentation is made."""

import re
from typing import Any, NamedTuple

import msgspec

from neardup.refine.formats.verbatim import Number
from neardup.service import shapes
from neardup.service.access import Level
from neardup.service.pages import PAGES, Page

PREFIX = "/v1/documents/"
"""What stands behind it is an id."""

JOBS = "/v1/jobs/"
"""What stands behind it is the id of a job."""

_NAMED = re.compile(rb"(/v1/indexes/([A-Za-z0-9][A-Za-z0-9._-]{0,63}))(/(?!index$).+)?")


_OF_NONE = frozenset({"compare", "group", "indexes", "job", "jobs", "reload"})


class Route(NamedTuple):
    """A row."""

    method: str
    path: str
    level: Level
    summary: str
    about: str
    """For those who call it; Markdown is not understood."""
    does: str
    """The method of Endpoints; for streams, the name of the work."""
    takes: Any = None
    """The class of the request; of a stream, of its lines."""
    gives: Any = None
    example: Any = None
    stream: bool = False
    problems: tuple[str, ...] = ()
    """Kinds that belong to this one alone."""
    status: int = 200
    """Of its answer; 202: a job has begun."""

    @property
    def of_index(self) -> bool:
        """Whether it needs one."""
        return self.path.startswith("/v1/") and self.does not in _OF_NONE

    @property
    def named(self) -> bool:
        """Whether its address names the index."""
        return "{index}" in self.path


_ROSE = "A rose is a rose is a rose is a rose, said the gardener who had planted them all along the wall."
_NEW = {"id": "https://a.example/roses", "text": _ROSE, "url": "https://a.example/roses"}
_ORDER = (
    "Lines are answered in order, one line each, while further ones are still being sent. A line that cannot be taken "
    'gets {"line": n, "error": {…}}, and the stream goes on. Empty lines are passed over, and so are fields that are '
    "not known."
)

_JOB = "The answer names a job: ask /v1/jobs/ID how far it is."

_ROUTES = (
    Route(
        "POST", "/v1/check", "read", "Is this new?",
        "Compares a document with everything in the index and stores nothing.",
        "check", shapes.Query, shapes.VerdictOut, {"text": _ROSE},
    ),
    Route(
        "POST", "/v1/check-and-add", "write", "Is this new? If so, remember it",
        "Checks and stores in one step, so that of two similar documents that come at the same time one is new. A "
        "duplicate is not stored. Answered when it is on disk.",
        "check_and_add", shapes.Document, shapes.VerdictOut, _NEW,
    ),
    Route(
        "POST", "/v1/add", "write", "Remember this",
        "Stores a document, similar or not. Adding the same content again does nothing; another content under the "
        "same id is refused. Answered when it is on disk.",
        "add", shapes.Document, shapes.Added, _NEW, problems=("conflict",),
    ),
    Route(
        "POST", "/v1/update", "write", "Remember this in place of what was there",
        "Stores a document, in place of the one with the same id if there is one. Answered when it is on disk.",
        "update", shapes.Document, shapes.Replaced, _NEW,
    ),
    Route(
        "POST", "/v1/remove", "write", "Forget a document", "By its id. Answered when it is on disk.",
        "remove", shapes.Named, shapes.Removed, {"id": _NEW["id"]},
    ),
    Route(
        "POST", "/v1/similar", "read", "All similar documents", "All that the index finds, the most similar first.",
        "similar", shapes.Similar, shapes.Matches, {"text": _ROSE, "most": 5},
    ),
    Route(
        "GET", "/v1/documents/{id}", "read", "What is stored of a document",
        "Percent-encode the id; it may hold slashes.", "get", None, shapes.StoredOut,
        problems=("no-document", "bad-path"),
    ),
    Route(
        "DELETE", "/v1/documents/{id}", "write", "Forget a document",
        "Percent-encode the id; it may hold slashes. Answered when it is on disk.", "delete", None, shapes.Removed,
        problems=("no-document", "bad-path"),
    ),
    Route(
        "POST", "/v1/compare", "read", "Compare two documents",
        "The exact resemblance and containment of two documents that need not be in the index; with systems, also what "
        "each published system says of them.",
        "compare", shapes.Comparing, shapes.Comparison,
        {"first": {"text": _ROSE}, "second": {"text": _ROSE.replace("gardener", "poet")}}, problems=("compiling",),
    ),
    Route(
        "POST", "/v1/sketch", "read", "Sketch documents", "What the index would keep of documents, by its own recipe.",
        "sketch", shapes.Sketching, shapes.SketchesOut, {"documents": [{"id": "a", "text": _ROSE}]},
        problems=("compiling",),
    ),
    Route(
        "POST", "/v1/group", "read", "Group search results",
        "Near-duplicates in a list of search results stand behind the best-ranked of them. Takes a list, or the whole "
        "response of Elasticsearch, OpenSearch, Solr, Meilisearch or SearXNG, and gives the same back. The index is "
        "not looked at.",
        "group", shapes.Grouping, shapes.Groups,
        {"results": [{"id": "a", "text": _ROSE}, {"id": "b", "text": _ROSE.upper()}], "show": "fold"},
        problems=("compiling",),
    ),
    Route(
        "POST", "/v1/stream/check", "read", "Check a stream", _ORDER, "check", shapes.QueryLine, shapes.VerdictOut,
        {"text": _ROSE}, stream=True,
    ),
    Route(
        "POST", "/v1/stream/check-and-add", "write", "Filter a stream",
        "Every line is judged against the index and the lines before it. An answer is sent when it is on disk. "
        f"{_ORDER}",
        "check-and-add", shapes.Line, shapes.VerdictOut, _NEW, stream=True,
    ),
    Route(
        "POST", "/v1/stream/add", "write", "Add a stream", f"An answer is sent when it is on disk. {_ORDER}", "add",
        shapes.Line, shapes.Added, _NEW, stream=True,
    ),
    Route(
        "POST", "/v1/stream/update", "write", "Update a stream", f"An answer is sent when it is on disk. {_ORDER}",
        "update", shapes.Line, shapes.Replaced, _NEW, stream=True,
    ),
    Route(
        "POST", "/v1/stream/remove", "write", "Remove a stream", f"An answer is sent when it is on disk. {_ORDER}",
        "remove", shapes.NamedLine, shapes.Removed, {"id": _NEW["id"]}, stream=True,
    ),
    Route(
        "GET", "/v1/index", "read", "About the index", "How many documents, by which recipe, in which store.", "info",
    ),
    Route(
        "GET", "/v1/indexes", "read", "The indexes that are served",
        "Those that the token may use. The default one answers the addresses that name none; the addresses of each "
        "begin with /v1/indexes/NAME: /v1/indexes/NAME/check is to it what /v1/check is to the default one.",
        "indexes", None, shapes.IndexList,
    ),
    Route(
        "POST", "/v1/compact", "admin", "Give back the space of removed documents",
        f"Others read and write meanwhile. {_JOB}", "compact", None, shapes.JobOut, problems=("job-running",),
        status=202,
    ),
    Route(
        "POST", "/v1/backup", "admin", "Write a backup",
        "Into the folder that the operator named with --backup-folder, under the names of the index and of the backup. "
        f"What was acknowledged before is in it; others read and write meanwhile. {_JOB}",
        "backup", shapes.BackingUp, shapes.JobOut, {"name": "before-the-crawl"},
        problems=("job-running", "no-backup"), status=202,
    ),
    Route(
        "POST", "/v1/verify", "admin", "Read everything, and say what is damaged",
        f"Others read and write meanwhile. {_JOB}", "verify", None, shapes.JobOut, problems=("job-running",),
        status=202,
    ),
    Route(
        "POST", "/v1/expire", "admin", "Forget documents that were not seen for long",
        "Those that were neither added nor met again for so many days. Others read and write meanwhile. "
        f"{_JOB}",
        "expire", shapes.Expiring, shapes.JobOut, {"keep_days": 30}, problems=("job-running",), status=202,
    ),
    Route(
        "POST", "/v1/collection/reload", "admin", "Open the collection anew",
        "Built in the background where documents changed, and shown when it is ready; until then, and where it fails, "
        f"pages show what they had. {_JOB}",
        "reload", None, shapes.JobOut, problems=("job-running", "no-collection"), status=202,
    ),
    Route(
        "GET", "/v1/jobs", "admin", "The jobs of operators", "Those that run and the latest that ended, latest first.",
        "jobs", None, shapes.JobList,
    ),
    Route(
        "GET", "/v1/jobs/{job}", "admin", "How far a job is", "And what came of it.", "job", None, shapes.JobOut,
        problems=("no-job", "bad-path"),
    ),
    Route("GET", "/healthz", "open", "The process lives", "Says nothing of the index.", "healthz"),
    Route(
        "GET", "/readyz", "open", "The service can be asked", "503 while it stops, and while its store cannot be used.",
        "readyz", problems=("stopping", "store", "slow"),
    ),
    Route("GET", "/metrics", "read", "Counters for Prometheus", "In its text format.", "metrics"),
    Route("GET", "/openapi.json", "open", "This description", "OpenAPI 3.1.", "openapi"),
    Route("GET", "/docs", "open", "This description, for people", "A page that loads nothing.", "docs"),
)  # fmt: skip


def _at_a_name(route: Route) -> Route:
    """Return the row of an address under which the same is done by the index that it names."""
    rest = "" if route.does == "info" else route.path.removeprefix("/v1")
    return route._replace(path="/v1/indexes/{index}" + rest, problems=(*route.problems, "unknown-index", "bad-path"))


_AT_NAMES = {
    (route.method, route.path): _at_a_name(route) for route in _ROUTES if route.of_index or route.does == "compare"
}
ROUTES = (*_ROUTES, *_AT_NAMES.values())

_BY_PATH: dict[str, dict[str, Route]] = {}
_OF_DOCUMENTS = {route.method: route for route in _ROUTES if route.path.startswith(PREFIX)}
_OF_JOBS = {route.method: route for route in _ROUTES if route.path.startswith(JOBS)}
for _route in (route for route in _ROUTES if "{" not in route.path):
    _BY_PATH.setdefault(_route.path, {})[_route.method] = _route

_PAGES: dict[str, dict[str, Page]] = {}
for _page in PAGES:
    _PAGES.setdefault(_page.path, {})[_page.method] = _page

DECODERS: dict[str, msgspec.json.Decoder[Any]] = {
    route.path: msgspec.json.Decoder(route.takes, float_hook=Number if route.takes is shapes.Grouping else None)
    for route in ROUTES
    if route.takes is not None
}
"""Numbers within search results go back as they came."""


class Place(NamedTuple):
    """Where an address leads."""

    routes: dict[str, Route]
    """By method."""
    name: str | None = None
    """Of the index, where it is in the address."""
    rest: bytes = b""
    """What stands behind PREFIX: the id of a document, percent-encoded."""


def place_at(path: str, raw_path: bytes) -> Place:
    """Return what there is at an address; no route where there is none."""
    named = _NAMED.fullmatch(raw_path)
    if named is None:
        return Place(_routes_at(path, raw_path), None, raw_path[len(PREFIX) :])
    raw_path = b"/v1" + (named[3] or b"/index")
    path = "/v1" + (path[len(named[1]) :] or "/index")
    found = _routes_at(path, raw_path)
    routes = {m: _AT_NAMES[m, each.path] for m, each in found.items() if (m, each.path) in _AT_NAMES}
    return Place(routes, named[2].decode(), raw_path[len(PREFIX) :])


def _routes_at(path: str, raw_path: bytes) -> dict[str, Route]:
    found = _BY_PATH.get(path)
    if found is None and raw_path.startswith(PREFIX.encode()) and len(raw_path) > len(PREFIX):
        return _OF_DOCUMENTS
    if found is None and path.startswith(JOBS) and len(path) > len(JOBS):
        return _OF_JOBS
    return found or {}


def pages_at(path: str) -> tuple[dict[str, Page], str]:
    """The pages at an address, by method, and the rest of it where they take one."""
    if path in _PAGES:
        return _PAGES[path], ""
    for pattern, pages in _PAGES.items():
        beginning, taken, _ = pattern.partition("{rest}")
        if taken and path.startswith(beginning):
            return pages, path[len(beginning) :]
    return {}, ""
