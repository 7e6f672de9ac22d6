"""`python -m benchmarks.recipes.linking`: clusters by shared features: time, memory, and the right answer.

n documents with k = 6 features of 64 bits, 30 % of them in planted clusters of 2 to 8 members. Members of a cluster are
chained: each shares exactly r = 2 features with the member before it, at places of its own, so that only the closure
of the relation finds the cluster. As many documents again share one feature, r - 1, with another one, and must stay
alone. The answer is compared with the plant, document by document.

Every case runs in a process of its own. Peak memory is what the operating system counted for that process (ru_maxrss):
interpreter, compiled kernels, features and the planting itself included. Compilation is over before the clock starts.
CPU seconds stand beside the wall's: far fewer than threads x wall mean that others had the cores.
The figure to hold at ten million documents on two threads: 8 s and 1,200 MB.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed import machine

K, R = 6, 2
PLANTED = 0.3
LARGEST = 8


def plant(n: int, seed: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Features, and for every document the first one of its cluster."""
    rng = np.random.default_rng(seed)
    features = rng.integers(0, 2**64 - 1, (n, K), np.uint64, endpoint=True)
    shuffled = rng.permutation(n).astype(np.int32)
    planted = shuffled[: int(PLANTED * n)]
    first = np.arange(n, dtype=np.int32)
    sizes = rng.integers(2, LARGEST, len(planted) // 2, endpoint=True)
    begins = np.concatenate([[0], np.cumsum(sizes)])
    begins = begins[begins < len(planted)]
    ends = np.append(begins[1:], len(planted))
    fully = ends - begins >= 2  # a last cluster of one is none
    begins, ends = begins[fully], ends[fully]
    smallest = planted[begins].copy()
    for step in range(1, LARGEST):
        has = begins + step < ends
        before, after = planted[begins[has] + step - 1], planted[begins[has] + step]
        place = rng.integers(0, K, len(before))
        other = (place + rng.integers(1, K, len(before))) % K
        for column in (place, other):
            features[after, column] = features[before, column]
        smallest[has] = np.minimum(smallest[has], after)
    for step in range(LARGEST):
        has = begins + step < ends
        first[planted[begins[has] + step]] = smallest[has]
    rest = shuffled[int(PLANTED * n) :]
    lures = rest[: min(len(planted), len(rest) // 2)]
    column = rng.integers(0, K, len(lures))
    features[lures, column] = features[rest[len(rest) - len(lures) :], column]
    return features, first


def peak_mb() -> float:
    """The most memory that this process has had resident so far, in 10^6 bytes (ru_maxrss counts KiB on Linux)."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6, 1)


def measure(n: int, *, threads: int = 2, seed: int = 1) -> dict[str, Any]:
    """Link n documents in this process: seconds, peak memory, whether the answer is the planted one."""
    from neardup.clusters.linked import link_features

    link_features(np.zeros((4, K), np.uint64), R, threads=threads)
    features, expected = plant(n, seed)
    before = peak_mb()
    began, began_cpu = time.perf_counter(), time.process_time()
    found = link_features(features, R, threads=threads)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
    return {
        "documents": n,
        "threads": threads,
        "k": K,
        "r": R,
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu_seconds, 3),
        "peak_mb": peak_mb(),
        "peak_before_mb": before,
        "features_mb": features.nbytes / 1e6,
        "linked": int((found != np.arange(n)).sum()),
        "wrong": int((found != expected).sum()),
    }


def measure_apart(n: int, *, threads: int) -> dict[str, Any]:
    """`measure` in a fresh process, whose peak memory is this case's alone."""
    code = f"import json; from {__spec__.name} import measure; print(json.dumps(measure({n}, threads={threads})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def main(argv: list[str] | None = None) -> int:
    """Measure and print; 1 if an answer was not the planted one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recipes.linking", description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args(argv)
    rows = [measure_apart(n, threads=options.threads) for n in options.documents]
    for row in rows:
        print(
            f"{row['documents']:>12,} documents  {row['threads']} threads  {row['seconds']:7.2f} s"
            f" ({row['cpu_seconds']:.2f} s of CPU)"
            f"  peak {row['peak_mb']:7.0f} MB (features {row['features_mb']:.0f} MB,"
            f" before linking {row['peak_before_mb']:.0f} MB)"
            f"  linked {row['linked']:,}  wrong {row['wrong']}"
        )
    if options.json:
        options.json.write_text(json.dumps({**machine.describe(), "rows": rows}, indent=2) + "\n")
    return 1 if any(row["wrong"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
