"""python -m benchmarks.scale.manuals [FOLDER]

Fetches Debian's doc packages and leaves their HTML pages in FOLDER/PACKAGE: 1.5 GB of them or more, whichever of the
packages can be had. Needs apt-get and dpkg-deb. A package that is there already is not fetched again, and one that
cannot be had is named, with what apt-get says of it. Pages that are packed (.html.gz) are unpacked; links to other
pages are left out, since a link is no page of its own.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.quality.manuals import NoPackageError, unpacked
from benchmarks.speed.settings import default_work

ENOUGH = 1_500_000_000
"""Bytes of HTML."""

# fmt: off
PACKAGES = (
    "python3.11-doc", "postgresql-doc-15", "rust-doc", "openjdk-17-doc", "llvm-14-doc", "linux-doc-6.1",
    "ghc-doc", "erlang-doc", "python-pandas-doc", "scala-doc", "cppreference-doc-en-html", "libstdc++-12-doc",
    "lilypond-doc-html", "racket-doc", "wx3.2-doc", "libgtkmm-3.0-doc", "groovy-doc", "twisted-doc",
)
# fmt: on
"""In the order in which they are fetched, until it is enough; the first six are references that everybody knows."""

PAGES = (".html", ".htm", ".html.gz", ".htm.gz")


def main(argv: list[str] | None = None) -> int:
    """Fetch; 1 if it did not become enough."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.manuals", description=__doc__.splitlines()[2])
    parser.add_argument("folder", type=Path, nargs="?", default=default_folder())
    parser.add_argument("--bytes", type=float, default=ENOUGH, help="of HTML (default 1.5e9)")
    asked = parser.parse_args(argv)
    _update()
    missing, total, files = fetch(asked.folder, int(asked.bytes))
    print(f"{asked.folder}: {files:,} pages, {total / 1e6:,.0f} MB")
    for package, reason in missing.items():
        print(f"missing: {package}: {reason}", file=sys.stderr)
    if total < asked.bytes:
        print(f"{total / 1e6:,.0f} MB is less than {asked.bytes / 1e6:,.0f} MB were asked for", file=sys.stderr)
    return int(total < asked.bytes)


def _update() -> None:
    """apt-get's lists; where that fails, fetching tells what is missing."""
    if shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False)


def default_folder() -> Path:
    """Beside what the other benchmarks keep."""
    return default_work() / "manuals"


def fetch(folder: Path, enough: int = ENOUGH) -> tuple[dict[str, str], int, int]:
    """Packages in order until there are `enough` bytes of HTML: which are missing and why, bytes, files."""
    missing: dict[str, str] = {}
    total = files = 0
    for package in PACKAGES:
        if total >= enough:
            break
        target = folder / package
        if not target.exists():
            try:
                fetch_package(package, target)
            except NoPackageError as error:
                missing[package] = str(error)
                continue
        sizes = [entry.stat().st_size for entry in target.rglob("*") if entry.is_file()]
        total, files = total + sum(sizes), files + len(sizes)
        print(f"{package}: {len(sizes):,} pages, {sum(sizes) / 1e6:,.0f} MB", file=sys.stderr)
    return missing, total, files


def fetch_package(package: str, target: Path) -> None:
    """Fetch a package's pages, all of them or none: `target` appears when they are complete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".manuals-", dir=target.parent) as work:
        root, pages = unpacked(Path(work), package), Path(work, "pages")
        pages.mkdir()
        for path in sorted(root.rglob("*")):
            if path.name.endswith(PAGES) and path.is_file() and not path.is_symlink():
                take_page(path, pages / path.relative_to(root))
        os.replace(pages, target)


def take_page(path: Path, place: Path) -> None:
    """Move a page into place, unpacked."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        with gzip.open(path) as packed, place.with_suffix("").open("wb") as page:
            shutil.copyfileobj(packed, page)
    else:
        os.replace(path, place)


if __name__ == "__main__":
    sys.exit(main())
