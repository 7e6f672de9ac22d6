"""Heads of requests that two readers could understand differently.

A proxy in front decides by what it understands: who asks, for which address, where the body ends. If the service
understood another thing, rules could be passed by, or a body taken for a request. So what is not plain is refused.
The parser (llhttp, strict) refuses line folding, bare CR and LF, control characters, a space before the colon, two
lengths, a length beside an encoding, and lower-case methods; here is the rest.
"""

from collections.abc import Sequence

ONCE = (
    b"host",
    b"authorization",
    b"content-length",
    b"transfer-encoding",
    b"content-type",
    b"content-encoding",
    b"expect",
    b"origin",
    b"sec-fetch-site",
    b"sec-fetch-mode",
    b"sec-fetch-dest",
    b"x-request-id",
)
"""Headers of which one reader may take the first and another one the last."""

IDS = b"/documents/"
"""What stands behind it is an id, in which anything may be encoded."""


def wrong_head(version: str, target: bytes, headers: Sequence[tuple[bytes, bytes]]) -> tuple[str, str] | None:
    """Return the kind of problem that a head has, with a sentence; None where it has none."""
    if version not in ("1.1", "1.0"):
        return "not-http", f"This is HTTP/{version}. Send HTTP/1.1."
    names = [name for name, _ in headers]
    if len(set(names)) < len(names):
        for name in ONCE:
            if names.count(name) > 1:
                return "not-http", f"Send one header {name.decode().title()}."
    if version == "1.1" and b"host" not in names:
        return "not-http", "Send the header Host."
    encodings = [value.lower() for name, value in headers if name == b"transfer-encoding"]
    if encodings and (version == "1.0" or encodings != [b"chunked"]):
        return "not-http", "Send Transfer-Encoding: chunked, and no other, with HTTP/1.1."
    return _wrong_target(target)


def _wrong_target(target: bytes) -> tuple[str, str] | None:
    if not target.startswith(b"/"):
        return "bad-path", "Send the path alone, beginning with a slash; the name of the service stands in Host."
    if b"#" in target or target.endswith(b"?"):
        return "bad-path", ""
    path = target.partition(b"?")[0]
    if b"%" not in path and b"//" not in path and b"/." not in path:
        return None
    ours = path.partition(IDS)[0]
    if b"%" in ours or b"//" in ours:
        return "bad-path", "Write the path without percent signs and empty parts; they are for ids."
    if any(part.lower().replace(b"%2e", b".") in (b".", b"..") for part in path.split(b"/")):
        return "bad-path", "A path has no parts . and ..; in an id, encode the slashes beside them as %2F."
    return None
