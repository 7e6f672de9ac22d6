"""What the labelling page asks, and is answered, whichever server is in between.

page     the page itself, the same for every run
number   the number of a pair, as it stands in an address
pair     a pair, with its differences
texts    its texts, as far as they were kept
said     JSON → a label that is on disk, and the new state
"""

import json
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

from neardup.audit.session import LabellingSession
from neardup.pages import document

LARGEST = 16 << 10
"""Bytes of a label as it is sent."""


class Refused(Exception):
    """A question without an answer. `status` is HTTP's."""

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.status = status


@cache
def page(above: str = "", style: str = "") -> str:
    """The page. `above`, `style`: what a site has on all its pages; its data-api says where to ask."""
    folder = files(__package__)
    body, own, script = (folder.joinpath(f"label.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    return document("Audit · neardup", above + body, style=style + own, scripts=[script], connect="'self'")


def number(value: Any, session: LabellingSession) -> int:
    """Of a pair that there is."""
    text = str(value)
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) < len(session.pairs)):
        raise Refused(f"there is no such pair; they are numbered from 0 to {len(session.pairs) - 1}.", 404)
    return int(text)


def pair(session: LabellingSession, at: int) -> dict[str, Any]:
    """What is shown of it."""
    shown = asdict(session.pairs[at])
    texts = {side: (shown.pop(f"{side}_text"), shown.pop(f"{side}_length")) for side in ("first", "second")}
    return {
        "number": at,
        **shown,
        "stratum": session.strata[shown["stratum"]].name,
        "cut": {side: text is not None and length > len(text) for side, (text, length) in texts.items()},
        "left_out": {side: length if text is None else None for side, (text, length) in texts.items()},
        "segments": session.segments(at),
    }


def texts(session: LabellingSession, at: int) -> dict[str, Any]:
    """Both of them."""
    shown = session.pairs[at]
    return {
        "first": shown.first_text,
        "second": shown.second_text,
        "first_length": shown.first_length,
        "second_length": shown.second_length,
    }


def said(session: LabellingSession, data: bytes) -> dict[str, Any]:
    """A label is taken; what is answered is the state after it. Who the server knows is who said it, else whom the
    page names."""
    if len(data) > LARGEST:
        raise Refused(f"more than {LARGEST:,} bytes.", 413)
    try:
        label = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Refused("this is not JSON.") from error
    if not isinstance(label, dict):
        raise Refused("send a JSON object.")
    at = number(label.get("pair"), session)
    verdict, reason, note = label.get("verdict"), label.get("reason"), label.get("note", "")
    labeller = label.get("labeller", "")
    if not all(x is None or isinstance(x, str) for x in (verdict, reason)):
        raise Refused("verdict and reason are strings.")
    if not (isinstance(note, str) and isinstance(labeller, str)):
        raise Refused("note and labeller are strings.")
    session.by(session.labeller or labeller).label(at, verdict, reason, note)
    return session.state()
