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
"""

import json
import os
import selectors
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from urllib.parse import quote, urlsplit

from neardup.duplex import DuplexSocket, Selector
from neardup.errors import InputError, NeardupError, OutputError, StoreError, UsageError
from neardup.index.answers import Document, Match, Stored, Verdict

if TYPE_CHECKING:
    from neardup.refine import Grouped
    from neardup.refine.formats import Result

Text = str | bytes | None
Found = TypeVar("Found")
OnError = Callable[[int, NeardupError], None]

SIGNATURE_FIELD = "neardup_signature"
"""Where a service looks for a result's signature."""

RETRIES = 3
"""Times that a call is repeated, where that is safe."""

LONGEST_WAIT = 10.0
"""Seconds between two attempts, whatever a service asks for."""

LARGEST_ANSWER = 256 << 20
"""Bytes of an answer: the longest that a service gives is the sketches of the longest body that it takes."""

LARGEST_LINE = 16 << 20
"""Bytes of an answer in a stream, which is about one document."""

_IDLE = 60.0
"""Seconds after which a connection is not used again: the service closes them after 75."""

_OWN_DUPLICATE = "Asked again, a duplicate whose match has its own id was stored by this attempt: treat it as new."

_NOT_BEGUN = ("/docs#busy", "/docs#quota", "/docs#stopping")
"""Problems of requests that the service did nothing for."""


