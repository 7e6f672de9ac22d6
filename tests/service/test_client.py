"""The Python client against a real service: it answers as an index does."""

import base64
import itertools
import json
import os
import resource
import socket
import threading
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import pytest

import neardup
from neardup import Client, Document, Index
from neardup.errors import InputError, StoreError, UsageError
from tests.service.serving import READ, WRITE, Service, fresh, name

RESPONSES = Path(__file__).parents[1] / "refine/responses"


@pytest.fixture(scope="module")
def client(service):
    with Client(service.address) as made:
        yield made


def test_a_client_answers_as_an_index_does(client, tmp_path):
    """The same calls, the same answers."""
    ids, texts = [name() for _ in range(4)], [fresh() for _ in range(4)]
    page = f"<main><p>{texts[3]}</p></main>"
    with Index.open(tmp_path / "seen.ndx") as index:

        def both(call):
            answers = [call(one) for one in (client, index)]
            assert answers[0] == answers[1]
            return answers[0]

        assert both(lambda x: x.check(texts[0])).new
        assert both(lambda x: x.check_and_add(ids[0], texts[0], url="https://a.example/")).added
        assert both(lambda x: x.check_and_add(ids[1], texts[0].upper())).match.id == ids[0]
        assert both(lambda x: x.check(texts[0] + " some words more", id="me")).match.measured == "estimate"
        assert both(lambda x: x.add(ids[1], texts[1].encode()))
        assert not both(lambda x: x.add(ids[1], texts[1]))
        assert both(lambda x: x.update(ids[1], texts[2]))
        assert not both(lambda x: x.update(ids[2], html=page))
        assert both(lambda x: x.check(texts[3])).match.id == ids[2]
        assert both(lambda x: x.get(ids[1])).tokens == 61
        assert both(lambda x: x.get("nothing at all")) is None
        assert both(lambda x: ids[1] in x)
        assert not both(lambda x: ids[3] in x)
        assert [match.id for match in both(lambda x: x.similar(texts[0], most=2))] == [ids[0]]
        assert both(lambda x: x.remove(ids[1]))
        assert not both(lambda x: x.remove(ids[1]))
        documents = [Document(id_, text) for id_, text in zip(ids, texts, strict=True)]
        both(lambda x: list(x.check_many(documents)))
        both(lambda x: list(x.check_and_add_many([*documents, {"id": "d", "text": texts[1]}])))
        both(lambda x: list(x.update_many(documents)))
        both(lambda x: list(x.add_many(documents)))
        both(lambda x: list(x.remove_many(ids)))
        for x in (client, index):
            x.add(ids[0], texts[0])
            with pytest.raises(UsageError, match=r"update"):
                x.add(ids[0], texts[1])


def test_documents_at_hand(client):
    one, other = fresh(), fresh()
    exact = client.compare(one, one + " more")
    assert exact["resemblance"] == neardup.resemblance(one, one + " more", "stream").resemblance
    assert client.compare(first_html=f"<p>{one}</p>", second=one)["identical"]
    assert len(client.compare(one, other, systems=True)["systems"]) == len(neardup.recipe_names())
    assert client.sketch([{"text": one}])["sketches"][0]["tokens"] == 61
    assert client.info()["documents"] == len(client)


def test_groups_are_those_of_the_library(client):
    response = json.loads((RESPONSES / "elasticsearch.json").read_text())
    here, there = (x.group(response, text_field="page.body", threshold=0.8) for x in (neardup, client))
    assert (here.groups, here.bases, here.passages) == (there.groups, there.bases, there.passages)
    assert here.folded == 6
    for view in ("mark", "fold", "collapse", "drop"):
        assert here.shown(view) == there.shown(view)


def test_of_results_what_is_compared_is_sent(client):
    text = fresh()
    signed = [
        {"id": 1, "neardup_signature": neardup.sign(text), "text": "passages, which are compared where asked"},
        {"id": 2, "neardup_signature": base64.b64decode(neardup.sign(text))},
        {"id": 3, "html": f"<p>{text}</p>".encode(), "fetched": datetime.now()},
    ]
    assert [len(group.members) for group in client.group(signed).groups] == [2]
    assert not client.group(signed, query="asked").passages
    assert client.group(signed[:1], query="asked").passages
    with pytest.raises(UsageError, match=r"body.*none of the 3 results"):
        client.group(signed, text_field="body")
    with pytest.raises(UsageError, match=r"signature is not base64"):
        client.group([{"neardup_signature": "?"}])


