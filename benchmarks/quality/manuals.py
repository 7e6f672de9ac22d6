"""python -m benchmarks.quality.manuals FOLDER

Makes three more labelled collections, from manuals that Debian packages; needs apt-get and dpkg-deb, and about 1 GB.

    debian-installation-guide   the installation guide for three architectures in 18 languages: the same page with few
                                or many differences, in a narrow frame of navigation
    openjdk-17-doc, rust-doc    2,500 pages each of two references with very much boilerplate around little text; the
                                marks of their main content are taken out, so that it has to be found

None of the installation guide was looked at before recipe `web` was settled; the stricter rule within a site was chosen
with the other two at hand. A pair is graded by the resemblance (4 words) of the text without the frame: of what is not
in the navigation, or of the element that the page calls its main content. Pairs below 0.1 are not listed.
"""

import csv
import json
import lzma
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from resiliparse.parse.html import HTMLTree
from scipy import sparse

from benchmarks.quality.data import _shingles
from neardup.nesting import MOST_TAGS
from neardup.text.extract import decoded, visible_text

# fmt: off
LANGUAGES = (
    "ca", "cs", "da", "de", "el", "en", "es", "fr", "it", "ja", "ko", "nl", "pt", "ro", "ru", "sv", "vi", "zh_CN",
)
# fmt: on
ARCHITECTURES = ("amd64", "i386", "arm64")
PAGES = 2500

_NAVIGATION = re.compile(r'<div class="nav(?:header|footer)">.*?</div>|<head>.*?</head>', re.DOTALL)
_MARKS = re.compile(r'</?main[^>]*>|role="main"|id="main-content"')


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    target = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="neardup-manuals-") as work:
        try:
            _write(target / "debian-installation-guide", _guide(Path(work)))
            for package in ("openjdk-17-doc", "rust-doc"):
                _write(target / package, _reference(Path(work), package))
        except NoPackageError as error:
            sys.exit(str(error))


class NoPackageError(RuntimeError):
    """A package cannot be had; the message is what was tried, and what was answered."""


def unpacked(work: Path, package: str) -> Path:
    """The files of a Debian package, fetched into `work`."""
    for command in (["apt-get", "download", "-q", package], ["sh", "-c", f"dpkg-deb -x {package}_*.deb {package}"]):
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoPackageError(f"{' '.join(command)}: {done.stderr.strip() or 'failed'}")
    return work / package


def _guide(work: Path) -> Iterator[tuple[str, str, str, str]]:
    """Id, page, HTML, the text that it is graded by."""
    for architecture in ARCHITECTURES:
        name = f"installation-guide-{architecture}"
        root = unpacked(work, name) / "usr/share/doc" / name
        for path in sorted(
            p for language in LANGUAGES for p in (root / language).rglob("*.html") if not p.is_symlink()
        ):
            page = str(path.relative_to(root))
            markup = decoded(path.read_bytes())
            yield f"{architecture}/{page}", page, markup, visible_text(_NAVIGATION.sub("", markup))


def _reference(work: Path, package: str) -> Iterator[tuple[str, str, str, str]]:
    root = unpacked(work, package)
    files = sorted(p for p in root.rglob("*.html") if p.is_file() and p.stat().st_size < 400_000)
    random.Random(5).shuffle(files)
    found = 0
    for path in files:
        markup = decoded(path.read_bytes())
        text = _main(markup) if markup.count("<") <= MOST_TAGS else ""
        if text.strip() and found < PAGES:
            found += 1
            page = str(path.relative_to(root))
            yield page, page, _MARKS.sub("", markup), text


def _main(markup: str) -> str:
    body = HTMLTree.parse(markup).body
    for selector in ('[role="main"]', "main", "#main-content"):
        element = body.query_selector(selector) if body else None
        if element is not None:
            return visible_text(element.html)
    return ""


def _write(folder: Path, documents: Iterator[tuple[str, str, str, str]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names, sets = [], []
    with lzma.open(folder / "docs.jsonl.xz", "wt", preset=1) as file:
        for name, page, markup, text in documents:
            names.append(name)
            sets.append(_shingles(text))
            file.write(json.dumps({"id": name, "page": page, "package": folder.name, "html": markup}) + "\n")
    with (folder / "pairs.tsv").open("w", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(["id_a", "id_b", "resemblance"])
        for i, j, value in _graded(sets):
            writer.writerow([names[i], names[j], f"{value:.4f}"])
    print(f"{folder}: {len(names):,} documents")


def _graded(sets: list[np.ndarray]) -> Iterator[tuple[int, int, float]]:
    """All pairs from 0.1 on."""
    _, columns = np.unique(np.concatenate(sets), return_inverse=True)
    sizes = np.array([len(s) for s in sets])
    rows = np.repeat(np.arange(len(sets)), sizes)
    matrix = sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)))
    for i in range(len(sets)):
        shared = (matrix[i] @ matrix[i + 1 :].T).toarray()[0]
        value = shared / np.maximum(1, sizes[i] + sizes[i + 1 :] - shared)
        for j in np.flatnonzero(value >= 0.1).tolist():
            yield i, i + 1 + j, float(value[j])


if __name__ == "__main__":
    main()
