"""/collection/audit: the labelling page of `neardup audit`, under the header of all pages.

Pairs are drawn once, when somebody begins, and labels are written to the run's folder as the audit does; both need the
right to write. The page asks for pairs and sends labels under /collection/audit/api.
"""

import json
from concurrent.futures import Future
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from neardup.errors import UsageError
from neardup.service.http import JSON
from neardup.service.pages.asking import Asked, Page, Shown, Site
from neardup.service.pages.collection_coming import begun, coming_page, waited_for
from neardup.service.pages.collection_run import folder_of, run_of
from neardup.service.pages.layout import above, asset, page
from neardup.service.problems import Problem

if TYPE_CHECKING:
    from neardup.audit.session import LabellingSession
    from neardup.result import Result

API = "/collection/audit/api"

PATIENCE = 8.0
"""Seconds that a request waits for pairs to be drawn."""

_KINDS = {400: "invalid", 404: "not-found", 413: "too-large"}


class Auditing:
    """The session of a run: what was drawn, once it was."""

    def __init__(self, run: "Result") -> None:
        self._run, self._folder = run, folder_of(run) / "audit"
        self._session: LabellingSession | None = None
        self._of: tuple[int, int] | None = None
        """Time and size of the pairs that the session has: they may be moved away, and drawn again."""
        self._drawing: Future[LabellingSession] | None = None
        self._opening = Lock()

    def session(self) -> "LabellingSession | None":
        """None where no pairs were drawn of this run."""
        from neardup.audit.session import LabellingSession

        with self._opening:
            now = self._drawn()
            if now != self._of:
                self._session, self._of = None, None
            if self._session is None and now is not None:
                found = LabellingSession(self._folder)
                found.check_run(self._run)
                self._session, self._of = found, now
            return self._session

    def begin(self, pairs: int, patience: float) -> None:
        """Draw pairs, or go on with those that were drawn. Of a large collection that takes a while: texts are read.
        Whoever asks meanwhile waits for the same ones, for so many seconds."""
        from neardup.audit.session import LabellingSession

        with self._opening:
            if self._drawing is None:
                wanted = None if self._drawn() else pairs
                self._drawing = begun(lambda: LabellingSession.begin(self._run, self._folder, pairs=wanted))
            drawing = self._drawing
        waited_for(drawing, patience)
        self.still_drawing()

    def still_drawing(self) -> bool:
        """Whether pairs are on their way. What went wrong is told once."""
        with self._opening:
            drawing = self._drawing
            if drawing is None or not drawing.done():
                return drawing is not None
            self._drawing = None
        drawing.result()
        return False

    def _drawn(self) -> tuple[int, int] | None:
        try:
            found = (self._folder / "pairs.jsonl").stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size


@lru_cache(1)
def _auditing(run: "Result") -> Auditing:
    return Auditing(run)


def show(site: Site, asked: Asked) -> Shown:
    """GET /collection/audit."""
    run = run_of(site)
    auditing, trouble = _auditing(run), ""
    if auditing.still_drawing():
        return coming_page("audit", "Pairs are being drawn")
    try:
        session = auditing.session()
    except UsageError as error:  # pairs of another run
        session, trouble = None, str(error)
    if session is not None:
        return Shown(_page())
    removed = len(run.decision.removed)
    return page(
        "Audit",
        "collection_audit.html",
        at="/collection",
        styles=["collection.css"],
        within="audit",
        removed=removed,
        most=min(2000, removed),
        usual=min(200, removed),
        trouble=trouble,
    )


def begin(site: Site, asked: Asked) -> Shown:
    """POST /collection/audit: draw pairs, and go to the page."""
    run = run_of(site)
    given = asked.form.get("pairs", "").strip()
    if not (given.isascii() and given.isdecimal() and 1 <= int(given[:9]) <= 2000):
        raise Problem("invalid", "Draw 1 to 2000 pairs.")
    _auditing(run).begin(int(given[:9]), min(PATIENCE, site.limits.seconds / 2))
    return Shown(b"", 303, location="/collection/audit")


def _state(site: Site, asked: Asked) -> Shown:
    return _json(_drawn(site, asked).state())


def _pair(site: Site, asked: Asked) -> Shown:
    from neardup.audit import answering

    session = _drawn(site, asked)
    return _answered(lambda: answering.pair(session, answering.number(asked.rest, session)))


def _texts(site: Site, asked: Asked) -> Shown:
    from neardup.audit import answering

    session = _drawn(site, asked)
    return _answered(lambda: answering.texts(session, answering.number(asked.rest, session)))


def _label(site: Site, asked: Asked) -> Shown:
    from neardup.audit import answering

    session = _drawn(site, asked)
    return _answered(lambda: answering.said(session, asked.body))


ASKED = (
    Page("GET", f"{API}/state", _state, gives=JSON),
    Page("GET", f"{API}/pairs/{{rest}}", _pair, gives=JSON),
    Page("GET", f"{API}/texts/{{rest}}", _texts, gives=JSON),
    Page("POST", f"{API}/labels", _label, level="write", takes=JSON, gives=JSON),
)
"""What the page asks for."""


def _drawn(site: Site, asked: Asked) -> "LabellingSession":
    """What was drawn, for the one who asks: a label carries the name beside the token, and the token's own."""
    from neardup.audit.labels import LONGEST_NAME

    session = _auditing(run_of(site)).session()
    if session is None:
        raise Problem("not-found", "No pairs have been drawn: begin on /collection/audit.")
    return session.by(asked.user.strip()[:LONGEST_NAME], asked.token)


def _answered(answer: Any) -> Shown:
    from neardup.audit.answering import Refused

    try:
        return _json(answer())
    except Refused as error:
        raise Problem(_KINDS[error.status], str(error)) from None


def _json(value: Any) -> Shown:
    return Shown(json.dumps(value, allow_nan=False).encode(), type=JSON)


def _page() -> bytes:
    from neardup.audit.answering import page as labelling

    looks = asset("layout.css") + asset("collection.css") + asset("collection_audit.css")
    return labelling(above("/collection", "audit", api=API), looks).encode()