def test_a_stream_goes_on_while_documents_are_still_made(client):
    """A verdict comes before the next document exists."""
    texts = [fresh() for _ in range(3)]
    answered = threading.Semaphore(1)

    def documents():
        for at, text in enumerate([*texts, *texts]):
            assert answered.acquire(timeout=20)
            yield {"id": f"{name()}-{at}", "text": text}

    statuses = []
    for verdict in client.check_and_add_many(documents()):
        statuses.append(verdict.status)
        answered.release()
    assert statuses == ["new"] * 3 + ["duplicate"] * 3


def test_a_slow_reader_holds_back_the_documents(client):
    """What is made runs ahead of what is taken by no more than buffers hold, though there is no end of it."""
    made = itertools.count()
    last = 0

    def ids():
        nonlocal last
        for at in made:
            last = at
            yield f"nothing-{at}-" + "x" * 3000

    removed = client.remove_many(ids())
    assert not any(itertools.islice(removed, 100))
    removed.close()
    seen = last
    assert seen < 64_000_000 // 3000
    assert next(client.remove_many(["a"])) is False
    assert last <= seen + 1


def test_what_documents_raise_is_raised(client):
    def documents():
        yield {"id": name(), "text": fresh()}
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        list(client.check_and_add_many(documents()))


def test_refused_documents_of_a_stream(client):
    id_ = name()
    documents = [
        {"id": id_, "text": fresh()},
        {"id": id_, "text": fresh()},
        {"id": "", "text": fresh()},
        {"id": name(), "text": fresh()},
    ]
    errors = []
    assert list(client.add_many(documents, on_error=lambda at, error: errors.append((at, error)))) == [True, True]
    assert [at for at, _ in errors] == [1, 2]
    assert "update" in str(errors[0][1])
    with pytest.raises(UsageError, match="update"):
        list(client.add_many(documents))


def test_what_cannot_be_sent(client):
    with pytest.raises(UsageError, match="text or html"):
        client.check()
    with pytest.raises(UsageError, match="text or html"):
        client.check("a", html="b")
    with pytest.raises(InputError, match=r"not UTF-8 \(byte 1\)"):
        client.check(b"a\xff")
    with pytest.raises(InputError, match="surrogate"):
        client.check("\ud800")
    for address in ("127.0.0.1:80", "ftp://a", "http://", "http://user:password@a/"):
        with pytest.raises(UsageError, match="give it as"):
            Client(address)


def test_tokens(guarded):
    with Client(guarded.address, token=WRITE) as writer, Client(guarded.address, token=READ) as reader:
        id_, text = name(), fresh()
        assert writer.add(id_, text)
        assert reader.get(id_).text == text
        with pytest.raises(UsageError, match="this needs write or admin"):
            reader.remove(id_)
        with pytest.raises(UsageError, match="this needs write or admin"):
            list(reader.remove_many([id_]))
    with Client(guarded.address) as nobody, pytest.raises(UsageError, match="A token is needed"):
        nobody.check("a")
    assert WRITE not in repr(Client(guarded.address, token=WRITE))


def test_threads_share_a_client(client):
    text = fresh()
    verdicts = []
    workers = [threading.Thread(target=lambda: verdicts.append(client.check_and_add(name(), text))) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(20)
    assert sorted(verdict.added for verdict in verdicts) == [False] * 7 + [True]


def test_nobody_there():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(StoreError, match=r"cannot be asked \(.*refused"):
        Client(f"http://127.0.0.1:{port}").check("a")
    with pytest.raises(StoreError, match="cannot be asked"):
        list(Client(f"http://127.0.0.1:{port}").check_many([{"text": "a"}]))


class Flaky:
    """Answers each connection with the next of some bytes, and closes it."""

    def __init__(self, *answers: bytes) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        self.answers, self.asked = answers, 0
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        for answer in self.answers:
            connection, _ = self.listening.accept()
            with connection:
                data = b""
                while b"}" not in data:
                    data += connection.recv(65536)
                self.asked += 1
                with suppress(OSError):  # the client has seen enough
                    connection.sendall(answer)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):  # closing with something unread would reset the connection
                        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.thread.join(20)
        self.listening.close()


