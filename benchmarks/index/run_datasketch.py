"""datasketch over the course: `MinHashLSH`, in memory or in Redis, as its documentation shows it.

128 permutations, threshold 0.8, weights (0.4, 0.6)   "if minimizing false negative … is more important"; 10 × 12
xxhash for shingles of 5 words                        the manual advises a faster function than its default SHA-1
document by document: query, insert if none           an insertion session would hide what is in its buffer
"""

from __future__ import annotations

import argparse
import re
import time
from typing import Any

import datasketch
import xxhash
from datasketch import MinHash, MinHashLSH

from benchmarks.index import racing

THRESHOLD, PERMUTATIONS, WEIGHTS, SHINGLE = 0.8, 128, (0.4, 0.6), 5
WORD = re.compile(r"[^\W_]+")


class Datasketch:
    """A filter around MinHashLSH. `port`: of Redis; without one all is in memory."""

    def __init__(self, port: str | None) -> None:
        self.sketching = 0.0
        self.port = port
        more: dict[str, Any] = {}
        if port is not None:
            place = {"host": "127.0.0.1", "port": int(port)}
            more["storage_config"] = {"type": "redis", "basename": b"seen", "redis": place}
        self.lsh = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, weights=WEIGHTS, **more)
        self.template = MinHash(num_perm=PERMUTATIONS, hashfunc=xxhash.xxh32_intdigest)

    def _sketch(self, text: str) -> MinHash:
        begin = time.perf_counter()
        words = WORD.findall(text.casefold())
        made = self.template.copy()
        shingles = zip(*(words[at:] for at in range(SHINGLE)), strict=False)
        made.update_batch([" ".join(shingle).encode() for shingle in shingles])
        self.sketching += time.perf_counter() - begin
        return made

    def check_and_add(self, documents: list[dict[str, str]]) -> list[str | None]:
        matches: list[str | None] = []
        for document in documents:
            sketch = self._sketch(document["text"])
            found = self.lsh.query(sketch)
            matches.append(found[0] if found else None)
            if not found:
                self.lsh.insert(document["id"], sketch)
        return matches

    def check(self, documents: list[dict[str, str]]) -> list[str | None]:
        return [next(iter(self.lsh.query(self._sketch(document["text"]))), None) for document in documents]

    def remove(self, ids: list[str]) -> None:
        for id in ids:
            self.lsh.remove(id)

    def contains(self, ids: list[str]) -> list[bool]:
        return [id in self.lsh for id in ids]

    def facts(self) -> dict[str, Any]:
        told: dict[str, Any] = {"settings": {"bands": self.lsh.b, "rows": self.lsh.r, "threads": 1}}
        told["version"] = f"datasketch {datasketch.__version__}"
        if self.port is not None:
            import redis

            with redis.Redis(port=int(self.port)) as server:
                told["bytes"] = server.info("memory")["used_memory"]
                told["version"] += f", Redis {server.info('server')['redis_version']}"
        return told


def main() -> None:
    """Run."""

    def made(options: argparse.Namespace) -> Datasketch:
        return Datasketch(options.port)

    racing.run(made, "--port")


if __name__ == "__main__":
    main()
