"""Backups of an index in a folder, made while others write to it, and indexes made of them.

RocksDB's tables never change: they get a second name in the backup (a hard link), or are copied where that is on
another file system. The list of tables and the logs grow while they are copied, and a prefix of each is a store of an
earlier moment, provided that no table or log came or went in between: that shows in the list of tables, and then the
files are gathered once more. So a backup needs nothing of the process that writes. What was acknowledged when it began
is in it: the mark is read first, and a copy that does not reach it is refused like any other.

A backup is a folder with RocksDB's files and `backup.json`: what the index was created with, and size and digest of
every file. It is written under another name, read in full, and gets its own name last. What a kill leaves behind has
none, and is never restored.
"""

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from typing import Annotated, Any

import msgspec

from neardup.atomic import sync, sync_names, write_error
from neardup.errors import OutputError, StoreError
from neardup.index import rocks
from neardup.index.mark import NAME as MARK
from neardup.index.mark import read_mark, write_mark
from neardup.index.rocks_folder import BACKUP, SETTINGS, require, require_parent, tables
from neardup.index.rows import Layout
from neardup.index.verifying import Verification, made_by, read_all
from neardup.untrusted import open_regular, read_json

_FORMAT = 1
_ATTEMPTS = 200
_DIGEST = "blake2b"


@dataclass(frozen=True)
class Backup:
    """A backup that is done."""

    path: str
    documents: int
    bytes: int


def back_up(path: Path, target: Path) -> Backup:
    """Write a backup of the index at `path`, whether a process has it open or not."""
    require(path)
    with _appearing(target, "a backup") as draft:
        _gather(path, draft)
        found = _verified(draft)
        _refuse_damaged(f"{path}: no backup was made, for the index is damaged", found)
        files: dict[str, Any] = {
            name: {"bytes": (draft / name).stat().st_size, _DIGEST: _digest(draft / name)}
            for name in sorted(os.listdir(draft))
            if _belongs(name)
        }
        told = {
            "format": _FORMAT,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "documents": found.documents,
            "settings": json.loads((draft / SETTINGS).read_text()),
            "files": files,
        }
        for name in os.listdir(draft):
            if name not in files:
                (draft / name).unlink()
        (draft / BACKUP).write_text(json.dumps(told, indent=1))
    return Backup(str(target), found.documents, sum(each["bytes"] for each in files.values()))


def restore(backup: Path, path: Path) -> Verification:
    """Make an index at `path` of a backup: copied, compared with the digests, and read in full."""
    told = _read(backup)
    with _appearing(path, "an index") as draft:
        for name, expected in told.files.items():
            _copy_file(backup, name, draft / name, expected.bytes)
            if (draft / name).stat().st_size != expected.bytes or _digest(draft / name) != expected.blake2b:
                raise _damaged(backup, f"{name} is not what was written")
        (draft / SETTINGS).write_text(json.dumps(told.settings, indent=2))
        found = _verified(draft)
        _refuse_damaged(f"{backup}: was not restored, for what came of it is damaged", found)
        if found.documents != told.documents:
            raise _damaged(backup, f"it has {found.documents:,} documents and not {told.documents:,}")
    return found


def _gather(path: Path, draft: Path) -> None:
    """Bring the files of an index together as they are at one moment."""
    for _ in range(_ATTEMPTS):
        try:
            mark, before = read_mark(path), tables(path)
            _copy_files(path, draft, before[0])
            if tables(path) == before:
                write_mark(draft, mark or 0)
                return
        except FileNotFoundError:
            require(path)  # a table was taken away meanwhile, or the folder
        for name in os.listdir(draft):
            (draft / name).unlink()
    raise StoreError(
        f"{path}: tables came and went during {_ATTEMPTS} attempts to copy them. Make the backup when less is written."
    )


def _copy_files(path: Path, draft: Path, manifest: str) -> None:
    names = os.listdir(path)
    for name in names:
        if name.endswith(".sst"):
            _link(path / name, draft / name)
    for name in [SETTINGS, "CURRENT", manifest, *sorted(n for n in names if _plain(n))]:
        shutil.copyfile(path / name, draft / name)


