"""Stamps: whether an input is still the one that was found.

A stamp is a short string that is another one where the content may be another one:

    a local file     size and time of change
    a remote file    what its store calls its content (ETag, checksum, version), else size and time, else size
    a folder         a digest of its members' names and stamps
    standard input   a digest of the content

Equal stamps do not prove equal content: a file can be overwritten within its clock's resolution at the same size.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from stat import S_ISREG
from typing import Any

from neardup.errors import InputError
from neardup.sources.base import InputFile
from neardup.sources.files import filesystem, is_remote, is_web, reason
from neardup.sources.folder import location
from neardup.untrusted import open_regular

GONE = "gone"
"""The stamp of what is not there."""

BY_CONTENT = "sha256:"
"""How the stamp of a local file begins that is named by its content and that nobody else writes."""

# In this order: what listings and single questions both tell comes first, so that both give the same stamp.
_CONTENT = (
    *("ETag", "etag", "md5Hash", "crc32c", "Content-MD5", "content_md5", "md5", "checksum", "sha256", "sha"),
    *("blob_id", "CRC", "Digest", "VersionId", "version_id", "generation", "version"),
)
_TIME = (
    *("mtime", "LastModified", "last_modified", "Last-Modified", "modified", "updated", "timeModified"),
    *("modificationTime", "modify", "date_time", "created"),
)


def stamp_of(file: InputFile) -> str:
    """The stamp that the input has now; "gone" where it is not there any more.

    Tables in memory and standard input, which nobody else can change, have the stamp that they have; other files do
    not, whatever their stamp looks like.
    """
    if not file.path or is_named_by_content(file):
        return file.stamp
    places = [location(file, member) for member in file.members] or [file.path]
    stamps = _far_now(places) if is_remote(file.path) else [_local_now(place) for place in places]
    if all(stamp == GONE for stamp in stamps):
        return GONE
    return members_stamp(zip(file.members, stamps, strict=True)) if file.members else stamps[0]


def is_named_by_content(file: InputFile) -> bool:
    """Tell whether a file is one that a run puts into its work folder: standard input, or a table that was stored."""
    content = file.stamp.removeprefix(BY_CONTENT)
    if is_remote(file.path) or file.members or content == file.stamp or not content:
        return False
    begins = os.path.basename(file.path).partition(".")[0]
    try:
        return begins in (f"stdin-{content}", f"table-{content}") and S_ISREG(os.lstat(file.path).st_mode)
    except OSError:
        return False


def is_unchanged(file: InputFile) -> bool:
    """Tell whether a file that is named by its content has that content.

    A table is named by what it was in memory, which cannot be told from the Parquet file: it is taken as it is.
    """
    if os.path.basename(file.path).startswith("table-"):
        return True
    with open_regular(Path(file.path)) as content:
        return BY_CONTENT + hashlib.file_digest(content, "sha256").hexdigest()[:16] == file.stamp


def local_stamp(stat: os.stat_result) -> str:
    """Of a file here."""
    return f"{stat.st_size}-{stat.st_mtime_ns}"


def far_stamp(info: dict[str, Any]) -> str:
    """Of a file far away, from what fsspec tells of it."""
    for key in _CONTENT:
        if info.get(key):
            return str(info[key]).strip('"')
    size = info.get("size") or 0
    when = next((info[key] for key in _TIME if info.get(key)), None)
    if when is None:
        return str(size)
    return f"{size}-{when.timestamp() if hasattr(when, 'timestamp') else when}"


def tells_changes(info: dict[str, Any]) -> bool:
    """Whether there is more in it than a size."""
    return any(info.get(key) for key in (*_CONTENT, *_TIME))


def members_stamp(members: Iterable[tuple[str, str]]) -> str:
    """Of a folder, from its members' names and stamps."""
    digest = hashlib.sha256()
    for name, stamp in members:
        digest.update(f"{name}\0{stamp}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def _local_now(path: str) -> str:
    try:
        return local_stamp(os.stat(path))
    except OSError:
        return GONE


def _far_now(urls: list[str]) -> list[str]:
    far: Any = filesystem(urls[0])[0]
    far.invalidate_cache()  # listings are remembered, and would tell the past
    paths = [far._strip_protocol(url) for url in urls]
    listed: dict[str, dict[str, Any]] = {}
    if len(paths) > 1 and not is_web(urls[0]):  # a listing tells of a thousand files at once; the web has none
        for folder in dict.fromkeys(far._parent(path) for path in paths):
            listed |= _listing(far, folder)
    return [_far_stamp_now(far, path, listed.get(path)) for path in paths]


def _listing(far: Any, folder: str) -> dict[str, dict[str, Any]]:
    try:
        return {info["name"]: info for info in far.ls(folder, detail=True)}
    except Exception:  # the files are asked for one by one then, and say what is wrong
        return {}


def _far_stamp_now(far: Any, path: str, info: dict[str, Any] | None) -> str:
    if info is not None and tells_changes(info):
        return far_stamp(info)
    try:
        return far_stamp(far.info(path))
    except FileNotFoundError:
        return GONE
    except Exception as error:  # each protocol raises its own package's errors
        raise InputError(f"{path}: cannot be read ({reason(error)}).") from error
