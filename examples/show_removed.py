"""Show some removed documents where they differ from the kept ones: python show_removed.py OUT DOCUMENTS.jsonl."""

import json
import sys

import pyarrow.parquet as pq

out, documents = sys.argv[1:3]
with open(documents, encoding="utf-8") as lines:
    texts = {d["id"]: " ".join(d["text"].split()) for d in map(json.loads, lines)}
removed = pq.read_table(f"{out}/removed.parquet").to_pylist()


def where_they_differ(a: str, b: str, width: int = 56) -> tuple[str, str]:
    """Both texts from shortly before the first difference."""
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    start = max(0, at - 15)
    width = width if a.isascii() or a[:200].count(" ") > 10 else width // 2  # wide characters take two columns
    return a[start : start + width], b[start : start + width]


shown: set[str] = set()
for row in sorted(removed, key=lambda r: (r["resemblance"], r["id"])):
    kind = row["id"].removeprefix(row["kept_id"]).strip("-")  # how the sample made it out of the kept one
    if not row["id"].startswith(row["kept_id"]) or kind in shown or len(shown) == 7:
        continue
    shown.add(kind)
    gone, kept = where_they_differ(texts[row["id"]], texts[row["kept_id"]])
    print(f"{row['id']} is {row['relation']} to {row['kept_id']}: resemblance {row['resemblance']:.3f}")
    print(f"  removed  …{gone}…")
    print(f"  kept     …{kept}…")