def _said(status: int, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nRetry-After: 0\r\nConnection: close\r\n\r\n"
    return head.encode() + body


VERDICT = _said(200, b'{"id": "a", "status": "new", "added": true}')
BUSY = _said(503, b'{"type": "/docs#busy", "title": "busy", "status": 503, "detail": "later"}')
SLOW = _said(503, b'{"type": "/docs#slow", "title": "slow", "status": 503, "detail": "unknown"}')


ENDLESS = b"HTTP/1.1 %d X\r\nConnection: close\r\n\r\n" + b" " * 400_000


def test_an_answer_without_end_is_not_held(monkeypatch):
    monkeypatch.setattr("neardup.client.SMALL_ANSWER", 100_000)
    monkeypatch.setattr("neardup.client.LARGEST_LINE", 100_000)
    for status in (200, 400):
        with (
            Flaky(ENDLESS % status) as service,
            pytest.raises(StoreError, match="more than 100,000 bytes; that is no neardup service"),
        ):
            Client(service.address).check("a")
    with Flaky(ENDLESS % 200) as service, pytest.raises(StoreError, match="more than 100,000 bytes"):
        list(Client(service.address).check_many([{"text": "a"}]))
    with Flaky(_said(200, b"[" * 90_000)) as service, pytest.raises(StoreError, match="no neardup service"):
        Client(service.address).check("a")


def test_repeated_only_where_it_is_safe():
    with Flaky(b"", BUSY, VERDICT) as service:
        assert Client(service.address).check("a", id="a").new
    assert service.asked == 3
    with Flaky(BUSY, VERDICT) as service:
        assert Client(service.address).check_and_add("a", "b").added
    for answer in (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{", SLOW):
        with Flaky(answer) as service, pytest.raises(StoreError, match=r"Whether it was done is not known|slow"):
            Client(service.address).check_and_add("a", "b")
        assert service.asked == 1


def test_what_is_no_service():
    with Flaky(_said(200, b"<html>{}")) as service, pytest.raises(StoreError, match="no neardup service"):
        Client(service.address).check("a")


def test_a_service_that_stops_says_what_is_done(tmp_path):
    """A stream ends with an error that says so, and everything before it is stored."""
    service = Service(tmp_path / "seen.ndx")
    client = Client(service.address)
    begun = threading.Event()

    def documents():
        for at in itertools.count():
            yield {"id": str(at), "text": fresh(10)}
            begun.wait(0.01)

    done: list[str] = []

    def until_it_stops() -> None:
        for verdict in client.check_and_add_many(documents()):
            done.append(verdict.id)
            if len(done) == 3:
                service.process.terminate()

    with pytest.raises(StoreError, match="stopping") as raised:
        until_it_stops()
    service.stop()
    assert "those before it are done" in " ".join(raised.value.__notes__)
    with Index.open(tmp_path / "seen.ndx", create=False) as index:
        assert all(index.contains_many(done))
        assert len(index) == len(done)


def test_what_was_stored_is_told_before_what_documents_raise(client):
    """Also an error like one of the connection's."""
    ids = [name() for _ in range(1500)]

    def documents():
        for id_ in ids:
            yield {"id": id_, "text": fresh(20)}
        raise ConnectionError("a page could not be fetched")

    verdicts = client.check_and_add_many(documents())
    assert [verdict.id for verdict in itertools.islice(verdicts, len(ids))] == ids
    with pytest.raises(ConnectionError, match="fetched"):
        next(verdicts)


def test_a_refused_document_tells_of_those_behind_it(client):
    with pytest.raises(UsageError) as caught:
        list(client.check_and_add_many([{"id": name(), "text": fresh()}, {"id": "", "text": "a"}]))
    assert "behind it" in caught.value.__notes__[0]
    assert "its own id" in caught.value.__notes__[0]


def test_more_files_than_select_takes(service):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(2048, before[0]), before[1]))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        with Client(service.address) as client:
            assert [client.check(fresh()).status for _ in range(2)] == ["new", "new"]
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_what_cannot_be_asked_is_refused_at_once(client):
    for address, token, why in (
        ("http://127.0.0.1:99999", None, "65535"),
        ("http://127.0.0.1:1", "a-token-from-a-file\n", "strip"),
    ):
        with pytest.raises(UsageError, match=why):
            Client(address, token=token)
    assert "" not in client
    assert client.get("") is None


def test_a_proxy_that_names_a_date():
    """It is asked again after a second."""
    busy = b'{"type": "/docs#busy", "status": 503}'
    head = "Retry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\nConnection: close\r\nContent-Length: "
    good = b'{"id": "", "status": "new", "added": false}'
    answers = [
        f"HTTP/1.1 503 Busy\r\n{head}{len(busy)}\r\n\r\n".encode() + busy,
        f"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {len(good)}\r\n\r\n".encode() + good,
    ]
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for answer in answers:
                with listening.accept()[0] as sock:
                    data = b""
                    while b'"text"' not in data:
                        data += sock.recv(65536)
                    sock.sendall(answer)

        proxy = threading.Thread(target=serve)
        proxy.start()
        with Client(f"http://127.0.0.1:{listening.getsockname()[1]}") as client:
            assert client.check("a").new
        proxy.join(10)
