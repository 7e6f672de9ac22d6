"""The living filter: is this document a near-duplicate of one that we have? (Broder, section 3: AltaVista's question.)

with neardup.Index.open("seen.ndx") as index:
    verdict = index.check_and_add("https://example.org/", "the text of the page …")
    verdict.new, verdict.match

index       Index: what people call
answers     documents in, verdicts out
arriving    text → sketches
rows        sketches ↔ the records that are stored
judging     sketches and what is stored → verdicts
store       the contract of an engine
rocks       RocksDB, in a folder
postgres    PostgreSQL, for several machines
moving      stores to and from Parquet, and from finished runs
"""

from neardup.index.answers import Document, Match, Stored, Verdict
from neardup.index.index import Index

__all__ = ["Document", "Index", "Match", "Stored", "Verdict"]
