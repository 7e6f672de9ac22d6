"""Search results without repeats: a ranked list of any engine → groups of near-duplicates under the best-ranked one.

After Jain, Dahlin, Tewari, "Using Bloom Filters to Refine Web Search Results".

    formats     a response of a search engine → ranked results, and the way back
    fragments   the passages of a text around a query's terms
    signature   a text or page → 256 bytes
    grouping    group(): the star over a ranked list
    answers     Grouped, Group, Member: what it answers, and the results as they are to be shown

    grouped = neardup.group(results)          # a list of dicts, the best first, or a whole response
    grouped.groups[0].members                 # who is similar to the first one, how, and how much
    grouped.shown("fold")                     # the same response, near-duplicates within the best-ranked one
    document["neardup_signature"] = neardup.sign(text)     # at index time: grouping then needs no text
"""

from neardup.refine.answers import Group, Grouped, Member
from neardup.refine.grouping import group
from neardup.refine.signature import SIGNATURE_BYTES, sign, sign_many, signatures

__all__ = ["SIGNATURE_BYTES", "Group", "Grouped", "Member", "group", "sign", "sign_many", "signatures"]
