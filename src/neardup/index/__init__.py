"""The living filter: is this document a near-duplicate of one that we have? (Broder, section 3: AltaVista's question.)

    with neardup.Index.open("seen.ndx") as index:
        verdict = index.check_and_add("https://example.org/", "the text of the page …")
        verdict.new, verdict.match

index        Index: what people call
answers      documents in, verdicts out
arriving     text → sketches
rows         sketches ↔ the records that are stored
judging      sketches and what is stored → verdicts
references   where texts are, for an index that keeps that
store        the contract of an engine
rocks        RocksDB: the store; rocks_folder: its folder, made, opened and refused; mark: how far it is acknowledged
verifying    all of a store, read and held against each other
backups      copies of a folder while others write to it, and indexes made of them
postgres     PostgreSQL, for several machines; connections to it
overlay      a store on top of another one, which stays as it is
moving       stores to and from Parquet, and from finished runs
against      which documents of a collection an index knows
"""

from typing import TYPE_CHECKING, Any

from neardup.index.answers import Document, Match, Stored, Verdict

if TYPE_CHECKING:
    from neardup.index.index import Index as Index

__all__ = ["Document", "Index", "Match", "Stored", "Verdict"]


def __getattr__(name: str) -> Any:
    if name == "Index":  # with all that it needs, which a client of a service does not
        from neardup.index.index import Index

        return Index
    raise AttributeError(f"module 'neardup.index' has no attribute {name!r}")
