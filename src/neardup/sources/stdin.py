"""JSONL on standard input: it is read more than once, so it is put into the work folder first."""

import hashlib
import sys
from pathlib import Path

from neardup.atomic import appearing
from neardup.sources.base import InputFile
from neardup.sources.stamps import BY_CONTENT


def spool(folder: Path) -> InputFile:
    """Copy standard input to a file named by its content: the same input again is the same file."""
    digest = hashlib.sha256()
    size = 0
    arriving = folder / "stdin.jsonl"
    with appearing(arriving) as draft, open(draft, "wb") as file:
        while block := sys.stdin.buffer.read(1 << 20):
            digest.update(block)
            size += len(block)
            file.write(block)
    content = digest.hexdigest()[:16]
    path = arriving.rename(folder / f"stdin-{content}.jsonl")
    return InputFile(path=str(path), name="stdin.jsonl", format="jsonl", size=size, stamp=BY_CONTENT + content)
