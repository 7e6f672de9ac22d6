"""Ask a running service (`neardup serve`) as one asks an index.

    client = neardup.Client("http://127.0.0.1:8080", token=…)   # https://…, ca="ca.pem"
    verdict = client.check_and_add("https://example.org/", "the text of the page …")
    for verdict in client.check_and_add_many(documents): …

Threads may share a client. Single calls reuse connections. Streams send from a thread of their own while answers are
taken, and nothing piles up in between: a service does not read on while its answers are not taken. It drops a client
that takes none for its --idle-timeout (60 seconds, if not told otherwise), and answers on their way are lost then.

A document whose answer was lost may be stored. Asked again with check_and_add it is a duplicate whose match has its own
id: whoever gets that of a document that was sent before treats it as new.

A call is repeated only where that changes nothing: what reads, when the connection breaks; and anything, when it was
refused before it began (no connection, or the service said that it is busy).

The server is not trusted with the caller's memory or time: `http_answer` reads what it sends.
"""

import json
import os
import selectors
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from neardup.client_answers import (
    NOT_DECODED,
    Added,
    Comparison,
    Documents,
    Groups,
    IndexList,
    Job,
    LineProblem,
    Matches,
    Problem,
    Removed,
    Replaced,
    SketchList,
    check_result,
    converted,
    decoded,
    not_decoded,
    printable,
)
from neardup.duplex import DuplexSocket, Selector
from neardup.errors import InputError, NeardupError, OutputError, StoreError, TokenError, Unreachable, UsageError
from neardup.http_answer import Answer, AnswerClock, Deadline, TooLong, Unexpected, send_all
from neardup.index.answers import Document, Match, Stored, Verdict

if TYPE_CHECKING:
    from neardup.refine import Grouped
    from neardup.refine.formats import Result

Text = str | bytes | None
Found = TypeVar("Found")
Line = TypeVar("Line", Verdict, Added, Replaced, Removed)
OnError = Callable[[int, NeardupError], None]

SIGNATURE_FIELD = "neardup_signature"
"""Where a service looks for a result's signature."""

LONGEST_TIMEOUT = 1_000_000
"""Seconds; sockets cannot wait for ever longer."""

RETRIES = 3
"""Times that a call is repeated, where that is safe."""

LONGEST_WAIT = 10.0
"""Seconds between two attempts, whatever a service asks for."""

LARGEST_ANSWER = 256 << 20
"""Bytes of an answer with a stored text, or with the sketches of the longest body that a service takes."""

LARGEST_LINE = 16 << 20
"""Bytes of an answer about one document, alone or in a stream."""

SMALL_ANSWER = 1 << 20
"""Bytes of any other answer, such as a refusal or the state of a job: what is built of it may take 30 times as much."""

MOST_AHEAD = 64 << 20
"""Bytes of documents that are sent before they are answered: what a service holds of a stream is a tenth of it."""

_LARGEST_MATCH = 128 << 10
"""Bytes of a match: its id and address have 8,192 bytes each, of which JSON may make six times as many."""

_IDLE = 60.0
"""Seconds after which a connection is not used again: the service closes them after 75."""

_OWN_DUPLICATE = "Asked again, a duplicate whose match has its own id was stored by this attempt: treat it as new."

_NOT_BEGUN = ("/docs#busy", "/docs#quota", "/docs#stopping")
"""Problems of requests that the service did nothing for."""
_BUSY = (429, 502, 503, 504)
"""Statuses of a service that has too much to do, and of a proxy in front of it that does not reach it."""
_PROXY = "proxy"
"""The kind of a problem that a proxy has, and says in its own words."""


