"""A collection that one can search: whatever `dedup` reads, under a full-text engine (tantivy) in a folder.

    with Collection.open("pages.warc.gz") as collection:
        found = collection.search('"near duplicate" detection -images')
        found.hits[0].title, found.hits[0].snippet

inputs       paths, or the folder of a finished run → what is to be read, and a name that follows from it
titles       what a document is called
terms        words as neardup's tokenizer cuts and folds them → terms of the engine
building     documents → the folder, whole or not at all
keeping      where such folders are, and who builds one
documents    id, URL, title, text and signature of every document, at its number
engine       the terms: who has them, in which order
queries      what was typed → runs of words that are wanted or not
snippets     the passage that shows why a document was found
collection   Collection: what people call
answers      what it answers

A word is what the rest of neardup calls one, so a query finds what dedup compares, in every script.
"""

from typing import TYPE_CHECKING, Any

from neardup.searching.answers import Called, Found, Full, Hit

if TYPE_CHECKING:
    from neardup.searching.collection import Collection as Collection

__all__ = ["Called", "Collection", "Found", "Full", "Hit"]


def __getattr__(name: str) -> Any:
    if name == "Collection":
        from neardup.searching.collection import Collection

        return Collection
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
