"""Show some removed documents beside the kept ones: python show_removed.py OUT DOCUMENTS.jsonl."""

import json
import sys

import pyarrow.parquet as pq

out, documents = sys.argv[1:3]
with open(documents, encoding="utf-8") as lines:
    texts = {d["id"]: " ".join(d["text"].split()) for d in map(json.loads, lines)}
removed = pq.read_table(f"{out}/removed.parquet").to_pylist()


def where_they_differ(a: str, b: str, width: int = 60) -> tuple[str, str]:
    """Both texts from shortly before the first difference."""
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    start = max(0, at - 20)
    return tuple(("…" if start else "") + t[start : start + width] + "…" for t in (a, b))  # type: ignore[return-value]


kinds: dict[str, dict] = {}
for row in sorted(removed, key=lambda r: (r["resemblance"], r["id"])):
    kinds.setdefault(row["id"].partition("-")[0] + " " + row["relation"], row)
for row in list(kinds.values())[:8]:
    gone, kept = where_they_differ(texts[row["id"]], texts[row["kept_id"]])
    print(f"{row['relation']:>10} {row['resemblance']:.3f}  {row['id']:<34} {gone}")
    print(f"{'kept':>16}  {row['kept_id']:<34} {kept}")