class Client:
    """A service at `address`, such as http://127.0.0.1:8080, or https://….

    token: the one that was given to you, where the service has any.
    index: the name of the index to ask, where the service has several; the default one if not given.
    timeout: seconds for the connection to be made, for a request to be sent, and then for its whole answer, however its
        bytes come. A call that is repeated has them each time, and so has each look at the job of an operator. In a
        stream they are for the service to take a document and to give its next answer: at the latest after twice as
        long the stream is given up. The time in which the caller makes documents or works on answers does not count, as
        long as the service goes on reading meanwhile.
    ca: file with the certificates (PEM) of authorities to trust, in place of the system's; for https://.
    """

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        timeout: float = 60.0,
        ca: str | os.PathLike[str] | None = None,
        index: str | None = None,
    ) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise UsageError(f"address = {address!r}: give it as http://HOST:PORT.")
        if token is not None and not (token.isascii() and token.isprintable() and " " not in token):
            raise UsageError("token: is not of printable ASCII characters without spaces; strip what a file ends with.")
        self.address = address.rstrip("/")
        self._secure, self._host, self._prefix = parts.scheme == "https", parts.hostname, parts.path.rstrip("/")
        try:
            self._port = parts.port or (443 if self._secure else 80)
        except ValueError as error:
            raise UsageError(f"address = {address!r}: a port lies between 1 and 65535.") from error
        if not isinstance(timeout, int | float) or not 0 < timeout <= LONGEST_TIMEOUT:
            raise UsageError(f"timeout = {timeout!r}: give seconds, above 0 and up to {LONGEST_TIMEOUT:,}.")
        self._timeout = timeout
        self.index = index
        self._of_index = "/v1" if index is None else f"/v1/indexes/{quote(index, safe='')}"
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._idle: list[tuple[float, socket.socket]] = []
        self._lock = threading.Lock()
        self._context = _context(ca) if self._secure else None
        if ca is not None and not self._secure:
            raise UsageError(f"address = {address!r}: ca is about https://.")

    # One document at a time.

    def check(self, text: Text = None, *, html: Text = None, url: str | None = None, id: str = "") -> Verdict:
        """Is it similar to a stored one? Nothing is stored."""
        return self._post("check", _document(id, text, html, url), Verdict, safe=True)

    def check_and_add(self, id: str, text: Text = None, *, html: Text = None, url: str | None = None) -> Verdict:
        """Store it if it is similar to none, in one step."""
        return self._post("check-and-add", _document(id, text, html, url), Verdict)

    def add(self, id: str, text: Text = None, *, html: Text = None, url: str | None = None) -> bool:
        """Store a document, whatever it is similar to. False: it is there already."""
        return self._post("add", _document(id, text, html, url), Added).added

    def update(self, id: str, text: Text = None, *, html: Text = None, url: str | None = None) -> bool:
        """Store a document in the place of the one with this id. True: there was one."""
        return self._post("update", _document(id, text, html, url), Replaced).replaced

    def remove(self, id: str) -> bool:
        """Forget a document. False: there is none."""
        return self._post("remove", {"id": id}, Removed).removed

    def get(self, id: str) -> Stored | None:
        """What is stored of a document."""
        if not id:  # nothing can be stored under it, and the address would be another one
            return None
        path = f"{self._of_index}/documents/{quote(id, safe='')}"
        content, problem = self._ask("GET", path, None, safe=True, limit=LARGEST_ANSWER)
        if problem is not None and problem.status == 404 and problem.kind == "/docs#no-document":
            return None
        found = self._done(content, problem, Stored)
        self._check_same(found, id)
        return found

    def similar(self, text: Text = None, *, html: Text = None, url: str | None = None, most: int = 10) -> list[Match]:
        """All stored documents that it is similar to, the most similar first."""
        asked = {**_document("", text, html, url), "most": most}
        del asked["id"]
        limit = LARGEST_LINE + _LARGEST_MATCH * max(0, most)
        return self._post("similar", asked, Matches, safe=True, limit=limit).matches

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.get(id) is not None

    def __len__(self) -> int:
        documents: int = self.info()["documents"]
        return documents

    # Documents at hand, and the service itself.

    def compare(
        self,
        first: Text = None,
        second: Text = None,
        *,
        first_html: Text = None,
        second_html: Text = None,
        recipe: str | None = None,
        systems: bool = False,
    ) -> dict[str, Any]:
        """Exactly how similar two documents are: resemblance, containment both ways, whether they are identical; with
        `systems`, also what every published system says of them."""
        sides = [_content(*side) for side in ((first, first_html), (second, second_html))]
        asked = {"first": sides[0], "second": sides[1], "systems": systems, "recipe": recipe}
        sent = {k: v for k, v in asked.items() if v is not None}
        return dict(self._post("compare", sent, Comparison, safe=True, limit=SMALL_ANSWER))

    def group(
        self,
        results: Any,
        *,
        threshold: float = 0.7,
        query: str | None = None,
        contained: bool = True,
        format: str | None = None,
        text_field: str | None = None,
        html_field: str | None = None,
        signature_field: str | None = None,
        id_field: str | None = None,
    ) -> "Grouped":
        """The near-duplicates of search results under the best-ranked one, as `neardup.group` has it. Of every result
        no more is sent than what is compared."""
        from neardup.refine.answers import Group, Grouped, Member
        from neardup.refine.formats import Fields, read

        page = read(results, format=format, fields=Fields(text_field, html_field, signature_field, id_field))
        asked = {
            "results": [_compared(result, whole=not query) for result in page.results],
            "threshold": threshold,
            "query": query,
            "contained": contained,
            "show": None,
        }
        found = self._post("group", asked, Groups, safe=True)
        if not found.are_of(len(page.results)):
            raise self._no_service(Unexpected("groups of other results"))
        groups = [
            Group(group.anchor, [Member(m.place, m.relation, m.match, m.containment) for m in group.members])
            for group in found.groups
        ]
        return Grouped(groups, found.compared, found.passages, page)

    def sketch(self, documents: Iterable[Document | Mapping[str, Any]]) -> dict[str, Any]:
        """What the index would keep of documents: recipe and sketches."""
        sent = [_sent(document) for document in documents]
        limit = min(LARGEST_ANSWER, LARGEST_LINE + 8 * sum(map(_size, sent)) + _LARGEST_MATCH * len(sent))
        found = self._post("sketch", {"documents": sent}, SketchList, safe=True, limit=limit)
        if [sketch["id"] for sketch in found["sketches"]] != [document["id"] for document in sent]:
            raise self._no_service(Unexpected("sketches of other documents"))
        return dict(found)

    def info(self) -> dict[str, Any]:
        """About the index: documents, recipe, engine."""
        path = "/v1/index" if self.index is None else self._of_index
        found = self._done(*self._ask("GET", path, None, safe=True, limit=SMALL_ANSWER), dict[str, Any])
        try:
            return converted(found, Documents)
        except Unexpected as error:
            raise self._no_service(error) from error

    def indexes(self) -> list[dict[str, Any]]:
        """The indexes that the token may use: name, documents, recipe, and which is the default one."""
        return self._done(*self._ask("GET", "/v1/indexes", None, safe=True, limit=SMALL_ANSWER), IndexList).indexes

    # For operators: the token has the right admin.

    def compact(self) -> dict[str, Any]:
        """Let the service give back the space of removed documents, and wait for it: bytes before and after."""
        return self._job("compact")

    def verify(self) -> dict[str, Any]:
        """Let the service read everything, and wait for it: whether the index is sound, and what is damaged."""
        return self._job("verify")

    def backup(self, name: str) -> dict[str, Any]:
        """Let the service write a backup of this name into its folder of backups, and wait for it."""
        return self._job("backup", {"name": name})

    def expire(self, *, days: int) -> dict[str, Any]:
        """Let the service forget what was not seen for so many days, and wait for it: how many documents expired."""
        return self._job("expire", {"keep_days": days})

    def reload_collection(self) -> dict[str, Any]:
        """Let the service open its collection anew, and wait for it: how many documents it has."""
        return self._job("collection/reload")

    def _job(self, what: str, asked: dict[str, Any] | None = None) -> dict[str, Any]:
        of = "/v1" if what.startswith("collection/") else self._of_index
        begun = self._ask("POST", f"{of}/{what}", asked, safe=False, limit=SMALL_ANSWER)
        job, pause = self._done(*begun, Job), 0.05
        path = f"/v1/jobs/{quote(job['id'], safe='')}"
        while job["state"] == "running":
            time.sleep(pause)
            pause = min(2.0, 1.5 * pause)
            job = self._done(*self._ask("GET", path, None, safe=True, limit=SMALL_ANSWER), Job)
        if job["state"] == "failed":
            where = self.address
            if job.get("index"):
                where += f"/v1/indexes/{printable(job['index'] or '', 100)}"
            raise StoreError(f"{where}: {what} failed: {printable(job.get('failure') or '', 4000)}")
        try:
            return check_result(what, job.get("result"))
        except Unexpected as error:
            raise self._no_service(error) from error

    # Streams: documents in, answers out, in order, as they come.

    def check_many(
        self, documents: Iterable[Document | Mapping[str, Any]], *, on_error: OnError | None = None
    ) -> Iterator[Verdict]:
        """Verdicts in the order of the documents, which are taken from a thread of their own.

        A document that the service refuses raises its error; with `on_error` that is called with the document's number
        (from 0) and the error, and the stream goes on without a verdict for it.

        What the documents themselves raise is raised when all verdicts of those before are taken. Take every answer
        within the service's --idle-timeout, or it ends the stream.
        """
        return self._stream("check", map(_sent, documents), Verdict, _itself, on_error)

    def check_and_add_many(
        self, documents: Iterable[Document | Mapping[str, Any]], *, on_error: OnError | None = None
    ) -> Iterator[Verdict]:
        """The same, and new documents are stored: a verdict comes when its document is on disk."""
        return self._stream("check-and-add", map(_sent, documents), Verdict, _itself, on_error)

    def add_many(
        self, documents: Iterable[Document | Mapping[str, Any]], *, on_error: OnError | None = None
    ) -> Iterator[bool]:
        """Whether each was added; see `add` and `check_many`."""
        return self._stream("add", map(_sent, documents), Added, lambda line: line.added, on_error)

    def update_many(
        self, documents: Iterable[Document | Mapping[str, Any]], *, on_error: OnError | None = None
    ) -> Iterator[bool]:
        """Whether each replaced another; see `update` and `check_many`."""
        return self._stream("update", map(_sent, documents), Replaced, lambda line: line.replaced, on_error)

    def remove_many(self, ids: Iterable[str], *, on_error: OnError | None = None) -> Iterator[bool]:
        """Whether each was there; see `check_many`."""
        return self._stream("remove", ({"id": id} for id in ids), Removed, lambda line: line.removed, on_error)

    def close(self) -> None:
        """Close idle connections. The client can still be used."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, sock in idle:
            sock.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<neardup.Client {self.address}{'' if self.index is None else f' {self.index}'}>"

    # Requests.

    def _post(
        self, what: str, asked: dict[str, Any], kind: type[Found], *, safe: bool = False, limit: int | None = None
    ) -> Found:
        of = "/v1" if what == "group" else self._of_index
        limit = LARGEST_LINE if limit is None else limit
        found = self._done(*self._ask("POST", f"{of}/{what}", asked, safe=safe, limit=limit), kind)
        if "id" in asked:
            self._check_same(found, asked["id"])
        return found

    def _check_same(self, found: Any, id: str) -> None:
        if found.id != id:
            raise self._no_service(Unexpected("an answer about another id"))

    def _done(self, content: bytes | bytearray, problem: Problem | None, kind: type[Found]) -> Found:
        """Return what an answer says.

        Raises:
            NeardupError: The service refuses.
            StoreError: The answer is none of this kind.
        """
        if problem is not None:
            raise _error(problem)
        return self._decoded(content, kind)

    def _decoded(self, content: bytes | bytearray, kind: type[Found]) -> Found:
        try:
            return decoded(content, kind)
        except Unexpected as error:
            raise self._no_service(error) from error

    def _ask(
        self, method: str, path: str, asked: dict[str, Any] | None, *, safe: bool, limit: int
    ) -> tuple[bytes | bytearray, Problem | None]:
        """Return the answer, and the problem where the service refuses; ask once more where that is safe."""
        body = None if asked is None else _encoded(asked)
        for left in range(RETRIES, -1, -1):
            connection, sent = self._fresh(), False
            connection.sock = self._kept()
            try:
                if connection.sock is None:
                    connection.connect()
                sent = True
                answer, content = self._exchange(connection, method, path, body, limit)
            except (OSError, HTTPException) as error:
                connection.close()
                if left and (safe or not sent) and not isinstance(error, TimeoutError):
                    time.sleep(0.05 * (RETRIES - left + 1))
                    continue
                raise self._unreachable(error, begun=sent and not safe) from error
            except BaseException:
                connection.close()
                raise
            self._keep(connection, answer)
            if answer.status in (200, 202):
                return content, None
            problem = self._problem(content, answer.status)
            if left and answer.status in _BUSY and (safe or problem.kind in _NOT_BEGUN):
                time.sleep(_wait(answer.retry_after))
                continue
            return content, problem
        raise AssertionError("the last attempt returns or raises")

    def _exchange(
        self, connection: HTTPConnection, method: str, path: str, body: bytes | None, limit: int
    ) -> tuple[Answer, bytes | bytearray]:
        """Send a request on an open connection, and read its answer."""
        sock, headers = connection.sock, dict(self._headers)
        if body is not None:
            headers |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        sock.settimeout(self._timeout)
        connection.request(method, self._prefix + path, None, headers)
        send_all(sock, body or b"", self._timeout)
        try:
            answer = Answer(Deadline(sock, self._timeout))
            return answer, answer.read(limit if answer.status in (200, 202) else SMALL_ANSWER)
        except (TooLong, Unexpected) as error:
            raise self._no_service(error) from error

    def _problem(self, content: bytes | bytearray, status: int) -> Problem:
        try:
            problem = decoded(content, Problem)
            if problem.status != status:
                raise Unexpected(f"a problem with status {problem.status}")
        except Unexpected as error:
            if status in _BUSY:
                return Problem(
                    status, _PROXY, "a proxy in front of the service cannot pass this on", f"status {status}"
                )
            raise self._no_service(Unexpected(f"status {status} with {error}")) from error
        return problem

    def _no_service(self, error: TooLong | Unexpected) -> StoreError:
        """Return the error for an answer that no neardup service gives."""
        if isinstance(error, TooLong):
            told = f"more than {error.limit:,} bytes"
        else:
            told = f"something else than expected ({error})"
        return StoreError(f"{self.address}: answers with {told}; that is no neardup service.")

    def _kept(self) -> socket.socket | None:
        """Return a connection that was used before and not closed from the other side; None where there is none."""
        now = time.monotonic()
        with self._lock:
            while self._idle:
                since, sock = self._idle.pop()
                if now - since < _IDLE and _silent(sock):
                    return sock
                sock.close()
        return None

    def _fresh(self) -> HTTPConnection:
        if self._secure:
            return HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._context)
        return HTTPConnection(self._host, self._port, timeout=self._timeout)

    def _keep(self, connection: HTTPConnection, answer: Answer) -> None:
        if not answer.reusable:
            connection.close()
            return
        with self._lock:
            self._idle.append((time.monotonic(), connection.sock))

    def _unreachable(self, error: Exception, *, begun: bool) -> Unreachable:
        why = "no answer in time" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
        more = f" Whether it was done is not known: look, or do it again. {_OWN_DUPLICATE}" if begun else ""
        return Unreachable(f"{self.address}: the service cannot be asked ({why}).{more}")

    # Streams.

    def _stream(
        self,
        what: str,
        documents: Iterable[dict[str, Any]],
        kind: type[Line],
        made: Callable[[Line], Found],
        on_error: OnError | None,
    ) -> Iterator[Found]:
        connection = self._fresh()
        try:
            sender = _Sender(self._begun(connection, what), documents)
            try:
                with closing(self._lines(connection, sender)) as lines:
                    yield from self._answers(lines, sender, kind, made, on_error)
            finally:
                sender.stop()
        finally:
            connection.close()

    def _begun(self, connection: HTTPConnection, what: str) -> socket.socket:
        """The socket on which lines are sent, a chunk each."""
        try:
            connection.connect()
            connection.putrequest("POST", f"{self._prefix}{self._of_index}/stream/{what}")
            for name, value in self._headers.items():
                connection.putheader(name, value)
            connection.putheader("Content-Type", "application/x-ndjson")
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders()
        except (OSError, HTTPException) as error:
            raise self._unreachable(error, begun=False) from error
        assert connection.sock is not None
        if isinstance(connection.sock, DuplexSocket):
            connection.sock.share()
        return connection.sock

    def _lines(self, connection: HTTPConnection, sender: "_Sender") -> Generator[bytes | bytearray]:
        try:
            answer = Answer(AnswerClock(connection.sock, self._timeout, sender.is_owed_nothing))
            if answer.status != 200:
                raise _error(self._problem(answer.read(SMALL_ANSWER), answer.status))
            yield from answer.lines(LARGEST_LINE)
        except (OSError, HTTPException) as error:
            sender.check()  # if the documents themselves failed, that is the error
            raise self._unreachable(error, begun=True) from error
        except (TooLong, Unexpected) as error:
            raise self._no_service(error) from error

    def _answers(
        self,
        lines: Iterator[bytes | bytearray],
        sender: "_Sender",
        kind: type[Line],
        made: Callable[[Line], Found],
        on_error: OnError | None,
    ) -> Iterator[Found]:
        answered = 0
        decode = msgspec.json.Decoder(kind).decode
        for line in lines:
            try:
                found = decode(line)
            except NOT_DECODED as error:
                self._line_refused(line, error, sender, answered, on_error)
            else:
                self._check_id(found.id, sender.answered(), answered)
                yield made(found)
            answered += 1
        sender.check()
        if not sender.done or answered != sender.sent:
            raise StoreError(
                f"{self.address}: the stream ended after {answered:,} answers, before all documents were answered. "
                f"Those before are done; send the others again. {_OWN_DUPLICATE}"
            )

    def _check_id(self, id: str, asked: tuple[Any, ...], number: int) -> None:
        """Check that an answer is about the document that was sent as the next one.

        Raises:
            StoreError: It is about another document, or about none that was sent.
        """
        if not asked:
            raise self._no_service(Unexpected(f"more answers than documents, of which {number:,} were sent"))
        if asked[0] != id:
            raise self._no_service(Unexpected(f"an answer about another id than document {number:,} has"))

    def _line_refused(
        self, line: bytes | bytearray, error: Exception, sender: "_Sender", answered: int, on_error: OnError | None
    ) -> None:
        """Raise or report the problem that a line says, which is no answer of the kind that was expected."""
        try:
            found = decoded(line, LineProblem)
        except Unexpected:
            raise self._no_service(not_decoded(error)) from error
        if found.line != answered + 1:
            raise self._no_service(Unexpected(f"an error about line {found.line:,} and not {answered + 1:,}"))
        refused = _error(found.error)
        ends = not sender.answered()  # no document of this number was sent: the service ends the stream
        if ends or on_error is None or found.error.status in (408, 503):
            refused.add_note(
                f"Document {answered:,} of the stream; those before it are done, and those behind it that were sent "
                f"already may be. {_OWN_DUPLICATE}"
            )
            raise refused
        on_error(answered, refused)


class _Broken(Exception):
    """The connection, and not what makes the documents, which may raise an OSError of its own."""


class _Sender:
    """Sends lines from a thread, a chunk each, until all are sent or nobody listens."""

    def __init__(self, sock: socket.socket, documents: Iterable[dict[str, Any]]) -> None:
        self._sock, self._documents = sock, documents
        self.sent = 0
        """Documents, the one that is being sent included."""
        self._unanswered: deque[tuple[Any, int]] = deque()
        """Id and weight of each document that was sent and is not answered; the thread appends, the reader pops."""
        self._weight_sent = self._weight_answered = 0
        self._making = True
        """The caller's next document is awaited."""
        self.done = self._stopped = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="neardup-client", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for document in self._documents:
                if self._stopped:
                    return
                line = _encoded(document) + b"\n"
                self._making = False
                self._note(document["id"], len(line) + 64)
                self._send(b"%x\r\n%b\r\n" % (len(line), line))
                self._making = True
            self.done = True
        except _Broken:
            return  # the answers tell why
        except BaseException as error:  # of whoever makes the documents: told when all answers are taken
            self._failure = error
        self._making = False
        with suppress(_Broken):
            self._send(b"0\r\n\r\n")

    def _send(self, data: bytes) -> None:
        try:
            self._sock.sendall(data)
        except OSError as error:
            raise _Broken from error

    def _note(self, id: Any, weight: int) -> None:
        """Remember a document before it is sent: its answer may come at once. Wait while too many are unanswered."""
        while self._unanswered and self._weight_sent - self._weight_answered > MOST_AHEAD and not self._stopped:
            time.sleep(0.01)
        self._unanswered.append((id, weight))
        self._weight_sent += weight
        self.sent += 1

    def answered(self) -> tuple[Any, ...]:
        """Return the id of the document that an answer must be about, as the only one; nothing where none was sent."""
        if not self._unanswered:
            return ()
        id_, weight = self._unanswered.popleft()
        self._weight_answered += weight
        return (id_,)

    def is_owed_nothing(self) -> bool:
        """Return whether all that was sent is answered and the caller's next document is awaited."""
        return self._making and not self._unanswered

    def check(self) -> None:
        """Raise what the documents raised."""
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Send no more."""
        self._stopped = True
        if not self.done:
            self._hang_up()

    def _hang_up(self) -> None:
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)


def _context(ca: str | os.PathLike[str] | None) -> ssl.SSLContext:
    """How a service's certificate is verified: name, time, and who signed it."""
    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as error:
        raise UsageError(f"ca = {ca}: cannot be read ({error.strerror or error}).") from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.sslsocket_class = DuplexSocket
    return context


