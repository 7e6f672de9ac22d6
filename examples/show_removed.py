"""Show a few removed documents beside the kept ones: python show_removed.py OUT DOCUMENTS.jsonl."""

import json
import sys

import pyarrow.parquet as pq

out, documents = sys.argv[1:3]
with open(documents, encoding="utf-8") as lines:
    texts = {d["id"]: d["text"] for d in map(json.loads, lines)}
removed = pq.read_table(f"{out}/removed.parquet").to_pylist()
shown: set[str] = set()
for row in sorted(removed, key=lambda r: r["resemblance"]):
    if row["relation"] in shown:
        continue
    shown.add(row["relation"])
    print(f"{row['relation']:>10}  resemblance {row['resemblance']:.3f}")
    print(f"   removed  {row['id']}: {' '.join(texts[row['id']].split())[:90]}…")
    print(f"      kept  {row['kept_id']}: {' '.join(texts[row['kept_id']].split())[:90]}…")
