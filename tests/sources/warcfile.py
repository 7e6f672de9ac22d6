"""WARC records and HTTP responses, made by hand."""

import gzip

HEAD = "WARC/1.0\r\nWARC-Type: {type}\r\nWARC-Record-ID: <urn:uuid:{n}>\r\nWARC-Date: 2024-05-0{day}T00:00:00Z\r\n"


def record(type_: str, n: int, body: bytes, *, url: str | None = None, content_type: str = "") -> bytes:
    head = HEAD.format(type=type_, n=n, day=1 + n % 9)
    if url is not None:
        head += f"WARC-Target-URI: {url}\r\n"
    if content_type:
        head += f"Content-Type: {content_type}\r\n"
    return (head + f"Content-Length: {len(body)}\r\n\r\n").encode() + body + b"\r\n\r\n"


def http(body: bytes, *headers: str, content_type: str = "text/html; charset=utf-8", status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", f"Content-Type: {content_type}", *headers, "", ""]).encode() + body


def response(n: int, body: bytes, *headers: str, content_type: str = "text/html", status: str = "200 OK") -> bytes:
    payload = http(body, *headers, content_type=content_type, status=status)
    return record("response", n, payload, url=f"http://a.test/{n}", content_type="application/http; msgtype=response")


def crawl(texts: list[str]) -> list[bytes]:
    """A warcinfo; then, for every text, a request, its response and an image; then a redirect."""
    records = [record("warcinfo", 0, b"software: test", content_type="application/warc-fields")]
    for n, text in enumerate(texts, 1):
        request = b"GET / HTTP/1.1\r\n\r\n"
        records.append(record("request", 1000 + n, request, url="x", content_type="application/http; msgtype=request"))
        records.append(response(n, text.encode()))
        records.append(response(2000 + n, b"\x89PNG\0", content_type="image/png"))
    records.append(response(3000, b"moved", status="301 Moved"))
    return records


def members(records: list[bytes]) -> bytes:
    return b"".join(gzip.compress(r, mtime=0) for r in records)
