"""The floor: pyarrow reads the whole file and writes it again. No near-duplicate is looked for."""

from __future__ import annotations

import outcome
import pyarrow.parquet as pq


def main() -> None:
    """Read, write, report nothing removed."""
    options = outcome.options(__doc__)
    pq.write_table(pq.read_table(options.corpus), options.scratch / "kept.parquet")
    outcome.write_result(options.corpus, options.result, removed=[], groups=[], settings={})


if __name__ == "__main__":
    main()