class Client:
    """A service at `address`, such as http://127.0.0.1:8080, or https://….

    token: the one that was given to you, where the service has any.
    index: the name of the index to ask, where the service has several; the default one if not given.
    timeout: seconds to wait for an answer, and for a service to take or send anything.
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
        self._timeout = timeout
        self.index = index
        self._of_index = "/v1" if index is None else f"/v1/indexes/{quote(index, safe='')}"
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._idle: list[tuple[float, HTTPConnection]] = []
        self._lock = threading.Lock()
        self._context = _context(ca) if self._secure else None
        if ca is not None and not self._secure:
            raise UsageError(f"address = {address!r}: ca is about https://.")

    # One document at a time.

    def check(self, text: Text = None, *, html: Text = None, url: str | None = None, id: str = "") -> Verdict:
        """Is it similar to a stored one? Nothing is stored."""
        return _verdict(self._post("check", _document(id, text, html, url), safe=True))

    def check_and_add(self, id: str, text: Text = None, *, html: Text = None, url: str | None = None) -> Verdict:
        """Store it if it is similar to none, in one step."""
        return _verdict(self._post("check-and-add", _document(id, text, html, url)))

    def add(self, id: str, text: Text = None, *, html: Text = None, url: str | None = None) -> bool:
        """Store a document, whatever it is similar to. False: it is there already."""
        return bool(self._post("add", _document(id, text, html, url))["added"])

    def update(self, id: str, text: Text = None, *, html: Text = None, url: str | None = None) -> bool:
        """Store a document in the place of the one with this id. True: there was one."""
        return bool(self._post("update", _document(id, text, html, url))["replaced"])

    def remove(self, id: str) -> bool:
        """Forget a document. False: there is none."""
        return bool(self._post("remove", {"id": id})["removed"])

    def get(self, id: str) -> Stored | None:
        """What is stored of a document."""
        if not id:  # nothing can be stored under it, and the address would be another one
            return None
        status, found = self._ask("GET", f"{self._of_index}/documents/{quote(id, safe='')}", None, safe=True)
        if status == 404 and found.get("type") == "/docs#no-document":
            return None
        if status != 200:
            _refuse(found)
        return Stored(found["id"], found["tokens"], found.get("url"), found.get("text"))

    def similar(self, text: Text = None, *, html: Text = None, url: str | None = None, most: int = 10) -> list[Match]:
        """All stored documents that it is similar to, the most similar first."""
        asked = {**_document("", text, html, url), "most": most}
        del asked["id"]
        return [_match(match) for match in self._post("similar", asked, safe=True)["matches"]]

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.get(id) is not None

    def __len__(self) -> int:
        return int(self.info()["documents"])

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
        return self._post("compare", {k: v for k, v in asked.items() if v is not None}, safe=True)

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
        found = self._post("group", asked, safe=True)
        groups = [
            Group(
                group["anchor"],
                [Member(m["place"], m["relation"], m["match"], m.get("containment")) for m in group["members"]],
            )
            for group in found["groups"]
        ]
        return Grouped(groups, found["compared"], found["passages"], page)

    def sketch(self, documents: Iterable[Document | Mapping[str, Any]]) -> dict[str, Any]:
        """What the index would keep of documents: recipe and sketches."""
        return self._post("sketch", {"documents": [_sent(document) for document in documents]}, safe=True)

    def info(self) -> dict[str, Any]:
        """About the index: documents, recipe, engine."""
        path = "/v1/index" if self.index is None else self._of_index
        return self._done(*self._ask("GET", path, None, safe=True))

    def indexes(self) -> list[dict[str, Any]]:
        """The indexes that the token may use: name, documents, recipe, and which is the default one."""
        found: list[dict[str, Any]] = self._done(*self._ask("GET", "/v1/indexes", None, safe=True))["indexes"]
        return found

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
        job, pause = self._done(*self._ask("POST", f"{of}/{what}", asked, safe=False)), 0.05
        while job["state"] == "running":
            time.sleep(pause)
            pause = min(2.0, 1.5 * pause)
            job = self._done(*self._ask("GET", f"/v1/jobs/{job['id']}", None, safe=True))
        if job["state"] == "failed":
            raise StoreError(f"{self.address}: {what} failed: {job.get('failure', '')}")
        result: dict[str, Any] = job["result"]
        return result

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
        return self._stream("check", map(_sent, documents), _verdict, on_error)

    def check_and_add_many(
        self, documents: Iterable[Document | Mapping[str, Any]], *, on_error: OnError | None = None
    ) -> Iterator[Verdict]:
        """The same, and new documents are stored: a verdict comes when its document is on disk."""
        return self._stream("check-and-add", map(_sent, documents), _verdict, on_error)

    def add_many(
        self, documents: Iterable[Document | Mapping[str, Any]], *, on_error: OnError | None = None
    ) -> Iterator[bool]:
        """Whether each was added; see `add` and `check_many`."""
        return self._stream("add", map(_sent, documents), lambda line: bool(line["added"]), on_error)

    def update_many(
        self, documents: Iterable[Document | Mapping[str, Any]], *, on_error: OnError | None = None
    ) -> Iterator[bool]:
        """Whether each replaced another; see `update` and `check_many`."""
        return self._stream("update", map(_sent, documents), lambda line: bool(line["replaced"]), on_error)

    def remove_many(self, ids: Iterable[str], *, on_error: OnError | None = None) -> Iterator[bool]:
        """Whether each was there; see `check_many`."""
        return self._stream("remove", ({"id": id} for id in ids), lambda line: bool(line["removed"]), on_error)

    def close(self) -> None:
        """Close idle connections. The client can still be used."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<neardup.Client {self.address}{'' if self.index is None else f' {self.index}'}>"

    # Requests.

    def _post(self, what: str, asked: dict[str, Any], *, safe: bool = False) -> dict[str, Any]:
        of = "/v1" if what == "group" else self._of_index
        return self._done(*self._ask("POST", f"{of}/{what}", asked, safe=safe))

    def _done(self, status: int, found: dict[str, Any]) -> dict[str, Any]:
        if status not in (200, 202):
            _refuse(found)
        return found

    def _ask(self, method: str, path: str, asked: dict[str, Any] | None, *, safe: bool) -> tuple[int, dict[str, Any]]:
        """Status and answer; once more where that is safe."""
        body = None if asked is None else _encoded(asked)
        for left in range(RETRIES, -1, -1):
            connection, sent = self._connection(), False
            try:
                if connection.sock is None:
                    connection.connect()
                sent = True
                headers = {**self._headers, **({"Content-Type": "application/json"} if body is not None else {})}
                connection.request(method, self._prefix + path, body, headers)
                response = connection.getresponse()
                content = self._read(response)
            except StoreError:  # longer than any answer
                connection.close()
                raise
            except (OSError, HTTPException) as error:
                connection.close()
                if left and (safe or not sent) and not isinstance(error, TimeoutError):
                    time.sleep(0.05 * (RETRIES - left + 1))
                    continue
                raise self._unreachable(error, begun=sent and not safe) from error
            self._keep(connection, response)
            found = _parsed(content, response.status, self.address)
            if left and response.status in (429, 503) and (safe or found.get("type") in _NOT_BEGUN):
                time.sleep(_wait(response.headers.get("Retry-After", "1")))
                continue
            return response.status, found
        raise AssertionError("the last attempt returns or raises")

    def _read(self, response: HTTPResponse) -> bytes:
        """Read an answer, which must end within LARGEST_ANSWER bytes."""
        pieces, size = [], 0
        while piece := response.read(1 << 20):
            pieces.append(piece)
            size += len(piece)
            if size > LARGEST_ANSWER:
                raise self._too_long(LARGEST_ANSWER)
        if response.length:  # of the bytes that were announced; read() of a number of them does not mind
            raise IncompleteRead(b"", response.length)
        return b"".join(pieces)

    def _too_long(self, limit: int) -> StoreError:
        return StoreError(f"{self.address}: answers with more than {limit:,} bytes; that is no neardup service.")

    def _connection(self) -> HTTPConnection:
        """One that is open and was not closed from the other side, or a new one."""
        now = time.monotonic()
        with self._lock:
            while self._idle:
                since, connection = self._idle.pop()
                if now - since < _IDLE and connection.sock and _silent(connection.sock):
                    return connection
                connection.close()
        return self._fresh()

    def _fresh(self) -> HTTPConnection:
        if self._secure:
            return HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._context)
        return HTTPConnection(self._host, self._port, timeout=self._timeout)

    def _keep(self, connection: HTTPConnection, response: HTTPResponse) -> None:
        if response.will_close:
            connection.close()
            return
        with self._lock:
            self._idle.append((time.monotonic(), connection))

    def _unreachable(self, error: Exception, *, begun: bool) -> StoreError:
        why = "no answer in time" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
        more = f" Whether it was done is not known: look, or do it again. {_OWN_DUPLICATE}" if begun else ""
        return StoreError(f"{self.address}: the service cannot be asked ({why}).{more}")

    # Streams.

    def _stream(
        self,
        what: str,
        documents: Iterable[dict[str, Any]],
        made: Callable[[dict[str, Any]], Found],
        on_error: OnError | None,
    ) -> Iterator[Found]:
        connection = self._fresh()
        try:
            sender = _Sender(self._begun(connection, what), documents)
            try:
                with closing(self._lines(connection, sender)) as lines:
                    yield from self._answers(lines, sender, made, on_error)
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

    def _lines(self, connection: HTTPConnection, sender: "_Sender") -> Generator[bytes]:
        try:
            with connection.getresponse() as response:
                if response.status != 200:
                    _refuse(_parsed(self._read(response), response.status, self.address))
                while line := response.readline(LARGEST_LINE + 1):
                    if len(line) > LARGEST_LINE:
                        raise self._too_long(LARGEST_LINE)
                    yield line
        except (OSError, HTTPException) as error:
            sender.check()  # if the documents themselves failed, that is the error
            raise self._unreachable(error, begun=True) from error

    def _answers(
        self,
        lines: Iterator[bytes],
        sender: "_Sender",
        made: Callable[[dict[str, Any]], Found],
        on_error: OnError | None,
    ) -> Iterator[Found]:
        answered = 0
        for line in lines:
            found = _parsed(line, 200, self.address)
            if "error" in found:
                self._line_refused(found, answered, on_error)
            else:
                yield made(found)
            answered += 1
        sender.check()
        if not sender.done or answered != sender.sent:
            raise StoreError(
                f"{self.address}: the stream ended after {answered:,} answers, before all documents were answered. "
                f"Those before are done; send the others again. {_OWN_DUPLICATE}"
            )

    def _line_refused(self, found: dict[str, Any], answered: int, on_error: OnError | None) -> None:
        error = _error(found["error"])
        if on_error is None or found["error"].get("status") in (408, 503):
            error.add_note(
                f"Document {answered:,} of the stream; those before it are done, and those behind it that were sent "
                f"already may be. {_OWN_DUPLICATE}"
            )
            raise error
        on_error(answered, error)