def _plain(name: str) -> bool:
    """Whether a file is copied: logs that are complete come before the one that grows."""
    return name.endswith(".log") or name in ("IDENTITY", "rocksdict-config.json") or name.startswith("OPTIONS-")


def _belongs(name: str) -> bool:
    return _plain(name) or name.endswith(".sst") or name in ("CURRENT", MARK) or name.startswith("MANIFEST-")


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or a user who may not
        shutil.copyfile(source, target)


@contextmanager
def _appearing(target: Path, what: str) -> Iterator[Path]:
    """Give out a new folder next to `target`, which becomes it when all went well. An empty folder is taken over."""
    if target.is_symlink() or (target.exists() and not (target.is_dir() and not any(target.iterdir()))):
        raise OutputError(f"{target}: is there already, and {what} overwrites nothing. Choose another name.")
    require_parent(target)
    draft = None
    try:
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".draft", dir=target.parent))
        yield draft
        for name in os.listdir(draft):
            sync(draft / name)
        sync_names(draft)
        draft.rename(target)
        sync_names(target.parent)
    except OSError as error:
        raise write_error(target, error) from error
    finally:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)


def _verified(draft: Path) -> Verification:
    """Read all of it, as a reader does who has it for himself."""
    try:
        store = rocks.open(draft, read_only=True, alone=True)
    except StoreError as error:
        return Verification(problems=[str(error)])
    try:
        recipe, keep = made_by(store)
        return read_all(store, Layout(recipe), keep)
    finally:
        store.close()


def _refuse_damaged(what: str, found: Verification) -> None:
    if not found.sound:
        raise StoreError(f"{what}: {' '.join(found.problems)}")


class _File(msgspec.Struct):
    """What a backup says of one of its files."""

    bytes: Annotated[int, msgspec.Meta(ge=0)]
    blake2b: str


class _Settings(msgspec.Struct):
    """What an index was created with, as far as its types must be right before it is opened."""

    format: int
    recipe: dict[str, Any] = {}
    made: str = ""


class _Manifest(msgspec.Struct):
    """What a backup says of itself."""

    documents: Annotated[int, msgspec.Meta(ge=0)]
    settings: dict[str, Any]
    files: dict[str, _File]


def _copy_file(backup: Path, name: str, target: Path, size: int) -> None:
    """Copy a file of a backup that somebody else may have prepared: a regular one of the stated size, and no more."""
    try:
        with open_regular(backup / name, follow=False) as file, open(target, "wb") as copy:
            found = os.fstat(file.fileno()).st_size
            if found != size:
                raise _damaged(backup, f"{name} has {found:,} bytes and not {size:,}")
            while size and (piece := file.read(min(size, 1 << 20))):
                copy.write(piece)
                size -= len(piece)
    except FileNotFoundError as error:
        raise _damaged(backup, f"{name} is missing") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _damaged(backup, f"{name} is no file but a link") from error
        if error.errno == errno.EINVAL:
            raise _damaged(backup, f"{name} is no file") from error
        raise


def _read(backup: Path) -> _Manifest:
    """Return what a backup says of itself, checked."""
    try:
        told = read_json(backup / BACKUP, dict[str, Any])
        if told["format"] != _FORMAT:
            raise StoreError(
                f"{backup}: the backup has format {told['format']}, and this neardup knows format {_FORMAT}. Use the "
                "neardup that made it."
            )
        manifest = msgspec.convert(told, _Manifest)
        for name in manifest.files:
            if not _belongs(name) or Path(name).name != name:
                raise ValueError(f"it names {name!r}")
        msgspec.convert(manifest.settings, _Settings)
        return manifest
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StoreError(
            f"{backup}: is no backup of an index, or one that was not finished: there is no {BACKUP}. Make one with: "
            f"neardup index backup INDEX {backup}"
        ) from error
    except (OSError, ValueError, KeyError, msgspec.MsgspecError) as error:
        raise _damaged(backup, f"{BACKUP} cannot be read ({error})") from error


def _damaged(backup: Path, why: str) -> StoreError:
    return StoreError(f"{backup}: the backup is damaged: {why}. Nothing was restored. Use an earlier one.")


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return file_digest(content, _DIGEST).hexdigest()
