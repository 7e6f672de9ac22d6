"""Documents on standard input: they are read more than once, so they are put into the work folder first."""

import hashlib
import re
import sys
from pathlib import Path

from neardup.atomic import appearing
from neardup.errors import UsageError
from neardup.sources.base import InputFile
from neardup.sources.compression import Compression
from neardup.sources.folder import Folder
from neardup.sources.formats import named
from neardup.sources.stamps import BY_CONTENT

_MAGIC: dict[Compression, re.Pattern[bytes]] = {
    "gz": re.compile(rb"\x1f\x8b\x08"),
    "zst": re.compile(rb"\x28\xb5\x2f\xfd"),
    "bz2": re.compile(rb"BZh[1-9](\x31\x41\x59\x26\x53\x59|\x17\x72\x45\x38\x50\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
}
"""How compressed data begin. No text does: after BZh9 come the digits of pi, or those of its root, as bytes."""


def spool(folder: Path, format: str | None = None) -> InputFile:
    """Copy standard input to a file named by its content: the same input again is the same file.

    It is JSONL where no format is named. Its first bytes tell whether it is compressed.
    """
    kind = format or "jsonl"
    if isinstance(named(kind), Folder):
        raise UsageError(
            f"-: on standard input there is one file, and with --format {kind} a file is one document. "
            "Name files or folders, or give a document a line (--format jsonl, --format lines)"
        )
    digest = hashlib.sha256()
    size = 0
    compression: Compression | None = None
    arriving = folder / "stdin"
    with appearing(arriving) as draft, open(draft, "wb") as file:
        while block := sys.stdin.buffer.read(1 << 20):
            if not size and kind != "parquet":
                compression = next((c for c, begins in _MAGIC.items() if begins.match(block)), None)
            digest.update(block)
            size += len(block)
            file.write(block)
    content = digest.hexdigest()[:16]
    ending = f".{'txt' if kind == 'lines' else kind}" + (f".{compression}" if compression else "")
    path = arriving.rename(folder / f"stdin-{content}{ending}")
    return InputFile(str(path), f"stdin{ending}", kind, compression, size, BY_CONTENT + content)