def _silent(sock: socket.socket) -> bool:
    """Whether nothing came, not even the end of the connection."""
    with Selector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return not selector.select(0)


def _wait(asked: str) -> float:
    """Seconds that a service asks for; a proxy before it may name a date instead."""
    return min(LONGEST_WAIT, float(asked)) if asked.strip().isdecimal() else 1.0


def _sent(document: Document | Mapping[str, Any]) -> dict[str, Any]:
    """A document as it is sent."""
    if isinstance(document, Document):
        return _document(document.id, document.text, document.html, document.url)
    return _document(*(document.get(name) for name in ("id", "text", "html", "url")))


def _document(id: Any, text: Text, html: Text, url: str | None) -> dict[str, Any]:
    found = {"id": "" if id is None else id, **_content(text, html)}
    return {**found, "url": url} if url is not None else found


def _compared(result: "Result", *, whole: bool) -> dict[str, str]:
    """What is compared of a search result. whole: a signature is enough, where there is one."""
    found = {} if result.signature is None else {SIGNATURE_FIELD: _base64(result.signature)}
    if not found or not whole:
        for name in ("text", "html", "snippet"):
            content: Text = getattr(result, name)
            if content is not None:
                found |= {name: _decoded(name, content)}
    return found


def _base64(signature: str | bytes) -> str:
    if isinstance(signature, str):
        return signature
    return (b64encode(signature) if len(signature) == 256 else signature).decode("latin-1")