class _Broken(Exception):
    """The connection, and not what makes the documents, which may raise an OSError of its own."""


class _Sender:
    """Sends lines from a thread, a chunk each, until all are sent or nobody listens."""

    def __init__(self, sock: socket.socket, documents: Iterable[dict[str, Any]]) -> None:
        self._sock, self._documents = sock, documents
        self.sent = 0
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
                self._send(b"%x\r\n%b\r\n" % (len(line), line))
                self.sent += 1
            self.done = True
        except _Broken:
            return  # the answers tell why
        except BaseException as error:  # of whoever makes the documents: told when all answers are taken
            self._failure = error
        with suppress(_Broken):
            self._send(b"0\r\n\r\n")

    def _send(self, data: bytes) -> None:
        try:
            self._sock.sendall(data)
        except OSError as error:
            raise _Broken from error

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


def _parsed(content: bytes, status: int, address: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise StoreError(f"{address}: answers with {status} and no JSON; that is no neardup service.")
    return found


def _refuse(problem: dict[str, Any]) -> NoReturn:
    raise _error(problem)


def _error(problem: dict[str, Any]) -> NeardupError:
    """A problem as this package's error."""
    status = int(problem.get("status", 500))
    text = f"{problem.get('title', 'the service refuses')}: {problem.get('detail', '')}"
    if problem.get("instance"):
        text += f" (request {problem['instance']})"
    if status == 507:
        return OutputError(text)
    if status == 408 or status >= 500:
        return StoreError(text)
    return UsageError(text)


def _verdict(found: dict[str, Any]) -> Verdict:
    match = found.get("match")
    return Verdict(found["id"], found["status"], None if match is None else _match(match), found["added"])


def _match(found: dict[str, Any]) -> Match:
    return Match(
        found["id"],
        found["relation"],
        found["similarity"],
        found["measured"],
        found.get("resemblance"),
        found.get("error"),
        found.get("url"),
    )
