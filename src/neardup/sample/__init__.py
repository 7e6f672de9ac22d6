"""A small, labelled corpus of web pages that shows what a near-duplicate finder must get right.

    documents   the pages in order, each with the id of its original and the kind of change
    pairs       the labelled truth about them: duplicate or different, and why
    write       all of it as files: JSON lines, Parquet, HTML, WARC, truth.tsv and README.md

    grammar     sentence frames and the dice that fill them
    frames_*    the frames: English, Europe, West and South Asia, East Asia
    wording     navigation, footers and notices in thirteen languages
    page        a page with its visible text and its HTML
    changes     mirror, session id, time stamp, edit, excerpt, reformatting
    templates   pages filled in by a program, the hard negatives
    corpus      the plan: which documents there are
    truth       the labels
    files       the files

Everything follows from the seed: the same seed and scale give the same bytes.
"""

from __future__ import annotations

from neardup.sample.corpus import documents
from neardup.sample.files import write
from neardup.sample.model import LabelledPair, SampleDocument
from neardup.sample.truth import pairs

__all__ = ["LabelledPair", "SampleDocument", "documents", "pairs", "write"]