def _content(text: Text, html: Text) -> dict[str, str]:
    if (text is None) == (html is None):
        raise UsageError("give text or html, one of them.")
    name, content = ("text", text) if html is None else ("html", html)
    return {name: _decoded(name, content or "")}


def _decoded(name: str, content: str | bytes) -> str:
    if isinstance(content, str):
        return content
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: is not UTF-8 (byte {error.start:,}); a service takes nothing else.") from error


def _encoded(value: dict[str, Any]) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:
        raise InputError("a string has half of a surrogate pair, and cannot be sent as UTF-8.") from error


def _size(document: dict[str, Any]) -> int:
    """Return about how many bytes a document has."""
    return sum(len(value) for value in document.values() if isinstance(value, str))


def _itself(verdict: Verdict) -> Verdict:
    return verdict


def _error(problem: Problem) -> NeardupError:
    """A problem as this package's error."""
    text = f"{printable(problem.title, 200)}: {printable(problem.detail or '', 4000)}"
    if problem.instance:
        text += f" (request {printable(problem.instance, 100)})"
    if problem.kind == _PROXY:
        return Unreachable(text)
    if problem.status == 507:
        return OutputError(text)
    if problem.status == 408 or problem.status >= 500:
        return StoreError(text)
    return TokenError(text) if problem.status == 401 else UsageError(text)
